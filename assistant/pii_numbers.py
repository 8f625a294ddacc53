"""Finds numbers that belong to a person. Length and check digit say what a number can be; the words around it say what it is."""

import re
from collections.abc import Callable
from itertools import product

from assistant.check_digits import is_cci, is_luhn, is_ruc
from assistant.pii_days import BEFORE_A_MOMENT, PART_OF_AN_HOUR, RECENT, WRITTEN_DATE, is_a_day, is_a_moment
from assistant.pii_labels import OF_A_DOCUMENT
from assistant.pii_page import (
    MAX_DIGITS,
    NEAR,
    REACHED_BEHIND,
    THE_ONE_OF,
    Page,
    Run,
    could_be_hours,
    is_labelled,
    is_near,
    kind_before,
    label_before,
    names_the_next,
    read_list,
    read_page,
    runs_from,
    word_after,
    word_before,
)
from assistant.pii_papers import AMOUNT_AFTER, is_called_a_paper, is_inside_a_word, is_nobodys, is_of_a_thing, is_part_of_a_code
from assistant.pii_text import WALL, Span

LONG, SHORT = (20, 16, 15, 14, 13, 19, 18, 17, 12, 11, 10, 9), (8, 7)  # lengths, tried in this order
QUIET = re.compile(rf"[^,;!?\n0-9{WALL}]*")
PROVINCES = "41|42|43|44|51|52|53|54|56|61|62|63|64|65|66|67|72|73|74|76|82|83|84"
MOBILE = re.compile(r"(?P<prefix>|(?:00)?51)9[0-9]{8}")
LANDLINE = re.compile(rf"(?P<trunk>0|(?:00)?51)?(?P<city>1(?=[0-9]{{7}}$)|(?:{PROVINCES})(?=[0-9]{{6}}$))[0-9]+")
MOBILE_SHAPES = {(9,), (3, 3, 3), (2, 3, 4), (3, 2, 2, 2), (3, 6), (5, 4), (3, 2, 4), (1, 4, 4)}
NAMED_MOBILE_SHAPES = MOBILE_SHAPES | {(1, 8), (1, 2, 2, 2, 2), (2, 2, 2, 3), (4, 5), (6, 3), (3, 4, 2), (1,) * 9}
LOCAL_SHAPES = {(7,), (3, 4), (4, 3), (3, 2, 2), (2, 2, 3), (2, 3, 2), (6,), (3, 3), (2, 2, 2), (2, 4), (4, 2)}
CITY_IN_BRACKETS = re.compile(r"\(0[0-9]{1,2}\)$")
RUC_SHAPES = {(11,), (2, 8, 1), (2, 9), (10, 1), (2, 3, 3, 3)}
NAMED_DNI_SHAPES = {(2, 3, 3), (4, 4), (2, 2, 2, 2), (2, 3, 3, 1)}
CARD_SHAPES = {(4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 1), (4, 4, 4, 4, 3)}
CE_SHAPES = {(9,), (3, 3, 3)}
OLD_N = re.compile(r"(?:^|[^a-z])(?P<n>n[ -]?)$")
HYPHENED = re.compile(r"[0-9]{3}\s?[-\u2010-\u2015\u2212]\s?[0-9]{4}")
AMONG_GROUPS = re.compile(r"[0-9]{4}[ -]$")
YEARS = range(1950, 2050)  # «ordenanza 305-2026»
CE_START = re.compile(r"0(?:0|1[01]|[239])")  # nine digits that begin so are no telephone

Readings = list[tuple[int, Callable[[Page, Run, int], str | None]]]


def find_numbers(plain: str, walls: list[Span]) -> list[Span]:
    """Spans of personal numbers in the folded text, from left to right; `walls` are the data masked before, in order."""
    page = read_page(plain, walls)
    found: list[Span] = []
    place, free = 0, 0
    while place < len(page.groups):
        span, used = _read_at(page, place, free)
        if span:
            found.append(span)
            free = span.end
            page.ended[span.end] = span.kind
            page.ranged.pop(page.ranged.get(page.groups[place][0], -1), None)  # a person's number is no end of a range
        place += used
    return found


def _read_at(page: Page, place: int, free: int) -> tuple[Span | None, int]:
    """The datum that begins with this group and how many groups it takes; (None, 1) when there is none."""
    start, end = page.groups[place]
    usual = end - start > 1 or page.plain[start] == "9" or page.plain[max(free, start - 1) : start] == "+"
    labelled = is_labelled(page, start, free)
    runs = runs_from(page, place, labelled) if usual or labelled else {}
    for length, read in READINGS[usual, labelled] if runs else ():
        if (run := runs.get(length)) and (kind := read(page, run, free)):
            return _widen(page.plain, run, kind, free), len(run.shape)
    return None, 1


def _kind_of(page: Page, run: Run, free: int) -> str | None:
    """What this number is, or None. The long ones prove themselves by their check digits, the short ones need their company."""
    size = len(run.digits)
    if size == MAX_DIGITS:
        return "cci" if is_cci(run.digits) or word_before(page, run, free) == "cci" else None
    if size == 9 and run.shape in CE_SHAPES and _is_ce(page, run, free):
        return "ce"
    if kind := _phone_kind(page, run, free):
        return kind
    if 13 <= size <= 19:
        return "card" if _is_card(page, run, free) else None
    if size == 11:
        return "ruc" if is_ruc(run.digits) and (run.shape in RUC_SHAPES or word_before(page, run, free) == "ruc") else None
    return "dni" if size in (8, 9) and _is_dni(page, run, free) else None


def _kind_in_odd_groups(page: Page, run: Run, free: int) -> str | None:
    """The same for groups that nobody expects: only what the label next to it says, and no date, hour or amount."""
    if len(run.shape) == 1 or PART_OF_AN_HOUR.match(page.plain, run.end) or WRITTEN_DATE.search(page.plain, run.start, run.end):
        return None
    called = _called_next_to_it(page, run, free)
    if called is None or is_nobodys(page, run, free) or is_inside_a_word(page, run, free):
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
    if run.start in page.reached or word_after(page, run) == "phone":
        return "phone"
    word = word_before(page, run, free)
    if word is None:
        before, gap = read_list(page, run, free)
        if BEFORE_A_MOMENT.search(gap) or (could_be_hours(page, run) and not THE_ONE_OF.search(gap)):
            return None
        return {"mobile": "phone", "landline": "phone"}.get(before or "", before)
    label = label_before(page, run)
    gap = page.plain[label.end : run.start]
    if len(gap) > NEAR or not QUIET.fullmatch(gap) or BEFORE_A_MOMENT.search(gap):
        return None
    return word if word != "dni" or page.plain[label.start : label.end].replace(".", "").replace(" ", "") in OF_A_DOCUMENT else None


def _is_card(page: Page, run: Run, free: int) -> bool:
    """Luhn decides, but for a time stamp and for a code that says so and does not begin like a card of a bank."""
    of_a_bank = run.digits[0] in "3456"
    compact = len(run.shape) == 1
    odd = not compact and run.shape not in CARD_SHAPES
    if odd and not (of_a_bank and run.shape[0] in (2, 4, 5, 6) and min(run.shape[:-1]) > 1 and max(run.shape) < 8):
        return False
    if not is_luhn(run.digits) or (compact and RECENT.match(run.digits)):
        return False
    return of_a_bank or word_before(page, run, free) != "other"


def _is_ce(page: Page, run: Run, free: int) -> bool:
    """Nine digits called so, or listed with one; that begin with 00 also behind another word for a document, or a name."""
    word = word_before(page, run, free)
    if word == "ce":
        return not run.digits.startswith("9") or is_near(page, run)
    if word is None and word_after(page, run) == "ce":
        return True
    if run.digits.startswith("00") and word in (None, "ruc", "dni") and any(label.kind == "ce" for label in page.labels):
        return True
    before, gap = read_list(page, run, free) if word is None else (None, "")
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
    elif _is_landline(page, run, landline, called):
        kind = "landline"
    elif signed and 10 <= len(run.digits) <= 15 and not (mobile or landline):
        kind = "mobile"
    else:
        return None
    return None if is_nobodys(page, run, free) or is_inside_a_word(page, run, free) else kind


def _is_landline(page: Page, run: Run, match: re.Match[str] | None, called: bool) -> bool:
    """With 0 and its city, surely; with 51 or the city alone, when also called a phone or in groups; 7 digits, when called so."""
    if len(run.digits) == 7:
        return called and run.shape in LOCAL_SHAPES
    if match and CITY_IN_BRACKETS.search(page.plain, run.start - 1, run.start + match.end("city") + 1):
        return True
    if not match or _drop_digits(run.shape, match.end("city")) not in LOCAL_SHAPES:
        return False
    return match["trunk"] == "0" or sum((called, len(run.shape) > 1, bool(match["trunk"]))) > 1


def _is_written_like_one(page: Page, run: Run, free: int) -> bool:
    """Seven digits as Lima writes its telephones, 555-0100, that no year, range, thing or code explains."""
    if run.shape != (3, 4) or not HYPHENED.fullmatch(page.plain, run.start, run.end) or run.digits[0] in "01":
        return False
    low, high = int(run.digits[:3]), int(run.digits[3:])
    if high in YEARS or (low < high and low % 50 == high % 50 == 0):
        return False
    return not (is_of_a_thing(page, run, free) or is_part_of_a_code(page, run, free))


def _is_dni(page: Page, run: Run, free: int) -> bool:
    """Eight digits, alone or with their check digit, unless something speaks against it; grouped ones must be called a document."""
    grouped = run.shape in NAMED_DNI_SHAPES
    if not (grouped or run.shape == (8,) or (run.shape == (8, 1) and page.plain[run.start + 8] == "-")):
        return False
    named = word_before(page, run, free) == "dni"
    listed = not named and kind_before(page, run, free) == "dni"
    called = word_after(page, run) == "dni"
    if grouped:
        return (named or called or (listed and not could_be_hours(page, run))) and not AMOUNT_AFTER.match(page.plain, run.end)
    if is_a_day(page, run, free, listed=listed):
        return False
    if named and is_near(page, run):
        return True
    if word_before(page, run, free) == "card" and AMONG_GROUPS.search(page.plain, max(free, run.start - NEAR), run.start):
        return False  # a group of a card with a slip
    of_a_thing = is_of_a_thing(page, run, free)
    if called or listed:
        return not (is_called_a_paper(page, run) or (of_a_thing and names_the_next(page, run)))
    return not (of_a_thing or is_a_moment(run.digits) or is_nobodys(page, run, free) or is_part_of_a_code(page, run, free))


def _is_called_phone(page: Page, run: Run, free: int) -> bool:
    """Called a telephone before or behind, the next of a list of them, or where somebody is reached: «casa: 5550100»."""
    word = word_before(page, run, free)
    if word == "phone" or word_after(page, run) == "phone" or run.start in page.reached:
        return True
    local = len(run.digits) == 7 and word not in ("other", "money", "paper")
    if local and (REACHED_BEHIND.match(page.plain, run.end) or _is_written_like_one(page, run, free)):
        return True
    return word is None and kind_before(page, run, free) in ("mobile", "landline")


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
