"""Where the rules are switched on, an easy request costs no call; everything around it stays as with a model."""

import datetime as dt
from typing import Any

import pytest

from assistant.limits import LimitReached
from assistant.llm import ModelRequest, ModelUnreachable
from assistant.llm.scripted import ScriptedModel
from assistant.models import Interaction, ModelCall
from assistant.prompts import prompt_hash
from assistant.quick import RULES_HASH
from assistant.services import ask_assistant, record_follow_up
from bookings.models import Court, Member
from bookings.services import book
from bookings.values import BookingRequest

EASY, HARD = "fulbito mañana 19:00", "fulbito mañana a las 7"
DRAFT = {"sport": "fulbito", "date": "2026-03-10", "startHour": 19, "hours": 1}
ASKS = '{"action":"clarify","question":"¿De la mañana o de la noche?"}'


@pytest.fixture(autouse=True)
def switched_on(settings: Any) -> None:
    settings.ASSISTANT_QUICK = True


def dear_model() -> ScriptedModel:
    model = ScriptedModel(ASKS, name="gpt-4o-mini", record=True)
    model.kind = "real"
    return model


def test_an_easy_request_is_answered_without_a_call(member: Member, now: dt.datetime) -> None:
    model = dear_model()
    kept = ask_assistant(member=member, text=EASY, model=model, now=now)
    assert (model.calls, ModelCall.objects.count()) == ([], 0)
    assert (kept.kind, kept.draft, kept.masked_text) == ("draft", DRAFT, EASY)
    assert (kept.model, kept.prompt_variant, kept.prompt_hash) == ("quick", "reglas", RULES_HASH)
    assert (kept.cost_micro_usd, kept.price_known, kept.input_tokens, kept.output_tokens, kept.usage_measured) == (0, True, 0, 0, False)


def test_what_the_rules_leave_goes_to_the_model(member: Member, now: dt.datetime) -> None:
    model = dear_model()
    kept = ask_assistant(member=member, text=HARD, model=model, now=now)
    assert (kept.kind, kept.model, kept.prompt_hash, len(model.calls)) == ("clarify", "gpt-4o-mini", prompt_hash("base"), 1)


def test_switched_off_the_same_request_is_paid(member: Member, now: dt.datetime, settings: Any) -> None:
    settings.ASSISTANT_QUICK = False
    model = dear_model()
    kept = ask_assistant(member=member, text=EASY, model=model, now=now)
    assert (kept.model, kept.cost_micro_usd > 0, len(model.calls), ModelCall.objects.count()) == ("gpt-4o-mini", True, 1, 1)


def test_it_counts_for_the_limit_of_the_person(member: Member, now: dt.datetime, settings: Any) -> None:
    settings.ASSISTANT_PER_MINUTE = 2
    for _ in range(2):
        ask_assistant(member=member, text=EASY, model=dear_model(), now=now)
    with pytest.raises(LimitReached):
        ask_assistant(member=member, text=EASY, model=dear_model(), now=now)
    assert Interaction.objects.count() == 2


def test_it_answers_while_the_model_is_down_and_the_purse_is_empty(member: Member, now: dt.datetime, settings: Any) -> None:
    def fail(request: ModelRequest) -> str:
        raise ModelUnreachable

    settings.ASSISTANT_DAILY_BUDGET_USD = 0
    assert ask_assistant(member=member, text=EASY, model=ScriptedModel(fail), now=now).kind == "draft"
    assert ask_assistant(member=member, text=HARD, model=ScriptedModel(fail), now=now).kind == "unavailable"


def test_a_taken_hour_goes_to_the_model(member: Member, court: Court, now: dt.datetime) -> None:
    book(member=member, court=court, request=BookingRequest("fulbito", dt.date(2026, 3, 10), 19, 1), now=now)
    model = dear_model()
    assert ask_assistant(member=member, text=EASY, model=model, now=now).kind == "clarify"
    assert len(model.calls) == 1


def test_what_the_person_does_next_is_kept_as_with_a_model(member: Member, court: Court, now: dt.datetime) -> None:
    kept = ask_assistant(member=member, text=EASY, model=dear_model(), now=now)
    booking = book(member=member, court=court, request=BookingRequest("fulbito", dt.date(2026, 3, 10), 20, 1), now=now)
    followed = record_follow_up(member=member, proposal_id=kept.pk, booking=booking, now=now)
    assert followed is not None
    assert (followed.follow_up, followed.changed_fields) == ("changed", ["startHour"])
