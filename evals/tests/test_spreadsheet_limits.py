"""A small file that would fill the memory is refused before it is unpacked."""

import io
import json
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.parsers import expat

import pytest
from django.conf import settings

from evals.datasets.spreadsheet import package, read_cases, xlsx_file
from evals.tests.awkward_files import FILES, PLAIN, repack

SHEET = "xl/worksheets/sheet1.xml"
MEGABYTE = 1_000_000


def refusal_of(content: bytes) -> str:
    read = read_cases(content, name="a.xlsx")
    assert read.rows == []
    [problem] = read.problems
    return problem.message


def file_named(name: str) -> bytes:
    return next(file.content for file in FILES if file.name == name)


def with_sheet(xml: bytes) -> bytes:
    return repack(PLAIN, xl__worksheets__sheet1_DOT_xml=xml)


def declaring(content: bytes, size: int) -> bytes:
    """The file with another unpacked size of the sheet in its directory."""
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        real = opened.getinfo(SHEET).file_size
    start = content.index(SHEET.encode(), content.index(b"PK\x01\x02")) - 22
    assert struct.unpack_from("<I", content, start)[0] == real
    return content[:start] + struct.pack("<I", size) + content[start + 4 :]


def opened_parts(content: bytes, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Reads the file and tells which parts were opened meanwhile."""
    opened: list[str] = []
    really = zipfile.ZipFile.open

    def spy(self: zipfile.ZipFile, name: str, *rest: Any) -> Any:
        opened.append(str(name))
        return really(self, name, *rest)

    monkeypatch.setattr(zipfile.ZipFile, "open", spy)
    refusal_of(content)
    return opened


def test_a_part_that_declares_a_gigabyte_is_refused_and_nothing_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = declaring(PLAIN, 1_000 * MEGABYTE)
    assert "40 MB al descomprimirse" in refusal_of(bomb)
    assert opened_parts(bomb, monkeypatch) == []


def test_a_part_that_declares_less_than_it_holds_gives_no_more_than_it_declared() -> None:
    assert "dañado" in refusal_of(declaring(with_sheet(b"<worksheet>" + b" " * 30 * MEGABYTE + b"</worksheet>"), 5_000))


def test_control_without_the_limit_the_part_would_be_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = with_sheet(b"<worksheet>" + b" " * 41 * MEGABYTE + b"</worksheet>")
    assert len(bomb) < MEGABYTE
    assert "40 MB" in refusal_of(bomb)
    monkeypatch.setattr(package, "MAX_UNPACKED", 100 * MEGABYTE)
    assert SHEET in opened_parts(bomb, monkeypatch)


@pytest.mark.parametrize("field", ["parts", "bytes"])
def test_a_long_list_of_parts_is_refused_before_it_is_read(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = PLAIN.rindex(b"PK\x05\x06") + (10 if field == "parts" else 12)
    forged = PLAIN[:place] + (struct.pack("<H", 60_000) if field == "parts" else struct.pack("<I", 4 * MEGABYTE))
    monkeypatch.setattr(zipfile, "ZipFile", None)
    assert "partes adentro" in refusal_of(forged + PLAIN[len(forged) :])


def test_entities_are_refused_before_they_are_expanded() -> None:
    assert "DOCTYPE" in refusal_of(file_named("entities that expand"))


def test_control_an_xml_reader_that_takes_a_doctype_expands_them() -> None:
    parser, seen = expat.ParserCreate(), list[str]()
    parser.CharacterDataHandler = seen.append
    parser.Parse(b"<!DOCTYPE x [<!ENTITY a 'ja'><!ENTITY b '&a;&a;'>]><x>&b;</x>", True)
    assert "".join(seen) == "jaja"


TOO_MUCH = {"elements": b"<a/>" * 2_000, "text": b"<c t='inlineStr'><is><t>" + b"x" * 2_000 + b"</t></is></c>"}


@pytest.mark.parametrize("xml", TOO_MUCH.values(), ids=TOO_MUCH)
def test_a_part_of_too_much_of_anything_is_refused_while_reading(xml: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "MAX_ELEMENTS", 1_000)
    monkeypatch.setattr(xlsx_file, "MAX_CHARACTERS", 1_000)
    assert "Divídelo" in refusal_of(with_sheet(b"<worksheet>" + xml + b"</worksheet>"))


def test_a_row_or_a_column_beyond_those_of_excel_is_damage() -> None:
    for cell in (b"<row r='99999999'><c><v>1</v></c></row>", b"<row><c r='ZZZ1'><v>1</v></c></row>"):
        assert "dañado" in refusal_of(with_sheet(b"<worksheet><sheetData>" + cell + b"</sheetData></worksheet>"))


def test_a_cell_far_to_the_right_is_refused_by_its_address() -> None:
    assert "XFD1" in refusal_of(with_sheet(b"<worksheet><sheetData><row r='1'><c r='XFD1'><v>1</v></c></row></sheetData></worksheet>"))


# --- Whole bombs -----------------------------------------------------------------------------------------------------------


def gigabyte_of_spaces() -> bytes:
    """A sheet of 1 GB in less than 1 MB."""
    packer, crc, packed = zlib.compressobj(9, zlib.DEFLATED, -15), 0, []
    for chunk in [b"<worksheet>", *[b" " * MEGABYTE] * 1_000]:
        packed.append(packer.compress(chunk))
        crc = zlib.crc32(chunk, crc)
    packed.append(packer.flush())
    part = b"".join(packed)
    sizes = struct.pack("<III", crc, len(part), 1_000 * MEGABYTE + 11)
    local = b"PK\x03\x04" + struct.pack("<HHHHH", 20, 0, 8, 0, 33) + sizes + struct.pack("<HH", len(SHEET), 0) + SHEET.encode() + part
    central = b"PK\x01\x02" + struct.pack("<HHHHHH", 20, 20, 0, 8, 0, 33) + sizes + struct.pack("<HHHHHII", len(SHEET), 0, 0, 0, 0, 0, 0)
    central += SHEET.encode()
    return local + central + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)


def many_parts() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as opened:
        for number in range(100_000):
            opened.writestr(f"xl/{number}", b"")
    return held.getvalue()


BOMBS: dict[str, tuple[Callable[[], bytes], str]] = {
    "1 GB": (gigabyte_of_spaces, "40 MB al descomprimirse"),
    "100,000 parts": (many_parts, "1,000 partes adentro"),
    "elements": (lambda: with_sheet(b"<worksheet>" + b"<a/>" * 9 * MEGABYTE + b"</worksheet>"), "40 MB al descomprimirse"),
    "one text": (
        lambda: with_sheet(b"<worksheet><c t='inlineStr'><is><t>" + b"x" * 38 * MEGABYTE + b"</t></is></c></worksheet>"),
        "40 MB al descomprimirse",
    ),
    "shared strings": (
        lambda: repack(file_named("texts as Excel writes them"), xl__sharedStrings_DOT_xml=b"<sst>" + b"<si/>" * 7 * MEGABYTE + b"</sst>"),
        "40 MB al descomprimirse",
    ),
    "entities": (lambda: file_named("entities that expand"), "DOCTYPE"),
}
SLOW = {"1 GB", "100,000 parts", "elements"}  # what refuses them is tested above, on files that only say so or with lower limits


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.faults] * (name in SLOW)) for name in BOMBS])
def test_a_bomb_is_refused_with_what_is_wrong(name: str) -> None:
    make, words = BOMBS[name]
    assert words in refusal_of(make())


# --- In a process of its own: what it costs ---------------------------------------------------------------------------------

MEASURE = """
import django, json, resource, sys, time
django.setup()
from evals.datasets.spreadsheet import read_cases
read_cases(open(sys.argv[1], "rb").read(), name="a.xlsx")
content = open(sys.argv[2], "rb").read()
before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
[problem] = read_cases(content, name="a.xlsx").problems
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([problem.message, time.process_time() - started, (after - before) / 1024]))
"""


@pytest.mark.faults
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_costs_two_seconds_and_100_mb_at_most(bomb: str, tmp_path: Path) -> None:
    for name, content in (("sound", PLAIN), ("bomb", BOMBS[bomb][0]())):
        (tmp_path / name).write_bytes(content)
    command = [sys.executable, "-c", MEASURE, str(tmp_path / "sound"), str(tmp_path / "bomb")]
    environment = {"DJANGO_SETTINGS_MODULE": "kallpa.settings", "PATH": ""}
    done = subprocess.run(command, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True, check=True)
    message, seconds, megabytes = json.loads(done.stdout)
    assert message
    assert seconds < 2, message
    assert megabytes < 100, message
