"""The same request as other people would type it: seeded, and the same words on every machine. No Django here.

A rewriter takes a request and a source of chance and gives a request that asks for the same, unless it says that it may lose
something (`keeps_facts` False). Digits, day words, hour words and number words stand untouched, but for their accents.
"""

import random
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

Rewrite = Callable[[str, Random], str]


@dataclass(frozen=True, slots=True)
class Rewriter:
    """`label` is Spanish. Where `keeps_facts` is False, what is right must be looked at again."""

    name: str
    label: str
    rewrite: Rewrite
    keeps_facts: bool = True


def rewrite(text: str, name: str, *, seed: int = 0) -> str:
    """The request rewritten; itself where there is nothing to rewrite. KeyError for an unknown rewriter."""
    return REWRITERS[name].rewrite(text, random.Random(f"{name}:{seed}:{text}"))  # noqa: S311 -- chance that can be repeated


# --- What must not change -------------------------------------------------------------------------------------------------

_FACT_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        hoy ayer manana pasado lunes martes miercoles jueves viernes sabado domingo finde semana dia dias fecha
        enero febrero marzo abril mayo junio julio agosto setiembre septiembre octubre noviembre diciembre
        hora horas horita horitas media am pm tarde tardes noche noches madrugada mediodia medianoche
        un una uno dos tres cuatro cinco seis siete ocho nueve diez once doce quince veinte treinta
        """,
    )
)
_TOKEN = re.compile(r"\S+")
_WORD = re.compile(r"[^\W\d_]+")
_DOTTED = re.compile(r"(?<![^\W\d_])([ap])\.\s?m\.?(?!\w)", re.IGNORECASE)
_ACCENT = "\u0301"
_DIAERESIS = "\u0308"


def plain(text: str) -> str:
    """Lower case without accents; the ñ stays, for it is a letter."""
    decomposed = unicodedata.normalize("NFD", text.lower())
    return unicodedata.normalize("NFC", decomposed.replace(_ACCENT, "").replace(_DIAERESIS, ""))


def facts_in(text: str) -> list[str]:
    """Digits and fact words in their order, without accents: what a rewriter that keeps facts leaves as it was."""
    said = _DOTTED.sub(r"\1m", plain(text))
    return [found for found in re.findall(r"\d+|[^\W\d_]+", said) if found.isdigit() or _is_fact(found)]


def _is_fact(word: str) -> bool:
    return plain(word).replace("ñ", "n") in _FACT_WORDS


def _has_digit(token: str) -> bool:
    return any(character.isdigit() for character in token)


# --- Accents off ----------------------------------------------------------------------------------------------------------


def drop_accents(text: str, chance: Random) -> str:
    """`vóley mañana` → `voley mañana`: accents, diaereses and opening signs go; the ñ stays."""
    decomposed = unicodedata.normalize("NFD", text).replace(_ACCENT, "").replace(_DIAERESIS, "")
    return unicodedata.normalize("NFC", decomposed).translate({ord("¿"): None, ord("¡"): None})


# --- Typos ----------------------------------------------------------------------------------------------------------------

_KEY_ROWS = ("qwertyuiop", "asdfghjklñ", "zxcvbnm")
_LETTERS_PER_TYPO = 25
_SHORTEST_MISTYPED = 4


def _neighbours() -> dict[str, str]:
    """The letters beside each letter of a Spanish keyboard: left, right, and the two above and below."""
    places = {letter: (row, column) for row, letters in enumerate(_KEY_ROWS) for column, letter in enumerate(letters)}
    return {letter: "".join(other for other in places if _touch(places[letter], places[other])) for letter in places}


def _touch(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Each row of keys stands half a key to the right of the one above."""
    (row, column), (other_row, other_column) = one, other
    if row == other_row:
        return abs(column - other_column) == 1
    lower, upper = (column, other_column) if row > other_row else (other_column, column)
    return abs(row - other_row) == 1 and upper - lower in (0, 1)


NEIGHBOURS = _neighbours()


def mistype(text: str, chance: Random) -> str:
    """`cancha` → `csncha`: one letter in every 25 gives way to its neighbour on the keyboard, in words of four letters or more."""
    places = _mistypable(text)
    wanted = max(1, len(places) // _LETTERS_PER_TYPO)
    letters = list(text)
    for place in chance.sample(places, min(wanted, len(places))):
        letters[place] = chance.choice(NEIGHBOURS[text[place]])
    mistyped = "".join(letters)
    return mistyped if facts_in(mistyped) == facts_in(text) else text


def _mistypable(text: str) -> list[int]:
    """Where a small letter stands inside a word that may be mistyped; never the first, which people get right."""
    tokens = [token for token in _TOKEN.finditer(text) if not _has_digit(token[0])]
    words = [word for token in tokens for word in _WORD.finditer(text, token.start(), token.end())]
    long_enough = [word for word in words if len(word[0]) >= _SHORTEST_MISTYPED and not _is_fact(word[0])]
    return [place for word in long_enough for place in range(word.start() + 1, word.end()) if text[place] in NEIGHBOURS]


# --- Abbreviations and slang ----------------------------------------------------------------------------------------------

ABBREVIATIONS: Mapping[str, tuple[str, ...]] = {
    "por favor": ("porfa", "xfa", "pls"),
    "porque": ("xq", "pq"),
    "por qué": ("xq", "pq"),
    "que": ("q",),
    "para": ("pa", "xa"),
    "por": ("x",),
    "también": ("tmb", "tb"),
    "está": ("ta",),
    "quiero": ("qro",),
    "quisiera": ("qsiera",),
    "gracias": ("grax", "thx"),
    "mensaje": ("msj",),
    "reserva": ("rsrva",),
    "reservar": ("rsrvar",),
}
SLANG: Mapping[str, tuple[str, ...]] = {
    "amigos": ("patas", "causas"),
    "amigo": ("pata", "causa"),
    "los muchachos": ("la mancha", "los patas"),
    "trabajo": ("chamba",),
    "fútbol": ("pichanga", "fulbito"),
    "fulbito": ("pichanga", "pichanguita"),
    "cancha": ("canchita", "losa"),
    "reservar": ("separar",),
    "resérvame": ("sepárame",),
    "me reservas": ("me separas",),
    "rápido": ("al toque",),
    "gracias": ("gracias causa", "bacán gracias"),
    "dinero": ("plata",),
    "bien": ("bacán",),
    "hola": ("habla", "oe"),
}
SLANG_ENDINGS = (" pe", " pues causa", ", ya tú sabes")


def _replace(text: str, words: Mapping[str, tuple[str, ...]], chance: Random) -> str:
    """Every phrase of the table for one of its others, the longest first; a capital stays a capital."""
    by_length = sorted(words, key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, by_length))})(?!\w)", re.IGNORECASE)

    def other(found: re.Match[str]) -> str:
        chosen = chance.choice(words[found[0].lower()])
        return chosen.capitalize() if found[0][0].isupper() else chosen

    return pattern.sub(other, text)


def abbreviate(text: str, chance: Random) -> str:
    """`por favor` → `xfa`, `que` → `q`, as in a chat."""
    return _replace(text, ABBREVIATIONS, chance)


def use_slang(text: str, chance: Random) -> str:
    """`Hola amigos, una cancha` → `Habla patas, una losa pe`: words of Lima, and now and then an ending."""
    body, closing = re.fullmatch(r"(.*?)((?<!\bm)[\s.!?]*)", text, re.DOTALL).groups()  # type: ignore[union-attr]  # it matches any text
    ending = chance.choice(SLANG_ENDINGS)
    return f"{_replace(body, SLANG, chance)}{ending}{closing}" if body else text


# --- Spoken, cut off, with pictures ---------------------------------------------------------------------------------------

_FILLERS = ("eh", "a ver", "mira", "o sea")
_EDGES = '.,;:!?¡¿()«»"“”…'
_PUNCTUATION = re.compile(f"[{re.escape(_EDGES)}]+")


def dictate(text: str, chance: Random) -> str:
    """As a phone writes what it hears: small letters in one breath without punctuation, with a filler before and perhaps one within."""
    tokens = [token if _has_digit(token) else _PUNCTUATION.sub(" ", token) for token in _DOTTED.sub(r"\1m", text.lower()).split()]
    words = " ".join(token.strip(_EDGES) for token in tokens).split()
    if calm := _calm_places(words):
        words.insert(chance.choice(calm), chance.choice(_FILLERS))
    return " ".join([chance.choice(_FILLERS), *words]) if words else text


def _calm_places(words: list[str]) -> list[int]:
    """Places with no fact near them: «8 de, eh, la noche» could be heard as two hours."""
    return [at for at in range(2, len(words)) if not any(_has_digit(word) or _is_fact(word) for word in words[at - 2 : at + 2])]


def cut_off(text: str, chance: Random) -> str:
    """Sent too early: the end is missing, from the last third on, and what was lost may be the hour. No number is cut in two."""
    if len(text) < 6:
        return text
    at = chance.randrange(len(text) * 2 // 3, len(text) - 1)
    token = next((token for token in _TOKEN.finditer(text) if token.start() <= at < token.end()), None)
    return text[: token.start() if token and _has_digit(token[0]) else at].rstrip() or text


_PICTURES = {"⚽": ("fulbito", "fútbol", "futbol", "pichanga"), "🏐": ("vóley", "voley"), "🏀": ("básquet", "basquet")}
_CLOSING_PICTURES = ("🙏", "🙌", "💪", "😅", "🔥")


def add_emoji(text: str, chance: Random) -> str:
    """A ball behind the sport, and a closing picture."""
    for picture, words in _PICTURES.items():
        text = re.sub(rf"(?<!\w)({'|'.join(words)})(?!\w)", rf"\1 {picture}", text, count=1, flags=re.IGNORECASE)
    return f"{text.rstrip()} {chance.choice(_CLOSING_PICTURES)}" if text.strip() else text


REWRITERS: dict[str, Rewriter] = {
    rewriter.name: rewriter
    for rewriter in (
        Rewriter("sin-tildes", "sin tildes", drop_accents),
        Rewriter("dedazos", "con dedazos de teclado", mistype),
        Rewriter("abreviado", "abreviado como en el chat", abbreviate),
        Rewriter("dictado", "dictado de corrido", dictate),
        Rewriter("cortado", "cortado antes de terminar", cut_off, keeps_facts=False),
        Rewriter("jerga", "con jerga de Lima", use_slang),
        Rewriter("emoji", "con emojis", add_emoji),
    )
}
