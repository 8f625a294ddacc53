"""What the rules without a model did: the baseline that a model must beat."""

from django.db.models import QuerySet

from evals.models import Result, Run, Score, Scoring
from evals.reports import RulesFigures
from evals.selectors.figures import stored_aggregates
from evals.statistics import wilson_interval
from evals.values import Aggregate


def rules_beside(run: Run) -> RulesFigures | None:
    """The figures of a run in which rules answer, or for a real model's run those of the newest finished rules run of the same version."""
    if run.model_kind == Run.Kind.RULES or _answered(run).exists():
        return _figures_of(run)
    if run.model_kind == Run.Kind.SCRIPTED:
        return None  # stored answers have nothing to beat
    of_version = Run.objects.filter(version=run.version_id, model_kind=Run.Kind.RULES, status=Run.Status.FINISHED)
    baseline = of_version.order_by("-pk").first()
    return _figures_of(baseline) if baseline else None


def _figures_of(run: Run) -> RulesFigures:
    """Counts cases, not rows: the rules say the same in every repetition."""
    asked = run.results.filter(repetition=1, status=Result.Status.DONE).count()
    answered = _answered(run).filter(repetition=1)
    wrong = Score.objects.filter(scoring__run=run, scoring__is_current=True, metric="correct", value=0, result__in=answered).count()
    scoring = Scoring.objects.get(run=run, is_current=True)
    return RulesFigures(
        run_id=run.pk,
        answered=_share("rules_answered", "Pedidos que responden las reglas", answered.count(), asked, higher_is_better=True),
        wrong=_share("rules_wrong", "Respuestas equivocadas de las reglas", wrong, answered.count(), higher_is_better=False),
        correct=stored_aggregates(scoring).get("correct") if run.model_kind == Run.Kind.RULES else None,
    )


def _answered(run: Run) -> QuerySet[Result]:
    return run.results.filter(status=Result.Status.DONE, outcome__trace__quick=True)


def _share(metric: str, label: str, count: int, n: int, *, higher_is_better: bool) -> Aggregate:
    low, high = wilson_interval(count, n) if n else (None, None)
    return Aggregate(metric, "share", count / n if n else None, count if n else None, n, 0, low, high, higher_is_better, label=label)
