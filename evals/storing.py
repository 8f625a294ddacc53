"""What came of a row, written while its lease holds: an answer, an error, or a failure that the row will be asked again after."""

from datetime import datetime
from typing import Any

from evals.claims import hold_result
from evals.grading import Failure
from evals.in_flight import Claimed
from evals.models import Result
from evals.values import Outcome, storable_text


def write_result(row: Claimed, answer: Outcome | Failure, *, now: datetime) -> bool:
    """False when the lease was lost in the meantime. A postponed row is pending again, and keeps that it was asked before, and when."""
    facts = _answered(answer) if isinstance(answer, Outcome) else _postponed(answer) if answer.postponed else _failed(answer)
    closed = {"lease_token": "", "lease_until": None, "reserved_micro_usd": 0, "finished_at": now}
    return bool(hold_result(row.result_id, row.token).update(**facts, **closed))


def _postponed(failure: Failure) -> dict[str, Any]:
    return {"status": Result.Status.PENDING, "attempts": failure.attempts}


def _failed(failure: Failure) -> dict[str, Any]:
    detail = storable_text(failure.detail)
    return {"status": Result.Status.ERROR, "error_cause": failure.cause, "error_detail": detail, "attempts": failure.attempts}


def _answered(answer: Outcome) -> dict[str, Any]:
    return {
        "status": Result.Status.DONE,
        "outcome_kind": answer.kind,
        "outcome": answer.as_row(),
        "input_tokens": answer.spending.input_tokens,
        "output_tokens": answer.spending.output_tokens,
        "tokens_measured": answer.spending.measured,
        "latency_ms": answer.spending.latency_ms,
        "cost_micro_usd": answer.spending.cost_micro_usd,
        "price_known": answer.spending.price_known,
        "attempts": answer.spending.attempts,
    }
