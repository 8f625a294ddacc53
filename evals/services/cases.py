"""Writes on cases: what one says, and its life from proposed to retired. Each leaves a line of history."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.timezone import localtime

from evals.datasets.revisions import BATCH, fields_of, keep_held_out, spec_of
from evals.datasets.selection import in_signed_versions, stands_in_signed_version
from evals.models import Case, Dataset
from evals.services.changes import Change, ReasonMissing, demand_reason, note_change, words_of
from evals.values import CaseSpec

# Where a case may come from. A retired one is proposed again first, so that somebody reads it before it counts.
STEPS = {
    Case.Status.PROPOSED: (Case.Status.APPROVED, Case.Status.RETIRED),
    Case.Status.APPROVED: (Case.Status.PROPOSED,),
    Case.Status.RETIRED: (Case.Status.PROPOSED, Case.Status.APPROVED),
}
STEP_WORDS = {Case.Status.PROPOSED: "devolver a propuesto", Case.Status.APPROVED: "aprobar", Case.Status.RETIRED: "retirar"}
IN_A_SIGNED_VERSION = "Este caso está en una versión firmada, y el cambio necesita un motivo"


class CaseNotMoved(Exception):  # noqa: N818 -- an answer of the domain, not a fault
    """A case does not take this step of its life; says why and what to do."""


class WrongStep(CaseNotMoved):
    """The step does not begin where the case is."""

    def __init__(self, case: Case, to: Case.Status) -> None:
        hint = " Devuélvelo antes a propuesto." if (case.status, to) == (Case.Status.RETIRED, Case.Status.APPROVED) else ""
        super().__init__(f"«{case}» está {case.get_status_display()}: no se puede {STEP_WORDS[to]}.{hint}")


class NotAnApprover(CaseNotMoved):
    """Approving takes a person with the permission."""

    def __init__(self, what: Case | Dataset, by: User | None) -> None:
        said = f"«{what}»" if isinstance(what, Case) else f"casos de «{what}»"
        super().__init__(f"{by or 'Un programa'} no puede aprobar {said}: hace falta una persona con permiso de aprobar.")


class OwnWork(CaseNotMoved):
    """In this dataset the author of a case is not the one who approves it."""

    def __init__(self, case: Case) -> None:
        super().__init__(f"«{case}» lo escribiste o cambiaste tú al último, y en «{case.dataset}» el autor no aprueba lo suyo.")


class AnswerNotWritten(CaseNotMoved):
    """Nobody has saved the right answer yet."""

    def __init__(self, case: Case) -> None:
        super().__init__(f"Ninguna persona ha guardado todavía lo correcto de «{case}»: ábrelo, léelo y guárdalo.")


class NothingToRevert(Exception):  # noqa: N818 -- an answer of the domain, not a fault
    """The case says already what it said then."""

    def __init__(self, case: Case) -> None:
        super().__init__(f"«{case}» ya dice lo mismo que entonces.")


class Moved(NamedTuple):
    """Keys of the cases that took the step, and (key, why) of those that did not."""

    moved: list[str]
    refused: list[tuple[str, str]]


# --- What a case says -------------------------------------------------------------------------------------------------------


@transaction.atomic
def save_case(*, case: Case, change: Change) -> Case:
    """Writes what a case says; a new one begins as proposed. Raises ReasonMissing.

    A held-out case stays held out: `let_go` is for that. Who may not approve, or may not approve their own, sends an approved case
    back to proposed by changing it.
    """
    if case.pk is None:
        case.status = Case.Status.PROPOSED
        return _write(case, change)
    stored = _lock(case)
    case.held_out = case.held_out or stored.held_out
    if spec_of(stored) == spec_of(case):
        return _confirm_answer(case, change)
    _demand_reason_in_signed(stored, change.reason)
    case.status = stored.status
    if stored.status == Case.Status.APPROVED and not _stays_approved(stored, change.by):
        case.status = Case.Status.PROPOSED
    return _write(case, change)


def check_case_change(*, case: Case, reason: str, approving: bool = False) -> None:
    """Raises ReasonMissing where `save_case` would, or `approve_case`, and writes nothing."""
    if case.pk and (approving or spec_of(Case.objects.get(pk=case.pk)) != spec_of(case)):
        _demand_reason_in_signed(case, reason)


def _write(case: Case, change: Change) -> Case:
    case.author = change.by
    case.answer_written_at = change.now if change.by else case.answer_written_at
    note_change(case, change)
    case.save()
    return case


def _confirm_answer(case: Case, change: Change) -> Case:
    """Who saves a case without changing it says that its right answer is right."""
    if change.by and case.answer_written_at is None:
        case.answer_written_at = change.now
        Case.objects.filter(pk=case.pk).update(answer_written_at=change.now)
    return case


def _stays_approved(case: Case, by: User | None) -> bool:
    return by is None or (by.has_perm("evals.approve_case") and not case.dataset.second_person_approves)


def _demand_reason_in_signed(case: Case, reason: str) -> None:
    if stands_in_signed_version(case):
        demand_reason(reason, IN_A_SIGNED_VERSION)


def _lock(case: Case) -> Case:
    return Case.objects.select_for_update(of=("self",)).select_related("dataset").get(pk=case.pk)


def spec_to_revert(case: Case, line: Any) -> CaseSpec:
    """What a case would say after going back to a line of its history: a held-out case stays held out."""
    return keep_held_out(spec_of(line), held_out=case.held_out)


@transaction.atomic
def revert_case(*, case: Case, line: Any, change: Change) -> Case:
    """Makes a case say what it said in a line of its history; its state of life stays. Raises ReasonMissing or NothingToRevert."""
    demand_reason(change.reason, "Volver a un estado anterior necesita un motivo")
    stored = _lock(case)
    before = spec_to_revert(stored, line)
    if before == spec_of(stored):
        raise NothingToRevert(stored)
    for name, value in fields_of(before).items():
        setattr(stored, name, value)
    return save_case(
        case=stored, change=change._replace(reason=f"Vuelve al {localtime(line.history_date):%d/%m/%Y %H:%M}. {change.reason}")
    )


# --- Proposed, approved, retired --------------------------------------------------------------------------------------------


def approve_case(*, case: Case, change: Change) -> Case:
    """From proposed to approved: it joins the next version. Raises CaseNotMoved or ReasonMissing."""
    return _move(case, Case.Status.APPROVED, change)


def retire_case(*, case: Case, change: Change) -> Case:
    """Takes a case out of the next version, with a reason; it is never deleted. Raises CaseNotMoved or ReasonMissing."""
    return _move(case, Case.Status.RETIRED, change)


def reopen_case(*, case: Case, change: Change) -> Case:
    """Back to proposed, with a reason. Raises CaseNotMoved or ReasonMissing."""
    return _move(case, Case.Status.PROPOSED, change)


@transaction.atomic
def move_cases(*, cases: Iterable[Case], to: Case.Status, change: Change) -> Moved:
    """Takes each case one step; the others do not wait for one that may not. A handful of queries for each BATCH of them."""
    wanted = [case.pk for case in cases]
    batches = [_move_batch(wanted[start : start + BATCH], to, change) for start in range(0, len(wanted), BATCH)]
    return Moved([key for batch in batches for key in batch.moved], [each for batch in batches for each in batch.refused])


def _move_batch(wanted: Sequence[int], to: Case.Status, change: Change) -> Moved:
    locked = Case.objects.select_for_update(of=("self",)).select_related("dataset").filter(pk__in=wanted).order_by("pk")
    signed, may_move, refused = in_signed_versions(wanted), [], []
    for case in locked:
        try:
            _check_step(case, to, change, signed=case.pk in signed)
            case.status = to
            may_move.append(case)
        except (CaseNotMoved, ReasonMissing) as error:
            refused.append((case.key, str(error)))
    _store_status(may_move, to, change)
    return Moved([case.key for case in may_move], refused)


def _store_status(cases: Sequence[Case], to: Case.Status, change: Change) -> None:
    Case.objects.filter(pk__in=[case.pk for case in cases]).update(status=to, updated_at=change.now)
    Case.history.bulk_history_create(cases, update=True, **words_of(change))


def _move(case: Case, to: Case.Status, change: Change) -> Case:
    with transaction.atomic():
        stored = _lock(case)
        _check_step(stored, to, change, signed=stands_in_signed_version(stored))
        stored.status = to
        note_change(stored, change)
        stored.save()
    return stored


def _check_step(case: Case, to: Case.Status, change: Change, *, signed: bool) -> None:
    if case.status not in STEPS[to]:
        raise WrongStep(case, to)
    if to != Case.Status.APPROVED:
        demand_reason(change.reason, f"Para {STEP_WORDS[to]} un caso hace falta un motivo")
        return
    _check_approver(case, change.by)
    if signed:
        demand_reason(change.reason, IN_A_SIGNED_VERSION)


def may_approve(by: User | None) -> bool:
    """Approving takes a person, and one with the permission."""
    return by is not None and by.has_perm("evals.approve_case")


def _check_approver(case: Case, by: User | None) -> None:
    if by is None or not may_approve(by):
        raise NotAnApprover(case, by)
    if case.dataset.second_person_approves and case.author_id == by.pk:
        raise OwnWork(case)
    if case.answer_written_at is None:
        raise AnswerNotWritten(case)
