"""Eight digits that are a day of the calendar, and the words behind which a moment stands."""

import re

from assistant.pii_page import NEAR, Page, Run

DATE = re.compile(r"(?:19[3-9][0-9]|20[0-3][0-9])(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])")
DAY_MONTH = r"(?:(?:0[1-9]|[12][0-9])(?:0[1-9]|1[0-2])|30(?:0[13-9]|1[0-2])|31(?:0[13578]|1[02]))"
DAY_FIRST = re.compile(rf"{DAY_MONTH}(?:19[3-9][0-9]|20[0-3][0-9])")
MONTH_FIRST = r"(?:0[1-9]|1[0-2])(?:1[3-9]|2[0-9]|3[01])"  # 12312026
RECENT = re.compile(rf"{DATE.pattern}|(?:{DAY_MONTH}|{MONTH_FIRST})20[23][0-9]")  # a date without any word for it
HOUR = "(?:0[6-9]|1[0-9]|2[0-3])(?:00|30)"
TWO_HOURS = re.compile(rf"{HOUR}{HOUR}|{HOUR}2400")
OTHER_DAY = re.compile(rf"{MONTH_FIRST}(?:19[3-9][0-9]|20[0-3][0-9])|(?:19[3-9][0-9]|20[0-3][0-9])(?:1[3-9]|2[0-9]|3[01])(?:0[1-9]|1[0-2])")
DAY_AND_HOUR = re.compile(rf"{DAY_MONTH}{HOUR}")
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
    if not any(day.fullmatch(run.digits) for day in (DATE, DAY_FIRST, OTHER_DAY, DAY_AND_HOUR)):
        return False
    around = max(free, run.start - NEAR), run.start
    if DATE_WORD.search(page.plain, *around) or RANGE_BEFORE.search(page.plain, *around) or RANGE_AFTER.match(page.plain, run.end):
        return True
    recent = bool(RECENT.fullmatch(run.digits) or DAY_AND_HOUR.fullmatch(run.digits))
    return recent and bool(ON_THE.search(page.plain, *around) or (listed and HOUR_AFTER.match(page.plain, run.end)))


def is_a_moment(digits: str) -> bool:
    """Whether eight digits without any word read as a date of our days, or as two hours, the later one behind: 19002100."""
    return RECENT.fullmatch(digits) is not None or (TWO_HOURS.fullmatch(digits) is not None and digits[:4] < digits[4:])
