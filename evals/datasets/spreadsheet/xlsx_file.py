"""An .xlsx as a table: values as Excel shows them, and never what a formula calculates."""

import re
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from openpyxl.styles.numbers import BUILTIN_FORMATS, is_date_format

from evals.datasets.row_format import MAX_FAULTS
from evals.datasets.rows import MAX_ROWS, Problem
from evals.datasets.spreadsheet.package import DAMAGED, TOO_BIG, Package
from evals.datasets.spreadsheet.table import MAX_COLUMNS, TOO_MANY_ROWS, Table, Unreadable, Value, column_letter, is_blank

CASES_SHEET = "Casos"
MAX_STRINGS = 500_000
MAX_CHARACTERS = 20_000_000
LAST_ROW, LAST_COLUMN = 1_048_576, 16_384
# What a cell writes for a character that XML cannot hold: ECMA-376, part 1, 22.9.2.19 (ST_Xstring).
ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")


class Sheet(NamedTuple):
    name: str
    hidden: bool
    path: str


def read_xlsx(content: bytes) -> Table:
    """The rows of the sheet «Casos», or of the first one that is not hidden. Raises Unreadable."""
    package = Package(content)
    book = _read_book(package)
    sheet = _choose(book.sheets)
    strings = _Strings()
    if book.strings:
        package.walk(book.strings, strings)
    styles = _Styles()
    if book.styles:
        package.walk(book.styles, styles)
    cells = _Cells(strings.found, styles.date_styles, book.from_1904)
    package.walk(sheet.path, cells)
    return Table(cells.rows, [*_say_sheets(sheet, book.sheets), *_say_hidden(cells.hidden)], cells.problems)


def _choose(sheets: list[Sheet]) -> Sheet:
    shown = [sheet for sheet in sheets if not sheet.hidden]
    chosen = next((sheet for sheet in shown if sheet.name.strip().casefold() == CASES_SHEET.casefold()), shown[0] if shown else None)
    if chosen is None:
        raise Unreadable(f"El libro no tiene ninguna hoja a la vista. Pon los casos en una hoja visible, «{CASES_SHEET}».")
    return chosen


def _say_sheets(chosen: Sheet, sheets: list[Sheet]) -> list[str]:
    others = ", ".join(f"«{sheet.name}»{' (oculta)' if sheet.hidden else ''}" for sheet in sheets if sheet is not chosen)
    return [f"Se leyó la hoja «{chosen.name}»{f'; no se leyó {others}' if others else ''}."]


def _say_hidden(rows: int) -> list[str]:
    return [f"Filas ocultas que también se leyeron: {rows}."] if rows else []


def unescape(text: str) -> str:
    """The text of a cell with its escaped characters."""
    return ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


# --- The parts of a workbook ----------------------------------------------------------------------------------------------


class _Book:
    """The sheets in order, and where the other parts are."""

    def __init__(self, related: Mapping[str, tuple[str, str]]) -> None:
        self.related = related
        self.sheets: list[Sheet] = []
        self.from_1904 = False
        by_kind = dict(related.values())
        self.strings, self.styles = by_kind.get("sharedStrings", ""), by_kind.get("styles", "")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "workbookPr":
            self.from_1904 = attributes.get("date1904", "0") in {"1", "true"}
        elif name == "sheet":
            relation = next((value for key, value in attributes.items() if key.rpartition(":")[2] == "id" and ":" in key), "")
            kind, path = self.related.get(relation, ("", ""))
            if kind == "worksheet":
                self.sheets.append(Sheet(attributes.get("name", ""), attributes.get("state", "visible") != "visible", path))

    def end(self, name: str) -> None: ...

    def text(self, characters: str) -> None: ...


def _read_book(package: Package) -> _Book:
    found = dict(package.related("").values())
    path = found.get("officeDocument", "xl/workbook.xml")
    book = _Book(package.related(path))
    package.walk(path, book)
    if not book.sheets:
        raise Unreadable("El libro no tiene hojas de celdas. Pon los casos en una hoja.")
    return book


class _Strings:
    """The shared texts; phonetic readings are no part of them."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.left = MAX_CHARACTERS
        self.parts: list[str] = []
        self.inside = self.phonetic = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "si":
            self.parts = []
        elif name == "rPh":
            self.phonetic = True
        self.inside = name == "t" and not self.phonetic

    def end(self, name: str) -> None:
        self.inside = False
        if name == "rPh":
            self.phonetic = False
        elif name == "si":
            self.found.append(unescape("".join(self.parts)))
            if len(self.found) > MAX_STRINGS:
                raise Unreadable(TOO_BIG)

    def text(self, characters: str) -> None:
        if self.inside:
            self.left -= len(characters)
            if self.left < 0:
                raise Unreadable(TOO_BIG)
            self.parts.append(characters)


class _Styles:
    """Which cell styles show a number as a date or an hour, by position."""

    def __init__(self) -> None:
        self.date_styles: set[int] = set()
        self.formats: dict[str, str] = {str(number): code for number, code in BUILTIN_FORMATS.items()}
        self.in_cells = False
        self.count = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "numFmt":
            self.formats[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
        elif name == "cellXfs":
            self.in_cells = True
        elif name == "xf" and self.in_cells:
            if is_date_format(self.formats.get(attributes.get("numFmtId", "0"), "")):
                self.date_styles.add(self.count)
            self.count += 1

    def end(self, name: str) -> None:
        if name == "cellXfs":
            self.in_cells = False

    def text(self, characters: str) -> None: ...


class _Cells:
    """The cells of one sheet, row by row; a cell that has no value to trust is a problem with its address."""

    def __init__(self, strings: list[str], date_styles: set[int], from_1904: bool) -> None:
        self.strings, self.date_styles = strings, date_styles
        self.day_zero = date(1904, 1, 1) if from_1904 else date(1899, 12, 30)
        self.rows: list[tuple[int, list[Value]]] = []
        self.problems: list[Problem] = []
        self.hidden = 0
        self.row, self.column = 0, -1
        self.cells: dict[int, Value] = {}
        self.type = self.style = ""
        self.parts: list[str] = []
        self.inside = self.phonetic = self.formula = self.is_hidden = False
        self.left = MAX_CHARACTERS

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.inside = name in {"v", "t"} and not self.phonetic
        if name == "c":
            self._start_cell(attributes)
        elif name == "row":
            self._start_row(attributes)
        elif name == "f":
            self.formula = True
        elif name == "rPh":
            self.phonetic = True
        elif name == "mergeCell":
            self._refuse_merged(attributes.get("ref", ""))

    def end(self, name: str) -> None:
        self.inside = False
        if name == "c":
            self._end_cell()
        elif name == "row":
            self._end_row()
        elif name == "rPh":
            self.phonetic = False

    def text(self, characters: str) -> None:
        if self.inside:
            self.left -= len(characters)
            if self.left < 0:
                raise Unreadable(TOO_BIG)
            self.parts.append(characters)

    def _start_row(self, attributes: dict[str, str]) -> None:
        given = attributes.get("r", "")
        self.row = int(given) if given.isdecimal() and len(given) < 9 else self.row + 1
        if self.row > LAST_ROW:
            raise Unreadable(DAMAGED)
        self.cells, self.column = {}, -1
        self.is_hidden = attributes.get("hidden") in {"1", "true"}

    def _start_cell(self, attributes: dict[str, str]) -> None:
        found = REFERENCE.fullmatch(attributes.get("r", ""))
        self.column = _index_of(found[1]) if found else self.column + 1
        if self.column >= LAST_COLUMN:
            raise Unreadable(DAMAGED)
        self.type, self.style = attributes.get("t", "n"), attributes.get("s", "0")
        self.parts, self.formula = [], False

    def _end_cell(self) -> None:
        if self.formula:
            self._refuse("Es una fórmula, y de una fórmula no se toma el valor. Cópiala y pégala como «solo valores».")
            return
        value = self._value("".join(self.parts))
        if value in (None, ""):
            return
        if self.column >= MAX_COLUMNS:
            raise Unreadable(f"Hay algo escrito en la celda {self._address()}, y solo se leen {MAX_COLUMNS} columnas. Bórralo o acércalo.")
        self.cells[self.column] = value

    def _end_row(self) -> None:
        if all(map(is_blank, self.cells.values())):
            return
        self.hidden += self.is_hidden
        self.rows.append((self.row, [self.cells.get(column) for column in range(max(self.cells) + 1)]))
        if len(self.rows) > MAX_ROWS + 1:
            raise Unreadable(TOO_MANY_ROWS)

    def _value(self, raw: str) -> Value:
        """The cell's value by its type; what cannot be read is a problem and nothing."""
        try:
            if self.type == "s":
                return self.strings[int(raw)] if raw else None
            if self.type in {"inlineStr", "str"}:
                return unescape(raw)
            if self.type == "b":
                return raw == "1"
            if self.type == "d":
                return datetime.fromisoformat(raw)
            if self.type == "n":
                return self._number(raw) if raw else None
        except (ValueError, IndexError, OverflowError):
            self._refuse(f"No se puede leer {raw[:40]!r}. Escribe el valor otra vez.")
            return None
        self._refuse(f"La celda tiene un error de Excel ({raw[:20]}). Escribe el valor que corresponde.")
        return None

    def _number(self, raw: str) -> Value:
        number = float(raw)
        if self.style.isdecimal() and int(self.style) in self.date_styles:
            return self._moment(number)
        whole = int(number)
        return whole if whole == number else number

    def _moment(self, number: float) -> Value:
        days, seconds = divmod(round(number * 86_400), 86_400)
        clock = time(seconds // 3600, seconds // 60 % 60, seconds % 60)
        if number < 1:
            return clock
        day = self.day_zero + timedelta(days=days)
        return datetime.combine(day, clock) if seconds else day

    def _refuse_merged(self, reference: str) -> None:
        found = REFERENCE.match(reference)
        self.row, self.column = (int(found[2]), _index_of(found[1])) if found else (0, 0)
        self._refuse(f"Las celdas {reference[:20]} están combinadas. Sepáralas y escribe el valor en cada una.")

    def _refuse(self, message: str) -> None:
        if len(self.problems) < MAX_FAULTS:
            self.problems.append(Problem(self.row, f"celda {self._address()}", message))

    def _address(self) -> str:
        return f"{column_letter(self.column)}{self.row}"


def _index_of(letters: str) -> int:
    index = 0
    for letter in letters:
        index = index * 26 + ord(letter) - ord("A") + 1
    return index - 1
