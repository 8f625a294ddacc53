"""The same request in other people's typing: seeded, and the same booking."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evals.datasets import rewriters
from evals.datasets.rewriters import NEIGHBOURS, REWRITERS, facts_in, rewrite

SEEDS = Path(__file__).resolve().parent.parent / "seeds"
TEXTS = [
    json.loads(line)["input"]["text"]
    for name in ("kit", "reservas", "seguridad")
    for line in (SEEDS / f"{name}.jsonl").open(encoding="utf-8")
]
KEEPING = [name for name, rewriter in REWRITERS.items() if rewriter.keeps_facts]

HELLO = "Hola! ¿Me reservas la cancha para mis amigos, por favor? Vóley el miércoles a las 7 p. m."
POLITE = "Quisiera básquet también el sábado 14 a las 9:00 de la mañana, que somos diez. Gracias"
SHORT = "fulbito hoy 8pm"


@pytest.mark.parametrize(
    ("name", "text", "rewritten"),
    [
        ("sin-tildes", HELLO, "Hola! Me reservas la cancha para mis amigos, por favor? Voley el miercoles a las 7 p. m."),
        ("sin-tildes", POLITE, "Quisiera basquet tambien el sabado 14 a las 9:00 de la mañana, que somos diez. Gracias"),
        ("sin-tildes", "pingüino ÁÉÍÓÚ ñandú", "pinguino AEIOU ñandu"),
        ("sin-tildes", SHORT, SHORT),
        ("dedazos", HELLO, "Hola! ¿Me reservas la cancha pzra mis amigos, por favor? Vóley el miércoles a las 7 p. m."),
        ("dedazos", SHORT, "fulbitk hoy 8pm"),
        ("dedazos", "hoy a las 8", "hoy a las 8"),
        ("abreviado", HELLO, "Hola! ¿Me reservas la cancha pa mis amigos, pls? Vóley el miércoles a las 7 p. m."),
        ("abreviado", POLITE, "Qsiera básquet tb el sábado 14 a las 9:00 de la mañana, q somos diez. Grax"),
        ("abreviado", "aquella parada", "aquella parada"),
        ("dictado", HELLO, "a ver hola me reservas a ver la cancha para mis amigos por favor vóley el miércoles a las 7 pm"),
        ("dictado", POLITE, "eh quisiera básquet o sea también el sábado 14 a las 9:00 de la mañana que somos diez gracias"),
        ("cortado", HELLO, "Hola! ¿Me reservas la cancha para mis amigos, por favor? Vóley el miércoles"),
        ("cortado", SHORT, "fulbito hoy"),
        ("cortado", "hola", "hola"),
        ("jerga", HELLO, "Habla! ¿Me separas la losa para mis patas, por favor? Vóley el miércoles a las 7 p. m., ya tú sabes"),
        ("jerga", SHORT, "pichanga hoy 8pm pues causa"),
        ("emoji", HELLO, "Hola! ¿Me reservas la cancha para mis amigos, por favor? Vóley 🏐 el miércoles a las 7 p. m. 💪"),
        ("emoji", SHORT, "fulbito ⚽ hoy 8pm 🔥"),
    ],
)
def test_it_rewrites_as_people_write(name: str, text: str, rewritten: str) -> None:
    assert rewrite(text, name, seed=7) == rewritten


# --- The same booking -----------------------------------------------------------------------------------------------------


def test_it_reads_the_facts_of_a_request() -> None:
    assert facts_in("Vóley el MIÉRCOLES 18 a las 7 p. m., dos horas") == ["miercoles", "18", "7", "pm", "dos", "horas"]
    assert facts_in("mañana de 10:30 a 12") == ["mañana", "10", "30", "12"]
    assert facts_in("una canchita para doña Maritza") == ["una"]


@pytest.mark.parametrize("name", KEEPING)
def test_it_changes_no_digit_no_hour_and_no_date(name: str) -> None:
    changed = [(text, rewrite(text, name, seed=seed)) for text in TEXTS for seed in range(5)]
    assert not [pair for pair in changed if facts_in(pair[0]) != facts_in(pair[1])]


@pytest.mark.parametrize("name", ["dedazos", "dictado"])
def test_without_its_list_of_facts_it_would(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: with no word protected, days get mistyped and fillers part hours."""
    facts = {text: facts_in(text) for text in TEXTS}
    monkeypatch.setattr(rewriters, "_is_fact", lambda word: False)
    monkeypatch.setattr(rewriters, "_has_digit", lambda token: False)
    rewritten = {text: rewrite(text, name, seed=seed) for seed in range(5) for text in TEXTS}
    monkeypatch.undo()
    spoilt = [text for text in TEXTS if facts_in(rewritten[text]) != facts[text] or _parts_an_hour(text, rewritten[text])]
    assert len(spoilt) > 10


def _parts_an_hour(text: str, rewritten: str) -> bool:
    return any(f" de {filler} la " in rewritten for filler in ("eh", "a ver", "mira", "o sea"))


def test_what_may_lose_a_fact_says_so_and_never_cuts_a_number_in_two() -> None:
    assert [name for name, rewriter in REWRITERS.items() if not rewriter.keeps_facts] == ["cortado"]
    for text in TEXTS:
        for seed in range(5):
            digits = [fact for fact in facts_in(rewrite(text, "cortado", seed=seed)) if fact.isdigit()]
            assert digits == [fact for fact in facts_in(text) if fact.isdigit()][: len(digits)]


# --- Chance that can be repeated ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dedazos", "abreviado", "dictado", "cortado", "jerga", "emoji"])
def test_another_seed_may_give_another_text(name: str) -> None:
    assert len({rewrite(HELLO, name, seed=seed) for seed in range(20)}) > 1


def test_another_process_writes_the_same() -> None:
    script = f"from evals.datasets.rewriters import REWRITERS, rewrite; print([rewrite({HELLO!r}, name, seed=3) for name in REWRITERS])"
    environment = {**os.environ, "PYTHONHASHSEED": "1", "PYTHONUTF8": "1"}
    other = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True, cwd=SEEDS.parents[1]
    )
    assert other.stdout.strip() == str([rewrite(HELLO, name, seed=3) for name in REWRITERS])


def test_an_unknown_rewriter_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        rewrite(HELLO, "latin")


@pytest.mark.parametrize("name", REWRITERS)
@pytest.mark.parametrize("text", ["", " ", "7", "?", "🙂", "a" * 300])
def test_it_survives_odd_texts(name: str, text: str) -> None:
    assert isinstance(rewrite(text, name), str)


@pytest.mark.parametrize(("letter", "around"), [("a", "qwsz"), ("ñ", "pl"), ("g", "bfhtvy"), ("q", "aw"), ("m", "jkn")])
def test_it_knows_which_keys_touch(letter: str, around: str) -> None:
    assert set(NEIGHBOURS[letter]) == set(around)
