"""Writes about runs: start, resume, cancel, retry, grade again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from assistant.llm.catalog import check_allowed
from assistant.llm.provider import provider_from_settings
from evals.datasets.revisions import read_spec, version_hash
from evals.datasets.selection import current_recording_ids, recording_sets
from evals.datasets.verification import verify_version
from evals.grading import Failure, close_scoring, marks_for, scores_of
from evals.metrics import metrics_hash
from evals.models import DatasetVersion, Result, Run, Score, Scoring
from evals.selectors import policy_of
from evals.targets import TARGETS, Target, TargetConfig, released_target
from evals.tasks import queue_help
from evals.values import Outcome

SCRIPTED = "scripted"
BASE_SET = "base"
BATCH = 500


class NotRunnable(Exception):  # noqa: N818 -- the configuration is at fault; the sentence says how to mend it
    """The run cannot start as asked. The text is for a person."""


class NothingToRun(NotRunnable):
    """No case is left for this purpose."""


class _ToRun(NamedTuple):
    revision_id: int
    recording_id: int | None


@dataclass(frozen=True, slots=True)
class RunConfig:
    """How to run a version. `model` is `scripted`, `scripted:SET` or a model's name; None takes the setting.

    A target that asks no model leaves `model` at its default; without a `variant` it is the one that production uses.
    """

    model: str = SCRIPTED
    target: str = "booking-assistant"
    variant: str = ""
    temperature: float | None = None
    repetitions: int = 1
    concurrency: int | None = None
    purpose: Literal["iteration", "release"] = "iteration"
    commit: str = ""
    max_cost_micro_usd: int | None = None
    queue: bool = False

    @property
    def kind(self) -> Run.Kind:
        """What kind of run it will be."""
        if not TARGETS[self.target].asks_model:
            return Run.Kind.RULES
        return Run.Kind.SCRIPTED if self.recording_set else Run.Kind.REAL

    @property
    def prompt_variant(self) -> str:
        """The variant asked for, or the target's first."""
        return self.variant or TARGETS[self.target].variants[0]

    @property
    def recording_set(self) -> str:
        """The set to replay, or "" where nothing is replayed."""
        if not TARGETS[self.target].asks_model:
            return ""
        kind, _, name = self.model.partition(":")
        return (name or BASE_SET) if kind == SCRIPTED else ""


@transaction.atomic
def start_run(*, version: DatasetVersion, config: RunConfig, by: User | None, now: datetime) -> Run:
    """A run with everything that can change later copied in, and one pending result per case and repetition.

    With `config.queue`, help is asked for once the transaction commits. Raises NotRunnable, ForbiddenModel, ModelNotConfigured.
    """
    _check_version(version, config)
    _check_target(config)
    _check_release(version, config)
    revisions = _revisions_to_run(version, config)
    run = _new_run(version, config, by=by, now=now)
    run.expected_results = len(revisions) * config.repetitions
    run.save()
    _add_pending_results(run, revisions)
    _open_scoring(run, by=by, now=now)
    if config.queue:
        transaction.on_commit(lambda: queue_help(run.pk))
    return run


@transaction.atomic
def resume_run(
    *,
    run: Run,
    retry_errors: bool,
    by: User | None,
    now: datetime,
    commit: str = "",
    max_cost_micro_usd: int | None = None,
    queue: bool = False,
) -> Run:
    """Opens a stopped run again; with `retry_errors` its errors are asked again, and a closed run gets a new scoring.

    `commit` is what would answer now ("" when nobody can tell); a run goes on only with what it began with.
    `max_cost_micro_usd` is a new limit for the whole run; with `queue`, help is asked for on commit.
    Raises NotRunnable, ForbiddenModel, ModelNotConfigured.
    """
    run = Run.objects.select_for_update(of=("self",)).select_related("version__dataset").get(pk=run.pk)
    if run.status == Run.Status.CANCELLED:
        raise NotRunnable(f"La corrida {run.pk} se canceló: empieza otra.")
    retried = _reset_errors(run) if retry_errors else 0
    if run.status == Run.Status.FINISHED and not retried:
        return run
    if commit and run.commit and commit != run.commit:
        raise NotRunnable(f"La corrida {run.pk} empezó en el commit {run.commit} y este es {commit}: sus respuestas no se pueden mezclar.")
    if run.model_kind == Run.Kind.REAL:
        provider_from_settings(run.model_name)
    if run.status == Run.Status.FINISHED:
        _grade_again(run, by=by, now=now)
    if max_cost_micro_usd is not None:
        run.max_cost_micro_usd = max_cost_micro_usd
    if run.status != Run.Status.RUNNING:  # whoever works on it goes on
        run.status, run.finished_at = Run.Status.QUEUED, None
    run.save(update_fields=["status", "finished_at", "max_cost_micro_usd"])
    if queue:
        transaction.on_commit(lambda: queue_help(run.pk))
    return run


def cancel_run(*, run: Run) -> bool:
    """Ends an unfinished run for good: no case starts after it. False when it had already ended."""
    unfinished = Run.objects.filter(pk=run.pk).exclude(status__in=(Run.Status.FINISHED, Run.Status.CANCELLED))
    return bool(unfinished.update(status=Run.Status.CANCELLED))


@transaction.atomic
def rescore_run(*, run: Run, by: User | None, now: datetime) -> Scoring:
    """Grades a finished run again with today's metrics; the model is not called, the former scoring stays as history."""
    run = Run.objects.select_for_update().get(pk=run.pk)
    if run.status != Run.Status.FINISHED:
        raise NotRunnable(f"La corrida {run.pk} no ha terminado: no se puede volver a calificar todavía.")
    _grade_again(run, by=by, now=now)
    return close_scoring(run, now=now)


def _check_version(version: DatasetVersion, config: RunConfig) -> None:
    """A version that lost a case, or won one, is not what was frozen; a release rests on no case whose words were changed either."""
    if version_hash(version.revisions.values_list("full_hash", flat=True)) != version.content_hash:
        raise NotRunnable(f"Los casos de {version} ya no son los que se congelaron: congela una versión nueva.")
    if config.purpose == Run.Purpose.RELEASE and (faults := verify_version(version)):
        hint = f"«manage.py dataset_verify {version.dataset}» nombra cada fila que no coincide."
        raise NotRunnable(f"Lo guardado de {version} no da sus huellas, y nada se publica con ella: {faults[0]}. {hint}")


def _check_target(config: RunConfig) -> None:
    if config.target not in TARGETS:
        raise NotRunnable(f"No existe el sistema «{config.target}». Existen: {', '.join(TARGETS)}.")
    variants = TARGETS[config.target].variants
    if config.prompt_variant not in variants:
        raise NotRunnable(f"No existe la variante de prompt «{config.variant}». Existen: {', '.join(variants)}.")
    if config.kind == Run.Kind.RULES and config.model != SCRIPTED:
        raise NotRunnable(f"El sistema «{config.target}» son reglas y no usa ningún modelo: corre sin --model.")


def _check_release(version: DatasetVersion, config: RunConfig) -> None:
    """A release run measures what goes out, not a variant of it."""
    if config.purpose != Run.Purpose.RELEASE:
        return
    if config.recording_set not in ("", BASE_SET):
        raise NotRunnable(f"Una corrida para publicar con guion usa el juego «{BASE_SET}».")
    for what, asked, released in _what_goes_out(version, config):
        if asked != released:
            raise NotRunnable(f"Una corrida para publicar usa {what}: «{released}».")


def _what_goes_out(version: DatasetVersion, config: RunConfig) -> Iterator[tuple[str, str | float, str | float]]:
    """What it is, what was asked for, and what production has."""
    how = f"el sistema del dataset tal como sale, con ASSISTANT_QUICK={settings.ASSISTANT_QUICK:d}"
    yield how, config.target, released_target(version.dataset.target)
    yield "la variante de prompt que sale", config.prompt_variant, TARGETS[config.target].variants[0]
    if config.kind == Run.Kind.REAL:
        yield "el modelo que sale, LLM_MODEL", config.model, settings.LLM_MODEL
        yield "la temperatura que sale, LLM_TEMPERATURE", _temperature(config), settings.LLM_TEMPERATURE


def _revisions_to_run(version: DatasetVersion, config: RunConfig) -> list[_ToRun]:
    """In the order of the keys, with the recording to replay. Held-out cases run only for a release."""
    revisions = version.revisions.order_by("case__key")
    if config.purpose != Run.Purpose.RELEASE:
        revisions = revisions.exclude(traits__has_key="held_out").exclude(case__held_out=True)
    rows = list(revisions.values_list("pk", "case_id"))
    if not rows:
        raise NothingToRun(f"La versión {version} no tiene casos que correr.")
    if config.kind != Run.Kind.SCRIPTED:
        return [_ToRun(revision, None) for revision, _ in rows]
    recordings = current_recording_ids(version.dataset, set_name=config.recording_set)
    if not any(case in recordings for _, case in rows):
        known = ", ".join(recording_sets(version.dataset)) or "ninguno"
        raise NotRunnable(f"Ningún caso de {version} tiene grabación en el juego «{config.recording_set}». Juegos que existen: {known}.")
    return [_ToRun(revision, recordings.get(case)) for revision, case in rows]


def _new_run(version: DatasetVersion, config: RunConfig, *, by: User | None, now: datetime) -> Run:
    policy = policy_of(version.dataset)
    temperature = _temperature(config)
    target = _target(config, temperature=temperature, now=now)
    return Run(
        version=version,
        target=config.target,
        model_kind=config.kind,
        **_model_fields(config),
        recording_set=config.recording_set,
        prompt_variant=config.prompt_variant,
        prompt_hash=target.prompt_hash(),
        system_prompt=target.system_prompt(),
        temperature=temperature,
        max_tokens=settings.LLM_MAX_TOKENS,
        repetitions=config.repetitions,
        concurrency=config.concurrency or settings.EVALS_CONCURRENCY,
        purpose=config.purpose,
        commit=config.commit,
        policy=policy and policy.as_row(),
        max_cost_micro_usd=config.max_cost_micro_usd,
        created_by=by,
        created_at=now,
    )


def _temperature(config: RunConfig) -> float:
    if config.kind == Run.Kind.RULES:
        return 0.0
    return settings.LLM_TEMPERATURE if config.temperature is None else config.temperature


def _target(config: RunConfig, *, temperature: float, now: datetime) -> Target:
    how = TargetConfig.as_in_production(config.prompt_variant, temperature, settings.LLM_MAX_TOKENS, now)
    return TARGETS[config.target](how)


def _model_fields(config: RunConfig) -> dict[str, str]:
    """Name and server of the model. Refuses here, before any row is written, what every call would refuse."""
    if config.kind == Run.Kind.RULES:
        return {"model_name": config.target}
    if config.recording_set:
        return {"model_name": SCRIPTED}
    check_allowed(config.model)
    provider = provider_from_settings(config.model)
    return {"model_name": provider.name, "server": provider.server}


def _add_pending_results(run: Run, revisions: Sequence[_ToRun]) -> None:
    """Repetition by repetition, so that an interrupted run has seen every case before any twice."""
    for turn in range(1, run.repetitions + 1):
        for start in range(0, len(revisions), BATCH):
            Result.objects.bulk_create(
                Result(run=run, revision_id=row.revision_id, recording_id=row.recording_id, repetition=turn)
                for row in revisions[start : start + BATCH]
            )


def _open_scoring(run: Run, *, by: User | None, now: datetime) -> Scoring:
    Scoring.objects.filter(run=run, is_current=True).update(is_current=False)
    return Scoring.objects.create(run=run, metrics_hash=metrics_hash(), created_by=by, created_at=now)


def _reset_errors(run: Run) -> int:
    """Errors become pending again; their scores go with them, unless the scoring has closed."""
    errors = run.results.filter(status=Result.Status.ERROR)
    Score.objects.filter(result__in=errors, scoring__closed_at__isnull=True).delete()
    return errors.update(status=Result.Status.PENDING, error_cause="", error_detail="", attempts=None, finished_at=None)


def _grade_again(run: Run, *, by: User | None, now: datetime) -> None:
    """A new current scoring with the stored answers graded; rows that are to be asked again come later."""
    scoring = _open_scoring(run, by=by, now=now)
    scores: list[Score] = []
    for result in run.results.exclude(status=Result.Status.PENDING).select_related("revision").iterator(chunk_size=BATCH):
        answer = Outcome.from_row(result.outcome) if result.outcome else Failure(result.error_cause, result.error_detail)
        scores += scores_of(scoring.pk, result.pk, marks_for(read_spec(result.revision), answer))
        if len(scores) >= BATCH:
            Score.objects.bulk_create(scores)
            scores = []
    Score.objects.bulk_create(scores)
