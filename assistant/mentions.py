"""Does the request mention what the draft says? A sport or a day that nobody asked for was made up, or came from somebody else's text.

Lenient on purpose, it reads typing mistakes: its business is what is plainly absent. What it cannot see is a wrong hour or length.
"""

import datetime as dt
import re
import unicodedata
from typing import Literal

from rapidfuzz.fuzz import ratio

from assistant.drafts import Draft
from bookings.clock import in_lima

Fact = Literal["sport", "date"]

ALIKE = 72  # of 100; «bsqt» is 73 like «basquet», «fulvito» 86 like «fulbito»
FEWEST_LETTERS = 4  # shorter words resemble too much: they are listed

QUESTIONS: dict[tuple[Fact, ...], str] = {
    ("sport",): "¿Para qué deporte es? No lo encontré en tu pedido.",
    ("date",): "¿Para qué día es? No lo encontré en tu pedido.",
    ("sport", "date"): "¿Para qué deporte y qué día es? No los encontré en tu pedido.",
}

_SPORTS = {
    "fulbito": ("fulbito", "futbol", "futsal", "pichanga", "pichanguita", "pelotear", "fut", "⚽"),
    "voley": ("voley", "voleibol", "volleyball", "vole", "🏐"),
    "basquet": ("basquet", "basket", "basquetbol", "basketball", "baloncesto", "basq", "🏀"),
}
_WEEKDAYS = (
    ("lunes", "lun"),
    ("martes", "mar"),
    ("miercoles", "mie", "mier"),
    ("jueves", "jue"),
    ("viernes", "vie"),
    ("sabado", "sab"),
    ("domingo", "dom", "dgo"),
)
_TODAY = ("hoy", "oy", "ahora", "ahorita")
_TOMORROW = ("manana", "mnn", "mna")
_NUMBERS = ("cero", "un", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho")
_HEARD = str.maketrans("by", "vi")
_LEET = str.maketrans("01345", "oieas")
_WORD = re.compile(r"[^\W_]+|[⚽🏐🏀]")
_OF_THE_DAY = re.compile(r"\b(?:de|d|en|por|x) ?la (?=m)(\w+)")  # «de la mañana» names no day
_THIS_PART = re.compile(r"\besta (?:manana|tarde|noche)|\bde una vez")


def find_unmentioned(text: str, draft: Draft, *, now: dt.datetime) -> tuple[Fact, ...]:
    """The facts of the draft that no word of the request stands for. `now` is aware."""
    folded = _fold(text)
    words = [spelled for word in _WORD.findall(folded) for spelled in (word, word.translate(_LEET))]
    found = {"sport": _any_like(words, _SPORTS[draft.sport]), "date": _mentions_date(folded, words, draft.date, in_lima(now).date())}
    facts: tuple[Fact, ...] = ("sport", "date")
    return tuple(fact for fact in facts if not found[fact])


def _fold(text: str) -> str:
    """Lower case without accents."""
    decomposed = unicodedata.normalize("NFKD", text.lower())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def _as_heard(word: str) -> str:
    """B and v sound alike, and so do y and i: «bolei» is «voley»."""
    return word.translate(_HEARD)


def _is_like(word: str, names: tuple[str, ...]) -> bool:
    heard = _as_heard(word)
    return word in names or (len(word) >= FEWEST_LETTERS and any(ratio(heard, _as_heard(name)) >= ALIKE for name in names))


def _any_like(words: list[str], names: tuple[str, ...]) -> bool:
    return any(_is_like(word, names) for word in words)


def _mentions_date(folded: str, words: list[str], date: dt.date, today: dt.date) -> bool:
    return (
        _any_like(words, _WEEKDAYS[date.weekday()])
        or str(date.day) in [word.lstrip("0") for word in words]
        or _mentions_distance(folded, words, (date - today).days)
    )


def _mentions_distance(folded: str, words: list[str], days: int) -> bool:
    """Today, tomorrow, the day after, in so many days, in a week."""
    if days == 0:
        return _any_like(words, _TODAY) or bool(_THIS_PART.search(folded))
    if days == 1:
        return _any_like(_WORD.findall(_OF_THE_DAY.sub(" ", folded).translate(_LEET)), _TOMORROW)
    if days == 2 and "pasado" in words:
        return True
    said = _NUMBERS[days] if days < len(_NUMBERS) else ""
    return bool(re.search(rf"\b(?:{days}|{said or days}) dias", folded)) or (days == 7 and "semana" in words)
