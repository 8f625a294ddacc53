"""Finds members by name: in full in either order, or a first name and a surname. A street, school, club or cup is not the person."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from assistant.pii_text import WALL, Span, read_sheet

WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
PARTICLES = frozenset({"de", "del", "la", "las", "los", "y", "san", "santa", "da", "dos", "von"})
SPACE = re.compile(r"\s{1,3}")
HYPHEN = re.compile(r"\s?-\s?")
COMMA = re.compile(r"\s?,\s{0,2}")
TITLES = r"(?:(?:don|dona|dr|dra|prof|profesor|profesora|padre|sr|sra|general)\.?\s+)?"
PLACES = (
    r"jr|jiron|av|avda|avenida|ca|calle|psje|pje|pasaje|prolongacion|carretera|alameda|malecon|ovalo|plaza|plazuela|puente|parque|"
    r"urb|urbanizacion|aa\.?hh|a\.\s?h|asentamiento|barrio|sector|conjunto|residencial|condominio|edificio|"
    r"colegio|cole|escuela|i\.\s?e|ie|iep|institucion|educativa|instituto|universidad|academia|jardin|nido|biblioteca|hospital|posta|clinica|"
    r"losa|cancha|canchita|campo|estadio|coliseo|complejo|polideportivo|gimnasio|tribuna|pabellon|auditorio|sala|piscina|"
    r"club|equipo|deportivo|atletico|sport|sporting|juventud|union|asociacion|fundacion|promocion|"
    r"copa|copita|trofeo|torneo|campeonato|liga|cuadrangular|triangular|premio|memorial|clasico"
)
BEFORE_A_PLACE = re.compile(rf"(?<![^\W\d_])(?:{PLACES})[\s.\"'«“”°]{{1,4}}{TITLES}$")
AFTER_A_CLUB = re.compile(r"[\s\"'»”-]{1,2}(?:f\.?\s?c|s\.?\s?c|c\.?\s?f|a\.?\s?c|futbol club)(?![^\W\d_])")
SIGHT = 40


class Name(NamedTuple):
    """A member's words, folded: `given` and `surnames` of one word each, and the particles in front of some ("de la" cruz)."""

    given: frozenset[str]
    surnames: frozenset[str]
    lead: Mapping[str, str]
    length: int


class Word(NamedTuple):
    """A word of the text that is no particle; `lead` are the particles in front of it and `lead_start` where they begin."""

    start: int
    end: int
    text: str
    lead: str
    lead_start: int


def find_names(plain: str, known_names: tuple[str, ...]) -> list[Span]:
    """Spans of the members named in the folded text, from left to right, none overlapping."""
    pairs = index_names(known_names)
    words = list(_read_words(plain)) if pairs else []
    found: list[Span] = []
    at = 0
    while at + 1 < len(words):
        end, name = max(
            ((_reach(plain, words, at, name), name) for name in pairs.get((words[at].text, words[at + 1].text), ())),
            key=lambda reached: reached[0],
            default=(at, None),
        )
        if name and end > at:
            start = words[at].lead_start if _has_lead(words[at], name) else words[at].start
            span = Span(start, words[end - 1].end, "name")
            found += [] if _names_a_place(plain, span) else [span]
        at = max(end, at + 1)
    return found


@lru_cache(maxsize=8)
def index_names(known_names: tuple[str, ...]) -> Mapping[tuple[str, str], list[Name]]:
    """Each two words of a name, in both orders, to the names that hold them."""
    pairs: dict[tuple[str, str], list[Name]] = defaultdict(list)
    for known in known_names:
        words = list(_read_words(read_sheet(known).plain))
        texts = [word.text for word in words]
        name = _split_name(words)
        for pair in {(one, other) for place, one in enumerate(texts) for other in texts[:place] + texts[place + 1 :]}:
            pairs[pair].append(name)
    return pairs


def _split_name(words: list[Word]) -> Name:
    """Four words and more end in two surnames; with fewer, all but the first may be one."""
    texts = [word.text for word in words]
    cut = max(1, len(texts) - 2) if len(texts) > 3 else 1
    return Name(frozenset(texts[:cut]), frozenset(texts[cut:]), {word.text: word.lead for word in words}, len(texts))


def _read_words(plain: str) -> Iterator[Word]:
    lead, lead_start, lead_end = "", 0, 0
    for match in WORD.finditer(plain):
        near = plain[lead_end : match.start()].isspace()
        if match[0] in PARTICLES:
            lead, lead_start = (f"{lead} {match[0]}", lead_start) if lead and near else (match[0], match.start())
            lead_end = match.end()
            continue
        yield Word(match.start(), match.end(), match[0], lead if near else "", lead_start if lead and near else match.start())
        lead = ""


def _reach(plain: str, words: list[Word], at: int, name: Name) -> int:
    """The end (exclusive) of the run of this name's words that begins at `at`; `at` itself when they name nobody."""
    end = at + 1
    while end < min(len(words), at + name.length) and _follows(plain, words, at, end, name):
        end += 1
    run = {word.text for word in words[at:end]}
    return end if end - at > 1 and run & name.given and run & name.surnames else at


def _follows(plain: str, words: list[Word], at: int, place: int, name: Name) -> bool:
    """Whether the word at `place` goes on the name: behind a space, a hyphen between surnames, or the comma of "Surname, Name"."""
    word = words[place]
    if word.text not in name.lead:
        return False
    gap = plain[words[place - 1].end : word.lead_start if _has_lead(word, name) else word.start]
    only_surnames = {one.text for one in words[at:place]} <= name.surnames
    if HYPHEN.fullmatch(gap):
        return words[place - 1].text in name.surnames and word.text in name.surnames
    return bool(SPACE.fullmatch(gap) or (COMMA.fullmatch(gap) and only_surnames and word.text in name.given))


def _has_lead(word: Word, name: Name) -> bool:
    return bool(word.lead) and name.lead[word.text] == word.lead


def _names_a_place(plain: str, span: Span) -> bool:
    before = plain[max(0, span.start - SIGHT) : span.start].rpartition(WALL)[2]
    return bool(BEFORE_A_PLACE.search(before) or AFTER_A_CLUB.match(plain, span.end))
