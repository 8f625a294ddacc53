"""Gathers a trail: a version or a run, what it stood on, and every line that was written since."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import groupby, pairwise
from typing import Any

from django.db.models import Count, Max, QuerySet

from evals.datasets.differences import changed_fields
from evals.datasets.revisions import spec_of
from evals.datasets.verification import verify_version
from evals.figures import say_fraction
from evals.models import Case, Dataset, DatasetVersion, GatePolicy, HeldOutOpening, ProductThreshold, Recording, Run, Scoring, Signature
from evals.reports.trail import Change, PastRun, Seal, Trail, say_moment
from evals.selectors.figures import stored_aggregates
from evals.selectors.held_out import held_out_of_version
from evals.selectors.reports import report_of

VERBS = {"+": "creó", "~": "cambió", "-": "quitó"}
NOT_TOLD = {"updated_at", "created_at", "id"}


def trail_of_run(run: Run, *, now: datetime) -> Trail:
    """What a run measured, with which exam and policy, and what changed since it began."""
    graded = run.scorings.aggregate(n=Count("id"))["n"]
    return _trail(
        run.version,
        since=run.created_at,
        now=now,
        report=report_of(run, every_row=False),
        run_by=str(run.created_by or ""),
        run_at=run.created_at,
        server=run.server,
        policy_by=_say_policy_author(run),
        gradings=graded,
        extra=_later_gradings(run),
    )


def trail_of_version(version: DatasetVersion, *, now: datetime) -> Trail:
    """What a version holds, who stands for it, its runs, and what changed since it was frozen."""
    return _trail(version, since=version.created_at, now=now, runs=tuple(_past_runs(version)))


def _trail(version: DatasetVersion, *, since: datetime, now: datetime, extra: Iterable[Change] = (), **more: Any) -> Trail:
    held_out = held_out_of_version(version, until=now)
    changes = sorted([*changes_since(version.dataset, since), *extra], key=lambda change: change.at)
    return Trail(
        dataset=version.dataset.slug,
        version=version.number,
        content_hash=version.content_hash,
        size=version.size,
        held_out=held_out.cases,
        openings=held_out.openings,
        frozen_at=version.created_at,
        broken=tuple(f"¡No coincide! {fault}." for fault in verify_version(version)),
        seal=_seal_of(version),
        since=since,
        changes=tuple(changes),
        **more,
    )


def _seal_of(version: DatasetVersion) -> Seal | None:
    signature = Signature.objects.filter(version=version).select_related("signed_by").first()
    if signature is None:
        return None
    return Seal(str(signature.signed_by), signature.signed_at, signature.reason, signature.content_hash, signature.health)


def _past_runs(version: DatasetVersion) -> Iterator[PastRun]:
    current = {scoring.run_id: scoring for scoring in Scoring.objects.filter(run__version=version, is_current=True)}
    for run in version.runs.select_related("created_by").order_by("pk"):
        scoring = current.get(run.pk)
        correct = stored_aggregates(scoring).get("correct") if scoring else None
        yield PastRun(
            run.pk, run.created_at, str(run.created_by or ""), run.model_kind, run.model_name, run.purpose, run.commit,
            str(run.get_status_display()), scoring.decision if scoring else "", say_fraction(correct) if correct else "—",
        )  # fmt: skip


def _say_policy_author(run: Run) -> str:
    """Who had last changed the policy, or one of its thresholds, when the run began."""
    policies = GatePolicy.history.filter(dataset=run.version.dataset_id, history_date__lte=run.created_at)
    thresholds = ProductThreshold.history.filter(policy__in=policies.values("id"), history_date__lte=run.created_at)
    lines = [line for rows in (policies, thresholds) if (line := rows.select_related("history_user").order_by("-history_id").first())]
    if not lines:
        return ""
    last = max(lines, key=lambda line: line.history_date)
    why = f": «{last.history_change_reason}»" if last.history_change_reason else ""
    return f"La había cambiado al último {last.history_user or 'un programa'} el {say_moment(last.history_date)}{why}"


# --- What was written since -------------------------------------------------------------------------------------------------


def changes_since(dataset: Dataset, since: datetime) -> list[Change]:
    """Cases, recordings, dataset, policy, thresholds, versions, signatures and openings, oldest first. Held-out cases tell who and when."""
    found = [
        *_case_changes(dataset, since),
        *_row_changes(Dataset, Dataset.history.filter(id=dataset.pk), since, "el dataset"),
        *_row_changes(GatePolicy, GatePolicy.history.filter(dataset=dataset), since, "la política"),
        *_row_changes(ProductThreshold, _thresholds_of(dataset), since, "un umbral"),
        *_recording_changes(dataset, since),
        *_version_changes(dataset, since),
        *_openings(dataset, since),
    ]
    return sorted(found, key=lambda change: change.at)


def _case_changes(dataset: Dataset, since: datetime) -> Iterator[Change]:
    """One for each person, moment, reason and kind of change, with the cases that it touched."""
    touched = Case.history.filter(dataset=dataset, history_date__gt=since).values("id")
    lines = Case.history.filter(id__in=touched).select_related("history_user").order_by("id", "history_id")
    closed = set(dataset.cases.filter(held_out=True).values_list("pk", flat=True))
    told = []
    for case_id, of_case in groupby(lines, key=lambda line: line.id):
        history = [None, *of_case]
        is_closed = case_id in closed or any(line is not None and line.held_out for line in history)
        told += [_tell(before, line, closed=is_closed) for before, line in pairwise(history) if line.history_date > since]
    told.sort(key=lambda pair: pair[0])
    for (at, by, what, why), group in groupby(told, key=lambda pair: pair[0]):
        keys = [key for _, key in group]
        yield Change(at, by, what, why, tuple(key for key in keys if key), keys.count(""))


def _tell(before: Any, line: Any, *, closed: bool) -> tuple[tuple[datetime, str, str, str], str]:
    """Moment, person, act and reason of a line of a case's history, and the case's key.

    A closed one keeps key, fields and reason; that it was held out, or let go, is told with its reason.
    """
    by, why = str(line.history_user or ""), line.history_change_reason or ""
    if not closed:
        return (line.history_date, by, _say_act(before, line), why), line.key
    if before is not None and [change.field for change in changed_fields(spec_of(before), spec_of(line))] == ["reservado"]:
        return (line.history_date, by, "reservó casos" if line.held_out else "soltó casos reservados", why), ""
    return (line.history_date, by, "cambió casos", ""), ""


def _say_act(before: Any, line: Any) -> str:
    if before is None:
        return f"creó casos, como {line.get_status_display()}"
    fields = [change.field for change in changed_fields(spec_of(before), spec_of(line))]
    status = [] if before.status == line.status else [f"pasan a {line.get_status_display()}"]
    return f"cambió casos ({', '.join(status + fields) or 'nada que se vea'})"


def _thresholds_of(dataset: Dataset) -> QuerySet[Any]:
    policies = GatePolicy.history.filter(dataset=dataset).values("id")
    return ProductThreshold.history.filter(policy__in=policies)


def _row_changes(model: Any, lines: QuerySet[Any], since: datetime, name: str) -> Iterator[Change]:
    """Old → new of each field, for rows that hold no secret."""
    ordered = lines.select_related("history_user").order_by("id", "history_id")
    for _, of_row in groupby(ordered, key=lambda line: line.id):
        for before, line in pairwise([None, *of_row]):
            if line.history_date > since:
                what = f"{VERBS[line.history_type]} {name} ({_say_row(model, before, line)})"
                yield Change(line.history_date, str(line.history_user or ""), what, line.history_change_reason or "")


def _say_row(model: Any, before: Any, line: Any) -> str:
    if before is None or line.history_type == "-":
        return str(line.instance)
    fields = [field for field in model._meta.concrete_fields if field.name not in NOT_TOLD]
    changed = [field for field in fields if getattr(before, field.attname) != getattr(line, field.attname)]
    said = [f"{field.verbose_name}: {getattr(before, field.attname)} → {getattr(line, field.attname)}" for field in changed]
    return ", ".join(said) or "quiénes firman"


def _recording_changes(dataset: Dataset, since: datetime) -> Iterator[Change]:
    rows = Recording.objects.filter(case__dataset=dataset, created_at__gt=since).select_related("case", "created_by").order_by("created_at")
    for recording in rows:
        what = f"{'corrigió' if recording.supersedes_id else 'agregó'} una grabación ({recording.set_name})"
        closed = recording.case.held_out
        keys, note = ((), "") if closed else ((recording.case.key,), recording.note)
        yield Change(recording.created_at, str(recording.created_by or ""), what, note, keys, int(closed))


def _version_changes(dataset: Dataset, since: datetime) -> Iterator[Change]:
    for version in dataset.versions.filter(created_at__gt=since):
        what = f"congeló v{version.number}, {version.size:,} casos, huella {version.content_hash[:12]}"
        yield Change(version.created_at, "", what)
    for signature in Signature.objects.filter(version__dataset=dataset, signed_at__gt=since).select_related("version", "signed_by"):
        yield Change(signature.signed_at, str(signature.signed_by), f"firmó v{signature.version.number}", signature.reason)


def _openings(dataset: Dataset, since: datetime) -> Iterator[Change]:
    """Openings of one person at one moment together."""
    rows = HeldOutOpening.objects.filter(case__dataset=dataset, opened_at__gt=since)
    grouped = rows.values_list("opened_at", "opened_by__username", "reason").annotate(n=Count("id"), last=Max("id")).order_by("last")
    for at, by, reason, count, _ in grouped:
        yield Change(at, by, "abrió casos reservados", reason, held_out=count)


def _later_gradings(run: Run) -> Iterator[Change]:
    """Gradings after the first one."""
    for scoring in run.scorings.select_related("created_by").order_by("pk")[1:]:
        said = f"calificó otra vez la corrida {run.pk}: {scoring.decision or 'sin veredicto'}"
        yield Change(scoring.created_at, str(scoring.created_by or ""), said)
