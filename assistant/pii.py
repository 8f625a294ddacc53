"""Masks personal data of Peru before anything is stored: what stays is the kind, never the value nor a trace of it."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from assistant.pii_names import find_names
from assistant.pii_numbers import find_numbers
from assistant.pii_text import Span, read_sheet, trace, wall_up

PLACEHOLDERS = {
    "dni": "[DNI]",
    "ruc": "[RUC]",
    "ce": "[CE]",
    "mobile": "[CELULAR]",
    "landline": "[TELÉFONO]",
    "email": "[CORREO]",
    "card": "[TARJETA]",
    "cci": "[CCI]",
    "name": "[NOMBRE]",
}
KIND_OF = {read_sheet(shown).plain: kind for kind, shown in PLACEHOLDERS.items()}
PLACEHOLDER = re.compile("|".join(map(re.escape, KIND_OF)))
EMAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]++(?:@|\s{1,2}@\s{1,2}|@\s)(?P<dotted>[\w-]++(?:\.[\w-]++)++)"
    r"|(?<![\w.+-])[\w.+-]++(?:\s+(?:punto|guion)\s+[\w.+-]++){0,3}\s{1,2}[(\[]?arroba[)\]]?\s{1,2}"
    r"(?P<spoken>[\w-]++(?:\.[\w-]++)++|[\w-]++(?:\s+punto\s+[\w-]++){1,3})"
)


@dataclass(frozen=True)
class Masked:
    """The text with each datum replaced by its kind, and how many of each kind were replaced."""

    text: str
    found: Mapping[str, int]


def mask(text: str, *, known_names: Iterable[str] = ()) -> Masked:
    """The text without personal data of Peru nor the names of these members. Masking what is masked changes nothing; raises nothing."""
    spans = find_personal_data(text, known_names=known_names)
    pieces, at = [], 0
    for span in spans:
        pieces += [text[at : span.start], PLACEHOLDERS[span.kind]]
        at = max(at, span.end)
    return Masked("".join(pieces) + text[at:], dict(Counter(span.kind for span in spans)))


def find_personal_data(text: str, *, known_names: Iterable[str] = ()) -> list[Span]:
    """Where the personal data stand, in the order of the text. Placeholders of an earlier masking are no data."""
    sheet = read_sheet(text)
    masked = [Span(*match.span(), KIND_OF[match[0]]) for match in PLACEHOLDER.finditer(sheet.plain)]
    mails = find_emails(wall_up(sheet.plain, masked))
    names = find_names(wall_up(sheet.plain, masked + mails), tuple(known_names))
    walls = sorted(masked + mails + names)
    numbers = find_numbers(wall_up(sheet.plain, walls), walls)
    return [trace(span, sheet) for span in sorted(mails + names + numbers)]


def find_emails(plain: str) -> list[Span]:
    """Addresses with @ (spaces around it or not), or spoken: «nombre arroba dominio punto com»."""
    matches = EMAIL.finditer(plain)
    return [Span(*match.span(), "email") for match in matches if _ends_in_letters(match["dotted"] or match["spoken"])]


def _ends_in_letters(domain: str) -> bool:
    """Whether the last label of a domain begins with a letter: «@ 4.50» is a price."""
    return re.split(r"[.\s]", domain)[-1][0].isalpha()
