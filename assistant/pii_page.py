"""What the rules for numbers read: groups of digits, the words that say what they are, and what stands next to each."""

import re
from bisect import bisect_left, bisect_right
from itertools import pairwise
from typing import NamedTuple

from assistant.pii_labels import CARRIED, KIND_OF_WORD, PHRASES
from assistant.pii_text import WALL, Span
from assistant.pii_things import find_ranges, find_things

SIGHT = 60  # signs before a number in which a word may say what it is
NEAR = 40  # the same for words that say it is nobody's
MIN_DIGITS, MAX_DIGITS = 7, 20
MAX_GROUPS = 7
LAST_DAY = 31
MAX_SINGLES = 12  # groups of a number that comes digit by digit
MOBILE_DIGITS = 9  # the only one that does so without a label
GROUP = re.compile(r"[0-9]+")
JOINT = re.compile(r"\s?[-.\u2010-\u2015\u2212]\s?|[ \t]{1,2}|\) ?-?| \(")
WORD = re.compile(rf"(?<![a-z])(?:d\. ?n\. ?i|c\. ?e|r\. ?u\. ?c|c\. ?c\. ?i|(?P<phrase>{'|'.join(PHRASES)}))(?![a-z])|[a-z]+")
ABOUT_ANOTHER = re.compile(r"[,;!?\n0-9]|(?<![a-z])(?:al?|para|nombre)\s|(?<![a-z]n)(?<!nro)(?<!num)\.\s")
LISTED_BEFORE = re.compile(r"(?:[0-9]+\s?(?:,|;|/|y|e|o)\s?)+$")
BETWEEN = r"[\s,;/():-]{0,3}"
NEXT_IN_LIST = re.compile(rf"(?:{BETWEEN}(?:{'|'.join(CARRIED.split())})(?![a-z])){{0,7}}{BETWEEN}")
THE_ONE_OF = re.compile(
    r"(?<![a-z])(?:(?:el|la)\s(?:de[l\s]|otr|mi[oa]|tuy|suy|segund|anterior|nuev|viej|antigu|actual)|los?\sde)"
)  # «y el de ella», «el mío»
COPULA_AFTER = re.compile(
    r"\s?[(,:]?\s?(?:(?:y|ese|este|esa|eso|que)\s+){0,2}(?:es|era|fue|sale|seria)\s+(?:(?:el|la|mi|su|un|una|de|del|numero|nro)\s+){0,4}"
)
OWN_NUMBER = re.compile(rf"(?:[\s:#°.=(+-]|n(?:ro|o|umero)?(?![a-z])|es\s){{0,5}}[0-9{WALL}]")
BRACKET_AFTER = re.compile(r"\s?\(?\s?")
PLACES = "casa|oficina|trabajo|chamba|depa|negocio|tienda|recepcion|consultorio|taller|bodega|domicilio|estudio|colegio|academia|local"
REACHED_AT = re.compile(rf"(?<![a-z])(?:{PLACES}|(?:mi|su|nuestro) (?:numero|nro)(?: es)?)\s?:?\s?[(+]{{0,2}}(?=[0-9])")
REACHED_BEHIND = re.compile(rf"\s?(?:[(,-]\s?)?(?:de\s)?(?:(?:la|mi|su)\s)?(?:{PLACES})(?![a-z])(?!\s?:?\s?[(+]?[0-9])")
OF_WHOM = re.compile(rf"\s(?:de(?:l|\sla)?\s)?{WALL}+\s?(?:[:,=-]\s?)?(?:es\s(?:el\s)?)?$")  # «tel de [NOMBRE]: …»


class Label(NamedTuple):
    """A word that says what a number near it is."""

    start: int
    end: int
    kind: str


class Run(NamedTuple):
    """Groups of digits that read as one number: where, its digits, and how long each group is."""

    start: int
    end: int
    digits: str
    shape: tuple[int, ...]


class Page(NamedTuple):
    """The folded text with walls, its groups of digits (and whether each is joined to the next), its labels, what ended at each place.

    `reached`: the places right behind where somebody is reached. `thing_ends`: of the words for papers with eight digits, and
    `thing_alone` whether each announces them by itself. `ranged`: where one end of a range begins, to where the other does.
    """

    plain: str
    groups: list[tuple[int, int]]
    joined: list[bool]
    labels: list[Label]
    label_starts: list[int]
    label_ends: list[int]
    reached: set[int]
    ended: dict[int, str]
    thing_ends: list[int]
    thing_alone: list[bool]
    ranged: dict[int, int]


def read_page(plain: str, walls: list[Span]) -> Page:
    words = ((match, "other" if match["phrase"] else KIND_OF_WORD.get(re.sub(r"[. ]", "", match[0]))) for match in WORD.finditer(plain))
    labels = [Label(*match.span(), kind) for match, kind in words if kind]
    groups = [match.span() for match in GROUP.finditer(plain)]
    joined = [bool(JOINT.fullmatch(plain, end, start)) for (_, end), (start, _) in pairwise(groups)]
    reached = {match.end() for match in REACHED_AT.finditer(plain)}
    ended = {wall.end: wall.kind for wall in walls}
    starts, ends = [one.start for one in labels], [one.end for one in labels]
    things = list(find_things(plain))
    thing_ends, alone = [end for end, _ in things], [by_itself for _, by_itself in things]
    return Page(
        plain,
        groups,
        joined,
        labels,
        starts,
        ends,
        reached,
        ended,
        thing_ends,
        alone,
        {end: other for pair in find_ranges(plain) for end, other in (pair, pair[::-1])},
    )


def is_labelled(page: Page, start: int, free: int) -> bool:
    """Whether something near the place may say what a number there is: a label, a datum of the same list, «casa:»."""
    before, after = bisect_right(page.label_ends, start) - 1, bisect_left(page.label_starts, start)
    if before >= 0 and page.labels[before].start >= max(free, start - SIGHT):
        return True
    if after < len(page.labels) and page.labels[after].start <= start + MAX_DIGITS + NEAR:
        return True
    return (free > 0 and start - free <= NEAR) or start in page.reached


def runs_from(page: Page, place: int, labelled: bool) -> dict[int, Run]:
    """By number of digits, the numbers that begin with this group and go on over spaces, hyphens and dots."""
    runs: dict[int, Run] = {}
    size = 0
    single = page.groups[place][1] - page.groups[place][0] == 1
    least, most = MIN_DIGITS, MAX_GROUPS
    if single:
        least, most = (MIN_DIGITS, MAX_SINGLES) if labelled else (MOBILE_DIGITS, MOBILE_DIGITS)
    for after in range(place, min(place + most, len(page.groups))):
        start, end = page.groups[after]
        size += end - start
        if size > MAX_DIGITS or (after > place and not page.joined[after - 1]):
            break
        if size >= least:
            groups = page.groups[place : after + 1]
            digits = "".join([page.plain[begin:stop] for begin, stop in groups])
            runs[size] = Run(groups[0][0], end, digits, tuple([stop - begin for begin, stop in groups]))
    return runs


def could_be_hours(page: Page, run: Run) -> bool:
    """Whether no group exceeds 31: «…, 4 10 20 30» behind a number may be days and hours."""
    return all(int(group) <= LAST_DAY for group in GROUP.findall(page.plain, run.start, run.end))


def word_before(page: Page, run: Run, free: int) -> str | None:
    """The kind of the last label before the number, when it is in sight and nothing masked stands between."""
    place = bisect_right(page.label_ends, run.start) - 1
    if place < 0 or page.labels[place].start < max(free, run.start - SIGHT):
        return None
    gap = page.plain[page.labels[place].end : run.start]
    return page.labels[place].kind if WALL not in gap or OF_WHOM.match(gap) else None


def label_before(page: Page, run: Run) -> Label:
    """The last label before the number; IndexError when the text has none."""
    return page.labels[bisect_right(page.label_ends, run.start) - 1]


def is_near(page: Page, run: Run) -> bool:
    """Whether the last label before the number speaks of it: same sentence, no other number but those listed with it."""
    gap = page.plain[label_before(page, run).end : run.start]
    return len(gap) <= NEAR and not ABOUT_ANOTHER.search(LISTED_BEFORE.sub("", gap).lstrip("."))


def word_after(page: Page, run: Run) -> str | None:
    """The kind of the first label behind the number: «… es mi celular», «… (fijo)»; that it is nobody's takes the verb."""
    place = bisect_left(page.label_starts, run.end)
    if place == len(page.labels) or page.labels[place].start > run.end + NEAR:
        return None
    label, gap = page.labels[place], page.plain[run.end : page.labels[place].start]
    return label.kind if COPULA_AFTER.fullmatch(gap) or (label.kind != "other" and BRACKET_AFTER.fullmatch(gap)) else None


def names_the_next(page: Page, run: Run) -> bool:
    """Whether the first label behind the number has a number of its own: «… DNI 40404041»."""
    place = bisect_left(page.label_starts, run.end)
    return place < len(page.labels) and OWN_NUMBER.match(page.plain, page.label_ends[place]) is not None


def kind_before(page: Page, run: Run, free: int) -> str | None:
    """The kind of the datum right before, when the two read as a list."""
    return read_list(page, run, free)[0]


def read_list(page: Page, run: Run, free: int) -> tuple[str | None, str]:
    """The kind of the datum before and what stands between, when the two read as a list («…, y el de mi hijo …»); (None, "") else."""
    end = max(free, page.plain.rfind(WALL, max(0, run.start - NEAR), run.start) + 1)
    if run.start - end > NEAR or not NEXT_IN_LIST.fullmatch(page.plain, end, run.start):
        return None, ""
    return page.ended.get(end), page.plain[end : run.start]
