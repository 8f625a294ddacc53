"""What the masker reads: the text in plain small letters, with every sign traced back to where it stood."""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

WALL = "\ue000"  # stands for what is masked already: no letter, digit, space or punctuation
INVISIBLE = {"Mn", "Me", "Cf"}
MAX_LIGATURE = 3  # a sign that unfolds into other than letters (½) stays whole: no datum begins inside it
APOSTROPHES = str.maketrans("’‘´`", "''''")


class Span(NamedTuple):
    """A stretch of the text (start, end) and the kind of datum in it."""

    start: int
    end: int
    kind: str


class Sheet(NamedTuple):
    """`plain` without capitals, accents and invisible signs; `origin[i]` is where sign i of it stood, and ends with the text's length."""

    plain: str
    origin: list[int]


def read_sheet(text: str) -> Sheet:
    """The text as the rules read it: composed or decomposed, full-width or not, it is the same sheet."""
    signs: list[str] = []
    origin: list[int] = []
    for place, sign in enumerate(text):
        plain = _plain(sign)
        signs.append(plain)
        origin.extend([place] * len(plain))
    return Sheet("".join(signs), [*origin, len(text)])


def trace(span: Span, sheet: Sheet) -> Span:
    """The span in places of the original text, with the accents that hang on its last sign."""
    return Span(sheet.origin[span.start], max(sheet.origin[span.end - 1] + 1, sheet.origin[span.end]), span.kind)


def wall_up(plain: str, spans: Iterable[Span]) -> str:
    """The same length, with every sign inside the spans replaced by a wall."""
    signs = list(plain)
    for span in spans:
        signs[span.start : span.end] = WALL * (span.end - span.start)
    return "".join(signs)


@lru_cache(maxsize=4_096)
def _plain(sign: str) -> str:
    if sign.isdecimal():
        return str(unicodedata.decimal(sign))
    unfolded = unicodedata.normalize("NFKD", sign.translate(APOSTROPHES)).casefold()
    plain = "".join(part for part in unfolded if unicodedata.category(part) not in INVISIBLE)
    return plain if len(plain) < 2 or (plain.isalpha() and len(plain) <= MAX_LIGATURE) else sign
