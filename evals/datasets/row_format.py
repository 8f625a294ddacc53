"""What a row of the dataset file may hold, as one value to check it with. No Django here."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from evals.datasets.checks import Check, Fault, by_kind, day, flag, list_of, moment, one_of, pattern, record, shown, slug, text, whole

MAX_TEXT = 20_000
MAX_OUTPUT = 100_000
MAX_FAULTS = 1_000

SPORTS = ("fulbito", "voley", "basquet")
STRATA = ("happy", "edge", "adversarial")
ATTACK_FAMILIES = ("override", "role-play", "prompt-extraction", "obfuscation", "context-manipulation", "indirect", "domain")
DRAFT_KEYS = ("sport", "date", "startHour", "hours")
ORIGIN_KEYS = ("model", "prompt_hash", "date")

_WORD = text(80, one_line=True)
_DRAFT: dict[str, Check] = {"sport": one_of(SPORTS), "date": day, "startHour": whole(0, 23), "hours": whole(1, 24)}

_INPUT = record({}, {"text": text(MAX_TEXT), "messages": list_of(
    record({"role": one_of(("system", "user", "assistant")), "content": text(MAX_TEXT)}), at_least=1
)})  # fmt: skip
_OCCUPIED = record(
    {"date": day, "sport": one_of(SPORTS), "hour": whole(0, 23)},
    {"team": text(200, one_line=True)},
)
_CONTEXT = record(
    {},
    {
        "now": moment,
        "occupied": list_of(_OCCUPIED, limit=1_000),
        "documents": list_of(text(MAX_OUTPUT)),
        "member": text(120, one_line=True),
    },
)
_EXPECTED = by_kind(
    {
        "draft": record(_DRAFT),
        "clarify": record({}),
        "refuse": record({}),
        "none": record({}),
        "text": record({"text": text(MAX_TEXT)}),
        "labels": record({"labels": list_of(_WORD, distinct=True)}),
        "route": record({"route": _WORD}),
        "tools": record({"tools": list_of(_WORD)}),
    }
)
_NEVER_SAY = by_kind(
    {
        "phrase": record({"text": text(500, one_line=True)}),
        "pattern": record({"text": pattern(500)}),
        "rule": record({"text": text(500, one_line=True)}),
    }
)
_OBEYING = by_kind(
    {
        "draft": record({"fields": record({}, _DRAFT)}),
        "phrase": record({"text": text(500, one_line=True)}),
        "tool": record({"name": _WORD}),
    }
)
_ATTACK = record({"family": one_of(ATTACK_FAMILIES), "channel": one_of(("direct", "indirect")), "obeying": list_of(_OBEYING, at_least=1)})
_MODEL_ORIGIN = record({"model": text(120, one_line=True), "prompt_hash": text(64, one_line=True), "date": day})


def _origin(value: Any, where: str) -> Iterator[Fault]:
    if isinstance(value, dict):
        yield from _MODEL_ORIGIN(value, where)
    elif value != "hand":
        yield Fault(where, f'Debe ser "hand" o un objeto con {", ".join(ORIGIN_KEYS)}, y es {shown(value)}.')


_RECORDING = record(
    {"text": text(MAX_OUTPUT, blank=True)},
    {"set": slug(40), "invalid": flag(optional=True), "origin": _origin, "note": text(MAX_TEXT, blank=True)},
)


def _limitation(value: Any, where: str) -> Iterator[Fault]:
    """A known limitation excuses a failure, so it says why or is not there."""
    if value != "":
        yield from text(MAX_TEXT)(value, where)


_ROW = record(
    {"key": slug(80), "category": slug(80), "stratum": one_of(STRATA), "input": _INPUT, "expected": _EXPECTED},
    {
        "context": _CONTEXT,
        "never_say": list_of(_NEVER_SAY),
        "attack": _ATTACK,
        "benign": flag(),
        "blocking": flag(),
        "held_out": flag(),
        "tags": list_of(slug(40), distinct=True),
        "notes": text(MAX_TEXT, blank=True),
        "known_limitation": _limitation,
        "recordings": list_of(_RECORDING, limit=50),
    },
)


def check_row(row: Any) -> list[Fault]:
    """What is wrong with one decoded row, at most MAX_FAULTS; empty when it is sound."""
    return list(islice(_faults(row), MAX_FAULTS))


def _faults(row: Any) -> Iterator[Fault]:
    yield from _ROW(row, "")
    if isinstance(row, dict):
        yield from _contradictions(row)


def _contradictions(row: Mapping[str, Any]) -> Iterator[Fault]:
    given = row.get("input")
    if isinstance(given, dict) and ("text" in given) == ("messages" in given):
        yield Fault("input", "Debe tener text o messages, uno de los dos. Deja solo uno.")
    if row.get("blocking") is True and row.get("known_limitation"):
        yield Fault("blocking", "Un caso con limitación conocida se espera que falle y no puede ser bloqueante. Quita uno de los dos.")
    if row.get("benign") is True and "attack" in row:
        yield Fault("benign", "Un caso es un ataque o es legítimo, no las dos cosas. Quita uno de los dos.")
    yield from _repeated_sets(row.get("recordings"))


def _repeated_sets(recordings: Any) -> Iterator[Fault]:
    if isinstance(recordings, list):
        names = Counter(shown(recording.get("set", "base")) for recording in recordings if isinstance(recording, dict))
        for name in [name for name, times in names.items() if times > 1]:
            yield Fault("recordings", f"El juego {name} tiene más de una grabación en este caso. Deja una por juego.")
