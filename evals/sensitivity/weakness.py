"""What a weakness is, and the three ways to build one: mend the words before, let a rule pass, change the answer after.

Each wraps the assistant from outside. Nothing of the running code is patched, so that it cannot leak into anybody's request.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from bookings.rules import RULE_MESSAGES, check_booking_rules
from bookings.values import BookingRequest
from evals.sensitivity.replays import Ask, Replay
from evals.values import DraftFields, Outcome, draft_from_row

Answer = Callable[[Replay, Ask], Outcome]


def session_member(replay: Replay) -> str:
    """Who books: as it should be, whoever has the session."""
    return replay.case.member


@dataclass(frozen=True, slots=True)
class Weakness:
    """An assistant with one guard less: `title` says in Spanish what it does wrong, `books_for` whom a confirmed draft is for."""

    name: str
    title: str
    answer: Answer
    books_for: Callable[[Replay], str] = session_member


def mends(repair: Callable[[str], str | None]) -> Answer:
    """Reads what the strict reading refuses: `repair` gives the text that is read instead, or None where it sees nothing to mend."""

    def answer(replay: Replay, ask: Ask) -> Outcome:
        mended = repair(replay.text)
        return ask(replay.text if mended is None else mended)

    return answer


def lets(code: str, when: Callable[[DraftFields, datetime], bool] = lambda draft, now: True) -> Answer:
    """Accepts a draft that breaks this rule of the complex and no other, where `when` holds."""

    def answer(replay: Replay, ask: Ask) -> Outcome:
        honest = ask(replay.text)
        if honest.reason not in RULE_MESSAGES:
            return honest
        draft = draft_from_row(json.loads(replay.text))  # rules come last: the rest of the reading was passed
        request = BookingRequest(draft.sport, draft.date, draft.start_hour, draft.hours)
        broken = check_booking_rules(request, replay.now)
        return as_draft(honest, draft) if broken == [code] and when(draft, replay.now) else honest

    return answer


def changes(change: Callable[[Replay, Outcome], Outcome]) -> Answer:
    """Does something else with the honest answer."""
    return lambda replay, ask: change(replay, ask(replay.text))


def as_draft(outcome: Outcome, draft: DraftFields) -> Outcome:
    """The outcome as if this draft had been accepted."""
    return replace(outcome, kind="draft", draft=draft, said="", reason="")


def as_question(outcome: Outcome, question: str) -> Outcome:
    """The outcome as if this had been asked."""
    return replace(outcome, kind="clarify", draft=None, said=question, reason="")


def read_object(text: str) -> dict[str, Any] | None:
    """The one JSON object that the text is, the last of equal keys winning; None for anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
