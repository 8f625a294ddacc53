"""Cases as a sheet in which nothing that a person typed is calculated."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.worksheet.datavalidation import DataValidation

from bookings.exports import fill_cell, neutralise
from evals.datasets.spreadsheet.columns import COLUMNS, KEY, RIGHT, cells_of
from evals.datasets.spreadsheet.table import column_letter
from evals.datasets.spreadsheet.template import ADVICE, CHOICES, EXAMPLE, HELP, WIDTHS
from evals.datasets.spreadsheet.xlsx_file import CASES_SHEET

MAX_CELL = 32_767  # characters that a cell of Excel holds
VALIDATED_ROWS = 5_000
PLAIN_WIDTH = 16
# Characters that XML cannot hold or would change, and what looks like the escape of one.
UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")


class CellTooLong(Exception):  # noqa: N818 -- an answer about the file, not a fault
    """A cell of Excel cannot hold a text of this case."""

    def __init__(self, key: str, column: str) -> None:
        super().__init__(f"«{column}» de «{key}» no cabe en una celda de Excel ({MAX_CELL:,} caracteres). Usa CSV o JSON Lines.")


def header_of(cells: Iterable[Mapping[str, str]]) -> list[str]:
    """Every column of the format, then those of the recordings that there are."""
    found = dict.fromkeys(column for row in cells for column in row)
    return [*COLUMNS, *sorted((column for column in found if column not in COLUMNS), key=_recording_order)]


def _recording_order(column: str) -> tuple[bool, str, int]:
    name, _, part = column.removeprefix("grabación ").partition(": ")
    return name != "base", name, ("salida", "inválida", "nota", "origen").index(part)


def write_csv(rows: Sequence[Mapping[str, Any]], *, held_out: int) -> bytes:
    """UTF-8 with the mark that Excel looks for, commas, CRLF. `held_out`: how many held-out cases stay at home."""
    cells = [cells_of(row) for row in rows]
    header = header_of(cells)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([*header, _mark("CSV", held_out)])
    writer.writerows([*(neutralise(row.get(column, "")) for column in header), ""] for row in cells)
    return text.getvalue().encode("utf-8-sig")


def write_xlsx(rows: Sequence[Mapping[str, Any]], *, held_out: int) -> bytes:
    """A workbook with the sheets «Casos» and «Ayuda». Raises CellTooLong."""
    cells = [cells_of(row) for row in rows]
    _refuse_long(cells)
    return _workbook([*header_of(cells), _mark("XLSX", held_out)], cells)


def write_template() -> bytes:
    """The workbook to start from: the example in its first row."""
    return _workbook(list(COLUMNS), [EXAMPLE])


def escape(text: str) -> str:
    """The text as a cell of an .xlsx keeps it, every character of it."""
    return UNSAFE.sub(lambda found: f"_x{ord(found[0]):04X}_", text)


def _refuse_long(rows: Iterable[Mapping[str, str]]) -> None:
    for row in rows:
        for column, text in row.items():
            if len(text) * 7 > MAX_CELL and len(escape(text)) > MAX_CELL:  # an escape is seven characters
                raise CellTooLong(row[KEY], column)


def _mark(kind: str, held_out: int) -> str:
    left = f"{held_out} casos reservados no salen en este archivo" if held_out else "ningún caso reservado quedó fuera"
    return f"Kallpa {kind}: {left}"


def _workbook(header: list[str], rows: Iterable[Mapping[str, str]]) -> bytes:
    book, held = Workbook(write_only=True), io.BytesIO()
    sheet: Any = book.create_sheet(CASES_SHEET)
    sheet.freeze_panes = "B2"
    for index, column in enumerate(header):
        dimension = sheet.column_dimensions[column_letter(index)]
        dimension.width, dimension.number_format = WIDTHS.get(column, PLAIN_WIDTH), "@"
    for validation in _validations(header):
        sheet.data_validations.append(validation)
    sheet.append([_title(sheet, column) for column in header])
    for row in rows:
        sheet.append([_cell(sheet, row, column) for column in header])
    _add_help(book)
    book.save(held)
    return held.getvalue()


def _title(sheet: Any, text: str) -> Any:
    cell = _filled(sheet, text)
    cell.font, cell.fill = Font(bold=True, color="FFFFFF"), PatternFill("solid", fgColor="14683F")
    cell.alignment = Alignment(wrap_text=True, vertical="top")
    return cell


def _cell(sheet: Any, row: Mapping[str, str], column: str) -> Any:
    return _filled(sheet, escape(row[column])) if column in row else None


def _filled(sheet: Any, text: str) -> Any:
    cell = WriteOnlyCell(sheet)
    fill_cell(cell, text)
    return cell


def _validations(header: list[str]) -> Iterable[DataValidation]:
    for column in [column for column in CHOICES if column in header]:
        letter = column_letter(header.index(column))
        validation = DataValidation(type="list", formula1=f'"{",".join(CHOICES[column])}"', allow_blank=True)
        validation.showErrorMessage = column != RIGHT  # which may also hold an answer
        validation.errorTitle, validation.error = "No está en la lista", "Elige una de las opciones de la lista."
        validation.add(f"{letter}2:{letter}{VALIDATED_ROWS + 1}")
        yield validation


def _add_help(book: Any) -> None:
    sheet = book.create_sheet("Ayuda")
    sheet.column_dimensions["A"].width, sheet.column_dimensions["B"].width = 32, 110
    for line in ADVICE:
        sheet.append([None, _wrapped(sheet, line)])
    sheet.append([])
    sheet.append([_title(sheet, "columna"), _title(sheet, "qué se escribe")])
    for column in COLUMNS:
        sheet.append([_wrapped(sheet, column), _wrapped(sheet, HELP[column])])


def _wrapped(sheet: Any, text: str) -> Any:
    cell = _filled(sheet, text)
    cell.alignment = Alignment(wrap_text=True, vertical="top")
    return cell
