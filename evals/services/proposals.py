"""Writes of proposed cases: they wait for a person, and no version freezes them before."""

from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from django.db import transaction

from assistant.ledger import RecordedModel, record_calls
from assistant.llm import Model, ModelRequest, ModelResponse
from assistant.llm.catalog import cost_micro_usd
from assistant.llm.charges import reserved_usage
from assistant.models import Purpose
from evals.daily_budget import reserve_calls, settle_calls
from evals.datasets.rows import ParsedRow
from evals.models import Dataset
from evals.services.changes import Change
from evals.services.datasets import import_rows
from evals.values import CaseSpec


class NoBudgetLeft(Exception):  # noqa: N818 -- an answer of the domain, not a fault
    """What the desk may spend today does not cover the call."""

    def __init__(self) -> None:
        super().__init__(f"La llamada no cabe en lo que queda de EVALS_DAILY_BUDGET_USD ({settings.EVALS_DAILY_BUDGET_USD}) de hoy.")


@transaction.atomic
def store_proposals(*, dataset: Dataset, specs: Sequence[CaseSpec], change: Change, limit: int) -> int:
    """Adds the first `limit` cases that are new as proposed, and says how many: neither key nor text may stand in the dataset already."""
    Dataset.objects.select_for_update().get(pk=dataset.pk)
    keys = set(dataset.cases.values_list("key", flat=True))
    texts = {text.casefold() for text in dataset.cases.values_list("text", flat=True)}
    fresh: list[CaseSpec] = []
    for spec in specs:
        if spec.key not in keys and spec.text.casefold() not in texts:
            fresh.append(spec)
            keys.add(spec.key)
            texts.add(spec.text.casefold())
    rows = [ParsedRow(number, spec, ()) for number, spec in enumerate(fresh[:limit], 1)]
    return import_rows(dataset=dataset, rows=rows, change=change, approved=False).added


def buy_answer(*, request: ModelRequest, model: Model, reference: str, now: datetime) -> ModelResponse:
    """The model's answer, paid from the day's budget of the desk and kept in the ledger. Raises NoBudgetLeft, or the ModelError."""
    dearest = cost_micro_usd(model.name, reserved_usage(request), kind=model.kind).micro_usd
    if not reserve_calls([dearest], now=now):
        raise NoBudgetLeft
    metered = RecordedModel(model, purpose=Purpose.TARGET, now=now)
    try:
        return metered.complete(request)
    finally:
        with transaction.atomic():
            spent = sum(call.cost_micro_usd for call in metered.calls)
            record_calls(metered.calls, reference=reference)
            settle_calls(reserved=dearest, actual=spent, at=now)
