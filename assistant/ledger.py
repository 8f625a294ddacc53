"""The money ledger: one row for each call that was bought from a provider. What it cost and what it was for, never what was said."""

import datetime as dt
import time

from django.conf import settings

from assistant.llm import Model, ModelBadResponse, ModelError, ModelRequest, ModelResponse
from assistant.llm.charges import charge_cost, charge_usage
from assistant.models import ModelCall, Purpose

PRUNE_BATCH = 500


class _Crashed(ModelBadResponse):
    """A bug of ours after which nobody knows what the provider did: it counts as an answer that was lost."""

    cause = "crash"


class RecordedModel:
    """A model that keeps an unsaved ledger row of each call in `calls`. Scripted answers were not bought and leave none.

    For one thread at a time; nothing here touches the database. `record_calls` stores the rows.
    """

    def __init__(self, model: Model, *, purpose: Purpose, now: dt.datetime, prompt_hash: str = "") -> None:
        self.name, self.kind = model.name, model.kind
        self.calls: list[ModelCall] = []
        self._model, self._purpose, self._now, self._prompt_hash = model, purpose, now, prompt_hash

    def complete(self, request: ModelRequest) -> ModelResponse:
        """The model's answer or its ModelError; either way the call is noted."""
        started = time.perf_counter()
        try:
            response = self._model.complete(request)
        except ModelError as error:
            self._note(request, error, started)
            raise
        except Exception:
            self._note(request, _Crashed(), started)
            raise
        self._note(request, response, started)
        return response

    def _note(self, request: ModelRequest, outcome: ModelResponse | ModelError, started: float) -> None:
        if self.kind == "real" and (isinstance(outcome, ModelResponse) or outcome.asked):
            call = build_call(self._model, request, outcome, purpose=self._purpose, now=self._now)
            call.latency_ms = round((time.perf_counter() - started) * 1_000)
            call.prompt_hash = self._prompt_hash
            self.calls.append(call)


def build_call(
    model: Model, request: ModelRequest, outcome: ModelResponse | ModelError, *, purpose: Purpose, now: dt.datetime
) -> ModelCall:
    """The unsaved row of one call. `now` is when its money was reserved, so that ledger and budget speak of the same day."""
    usage, cost = charge_usage(request, outcome), charge_cost(model.name, request, outcome, kind=model.kind)
    return ModelCall(
        created_at=now,
        purpose=purpose,
        model=model.name,
        server=getattr(model, "server", "")[:255],
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        tokens_measured=usage.measured,
        cost_micro_usd=cost.micro_usd,
        price_known=cost.price_known,
        latency_ms=round(outcome.provider_ms) if isinstance(outcome, ModelResponse) else 0,
        attempts=max(1, outcome.attempts),
        outcome=ModelCall.OK if isinstance(outcome, ModelResponse) else outcome.cause,
    )


def record_calls(calls: list[ModelCall], *, reference: str) -> None:
    """Stores the rows under one reference, such as "interaction:7", and empties the list: none lands twice."""
    for call in calls:
        call.reference = reference
    ModelCall.objects.bulk_create(calls)
    calls.clear()


def prune_calls(*, now: dt.datetime) -> int:
    """Deletes what is older than LEDGER_RETENTION_DAYS, a batch at a time, and says how many calls went. May run twice."""
    old = ModelCall.objects.filter(created_at__lt=now - dt.timedelta(days=settings.LEDGER_RETENTION_DAYS)).order_by("pk")
    deleted = 0
    while batch := list(old.values_list("pk", flat=True)[:PRUNE_BATCH]):
        deleted += ModelCall.objects.filter(pk__in=batch).delete()[0]
    return deleted
