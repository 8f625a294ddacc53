"""What speaks against a person's number: amounts, counts, and the payments, papers and codes that have numbers of their own."""

import re
from bisect import bisect_right

from assistant.pii_labels import (
    BILLED,
    CARRIED,
    COUNTED,
    COUNTED_DAYS,
    HASTY_WORDS,
    LABELS,
    NUMBER_WORDS,
    OF_A_PERSON,
    PEOPLE,
    SMALL,
    THINGS,
    either,
)
from assistant.pii_page import LISTED_BEFORE, NEAR, OWN_NUMBER, SIGHT, Label, Page, Run, is_near, label_before, word_after, word_before
from assistant.pii_text import WALL

MONEY_BEFORE = re.compile(r"(?:s/|s/\.|\$|€|(?<![a-z])(?:usd|pen))\s?$")
AMOUNT_AFTER = re.compile(
    rf"(?:[.,][0-9]{{2}})?\s?(?:de\s)?(?:nuevos\s)?(?:{'|'.join(COUNTED.split())})(?![a-z])|(?:[.,][0-9]{{2}})?\s?[$€%]"
)
DAYS_AFTER = re.compile(rf"\s{either(COUNTED_DAYS)}")
ABOUT_SO_MANY = re.compile(
    r"(?<![a-z])(?:(?:me|te|le|nos|les)\s(?:sobra|falta|queda)n?|un[oa]s|casi|mas\sde|menos\sde|cerca\sde|aprox|como)\s$"
)
PLURAL_AFTER = re.compile(r"\s[a-z]{3,}s(?![a-z])")
TAIL_BEFORE = re.compile(r"(?:[0-9_]|(?<![a-z])(?!n(?:ro|um|o)?\.)[a-z]{1,3})[-.']$|(?P<glued>[a-z_]+)$")
TAIL_AFTER = re.compile(rf"[-.'][0-9{WALL}]|(?P<glued>[a-z_{WALL}]+)")
SERIES_BEFORE = re.compile(
    r"(?<![a-z0-9])(?:[befgrtpv](?:[a-z][0-9]{2}|[0-9]{3})\s?(?:[-/\u2010-\u2015]|n(?:ro|o)?[.°]{0,2})?|00[0-9]{1,2}\s?[-\u2010-\u2015])\s?$"
)
LINK_BEFORE = re.compile(r"(?:https?://|www\.)\S*$|\?\S*=$")
OF_A_FILE = re.compile(r"\.(?:jpe?g|png|gif|webp|pdf|mp4|docx?|xlsx?|csv|txt|zip)(?![a-z])|/(?:19|20)[0-9]{2}(?!.{0,3}[0-9])")

NUMBER_WORD = re.compile(rf"{either(NUMBER_WORDS)}|#")
ITS_NUMBER = re.compile(rf"(?:{either(NUMBER_WORDS)}|#)[\s.:°]{{0,3}}(?:es\s(?:el\s)?)?$")
SEPARATOR = r"[\s:()°\"'*=#>-]{0,3}"
AMOUNT_OR_TIME = (  # no bare number: «pedido 5523 y mi 40404041» has told the paper's own
    r"(?<![0-9])(?:s/\.?\s?[0-9]{1,4}(?:[.,][0-9]{2})?(?![0-9])|[0-9]{1,4}(?:[/.:,-][0-9]{1,4}){1,2}(?![0-9])"
    r"|[0-9]{1,4}(?=\s?(?:soles|sol|lucas|de|am|pm|hrs)(?![a-z])))"
)
SERIES = r"(?<![a-z0-9])[a-z]{1,2}[0-9]{2,3}(?![a-z0-9])"
TURN = rf"[,.;]\s(?=(?:(?:y|con|aqui|ahi|va|este|es|te|paso|el|su|la)\s){{0,4}}{either(NUMBER_WORDS)})"  # «…, el número es»
BEFORE_ITS_NUMBER = re.compile(
    rf"\.?(?:{SEPARATOR}(?:{either('n no nro num cod op cta cte ref')}\.|{either(SMALL)}|{SERIES}|{AMOUNT_OR_TIME}|{TURN})){{0,14}}"
    rf"{SEPARATOR}"
)
OF_WHAT = re.compile(  # «el voucher del banco», «recibo de agua»; not «del profesor»
    rf"\s(?:(?:del|de\s(?:la|las|los))\s(?!{either(CARRIED, PEOPLE)})[a-z]+|de\s{either(BILLED)})"
)
THAT_IS = re.compile(r"\sque\s[^,;!?\n0-9]*\s(?:es|era|fue|dice)(?:\sel)?\s?:?\s?")  # «el código que me llegó al correo es …»
OF_SOMEBODY = re.compile(r"(?<![a-z])(?:de|al?|para|con|por)\s?$")
NOT_THE_NEXT = rf"(?!{OWN_NUMBER.pattern})"  # «DNI 40404041, operación 123»: the word calls the next one
VERB = r"(?:es|era|fue|seria|sale|salio|figura|aparece|dice|viene|quedo)"
CALLED_BEHIND = (
    rf"\s?[-,(:]?\s?(?:(?:y|ese|este|esa|eso|que|asi|me|te|nos|lo)\s){{0,3}}{VERB}\s(?:en\s|como\s|lo\sque\s(?:dice|sale|figura|aparece)\s)?"
    r"(?:(?:en|el|la|mi|su|tu|un|una|de|del|n|no|nro|numero)[.°]?\s){0,5}"
)
NUMBER_BEHIND = r"\s?[-,(:]?\s?(?:el\s|mi\s)?(?:n|no|nro|num|numero)[.°]{0,2}\s(?:de\s|del\s)?(?:la\s|mi\s)?"
OF_BEHIND = r"\s?\(\s?|\s(?:de|del)\s(?:la\s|mi\s|tu\s|su\s|este\s|ese\s|esa\s)?"
A_WORD = r"(?=[\s,(:-]{1,3}[a-z])"
PLAIN_PAPERS = "operacion op voucher vaucher constancia comprobante ticket transaccion tramite expediente"
PAPER_BEHIND = re.compile(
    rf"{A_WORD}(?:(?:{CALLED_BEHIND}|{NUMBER_BEHIND}){either(LABELS['other'])}|(?:{OF_BEHIND}){either(PLAIN_PAPERS)}){NOT_THE_NEXT}"
)
PAYMENT_BEHIND = re.compile(rf"{A_WORD}(?:{CALLED_BEHIND}|{NUMBER_BEHIND}){either(THINGS)}{NOT_THE_NEXT}")
BILL = re.compile("boletas?|facturas?")  # «boleta 40404041» asks for one made out to that document
THE_BILL = re.compile(r"(?<![a-z])(?:las?|mis?|su|esta|esa)\s$")
A_DAY = re.compile("fechas?|nacimiento|nacid[oa]|naci")
PERSONS_PAPER = re.compile(either(OF_A_PERSON))


def is_nobodys(page: Page, run: Run, free: int) -> bool:
    """Whether it is an amount, one of a range, or the words next to it call it an order, a code, a date."""
    if MONEY_BEFORE.search(page.plain, max(free, run.start - 5), run.start) or AMOUNT_AFTER.match(page.plain, run.end):
        return True
    word = word_before(page, run, free)
    if run.start in page.ranged and word != "phone":
        return True
    if word in ("other", "money") or (word == "paper" and len(run.digits) == 8):
        return _is_of_the_label(page, run) if word != "money" else is_near(page, run)
    if word is None and word_after(page, run) == "other":
        return True
    return word != "phone" and bool(PAPER_BEHIND.match(page.plain, run.end))


def _is_of_the_label(page: Page, run: Run) -> bool:
    """Whether the number is that of the paper before it, and not of somebody named in between («el voucher de Rosa 40404041»)."""
    label = label_before(page, run)
    gap = page.plain[label.end : run.start]
    if BILL.fullmatch(page.plain, label.start, label.end) and not _is_of_the_bill(page, run, label, gap):
        return False
    if A_DAY.fullmatch(page.plain, label.start, label.end):
        return is_near(page, run) and not any(sign.isdigit() for sign in gap)
    if _leads_to_a_number(OF_WHAT.sub("", gap)):
        return True
    if not (is_near(page, run) or THAT_IS.fullmatch(gap)):
        return False
    return not PERSONS_PAPER.fullmatch(page.plain, label.start, label.end) or bool(ITS_NUMBER.search(gap) or LISTED_BEFORE.search(gap))


def _is_of_the_bill(page: Page, run: Run, label: Label, gap: str) -> bool:
    """Whether the number is not that of whom the bill is made out to: «la boleta …», «boleta n° …», one that begins with 0."""
    whose = THE_BILL.search(page.plain, max(0, label.start - 5), label.start) and "\n" not in gap
    return bool(whose or ITS_NUMBER.search(gap)) or run.digits[0] == "0" or len(run.digits) != 8


def _leads_to_a_number(gap: str) -> bool:
    return bool(BEFORE_ITS_NUMBER.fullmatch(gap)) and not OF_SOMEBODY.search(gap)


def is_of_a_thing(page: Page, run: Run, free: int) -> bool:
    """Whether eight digits are the number of a payment or paper named right before or behind, or count something."""
    return _is_behind_a_thing(page, run, free) or is_called_a_paper(page, run) or _is_a_count(page, run, free)


def _is_behind_a_thing(page: Page, run: Run, free: int) -> bool:
    place = bisect_right(page.thing_ends, run.start) - 1
    if place < 0 or page.thing_ends[place] < max(free, run.start - SIGHT):
        return False
    gap = page.plain[page.thing_ends[place] : run.start]
    return _leads_to_a_number(gap) and (page.thing_alone[place] or run.digits[0] == "0" or NUMBER_WORD.search(gap) is not None)


def is_called_a_paper(page: Page, run: Run) -> bool:
    """Whether the words behind say so: «… es mi voucher», «… (nro de operación)»."""
    return bool(PAPER_BEHIND.match(page.plain, run.end) or PAYMENT_BEHIND.match(page.plain, run.end))


def _is_a_count(page: Page, run: Run, free: int) -> bool:
    if DAYS_AFTER.match(page.plain, run.end):
        return True
    before = ABOUT_SO_MANY.search(page.plain, max(free, run.start - NEAR), run.start)
    return bool(before and PLURAL_AFTER.match(page.plain, run.end))


def is_part_of_a_code(page: Page, run: Run, free: int) -> bool:
    """Whether letters or further digits hang on it (B001-00012345, 45678912abc), other than a word written together by haste."""
    around = max(free, run.start - SIGHT), run.start
    if SERIES_BEFORE.search(page.plain, *around) or LINK_BEFORE.search(page.plain, *around) or OF_A_FILE.match(page.plain, run.end):
        return True
    before = TAIL_BEFORE.search(page.plain, *around)
    after = TAIL_AFTER.match(page.plain, run.end)
    return any(match and (match["glued"] or "-") not in HASTY_WORDS for match in (before, after))


def is_inside_a_word(page: Page, run: Run, free: int) -> bool:
    """Whether letters hang on both sides, and on neither as a word written together by haste."""
    before = TAIL_BEFORE.search(page.plain, max(free, run.start - SIGHT), run.start)
    after = TAIL_AFTER.match(page.plain, run.end)
    glued = [match["glued"] for match in (before, after) if match and match["glued"]]
    return len(glued) == 2 and not HASTY_WORDS.intersection(glued)
