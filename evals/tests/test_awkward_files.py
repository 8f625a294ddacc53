"""Files as people send them are read exactly, or refused with their row, their column and what to do."""

import io
import random
import zipfile

import openpyxl
import pytest

from evals.datasets.rows import MAX_ROWS, row_of
from evals.datasets.spreadsheet import read_cases, say_place
from evals.datasets.spreadsheet.xlsx_file import read_xlsx
from evals.tests.awkward_files import CASE, DRAFT, FILES, HEADER, PLAIN, TEXT, Awkward, make_csv, make_xlsx, repack


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_each_is_imported_exactly_or_refused_by_place(file: Awkward) -> None:
    read = read_cases(file.content, name=file.file)
    said = " / ".join(f"{say_place(problem, read.unit)}: {problem.message}" for problem in read.problems)
    assert tuple((row.spec.key, row.spec.text) for row in read.rows if not read.problems) == file.rows, said
    assert bool(said) == bool(file.refused)
    for words in file.refused:
        assert words in said
    assert said.startswith(file.refused[:1] or "")
    assert file.noted in " ".join(read.notes)


def test_there_are_more_than_thirty() -> None:
    assert len({file.name for file in FILES}) == len(FILES) > 50


@pytest.mark.parametrize(
    "name",
    [
        "utf-8",
        "dates, hours and decimals of Excel",
        "an hour as a part of the day",
        "days counted from 1904",
        "days and hours as people write them",
    ],
)
def test_what_excel_made_of_a_draft_is_the_same_draft(name: str) -> None:
    [file] = [file for file in FILES if file.name == name]
    [row] = read_cases(file.content, name=file.file).rows
    found = row_of(row.spec)
    assert found["context"] == {"now": "2026-03-09T10:00"}
    assert found["expected"] | {"sport": "fulbito"} == DRAFT


def test_control_the_same_bytes_read_with_a_guessed_encoding_would_be_damaged() -> None:
    assert TEXT.encode("utf-8").decode("cp1252") == "Â¿maÃ±ana a las 7?"
    assert make_csv(CASE).encode("mac_roman").decode("cp1252") != make_csv(CASE)


@pytest.mark.parametrize("content", [make_csv(*[CASE] * 100_000).encode(), make_xlsx(*[CASE] * (MAX_ROWS + 1))], ids=["csv", "xlsx"])
def test_too_many_rows_are_refused_by_name(content: bytes) -> None:
    read = read_cases(content, name="a")
    assert [problem.message for problem in read.problems] == ["La hoja tiene más de 20,000 filas. Divídela en varios archivos."]
    assert read.rows == []


def test_a_formula_does_not_hide_what_is_wrong_in_other_rows() -> None:
    content = make_xlsx(CASE, (*CASE[:5], "tenis", *CASE[6:]), edit=lambda book, sheet: sheet.__setitem__("D2", "=A2"))
    problems = read_cases(content, name="a.xlsx").problems
    assert [(problem.line, problem.field) for problem in problems] == [(2, "celda D2"), (3, "F «deporte»")]


def test_every_bad_cell_is_told_at_once() -> None:
    bad = make_csv((*CASE[:5], "tenis", "ayer", "las siete", "una", "Clara"))
    problems = read_cases(bad.encode(), name="a.csv").problems
    assert [(problem.line, problem.field) for problem in problems] == [
        (2, "F «deporte»"),
        (2, "G «fecha»"),
        (2, "H «hora de inicio»"),
        (2, "I «horas»"),
        (2, "J «categoría»"),
    ]


@pytest.mark.parametrize(
    ("said", "meant"),
    [("sí", True), ("SI", True), ("x", True), ("1", True), ("VERDADERO", True), ("no", False), ("0", False), ("", False), ("FALSO", False)],
)
def test_yes_and_no_as_people_write_them(said: str, meant: bool) -> None:
    read = read_cases(make_xlsx((*CASE, said), header=(*HEADER, "bloqueante")), name="a.xlsx")
    assert [row.spec.blocking for row in read.rows] == [meant]


def test_a_checkbox_of_excel_is_a_yes() -> None:
    assert read_cases(make_xlsx((*CASE, True), header=(*HEADER, "bloqueante")), name="a.xlsx").rows[0].spec.blocking


def damaged(content: bytes, chance: random.Random) -> bytes:
    """The file with a few bytes changed, lost or doubled."""
    changed = bytearray(content)
    for _ in range(chance.randint(1, 5)):
        place = chance.randrange(len(changed) + 1)
        changed[place : place + chance.choice((0, 1, 9))] = chance.choice((b"", b"\0", b"<", b'"', b"\xff", changed[place : place + 30]))
    return bytes(changed)


@pytest.mark.parametrize("number", range(4))
def test_a_damaged_file_is_read_or_refused_and_never_an_error(number: int) -> None:
    """Bytes of the file, and of the parts within a workbook."""
    chance = random.Random(number)
    for file in [file for file in FILES if len(file.content) < 50_000]:
        read_cases(damaged(file.content, chance), name=file.file)
    with zipfile.ZipFile(io.BytesIO(PLAIN)) as parts:
        texts = {name: parts.read(name) for name in parts.namelist()}
    for name, text in texts.items():
        read_cases(repack(PLAIN, **{name.replace("/", "__").replace(".", "_DOT_"): damaged(text, chance)}), name="a.xlsx")


def test_our_reader_and_openpyxl_agree_on_a_workbook() -> None:
    theirs = [[cell.value for cell in row] for row in openpyxl.load_workbook(io.BytesIO(PLAIN)).active.iter_rows()]
    assert [cells for _, cells in read_xlsx(PLAIN).rows] == theirs
