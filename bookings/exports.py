"""Bookings as spreadsheets. People choose names and team names, so no cell that holds text may run as a formula."""

import re
from decimal import Decimal
from io import BytesIO
from typing import Any

import tablib
from import_export import fields, resources
from import_export.formats.base_formats import CSV, XLSX
from openpyxl import Workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE, Cell

from bookings.clock import in_lima
from bookings.models import Booking

# What makes a spreadsheet calculate: these signs, also full-width, where a cell begins. A program that splits at another sign
# than the comma begins a cell in the middle of our text. https://owasp.org/www-community/attacks/CSV_Injection
# Apostrophes that are there already count as what such a cell begins with, so that `restore` finds the text again.
RUN = re.compile(r"(?<!['\s])['\s]*+(?=[=+\-@＝＋－＠])")  # from its first character only: a long run of blanks is read once
BEGINS_WITH_BREAK = re.compile(r"'*+[\t\r\n]")


def neutralise(text: str) -> str:
    """The text with an apostrophe wherever a cell that calculates would begin; every other text as it is."""
    marked = RUN.sub(_mark, text)
    return f"'{marked}" if BEGINS_WITH_BREAK.match(text) and not RUN.match(text) else marked


def restore(text: str) -> str:
    """The text that `neutralise` was given."""
    if text.startswith("'") and BEGINS_WITH_BREAK.match(text, 1) and not RUN.match(text):
        return RUN.sub(_unmark, text)[1:]
    return RUN.sub(_unmark, text)


def _mark(run: re.Match[str]) -> str:
    return ("'" if _begins_cell(run) else "") + re.sub(r"([\t\r\n])", r"\1'", run[0])


def _unmark(run: re.Match[str]) -> str:
    return re.sub(r"([\t\r\n])'", r"\1", run[0].removeprefix("'") if _begins_cell(run) else run[0])


def _begins_cell(run: re.Match[str]) -> bool:
    return run.start() == 0 or run.string[run.start() - 1] in ";,|"


class SafeCSV(CSV):
    """Spreadsheets show the apostrophe of a neutralised cell; nothing runs."""

    def export_data(self, dataset: tablib.Dataset, **options: Any) -> Any:
        rows = [[neutralise(value) if isinstance(value, str) else value for value in row] for row in dataset]
        return super().export_data(tablib.Dataset(*rows, headers=dataset.headers), **options)


class SafeXLSX(XLSX):
    """Each text is written as a text cell, which never runs and reads back as it was, but for characters XML cannot hold."""

    def export_data(self, dataset: tablib.Dataset, **options: Any) -> bytes:
        book, held = Workbook(), BytesIO()
        sheet: Any = book.active
        sheet.title, sheet.freeze_panes = "Reservas", "A2"
        for number, row in enumerate([dataset.headers, *dataset], start=1):
            for column, value in enumerate(row, start=1):
                fill_cell(sheet.cell(number, column), value)
        book.save(held)
        return held.getvalue()


def fill_cell(cell: Cell, value: Any) -> None:
    """Puts a value into a cell that never calculates; what XML cannot hold becomes U+FFFD."""
    text = isinstance(value, str)
    cell.value = ILLEGAL_CHARACTERS_RE.sub("\N{REPLACEMENT CHARACTER}", value) if text else value
    if text:
        cell.data_type = "s"  # openpyxl makes a formula of what begins with "=" and an error of "#N/A"
    if text and neutralise(value) != value:
        cell.number_format, cell.quotePrefix = "@", True  # stays text also when somebody edits the cell


class BookingResource(resources.ModelResource):
    """One booking a row, as the desk reads it; telephone numbers stay at home."""

    date = fields.Field(column_name="fecha")
    start = fields.Field(column_name="empieza")
    end = fields.Field(column_name="termina")
    court = fields.Field(column_name="cancha")
    sport = fields.Field(column_name="deporte")
    member = fields.Field(column_name="miembro")
    team_name = fields.Field(column_name="equipo")
    price = fields.Field(column_name="precio (S/)")
    status = fields.Field(column_name="estado")
    created_at = fields.Field(column_name="creada")
    cancelled_at = fields.Field(column_name="cancelada")

    class Meta:
        model = Booking
        name = "Reservas"
        fields = ["date", "start", "end", "court", "sport", "member", "team_name", "price", "status", "created_at", "cancelled_at"]

    def export_resource(self, booking: Booking, selected_fields: list[str] | None = None, **options: Any) -> list[Any]:
        """The values of the columns above, in their order; times in Lima without a zone, which spreadsheets do not know."""
        return [
            booking.date,
            booking.start_hour,
            booking.end_hour,
            booking.court.name,
            booking.court.get_sport_display(),
            booking.member.name,
            booking.team_name,
            Decimal(booking.price_centimos).scaleb(-2),
            booking.get_status_display(),
            *(moment and in_lima(moment).replace(tzinfo=None, microsecond=0) for moment in (booking.created_at, booking.cancelled_at)),
        ]
