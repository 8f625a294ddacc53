"""Finds numbers that belong to a person. Length and check digit say what a number can be; the words around it say what it is."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from itertools import pairwise, product
from typing import NamedTuple

from assistant.check_digits import is_cci, is_luhn, is_ruc
from assistant.pii_labels import CARRIED, COUNTED, HASTY_WORDS, KIND_OF_WORD, OF_A_DOCUMENT
from assistant.pii_text import WALL, Span

SIGHT = 60  # signs before a number in which a word may say what it is
NEAR = 40  # the same for words that say it is nobody's
MIN_DIGITS, MAX_DIGITS = 7, 20
MAX_GROUPS = 6
LAST_DAY = 31
MAX_SINGLES = 12  # groups of a number that comes digit by digit
MOBILE_DIGITS = 9  # the only one that does so without a label
LONG, SHORT = (20, 16, 15, 14, 13, 19, 18, 17, 12, 11, 10, 9), (8, 7)  # lengths, tried in this order
GROUP = re.compile(r"[0-9]+")
JOINT = re.compile(r"\s?[-.\u2010-\u2015\u2212]\s?|[ \t]{1,2}|\) ?-?| \(")

WORD = re.compile(r"(?<![a-z])(?:d\. ?n\. ?i|c\. ?e|r\. ?u\. ?c|c\. ?c\. ?i)(?![a-z])|[a-z]+")
ABOUT_ANOTHER = re.compile(r"[,;!?\n0-9]|(?<![a-z])(?:al?|para|nombre)\s|(?<![a-z]n)(?<!nro)(?<!num)\.\s")
LISTED_BEFORE = re.compile(r"(?:[0-9]+\s?(?:,|;|/|y|e|o)\s?)+$")
BETWEEN = r"[\s,;/():-]{0,3}"
NEXT_IN_LIST = re.compile(rf"(?:{BETWEEN}(?:{'|'.join(CARRIED.split())})(?![a-z])){{0,7}}{BETWEEN}")
THE_ONE_OF = re.compile(r"(?<![a-z])(?:(?:el|la)\s(?:de[l\s]|otr|mi[oa]|tuy|suy|segund)|los?\sde)")  # «y el de ella», «el mío»
COPULA_AFTER = re.compile(
    r"\s?[(,:]?\s?(?:(?:y|ese|este|esa|eso|que)\s+){0,2}(?:es|era|fue|sale|seria)\s+(?:(?:el|la|mi|su|un|una|de|del|numero|nro)\s+){0,4}"
)
BRACKET_AFTER = re.compile(r"\s?\(?\s?")
REACHED_AT = re.compile(
    r"(?<![a-z])(?:casa|oficina|trabajo|chamba|depa|negocio|tienda|recepcion|(?:mi|su|nuestro) (?:numero|nro)(?: es)?)\s?:?\s?(?=[0-9])"
)
MONEY_BEFORE = re.compile(r"(?:s/|s/\.|\$|€|(?<![a-z])(?:usd|pen))\s?$")
AMOUNT_AFTER = re.compile(
    rf"(?:[.,][0-9]{{2}})?\s?(?:de\s)?(?:nuevos\s)?(?:{'|'.join(COUNTED.split())})(?![a-z])|(?:[.,][0-9]{{2}})?\s?[$€%]"
)

PROVINCES = "41|42|43|44|51|52|53|54|56|61|62|63|64|65|66|67|72|73|74|76|82|83|84"
MOBILE = re.compile(r"(?P<prefix>|(?:00)?51)9[0-9]{8}")
LANDLINE = re.compile(rf"(?P<trunk>0|(?:00)?51)?(?P<city>1(?=[0-9]{{7}}$)|(?:{PROVINCES})(?=[0-9]{{6}}$))[0-9]+")
MOBILE_SHAPES = {(9,), (3, 3, 3), (2, 3, 4), (3, 2, 2, 2), (3, 6), (5, 4), (3, 2, 4), (1, 4, 4)}
NAMED_MOBILE_SHAPES = MOBILE_SHAPES | {(1, 8), (1, 2, 2, 2, 2), (2, 2, 2, 3), (4, 5), (6, 3), (3, 4, 2), (1,) * 9}
LOCAL_SHAPES = {(7,), (3, 4), (4, 3), (3, 2, 2), (2, 2, 3), (2, 3, 2), (6,), (3, 3), (2, 2, 2), (2, 4), (4, 2)}
RUC_SHAPES = {(11,), (2, 8, 1), (2, 9), (10, 1), (2, 3, 3, 3)}
NAMED_DNI_SHAPES = {(2, 3, 3), (4, 4), (2, 2, 2, 2), (2, 3, 3, 1)}
CARD_SHAPES = {(4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 1), (4, 4, 4, 4, 3)}
CE_SHAPES = {(9,), (3, 3, 3)}
OLD_N = re.compile(r"(?:^|[^a-z])(?P<n>n[ -]?)$")
CE_START = re.compile(r"0(?:0|1[01]|[239])")  # nine digits that begin so are no telephone
DATE = re.compile(r"(?:19[3-9][0-9]|20[0-3][0-9])(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])")
DAY_MONTH = r"(?:(?:0[1-9]|[12][0-9])(?:0[1-9]|1[0-2])|30(?:0[13-9]|1[0-2])|31(?:0[13578]|1[02]))"
DAY_FIRST = re.compile(rf"{DAY_MONTH}(?:19[3-9][0-9]|20[0-3][0-9])")
RECENT = re.compile(rf"{DATE.pattern}|{DAY_MONTH}20[23][0-9]")  # a date without any word for it
WEEKDAY = "lunes|martes|miercoles|jueves|viernes|sabados?|domingos?"
DATE_WORD = re.compile(
    rf"(?<![a-z])(?:del|desde|hasta|entre|dia|fechas?|inicio|fin|empieza|termina|vence|{WEEKDAY}|hoy|manana|naci|nacid[oa]|nacio|nacimiento)"
    r"(?:\sel)?(?:\sdia)?\s?:?\s?$"
)
ON_THE = re.compile(r"(?<![a-z])(?:(?<!es\s)(?<!sea\s)el|al)\s$")
RANGE_BEFORE = re.compile(r"(?<![0-9])[0-9]{8}\s?(?:al?|hasta|-)\s?(?:el\s)?$")
RANGE_AFTER = re.compile(rf"\s?(?:al?|hasta|-)\s?(?:el\s)?(?:{DATE.pattern}|{DAY_FIRST.pattern})(?![0-9])")
HOUR_AFTER = re.compile(
    r"(?:,?\s(?:a\slas?\s|de\s|desde\s)?(?:[01]?[0-9]|2[0-3])(?:[:.][0-5][0-9]|\s?[ap]\.?\s?m|\s?h|\sa\s)|\sa\slas?\s[0-9])"
)
PART_OF_AN_HOUR = re.compile(r"\s?(?:[ap]\.?\s?m(?![a-z])|:[0-9]|h(?:rs?|oras?)?(?![a-z])|a\s(?:las?\s)?[0-9]|de\sla\s|y\smedia)")
WRITTEN_DATE = re.compile(
    r"(?<![0-9])(?:[0-9]{1,2}[ .-]{1,3}[0-9]{1,2}[ .-]{1,3}(?:19|20)[0-9]{2}|(?:19|20)[0-9]{2}(?:[ .-]{1,3}[0-9]{1,2}){2})(?![0-9])"
)
QUIET = re.compile(rf"[^,;!?\n0-9{WALL}]*")
BEFORE_A_MOMENT = re.compile(
    rf"(?<![a-z])(?:las?|desde|hasta|entre|dias?|canchas?|pistas?|piso|mesa|cada|de|del|{WEEKDAY}|hoy|manana|fecha|(?<!es\s)(?<!sea\s)el)\s?$"
)
TAIL_BEFORE = re.compile(r"(?:[0-9_]|(?<![a-z])[a-z]{1,3})[-.']$|(?P<glued>[a-z_]+)$")
TAIL_AFTER = re.compile(rf"[-.'][0-9{WALL}]|(?P<glued>[a-z_{WALL}]+)")


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

    `reached`: the places right behind where somebody is reached.
    """

    plain: str
    groups: list[tuple[int, int]]
    joined: list[bool]
    labels: list[Label]
    label_starts: list[int]
    label_ends: list[int]
    reached: set[int]
    ended: dict[int, str]


Readings = list[tuple[int, Callable[[Page, Run, int], str | None]]]


def find_numbers(plain: str, walls: list[Span]) -> list[Span]:
    """Spans of personal numbers in the folded text, from left to right; `walls` are the data masked before, in order."""
    page = _read_page(plain, walls)
    found: list[Span] = []
    place, free = 0, 0
    while place < len(page.groups):
        span, used = _read_at(page, place, free)
        if span:
            found.append(span)
            free = span.end
            page.ended[span.end] = span.kind
        place += used
    return found


def _read_page(plain: str, walls: list[Span]) -> Page:
    words = ((match, KIND_OF_WORD.get(re.sub(r"[. ]", "", match[0]))) for match in WORD.finditer(plain))
    labels = [Label(*match.span(), kind) for match, kind in words if kind]
    groups = [match.span() for match in GROUP.finditer(plain)]
    joined = [bool(JOINT.fullmatch(plain, end, start)) for (_, end), (start, _) in pairwise(groups)]
    reached = {match.end() for match in REACHED_AT.finditer(plain)}
    ended = {wall.end: wall.kind for wall in walls}
    return Page(plain, groups, joined, labels, [one.start for one in labels], [one.end for one in labels], reached, ended)


def _read_at(page: Page, place: int, free: int) -> tuple[Span | None, int]:
    """The datum that begins with this group and how many groups it takes; (None, 1) when there is none."""
    start, end = page.groups[place]
    usual = end - start > 1 or page.plain[start] == "9" or page.plain[max(free, start - 1) : start] == "+"
    labelled = _is_labelled(page, start, free)
    runs = _runs_from(page, place, labelled) if usual or labelled else {}
    for length, read in READINGS[usual, labelled] if runs else ():
        if (run := runs.get(length)) and (kind := read(page, run, free)):
            return _widen(page.plain, run, kind, free), len(run.shape)
    return None, 1


def _is_labelled(page: Page, start: int, free: int) -> bool:
    """Whether something near the place may say what a number there is: a label, a datum of the same list, «casa:»."""
    before, after = bisect_right(page.label_ends, start) - 1, bisect_left(page.label_starts, start)
    if before >= 0 and page.labels[before].start >= max(free, start - SIGHT):
        return True
    if after < len(page.labels) and page.labels[after].start <= start + MAX_DIGITS + NEAR:
        return True
    return (free > 0 and start - free <= NEAR) or start in page.reached


def _runs_from(page: Page, place: int, labelled: bool) -> dict[int, Run]:
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


def _kind_of(page: Page, run: Run, free: int) -> str | None:
    """What this number is, or None. The long ones prove themselves by their check digits, the short ones need their company."""
    size = len(run.digits)
    if size == MAX_DIGITS:
        return "cci" if is_cci(run.digits) or _word_before(page, run, free) == "cci" else None
    if size == 9 and run.shape in CE_SHAPES and _is_ce(page, run, free):
        return "ce"
    if kind := _phone_kind(page, run, free):
        return kind
    if 13 <= size <= 19:
        return "card" if _is_card(page, run, free) else None
    if size == 11:
        return "ruc" if is_ruc(run.digits) and (run.shape in RUC_SHAPES or _word_before(page, run, free) == "ruc") else None
    return "dni" if size in (8, 9) and _is_dni(page, run, free) else None


def _kind_in_odd_groups(page: Page, run: Run, free: int) -> str | None:
    """The same for groups that nobody expects: only what the label next to it says, and no date, hour or amount."""
    if len(run.shape) == 1 or PART_OF_AN_HOUR.match(page.plain, run.end) or WRITTEN_DATE.search(page.plain, run.start, run.end):
        return None
    called = _called_next_to_it(page, run, free)
    if called is None or _is_nobodys(page, run, free) or _is_inside_a_word(page, run, free):
        return None
    if called in ("ce", "dni"):
        return called if len(run.digits) == (9 if called == "ce" else 8) else None
    if called != "phone":
        return None
    if MOBILE.fullmatch(run.digits):
        return "mobile"
    return "landline" if LANDLINE.fullmatch(run.digits) or (len(run.digits) == 7 and run.digits[0] not in "01") else None


def _called_next_to_it(page: Page, run: Run, free: int) -> str | None:
    """What the label next to the number calls it, or the datum whose list it goes on; None when the words between tell a moment."""
    if run.start in page.reached or _word_after(page, run) == "phone":
        return "phone"
    word = _word_before(page, run, free)
    if word is None:
        before, gap = _read_list(page, run, free)
        if BEFORE_A_MOMENT.search(gap) or (_could_be_hours(page, run) and not THE_ONE_OF.search(gap)):
            return None
        return {"mobile": "phone", "landline": "phone"}.get(before or "", before)
    label = page.labels[bisect_right(page.label_ends, run.start) - 1]
    gap = page.plain[label.end : run.start]
    if len(gap) > NEAR or not QUIET.fullmatch(gap) or BEFORE_A_MOMENT.search(gap):
        return None
    return word if word != "dni" or page.plain[label.start : label.end].replace(".", "").replace(" ", "") in OF_A_DOCUMENT else None


def _could_be_hours(page: Page, run: Run) -> bool:
    """Whether no group exceeds 31: «…, 4 10 20 30» behind a number may be days and hours."""
    return all(int(group) <= LAST_DAY for group in GROUP.findall(page.plain, run.start, run.end))


def _is_card(page: Page, run: Run, free: int) -> bool:
    """Luhn decides, but for a time stamp and for a code that says so and does not begin like a card of a bank."""
    of_a_bank = run.digits[0] in "3456"
    compact = len(run.shape) == 1
    odd = not compact and run.shape not in CARD_SHAPES
    if odd and not (of_a_bank and run.shape[0] in (2, 4, 5, 6) and min(run.shape[:-1]) > 1 and max(run.shape) < 8):
        return False
    if not is_luhn(run.digits) or (compact and RECENT.match(run.digits)):
        return False
    return of_a_bank or _word_before(page, run, free) != "other"


def _is_ce(page: Page, run: Run, free: int) -> bool:
    """Nine digits called so, or listed with one; that begin with 00 also behind another word for a document, or a name."""
    word = _word_before(page, run, free)
    if word == "ce":
        return not run.digits.startswith("9") or _is_near(page, run)
    if word is None and _word_after(page, run) == "ce":
        return True
    before, gap = _read_list(page, run, free) if word is None else (None, "")
    if before == "ce":
        return _goes_on_with_ce(run, gap)
    return (CE_START.match(run.digits) is not None and (word == "dni" or before == "name")) or (
        word == "phone" and run.digits.startswith("00")
    )


def _goes_on_with_ce(run: Run, gap: str) -> bool:
    """Whether nine digits listed behind a carné are one: no telephone could be, or the words say so («y él», «y el de ella»)."""
    if run.digits.startswith("9"):
        return bool(THE_ONE_OF.search(gap))
    return not LANDLINE.fullmatch(run.digits) or bool(CE_START.match(run.digits) or re.search("[a-z]", gap))


def _phone_kind(page: Page, run: Run, free: int) -> str | None:
    signed = page.plain[max(free, run.start - 1) : run.start] == "+"
    mobile, landline = MOBILE.fullmatch(run.digits), LANDLINE.fullmatch(run.digits)
    if not (mobile or landline or signed or len(run.digits) == 7):
        return None
    called = signed or _is_called_phone(page, run, free)
    if mobile and _drop_digits(run.shape, mobile.end("prefix")) in (NAMED_MOBILE_SHAPES if called else MOBILE_SHAPES):
        kind = "mobile"
    elif _is_landline(run, landline, called):
        kind = "landline"
    elif signed and 10 <= len(run.digits) <= 15 and not (mobile or landline):
        kind = "mobile"
    else:
        return None
    return None if _is_nobodys(page, run, free) or _is_inside_a_word(page, run, free) else kind


def _is_landline(run: Run, match: re.Match[str] | None, called: bool) -> bool:
    """With 0 and its city, surely; with 51 or the city alone, when also called a phone or in groups; 7 digits, when called so."""
    if len(run.digits) == 7:
        return called and run.shape in LOCAL_SHAPES
    if not match or _drop_digits(run.shape, match.end("city")) not in LOCAL_SHAPES:
        return False
    return match["trunk"] == "0" or sum((called, len(run.shape) > 1, bool(match["trunk"]))) > 1


def _is_dni(page: Page, run: Run, free: int) -> bool:
    """Eight digits, alone or with their check digit, unless something speaks against it; grouped ones must be called a document."""
    grouped = run.shape in NAMED_DNI_SHAPES
    if not (grouped or run.shape == (8,) or (run.shape == (8, 1) and page.plain[run.start + 8] == "-")):
        return False
    named = _word_before(page, run, free) == "dni"
    listed = not named and _kind_before(page, run, free) == "dni"
    called = _word_after(page, run) == "dni"
    if grouped:
        return (named or called or (listed and not _could_be_hours(page, run))) and not AMOUNT_AFTER.match(page.plain, run.end)
    if _is_a_day(page, run, free, listed=listed):
        return False
    if listed or called or (named and _is_near(page, run)):
        return True
    return not (RECENT.fullmatch(run.digits) or _is_nobodys(page, run, free) or _is_part_of_a_code(page, run, free))


def _is_a_day(page: Page, run: Run, free: int, *, listed: bool) -> bool:
    """Whether eight digits that read as a date stand where one does: behind a word for days, from … to …, before an hour in a list."""
    if not (DATE.fullmatch(run.digits) or DAY_FIRST.fullmatch(run.digits)):
        return False
    around = max(free, run.start - NEAR), run.start
    if DATE_WORD.search(page.plain, *around) or RANGE_BEFORE.search(page.plain, *around) or RANGE_AFTER.match(page.plain, run.end):
        return True
    recent = RECENT.fullmatch(run.digits) is not None
    return recent and bool(ON_THE.search(page.plain, *around) or (listed and HOUR_AFTER.match(page.plain, run.end)))


def _is_called_phone(page: Page, run: Run, free: int) -> bool:
    """Called a telephone before or behind, the next of a list of them, or where somebody is reached: «casa: 5550100»."""
    word = _word_before(page, run, free)
    if word == "phone" or _word_after(page, run) == "phone" or run.start in page.reached:
        return True
    return word is None and _kind_before(page, run, free) in ("mobile", "landline")


def _is_nobodys(page: Page, run: Run, free: int) -> bool:
    """Whether it is an amount, or the words next to it call it an order, a code, a date."""
    if MONEY_BEFORE.search(page.plain, max(free, run.start - 5), run.start) or AMOUNT_AFTER.match(page.plain, run.end):
        return True
    word = _word_before(page, run, free)
    if word in ("other", "money") or (word == "paper" and len(run.digits) == 8):
        return _is_near(page, run)
    return word is None and _word_after(page, run) == "other"


def _is_part_of_a_code(page: Page, run: Run, free: int) -> bool:
    """Whether letters or further digits hang on it (B001-00012345, 45678912abc), other than a word written together by haste."""
    before = TAIL_BEFORE.search(page.plain, max(free, run.start - SIGHT), run.start)
    after = TAIL_AFTER.match(page.plain, run.end)
    return any(match and (match["glued"] or "-") not in HASTY_WORDS for match in (before, after))


def _is_inside_a_word(page: Page, run: Run, free: int) -> bool:
    """Whether letters hang on both sides, and on neither as a word written together by haste."""
    before = TAIL_BEFORE.search(page.plain, max(free, run.start - SIGHT), run.start)
    after = TAIL_AFTER.match(page.plain, run.end)
    glued = [match["glued"] for match in (before, after) if match and match["glued"]]
    return len(glued) == 2 and not HASTY_WORDS.intersection(glued)


def _word_before(page: Page, run: Run, free: int) -> str | None:
    """The kind of the last label before the number, when it is in sight and nothing masked stands between."""
    place = bisect_right(page.label_ends, run.start) - 1
    if place < 0 or page.labels[place].start < max(free, run.start - SIGHT) or WALL in page.plain[page.labels[place].end : run.start]:
        return None
    return page.labels[place].kind


def _is_near(page: Page, run: Run) -> bool:
    """Whether the last label before the number speaks of it: same sentence, no other number but those listed with it."""
    gap = page.plain[page.label_ends[bisect_right(page.label_ends, run.start) - 1] : run.start]
    return len(gap) <= NEAR and not ABOUT_ANOTHER.search(LISTED_BEFORE.sub("", gap).lstrip("."))


def _word_after(page: Page, run: Run) -> str | None:
    """The kind of the first label behind the number: «… es mi celular», «… (fijo)»; that it is nobody's takes the verb."""
    place = bisect_left(page.label_starts, run.end)
    if place == len(page.labels) or page.labels[place].start > run.end + NEAR:
        return None
    label, gap = page.labels[place], page.plain[run.end : page.labels[place].start]
    return label.kind if COPULA_AFTER.fullmatch(gap) or (label.kind != "other" and BRACKET_AFTER.fullmatch(gap)) else None


def _kind_before(page: Page, run: Run, free: int) -> str | None:
    """The kind of the datum right before, when the two read as a list."""
    return _read_list(page, run, free)[0]


def _read_list(page: Page, run: Run, free: int) -> tuple[str | None, str]:
    """The kind of the datum before and what stands between, when the two read as a list («…, y el de mi hijo …»); (None, "") else."""
    end = max(free, page.plain.rfind(WALL, max(0, run.start - NEAR), run.start) + 1)
    if run.start - end > NEAR or not NEXT_IN_LIST.fullmatch(page.plain, end, run.start):
        return None, ""
    return page.ended.get(end), page.plain[end : run.start]


def _drop_digits(shape: tuple[int, ...], count: int) -> tuple[int, ...]:
    """The groups that are left when the first `count` digits are taken away."""
    while shape and count >= shape[0]:
        shape, count = shape[1:], count - shape[0]
    return (shape[0] - count, *shape[1:]) if shape else ()


def _widen(plain: str, run: Run, kind: str, free: int) -> Span:
    """The number with what belongs to it: + and the bracket of a prefix, the old N of a carné, the check letter of a DNI."""
    start, end = run.start, run.end
    if plain[max(free, start - 1) : start] == "+":
        start -= 1
    if ")" in plain[start:end] and plain[max(free, start - 1) : start] == "(":
        start -= 1
    if kind == "ce" and (old := OLD_N.search(plain, max(free, start - 4), start)):
        start = old.start("n")
    if kind == "dni" and (letter := re.compile(r"-[a-k](?![a-z0-9])").match(plain, end)):
        end = letter.end()
    return Span(start, end, kind)


def _order_readings(*readers: Callable[[Page, Run, int], str | None]) -> Readings:
    """Long numbers first, each in usual and then in odd groups; of the short ones all usual groups before the odd."""
    return [*product(LONG, readers), *((length, reader) for reader in readers for length in SHORT)]


READINGS = {  # by whether the number may stand in usual groups, and in odd ones
    (True, True): _order_readings(_kind_of, _kind_in_odd_groups),
    (True, False): _order_readings(_kind_of),
    (False, True): _order_readings(_kind_in_odd_groups),
    (False, False): [],
}
