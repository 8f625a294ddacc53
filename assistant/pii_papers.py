"""What speaks against a person's number: amounts, counts, papers and codes."""

import re

from assistant.pii_labels import COUNTED, HASTY_WORDS
from assistant.pii_page import SIGHT, Page, Run, is_near, word_after, word_before
from assistant.pii_text import WALL

MONEY_BEFORE = re.compile(r"(?:s/|s/\.|\$|€|(?<![a-z])(?:usd|pen))\s?$")
AMOUNT_AFTER = re.compile(
    rf"(?:[.,][0-9]{{2}})?\s?(?:de\s)?(?:nuevos\s)?(?:{'|'.join(COUNTED.split())})(?![a-z])|(?:[.,][0-9]{{2}})?\s?[$€%]"
)
TAIL_BEFORE = re.compile(r"(?:[0-9_]|(?<![a-z])[a-z]{1,3})[-.']$|(?P<glued>[a-z_]+)$")
TAIL_AFTER = re.compile(rf"[-.'][0-9{WALL}]|(?P<glued>[a-z_{WALL}]+)")


def is_nobodys(page: Page, run: Run, free: int) -> bool:
    """Whether it is an amount, or the words next to it call it an order, a code, a date."""
    if MONEY_BEFORE.search(page.plain, max(free, run.start - 5), run.start) or AMOUNT_AFTER.match(page.plain, run.end):
        return True
    word = word_before(page, run, free)
    if word in ("other", "money") or (word == "paper" and len(run.digits) == 8):
        return is_near(page, run)
    return word is None and word_after(page, run) == "other"


def is_part_of_a_code(page: Page, run: Run, free: int) -> bool:
    """Whether letters or further digits hang on it (B001-00012345, 45678912abc), other than a word written together by haste."""
    before = TAIL_BEFORE.search(page.plain, max(free, run.start - SIGHT), run.start)
    after = TAIL_AFTER.match(page.plain, run.end)
    return any(match and (match["glued"] or "-") not in HASTY_WORDS for match in (before, after))


def is_inside_a_word(page: Page, run: Run, free: int) -> bool:
    """Whether letters hang on both sides, and on neither as a word written together by haste."""
    before = TAIL_BEFORE.search(page.plain, max(free, run.start - SIGHT), run.start)
    after = TAIL_AFTER.match(page.plain, run.end)
    glued = [match["glued"] for match in (before, after) if match and match["glued"]]
    return len(glued) == 2 and not HASTY_WORDS.intersection(glued)
