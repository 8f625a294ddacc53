"""Eight digits that are a day of the calendar, and the words behind which a moment stands."""

import re

from assistant.pii_page import NEAR, Page, Run

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
BEFORE_A_MOMENT = re.compile(
    rf"(?<![a-z])(?:las?|desde|hasta|entre|dias?|canchas?|pistas?|piso|mesa|cada|de|del|{WEEKDAY}|hoy|manana|fecha|(?<!es\s)(?<!sea\s)el)\s?$"
)


def is_a_day(page: Page, run: Run, free: int, *, listed: bool) -> bool:
    """Whether eight digits that read as a date stand where one does: behind a word for days, from … to …, before an hour in a list."""
    if not (DATE.fullmatch(run.digits) or DAY_FIRST.fullmatch(run.digits)):
        return False
    around = max(free, run.start - NEAR), run.start
    if DATE_WORD.search(page.plain, *around) or RANGE_BEFORE.search(page.plain, *around) or RANGE_AFTER.match(page.plain, run.end):
        return True
    recent = RECENT.fullmatch(run.digits) is not None
    return recent and bool(ON_THE.search(page.plain, *around) or (listed and HOUR_AFTER.match(page.plain, run.end)))
