"""The one sequencer: claims pending results, asks the model in a thread pool, stores and grades, closes. No Celery here.

The database is the queue of record, so any number of helpers, in any process, may work on the same run. The main thread
does all the database work; the pool's threads only ask the model.
"""

import logging
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from assistant.ledger import RecordedModel
from assistant.llm import Model, ModelError, Usage
from assistant.llm.catalog import cost_micro_usd
from assistant.llm.provider import provider_from_settings
from assistant.llm.scripted import ScriptedModel
from assistant.models import Purpose
from evals.claims import Claim, claim_results, renew_leases, return_result, stop_over_budget, write_off
from evals.datasets.revisions import read_spec
from evals.effects import check_effect
from evals.grading import Failure, Marks, finish_if_complete, marks_for, scores_of
from evals.in_flight import Claimed, settle_rows
from evals.models import Result, Run, Score, Scoring
from evals.outages import Admission, Watch
from evals.storing import write_result
from evals.targets import TARGETS, Target, TargetConfig, stand_in
from evals.values import Outcome
from kallpa.away import is_away

logger = logging.getLogger(__name__)

CLAIM_AT_MOST = 50
STORE_AT_MOST = 50
STORE_AFTER_S = 0.5
CHARACTERS_PER_TOKEN_AT_WORST = 2  # a reservation must not be smaller than what the call then costs

Answer = Outcome | Failure


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a helper is given: the clock, a way to stop it, and who hears how many rows were stored."""

    clock: Callable[[], datetime]
    stop: threading.Event
    on_store: Callable[[int], None] = lambda count: None


def work(run_id: int, around: Surroundings) -> Run:
    """Helps a run until no row is left to claim, then closes it if it is complete. Harmless to call twice, or at once.

    Once `around.stop` is set, calls that have begun finish and are stored, and the other rows are given back.
    Raises WrongHelper, ModelNotConfigured and ForbiddenModel before anything is touched.
    """
    run = Run.objects.filter(pk=run_id, status__in=(Run.Status.QUEUED, Run.Status.RUNNING)).first()
    if run:
        helper = _Helper(run, around)
        Run.objects.filter(pk=run_id, status=Run.Status.QUEUED).update(status=Run.Status.RUNNING)
        helper.work()
    return finish_if_complete(run_id, now=around.clock())


class WrongHelper(Exception):  # noqa: N818 -- named after what it is
    """This process has another prompt or another model server than the run began with: its answers would not be the run's."""

    def __init__(self, run: Run, what: str) -> None:
        super().__init__(f"La corrida {run.pk} empezó con otro {what}: síguela desde el mismo código y configuración, o empieza otra.")


def target_for(run: Run) -> Target:
    """The run's target, set as the run says; whether a form is asked for is in the prompt's hash, which the helper compares."""
    how = TargetConfig.as_in_production(run.prompt_variant, run.temperature, run.max_tokens, run.created_at)
    return TARGETS[run.target](how)


class _Helper:
    """One helper of one run, for the time of one call of `work`."""

    def __init__(self, run: Run, around: Surroundings) -> None:
        self.run, self.around = run, around
        self.target = target_for(run)
        self.provider = provider_from_settings(run.model_name) if run.model_kind == Run.Kind.REAL else None
        if self.target.prompt_hash() != run.prompt_hash:
            raise WrongHelper(run, "prompt")
        if self.provider and self.provider.server != run.server:
            raise WrongHelper(run, "servidor del modelo")
        self.lease = timedelta(seconds=settings.EVALS_LEASE_S)
        self.window = 2 * run.concurrency if self.provider else CLAIM_AT_MOST  # asked, or waiting for a free thread
        self.store_at = min(run.concurrency if self.provider else CLAIM_AT_MOST, STORE_AT_MOST)
        self.in_flight: dict[Future[Answer], Claimed] = {}
        self.answered: list[tuple[Claimed, Answer]] = []
        self.watch = Watch(self.provider)
        self.stored_at = self.renewed_at = around.clock()

    def work(self) -> None:
        pool = ThreadPoolExecutor(self.run.concurrency, thread_name_prefix=f"run-{self.run.pk}")
        try:
            while self._fill(pool) or self.in_flight or self.answered or self.watch.doubtful:
                self._collect()
                self._store_when_due()
                self._renew_when_due()
        finally:
            pool.shutdown(cancel_futures=True)

    def _fill(self, pool: ThreadPoolExecutor) -> bool:
        """Claims rows before the pool runs dry; true if it got some. Answers that wait to be stored hold it back, and so does an outage."""
        paused = self.watch.is_paused()
        if paused or self.around.stop.is_set():
            self._give_back()
        room = self.window - len(self.in_flight)
        wanted = not self.in_flight if paused else room >= -(-self.window // 4)
        if self.around.stop.is_set() or not wanted or len(self.answered) >= STORE_AT_MOST:
            return False
        admitted = self.watch.admit(min(room, CLAIM_AT_MOST), now=self.around.clock())
        return bool(admitted.rows) and self._claim(pool, admitted)

    def _claim(self, pool: ThreadPoolExecutor, admitted: Admission) -> bool:
        """Claims that many rows and hands them to the pool; true if there were some."""
        claim = claim_results(self.run.pk, limit=admitted.rows, lease=self.lease, now=self.around.clock(), price=self._dearest_cost)
        for row in self._prepare(claim, admitted):
            self.in_flight[pool.submit(_ask, self.target, row)] = row
        if claim.over_budget and not self.in_flight and not self.answered:
            stop_over_budget(self.run.pk, claim.over_budget, now=self.around.clock())
        return bool(claim.rows)

    def _prepare(self, claim: Claim, admitted: Admission) -> Iterator[Claimed]:
        for row in claim.rows:
            yield Claimed(
                row.pk,
                claim.token,
                read_spec(row.revision),
                self._model_for(row, claim),
                row.recording,
                row.reserved_micro_usd,
                claim.at,
                is_probe=admitted.probe,
                asked_before=row.attempts is not None,
                put_off_at=row.finished_at,
            )

    def _model_for(self, row: Result, claim: Claim) -> Model | None:
        """What the row asks: its recording, or the provider with a note of each call; None when it needs one and has neither."""
        if self.provider:
            return RecordedModel(self.provider, purpose=Purpose.TARGET, now=claim.at, prompt_hash=self.run.prompt_hash)
        return ScriptedModel(row.recording.text, name=self.run.model_name) if row.recording else stand_in(self.target)

    def _dearest_cost(self, row: Result) -> int:
        if self.provider is None:
            return 0
        tokens = -(-self.target.prompt_characters(read_spec(row.revision)) // CHARACTERS_PER_TOKEN_AT_WORST)
        return cost_micro_usd(self.run.model_name, Usage(tokens, self.run.max_tokens, measured=False)).micro_usd

    def _collect(self) -> None:
        if self.in_flight:
            done, _ = wait(self.in_flight, timeout=STORE_AFTER_S, return_when=FIRST_COMPLETED)
            for future in done:
                row = self.in_flight.pop(future)
                self.answered += self.watch.sort(row, _answer(future, row), now=self.around.clock())
        if not self.in_flight and not self.answered:
            self.answered += self.watch.settle()

    def _store_when_due(self) -> None:
        waited = (self.around.clock() - self.stored_at).total_seconds() >= STORE_AFTER_S
        if self.answered and (waited or len(self.answered) >= self.store_at or not self.in_flight):
            batch, self.answered = self.answered[:STORE_AT_MOST], self.answered[STORE_AT_MOST:]
            self.around.on_store(self._store(batch))
            self.stored_at = self.around.clock()

    @transaction.atomic
    def _store(self, batch: list[tuple[Claimed, Answer]]) -> int:
        """Writes results, scores and calls together; a row whose lease was lost is somebody else's, and only its calls are kept."""
        scoring_id = Scoring.objects.values_list("pk", flat=True).get(run=self.run, is_current=True)
        scores: list[Score] = []
        stored = lost = 0
        for row, asked in batch:
            answer, marks = self._grade(row, asked)
            if write_result(row, answer, now=self.around.clock()):
                lost += row.reserved_micro_usd if isinstance(answer, Failure) and answer.attempts else 0
                if not (isinstance(answer, Failure) and answer.postponed):
                    stored += 1
                    scores += scores_of(scoring_id, row.result_id, marks)
            else:
                logger.warning("run %s: the lease of result %s was lost, its answer is dropped", self.run.pk, row.result_id)
        Score.objects.bulk_create(scores)
        write_off(self.run.pk, lost)
        settle_rows(self.run.pk, [row for row, _ in batch])
        return stored

    def _grade(self, row: Claimed, asked: Answer) -> tuple[Answer, Marks]:
        """The answer with its marks. A bug in a metric or in the effect check is an error of that one row, as one in the target is."""
        if isinstance(asked, Failure):
            return asked, marks_for(row.case, asked)
        try:
            answer = self._complete(row, asked)
            return answer, marks_for(row.case, answer)
        except Exception as bug:  # whatever a metric raises, the other rows must not be asked and paid again
            if is_away(bug):  # nothing about this row
                raise
            failure = _crash(bug, row, asked.spending.attempts)
            return failure, marks_for(row.case, failure)

    def _complete(self, row: Claimed, answer: Outcome) -> Outcome:
        """Adds what the pool's thread could not know: the human mark, the effect on the database, the cost of all attempts."""
        effect = check_effect(row.case, answer.draft, now=self.run.created_at) if row.case.checks_effect else None
        spending = replace(answer.spending, cost_micro_usd=row.spent_micro_usd) if row.calls else answer.spending
        return replace(answer, marked_invalid=row.mark_of(answer), effect=effect, spending=spending)

    def _renew_when_due(self) -> None:
        now = self.around.clock()
        if now - self.renewed_at >= self.lease / 3:
            held = [*self.in_flight.values(), *(row for row, _ in [*self.answered, *self.watch.doubtful])]
            renew_leases([row.token for row in held], until=now + self.lease)
            self.renewed_at = now

    def _give_back(self) -> None:
        for row in [self.in_flight.pop(future) for future in list(self.in_flight) if future.cancel()]:
            return_result(row)


def _ask(target: Target, row: Claimed) -> Answer:
    """Runs in a pool thread: no database here."""
    if row.model is None:
        return Failure("no-recording", "El caso no tiene grabación en este juego.")
    try:
        return target.run(row.case, row.model)
    except ModelError as error:
        return Failure(error.cause, str(error), error.attempts)


def _answer(future: "Future[Answer]", row: Claimed) -> Answer:
    """The future's answer; a crash of the target is an error of that one row. It counts as a call: one may have been paid."""
    bug = future.exception()
    return future.result() if bug is None else _crash(bug, row, attempts=1)


def _crash(bug: BaseException, row: Claimed, attempts: int) -> Failure:
    """Logs where it happened. The message stays out of log and row: it may quote a held-out case."""
    logger.error("result %s: %s\n%s", row.result_id, type(bug).__name__, "".join(traceback.format_tb(bug.__traceback__)))
    return Failure("crash", f"{type(bug).__name__}: el detalle está en el registro del proceso.", attempts)
