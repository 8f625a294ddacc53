"""A dataset leaves as a sheet and comes back as it was, and nothing in the sheet is calculated."""

import csv
import io
import json
import zipfile
from typing import Any

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookings.exports import neutralise, restore
from bookings.tests.test_exports import HARMLESS, PAYLOADS, is_live
from evals.datasets.rows import row_of
from evals.datasets.spreadsheet import CellTooLong, FileRead, read_cases, write_csv, write_xlsx
from evals.management.demo import SEEDS
from evals.tests.test_dataset_rows import FULL, SMALL, sound_rows, with_

WRITERS = {"csv": write_csv, "xlsx": write_xlsx}
CONTROLS = [
    *("\x01campana\x07", "_x000D_", "a_x0041_b", "uno\r", "uno\r\ndos", "a\ufffe", "\ufffd"),
    *(" con espacios ", "uno\u2028dos", "maÃ±ana", "'", "''=1"),
]
HARD_LISTS: list[dict[str, Any]] = [
    {"never_say": [{"kind": "phrase", "text": "patrón: uno"}, {"kind": "phrase", "text": "json: []"}]},
    {"never_say": [{"kind": "rule", "text": "no;=1+1"}]},
    {"input": {"messages": [{"role": "user", "content": "uno\npersona: dos"}, {"role": "assistant", "content": " ¿sí? "}]}},
    {"input": {"messages": [{"role": "system", "content": "=1"}, {"role": "user", "content": "dos\n\n"}]}},
    {"expected": {"kind": "labels", "labels": ["uno, dos", "tres"]}},
    {"expected": {"kind": "labels", "labels": []}},
    {"expected": {"kind": "tools", "tools": ["=uno", "-dos"]}},
    {"expected": {"kind": "route", "route": "pregunta"}},
    {"expected": {"kind": "text", "text": "pregunta"}},
    {"context": {"documents": ["uno\n=====\ndos", "tres"]}},
    {"notes": "  "},
    {"recordings": [{"text": "\n"}, {"set": "otro", "text": ""}]},
]


def back_and_forth(kind: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    read = read_cases(WRITERS[kind](rows, held_out=0), name=f"casos.{kind}")
    assert read.problems == []
    return rows_of(read)


def rows_of(read: FileRead) -> list[dict[str, Any]]:
    return [row_of(row.spec, row.recordings) for row in read.rows]


def texts_of(kind: str, content: bytes) -> list[str]:
    if kind == "csv":
        return [cell for row in csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")) for cell in row]
    return [str(cell.value or "") for row in openpyxl.load_workbook(io.BytesIO(content))["Casos"].iter_rows() for cell in row]


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("slug", ["kit", "reservas", "seguridad"])
def test_every_shipped_dataset_comes_back_as_it_was(slug: str, kind: str) -> None:
    rows = [json.loads(line) for line in (SEEDS / f"{slug}.jsonl").read_text("utf-8").splitlines()]
    assert back_and_forth(kind, rows) == rows


@pytest.mark.parametrize("kind", WRITERS)
def test_every_field_of_the_format_comes_back(kind: str) -> None:
    rows = [FULL, SMALL, *(with_(SMALL, key=f"duro-{number}", **fields) for number, fields in enumerate(HARD_LISTS))]
    assert back_and_forth(kind, rows) == rows


def speaking(text: str, number: int) -> dict[str, Any]:
    """A case that says a text wherever a case keeps text as it is."""
    return with_(SMALL, key=f"dice-{number}", input={"text": text}, notes=text, recordings=[{"text": text, "note": text}])


@pytest.mark.parametrize("kind", WRITERS)
def test_formulas_and_odd_characters_come_back_to_the_letter(kind: str) -> None:
    rows = [speaking(text, number) for number, text in enumerate([*PAYLOADS, *filter(None, HARMLESS), *CONTROLS])]
    assert len(PAYLOADS) == 30
    assert back_and_forth(kind, rows) == rows


def test_s23_no_cell_of_a_csv_is_live_whatever_it_is_split_at() -> None:
    content = write_csv([speaking(text, number) for number, text in enumerate(PAYLOADS)], held_out=0)
    assert [text for text in texts_of("csv", content) if is_live(text)] == []
    lines = content.decode("utf-8-sig").split("\r\n")
    assert [cell for sign in ";\t|" for line in lines for cell in line.split(sign) if is_live(cell)] == []


def test_s23_no_cell_of_a_workbook_is_a_formula() -> None:
    content = write_xlsx([speaking(text, number) for number, text in enumerate(PAYLOADS)], held_out=0)
    cells = [cell for row in openpyxl.load_workbook(io.BytesIO(content))["Casos"].iter_rows() for cell in row]
    assert {cell.data_type for cell in cells} <= {"s", "inlineStr", "n"}
    assert all(cell.quotePrefix for cell in cells if is_live(str(cell.value or "")))
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        assert b"<f>" not in parts.read("xl/worksheets/sheet1.xml")


def test_control_without_the_protection_the_csv_is_live(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evals.datasets.spreadsheet.writing.neutralise", lambda text: text)
    content = write_csv([speaking(text, number) for number, text in enumerate(PAYLOADS)], held_out=0)
    assert len([text for text in texts_of("csv", content) if is_live(text)]) >= 22


def test_control_without_the_escape_a_workbook_loses_a_carriage_return(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evals.datasets.spreadsheet.writing.escape", lambda text: text)
    assert back_and_forth("xlsx", [speaking("uno\rdos", 1)])[0]["notes"] == "uno\ndos"


@settings(max_examples=300, deadline=None)
@given(st.text("'=+-@;,|\t\r\n ＝a\u3000", max_size=12))
def test_what_is_neutralised_is_restored(text: str) -> None:
    assert restore(neutralise(text)) == text
    assert not is_live(neutralise(text))


@settings(max_examples=30, deadline=None)
@given(sound_rows)
def test_any_sound_case_comes_back_in_both_kinds_of_sheet(row: dict[str, Any]) -> None:
    assert back_and_forth("csv", [row]) == back_and_forth("xlsx", [row]) == [row]


def test_a_text_longer_than_a_cell_of_excel_is_refused_by_name_and_leaves_as_csv() -> None:
    rows = [with_(SMALL, recordings=[{"text": "x" * 40_000}])]
    with pytest.raises(CellTooLong, match=r"grabación base: salida.*clara-1"):
        write_xlsx(rows, held_out=0)
    assert back_and_forth("csv", rows) == rows


@pytest.mark.parametrize("kind", WRITERS)
def test_the_sheet_says_how_many_held_out_cases_stayed_at_home(kind: str) -> None:
    content = WRITERS[kind]([SMALL], held_out=3)
    assert any("3 casos reservados no salen" in text for text in texts_of(kind, content))
    assert rows_of(read_cases(content, name=f"a.{kind}")) == [SMALL]


def test_a_text_of_a_hundred_thousand_breaks_is_neutralised_in_one_reading() -> None:
    """Were each break to look ahead to the end, this would take minutes."""
    for text in ("\n" * 100_000, "\n" * 100_000 + "=1", "," * 100_000 + "=1"):
        assert restore(neutralise(text)) == text
