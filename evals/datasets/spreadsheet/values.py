"""What a person or Excel put into a cell, as the value that a column asks for.

Each reader takes a cell that is not blank and raises `CellError` for what it will not guess.
"""

import re
import unicodedata
from collections.abc import Mapping
from datetime import date, datetime, time

from evals.datasets.checks import YEARS, shown
from evals.datasets.spreadsheet.table import Value

YES, NO = "sí", "no"
FLAGS = {"si": True, "x": True, "1": True, "verdadero": True, "true": True, "no": False, "0": False, "falso": False, "false": False}
EXACT_DIGITS = 10**15  # Excel keeps 15

_ISO_DAY = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})")
_DAY_FIRST = re.compile(r"([0-9]{1,2})[/-]([0-9]{1,2})[/-]([0-9]{4})")
_CLOCK = re.compile(r"([0-9]{1,2})(?::([0-9]{2}))?(?::00)?(?: ?h(?:oras)?)?")
# UTF-8 that somebody read as Windows-1252: «maÃ±ana».
_TWICE_READ = re.compile(r"[ÃÂ][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]")


class CellError(ValueError):
    """Why a cell cannot be taken and what to write instead, in Spanish."""


def fold(text: str) -> str:
    """Without capitals, accents and doubled spaces."""
    plain = unicodedata.normalize("NFKD", text)
    return " ".join("".join(char for char in plain if not unicodedata.combining(char)).casefold().split())


def is_damaged(text: str) -> bool:
    """Whether accents were lost on the way here."""
    return "\N{REPLACEMENT CHARACTER}" in text or bool(_TWICE_READ.search(text))


def read_text(value: Value) -> str:
    """The text as it is, its spaces and line breaks too; a number without the decimals that Excel adds."""
    if isinstance(value, bool):
        raise CellError(f"Excel lo convirtió en {'VERDADERO' if value else 'FALSO'}. Da a la celda formato de texto y escríbelo otra vez.")
    if isinstance(value, (date, time)):
        raise CellError("Excel lo convirtió en una fecha o una hora. Da a la celda formato de texto y escríbelo otra vez.")
    if isinstance(value, (int, float)) and (abs(value) >= EXACT_DIGITS or "e" in repr(value)):
        raise CellError("Excel redondea los números así de largos. Da a la celda formato de texto y escríbelo otra vez.")
    return str(value)


def read_line(value: Value) -> str:
    """Text of one line, without the spaces around it."""
    return read_text(value).strip()


def read_whole(value: Value) -> int:
    """A whole number, also typed as text or as 19.0."""
    if isinstance(value, bool):
        raise CellError(f"{shown(value)} no es un número entero. Escríbelo con cifras, como 2.")
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int):
        return value
    found = re.fullmatch(r"([0-9]{1,4})(?:[.,]0+)?", value.strip()) if isinstance(value, str) else None
    if found is None:
        raise CellError(f"{_shown(value)} no es un número entero. Escríbelo con cifras, como 2.")
    return int(found[1])


def read_clock(value: Value) -> time:
    """An hour of the day: 19, 19:00, an hour cell, or the part of a day that Excel keeps."""
    if isinstance(value, datetime):
        return value.time()
    if isinstance(value, time):
        return value
    if isinstance(value, float) and 0 < value < 1:
        return _clock_of_fraction(value)
    found = _CLOCK.fullmatch(fold(str(read_whole(value) if isinstance(value, float) else value)))
    if isinstance(value, (bool, date)) or found is None or int(found[1]) > 23 or int(found[2] or 0) > 59:
        raise CellError(f"{_shown(value)} no es una hora. Escríbela de 0 a 23, como 19 o 19:30.")
    return time(int(found[1]), int(found[2] or 0))


def _clock_of_fraction(value: float) -> time:
    minutes = round(value * 1_440)
    return time(minutes // 60 % 24, minutes % 60)


def read_hour(value: Value) -> int:
    """An hour on the dot, 0 to 23."""
    try:
        clock = read_clock(value)
    except CellError:
        raise CellError(f"{_shown(value)} no es una hora. Escríbela de 0 a 23, como 19.") from None
    if clock.minute or clock.second:
        raise CellError(f"{clock:%H:%M} no es una hora en punto. Escríbela de 0 a 23, como 19.")
    return clock.hour


def read_moment(value: Value) -> tuple[date, time | None]:
    """A day and, where it is there, the hour: `2026-03-10`, `10/03/2026 19:00`, or a cell with a date."""
    if isinstance(value, datetime):
        return value.date(), value.time().replace(second=0, microsecond=0)
    if isinstance(value, date):
        return _in_our_years(value, value), None
    words = value.strip().replace("T", " ").split(None, 1) if isinstance(value, str) else []
    day = _read_day_words(words[0]) if words else None
    if day is None:
        raise CellError(f"{_shown(value)} no es una fecha. Escríbela como 2026-03-10 o 10/03/2026, con un día que exista.")
    return day, read_clock(words[1]) if len(words) == 2 else None


def read_day(value: Value) -> date:
    day, clock = read_moment(value)
    if clock and (clock.hour or clock.minute):
        raise CellError(f"{_shown(value)} trae también una hora. Aquí va solo la fecha, como 2026-03-10.")
    return day


def _read_day_words(words: str) -> date | None:
    iso, day_first = _ISO_DAY.fullmatch(words), _DAY_FIRST.fullmatch(words)
    parts = iso.groups() if iso else tuple(reversed(day_first.groups())) if day_first else None
    try:
        return _in_our_years(date(*map(int, parts)), words) if parts else None
    except CellError:
        raise
    except ValueError:
        return None


def _in_our_years(day: date, said: Value) -> date:
    if day.year not in YEARS:
        raise CellError(f"{_shown(said)} es una fecha de otro siglo. Escríbela como 2026-03-10.")
    return day


def read_flag(value: Value) -> bool:
    """`sí`, `x`, `1`, VERDADERO; `no`, `0`, FALSO."""
    if isinstance(value, bool):
        return value
    known = FLAGS.get(fold(str(int(value) if isinstance(value, float) and value.is_integer() else value)))
    if known is None:
        raise CellError(f"{_shown(value)} no se entiende aquí. Escribe {YES} o {NO}.")
    return known


def read_choice(value: Value, words: Mapping[str, str]) -> str:
    """The code that a word stands for; `words` has code: word, and the code itself is known too."""
    said = fold(str(value))
    code = next((code for code, word in words.items() if said in {fold(code), fold(word)}), None)
    if code is None:
        raise CellError(f"{_shown(value)} no se conoce. Escribe uno de estos: {', '.join(words.values())}.")
    return code


def _shown(value: Value) -> str:
    return f"{value:%Y-%m-%d %H:%M}" if isinstance(value, datetime) else str(value) if isinstance(value, (date, time)) else shown(value)
