"""Files as people really send them: each is imported exactly, or refused with the place and what to do."""

import datetime as dt
import io
import zipfile
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import openpyxl

HEADER = ("clave", "hoy es", "hora", "lo que escribe la persona", "lo correcto", "deporte", "fecha", "hora de inicio", "horas", "categoría")
TEXT = "¿mañana a las 7?"
CASE = ("uno", "2026-03-09", "10:00", TEXT, "llena un borrador", "Fulbito", "2026-03-10", "19", "1", "clara")
OTHER = ("dos", "2026-03-09", "10:00", "señor una canchita", "pregunta", "", "", "", "", "ambigua")
MIDNIGHT = dt.datetime(2026, 3, 9)  # noqa: DTZ001 -- the cells of a spreadsheet know no zone
DRAFT = {"kind": "draft", "sport": "fulbito", "date": "2026-03-10", "startHour": 19, "hours": 1}


class Awkward(NamedTuple):
    """A file. `rows`: what of it arrives, as (key, text); else `refused`: what its message says, the place first."""

    name: str
    file: str
    content: bytes
    rows: tuple[tuple[str, str], ...] = ()
    refused: tuple[str, ...] = ()
    noted: str = ""


def make_csv(*rows: Iterable[Any], separator: str = ",", end: str = "\r\n", quote: bool = False) -> str:
    cell = (lambda text: f'"{text}"') if quote else str
    return "".join(separator.join(cell(str(each)) for each in row) + end for row in (HEADER, *rows))


def make_xlsx(*rows: Iterable[Any], header: Iterable[Any] = HEADER, edit: Callable[[Any, Any], None] | None = None) -> bytes:
    """A workbook as another program writes it; `edit(book, sheet)` makes it awkward."""
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (header, *rows):
        sheet.append([None if value == "" else value for value in row])
    if edit:
        edit(book, sheet)
    held = io.BytesIO()
    book.save(held)
    return held.getvalue()


def edited(edit: Callable[[Any, Any], None]) -> bytes:
    """A sound workbook of one case, made awkward."""
    return make_xlsx(CASE, edit=edit)


def repack(content: bytes, **parts: bytes | None) -> bytes:
    """The zip with parts replaced or added; None takes one away. `__` in a name stands for a slash, `_DOT_` for a dot."""
    given = {name.replace("__", "/").replace("_DOT_", "."): value for name, value in parts.items()}
    held = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if name not in given:
                new.writestr(name, old.read(name))
        for name, value in given.items():
            if value is not None:
                new.writestr(name, value)
    return held.getvalue()


def changed(place: int, value: Any, row: tuple[Any, ...] = CASE) -> tuple[Any, ...]:
    return (*row[:place], value, *row[place + 1 :])


def zipped(**parts: bytes) -> bytes:
    return repack(_empty_zip(), **parts)


def _empty_zip() -> bytes:
    held = io.BytesIO()
    zipfile.ZipFile(held, "w").close()
    return held.getvalue()


def _encrypted() -> bytes:
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le") + bytes(200)


def _set(address: str, value: Any, number_format: str = "") -> Callable[[Any, Any], None]:
    def edit(book: Any, sheet: Any) -> None:
        sheet[address] = value
        if number_format:
            sheet[address].number_format = number_format

    return edit


def _error_cell(book: Any, sheet: Any) -> None:
    sheet["D2"] = "#N/A"
    sheet["D2"].data_type = "e"


def _merge(book: Any, sheet: Any) -> None:
    sheet.merge_cells("J2:J3")


def _two_sheets(book: Any, sheet: Any) -> None:
    sheet.title = "Primera"
    book.create_sheet("Segunda").append(["otra", "cosa"])


def _hidden_first_sheet(book: Any, sheet: Any) -> None:
    cases = book.create_sheet("Visible")
    for row in (HEADER, CASE):
        cases.append(list(row))
    sheet.sheet_state = "hidden"


def _hidden_row(book: Any, sheet: Any) -> None:
    sheet.row_dimensions[3].hidden = True


def _from_1904(book: Any, sheet: Any) -> None:
    book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    sheet["B2"], sheet["G2"] = dt.date(2026, 3, 9), dt.date(2026, 3, 10)


def _shared_strings(content: bytes) -> bytes:
    """As Excel writes texts: in one shared part, rich text in pieces, a carriage return as an escape."""
    strings = (
        "<sst xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main'>"
        "<si><t>clave</t></si><si><t>lo que escribe la persona</t></si><si><t>lo correcto</t></si><si><t>uno</t></si>"
        "<si><r><t>ma</t></r><r><rPr><b/></rPr><t xml:space='preserve'>ñana </t></r><rPh sb='0' eb='1'><t>NO</t></rPh></si>"
        "<si><t>pregunta</t></si></sst>"
    ).encode()
    rows = {1: (0, 1, 2), 2: (3, 4, 5)}
    cells = ""
    for row, numbers in rows.items():
        written = (f"<c r='{letter}{row}' t='s'><v>{number}</v></c>" for letter, number in zip("ABC", numbers, strict=True))
        cells += f"<row r='{row}'>{''.join(written)}</row>"
    sheet = f"<worksheet xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main'><sheetData>{cells}</sheetData></worksheet>"
    relations = (
        "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>"
        "<Relationship Id='rId1' Type='http://x/relationships/worksheet' Target='/xl/worksheets/sheet1.xml'/>"
        "<Relationship Id='rId9' Type='http://x/relationships/sharedStrings' Target='sharedStrings.xml'/></Relationships>"
    )
    return repack(
        content,
        xl__sharedStrings_DOT_xml=strings,
        xl__worksheets__sheet1_DOT_xml=sheet.encode(),
        xl___rels__workbook_DOT_xml_DOT_rels=relations.encode(),
    )


def _with_doctype(content: bytes) -> bytes:
    bomb = "".join(f"<!ENTITY e{n} '{f'&e{n - 1};' * 10 if n else 'jajajaja'}'>" for n in range(10))
    cell = "<c t='inlineStr'><is><t>&e9;</t></is></c>"
    sheet = f"<!DOCTYPE x [{bomb}]><worksheet><sheetData><row>{cell}</row></sheetData></worksheet>"
    return repack(content, xl__worksheets__sheet1_DOT_xml=sheet.encode())


ONE = (("uno", TEXT),)
BOTH = (("uno", TEXT), ("dos", "señor una canchita"))
PLAIN = make_xlsx(CASE)
SEMICOLONS = make_csv(CASE, separator=";")

TEXT_FILES = [
    Awkward("utf-8", "a.csv", make_csv(CASE).encode(), ONE),
    Awkward("S22: the «CSV UTF-8» of Excel, BOM and semicolons", "a.csv", SEMICOLONS.encode("utf-8-sig"), ONE, noted="punto y coma"),
    Awkward("S22: the «CSV» of Windows, cp1252 and semicolons", "a.csv", SEMICOLONS.encode("cp1252"), ONE, noted="Windows-1252"),
    Awkward("tabs in utf-16, the «Unicode text» of Excel", "a.txt", make_csv(CASE, separator="\t").encode("utf-16"), ONE, noted="UTF-16"),
    Awkward("utf-16 without a mark", "a.csv", make_csv(CASE).encode("utf-16-le"), ONE, noted="UTF-16"),
    Awkward("code page of an old Mac", "a.csv", SEMICOLONS.encode("mac_roman"), refused=("archivo", "codificación")),
    Awkward("code page of MS-DOS", "a.csv", SEMICOLONS.encode("cp850"), refused=("archivo", "codificación")),
    Awkward("read twice before", "a.csv", make_csv(changed(3, "maÃ±ana")).encode(), refused=("fila 2 · D", "dañadas")),
    Awkward("accents lost before", "a.csv", make_csv(changed(3, "ma\ufffdana")).encode(), refused=("fila 2 · D", "dañadas")),
    Awkward("line feeds alone", "a.csv", make_csv(CASE, end="\n").encode(), ONE),
    Awkward("carriage returns alone", "a.csv", make_csv(CASE, end="\r").encode(), ONE),
    Awkward(
        "quotes, separators and line breaks in a cell",
        "a.csv",
        make_csv(changed(3, '"dijo ""ya"", y\r\nse fue"')).encode(),
        (("uno", 'dijo "ya", y\r\nse fue'),),
    ),
    Awkward("a quote that does not close", "a.csv", make_csv(changed(3, '"mañana')).encode(), refused=("fila 2", "comillas")),
    Awkward("Excel's line sep=", "a.csv", f"sep=;\r\n{SEMICOLONS}".encode(), ONE),
    Awkward("empty rows", "a.csv", make_csv(("",) * 10, CASE, ("",) * 10, (" ",) * 10, OTHER, quote=True).encode(), BOTH),
    Awkward("spaces around what has none", "a.csv", make_csv(changed(0, " uno ")).encode(), ONE),
    Awkward("spaces around what a person writes stay", "a.csv", make_csv(changed(3, "  ya  ")).encode(), (("uno", "  ya  "),)),
    Awkward("titles in capitals and without accents", "a.csv", make_csv(CASE).replace("categoría", " CATEGORIA ").encode(), ONE),
    Awkward("a column twice", "a.csv", make_csv(CASE).replace("horas,", "deporte,").encode(), refused=("fila 1", "I «deporte»", "F y I")),
    Awkward(
        "a column with a slip",
        "a.csv",
        make_csv(CASE).replace("fecha", "fehca").encode(),
        refused=("fila 1 · G", "'fehca'", "«fecha»"),
    ),
    Awkward("an unknown column", "a.csv", make_csv(CASE).replace("categoría", "mi columna").encode(), ONE, noted="J 'mi columna'"),
    Awkward("the column that is needed is not there", "a.csv", b"uno,dos\r\n1,2\r\n", refused=("fila 1", "lo que escribe la persona")),
    Awkward("more cells than titles", "a.csv", make_csv((*CASE, "sobra")).encode(), refused=("fila 2", "K", "no tiene título")),
    Awkward("no rows", "a.csv", make_csv().encode(), refused=("archivo", "ningún caso")),
    Awkward("nothing at all", "a.csv", b" \r\n", refused=("archivo", "vacío")),
    Awkward("S13: a key twice", "a.csv", make_csv(CASE, OTHER, changed(4, "declina", OTHER)).encode(), refused=("fila 4 · A", "fila 3")),
    Awkward("NUL in a text", "a.csv", make_csv(changed(3, "ma\0ana")).encode(), refused=("fila 2", "D «lo que escribe", "NUL")),
    Awkward(
        "a day that does not exist", "a.csv", make_csv(changed(6, "2026-02-30")).encode(), refused=("fila 2 · G «fecha»", "2026-03-10")
    ),
    Awkward("a sport that is not played", "a.csv", make_csv(changed(5, "tenis")).encode(), refused=("fila 2", "F «deporte»", "Vóley")),
    Awkward(
        "a slip in what is right",
        "a.csv",
        make_csv(changed(4, "pregunat")).encode(),
        refused=("fila 2 · E", "pregunta"),
    ),
    Awkward("a draft without its hour", "a.csv", make_csv(changed(7, "")).encode(), refused=("fila 2", "H «hora de inicio»", "Falta")),
    Awkward("fields of another kind", "a.csv", make_csv(changed(8, "2", OTHER)).encode(), refused=("fila 2", "I «horas»", "pregunta")),
    Awkward("days and hours as people write them", "a.csv", make_csv((*CASE[:6], "10/03/2026", "19:00", "1.0", "clara")).encode(), ONE),
    Awkward("a web page", "a.xls", b"<html><table><tr><td>clave</td></tr></table></html>", refused=("archivo", "página web")),
    Awkward("a PDF", "a.csv", b"%PDF-1.7\n", refused=("archivo", "PDF")),
    Awkward("a CSV called .xlsx", "a.xlsx", make_csv(CASE).encode(), ONE, noted="adentro hay CSV"),
]
WORKBOOKS = [
    Awkward("a workbook", "a.xlsx", PLAIN, ONE, noted="«Sheet»"),
    Awkward("a workbook called .csv", "a.csv", PLAIN, ONE, noted="adentro hay Excel"),
    Awkward("texts as Excel writes them", "a.xlsx", _shared_strings(PLAIN), (("uno", "mañana "),)),
    Awkward(
        "dates, hours and decimals of Excel",
        "a.xlsx",
        make_xlsx(("uno", MIDNIGHT, dt.time(10, 0), TEXT, CASE[4], "voley", dt.date(2026, 3, 10), 19.0, 1.0, "x")),
        ONE,
    ),
    Awkward("an hour as a part of the day", "a.xlsx", edited(_set("H2", 0.791666)), ONE),
    Awkward("days counted from 1904", "a.xlsx", edited(_from_1904), ONE),
    Awkward(
        "half an hour where bookings begin on the dot",
        "a.xlsx",
        edited(_set("H2", 0.8125, "h:mm")),
        refused=("fila 2 · H", "19:30"),
    ),
    Awkward("a text that Excel made a date", "a.xlsx", edited(_set("D2", dt.date(2026, 3, 7))), refused=("fila 2 · D", "fecha")),
    Awkward("a number as a text", "a.xlsx", edited(_set("D2", 7)), (("uno", "7"),)),
    Awkward(
        "a number that Excel rounded",
        "a.xlsx",
        edited(_set("D2", 1234567890123456789)),
        refused=("fila 2 · D", "redondea"),
    ),
    Awkward("a formula", "a.xlsx", edited(_set("D2", '=A2&"x"')), refused=("fila 2", "celda D2", "fórmula")),
    Awkward("an error of Excel", "a.xlsx", edited(_error_cell), refused=("fila 2", "celda D2", "#N/A")),
    Awkward(
        "merged cells",
        "a.xlsx",
        make_xlsx(CASE, OTHER, edit=lambda book, sheet: sheet.merge_cells("J2:J3")),
        refused=("fila 2", "celda J2", "J2:J3"),
    ),
    Awkward("two sheets", "a.xlsx", edited(_two_sheets), ONE, noted="no se leyó «Segunda»"),
    Awkward("a hidden sheet", "a.xlsx", make_xlsx(changed(3, "oculto"), edit=_hidden_first_sheet), ONE, noted="«Sheet» (oculta)"),
    Awkward("a hidden row", "a.xlsx", make_xlsx(CASE, OTHER, edit=_hidden_row), BOTH, noted="ocultas que también se leyeron: 1"),
    Awkward("a workbook without cells", "a.xlsx", make_xlsx(header=()), refused=("archivo", "ningún caso")),
    Awkward("macros", "a.xlsm", repack(PLAIN, xl__vbaProject_DOT_bin=b"x"), refused=("archivo", "macros")),
    Awkward("an old .xls", "a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), refused=("archivo", ".xls")),
    Awkward("a password", "a.xlsx", _encrypted(), refused=("archivo", "contraseña")),
    Awkward("LibreOffice", "a.ods", zipped(mimetype=b"application/vnd.oasis.opendocument.spreadsheet"), refused=("archivo", ".ods")),
    Awkward("a Word document", "a.xlsx", zipped(word__document_DOT_xml=b"<x/>"), refused=("archivo", "no una hoja")),
    Awkward("cut off", "a.xlsx", PLAIN[:-300], refused=("archivo", "dañado")),
    Awkward(
        "not XML inside", "a.xlsx", repack(PLAIN, xl__worksheets__sheet1_DOT_xml=b"<worksheet><sheetData>"), refused=("archivo", "dañado")
    ),
    Awkward("entities that expand", "a.xlsx", _with_doctype(PLAIN), refused=("archivo", "DOCTYPE")),
    Awkward("a file within the file", "a.xlsx", repack(PLAIN, xl__embeddings__uno_DOT_xlsx=PLAIN), refused=("archivo", "otro")),
]
JSON_FILES = [
    Awkward(
        "JSON Lines called .csv",
        "a.csv",
        b'{"key": "uno", "category": "c", "stratum": "happy", "input": {"text": "hola"}, "expected": {"kind": "refuse"}}\n',
        (("uno", "hola"),),
        noted="adentro hay JSON Lines",
    ),
    Awkward("JSON Lines with a bad row", "a.jsonl", b'{"key": "uno"}\n', refused=("línea 1", "category", "Falta")),
]
FILES = [*TEXT_FILES, *WORKBOOKS, *JSON_FILES]
