"""Gathers a trail: a version or a run, what it stood on, and every line that was written since."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.db.models import Count

from evals.datasets.verification import verify_version
from evals.figures import say_fraction
from evals.models import DatasetVersion, GatePolicy, ProductThreshold, Run, Scoring, Signature
from evals.reports.trail import Change, PastRun, Seal, Trail, say_moment
from evals.selectors.changes import changes_since
from evals.selectors.figures import stored_aggregates
from evals.selectors.held_out import held_out_of_version
from evals.selectors.reports import report_of
from evals.selectors.runs import policy_of


def trail_of_run(run: Run, *, now: datetime) -> Trail:
    """What a run measured, with which exam and policy, and what changed since it began, and before that since the version."""
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
    changes = sorted([*changes_since(version.dataset, version.created_at), *extra], key=lambda change: change.at)
    return Trail(
        dataset=version.dataset.slug,
        version=version.number,
        content_hash=version.content_hash,
        size=version.size,
        held_out=held_out.cases,
        openings=held_out.openings,
        frozen_at=version.created_at,
        frozen_by=str(version.created_by or ""),
        broken=tuple(f"¡No coincide! {fault}." for fault in verify_version(version)),
        seal=_seal_of(version),
        since=since,
        changes=tuple(change for change in changes if change.at > since),
        changes_before=tuple(change for change in changes if change.at <= since),
        policy_now=policy_of(version.dataset),
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


def _later_gradings(run: Run) -> Iterator[Change]:
    """Gradings after the first one."""
    for scoring in run.scorings.select_related("created_by").order_by("pk")[1:]:
        said = f"calificó otra vez la corrida {run.pk}: {scoring.decision or 'sin veredicto'}"
        yield Change(scoring.created_at, str(scoring.created_by or ""), said)
