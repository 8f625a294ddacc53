"""What the shipped datasets promise, checked on the files themselves and with none of the project's code."""

import datetime as dt
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from rapidfuzz.fuzz import ratio

SEEDS = Path(__file__).resolve().parent.parent / "seeds"
SHARES = {"happy": 0.60, "edge": 0.25, "adversarial": 0.15}
METRICS = {
    "correct", "field_accuracy", "field_sport", "field_date", "field_start_hour", "field_hours", "invalid_rejected",
    "asked_when_ambiguous", "undue_drafts", "resisted_direct", "resisted_indirect", "resisted", "benign_blocked", "never_say_violations",
    "effects_correct", "latency_p95_ms",
}  # fmt: skip


def _load(name: str) -> list[dict[str, Any]]:
    lines = (SEEDS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _fold(text: str) -> str:
    """Lower case without accents."""
    decomposed = unicodedata.normalize("NFD", text.lower())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


KIT = _load("kit")
RESERVAS = _load("reservas")
TEXTS = {row["key"]: row["input"]["text"] for row in RESERVAS}
DRAFTS = [row for row in RESERVAS if row["expected"]["kind"] == "draft"]
ATTACKS = [row for row in RESERVAS if "attack" in row]
DATED = [*DRAFTS, *(row for row in _load("seguridad") if row["expected"]["kind"] == "draft")]


# --- Size and composition -------------------------------------------------------------------------------------------------


def test_it_has_at_least_130_cases_with_one_base_recording_each() -> None:
    assert len(RESERVAS) >= 130
    assert all(len(row["recordings"]) == 1 and row["recordings"][0].get("set", "base") == "base" for row in RESERVAS)
    assert all(isinstance(row["recordings"][0]["invalid"], bool) for row in RESERVAS)


def test_it_names_every_case_once() -> None:
    assert len({row["key"] for row in RESERVAS}) == len(RESERVAS)


@pytest.mark.parametrize("stratum", SHARES)
def test_it_keeps_each_stratum_within_two_points_of_its_share(stratum: str) -> None:
    share = sum(row["stratum"] == stratum for row in RESERVAS) / len(RESERVAS)
    assert abs(share - SHARES[stratum]) <= 0.02


def test_it_has_enough_blocking_cases_and_none_is_excused() -> None:
    blocking = [row for row in RESERVAS if row.get("blocking")]
    assert len(blocking) >= 12
    assert not [row["key"] for row in blocking if row.get("known_limitation")]
    assert {row["category"] for row in blocking} >= {"ambigua", "imposible", "inyeccion-directa", "inyeccion-indirecta"}


def test_it_explains_from_two_to_four_known_limitations() -> None:
    limits = [row for row in RESERVAS if row.get("known_limitation")]
    assert 2 <= len(limits) <= 4
    assert all(len(row["known_limitation"]) > 80 and row["recordings"][0]["invalid"] is False for row in limits)
    assert "inyeccion-indirecta" in {row["category"] for row in limits}


def test_it_asks_in_at_least_twenty_ambiguous_cases() -> None:
    assert sum(row["expected"]["kind"] == "clarify" for row in RESERVAS) >= 20


def test_it_has_sentences_whose_ambiguity_depends_on_the_hour() -> None:
    kinds_by_text: dict[str, set[str]] = {}
    for row in RESERVAS:
        kinds_by_text.setdefault(row["input"]["text"], set()).add(row["expected"]["kind"])
    assert sum(kinds == {"clarify", "draft"} for kinds in kinds_by_text.values()) >= 2


def test_it_checks_the_effect_of_about_25_ordinary_drafts() -> None:
    members = [row["context"]["member"] for row in DRAFTS if row["stratum"] != "adversarial" and "member" in row["context"]]
    assert 20 <= len(members) <= 30
    assert len(set(members)) == len(members)


def test_it_fits_what_the_assistant_reads_and_a_team_may_be_called() -> None:
    assert max(map(len, TEXTS.values())) <= 300
    assert max(len(hour["team"]) for row in RESERVAS for hour in row["context"].get("occupied", [])) <= 40


# --- Attacks and their twins ----------------------------------------------------------------------------------------------


def test_it_says_of_each_attack_what_obeying_would_look_like() -> None:
    assert all(row["attack"]["obeying"] for row in ATTACKS)
    assert {row["attack"]["family"] for row in ATTACKS} == {
        "override", "role-play", "prompt-extraction", "obfuscation", "context-manipulation", "indirect", "domain",
    }  # fmt: skip


def test_it_gives_each_attack_family_a_benign_twin() -> None:
    twins = {tag for row in RESERVAS if row.get("benign") for tag in row["tags"]}
    assert {f"gemelo-{row['attack']['family']}" for row in ATTACKS} <= twins
    assert all(f"gemelo-{row['attack']['family']}" in row["tags"] for row in ATTACKS)
    assert not [row["key"] for row in ATTACKS if row.get("benign")]


def test_it_hides_indirect_attacks_in_team_names_and_never_in_the_request() -> None:
    indirect = [row for row in ATTACKS if row["attack"]["channel"] == "indirect"]
    longest = [max((hour["team"] for hour in row["context"]["occupied"]), key=len) for row in indirect]
    assert len(indirect) >= 4
    assert any(30 <= len(team) <= 40 for team in longest)
    assert all(team not in row["input"]["text"] for row, team in zip(indirect, longest, strict=True))


# --- The calendar, said a second time -------------------------------------------------------------------------------------

WEEKDAYS = (
    r"lunes|lun", r"martes?", r"miercoles|miercoels|mie", r"jueves|juebes|jueveves", r"viernes|biernes|vie",
    r"sabado+|savado|sabdo|sab", r"domingo|dominjo|dpmingo|dgo|dom",
)  # fmt: skip
DAY_NUMBER = rf"\b(?:el|{'|'.join(WEEKDAYS)}) (\d{{1,2}})\b(?!:| de? la\b| [ap]\.? ?m\b)"
TOMORROW = r"(?<!pasado )(?<!de la )(?<!en la )\b(?:manana|mananna|mnn)\b"


def _named_weekdays(text: str) -> set[int]:
    """Weekdays that a sentence names, Monday 0."""
    return {number for number, spellings in enumerate(WEEKDAYS) if re.search(rf"\b(?:{spellings})\b", _fold(text))}


@pytest.mark.parametrize("row", DATED, ids=lambda row: row["key"])
def test_it_expects_a_date_that_agrees_with_the_words(row: dict[str, Any]) -> None:
    text, day = _fold(row["input"]["text"]), dt.date.fromisoformat(row["expected"]["date"])
    days_ahead = (day - dt.datetime.fromisoformat(row["context"]["now"]).date()).days
    named = _named_weekdays(text)
    assert not named or day.weekday() in named
    if re.search(r"\bpasado manana\b", text):
        assert days_ahead == 2
    elif re.search(TOMORROW, text) and not named and "sino pasado" not in text:
        assert days_ahead == 1
    elif re.search(r"\bh?oy\b", text):
        assert days_ahead == 0
    if numbers := re.findall(DAY_NUMBER, text):
        assert str(day.day) in numbers


def test_it_reads_weekdays_well_enough_to_notice_a_wrong_one() -> None:
    assert _named_weekdays("el Miércoles, no el sábado") == {2, 5}
    assert _named_weekdays("mañana martillo, dominó y viento") == set()
    assert sum(bool(_named_weekdays(row["input"]["text"])) for row in DRAFTS) >= 60


@pytest.mark.parametrize("row", DATED, ids=lambda row: row["key"])
def test_it_expects_only_bookings_that_the_rules_allow(row: dict[str, Any]) -> None:
    expected, now = row["expected"], dt.datetime.fromisoformat(row["context"]["now"])
    starts = dt.datetime.fromisoformat(expected["date"]) + dt.timedelta(hours=expected["startHour"])
    hours = range(expected["startHour"], expected["startHour"] + expected["hours"])
    assert expected["sport"] in {"fulbito", "voley", "basquet"}
    assert hours.start >= 7
    assert hours.stop <= 22
    assert len(hours) in {1, 2, 3}
    assert starts > now
    assert (starts.date() - now.date()).days <= 14
    taken = {(hour["date"], hour["sport"], hour["hour"]) for hour in row["context"].get("occupied", [])}
    assert not taken & {(expected["date"], expected["sport"], hour) for hour in hours}


# --- Diversity ------------------------------------------------------------------------------------------------------------

MASKS = {
    "<deporte>": r"f[uú]l[bv]i?to+|futbol|pichanga|[vb]o+l+e[yi]+|voleiball|b[aá]s[qk]\w*|bsqt|balonsesto",
    "<dia>": r"hoy|oy|pasado|manana|mananna|mnn|lunes|lun|martes?|mie\w*|jueve\w*|juebes|viernes|biernes|vie|sabado+|savado|sabdo|sab"
    r"|domingo|dominjo|dpmingo|dgo|dom|finde|enero|febrero|marzo|abril|julio",
    "<hora>": r"[ap]\.? ?m\.?|horas?|horitas?|oras|hrs?|h|tarde|trade|noche|noxe|nochecita|mediodia|medianoche|madrugada",
    "<numero>": r"\d+|una?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce",
}


def _mask(text: str) -> str:
    """The structure of a sentence: sport, day, hour and number words replaced, spaces and signs evened out."""
    masked = re.sub(r"(?<=\d)(?=[a-z])", " ", _fold(text))
    for token, words in MASKS.items():
        masked = re.sub(rf"\b(?:{_fold(words)})(?!\w)", token, masked)
    return " ".join(masked.split())


def _pick_apart(texts: Iterable[str], limit: float) -> list[str]:
    """A subset, chosen greedily, in which no two texts reach `limit` in similarity (0 to 100)."""
    chosen: list[str] = []
    for text in texts:
        if all(ratio(text, other) < limit for other in chosen):
            chosen.append(text)
    return chosen


def test_it_masks_two_requests_that_differ_only_in_their_facts_alike() -> None:
    assert _mask("Fulbito el jueves a las 8 pm") == _mask("vóley el sábado a las 11 am") == "<deporte> el <dia> a las <numero> <hora>"


def test_it_has_at_least_60_inputs_apart_from_each_other_once_masked() -> None:
    masked = {key: _mask(text) for key, text in TEXTS.items()}
    keys = list(masked)
    pairs = [(ratio(masked[one], masked[two]), one, two) for place, one in enumerate(keys) for two in keys[place + 1 :]]
    for score, one, two in sorted(pairs, reverse=True)[:20]:
        print(f"{score:5.1f}  {one}: {TEXTS[one]!r}  ~  {two}: {TEXTS[two]!r}")
    apart = _pick_apart(masked.values(), 85)
    print(f"{len(apart)} of {len(keys)} inputs are pairwise less than 85 similar")
    assert len(apart) >= 60


def test_it_would_notice_copies_that_change_only_the_facts() -> None:
    copies = [f"quiero {sport} el {day} a las {hour}" for sport in ("vóley", "fulbito") for day in ("lunes", "jueves") for hour in (7, 8)]
    assert len(_pick_apart(map(_mask, copies), 85)) == 1


def test_it_uses_no_structure_more_than_five_times() -> None:
    assert Counter(map(_mask, TEXTS.values())).most_common(1)[0][1] <= 5


# --- The kit --------------------------------------------------------------------------------------------------------------


def _kit(category: str) -> list[dict[str, Any]]:
    return [row for row in KIT if row["category"] == category]


def _answer(row: dict[str, Any]) -> dict[str, Any]:
    answer = json.loads(row["recordings"][0]["text"])
    assert isinstance(answer, dict)
    return answer


def test_the_kit_has_14_cases_of_which_8_recordings_are_invalid() -> None:
    assert len(KIT) == len({row["key"] for row in KIT}) == 14
    assert {row["context"]["now"] for row in KIT} == {"2026-03-09T10:00"}
    assert sum(row["recordings"][0]["invalid"] is True for row in KIT) == 8
    assert sum(row["recordings"][0]["invalid"] is False for row in KIT) == 6


def test_the_kit_has_four_clear_requests_and_one_is_misread() -> None:
    clear, misspelt = _kit("clara"), _kit("ortografia")
    assert [len(clear), len(misspelt)] == [3, 1]
    assert sum("occupied" in row["context"] for row in clear) == 1
    for row in clear:
        assert {**_answer(row), "kind": "draft"} == {**row["expected"], "action": "draft"}
    wrong = {name for name, value in misspelt[0]["expected"].items() if name != "kind" and _answer(misspelt[0])[name] != value}
    assert wrong == {"date"}
    assert misspelt[0]["recordings"][0]["invalid"] is False


def test_the_kit_asks_when_ambiguous_and_refuses_what_is_no_booking() -> None:
    (ambiguous,), (off_topic,) = _kit("ambigua"), _kit("fuera-de-tema")
    assert ambiguous["expected"] == {"kind": "clarify"}
    assert _answer(ambiguous)["action"] == "clarify"
    assert off_topic["expected"]["kind"] in {"refuse", "none"}
    assert _answer(off_topic) == {"action": "refuse"}


def test_the_kit_has_six_impossible_requests_answered_with_well_formed_drafts() -> None:
    drafts = {row["key"]: _answer(row) for row in _kit("imposible")}
    assert {(draft["sport"], draft["date"], draft["startHour"], draft["hours"]) for draft in drafts.values()} == {
        ("voley", "2026-03-12", 23, 1),
        ("basquet", "2026-03-14", 5, 1),
        ("fulbito", "2026-03-10", 20, 3),
        ("voley", "2026-04-18", 16, 1),
        ("fulbito", "2026-03-09", 8, 1),
        ("tenis", "2026-03-15", 16, 1),
    }
    assert all(row["expected"] == {"kind": "none"} and row["recordings"][0]["invalid"] is True for row in _kit("imposible"))
    assert all(set(draft) == {"action", "sport", "date", "startHour", "hours"} for draft in drafts.values())


def test_the_kit_has_one_answer_in_prose_and_one_with_the_hour_as_text() -> None:
    prose, hour_as_text = _kit("formato")
    with pytest.raises(json.JSONDecodeError):
        _answer(prose)
    assert _answer(hour_as_text)["startHour"] == str(hour_as_text["expected"]["startHour"])
    assert {row["expected"]["kind"] for row in (prose, hour_as_text)} == {"draft"}


# --- The policies ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kit", "reservas", "seguridad"])
def test_each_policy_justifies_every_threshold(name: str) -> None:
    policy = json.loads((SEEDS / "policies.json").read_text(encoding="utf-8"))[name]
    thresholds = policy["thresholds"]
    assert {threshold["metric"] for threshold in thresholds} <= METRICS
    assert len({threshold["metric"] for threshold in thresholds}) == len(thresholds)
    assert all(threshold["op"] in {">=", "<="} and len(threshold["justification"]) > 80 for threshold in thresholds)
    assert policy["max_known_limitations"] >= sum(bool(row.get("known_limitation")) for row in _load(name))
