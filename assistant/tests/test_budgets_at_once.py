"""Calls in flight at the same time cannot pass a day's budget together, the assistant's or the agent's."""

import datetime as dt
import threading
from typing import Any

import pytest

from assistant.limits import BudgetReached, MeteredModel, metered_model
from assistant.llm import ModelKind, ModelRequest, ModelResponse, Usage
from assistant.models import Purpose
from kallpa import counters

REQUEST = ModelRequest(({"role": "user", "content": "x" * 4_000},), temperature=0.0, max_tokens=100)
MOST = 2_500  # micro-USD: 2,000 tokens in at 1 USD a million, 100 out at 5; some tokenizers need one for every two letters of Spanish
THREADS = 4  # as many as wait in one process: ASSISTANT_CONCURRENCY
SETTING = {Purpose.ASSISTANT: "ASSISTANT_DAILY_BUDGET_USD", Purpose.AGENT: "AGENT_DAILY_BUDGET_USD"}
BOTH = pytest.mark.parametrize("purpose", list(SETTING))


class HeldModel:
    """Answers once it is released, with the most that could be charged."""

    kind: ModelKind = "real"
    name = "claude-haiku-4-5"

    def __init__(self) -> None:
        self.calls = 0
        self.released = threading.Event()
        self.arrived = threading.Semaphore(0)

    def complete(self, request: ModelRequest) -> ModelResponse:
        self.calls += 1
        self.arrived.release()
        assert self.released.wait(20)
        return ModelResponse("", Usage(2_000, 100, measured=True), "stop", provider_ms=1.0, attempts=1, model=self.name)


def ask_at_once(model: HeldModel, purpose: Purpose, now: dt.datetime) -> int:
    """One call for each of so many people, all in flight together; micro-USD spent in all."""
    metered = [metered_model(model, purpose=purpose, who=who, now=now) for who in range(THREADS)]

    def ask(one: MeteredModel) -> None:
        try:
            one.complete(REQUEST)
        except BudgetReached:
            model.arrived.release()

    threads = [threading.Thread(target=ask, args=(one,)) for one in metered]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert model.arrived.acquire(timeout=20)
    model.released.set()
    for thread in threads:
        thread.join()
    return sum(one.cost.micro_usd for one in metered)


@BOTH
def test_only_those_that_fit_are_asked(settings: Any, now: dt.datetime, purpose: Purpose) -> None:
    setattr(settings, SETTING[purpose], 2.5 * MOST / 1_000_000)
    model = HeldModel()
    assert ask_at_once(model, purpose, now) == 2 * MOST
    assert model.calls == 2


@BOTH
def test_control_without_the_reservation_they_overshoot(
    settings: Any, now: dt.datetime, purpose: Purpose, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A budget that only looks at what was spent when the call begins."""
    setattr(settings, SETTING[purpose], 2.5 * MOST / 1_000_000)
    reserve = counters.reserve
    monkeypatch.setattr(counters, "reserve", lambda name, amount, **options: reserve(name, amount=0, **options))
    assert ask_at_once(HeldModel(), purpose, now) == 4 * MOST > 2.5 * MOST


def test_what_one_spends_is_not_the_other_s(settings: Any, now: dt.datetime) -> None:
    settings.ASSISTANT_DAILY_BUDGET_USD = settings.AGENT_DAILY_BUDGET_USD = 4 * MOST / 1_000_000
    for purpose in SETTING:
        assert ask_at_once(HeldModel(), purpose, now) == 4 * MOST
