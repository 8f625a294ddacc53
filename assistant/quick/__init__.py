"""Reads the easy requests without a model, and leaves every other one to it. Right or silent: it never guesses.

The whole sentence must be a chain of known phrases: one sport, one day, one hour, perhaps a length, and words that change nothing.
All ways to cut it into phrases are followed, unfinished ones too; when they do not all say the same, nothing was read. What a
sentence means is the law of `prompts/sistema.md`: an hour that can be of the morning or of the night is not known.
"""

import datetime as dt
import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from assistant.drafts import AssistantResult, Draft, parse_output
from assistant.quick.hours import resolve
from assistant.quick.phrases import Reading, read_phrases
from bookings.clock import in_lima
from bookings.rules import CLOSES_AT, MAX_DAYS_AHEAD, MAX_HOURS, OPENS_AT, check_booking_rules
from bookings.values import OccupiedHour

NAME = "quick"

_FILES = sorted(Path(__file__).parent.glob("*.py"))
_RULES = f"{OPENS_AT} {CLOSES_AT} {MAX_HOURS} {MAX_DAYS_AHEAD}"
RULES_HASH = hashlib.sha256(b"\x1f".join([_RULES.encode(), *(path.read_bytes() for path in _FILES)])).hexdigest()


def read_request(text: str, *, now: dt.datetime, occupied: Iterable[OccupiedHour]) -> Draft | None:
    """The booking that `text` asks for when every fact is certain, free and within the rules; else None. `now` is aware."""
    here = in_lima(now)
    readings = read_phrases(text, here)
    draft = _complete(readings.pop(), here) if len(readings) == 1 else None
    if draft is None or check_booking_rules(draft.as_request(), now) or _is_taken(draft, occupied):
        return None
    return draft


def propose_quickly(text: str, *, now: dt.datetime, occupied: Iterable[OccupiedHour]) -> AssistantResult | None:
    """What to show the person, read by the same strict parser as a model's words; None leaves the request to a model."""
    draft = read_request(text, now=now, occupied=occupied)
    if draft is None:
        return None
    output = json.dumps({"action": "draft", **draft.as_json()}, separators=(",", ":"))
    return replace(parse_output(output, now=now), without_model=True)


def _complete(reading: Reading, here: dt.datetime) -> Draft | None:
    """A draft of the reading, or None when a fact is missing or open."""
    if reading.sport is None or reading.date is None or reading.when is None:
        return None
    slot = resolve(reading.when, reading.date, here)
    if slot is None or (reading.hours and slot.hours and reading.hours != slot.hours):
        return None
    return Draft(reading.sport, reading.date, slot.start, reading.hours or slot.hours or 1)


def _is_taken(draft: Draft, occupied: Iterable[OccupiedHour]) -> bool:
    wanted = range(draft.start_hour, draft.start_hour + draft.hours)
    return any((one.date, one.sport) == (draft.date, draft.sport) and one.hour in wanted for one in occupied)
