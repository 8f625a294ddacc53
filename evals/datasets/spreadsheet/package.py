"""The zip file behind an .xlsx, opened only when it is small enough unpacked; its XML read without expanding anything."""

import io
import posixpath
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Protocol
from xml.parsers import expat

from evals.datasets.spreadsheet.table import Unreadable

MAX_PARTS = 1_000
MAX_DIRECTORY = 500_000  # bytes of the list of parts
MAX_UNPACKED = 40_000_000  # bytes of all parts together
MAX_ELEMENTS = 2_000_000  # of one part
CHUNK = 1 << 20

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
SAVE_AS_XLSX = "Ábrelo y guárdalo como «Libro de Excel (.xlsx)»."
DAMAGED = "El archivo de Excel está dañado o incompleto. Ábrelo, guárdalo otra vez como .xlsx y vuelve a subirlo."
TOO_BIG = f"El archivo de Excel ocupa más de {MAX_UNPACKED // 1_000_000} MB al descomprimirse. Divídelo, o quítale lo que no son casos."
BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError, struct.error)


class Part(Protocol):
    """Collects what it needs of one XML part; names come without prefix."""

    def start(self, name: str, attributes: dict[str, str]) -> None: ...

    def end(self, name: str) -> None: ...

    def text(self, characters: str) -> None: ...


class Package:
    """An opened .xlsx. Raises Unreadable for what is too big, is damaged or is something else."""

    def __init__(self, content: bytes) -> None:
        _refuse_long_directory(content)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except BROKEN_ZIP as error:
            raise Unreadable(DAMAGED) from error
        self.names = {part.filename for part in self._zip.infolist()}
        _refuse_bombs(self._zip.infolist())
        _refuse_other_programs(self._zip, self.names)

    def walk(self, name: str, part: Part) -> None:
        """Feeds one part of the package; a missing one is damage."""
        try:
            with self._zip.open(name) as opened:
                _feed(iter(lambda: opened.read(CHUNK), b""), part)
        except (KeyError, expat.ExpatError, *BROKEN_ZIP) as error:
            raise Unreadable(DAMAGED) from error

    def related(self, name: str) -> dict[str, tuple[str, str]]:
        """(kind, path of the part) by id, of what a part refers to."""
        folder, file = posixpath.split(name)
        relations = f"{folder}/_rels/{file}.rels".lstrip("/")
        found = _Relations(folder)
        if relations in self.names:
            self.walk(relations, found)
        return found.targets


class _Relations:
    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.targets: dict[str, tuple[str, str]] = {}

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "Relationship" and attributes.get("TargetMode") != "External":
            path = posixpath.normpath(posixpath.join("/", self.folder, attributes.get("Target", ""))).lstrip("/")
            self.targets[attributes.get("Id", "")] = (attributes.get("Type", "").rpartition("/")[2], path)

    def end(self, name: str) -> None: ...

    def text(self, characters: str) -> None: ...


def _feed(chunks: Iterator[bytes], part: Part) -> None:
    """A document type is refused before any entity in it could be expanded."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    left = MAX_ELEMENTS

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Unreadable(TOO_BIG)
        part.start(name.rpartition(":")[2], attributes)

    def refuse_doctype(*declared: object) -> None:
        raise Unreadable(
            "El archivo de Excel trae una declaración DOCTYPE, que ninguna hoja necesita: no se abre. Vuelve a guardarlo desde Excel."
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: part.end(name.rpartition(":")[2])
    parser.CharacterDataHandler = part.text
    parser.StartDoctypeDeclHandler = refuse_doctype
    for chunk in chunks:
        parser.Parse(chunk, False)
    parser.Parse(b"", True)


def _refuse_long_directory(content: bytes) -> None:
    """Looks at the end of the zip, before a list of parts is made of it."""
    place = content.rfind(b"PK\x05\x06", max(0, len(content) - 65_557))
    if place < 0 or len(content) < place + 22:
        raise Unreadable(DAMAGED)
    parts, directory_bytes = struct.unpack_from("<HI", content, place + 10)
    if parts > MAX_PARTS or directory_bytes > MAX_DIRECTORY:
        raise Unreadable(f"El archivo trae más de {MAX_PARTS:,} partes adentro, y una hoja de casos no las necesita: no se abre.")


def _refuse_bombs(parts: list[zipfile.ZipInfo]) -> None:
    """By what the parts declare; the reader of a part never gives more than it declared."""
    if any(part.flag_bits & 1 for part in parts):
        raise Unreadable(f"El archivo está protegido con contraseña. Quítasela y vuelve a subirlo. {SAVE_AS_XLSX}")
    if sum(part.file_size for part in parts) > MAX_UNPACKED:
        raise Unreadable(TOO_BIG)
    nested = next((part.filename for part in parts if part.filename.lower().endswith((".zip", ".xlsx", ".xlsm", ".7z", ".rar", ".gz"))), "")
    if nested:
        raise Unreadable(f"El archivo trae otro archivo adentro ({nested[:60]!r}): no se abre. Deja solo la hoja de casos.")


def _refuse_other_programs(opened: zipfile.ZipFile, names: set[str]) -> None:
    lower = {name.lower() for name in names}
    if "xl/vbaproject.bin" in lower:
        raise Unreadable("El libro tiene macros (.xlsm), y no se abren. Guárdalo como «Libro de Excel (.xlsx)», sin macros.")
    if "xl/workbook.bin" in lower:
        raise Unreadable(f"Es un libro binario de Excel (.xlsb). {SAVE_AS_XLSX}")
    if "mimetype" in lower:
        raise Unreadable("Es una hoja de LibreOffice (.ods) o un documento parecido. Guárdala como .xlsx o como CSV.")
    if "[content_types].xml" not in lower or not any(name.startswith("xl/") for name in lower):
        raise Unreadable("Es un archivo comprimido o un documento, no una hoja de cálculo. Sube la hoja misma, como .xlsx o CSV.")
    if b"macroEnabled" in _beginning_of(opened, "[Content_Types].xml"):
        raise Unreadable("El libro dice tener macros (.xlsm), y no se abren. Guárdalo como «Libro de Excel (.xlsx)», sin macros.")


def _beginning_of(opened: zipfile.ZipFile, name: str) -> bytes:
    try:
        return opened.open(name).read(CHUNK)
    except (KeyError, *BROKEN_ZIP) as error:
        raise Unreadable(DAMAGED) from error


def refuse_ole(content: bytes) -> None:
    """The container of old Excel files, and of those with a password. Raises Unreadable."""
    if "EncryptedPackage".encode("utf-16-le") in content:
        raise Unreadable("El libro está protegido con contraseña. Quítasela (Archivo, Información, Proteger libro) y vuelve a subirlo.")
    raise Unreadable(f"Es un libro de Excel antiguo (.xls) u otro documento de Office. {SAVE_AS_XLSX}")
