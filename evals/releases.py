"""May this commit go out? Reads the latest release runs and fails closed: what is not proven is not a yes."""

from datetime import datetime, timedelta
from enum import IntEnum
from typing import NamedTuple

from django.db.models import QuerySet

from evals.checkout import same_commit
from evals.datasets.selection import latest_version
from evals.models import Dataset, Run, Scoring
from evals.selectors import is_dead, outage_of, policy_of
from evals.values import Decision, ModelKind, policy_from_row, verdict_from_row

DEAD_AFTER = timedelta(minutes=5)
KIND_WORDS = {"scripted": "con guion", "real": "con modelo real", "rules": "con reglas sin modelo"}
OPEN_WORDS = {
    Run.Status.QUEUED: "todavía está en cola",
    Run.Status.RUNNING: "todavía está corriendo",
    Run.Status.INTERRUPTED: "quedó interrumpida",
    Run.Status.OVER_BUDGET: "se quedó sin presupuesto",
    Run.Status.CANCELLED: "se canceló",
}


class ExitCode(IntEnum):
    """What a command tells the shell."""

    PASSED = 0
    FAILED = 1
    MISUSED = 2
    INCOMPLETE = 3
    OVER_BUDGET = 4
    NOTHING_TO_RUN = 5
    INTERRUPTED = 130


class Answer(NamedTuple):
    """The gate's answer to CI: an exit code and one sentence; how many release runs this commit has had."""

    code: ExitCode
    sentence: str
    runs_of_commit: int = 0


def judge_release(dataset: Dataset, *, commit: str, max_age: timedelta | None, now: datetime) -> Answer:
    """The worst answer among the kinds of run that the policy needs and those that this commit has had. `commit` has 7 characters or more.

    A run that failed is not outweighed by one of another kind that passed.
    """
    policy = policy_of(dataset)
    if policy is None:
        return Answer(ExitCode.MISUSED, f"El dataset {dataset.slug} no tiene política: créala en el admin antes de preguntar.")
    runs = _release_runs(dataset)
    if not runs.exists():
        return Answer(ExitCode.NOTHING_TO_RUN, f"El dataset {dataset.slug} no tiene ninguna corrida para publicar.")
    of_commit = [run for run in runs if same_commit(commit, run.commit)]
    kinds = dict.fromkeys([*policy.release_kinds, *(run.model_kind for run in of_commit)])
    answers = [_judge_kind(kind, of_commit, runs, max_age=max_age, now=now) for kind in kinds]  # type: ignore[arg-type]
    worst = max(answers, key=_severity)
    sentence = worst.sentence if worst.code else " ".join(answer.sentence for answer in answers)
    return Answer(worst.code, sentence, runs_of_commit=len(of_commit))


def _release_runs(dataset: Dataset) -> QuerySet[Run]:
    runs = Run.objects.filter(version__dataset=dataset, purpose=Run.Purpose.RELEASE).order_by("-pk")
    return runs.select_related("version__dataset", "version__signature")


def _severity(answer: Answer) -> int:
    """A proven failure outweighs what is not proven, which outweighs a pass."""
    return [ExitCode.PASSED, ExitCode.NOTHING_TO_RUN, ExitCode.INCOMPLETE, ExitCode.FAILED].index(answer.code)


def _judge_kind(kind: ModelKind, of_commit: list[Run], runs: QuerySet[Run], *, max_age: timedelta | None, now: datetime) -> Answer:
    run = next((run for run in of_commit if run.model_kind == kind), None)
    if run is None:
        other = next((run for run in runs if run.model_kind == kind), None)
        if other is None:
            return Answer(ExitCode.INCOMPLETE, f"La política exige una corrida {KIND_WORDS[kind]} para publicar, y no hay ninguna.")
        return Answer(
            ExitCode.INCOMPLETE,
            f"La última corrida {KIND_WORDS[kind]} para publicar ({other.pk}) es de otro commit: {other.commit or 'sin commit'}.",
        )
    return _judge_run(run, max_age=max_age, now=now)


def _judge_run(run: Run, *, max_age: timedelta | None, now: datetime) -> Answer:
    if run.status != Run.Status.FINISHED or run.finished_at is None:
        return Answer(ExitCode.INCOMPLETE, f"La última corrida de este commit ({run.pk}) {_say_open(run, now)}.")
    if not hasattr(run.version, "signature"):
        return Answer(ExitCode.INCOMPLETE, f"La corrida {run.pk} usó {run.version}, que nadie ha firmado.")
    signed = latest_version(run.version.dataset, signed=True)
    if signed != run.version:
        return Answer(ExitCode.INCOMPLETE, f"La corrida {run.pk} usó {run.version}, y la última firmada es {signed}: hay que correr esa.")
    if policy_from_row(run.policy) != policy_of(run.version.dataset):
        return Answer(ExitCode.INCOMPLETE, f"La política cambió después de la corrida {run.pk}: hay que correr de nuevo.")
    if max_age is not None and now - run.created_at > max_age:
        days = (now - run.created_at).days
        return Answer(ExitCode.INCOMPLETE, f"La corrida {run.pk} tiene {days} días y el máximo es {max_age.days}: hay que correr de nuevo.")
    return _read_verdict(run)


def _say_open(run: Run, now: datetime) -> str:
    outage = outage_of(run) if run.status in (Run.Status.QUEUED, Run.Status.RUNNING) else None
    if outage:
        return f"espera a que el modelo responda ({outage.cause})"
    return "parece muerta: nadie trabaja en ella" if is_dead(run, now=now, grace=DEAD_AFTER) else OPEN_WORDS[Run.Status(run.status)]


def _read_verdict(run: Run) -> Answer:
    verdict = verdict_from_row(Scoring.objects.get(run=run, is_current=True).verdict)
    decision = verdict.decision if verdict else Decision.INCONCLUSIVE
    codes = {Decision.PASS: ExitCode.PASSED, Decision.FAIL: ExitCode.FAILED, Decision.INCONCLUSIVE: ExitCode.INCOMPLETE}
    reason = verdict.reasons[0].text if verdict and verdict.reasons else ""
    return Answer(codes[decision], f"Corrida {run.pk} de {run.version} ({KIND_WORDS[run.model_kind]}): {decision}. {reason}".strip())
