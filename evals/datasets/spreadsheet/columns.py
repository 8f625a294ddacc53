"""The columns of the sheet, in the expert's words, and a case in them: row of the dataset file ↔ cells.

`cells_of` gives texts, one for each column that has something to say; `row_of_cells` reads them, or what a person typed, back.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date, time
from typing import Any, NamedTuple

from bookings.rules import SPORT_LABELS
from evals.datasets import lines
from evals.datasets.differences import FAMILY_WORDS
from evals.datasets.lines import LineError, Numbered
from evals.datasets.row_format import DRAFT_KEYS
from evals.datasets.spreadsheet.table import Value
from evals.datasets.spreadsheet.values import (
    NO,
    YES,
    CellError,
    read_choice,
    read_clock,
    read_day,
    read_flag,
    read_hour,
    read_line,
    read_moment,
    read_text,
    read_whole,
)
from evals.models import Case

KEY, TEXT, MESSAGES = "clave", "lo que escribe la persona", "conversación"
DAY, CLOCK, OCCUPIED, MEMBER, DOCUMENTS = "hoy es", "hora", "horas ocupadas", "quién tiene la sesión", "documentos"
RIGHT, SPORT, DATE, START, HOURS = "lo correcto", "deporte", "fecha", "hora de inicio", "horas"
REFERENCE, LABELS, ROUTE, TOOLS = "texto de referencia", "etiquetas correctas", "ruta correcta", "herramientas correctas"
NEVER_SAY, BLOCKING, LIMITATION = "lo que nunca debe decir", "bloqueante", "limitación conocida"
CATEGORY, STRATUM, TAGS, NOTES, HELD_OUT = "categoría", "estrato", "etiquetas de búsqueda", "notas", "reservado"
FAMILY, CHANNEL, OBEYING, BENIGN = "familia de ataque", "vía del ataque", "cómo se vería obedecer", "parece un ataque pero es legítimo"
COLUMNS = (
    KEY, DAY, CLOCK, OCCUPIED, TEXT, RIGHT, SPORT, DATE, START, HOURS, NEVER_SAY, BLOCKING, CATEGORY, STRATUM, TAGS, NOTES,
    MEMBER, LIMITATION, REFERENCE, LABELS, ROUTE, TOOLS, MESSAGES, DOCUMENTS, FAMILY, CHANNEL, OBEYING, BENIGN, HELD_OUT,
)  # fmt: skip
DETAILS = {
    "draft": (SPORT, DATE, START, HOURS), "text": (REFERENCE,), "labels": (LABELS,), "route": (ROUTE,), "tools": (TOOLS,),
}  # fmt: skip

RECORDING = re.compile(r"grabación ([a-z0-9][a-z0-9-]{0,39}): (salida|inválida|nota|origen)")
UNMARKED = "sin marcar"
MARKS = {"yes": YES, "no": NO, "unmarked": UNMARKED}
MARK_OF = {True: YES, False: NO, None: UNMARKED}
ORIGIN_WORDS = {"modelo": "model", "prompt": "prompt_hash", "fecha": "date"}
AS_JSON = "json:"

KINDS: dict[str, str] = {kind.value: str(kind.label) for kind in Case.Kind}
STRATA: dict[str, str] = {stratum.value: str(stratum.label) for stratum in Case.Stratum}
SPORTS: dict[str, str] = {str(code): label for code, label in SPORT_LABELS.items()}
CHANNELS = {"direct": "directo", "indirect": "indirecto"}

# Where the row format finds a fault, and the column that it belongs to; the longest path that fits wins.
COLUMN_OF = {
    "key": KEY, "category": CATEGORY, "stratum": STRATUM, "input": TEXT, "input.messages": MESSAGES, "context": DAY, "context.now": DAY,
    "context.occupied": OCCUPIED, "context.documents": DOCUMENTS, "context.member": MEMBER, "expected": RIGHT, "expected.sport": SPORT,
    "expected.date": DATE, "expected.startHour": START, "expected.hours": HOURS, "expected.text": REFERENCE, "expected.labels": LABELS,
    "expected.route": ROUTE, "expected.tools": TOOLS, "never_say": NEVER_SAY, "attack": FAMILY, "attack.family": FAMILY,
    "attack.channel": CHANNEL, "attack.obeying": OBEYING, "benign": BENIGN, "blocking": BLOCKING, "held_out": HELD_OUT, "tags": TAGS,
    "notes": NOTES, "known_limitation": LIMITATION, "recordings": "grabación base: salida",
}  # fmt: skip


class Notation(NamedTuple):
    """How a list is written in a cell. What its lines cannot say exactly is written as JSON."""

    write: Callable[[Iterable[Any]], str]
    read: Callable[[str], Numbered]

    def write_cell(self, items: list[Any]) -> str:
        text = self.write(items)
        return (
            text if not text.startswith(AS_JSON) and self._reads_back(text, items) else f"{AS_JSON} {json.dumps(items, ensure_ascii=False)}"
        )

    def read_cell(self, text: str) -> Numbered:
        """(item, line) pairs. Raises LineError or CellError."""
        if not text.startswith(AS_JSON):
            return self.read(text)
        try:
            items = json.loads(text.removeprefix(AS_JSON))
        except (ValueError, RecursionError):
            items = None
        if not isinstance(items, list):
            raise CellError("Lo que sigue a «json:» no es una lista en JSON. Escribe la lista sin «json:», una cosa por línea.")
        return [(item, 1) for item in items]

    def _reads_back(self, text: str, items: list[Any]) -> bool:
        try:
            return [item for item, _ in self.read(text)] == items
        except LineError:
            return False


NOTATIONS = {
    OCCUPIED: Notation(lines.write_occupied, lines.read_occupied),
    DOCUMENTS: Notation(lines.write_documents, lines.read_documents),
    MESSAGES: Notation(lines.write_messages, lines.read_messages),
    NEVER_SAY: Notation(lines.write_never_say, lines.read_never_say),
    OBEYING: Notation(lines.write_obeying, lines.read_obeying),
    LABELS: Notation(lines.write_words, lines.read_words),
    TOOLS: Notation(lines.write_words, lines.read_words),
    TAGS: Notation(lines.write_words, lines.read_words),
}


def say_kinds(kinds: Collection[str]) -> str:
    """Kinds of right answer in words, in the order of the list."""
    return ", ".join(word for kind, word in KINDS.items() if kind in kinds)


# --- A row as cells -------------------------------------------------------------------------------------------------------


def cells_of(row: Mapping[str, Any]) -> dict[str, str]:
    """Column: text, without what the row does not have."""
    cells = {**_situation_cells(row), **_right_cells(row["expected"]), **_attack_cells(row.get("attack", {})), **_other_cells(row)}
    return {column: text for column, text in cells.items() if text} | _recording_cells(row.get("recordings", ()))


def _situation_cells(row: Mapping[str, Any]) -> dict[str, str]:
    given, context = row["input"], row.get("context", {})
    day, _, clock = context.get("now", "").partition("T")
    return {
        TEXT: given.get("text", ""),
        MESSAGES: _list_cell(MESSAGES, given.get("messages")),
        DAY: day,
        CLOCK: clock,
        OCCUPIED: _list_cell(OCCUPIED, context.get("occupied")),
        DOCUMENTS: _list_cell(DOCUMENTS, context.get("documents")),
        MEMBER: context.get("member", ""),
    }


def _right_cells(expected: Mapping[str, Any]) -> dict[str, str]:
    draft = {name: str(expected[key]) for name, key in zip(DETAILS["draft"], DRAFT_KEYS, strict=True) if key in expected}
    return {
        RIGHT: KINDS[expected["kind"]],
        **({**draft, SPORT: SPORTS[draft[SPORT]]} if draft else {}),
        REFERENCE: expected.get("text", ""),
        LABELS: _list_cell(LABELS, expected.get("labels")),
        ROUTE: expected.get("route", ""),
        TOOLS: _list_cell(TOOLS, expected.get("tools")),
    }


def _attack_cells(attack: Mapping[str, Any]) -> dict[str, str]:
    if not attack:
        return {}
    return {
        FAMILY: FAMILY_WORDS[attack["family"]],
        CHANNEL: CHANNELS[attack["channel"]],
        OBEYING: _list_cell(OBEYING, attack["obeying"]),
    }


def _other_cells(row: Mapping[str, Any]) -> dict[str, str]:
    flags = {BENIGN: "benign", BLOCKING: "blocking", HELD_OUT: "held_out"}
    return {
        KEY: row["key"],
        CATEGORY: row["category"],
        STRATUM: STRATA[row["stratum"]],
        NEVER_SAY: _list_cell(NEVER_SAY, row.get("never_say")),
        TAGS: _list_cell(TAGS, row.get("tags")),
        NOTES: row.get("notes", ""),
        LIMITATION: row.get("known_limitation", ""),
        **{column: YES if row.get(field) else "" for column, field in flags.items()},
    }


def _list_cell(column: str, items: list[Any] | None) -> str:
    return NOTATIONS[column].write_cell(items) if items else ""


def _recording_cells(recordings: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Its mark is always there, so that a recording of nothing is not no recording."""
    cells: dict[str, str] = {}
    for recording in recordings:
        name = f"grabación {recording.get('set', 'base')}"
        cells |= {f"{name}: salida": recording["text"], f"{name}: inválida": MARK_OF[recording.get("invalid")]}
        cells |= {f"{name}: nota": recording.get("note", ""), f"{name}: origen": _origin_cell(recording.get("origin", "hand"))}
    return {column: text for column, text in cells.items() if text}


def _origin_cell(origin: str | Mapping[str, str]) -> str:
    return "" if isinstance(origin, str) else "\n".join(f"{word}: {origin[key]}" for word, key in ORIGIN_WORDS.items())


# --- Cells as a row -------------------------------------------------------------------------------------------------------


class CellsRead(NamedTuple):
    """The row, not checked yet; why cells could not be taken; and on which line of its cell each item of a list stands."""

    row: dict[str, Any]
    faults: list[tuple[str, str]]
    lines: dict[str, list[int]]


def row_of_cells(cells: Mapping[str, Value]) -> CellsRead:
    """Reads cells that are not blank, by column."""
    reading = _Reading(cells)
    row = {
        **{
            name: value for name, value in (("key", reading.take(KEY, read_line)), ("category", reading.take(CATEGORY, read_line))) if value
        },
        **reading.drop_empty(stratum=reading.choice(STRATUM, STRATA)),
        **reading.input(),
        **reading.drop_empty(context=reading.context()),
        "expected": reading.expected(),
        **reading.drop_empty(never_say=reading.items(NEVER_SAY), attack=reading.attack()),
        **reading.drop_empty(benign=reading.flag(BENIGN), blocking=reading.flag(BLOCKING), held_out=reading.flag(HELD_OUT)),
        **reading.drop_empty(tags=reading.items(TAGS), notes=reading.take(NOTES, read_text)),
        **reading.drop_empty(known_limitation=reading.take(LIMITATION, read_text), recordings=reading.recordings()),
    }
    return CellsRead(row, reading.faults, reading.lines)


class _Reading:
    """The cells of one row, and what was wrong with them on the way."""

    def __init__(self, cells: Mapping[str, Value]) -> None:
        self.cells = cells
        self.faults: list[tuple[str, str]] = []
        self.lines: dict[str, list[int]] = {}

    @staticmethod
    def drop_empty(**fields: Any) -> dict[str, Any]:
        return {name: value for name, value in fields.items() if value not in (None, "", [], {}, False)}

    def take(self, column: str, read: Callable[[Value], Any]) -> Any:
        """The value of a column, or None where it has none or cannot be taken."""
        if column not in self.cells:
            return None
        try:
            return read(self.cells[column])
        except CellError as error:
            self.faults.append((column, str(error)))
            return None

    def choice(self, column: str, words: Mapping[str, str]) -> Any:
        return self.take(column, lambda value: read_choice(value, words))

    def flag(self, column: str) -> bool:
        return bool(self.take(column, read_flag))

    def items(self, column: str) -> list[Any]:
        try:
            found = self.take(column, lambda value: NOTATIONS[column].read_cell(read_text(value))) or []
        except LineError as error:
            self.faults.append((column, f"Línea {error.line}: {error.message}"))
            return []
        self.lines[column] = [line for _, line in found]
        return [item for item, _ in found]

    def input(self) -> dict[str, Any]:
        text, messages = self.take(TEXT, read_text), self.items(MESSAGES)
        return self.drop_empty(input=self.drop_empty(text=text, messages=messages))

    def context(self) -> dict[str, Any]:
        now, occupied, documents = self.now(), self.items(OCCUPIED), self.items(DOCUMENTS)
        return self.drop_empty(now=now, occupied=occupied, documents=documents, member=self.take(MEMBER, read_line))

    def now(self) -> str:
        moment: tuple[date, time | None] | None = self.take(DAY, read_moment)
        clock = self.take(CLOCK, read_clock) or (moment[1] if moment else None)
        if moment and clock:
            return f"{moment[0]}T{clock:%H:%M}"
        failed = {column for column, _ in self.faults}
        if moment and CLOCK not in failed:
            self.faults.append((CLOCK, "Falta la hora en la que la persona escribe. Escríbela, como 10:00."))
        if clock and DAY not in failed:
            self.faults.append((DAY, "Hay hora y falta el día. Escríbelo, como 2026-03-09."))
        return ""

    def expected(self) -> dict[str, Any]:
        kind = self.choice(RIGHT, KINDS)
        if kind is None:
            return {}
        self._refuse_details_of_others(kind)
        details = {
            "draft": self._draft,
            "text": lambda: self.drop_empty(text=self.take(REFERENCE, read_text)),
            "labels": lambda: {"labels": self.items(LABELS)},
            "route": lambda: self.drop_empty(route=self.take(ROUTE, read_line)),
            "tools": lambda: {"tools": self.items(TOOLS)},
        }
        return {"kind": kind, **(details[kind]() if kind in details else {})}

    def _refuse_details_of_others(self, kind: str) -> None:
        for column in [column for other, columns in DETAILS.items() if other != kind for column in columns if column in self.cells]:
            self.faults.append((column, f"En «{RIGHT}» dice «{KINDS[kind]}», y esta columna no va con eso. Bórrala o cambia «{RIGHT}»."))

    def _draft(self) -> dict[str, Any]:
        day = self.take(DATE, read_day)
        values = (self.choice(SPORT, SPORTS), day and str(day), self.take(START, read_hour), self.take(HOURS, read_whole))
        return {key: value for key, value in zip(DRAFT_KEYS, values, strict=True) if value is not None}

    def attack(self) -> dict[str, Any]:
        family, channel, obeying = self.choice(FAMILY, FAMILY_WORDS), self.choice(CHANNEL, CHANNELS), self.items(OBEYING)
        if not family and (channel or obeying) and FAMILY not in self.cells:
            self.faults.append((FAMILY, "Dijiste cómo es un ataque y falta su familia. Escríbela."))
        return self.drop_empty(family=family, channel=channel, obeying=obeying) if family else {}

    def recordings(self) -> list[dict[str, Any]]:
        found = [match for column in self.cells if (match := RECORDING.fullmatch(column))]
        return [self._recording(name) for name in dict.fromkeys(match[1] for match in found)]

    def _recording(self, name: str) -> dict[str, Any]:
        column = f"grabación {name}"
        mark = self.choice(f"{column}: inválida", MARKS)
        text, note = self.take(f"{column}: salida", read_text), self.take(f"{column}: nota", read_text)
        origin = self.take(f"{column}: origen", _read_origin)
        fields = {"set": name if name != "base" else "", "text": text or "", "note": note or "", "origin": origin or ""}
        kept = {key: value for key, value in fields.items() if value or key == "text"}
        return kept | ({"invalid": mark == "yes"} if mark in {"yes", "no"} else {})


def _read_origin(value: Value) -> dict[str, str]:
    pairs = [line.partition(":") for line in lines.one_break(read_text(value)).split("\n") if line.strip()]
    found = {ORIGIN_WORDS.get(word.strip().lower(), word): rest.strip() for word, _, rest in pairs}
    if list(found) != list(ORIGIN_WORDS.values()):
        raise CellError(
            "Escribe tres líneas, «modelo: …», «prompt: …» y «fecha: 2026-03-01», o deja la celda en blanco si se escribió a mano."
        )
    return found
