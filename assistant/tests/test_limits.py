"""Limits before spending: over them nothing is asked, and without counters nobody is served."""

import datetime as dt
import threading
from typing import Any

import pytest

from assistant import limits
from assistant.limits import LimitReached
from assistant.llm import ModelKind, ModelRequest, ModelResponse, ModelTimeout, Usage
from assistant.llm.scripted import ScriptedModel
from assistant.models import Interaction
from assistant.services import ask_assistant
from bookings.models import Member
from kallpa import counters

TEXT = "fulbito mañana a las 7 de la noche"
REFUSAL = '{"action":"refuse"}'
SECOND, MINUTE, DAY = dt.timedelta(seconds=1), dt.timedelta(minutes=1), dt.timedelta(days=1)


class PricedModel:
    """Charges 1 USD per million tokens in and 4 out; every answer says that it used 1,000 and 100: 1,400 micro-USD."""

    kind: ModelKind = "real"
    name = "claude-haiku-4-5"

    def __init__(self) -> None:
        self.calls = 0

    def complete(self, request: ModelRequest) -> ModelResponse:
        self.calls += 1
        return ModelResponse(REFUSAL, Usage(1_000, 100, measured=True), "stop", provider_ms=1.0, attempts=1, model=self.name)


def test_a_person_asks_ten_times_a_minute_and_then_waits(member: Member, other: Member, now: dt.datetime, settings: Any) -> None:
    model = ScriptedModel(REFUSAL, record=True)
    for second in range(10):
        ask_assistant(member=member, text=TEXT, model=model, now=now + second * SECOND)
    with pytest.raises(LimitReached) as reached:
        ask_assistant(member=member, text=TEXT, model=model, now=now + 20 * SECOND)
    assert reached.value.retry_after_s == 40
    assert (len(model.calls), Interaction.objects.count()) == (10, 10)
    assert ask_assistant(member=other, text=TEXT, model=model, now=now + 20 * SECOND).kind == "refuse"
    assert ask_assistant(member=member, text=TEXT, model=model, now=now + 60 * SECOND).kind == "refuse"


def test_a_person_asks_so_many_times_a_day(member: Member, now: dt.datetime, settings: Any) -> None:
    settings.ASSISTANT_PER_DAY = 3
    model = ScriptedModel(REFUSAL, record=True)
    for minute in range(3):
        ask_assistant(member=member, text=TEXT, model=model, now=now + minute * MINUTE)
    with pytest.raises(LimitReached) as reached:
        ask_assistant(member=member, text=TEXT, model=model, now=now + 10 * MINUTE)
    assert (reached.value.retry_after_s, len(model.calls)) == (86_400 - 600, 3)
    assert ask_assistant(member=member, text=TEXT, model=model, now=now + DAY).kind == "refuse"


def test_control_without_the_limit_the_eleventh_is_asked(member: Member, now: dt.datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assistant.services.admit", lambda **options: None)
    model = ScriptedModel(REFUSAL, record=True)
    for _ in range(11):
        ask_assistant(member=member, text=TEXT, model=model, now=now)
    assert len(model.calls) == 11


def test_too_long_and_blank_requests_count_too(member: Member, now: dt.datetime) -> None:
    model = ScriptedModel(REFUSAL, record=True)
    for text in ("", "a" * 301) * 5:
        ask_assistant(member=member, text=text, model=model, now=now)
    with pytest.raises(LimitReached):
        ask_assistant(member=member, text=TEXT, model=model, now=now)
    assert model.calls == []


# --- The day's budget ----------------------------------------------------------------------------------------------------


def ask_until_closed(member: Member, model: PricedModel, now: dt.datetime) -> Interaction:
    for minute in range(30):
        kept = ask_assistant(member=member, text=TEXT, model=model, now=now + minute * MINUTE)
        if kept.kind == "unavailable":
            return kept
    raise AssertionError("it never closed")


def test_what_all_spend_in_a_day_stays_under_the_budget(member: Member, other: Member, now: dt.datetime, settings: Any) -> None:
    settings.ASSISTANT_DAILY_BUDGET_USD = 0.01  # 10,000 micro-USD
    model = PricedModel()
    closed = ask_until_closed(member, model, now)
    spent = sum(Interaction.objects.values_list("cost_micro_usd", flat=True))
    assert (closed.cause, closed.cost_micro_usd) == ("budget", 0)
    assert (model.calls, spent) == (6, 6 * 1_500)  # a seventh could cost more than the 1,000 that are left
    assert ask_assistant(member=other, text=TEXT, model=model, now=now + 30 * MINUTE).cause == "budget"
    assert model.calls == 6
    assert ask_assistant(member=member, text=TEXT, model=model, now=now + DAY).kind == "refuse"


def test_control_without_reserving_the_budget_is_passed(
    member: Member, now: dt.datetime, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ASSISTANT_DAILY_BUDGET_USD = 0.01
    monkeypatch.setattr(counters, "reserve", lambda *names, **options: True)
    with pytest.raises(AssertionError, match="never closed"):
        ask_until_closed(member, PricedModel(), now)
    assert sum(Interaction.objects.values_list("cost_micro_usd", flat=True)) > 10_000


def test_a_call_without_an_answer_spends_what_it_may_have_cost(member: Member, now: dt.datetime, settings: Any) -> None:
    settings.ASSISTANT_DAILY_BUDGET_USD = 0.01

    class SilentModel(PricedModel):
        def complete(self, request: ModelRequest) -> ModelResponse:
            self.calls += 1
            raise ModelTimeout

    model = SilentModel()
    kept = [ask_assistant(member=member, text=TEXT, model=model, now=now + minute * MINUTE) for minute in range(12)]
    assert {one.cause for one in kept} == {"timeout", "budget"}
    assert 1_000 < kept[0].cost_micro_usd < 2_000
    assert sum(one.cost_micro_usd for one in kept) <= 10_000


def test_a_model_without_price_is_charged_as_the_dearest(member: Member, now: dt.datetime) -> None:
    model = PricedModel()
    model.name = "nadie-sabe"
    kept = ask_assistant(member=member, text=TEXT, model=model, now=now)
    assert (kept.cost_micro_usd, kept.price_known) == (1_000 * 15 + 100 * 75, False)


# --- Without counters ----------------------------------------------------------------------------------------------------


@pytest.fixture
def dead_redis(settings: Any) -> None:
    """A cache at a port where nobody listens."""
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://127.0.0.1:1/0"}}


def test_without_counters_the_assistant_is_closed(member: Member, now: dt.datetime, dead_redis: None) -> None:
    model = ScriptedModel(REFUSAL, record=True)
    kept = ask_assistant(member=member, text=TEXT, model=model, now=now)
    assert (kept.kind, kept.cause, model.calls) == ("unavailable", "counters-down", [])


def test_counters_that_go_away_before_the_call_close_it_too(member: Member, now: dt.datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    model = ScriptedModel(REFUSAL, record=True)

    def go_away(*names: str, **options: Any) -> bool:
        raise counters.CountersDown

    monkeypatch.setattr(counters, "reserve", go_away)
    kept = ask_assistant(member=member, text=TEXT, model=model, now=now)
    assert (kept.kind, kept.cause, model.calls) == ("unavailable", "counters-down", [])


def test_counters_that_go_away_after_the_call_cost_no_answer(member: Member, now: dt.datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    def go_away(*names: str, **options: Any) -> None:
        raise counters.CountersDown

    monkeypatch.setattr(counters, "settle", go_away)
    assert ask_assistant(member=member, text=TEXT, model=ScriptedModel(REFUSAL), now=now).kind == "refuse"


# --- Few at once, so that threads are left for the bookings --------------------------------------------------------------


class SlowModel(ScriptedModel):
    """Answers when it is released."""

    def __init__(self) -> None:
        self.asked, self.released = threading.Semaphore(0), threading.Event()
        super().__init__(self.answer_late, record=True)

    def answer_late(self, request: ModelRequest) -> str:
        self.asked.release()
        assert self.released.wait(20)
        return REFUSAL


REQUEST = ModelRequest(({"role": "user", "content": TEXT},), temperature=0.0, max_tokens=10)


def ask_in_threads(model: SlowModel, member_ids: range, now: dt.datetime) -> list[threading.Thread]:
    """One call a member, each in its own thread, all of them in flight on return."""
    metered = [limits.MeteredModel(model, member_id=member_id, now=now) for member_id in member_ids]
    threads = [threading.Thread(target=one.complete, args=(REQUEST,)) for one in metered]
    for thread in threads:
        thread.start()
        assert model.asked.acquire(timeout=20)
    return threads


@pytest.mark.parametrize(("in_flight", "newcomer", "served"), [(4, 99, False), (3, 99, True), (1, 1, False), (1, 99, True)])
def test_it_is_busy_when_its_places_are_taken_or_the_person_waits_already(
    now: dt.datetime, in_flight: int, newcomer: int, served: bool
) -> None:
    model = SlowModel()
    threads = ask_in_threads(model, range(1, in_flight + 1), now)
    quick = ScriptedModel(REFUSAL, record=True)
    try:
        limits.MeteredModel(quick, member_id=newcomer, now=now).complete(REQUEST)
    except limits.TooManyAtOnce:
        pass
    finally:
        model.released.set()
        for thread in threads:
            thread.join()
    assert len(quick.calls) == int(served)
    limits.MeteredModel(quick, member_id=newcomer, now=now).complete(REQUEST)  # the places are free again
