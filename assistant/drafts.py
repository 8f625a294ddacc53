"""What the assistant answers, and the strict reading of what a model wrote. Any surprise rejects the whole output."""

import datetime as dt
import json
import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, NoReturn

from assistant.llm import Usage
from assistant.questions import find_unsafe
from bookings.clock import in_lima
from bookings.rules import check_booking_rules
from bookings.values import BookingRequest

MAX_OUTPUT_CHARS = 20_000
MAX_DIGITS = 9

ResultKind = Literal["draft", "clarify", "refuse", "rejected"]


class Reason(StrEnum):
    """Why we rejected. A draft that breaks a booking rule carries the rule's own code instead."""

    INPUT_BLANK = "INPUT_BLANK"
    INPUT_TOO_LONG = "INPUT_TOO_LONG"
    TRUNCATED = "TRUNCATED"
    NOT_TEXT = "NOT_TEXT"
    TOO_LONG = "TOO_LONG"
    NOT_JSON = "NOT_JSON"
    NOT_AN_OBJECT = "NOT_AN_OBJECT"
    DUPLICATE_KEY = "DUPLICATE_KEY"
    MISSING_KEYS = "MISSING_KEYS"
    UNEXPECTED_KEYS = "UNEXPECTED_KEYS"
    UNKNOWN_ACTION = "UNKNOWN_ACTION"
    WRONG_TYPE = "WRONG_TYPE"
    NUMBER_TOO_LONG = "NUMBER_TOO_LONG"
    BAD_DATE = "BAD_DATE"
    UNSAFE_QUESTION = "UNSAFE_QUESTION"


@dataclass(frozen=True, slots=True)
class Draft:
    """A booking proposed to a person. Who books is not here on purpose: a model cannot decide what has no field."""

    sport: str
    date: dt.date
    start_hour: int
    hours: int

    def as_request(self, team_name: str = "") -> BookingRequest:
        """The request that the booking service checks and stores."""
        return BookingRequest(self.sport, self.date, self.start_hour, self.hours, team_name)

    def as_json(self) -> dict[str, Any]:
        """The draft with the keys that the model and the API use."""
        return {"sport": self.sport, "date": self.date.isoformat(), "startHour": self.start_hour, "hours": self.hours}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "Draft":
        """A draft from what `as_json` gave; never from a model's words, which parse_output reads."""
        return cls(stored["sport"], dt.date.fromisoformat(stored["date"]), stored["startHour"], stored["hours"])


@dataclass(frozen=True, slots=True)
class Trace:
    """One exchange with a model, whole: what was sent, what came back, how long the provider took (milliseconds)."""

    messages: tuple[dict[str, Any], ...] = field(repr=False)
    raw: str = field(repr=False)
    finish_reason: str
    provider_ms: float
    attempts: int
    model: str


@dataclass(frozen=True, slots=True)
class AssistantResult:
    """One of four results. `reason` is a Reason or a rule's code; `detail` is ASCII for developers; `raw` is untrusted text.

    `without_model` says that the rules of `assistant/quick` answered and no model was asked.
    """

    kind: ResultKind
    draft: Draft | None = None
    question: str = ""
    reason: str = ""
    detail: str = ""
    raw: str = field(default="", repr=False)
    usage: Usage | None = None
    trace: Trace | None = None
    without_model: bool = False


def parse_output(text: str, *, now: dt.datetime) -> AssistantResult:
    """Reads one model output. No text makes it raise, nor anything that is not text; a `now` without zone does (ValueError)."""
    here = in_lima(now)
    raw = text[:MAX_OUTPUT_CHARS] if type(text) is str else ""
    try:
        return _read_answer(text, raw, here)
    except _Refused as refused:
        return AssistantResult("rejected", reason=refused.reason, detail=refused.detail, raw=raw)


class _Refused(Exception):  # noqa: N818 -- the way out of a reading, caught above
    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason, self.detail = str(reason), detail


def _read_answer(text: str, raw: str, now: dt.datetime) -> AssistantResult:
    fields = _read_object(text)
    match _read_action(fields):
        case "draft":
            return AssistantResult("draft", draft=_read_draft(fields, now), raw=raw)
        case "clarify":
            return AssistantResult("clarify", question=_read_question(fields), raw=raw)
        case _:
            return AssistantResult("refuse", raw=raw)


# --- JSON, and only JSON ------------------------------------------------------------------------------------------------


def _read_object(text: str) -> dict[str, Any]:
    if type(text) is not str:
        raise _Refused(Reason.NOT_TEXT, type(text).__name__)
    if len(text) > MAX_OUTPUT_CHARS:
        raise _Refused(Reason.TOO_LONG, f"{len(text)} characters")
    try:
        value = json.loads(text, object_pairs_hook=_read_pairs, parse_int=_read_int, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise _Refused(Reason.NOT_JSON, type(error).__name__) from None
    if type(value) is not dict:
        raise _Refused(Reason.NOT_AN_OBJECT, type(value).__name__)
    return value


def _read_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise _Refused(Reason.DUPLICATE_KEY)
    return fields


def _read_int(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise _Refused(Reason.NUMBER_TOO_LONG, f"{len(digits)} digits")
    return int(digits)


def _refuse_constant(name: str) -> NoReturn:
    raise _Refused(Reason.NOT_JSON, name)


# --- The three shapes ---------------------------------------------------------------------------------------------------

_KEYS = {
    "draft": {"action", "sport", "date", "startHour", "hours"},
    "clarify": {"action", "question"},
    "refuse": {"action"},
}
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})", re.ASCII)


def _read_action(fields: dict[str, Any]) -> str:
    if "action" not in fields:
        raise _Refused(Reason.MISSING_KEYS, "action")
    action = _read_field(fields, "action", str)
    if action not in _KEYS:
        raise _Refused(Reason.UNKNOWN_ACTION, _show(action))
    _check_keys(fields.keys(), _KEYS[action])
    return action


def _check_keys(found: Any, allowed: set[str]) -> None:
    extra, missing = found - allowed, allowed - found
    if extra:
        raise _Refused(Reason.UNEXPECTED_KEYS, _show(", ".join(sorted(extra))))
    if missing:
        raise _Refused(Reason.MISSING_KEYS, ", ".join(sorted(missing)))


def _read_field(fields: dict[str, Any], name: str, kind: type) -> Any:
    """The value if its type is exactly `kind`: a boolean is not an integer, neither is 19.0 nor "19"."""
    value = fields[name]
    if type(value) is not kind:
        raise _Refused(Reason.WRONG_TYPE, f"{name} is {type(value).__name__}")
    return value


def _read_draft(fields: dict[str, Any], now: dt.datetime) -> Draft:
    draft = Draft(
        sport=_read_field(fields, "sport", str),
        date=_read_date(_read_field(fields, "date", str)),
        start_hour=_read_field(fields, "startHour", int),
        hours=_read_field(fields, "hours", int),
    )
    broken = check_booking_rules(draft.as_request(), now)
    if broken:
        raise _Refused(broken[0], ", ".join(broken))
    return draft


def _read_date(text: str) -> dt.date:
    match = _DATE.fullmatch(text)
    if match is None:
        raise _Refused(Reason.BAD_DATE, _show(text))
    try:
        return dt.date(*map(int, match.groups()))
    except ValueError:
        raise _Refused(Reason.BAD_DATE, text) from None


def _read_question(fields: dict[str, Any]) -> str:
    question = _read_field(fields, "question", str)
    unsafe = find_unsafe(question)
    if unsafe:
        raise _Refused(Reason.UNSAFE_QUESTION, unsafe)
    return question


def _show(untrusted: str) -> str:
    """At most 80 ASCII characters of untrusted text, safe to log and to store."""
    return ascii(untrusted[:40])[:80]
