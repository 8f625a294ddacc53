"""The dataset file: JSON Lines, one case a line. Reads it strictly and writes it back to the byte. No Django here."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from evals.datasets.checks import Fault, shown
from evals.datasets.row_format import DRAFT_KEYS, MAX_FAULTS, ORIGIN_KEYS, check_row
from evals.values import Attack, CaseSpec, Expected, NeverSay, ObeyingSign, Occupied, draft_from_row

LIMA = ZoneInfo("America/Lima")
MAX_BYTES = 20_000_000
MAX_ROWS = 20_000


@dataclass(frozen=True, slots=True)
class RecordingSpec:
    """A stored model output as the file tells it. `origin` is "hand" or a mapping with ORIGIN_KEYS."""

    text: str
    set_name: str = "base"
    invalid: bool | None = None
    origin: str | Mapping[str, str] = "hand"
    note: str = ""


class ParsedRow(NamedTuple):
    """A sound row and the line it stands on, from 1."""

    line: int
    spec: CaseSpec
    recordings: tuple[RecordingSpec, ...]


class Problem(NamedTuple):
    """What is wrong with a file, where, and what to do. Line 0 is the file itself."""

    line: int
    field: str
    message: str


# --- Reading the file ---------------------------------------------------------------------------------------------------


class _RepeatedKeyError(ValueError):
    """A key stands twice in one object."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _RepeatedKeyError(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return found


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def parse_rows(lines: Iterable[bytes | str]) -> tuple[list[ParsedRow], list[Problem]]:
    """Every row of a file and every problem in it; a file with one problem is to be refused whole."""
    rows: list[ParsedRow] = []
    problems: list[Problem] = []
    seen: dict[str, int] = {}
    for number, line in _within_bounds(lines, problems):
        row, faults = _read_line(line, first=number == 1)
        if not faults and (row is _NOTHING or _tells_what_stayed(row)):
            continue
        faults = faults or check_row(row) + _repeated_key(row, number, seen)
        problems += [Problem(number, *fault) for fault in faults]
        if not faults:
            rows.append(ParsedRow(number, spec_from(row, row), recordings_from(row)))
    if not rows and not problems:
        problems.append(Problem(0, "", "El archivo no tiene ningún caso. Escribe uno por línea."))
    return rows, problems


def _within_bounds(lines: Iterable[bytes | str], problems: list[Problem]) -> Iterator[tuple[int, bytes | str]]:
    """Numbered lines, until the file or the list of its problems has grown too long; then one last problem says so."""
    size = 0
    for number, line in enumerate(lines, 1):
        size += len(line)
        if size > MAX_BYTES or number > MAX_ROWS:
            problems.append(Problem(0, "", f"El archivo pasa de {MAX_BYTES // 1_000_000} MB o de {MAX_ROWS:,} líneas. Divídelo."))
            return
        if len(problems) >= MAX_FAULTS:
            problems.append(Problem(0, "", "Hay demasiados problemas; no se revisó el resto. Corrige estos y vuelve a importar."))
            return
        yield number, line


_NOTHING: Any = object()
_LEFT_OUT = "held_out_left_out"


def _tells_what_stayed(row: Any) -> bool:
    """The line that `write_rows` adds for held-out cases that stay at home; it is no case."""
    return isinstance(row, dict) and row.keys() == {_LEFT_OUT}


def _read_line(line: bytes | str, *, first: bool) -> tuple[Any, list[Fault]]:
    """The decoded JSON of one line, or why it is none; (_NOTHING, []) for a line without text."""
    try:
        decoded = line if isinstance(line, str) else line.decode("utf-8")
    except UnicodeDecodeError:
        return _NOTHING, [Fault("", "No está en UTF-8: las tildes se dañarían. Guarda el archivo como UTF-8 y vuelve a importarlo.")]
    decoded = (decoded.removeprefix("\ufeff") if first else decoded).strip(" \t\r\n")
    if not decoded:
        return _NOTHING, []
    try:
        return json.loads(decoded, object_pairs_hook=_object, parse_constant=_refuse_constant), []
    except _RepeatedKeyError as error:
        return _NOTHING, [Fault(shown(str(error))[1:-1], "Esta clave está dos veces en el mismo objeto. Deja una sola.")]
    except json.JSONDecodeError as error:
        return _NOTHING, [Fault("", f"No es JSON cerca de la columna {error.colno}. Escribe un objeto completo, en una sola línea.")]
    except (ValueError, RecursionError):
        return _NOTHING, [Fault("", "No es JSON que se pueda leer: tiene NaN, un número enorme o demasiados niveles. Corrígelo.")]


def _repeated_key(row: Any, line: int, seen: dict[str, int]) -> list[Fault]:
    key = row.get("key") if isinstance(row, dict) else None
    if not isinstance(key, str):
        return []
    before = seen.setdefault(key, line)
    if before == line:
        return []
    return [Fault("key", f"La clave {shown(key)} está en la línea {before} y otra vez en la línea {line}. Cambia una de las dos.")]


# --- Between a row, a CaseSpec and its two frozen parts -------------------------------------------------------------------


def spec_from(content: Mapping[str, Any], traits: Mapping[str, Any]) -> CaseSpec:
    """Reads what `content_of` and `traits_of` wrote; a sound row is both at once."""
    context = content.get("context", {})
    return CaseSpec(
        key=traits["key"],
        category=traits["category"],
        stratum=traits["stratum"],
        expected=_expected_from(content["expected"]),
        text=content["input"].get("text", ""),
        messages=tuple(content["input"].get("messages", ())),
        now=datetime.fromisoformat(context["now"]).replace(tzinfo=LIMA) if "now" in context else None,
        occupied=tuple(occupied_from(hour) for hour in context.get("occupied", ())),
        documents=tuple(context.get("documents", ())),
        member=context.get("member", ""),
        never_say=tuple(never_say_from(line) for line in content.get("never_say", ())),
        attack=_attack_from(traits["attack"]) if "attack" in traits else None,
        benign=traits.get("benign", False),
        blocking=traits.get("blocking", False),
        held_out=traits.get("held_out", False),
        tags=tuple(traits.get("tags", ())),
        notes=traits.get("notes", ""),
        known_limitation=traits.get("known_limitation", ""),
    )


def content_of(spec: CaseSpec) -> dict[str, Any]:
    """What pairs results across versions: input, context, expected, never-say. Defaults are left out."""
    return _without_defaults(
        input={"messages": [_in_order(message, ("role", "content")) for message in spec.messages]}
        if spec.messages
        else {"text": spec.text},
        context=_without_defaults(
            now=spec.now and f"{spec.now.astimezone(LIMA):%Y-%m-%dT%H:%M}",
            occupied=[occupied_row(hour) for hour in spec.occupied],
            documents=list(spec.documents),
            member=spec.member,
        ),
        expected=_expected_row(spec.expected),
        never_say=[never_say_row(line) for line in spec.never_say],
    )


def traits_of(spec: CaseSpec) -> dict[str, Any]:
    """What a version freezes besides the content. Defaults are left out."""
    return _without_defaults(
        key=spec.key,
        category=spec.category,
        stratum=spec.stratum,
        attack=spec.attack and _attack_row(spec.attack),
        benign=spec.benign,
        blocking=spec.blocking,
        held_out=spec.held_out,
        tags=list(spec.tags),
        notes=spec.notes,
        known_limitation=spec.known_limitation,
    )


ROW_ORDER = (
    "key", "category", "stratum", "input", "context", "expected", "never_say", "attack", "benign", "blocking", "held_out",
    "tags", "notes", "known_limitation", "recordings",
)  # fmt: skip


def row_of(spec: CaseSpec, recordings: Iterable[RecordingSpec] = ()) -> dict[str, Any]:
    """The row of the file, keys in the order of the format, defaults left out."""
    row = {**content_of(spec), **traits_of(spec), "recordings": [_recording_row(recording) for recording in recordings]}
    return _without_defaults(**_in_order(row, ROW_ORDER))


def write_rows(rows: Iterable[Mapping[str, Any]], *, held_out: int = 0) -> bytes:
    """The file's bytes: one row a line, UTF-8, each line ended by a line feed. `held_out`: how many held-out cases stay at home."""
    told: list[Mapping[str, Any]] = [{_LEFT_OUT: held_out}] if held_out else []
    return "".join(f"{json.dumps(row, ensure_ascii=False, allow_nan=False)}\n" for row in [*rows, *told]).encode()


def _without_defaults(**fields: Any) -> dict[str, Any]:
    """Every default of the format is falsy: empty text, list or object, false, null."""
    return {name: value for name, value in fields.items() if value}


def _in_order(fields: Mapping[str, Any], order: Iterable[str]) -> dict[str, Any]:
    """PostgreSQL's jsonb keeps no key order, the file does."""
    return {name: fields[name] for name in order if name in fields}


def recordings_from(row: Mapping[str, Any]) -> tuple[RecordingSpec, ...]:
    """The recordings of a sound row."""
    return tuple(
        RecordingSpec(recording["text"], **{_SPEC_NAMES[name]: value for name, value in recording.items() if name != "text"})
        for recording in row.get("recordings", ())
    )


_SPEC_NAMES = {"set": "set_name", "invalid": "invalid", "origin": "origin", "note": "note"}


def _recording_row(recording: RecordingSpec) -> dict[str, Any]:
    origin = recording.origin
    row = {
        "set": recording.set_name,
        "text": recording.text,
        "invalid": recording.invalid,
        "origin": origin if isinstance(origin, str) else _in_order(origin, ORIGIN_KEYS),
        "note": recording.note,
    }
    defaults = {"set": "base", "invalid": None, "origin": "hand", "note": ""}
    return {name: value for name, value in row.items() if name not in defaults or value != defaults[name]}


def occupied_from(row: Mapping[str, Any]) -> Occupied:
    return Occupied(date.fromisoformat(row["date"]), row["sport"], row["hour"], row.get("team", ""))


def occupied_row(hour: Occupied) -> dict[str, Any]:
    row = {"date": hour.date.isoformat(), "sport": hour.sport, "hour": hour.hour}
    return {**row, "team": hour.team} if hour.team else row


def never_say_from(row: Mapping[str, Any]) -> NeverSay:
    return NeverSay(row["kind"], row["text"])


def never_say_row(line: NeverSay) -> dict[str, Any]:
    return {"kind": line.kind, "text": line.text}


def obeying_from(row: Mapping[str, Any]) -> ObeyingSign:
    return ObeyingSign(row["kind"], row.get("fields", {}), row.get("text", row.get("name", "")))


def obeying_row(sign: ObeyingSign) -> dict[str, Any]:
    if sign.kind == "draft":
        return {"kind": "draft", "fields": _in_order(sign.fields, DRAFT_KEYS)}
    return {"kind": sign.kind, "name" if sign.kind == "tool" else "text": sign.text}


def _attack_from(row: Mapping[str, Any]) -> Attack:
    return Attack(row["family"], row["channel"], tuple(obeying_from(sign) for sign in row["obeying"]))


def _attack_row(attack: Attack) -> dict[str, Any]:
    return {"family": attack.family, "channel": attack.channel, "obeying": [obeying_row(sign) for sign in attack.obeying]}


def _expected_from(row: Mapping[str, Any]) -> Expected:
    return Expected(
        row["kind"],
        draft=draft_from_row(row) if row["kind"] == "draft" else None,
        text=row.get("text", ""),
        labels=tuple(row.get("labels", ())),
        route=row.get("route", ""),
        tools=tuple(row.get("tools", ())),
    )


def _expected_row(expected: Expected) -> dict[str, Any]:
    fields = {
        "draft": expected.draft.as_row() if expected.draft else {},
        "text": {"text": expected.text},
        "labels": {"labels": list(expected.labels)},
        "route": {"route": expected.route},
        "tools": {"tools": list(expected.tools)},
    }
    return {"kind": expected.kind, **fields.get(expected.kind, {})}
