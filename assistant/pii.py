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
LOCAL_PART = re.compile(r"[\w.+-]++")
DOMAIN = r"(?P<domain>[\w-]++(?:\.[\w-]++)++)"
SPOKEN_DOT = r"\s{1,2}[(\[]?punto[)\]]?\s{1,2}"
AT_DOMAIN = re.compile(
    rf"(?:(?:@|\s{{1,2}}@\s{{1,2}}|@\s|\s?[(\[]at[)\]]\s?)|(?:{SPOKEN_DOT}[\w.+-]++){{0,3}}\s{{1,2}}[(\[]?arroba[)\]]?\s{{1,2}})"
    rf"(?:(?P<spoken>[\w-]++(?:{SPOKEN_DOT}(?=[^\W\d_])[\w-]++){{1,3}})|{DOMAIN})"
)
HANDLE = re.compile(rf"\s@{DOMAIN}")  # «ana @example.com», which could also be «síguenos en @canchas.pe»
MAIL_HOST = re.compile(r"\s@(?:gmail|hotmail|outlook|yahoo|icloud|live|msn|proton|protonmail)\.")
MAIL_WORD = re.compile(r"(?<![a-z])(?:correo|e-?mail|mail)(?: electronico)?(?:\s?:|\ses|\sa)?\s$")
UP_TO_A_LETTER = re.compile(r".*\.(?=[^\W\d_])[\w-]+")


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
    """Addresses with @ (spaces around it or not), or spoken: «nombre arroba dominio punto com». «@ 4.50» is a price."""
    found: list[Span] = []
    at = 0
    while local := LOCAL_PART.search(plain, at):
        match = AT_DOMAIN.match(plain, local.end()) or HANDLE.match(plain, local.end())
        end = _end_of_domain(match) if match and (match.re is AT_DOMAIN or _is_address(plain, local)) else None
        if end:
            found.append(Span(local.start(), end, "email"))
        at = end or local.end()
    return found


def _is_address(plain: str, local: re.Match[str]) -> bool:
    """Whether a word before « @…» is the local part of an address: by its form, by the word before it, or by the host behind."""
    word_before = MAIL_WORD.search(plain[max(0, local.start() - 24) : local.start()])
    like_one = re.search(r"[^\W\d_]", local[0]) and re.search(r"[\d._+-]", local[0])
    return bool(like_one or word_before or MAIL_HOST.match(plain, local.end()))


def _end_of_domain(match: re.Match[str]) -> int | None:
    """Where the domain ends: behind its last label that begins with a letter; None when there is none."""
    if match["spoken"] if match.re is AT_DOMAIN else None:
        return match.end()
    domain = UP_TO_A_LETTER.match(match.string, *match.span("domain"))
    return domain.end() if domain else None
