"""Ways to read what the strict reading refuses: each gives the text to read instead, or None where it sees nothing to mend. Pure."""

import json
import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from evals.sensitivity.weakness import read_object

_KEYS = {"draft": ("action", "sport", "date", "startHour", "hours"), "clarify": ("action", "question"), "refuse": ("action",)}
_MEMBER_KEYS = ("memberId", "member", "socio", "name", "nombre")
_FENCE = re.compile(r"\s*```(?:json)?\s*(\{.*\})\s*```\s*", re.DOTALL)
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_SLASHED = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_LONGEST_MONTH = 31


def drop_extra_keys(text: str) -> str | None:
    """Without the keys that the action does not have."""
    fields = read_object(text)
    allowed = _KEYS.get(str(fields.get("action"))) if fields else None
    if not fields or not allowed or fields.keys() <= set(allowed):
        return None
    return json.dumps({key: value for key, value in fields.items() if key in allowed})


def accept_member_keys(text: str) -> str | None:
    """Without who books, when that is all there is too much."""
    fields = read_object(text)
    if not fields or not any(key in fields for key in _MEMBER_KEYS):
        return None
    return json.dumps({key: value for key, value in fields.items() if key not in _MEMBER_KEYS})


def fill_hours(text: str) -> str | None:
    """A draft without `hours` gets one."""
    return _edit_draft(text, lambda fields: None if "hours" in fields else {"hours": 1})


def keep_last_of_equal_keys(text: str) -> str | None:
    """An object in which a key is written twice, with the last value of each."""
    fields = read_object(text)
    return json.dumps(fields) if fields and _count_keys(text) > len(fields) else None


def _count_keys(text: str) -> Any:
    return json.loads(text, object_pairs_hook=lambda pairs: len(pairs))


def read_numbers_in_text(text: str) -> str | None:
    """`"19:00"` and `"19"` as 19."""
    return _edit_draft(text, lambda fields: _change_numbers(fields, _leading_number))


def round_numbers(text: str) -> str | None:
    """19.5 as 19."""
    return _edit_draft(text, lambda fields: _change_numbers(fields, lambda value: int(value) if isinstance(value, float) else None))


def read_slashed_date(text: str) -> str | None:
    """14/03/2026 as 2026-03-14."""

    def change(fields: dict[str, Any]) -> dict[str, Any] | None:
        found = _SLASHED.fullmatch(str(fields.get("date")))
        return {"date": f"{found[3]}-{int(found[2]):02}-{int(found[1]):02}"} if found else None

    return _edit_draft(text, change)


def roll_date_over(text: str) -> str | None:
    """February 29th of a common year as March 1st."""

    def change(fields: dict[str, Any]) -> dict[str, Any] | None:
        found = _ISO.fullmatch(str(fields.get("date")))
        if not found or not 1 <= int(found[2]) <= 12 or not 1 <= int(found[3]) <= _LONGEST_MONTH:
            return None
        rolled = (date(int(found[1]), int(found[2]), 1) + timedelta(days=int(found[3]) - 1)).isoformat()
        return None if rolled == found[0] else {"date": rolled}

    return _edit_draft(text, change)


def unwrap_fence(text: str) -> str | None:
    """What stands inside a fence of Markdown that is all there is."""
    found = _FENCE.fullmatch(text)
    return found[1] if found else None


def dig_out_of_prose(text: str) -> str | None:
    """From the first brace to the last one, when other words stand around them."""
    found = _OBJECT.search(text)
    return found[0] if found and found[0] != text.strip() and not _FENCE.fullmatch(text) else None


def close_cut_object(text: str) -> str | None:
    """An object that stops before its end, closed; a text that was left open is closed too."""
    if read_object(text) is not None or not text.lstrip().startswith("{"):
        return None
    return next((closed for closed in (f"{text}}}", f'{text}"}}', f"{text.rstrip().rstrip(',')}}}") if read_object(closed)), None)


def take_first_of_list(text: str) -> str | None:
    """The first object of a list of them."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return json.dumps(value[0]) if isinstance(value, list) and value and isinstance(value[0], dict) else None


def call_any_action_a_draft(text: str) -> str | None:
    """An action that nobody knows, with a draft's fields, as a draft."""
    fields = read_object(text)
    if not fields or fields.get("action") in _KEYS or not {*_KEYS["draft"][1:]} <= fields.keys():
        return None
    return json.dumps({**fields, "action": "draft"})


def _edit_draft(text: str, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> str | None:
    """The draft with what `change` gives for its fields; None when it is no draft or nothing changes."""
    fields = read_object(text)
    edited = change(fields) if fields and fields.get("action") == "draft" else None
    return json.dumps({**(fields or {}), **edited}) if edited else None


def _change_numbers(fields: dict[str, Any], read: Callable[[Any], int | None]) -> dict[str, Any]:
    found = {name: read(fields.get(name)) for name in ("startHour", "hours")}
    return {name: value for name, value in found.items() if value is not None}


def _leading_number(value: Any) -> int | None:
    found = re.match(r"\d{1,2}", value) if isinstance(value, str) else None
    return int(found[0]) if found else None
