"""The rules of a booking draft, said a second time by other means: it judges what nobody marked by hand.

On purpose it shares nothing with the parser it judges: characters are read one by one, dates are counted in days
since 1970, and the numbers of the rules are written again. If the two disagree, one of them is wrong.
"""

from datetime import datetime

_SPORTS = {"fulbito", "voley", "basquet"}
_FIRST_HOUR, _LAST_END, _LONGEST, _HORIZON_DAYS = 7, 22, 3, 14
_LIMA_OFFSET_S = -5 * 3600  # no summer time since 1994
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_TEXT_KEYS = {"action", "sport", "date"}
_NUMBER_KEYS = {"startHour", "hours"}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX = "0123456789abcdef"


def text_is_valid_draft(text: str, *, now: datetime) -> bool:
    """True if `text` is one JSON object that is a booking draft within the rules, and nothing else. Never raises for a text."""
    if not isinstance(text, str):
        return False
    try:
        fields = _Scanner(text).read_object()
    except _NotADraft:
        return False
    if fields.keys() != _TEXT_KEYS | _NUMBER_KEYS or fields["action"] != "draft":
        return False
    return not draft_breaks_rules(*(fields[key] for key in ("sport", "date", "startHour", "hours")), now=now)  # type: ignore[arg-type]


def draft_breaks_rules(sport: str, date: str, start_hour: int, hours: int, *, now: datetime) -> bool:
    """True if these facts may not become a booking; `date` is YYYY-MM-DD. `now` is aware, else ValueError."""
    today, current_hour = _lima_day_and_hour(now)
    day = _day_number(date)
    if day is None or sport not in _SPORTS or type(start_hour) is not int or type(hours) is not int:
        return True
    if hours not in range(1, _LONGEST + 1) or start_hour not in range(_FIRST_HOUR, _LAST_END - hours + 1):
        return True
    days_ahead = day - today
    return days_ahead < 0 or days_ahead > _HORIZON_DAYS or (days_ahead == 0 and start_hour <= current_hour)


# --- The calendar -------------------------------------------------------------------------------------------------------


def _lima_day_and_hour(now: datetime) -> tuple[int, int]:
    """Days since 1970-01-01 and hour of the day, in Lima."""
    if now.utcoffset() is None:
        raise ValueError("now must carry a time zone")
    day, second = divmod(int(now.timestamp() // 1) + _LIMA_OFFSET_S, 86_400)
    return day, second // 3_600


def _day_number(date: str) -> int | None:
    """Days since 1970-01-01 of a YYYY-MM-DD in ASCII digits, or None if there is no such day."""
    if not isinstance(date, str) or len(date) != 10 or date[4] != "-" or date[7] != "-":
        return None
    digits = date[:4] + date[5:7] + date[8:]
    if any(digit not in "0123456789" for digit in digits):
        return None
    year, month, day = _value_of(digits[:4]), _value_of(digits[4:6]), _value_of(digits[6:])
    if year < 1 or not 1 <= month <= 12 or not 1 <= day <= _days_in(year, month):
        return None
    whole_months = sum(_days_in(year, earlier) for earlier in range(1, month))
    return _days_before(year) - _days_before(1970) + whole_months + day - 1


def _value_of(digits: str) -> int:
    value = 0
    for digit in digits:
        value = value * 10 + "0123456789".index(digit)
    return value


def _is_leap(year: int) -> bool:
    return year % 400 == 0 or (year % 4 == 0 and year % 100 != 0)


def _days_in(year: int, month: int) -> int:
    return _MONTH_DAYS[month - 1] + (month == 2 and _is_leap(year))


def _days_before(year: int) -> int:
    past = year - 1
    return past * 365 + past // 4 - past // 100 + past // 400


# --- One flat object, character by character ----------------------------------------------------------------------------


class _NotADraft(Exception):  # noqa: N818 -- the way out of a reading, caught above
    pass


class _Scanner:
    """Reads the grammar of JSON as far as a draft needs it: an object of strings and small whole numbers."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def read_object(self) -> dict[str, str | int]:
        fields: dict[str, str | int] = {}
        self._expect("{")
        while True:
            key = self._read_key(fields)
            self._expect(":")
            fields[key] = self._read_number() if key in _NUMBER_KEYS else self._read_string()
            if self._next_sign() == "}":
                break
            self._expect(",")
        self._expect("}")
        if self._next_sign():
            raise _NotADraft
        return fields

    def _read_key(self, fields: dict[str, str | int]) -> str:
        key = self._read_string()
        if key in fields or key not in _TEXT_KEYS | _NUMBER_KEYS:
            raise _NotADraft
        return key

    def _next_sign(self) -> str:
        """The next character that is not JSON space, without taking it; empty at the end."""
        while self._peek() in (" ", "\t", "\n", "\r"):
            self._at += 1
        return self._peek()

    def _peek(self) -> str:
        return self._text[self._at] if self._at < len(self._text) else ""

    def _take(self) -> str:
        character = self._peek()
        if not character:
            raise _NotADraft
        self._at += 1
        return character

    def _expect(self, sign: str) -> None:
        if self._next_sign() != sign:
            raise _NotADraft
        self._at += 1

    def _read_string(self) -> str:
        self._expect('"')
        characters: list[str] = []
        while (character := self._take()) != '"':
            if character < " ":
                raise _NotADraft
            characters.append(self._read_escape() if character == "\\" else character)
        return "".join(characters)

    def _read_escape(self) -> str:
        letter = self._take()
        if letter != "u":
            if letter not in _ESCAPES:
                raise _NotADraft
            return _ESCAPES[letter]
        code = 0
        for _ in range(4):
            digit = self._take()
            if not digit.isascii() or digit.lower() not in _HEX:
                raise _NotADraft
            code = code * 16 + _HEX.index(digit.lower())
        return chr(code)

    def _read_number(self) -> int:
        """One or two digits without a leading zero: no hour and no duration needs more, and no sign is ever right."""
        self._next_sign()
        digits = ""
        while (digit := self._peek()) and digit in "0123456789":
            self._at += 1
            digits += digit
            if len(digits) > 2:
                raise _NotADraft
        if not digits or (len(digits) == 2 and digits[0] == "0"):
            raise _NotADraft
        return _value_of(digits)
