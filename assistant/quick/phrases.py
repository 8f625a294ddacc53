"""The phrases of an easy request, in the Spanish that people in Lima type, and every way to cut a sentence into them."""

import datetime as dt
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import NamedTuple

from assistant.quick.days import read_day
from assistant.quick.hours import Sense, When

MAX_CHARS = 120
MAX_PHRASE = 12  # tokens: «desde las 7 de la noche hasta las 10 de la noche»

_FOLDED = str.maketrans("áéíóúüñ", "aeiouun", "'’")
_KNOWN_CHARACTERS = re.compile(r"[a-z0-9 ,.;:!¡/-]+")
_DECIMAL = re.compile(r"\d[.,]\d")
_MERIDIEM = re.compile(r"(?<=\d)\s*([ap])\s?\.?\s?m\b\.?")
_TOKEN = re.compile(r"\d{1,2}:\d\d|\d{1,2}/\d{1,2}(?:/\d{4})?|\d+|[a-z]+|[,.;:!¡/-]")


class Reading(NamedTuple):
    """What a chain of phrases says so far; None: not said."""

    sport: str | None = None
    date: dt.date | None = None
    when: When | None = None
    hours: int | None = None


def read_phrases(text: str, now: dt.datetime) -> set[Reading]:
    """The readings of all ways to cut the whole of `text` into phrases; none when a word is not known. `now` is in Lima."""
    tokens = split_words(text)
    at: list[set[Reading]] = [{Reading()}, *(set() for _ in tokens)]
    for start in range(len(tokens)):
        for end in range(start + 1, min(start + MAX_PHRASE, len(tokens)) + 1):
            if at[start]:
                said = list(_facts(" ".join(tokens[start:end]), now))
                at[end] |= {longer for reading in at[start] for fact in said for longer in _add(reading, fact, first=start == 0)}
    return at[-1] if tokens else set()


def split_words(text: str) -> list[str]:
    """Lower case without accents, cut into words, numbers and signs; empty when anything else is in the text."""
    folded = " ".join(unicodedata.normalize("NFC", text).lower().translate(_FOLDED).split(" "))
    if len(folded) > MAX_CHARS or not _KNOWN_CHARACTERS.fullmatch(folded) or _DECIMAL.search(folded):
        return []
    return _TOKEN.findall(_MERIDIEM.sub(r" \1m ", folded))


class Fact(NamedTuple):
    """What one phrase adds: a field of Reading and its value. `opens`: only at the very beginning, it is a greeting."""

    field: str = ""
    value: object = None
    opens: bool = False


def _add(reading: Reading, fact: Fact, *, first: bool) -> Iterator[Reading]:
    """Nothing is said twice."""
    if not fact.field:
        if first or not fact.opens:
            yield reading
    elif getattr(reading, fact.field) is None:
        yield reading._replace(**{fact.field: fact.value})  # type: ignore[arg-type]


def _facts(phrase: str, now: dt.datetime) -> Iterator[Fact]:
    """Everything that these words can be, taken together as one phrase."""
    if _GREETING.fullmatch(phrase):
        yield Fact(opens=True)
    if _FILLER.fullmatch(phrase):
        yield Fact()
    if found := _SPORT.fullmatch(phrase):
        yield Fact("sport", _SPORTS[found["sport"]])
    if found := _HOURS.fullmatch(phrase):
        yield Fact("hours", _number(found["hours"]))
    if date := read_day(phrase, now):
        yield Fact("date", date)
    for pattern, read in _TIMES:
        if found := pattern.fullmatch(phrase):
            yield Fact("when", read(found))


# --- Words that change nothing, sports, lengths -------------------------------------------------------------------------

_GREETING = re.compile(r"(?:hola )?buen(?:as tardes|as noches|os dias)|hola buenas|hola|buenas")
# Without forms that lose their meaning with the accent: «reservé» and «reservó» tell what has been, «reserve» asks.
_VERB = r"(?:reservar|separar|jugar|alquilar)"
_WANT = r"(?:quiero|queremos|quisiera|quisieramos|necesito|necesitamos|deseo|deseamos|me gustaria)"
_FILLER = re.compile(
    rf"[,.;:!¡/]|{_WANT}|(?:{_WANT} |para )?{_VERB}|(?:reserva|separa|aparta|apunta|anota|pon)me|reservenos|dame|"
    r"(?:una )?reserva|pe|pues|por favor|porfavor|porfa|porfis|xfa|(?:muchas |mil )?gracias"
)
_SPORTS = {
    **dict.fromkeys(("fulbito", "futbol", "pichanga", "pichanguita"), "fulbito"),
    **dict.fromkeys(("voley", "voleibol", "volleyball", "volley"), "voley"),
    **dict.fromkeys(("basquet", "basket", "basquetbol", "basketball", "baloncesto"), "basquet"),
}
_SPORT = re.compile(
    r"(?:de |para )?(?:(?:la|el|una?|mi) )?(?:(?:cancha|canchita|losa|partido|partidito) (?:de|para) )?"
    rf"(?P<sport>{'|'.join(_SPORTS)})"
)
_NUMBERS = ("una", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez", "once", "doce")
_HOURS = re.compile(
    r"(?:por |x |durante )?(?:solo )?(?P<hours>[123]|una|dos|tres) (?:horas?|horitas?|h|hrs?)(?: (?:nomas|nada mas|completas))?"
)


def _number(word: str) -> int:
    """`7`, `7:00` or `siete`."""
    return _NUMBERS.index(word) + 1 if word in _NUMBERS else int(word.partition(":")[0])


# --- Times of the day ---------------------------------------------------------------------------------------------------

_HOUR = rf"(?:\d{{1,2}}(?::00)?|{'|'.join(_NUMBERS)})"
_AT = r"(?:a las?|desde las?|las?)"
_OF = r"(?:am|pm|(?:de|en|por) la (?:manana|tarde|noche)|tarde|noche)"
_FROM = rf"(?P<hour>{_HOUR})(?: (?P<sense>{_OF}))?"
_TO = rf"(?P<end>{_HOUR})(?: (?P<end_sense>{_OF}))?"
_SENSES: dict[str, Sense] = {"am": "am", "pm": "pm", "manana": "am", "tarde": "tarde", "noche": "noche"}
_OPEN = When(0, "open")


def _sense(words: str | None) -> Sense:
    return _SENSES[words.rpartition(" ")[2]] if words else "bare"


def _read_time(found: re.Match[str]) -> When:
    return When(_number(found["hour"]), _sense(found.groupdict().get("sense")))


def _read_time_after_part(found: re.Match[str]) -> When:
    """«en la noche, 9 pm»: what is said twice must agree."""
    part, own = _sense(found["part"]), _sense(found["own"])
    agree = own in ("bare", part) or (own, part) in {("pm", "tarde"), ("pm", "noche")}
    return When(_number(found["hour"]), part) if agree else _OPEN


def _read_range(found: re.Match[str]) -> When:
    when = When(_number(found["hour"]), _sense(found["sense"]), _number(found["end"]), _sense(found["end_sense"]))
    return _OPEN if found["to"] == "-" and _may_be_a_date(when) else when


def _may_be_a_date(when: When) -> bool:
    """«10-12» can be hours, the tenth of December or a score; «18-20» and «10-12 am» are hours."""
    return when.hour <= 12 and when.sense == when.end_sense == "bare"


_TIMES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], When]], ...] = tuple(
    (re.compile(pattern), read)
    for pattern, read in (
        (rf"(?:{_AT} )?(?P<hour>{_HOUR}) (?P<sense>{_OF})", _read_time),
        (
            rf"(?P<part>(?:en|por) la (?:manana|tarde|noche)) (?:, )?(?:a las? )?(?P<hour>{_HOUR})(?: (?P<own>{_OF}))?",
            _read_time_after_part,
        ),
        (rf"(?:a las?|desde las?) (?P<hour>{_HOUR})", _read_time),
        (r"(?P<hour>\d{1,2}:00)", _read_time),
        (rf"(?:{_AT} )?(?P<hour>1[3-9]|2[0-2]) (?:h|hs|hrs|horas)", _read_time),
        (rf"(?:de|desde) (?:las? )?{_FROM} (?P<to>a|-|hasta) (?:las? )?{_TO}", _read_range),
        (rf"{_FROM} (?P<to>a|-) {_TO}", _read_range),  # «7 pm a las 8» may as well be a second thought
        (r"(?:al?|(?:a las )?(?:12|doce) del) mediodia|(?:a las )?(?:12|doce) del dia", lambda found: When(12, "pm")),
        # Unfinished on purpose: they stand beside what the same words may be otherwise, and then nothing was read.
        (rf"{_OF}|(?:{_AT} )?{_HOUR} manana|\d{{1,2}}", lambda found: _OPEN),
    )
)
