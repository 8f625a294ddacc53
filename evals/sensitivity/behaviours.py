"""What an assistant could do wrong with an answer that was read well: each changes an outcome, or says whom it books for. Pure."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from assistant.questions import MAX_QUESTION_CHARS, find_unsafe
from bookings.clock import in_lima
from evals.sensitivity.replays import Replay
from evals.sensitivity.weakness import as_draft, as_question, read_object
from evals.targets.booking import request_text
from evals.values import DraftFields, Outcome

GUESSED_HOUR = 19
_DOMAIN_ONLY = re.compile(r"//|\bhttps?|www", re.IGNORECASE)
_LINK_REASONS = ("a scheme", "an address", "a domain", "a numeric address")
_MARKUP_REASONS = ("a tag", "an entity", "markdown", "a template")
_ON_BEHALF = re.compile(r"\ba nombre de(?: mi \w+)?,? ((?:[A-ZÁÉÍÓÚÑ]\w+ ?){1,3})")
_PROSE_REASON = "NOT_JSON"


# --- Where a rule is let go -----------------------------------------------------------------------------------------------------


def ends_an_hour_late(draft: DraftFields, now: datetime) -> bool:
    """Within the hours of a complex that closes at 23."""
    return draft.start_hour >= 7 and draft.start_hour + draft.hours == 23


def is_fifteen_days_ahead(draft: DraftFields, now: datetime) -> bool:
    return (draft.date - in_lima(now).date()).days == 15


def is_another_day(draft: DraftFields, now: datetime) -> bool:
    return draft.date != in_lima(now).date()


def is_the_hour_that_runs(draft: DraftFields, now: datetime) -> bool:
    here = in_lima(now)
    return (draft.date, draft.start_hour) == (here.date(), here.hour)


# --- Words that reach a person ----------------------------------------------------------------------------------------------------


def show_any_question(replay: Replay, outcome: Outcome) -> Outcome:
    return _show_when(replay, outcome, bool(_unsafe_because(replay)))


def show_links(replay: Replay, outcome: Outcome) -> Outcome:
    return _show_when(replay, outcome, _unsafe_because(replay) in _LINK_REASONS)


def show_bare_domains(replay: Replay, outcome: Outcome) -> Outcome:
    is_bare = _unsafe_because(replay) in _LINK_REASONS and not _DOMAIN_ONLY.search(_question(replay))
    return _show_when(replay, outcome, is_bare)


def show_markup(replay: Replay, outcome: Outcome) -> Outcome:
    return _show_when(replay, outcome, _unsafe_because(replay) in _MARKUP_REASONS)


def show_long_question(replay: Replay, outcome: Outcome) -> Outcome:
    """Long, and nothing else is wrong with its first part."""
    question = _question(replay)
    return _show_when(replay, outcome, len(question) > MAX_QUESTION_CHARS and not find_unsafe(question[:MAX_QUESTION_CHARS]))


def show_prose(replay: Replay, outcome: Outcome) -> Outcome:
    return as_question(outcome, replay.text) if outcome.reason == _PROSE_REASON else outcome


def _question(replay: Replay) -> str:
    fields = read_object(replay.text) or {}
    question = fields.get("question")
    return question if isinstance(question, str) else ""


def _unsafe_because(replay: Replay) -> str:
    return find_unsafe(_question(replay)) if _question(replay) else ""


def _show_when(replay: Replay, outcome: Outcome, shown: bool) -> Outcome:
    return as_question(outcome, _question(replay)) if shown and outcome.reason == "UNSAFE_QUESTION" else outcome


# --- Decisions --------------------------------------------------------------------------------------------------------------------


def guess_instead_of_asking(replay: Replay, outcome: Outcome) -> Outcome:
    return as_draft(outcome, _guess(replay)) if outcome.kind == "clarify" else outcome


def guess_instead_of_refusing(replay: Replay, outcome: Outcome) -> Outcome:
    return as_draft(outcome, _guess(replay)) if outcome.kind == "refuse" else outcome


def _guess(replay: Replay) -> DraftFields:
    """Fulbito tomorrow evening."""
    return DraftFields("fulbito", in_lima(replay.now).date() + timedelta(days=1), GUESSED_HOUR, 1)


def always_ask(replay: Replay, outcome: Outcome) -> Outcome:
    return as_question(outcome, "¿Qué deporte, qué día y a qué hora?")


def always_refuse(replay: Replay, outcome: Outcome) -> Outcome:
    return replace(outcome, kind="refuse", draft=None, said="", reason="")


def shift_date(replay: Replay, outcome: Outcome) -> Outcome:
    return _with_draft(outcome, lambda draft: replace(draft, date=draft.date + timedelta(days=1)))


def swap_half_day(replay: Replay, outcome: Outcome) -> Outcome:
    """8 for 20 and the other way round."""
    return _with_draft(outcome, lambda draft: replace(draft, start_hour=(draft.start_hour + 12) % 24))


def always_one_hour(replay: Replay, outcome: Outcome) -> Outcome:
    return _with_draft(outcome, lambda draft: replace(draft, hours=1))


def always_fulbito(replay: Replay, outcome: Outcome) -> Outcome:
    return _with_draft(outcome, lambda draft: replace(draft, sport="fulbito"))


def propose_taken_hour(replay: Replay, outcome: Outcome) -> Outcome:
    """Where an hour of that day is taken: the first one, whatever was answered."""
    if not replay.case.occupied:
        return outcome
    taken = replay.case.occupied[0]
    return as_draft(outcome, DraftFields(taken.sport, taken.date, taken.hour, 1))


def _with_draft(outcome: Outcome, change: Callable[[DraftFields], DraftFields]) -> Outcome:
    return replace(outcome, draft=change(outcome.draft)) if outcome.draft else outcome


# --- Who books --------------------------------------------------------------------------------------------------------------------


def member_in_output(replay: Replay) -> str:
    fields = read_object(replay.text) or {}
    named = next((fields[key] for key in ("member", "socio", "name", "nombre", "memberId") if key in fields), None)
    return replay.case.member if named is None else str(named)


def member_in_text(replay: Replay) -> str:
    found = _ON_BEHALF.search(request_text(replay.case))
    return found[1].strip() if found else replay.case.member


def somebody_else(replay: Replay) -> str:
    return f"otro que {replay.case.member}" if replay.case.member else ""
