"""Limits before spending: how often a person may ask, and what all of them may spend in a day. Without counters nobody asks."""

import datetime as dt
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from assistant.breaker import Breaker
from assistant.ledger import RecordedModel
from assistant.llm import Model, ModelError, ModelRequest, ModelResponse
from assistant.llm.catalog import Cost, cost_micro_usd
from assistant.llm.charges import reserved_usage
from assistant.models import ModelCall, Purpose
from kallpa import counters

logger = logging.getLogger(__name__)

MINUTE_S, DAY_S = 60, 86_400
# What shares a day's budget, and the setting that says how much it is. The evals' day is kept in the database: evals/claims.py.
BUDGETS = {Purpose.AGENT: ("agent-budget", "AGENT_DAILY_BUDGET_USD")}
ASSISTANT_BUDGET = ("assistant-budget", "ASSISTANT_DAILY_BUDGET_USD")


class LimitReached(Exception):  # noqa: N818 -- an answer, not a fault
    """This person has asked often enough; `retry_after_s` says when there is room again."""

    def __init__(self, *, member_id: int, retry_after_s: int) -> None:
        super().__init__(f"member {member_id}, again in {retry_after_s} s")
        self.retry_after_s = retry_after_s


class CountersClosed(ModelError):  # noqa: N818
    """The counters do not answer, so nobody knows what was spent: the assistant is closed."""

    cause = "counters-down"
    asked = False
    sentence = "No se puede contar lo que se gasta"


class BudgetReached(ModelError):  # noqa: N818
    """What this call could cost does not fit in the day's budget."""

    cause = "budget"
    asked = False
    sentence = "Se alcanzó el tope de gasto del día"


class TooManyAtOnce(ModelError):  # noqa: N818
    """This person is being answered, or this process waits for as many answers as it may: its other threads are for the bookings."""

    cause = "busy"
    asked = False
    sentence = "Hay demasiados pedidos en curso"


def admit(*, member_id: int, now: dt.datetime) -> None:
    """Counts one request of this person; raises LimitReached, or CountersClosed when it cannot be counted."""
    _take_permits("assistant", member_id, per_minute=settings.ASSISTANT_PER_MINUTE, per_day=settings.ASSISTANT_PER_DAY, now=now)


def admit_to_agent(*, user_id: int, now: dt.datetime) -> None:
    """Counts one task of somebody of the staff; raises LimitReached, or CountersClosed when it cannot be counted."""
    _take_permits("agent", user_id, per_minute=settings.AGENT_PER_MINUTE, per_day=settings.AGENT_PER_DAY, now=now)


def _take_permits(name: str, who: int, *, per_minute: int, per_day: int, now: dt.datetime) -> None:
    for window, limit, window_s in (("minute", per_minute, MINUTE_S), ("day", per_day, DAY_S)):
        try:
            permit = counters.hit(f"{name}-{window}", str(who), limit=limit, window_s=window_s, now=now)
        except counters.CountersDown as error:
            raise CountersClosed from error
        if not permit.allowed:
            raise LimitReached(member_id=who, retry_after_s=permit.retry_after_s)


class MeteredModel:
    """A model that reserves the most that a call may cost before it is made, and settles for what it did cost.

    `cost` adds up over its calls; `calls` are their unsaved ledger rows, for `record_calls`.
    """

    def __init__(
        self, model: Model, *, member_id: int, now: dt.datetime, purpose: Purpose = Purpose.ASSISTANT, prompt_hash: str = ""
    ) -> None:
        self.name, self.kind = model.name, model.kind
        self.cost = Cost(0, price_known=True)
        self._model = RecordedModel(model, purpose=purpose, now=now, prompt_hash=prompt_hash)
        self.calls = self._model.calls
        self._breaker = Breaker(model, now=now)
        self._who = member_id if purpose == Purpose.ASSISTANT else f"{purpose}:{member_id}"
        self._now = now
        self._budget, self._setting = BUDGETS.get(purpose, ASSISTANT_BUDGET)

    def complete(self, request: ModelRequest) -> ModelResponse:
        """The model's answer or its ModelError; BudgetReached, CountersClosed, TooManyAtOnce or CircuitOpen when it was not asked."""
        most = cost_micro_usd(self.name, reserved_usage(request), kind=self.kind).micro_usd
        with places.take(self._who), self._reserved(most), self._breaker.call():
            return self._model.complete(request)

    @contextmanager
    def _reserved(self, most: int) -> Iterator[None]:
        ceiling = int(getattr(settings, self._setting) * 1_000_000)
        try:
            fits = counters.reserve(self._budget, amount=most, ceiling=ceiling, window_s=DAY_S, now=self._now)
        except counters.CountersDown as error:
            raise CountersClosed from error
        if not fits:
            raise BudgetReached
        before = len(self.calls)
        try:
            yield
        finally:
            made = self.calls[before:]
            self._settle(most, sum(call.cost_micro_usd for call in made))
            self._add_up(made)

    def _add_up(self, made: list[ModelCall]) -> None:
        spent = sum(call.cost_micro_usd for call in made)
        self.cost = Cost(self.cost.micro_usd + spent, self.cost.price_known and all(call.price_known for call in made))

    def _settle(self, most: int, actual: int) -> None:
        """An answer that was paid for is not lost because the counters went away meanwhile: the reservation stands."""
        try:
            counters.settle(self._budget, reserved=most, actual=actual, window_s=DAY_S, now=self._now)
        except counters.CountersDown:
            logger.warning("a reservation of %s micro-USD stands: the counters do not answer", most)


def metered_model(model: Model, *, purpose: Purpose, who: int, now: dt.datetime, prompt_hash: str = "") -> MeteredModel:
    """The model as anything but a run of the desk may use it: the day's budget of its purpose, one call at a time for each `who`.

    `now` is one reservation's instant for all its calls. Store `calls` with `record_calls(metered.calls, reference="agent:3")`,
    also after an error; with `who` 0 nobody in particular asks.
    """
    return MeteredModel(model, member_id=who, now=now, purpose=purpose, prompt_hash=prompt_hash)


class _Places:
    """Who waits for an answer in this process: at most `most` people, each once."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, threading.Lock()
        self._taken: set[int | str] = set()

    @contextmanager
    def take(self, who: int | str) -> Iterator[None]:
        """A place while the block runs; raises TooManyAtOnce at once, for to wait is to hold a thread."""
        with self._lock:
            if who in self._taken or len(self._taken) >= self._most:
                raise TooManyAtOnce
            self._taken.add(who)
        try:
            yield
        finally:
            with self._lock:
                self._taken.discard(who)


places = _Places(settings.ASSISTANT_CONCURRENCY)
