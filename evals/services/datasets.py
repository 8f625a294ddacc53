"""Writes on datasets: import rows, freeze and sign a version, correct a recording."""

from collections.abc import Sequence
from datetime import datetime
from types import EllipsisType
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from simple_history.utils import bulk_create_with_history

from evals.datasets.export import spec_of_recording
from evals.datasets.revisions import BATCH, fields_of, keep_held_out, revise_cases, version_hash
from evals.datasets.rows import ParsedRow, RecordingSpec
from evals.datasets.selection import in_signed_versions, latest_version
from evals.datasets.verification import verify_version
from evals.models import Case, Dataset, DatasetVersion, Recording, Signature
from evals.selectors import closed_to, health_report
from evals.services.cases import NotAnApprover, may_approve
from evals.services.changes import Change, demand_reason, words_of
from evals.services.held_out import HeldOutClosed

WRITTEN_BY_IMPORT = [
    field.name for field in Case._meta.concrete_fields if field.name not in {"id", "dataset", "key", "created_at"}
]  # one INSERT … ON CONFLICT: bulk_update's CASE WHEN takes ten times as long


class ImportSummary(NamedTuple):
    """How many cases an import touched. A case whose recordings alone changed counts as changed."""

    added: int
    changed: int
    unchanged: int


class NothingToFreeze(Exception):  # noqa: N818 -- an answer of the domain, not a fault
    """A version needs at least one approved case."""

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(f"«{dataset}» no tiene ningún caso aprobado: aprueba al menos uno antes de congelar una versión.")


class NotTheOwner(Exception):  # noqa: N818 -- an answer of the domain, not a fault
    """Only the dataset's owner, or a delegate, signs its versions."""

    def __init__(self, dataset: Dataset, by: User) -> None:
        owner = f"su dueño, {dataset.owner}" if dataset.owner else "su dueño, y el dataset todavía no tiene uno"
        delegates = ", ".join(str(person) for person in dataset.delegates.order_by("username"))
        super().__init__(f"{by} no puede firmar «{dataset}»: firma {owner}{f', o {delegates}' if delegates else ''}.")


class AlreadySigned(Exception):  # noqa: N818 -- an answer of the domain, not a fault
    """A version is signed once."""

    def __init__(self, version: DatasetVersion) -> None:
        super().__init__(f"La versión {version} ya está firmada; una firma no se cambia.")


class VersionBroken(Exception):  # noqa: N818 -- an answer of the domain, not a fault
    """What is stored of a version does not give its hashes: somebody went around the triggers."""

    def __init__(self, version: DatasetVersion, faults: Sequence[str]) -> None:
        super().__init__(
            f"La versión {version} no se firma, porque lo guardado no da sus huellas: {faults[0]}. Alguien cambió filas congeladas: "
            f"avisa a quien cuida la base de datos. «manage.py dataset_verify {version.dataset}» nombra cada fila que no coincide."
        )


class AlreadySuperseded(Exception):  # noqa: N818 -- an answer of the domain, not a fault
    """Somebody corrected this recording before; the newest one of the chain is the one to correct."""

    def __init__(self, recording: Recording) -> None:
        super().__init__(f"La grabación {recording.pk} ({recording}) ya fue reemplazada: corrige la vigente.")


class NothingToCorrect(Exception):  # noqa: N818 -- an answer of the domain, not a fault
    """The correction says what the recording says already."""

    def __init__(self, recording: Recording) -> None:
        super().__init__(f"La grabación {recording.pk} ya dice eso: cambia el texto o la marca.")


# --- Import ---------------------------------------------------------------------------------------------------------------


@transaction.atomic
def import_rows(*, dataset: Dataset, rows: Sequence[ParsedRow], change: Change, approved: bool = False) -> ImportSummary:
    """Adds and changes cases by key, all or nothing. Cases that the file leaves out stay as they are, and retired ones stay retired.

    A held-out case stays held out, whatever the file says. New cases begin as proposed, and an approved case that the file changes
    goes back to it; with `approved` new ones and those that change (a proposed one too) are approved, unless in this dataset another
    person approves; what the file does not change stays as it is. What a person imports counts
    as written by them. Raises NotAnApprover when `approved` is asked by nobody or by who may not approve, ReasonMissing when a case
    of a signed version would change without a reason, and HeldOutClosed when a person brings a held-out case that they have not open.
    """
    if approved and not may_approve(change.by):
        raise NotAnApprover(dataset, change.by)
    dataset = Dataset.objects.select_for_update().get(pk=dataset.pk)
    approved = approved and not dataset.second_person_approves
    live = {case.key: case for case in dataset.cases.all()}
    _refuse_closed(dataset, [live[row.spec.key] for row in rows if row.spec.key in live], change)
    added = [row for row in rows if row.spec.key not in live]
    changed = [live[row.spec.key] for row in rows if row.spec.key in live and _rewrite(live[row.spec.key], row)]
    _confirm_answers([live[row.spec.key] for row in rows if row.spec.key in live], change)
    _save_changed(changed, change, approved)
    created = _create_cases(dataset, added, change, approved)
    live |= {case.key: case for case in created}
    with_new_recordings = _store_recordings(rows, live, _current_by_case_and_set(dataset), change.by)
    touched = ({case.key for case in changed} | with_new_recordings) - {case.key for case in created}
    return ImportSummary(len(added), len(touched), len(rows) - len(added) - len(touched))


def _refuse_closed(dataset: Dataset, cases: Sequence[Case], change: Change) -> None:
    """Also where the row says what the case says: «unchanged» would confirm a guess."""
    held_out = [case.key for case in cases if case.held_out]
    closed = closed_to(change.by, dataset, now=change.now) if held_out else set()
    if brought := [key for key in held_out if key in closed]:
        raise HeldOutClosed(brought)


def _rewrite(case: Case, row: ParsedRow) -> bool:
    """Puts what the row says into the case, not saved; False when it says so already."""
    said = fields_of(keep_held_out(row.spec, held_out=case.held_out))
    differing = {name: value for name, value in said.items() if getattr(case, name) != value}
    for name, value in differing.items():
        setattr(case, name, value)
    return bool(differing)


def _confirm_answers(cases: Sequence[Case], change: Change) -> None:
    """A person who brings a file says that its right answers are right, also where it changes nothing."""
    waiting = [case.pk for case in cases if case.answer_written_at is None] if change.by else []
    for start in range(0, len(waiting), BATCH):
        Case.objects.filter(pk__in=waiting[start : start + BATCH]).update(answer_written_at=change.now)


def _save_changed(cases: Sequence[Case], change: Change, approved: bool) -> None:
    if in_signed_versions([case.pk for case in cases]):
        demand_reason(change.reason, "El archivo cambia casos de una versión firmada, y eso necesita un motivo")
    for case in cases:
        case.author = change.by
        case.answer_written_at = change.now if change.by else case.answer_written_at
        if case.status != Case.Status.RETIRED:
            case.status = Case.Status.APPROVED if approved else Case.Status.PROPOSED
    if cases:
        Case.objects.bulk_create(cases, update_conflicts=True, unique_fields=["id"], update_fields=WRITTEN_BY_IMPORT)
        Case.history.bulk_history_create(cases, update=True, **words_of(change))


def _create_cases(dataset: Dataset, rows: Sequence[ParsedRow], change: Change, approved: bool) -> list[Case]:
    common = {
        "dataset": dataset,
        "status": Case.Status.APPROVED if approved else Case.Status.PROPOSED,
        "author": change.by,
        "answer_written_at": change.now if change.by else None,
    }
    cases = [Case(**common, **fields_of(row.spec)) for row in rows]
    return bulk_create_with_history(cases, Case, **words_of(change)) if cases else []


def _store_recordings(
    rows: Sequence[ParsedRow], live: dict[str, Case], current: dict[tuple[int, str], Recording], by: User | None
) -> set[str]:
    """Appends the recordings that say something new; returns the keys of their cases."""
    fresh = []
    for row in rows:
        case = live[row.spec.key]
        for spec in row.recordings:
            before = current.get((case.pk, spec.set_name))
            if before is None or spec_of_recording(before) != spec:
                fresh.append(_unsaved_recording(case, spec, supersedes=before, by=by))
    Recording.objects.bulk_create(fresh)
    return {recording.case.key for recording in fresh}


def _current_by_case_and_set(dataset: Dataset) -> dict[tuple[int, str], Recording]:
    rows = Recording.objects.filter(case__dataset=dataset, superseded_by__isnull=True)
    return {(recording.case_id, recording.set_name): recording for recording in rows}


def _unsaved_recording(case: Case, spec: RecordingSpec, *, supersedes: Recording | None, by: User | None) -> Recording:
    return Recording(
        case=case,
        set_name=spec.set_name,
        text=spec.text,
        invalid=spec.invalid,
        origin=spec.origin,
        note=spec.note,
        supersedes=supersedes,
        created_by=by,
    )


# --- Versions -------------------------------------------------------------------------------------------------------------


@transaction.atomic
def freeze_version(*, dataset: Dataset, by: User | None) -> DatasetVersion:
    """The approved cases as a numbered version, which keeps who froze it; the latest one if it says the same. Raises NothingToFreeze."""
    Dataset.objects.select_for_update().get(pk=dataset.pk)
    revisions = revise_cases(dataset.cases.filter(status=Case.Status.APPROVED).order_by("id"))
    if not revisions:
        raise NothingToFreeze(dataset)
    latest, content_hash = latest_version(dataset), version_hash(revision.full_hash for revision in revisions)
    if latest and latest.content_hash == content_hash:
        return latest
    number = latest.number + 1 if latest else 1
    version = DatasetVersion.objects.create(dataset=dataset, number=number, content_hash=content_hash, size=len(revisions), created_by=by)
    version.revisions.add(*revisions)
    return version


def may_sign(dataset: Dataset, person: User) -> bool:
    """True for the owner and for delegates, and for nobody else, whatever their permissions."""
    return dataset.owner_id == person.pk or dataset.delegates.filter(pk=person.pk).exists()


def sign_version(*, version: DatasetVersion, by: User, reason: str, now: datetime) -> Signature:
    """The word of the owner or a delegate that this version is the exam, with its health as it stands.

    Its hashes are computed again first. Raises NotTheOwner, ReasonMissing, VersionBroken or AlreadySigned.
    """
    if not may_sign(version.dataset, by):
        raise NotTheOwner(version.dataset, by)
    demand_reason(reason, "Firmar una versión necesita un motivo")
    if faults := verify_version(version):
        raise VersionBroken(version, faults)
    signature = Signature(version=version, signed_by=by, signed_at=now, reason=reason.strip(), content_hash=version.content_hash)
    signature.health = health_report(version, now=now)
    try:
        with transaction.atomic():
            signature.save(force_insert=True)
            return signature
    except IntegrityError:
        raise AlreadySigned(version) from None


# --- Recordings -----------------------------------------------------------------------------------------------------------


def correct_recording(
    *, recording: Recording, note: str, by: User | None, text: str | None = None, invalid: bool | EllipsisType | None = ...
) -> Recording:
    """A new recording that supersedes this one; what is not given stays. Raises AlreadySuperseded, NothingToCorrect, ReasonMissing."""
    demand_reason(note, "Corregir una grabación necesita un motivo")
    new_text = recording.text if text is None else text
    mark = recording.invalid if isinstance(invalid, EllipsisType) else invalid
    if (new_text, mark) == (recording.text, recording.invalid):
        raise NothingToCorrect(recording)
    origin = recording.origin if new_text == recording.text else "hand"
    spec = RecordingSpec(new_text, recording.set_name, mark, origin, note.strip())
    correction = _unsaved_recording(recording.case, spec, supersedes=recording, by=by)
    try:
        with transaction.atomic():
            correction.save()
    except IntegrityError:
        raise AlreadySuperseded(recording) from None
    return correction
