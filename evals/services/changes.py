"""Who changes what is edited in place, when and why; the line of history is written with the row."""

from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import models

from evals.models import Dataset, GatePolicy, ProductThreshold

LEAST_REASON = 8


class Change(NamedTuple):
    """Who writes (None: a command without a person), when, and why. A blank reason is refused only where a service asks for one."""

    by: User | None
    now: datetime
    reason: str = ""


class ReasonMissing(Exception):  # noqa: N818 -- an answer of the domain, not a fault
    """What is being written needs a reason that others can read later."""

    def __init__(self, why: str = "") -> None:
        super().__init__(f"{why or 'Falta el motivo'}: escribe en una frase por qué, con {LEAST_REASON} letras o más.")


def demand_reason(reason: str, why: str) -> None:
    """Raises ReasonMissing, beginning with `why`, when the reason is blank or only a few letters."""
    if len(reason.strip()) < LEAST_REASON:
        raise ReasonMissing(why)


def note_change(row: models.Model, change: Change) -> None:
    """What the row's line of history will say; the next save writes it."""
    vars(row).update(_history_user=change.by, _history_date=change.now, _change_reason=change.reason.strip())


def save_edited(*, row: Dataset | GatePolicy | ProductThreshold, change: Change) -> None:
    """Saves a row with its line of history."""
    note_change(row, change)
    row.save()


def remove_threshold(*, threshold: ProductThreshold, change: Change) -> None:
    """Takes a threshold out of its policy; its history stays, and says who did it."""
    note_change(threshold, change)
    threshold.delete()


def words_of(change: Change) -> dict[str, Any]:
    """What many lines of history written at once will say."""
    return {"default_user": change.by, "default_date": change.now, "default_change_reason": change.reason.strip()}
