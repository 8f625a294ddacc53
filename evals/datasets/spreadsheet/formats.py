"""Which kind of file this is, by what is in it and not by its name."""

import re
from pathlib import PurePath

from evals.datasets.rows import MAX_BYTES, Problem, parse_rows
from evals.datasets.spreadsheet import promptfoo
from evals.datasets.spreadsheet.csv_file import decode, read_csv
from evals.datasets.spreadsheet.file import NOTHING, Existing, FileRead, refuse_closed, refuse_kind
from evals.datasets.spreadsheet.header import weigh
from evals.datasets.spreadsheet.package import OLE, refuse_ole
from evals.datasets.spreadsheet.reading import read_table
from evals.datasets.spreadsheet.table import Unreadable
from evals.datasets.spreadsheet.xlsx_file import read_xlsx

JSON_LINES, SHEET, TEXT_SHEET, YAML = "JSON Lines", "Excel (.xlsx)", "CSV", "YAML"
EXTENSIONS = {".xlsx": SHEET, ".csv": TEXT_SHEET, ".tsv": TEXT_SHEET, ".txt": TEXT_SHEET, ".jsonl": JSON_LINES, ".ndjson": JSON_LINES}
EXTENSIONS |= {".yaml": YAML, ".yml": YAML, ".json": YAML}
FOREIGN = (
    (b"%PDF", "Es un PDF."),
    (b"\x89PNG", "Es una imagen."),
    (b"\xff\xd8\xff", "Es una imagen."),
    (b"GIF8", "Es una imagen."),
    (b"\x1f\x8b", "Es un archivo comprimido."),
    (b"7z\xbc\xaf", "Es un archivo comprimido."),
    (b"Rar!", "Es un archivo comprimido."),
    (b"{\\rtf", "Es un documento de texto con formato."),
)
WHAT_TO_DO = "Sube una hoja .xlsx, un CSV, JSON Lines o pruebas de promptfoo."
MARKUP = re.compile(rb"\s*<(!doctype|html|table|\?xml|meta|head|div)", re.IGNORECASE)


def read_cases(content: bytes, *, name: str, existing: Existing = NOTHING) -> FileRead:
    """The cases of a file. `name` is only compared with what is inside."""
    try:
        return _read(content, name, existing)
    except Unreadable as error:
        return FileRead([], [Problem(0, "", str(error))], [])


def _read(content: bytes, name: str, existing: Existing) -> FileRead:
    kind = kind_of(content)
    if kind == JSON_LINES:
        read = _read_lines(content, existing)
    elif kind == SHEET:
        read = read_table(read_xlsx(content), existing)
    else:
        kind, read = _read_text(content, existing)
    extension = PurePath(name).suffix.lower()
    if not extension or EXTENSIONS.get(extension) == kind:
        return read
    return read._replace(notes=[f"El nombre termina en {extension[:12]!r} y adentro hay {kind}: se leyó así.", *read.notes])


def kind_of(content: bytes) -> str:
    """JSON_LINES, SHEET or TEXT_SHEET. Raises Unreadable for anything else, by name."""
    if len(content) > MAX_BYTES:
        raise Unreadable(f"El archivo pasa de {MAX_BYTES // 1_000_000} MB. Divídelo.")
    if not content.strip():
        raise Unreadable("El archivo está vacío: no tiene ningún caso.")
    if content.startswith(OLE):
        refuse_ole(content)
    if content.startswith(b"PK"):
        return SHEET
    what = next((what for start, what in FOREIGN if content.startswith(start)), "")
    if what or MARKUP.match(content):
        raise Unreadable(f"{what or 'Es una página web o XML, aunque se llame de otra forma.'} {WHAT_TO_DO}")
    return JSON_LINES if content.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{") else TEXT_SHEET


def _read_lines(content: bytes, existing: Existing) -> FileRead:
    rows, problems = parse_rows(content.splitlines(keepends=True))
    problems += [refuse_closed(row.line, row.spec.key, "línea") for row in rows if row.spec.key in existing.closed]
    told = [(row.line, refuse_kind(row.spec.key, row.spec.expected.kind, existing)) for row in rows if row.spec.key not in existing.closed]
    problems += [Problem(line, "expected.kind", why) for line, why in told if why]
    return FileRead(rows, problems, [], "línea")


def _read_text(content: bytes, existing: Existing) -> tuple[str, FileRead]:
    """What kind of text it is, and what is in it."""
    decoded = decode(content)
    if promptfoo.is_yaml(decoded.text):
        read = promptfoo.read_yaml(decoded.text, existing)
        return YAML, read._replace(notes=[decoded.note, *read.notes])
    table = read_csv(decoded.text, weigh)
    table = table._replace(notes=[decoded.note, *table.notes])
    if table.rows and promptfoo.is_csv(table.rows[0][1]):
        return TEXT_SHEET, promptfoo.read_csv_tests(table, existing)
    return TEXT_SHEET, read_table(table, existing)
