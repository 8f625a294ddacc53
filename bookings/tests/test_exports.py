"""Bookings leave as spreadsheets in which nothing that a person typed is calculated."""

import csv
import datetime as dt
import io
import re
import zipfile
from typing import Any

import openpyxl
import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from pytest_django.fixtures import DjangoAssertNumQueries

from bookings.models import Booking, Court, Member
from bookings.tests.desk import DESK, READERS, in_days, log_in, make_booking, page

XLSX, CSV = "0", "1"
SIGNS = "=+-@＝＋－＠"
STARTS = [
    *("=1+1", "+1+1", "-1+1", "@SUM(1;1)", "＝1+1", "＋1+1", "－1+1", "＠SUM(1)"),
    *("=cmd|'/C calc'!A0", '=HYPERLINK("http://a.test")', "@A1", "+A1", "-A1", '=WEBSERVICE("http://a.test")'),
    *(" =1+1", "\t=1+1", "\r=1+1", "\n=1+1", "\u00a0=1+1", "\u3000＝1+1", "\ttexto", "\rtexto"),
]  # fmt: skip
INSIDE = [
    *("Pumas;=1+1", "Pumas,=1+1", "Pumas\t=1+1", "Pumas\n=1+1", "Pumas\r=1+1", "Pumas|=1+1", '";=1+1;"', "a; ＠A1"),
]  # fmt: skip
PAYLOADS = [*STARTS, *INSIDE]
HARMLESS = ["Los Pumas", "Triple-Doble", "3 = tres", "Deportivo 2+1", "a@b.pe", "'Los Tigres'", "Ñandú, FC", ""]


@pytest.fixture
def desk(db: None) -> Client:
    return log_in(DESK)


def book_for(teams: list[str], court: Court) -> None:
    """A booking for each, all on the same day of a past that the export does not mind, by a member of that name."""
    made = {"court": court, "date": dt.date(2026, 3, 10), "start_hour": 18, "hours": 2, "price_centimos": 12_100}
    moment = dt.datetime(2026, 3, 9, 15, 30, tzinfo=dt.UTC)
    for team in teams:
        Booking.objects.create(member=Member.objects.create(name=team), team_name=team, created_at=moment, **made)


def export(client: Client, kind: str, query: str = "") -> bytes:
    response = client.post(page("booking", "export") + query, {"format": kind, "resource": ""})
    assert response.status_code == 200, response
    assert "attachment" in response["Content-Disposition"]
    return response.content


def read_csv(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def read_xlsx(content: bytes) -> list[list[Any]]:
    return [list(row) for row in openpyxl.load_workbook(io.BytesIO(content)).active.iter_rows()]


def is_live(text: str) -> bool:
    """Whether a spreadsheet might calculate the cell; the widest reading."""
    return text[:1] in {"\t", "\r", "\n"} or text.strip()[:1] in set(SIGNS)


def test_there_are_thirty_payloads_and_the_rule_calls_the_plain_ones_live() -> None:
    assert len(PAYLOADS) == 30
    assert all(is_live(payload) for payload in STARTS)
    assert not any(is_live(text) for text in HARMLESS)


def test_a_csv_file_has_no_live_cell(desk: Client, court: Court) -> None:
    book_for(PAYLOADS, court)
    cells = [cell for row in read_csv(export(desk, CSV)) for cell in row]
    assert len(cells) == 31 * 11
    assert [cell for cell in cells if is_live(cell)] == []


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_nor_has_it_where_a_program_splits_at_another_sign(delimiter: str, desk: Client, court: Court) -> None:
    book_for(PAYLOADS, court)
    lines = export(desk, CSV).decode("utf-8-sig").split("\r\n")
    assert [cell for line in lines for cell in line.split(delimiter) if is_live(cell)] == []


def test_control_the_same_file_without_the_protection_is_live(desk: Client, court: Court, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bookings.exports.neutralise", lambda text: text)
    book_for(STARTS, court)
    assert sum(is_live(cell) for row in read_csv(export(desk, CSV)) for cell in row) == 2 * len(STARTS)


def test_an_xlsx_file_has_no_formula_and_every_text_reads_back_as_it_was(desk: Client, court: Court) -> None:
    book_for([*PAYLOADS, *HARMLESS], court)
    content = export(desk, XLSX)
    rows = read_xlsx(content)[1:]
    assert {cell.data_type for row in rows for cell in row} <= {"s", "inlineStr", "n", "d"}
    assert sorted(row[6].value or "" for row in rows) == sorted(_as_xml_keeps(text) for text in [*PAYLOADS, *HARMLESS])
    assert {bool(row[6].quotePrefix) for row in rows if is_live(row[6].value or "")} == {True}
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        assert not any(re.search(rb"<f[ >]", parts.read(name)) for name in parts.namelist())


def _as_xml_keeps(text: str) -> str:
    return text.replace("\r", "\n")


def test_control_openpyxl_alone_writes_a_formula() -> None:
    book = openpyxl.Workbook()
    book.active.append(["=1+1"])
    assert book.active["A1"].data_type == "f"


def test_harmless_names_leave_as_they_are(desk: Client, court: Court) -> None:
    book_for(HARMLESS, court)
    assert sorted(row[6] for row in read_csv(export(desk, CSV))[1:]) == sorted(HARMLESS)


def test_a_row_says_what_the_desk_knows_and_no_telephone(desk: Client, court: Court, member: Member) -> None:
    Member.objects.update(phone="987654321")
    book_for(["Los Pumas"], court)
    header = [*("fecha", "empieza", "termina", "cancha", "deporte", "miembro", "equipo", "precio (S/)", "estado", "creada", "cancelada")]
    values = ["2026-03-10", "18", "20", "Fulbito 1", "Fulbito", "Los Pumas", "Los Pumas", "121.00", "Confirmada", "2026-03-09 10:30:00", ""]
    assert read_csv(export(desk, CSV)) == [header, values]
    assert read_xlsx(export(desk, XLSX))[1][0].value == dt.datetime(2026, 3, 10)  # noqa: DTZ001 -- a spreadsheet's day
    assert b"987654321" not in export(desk, CSV)


def test_only_what_the_list_shows_is_exported(desk: Client, court: Court, member: Member) -> None:
    make_booking(member=member, court=court, team_name="Pumas")
    make_booking(member=member, court=court, days=3, team_name="Tigres")
    assert [row[6] for row in read_csv(export(desk, CSV, "?dia=manana"))[1:]] == ["Pumas"]
    assert read_csv(export(desk, CSV, "?dia=manana"))[1][0] == in_days(1).isoformat()


def test_a_character_that_a_workbook_cannot_hold_stops_nothing(desk: Client, court: Court) -> None:
    book_for(["\x07Los Pumas"], court)
    assert read_xlsx(export(desk, XLSX))[1][6].value == "\N{REPLACEMENT CHARACTER}Los Pumas"


def test_a_reader_may_not_export_until_somebody_allows_it(desk: Client) -> None:
    reader = log_in(READERS)
    assert reader.get(page("booking", "export")).status_code == 403
    assert "export_link" not in reader.get(page("booking")).content.decode()
    assert "export_link" in desk.get(page("booking")).content.decode()
    User.objects.get(username=f"persona de {READERS}").user_permissions.add(Permission.objects.get(codename="export_booking"))
    assert reader.get(page("booking", "export")).status_code == 200


@pytest.mark.parametrize("rows", [20, 2000])
def test_it_asks_as_much_for_many_rows_as_for_few(
    rows: int, desk: Client, court: Court, member: Member, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    booking = make_booking(member=member, court=court)
    fields = {
        field: getattr(booking, field) for field in ("court", "member", "date", "start_hour", "hours", "price_centimos", "created_at")
    }
    Booking.objects.bulk_create(Booking(**fields) for _ in range(rows - 1))
    with django_assert_max_num_queries(8):
        assert len(read_csv(export(desk, CSV))) == rows + 1
