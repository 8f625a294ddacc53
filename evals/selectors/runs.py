"""Runs beside runs: baselines, progress, who needs help."""

from datetime import datetime, timedelta

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from assistant.breaker import PASSING_CAUSES, Circuit
from evals.models import Dataset, GatePolicy, Result, Run, Scoring
from evals.selectors.figures import stored_aggregates
from evals.values import Aggregate, Decision, Policy, Threshold
from kallpa.circuits import Opening


def policy_of(dataset: Dataset) -> Policy | None:
    """The dataset's policy as it stands now."""
    row = GatePolicy.objects.filter(dataset=dataset).prefetch_related("thresholds").first()
    if row is None:
        return None
    kinds = {"scripted": row.needs_scripted, "real": row.needs_real}
    thresholds = (Threshold(limit.metric, limit.op, limit.value, limit.justification) for limit in row.thresholds.all())  # type: ignore[arg-type]
    return Policy(tuple(thresholds), tuple(kind for kind, needed in kinds.items() if needed), row.max_known_limitations)  # type: ignore[misc]


def baseline_run(run: Run) -> Run | None:
    """The newest earlier release run of a signed version that passed: same dataset, target, kind of model and prompt variant.

    Runs to iterate never become a baseline: a standard that moves with every try would let quality slide step by step.
    """
    passed = Scoring.objects.filter(run=OuterRef("pk"), is_current=True, decision=Decision.PASS)
    same = Run.objects.filter(
        version__dataset_id=run.version.dataset_id,
        target=run.target,
        model_kind=run.model_kind,
        prompt_variant=run.prompt_variant,
        purpose=Run.Purpose.RELEASE,
        version__signature__isnull=False,
        status=Run.Status.FINISHED,
        pk__lt=run.pk,
    )
    return same.filter(Exists(passed)).order_by("-pk").first()


def baseline_for(run: Run) -> dict[str, Aggregate] | None:
    """The aggregates of the baseline run, if there is one."""
    before = baseline_run(run)
    return None if before is None else stored_aggregates(Scoring.objects.get(run=before, is_current=True))


def progress_of(run: Run) -> dict[str, int]:
    """Results of a run by status; every status is a key."""
    counts = dict(run.results.values_list("status").annotate(n=Count("id")).order_by("status"))
    return {status.value: counts.get(status.value, 0) for status in Result.Status}


def is_dead(run: Run, *, now: datetime, grace: timedelta) -> bool:
    """True when a run says that it is running, and nobody has held a lease on it for `grace`."""
    if run.status not in (Run.Status.QUEUED, Run.Status.RUNNING):
        return False
    alive = run.results.filter(Q(lease_until__gte=now) | Q(finished_at__gte=now - grace))
    return not alive.exists() and now - run.created_at > grace


def outage_of(run: Run) -> Opening | None:
    """What this run waits for: an open circuit whose cause may pass."""
    opening = Circuit(run.model_name, run.server).find_opening() if run.model_kind == Run.Kind.REAL else None
    return opening if opening and opening.cause in PASSING_CAUSES else None


def runs_that_need_help(now: datetime) -> QuerySet[Run]:
    """Unfinished runs on which nobody holds a living lease: never begun, orphaned, or complete but not closed."""
    held = Result.objects.filter(run=OuterRef("pk"), status=Result.Status.CLAIMED, lease_until__gte=now)
    return Run.objects.filter(~Exists(held), status__in=(Run.Status.QUEUED, Run.Status.RUNNING)).order_by("pk")
