"""Writes: to ask the assistant, and what the person did with the answer. Masked before anything is stored."""

import datetime as dt
import logging
import time
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction

from assistant import quick
from assistant.drafts import AssistantResult, Draft
from assistant.ledger import record_calls
from assistant.limits import MeteredModel, admit
from assistant.llm import Model, ModelError
from assistant.models import MAX_WORD, FollowUp, Interaction, Kind, ModelCall, UserReport
from assistant.pii import mask
from assistant.pipeline import MAX_INPUT_CHARS, propose
from assistant.prompts import prompt_hash
from assistant.quick import propose_quickly
from assistant.selectors import hours_to_tell, known_names
from bookings.models import Booking, Member

logger = logging.getLogger(__name__)

VARIANT = "base"
# What stands where a model and its prompt would: the hash is that of the rules' own source.
BY_THE_RULES = {"model": quick.NAME, "prompt_variant": "reglas", "prompt_hash": quick.RULES_HASH}
MAX_STORED_OUTPUT = 2_000
PRUNE_BATCH = 500


class AlreadyAnswered(Exception):  # noqa: N818 -- an answer, not a fault
    """The person already did something else with this proposal, or already reported it; `interaction_id` finds the row."""

    def __init__(self, *, interaction_id: int) -> None:
        super().__init__(f"interaction {interaction_id}")
        self.interaction_id = interaction_id


def ask_assistant(*, member: Member, text: str, model: Model, now: dt.datetime) -> Interaction:
    """What became of one request, stored; an outage is stored too. Raises LimitReached, and then nothing was asked nor stored."""
    words = prompt_hash(VARIANT, json_schema=settings.LLM_JSON_SCHEMA)
    metered, names = MeteredModel(model, member_id=member.pk, now=now, prompt_hash=words), known_names()
    started = time.perf_counter()
    try:
        admit(member_id=member.pk, now=now)
        outcome = _facts_of(_propose(text, metered, now), names)
    except ModelError as error:
        logger.warning("the assistant is unavailable, cause %s: %s", error.cause, error)
        outcome = {"kind": Kind.UNAVAILABLE, "cause": error.cause}
    latency_ms = round((time.perf_counter() - started) * 1_000)
    asked = {"prompt_hash": words, "prompt_variant": VARIANT, "model": model.name}
    kept = Interaction(
        member=member,
        created_at=now,
        masked_text=_mask_request(text, names),
        latency_ms=latency_ms,
        cost_micro_usd=metered.cost.micro_usd,
        price_known=metered.cost.price_known,
        **(asked | outcome),
    )
    return _store(kept, metered.calls)


def record_follow_up(*, member: Member, proposal_id: int, booking: Booking, now: dt.datetime) -> Interaction | None:
    """Notes that the draft became this booking, and which fields differ. None when the draft is not theirs or was followed before."""
    interaction = Interaction.objects.filter(pk=proposal_id, member=member).first()
    if interaction is None or interaction.draft is None:
        return None
    changed = changed_fields(interaction.draft, booking)
    what = FollowUp.CHANGED if changed else FollowUp.CONFIRMED
    return interaction if _follow(interaction, what, now, changed_fields=changed, booking=booking) else None


def changed_fields(draft: dict[str, Any], booking: Booking) -> list[str]:
    """The draft's keys whose value is another in the booking. The court is not among them: the model proposes none."""
    booked = Draft(booking.court.sport, booking.date, booking.start_hour, booking.hours).as_json()
    return [key for key, value in booked.items() if draft.get(key) != value]


def discard_proposal(*, interaction: Interaction, now: dt.datetime) -> Interaction:
    """Notes that the person wants nothing of this draft; twice is once. Raises AlreadyAnswered after a booking, or without a draft."""
    if interaction.kind != Kind.DRAFT:
        raise AlreadyAnswered(interaction_id=interaction.pk)
    if not _follow(interaction, FollowUp.DISCARDED, now) and interaction.follow_up != FollowUp.DISCARDED:
        raise AlreadyAnswered(interaction_id=interaction.pk)
    return interaction


def report_interaction(*, interaction: Interaction, word: str, now: dt.datetime) -> UserReport:
    """«Esto no es lo que pedí», with the person's word masked and cut. Raises AlreadyAnswered the second time."""
    masked = mask(word, known_names=known_names()).text[:MAX_WORD]
    try:
        with transaction.atomic():
            return UserReport.objects.create(interaction=interaction, word=masked, created_at=now)
    except IntegrityError as error:
        raise AlreadyAnswered(interaction_id=interaction.pk) from error


def prune_interactions(*, now: dt.datetime) -> int:
    """Deletes what is older than INTERACTION_RETENTION_DAYS, a batch at a time, and says how many uses went. May run twice."""
    old = Interaction.objects.filter(created_at__lt=now - dt.timedelta(days=settings.INTERACTION_RETENTION_DAYS)).order_by("pk")
    deleted = 0
    while batch := list(old.values_list("pk", flat=True)[:PRUNE_BATCH]):
        _, by_model = Interaction.objects.filter(pk__in=batch).delete()
        deleted += by_model.get(Interaction._meta.label, 0)
    return deleted


def _propose(text: str, model: Model, now: dt.datetime) -> AssistantResult:
    """The rules first, where they are switched on: what they read for certain needs no model."""
    occupied = hours_to_tell(now)
    if settings.ASSISTANT_QUICK and (answer := propose_quickly(text, now=now, occupied=occupied)):
        return answer
    return propose(
        text,
        model=model,
        now=now,
        occupied=occupied,
        variant=VARIANT,
        temperature=settings.LLM_TEMPERATURE,
        max_tokens=settings.LLM_MAX_TOKENS,
        json_schema=settings.LLM_JSON_SCHEMA,
        check_mentions=settings.ASSISTANT_MENTION_CHECK,
    )


@transaction.atomic
def _store(interaction: Interaction, calls: list[ModelCall]) -> Interaction:
    """A use and what it bought, together."""
    interaction.save()
    record_calls(calls, reference=f"interaction:{interaction.pk}")
    return interaction


def _facts_of(result: AssistantResult, names: list[str]) -> dict[str, Any]:
    """What is kept of an answer. The output is for reading only: cut, masked, never parsed again."""
    usage = result.usage
    return {
        "kind": result.kind,
        "reason": result.reason,
        "draft": result.draft and result.draft.as_json(),
        "question": mask(result.question, known_names=names).text,
        "masked_output": mask(result.raw, known_names=names).text[:MAX_STORED_OUTPUT],
        "input_tokens": usage.input_tokens if usage else 0,
        "output_tokens": usage.output_tokens if usage else 0,
        "usage_measured": bool(usage and usage.measured),
        **(BY_THE_RULES if result.without_model else {}),
    }


def _mask_request(text: str, names: list[str]) -> str:
    """What may be kept of a request: nothing of one that is too long, for to cut it could halve a number that the mask then misses."""
    return mask(text, known_names=names).text if len(text) <= MAX_INPUT_CHARS else ""


def _follow(interaction: Interaction, what: FollowUp, now: dt.datetime, **facts: Any) -> bool:
    """Writes a follow-up once; False if there was one already. The row in memory is as the database has it."""
    waiting = Interaction.objects.filter(pk=interaction.pk, follow_up=FollowUp.NONE)
    written = waiting.update(follow_up=what, followed_at=now, **facts)
    interaction.refresh_from_db()
    return bool(written)
