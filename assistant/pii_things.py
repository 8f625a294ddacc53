"""Where a text names payments and papers that have numbers of their own, and where it tells a range of numbers."""

import re
from collections.abc import Iterator

from assistant.pii_labels import LABELS, NOT_THINGS, NUMBERED, THINGS, either

PAPERS = {word for kind in ("other", "paper") for word in LABELS[kind].split()}
THING = re.compile(either(THINGS, *sorted(PAPERS - set(NOT_THINGS.split()))) + rf"|(?P<numbered>{either(NUMBERED)})")
NOT_A_BILL = re.compile(r"(?<![a-z])(?:en|a)\s$")  # «a cuenta de», «tomen en cuenta»
CLAIMED = either("y ese este esa eso que es era fue sale seria", *(LABELS[kind] for kind in ("dni", "ce", "phone")))
RANGE = re.compile(  # that ends where words behind it call the last number a person's
    r"(?:(?<![a-z])(?P<from>del|desde|de|entre)\s(?:el\s|la\s|n[ro]{0,2}[.°]{0,2}\s?)?)?"
    r"(?<![0-9])(?P<first>[0-9]{7,9})\s?(?P<to>al|a|hasta|y|-)\s?(?:el\s|la\s)?(?P<last>[0-9]{1,9})(?![0-9])"
    rf"(?![\s(,:]{{0,3}}{CLAIMED})"
)


def find_things(plain: str) -> Iterator[tuple[int, bool]]:
    """Where each word for a payment or paper ends, and whether its number may follow without a word for «number»."""
    for match in THING.finditer(plain):
        if match[0] != "cuenta" or not NOT_A_BILL.search(plain, max(0, match.start() - 4), match.start()):
            yield match.end(), not match["numbered"]


def find_ranges(plain: str) -> Iterator[tuple[int, int]]:
    """Where the two ends of each range of numbers begin: «del 00123401 al 00123450», «del 00123401 al 50»."""
    for match in RANGE.finditer(plain):
        first, last = match["first"], match["last"]
        if first[-len(last) :] >= last or len(last) not in (2, 3, 4, len(first)):
            continue
        if len(last) < len(first):
            to_the_end = match["from"] in ("del", "desde") and match["to"] in ("al", "hasta")
        else:
            to_the_end = first[:-4] == last[:-4] and _joins(match)
        if to_the_end:
            yield match.start("first"), match.start("last")


def _joins(match: re.Match[str]) -> bool:
    """Whether the words between make a range: «al» alone does, «a» behind «del» or in a series, «y» behind «entre»."""
    if match["to"] in ("al", "hasta"):
        return True
    return match["from"] == "entre" if match["to"] == "y" else match["from"] in ("del", "desde") or match["first"].startswith("00")
