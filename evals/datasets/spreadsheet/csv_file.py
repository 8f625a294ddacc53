"""A CSV file as a table: its encoding and its separator are found, said, and never guessed into damaged accents."""

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from evals.datasets.rows import MAX_ROWS, Problem
from evals.datasets.spreadsheet.table import MAX_COLUMNS, TOO_MANY_ROWS, Table, Unreadable, Value, is_blank

SEPARATORS = {",": "coma", ";": "punto y coma", "\t": "tabulador"}
BOMS = (  # the longer ones first: UTF-32 begins like UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
NAMES = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8 con marca",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "utf-32": "UTF-32",
}
SAVE_AS = "Guárdalo como «CSV UTF-8» o como Excel (.xlsx) y vuelve a subirlo."
# What Spanish is written with. Anything else says that the bytes are of another code page, such as those of MS-DOS or of old Macs.
WESTERN = re.compile(r"[\x00-\x7fáéíóúüñÁÉÍÓÚÜÑàèìòùâêîôûäëïöçãõÀÈÌÒÙÂÊÎÔÛÄËÏÖÇÃÕ¿¡ºª°«»“”‘’–—…€·´¨½¼]*")
MISPLACED = re.compile(r"[A-Za-záéíóúñ][–—¡¿´¨«][A-Za-záéíóúñ]")


class Decoded(NamedTuple):
    """The text of a file, and the sentence that says how it was read."""

    text: str
    note: str


def decode(content: bytes) -> Decoded:
    """Text by its mark, as UTF-8, as UTF-16 without mark, or as the code page of Windows. Raises Unreadable."""
    name = next((name for bom, name in BOMS if content.startswith(bom)), "") or _unmarked(content)
    try:
        return Decoded(content.decode(name).removeprefix("\ufeff"), f"Codificación: {NAMES[name]}.")
    except UnicodeDecodeError as error:
        if name != "utf-8":
            raise Unreadable(f"El archivo dice ser {NAMES[name]} y está dañado cerca del byte {error.start + 1:,}. {SAVE_AS}") from error
    return _decode_windows(content)


def _unmarked(content: bytes) -> str:
    """UTF-16 of a western text has a zero in every other byte."""
    sample = content[:2_000]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if len(sample) > 1 and max(even, odd) > len(sample) * 0.3 and len(content) % 2 == 0:
        return "utf-16-le" if odd > even else "utf-16-be"
    return "utf-8"


def _decode_windows(content: bytes) -> Decoded:
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"No se reconoce la codificación del archivo (byte {error.start + 1:,}): las tildes se dañarían. {SAVE_AS}"
        ) from error
    if not WESTERN.fullmatch(text) or MISPLACED.search(text):
        raise Unreadable(f"No se reconoce la codificación del archivo, quizás de Mac o de MS-DOS: las tildes se dañarían. {SAVE_AS}")
    return Decoded(text, "Codificación: Windows-1252, porque no está en UTF-8. Mira que las tildes se lean bien.")


def read_csv(text: str, weigh: Callable[[list[str]], int]) -> Table:
    """The rows of a text, split at the sign that gives the best header; `weigh` says how good one is. Raises Unreadable."""
    said, text = _declared_separator(text)
    separator = said or max(SEPARATORS, key=lambda sign: _weight(text, sign, weigh))
    problems: list[Problem] = []
    rows = list(_records(text, separator, problems))
    return Table(rows, [f"Separador: {SEPARATORS.get(separator, separator)}."], problems)


def _declared_separator(text: str) -> tuple[str, str]:
    """Excel's own first line, `sep=;`, and the rest."""
    found = re.match(r'"?sep=(.)"?(\r\n|\r|\n)', text)
    return (found[1], text[found.end() :]) if found else ("", text)


def _weight(text: str, separator: str, weigh: Callable[[list[str]], int]) -> tuple[int, int]:
    try:
        header = next((cells for cells in _split(text, separator) if any(cells)), [])
    except csv.Error:
        return 0, 0
    return weigh(header), len(header)


def _split(text: str, separator: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)


def _records(text: str, separator: str, problems: list[Problem]) -> Iterator[tuple[int, list[Value]]]:
    number = found = 0
    try:
        for number, cells in enumerate(_split(text, separator), 1):
            if len(cells) > MAX_COLUMNS:
                raise Unreadable(f"La fila {number} tiene {len(cells):,} columnas y el máximo es {MAX_COLUMNS}. Quita las que sobran.")
            if all(map(is_blank, cells)):
                continue
            found += 1
            if found > MAX_ROWS + 1:
                raise Unreadable(TOO_MANY_ROWS)
            yield number, list(cells)
    except csv.Error as error:
        what = "unas comillas no cierran" if "unexpected end" in str(error) else "unas comillas están fuera de lugar o una celda es enorme"
        problems.append(
            Problem(number + 1, "", f"No se puede leer desde aquí: {what}. Dentro de una celda, escribe las comillas dos veces.")
        )
