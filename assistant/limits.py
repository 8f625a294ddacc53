"""Limits before spending: how often a person may ask, and what all of them may spend in a day. Without counters nobody asks."""

import datetime as dt
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from assistant.llm import (
    Model,
    ModelBadResponse,
    ModelError,
    ModelRequest,
    ModelResponse,
    ModelResponseTooLarge,
    ModelTimeout,
    Usage,
    estimate_usage,
)
from assistant.llm.catalog import Cost, cost_micro_usd
from kallpa import counters

logger = logging.getLogger(__name__)

MINUTE_S, DAY_S = 60, 86_400
BUDGET = "assistant-budget"
# The provider may have done the work and charge for it, although the answer did not reach us.
PERHAPS_CHARGED = (ModelTimeout, ModelBadResponse, ModelResponseTooLarge)


class LimitReached(Exception):  # noqa: N818 -- an answer, not a fault
    """This person has asked often enough; `retry_after_s` says when there is room again."""

    def __init__(self, *, member_id: int, retry_after_s: int) -> None:
        super().__init__(f"member {member_id}, again in {retry_after_s} s")
        self.retry_after_s = retry_after_s


class CountersClosed(ModelError):  # noqa: N818
    """The counters do not answer, so nobody knows what was spent: the assistant is closed."""

    cause = "counters-down"
    sentence = "No se puede contar lo que se gasta"


class BudgetReached(ModelError):  # noqa: N818
    """What this call could cost does not fit in the day's budget."""

    cause = "budget"
    sentence = "Se alcanzó el tope de gasto del día"


class TooManyAtOnce(ModelError):  # noqa: N818
    """This person is being answered, or this process waits for as many answers as it may: its other threads are for the bookings."""

    cause = "busy"
    sentence = "Hay demasiados pedidos en curso"


def admit(*, member_id: int, now: dt.datetime) -> None:
    """Counts one request of this person; raises LimitReached, or CountersClosed when it cannot be counted."""
    windows = (("minute", settings.ASSISTANT_PER_MINUTE, MINUTE_S), ("day", settings.ASSISTANT_PER_DAY, DAY_S))
    for window, limit, window_s in windows:
        try:
            permit = counters.hit(f"assistant-{window}", str(member_id), limit=limit, window_s=window_s, now=now)
        except counters.CountersDown as error:
            raise CountersClosed from error
        if not permit.allowed:
            raise LimitReached(member_id=member_id, retry_after_s=permit.retry_after_s)


class MeteredModel:
    """A model that reserves the most that a call may cost before it is made, and settles for what it did cost; `cost` adds up."""

    def __init__(self, model: Model, *, member_id: int, now: dt.datetime) -> None:
        self.name, self.kind = model.name, model.kind
        self.cost = Cost(0, price_known=True)
        self._model, self._member_id, self._now = model, member_id, now

    def complete(self, request: ModelRequest) -> ModelResponse:
        """The model's answer or its ModelError; BudgetReached, CountersClosed or TooManyAtOnce when it was not asked."""
        most = self._price(Usage(estimate_usage(request, "").input_tokens, request.max_tokens, measured=False))
        with places.take(self._member_id), self._reserved(most):
            try:
                response = self._model.complete(request)
            except PERHAPS_CHARGED:
                self.cost = most
                raise
            self.cost = self._price(response.usage)
            return response

    def _price(self, usage: Usage) -> Cost:
        return cost_micro_usd(self.name, usage, kind=self.kind)

    @contextmanager
    def _reserved(self, most: Cost) -> Iterator[None]:
        ceiling = int(settings.ASSISTANT_DAILY_BUDGET_USD * 1_000_000)
        try:
            fits = counters.reserve(BUDGET, amount=most.micro_usd, ceiling=ceiling, window_s=DAY_S, now=self._now)
        except counters.CountersDown as error:
            raise CountersClosed from error
        if not fits:
            raise BudgetReached
        try:
            yield
        finally:
            self._settle(most)

    def _settle(self, most: Cost) -> None:
        """An answer that was paid for is not lost because the counters went away meanwhile: the reservation stands."""
        try:
            counters.settle(BUDGET, reserved=most.micro_usd, actual=self.cost.micro_usd, window_s=DAY_S, now=self._now)
        except counters.CountersDown:
            logger.warning("a reservation of %s micro-USD stands: the counters do not answer", most.micro_usd)


class _Places:
    """Who waits for an answer in this process: at most `most` people, each once."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, threading.Lock()
        self._taken: set[int] = set()

    @contextmanager
    def take(self, member_id: int) -> Iterator[None]:
        """A place while the block runs; raises TooManyAtOnce at once, for to wait is to hold a thread."""
        with self._lock:
            if member_id in self._taken or len(self._taken) >= self._most:
                raise TooManyAtOnce
            self._taken.add(member_id)
        try:
            yield
        finally:
            with self._lock:
                self._taken.discard(member_id)


places = _Places(settings.ASSISTANT_CONCURRENCY)
