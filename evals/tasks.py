"""What Celery carries: ids only. Every task may run twice, and a lost message is sent again by the sweeper."""

import logging
import threading

from celery import shared_task
from django.conf import settings
from django.db import connection
from django.utils import timezone
from kombu.exceptions import OperationalError

from assistant.llm import ModelError
from evals.claims import interrupt_run
from evals.models import Result, Run
from evals.models.imports import forget_files
from evals.outages import Patience
from evals.runner import Surroundings, WrongHelper, work
from evals.selectors import outage_of, runs_that_need_help

logger = logging.getLogger(__name__)

# A helper stops claiming after this long and asks for a successor, so a deploy waits for little more than the calls in flight.
# kallpa/settings.py refuses to start when this, a call and a margin do not fit into the task's time limit.
HELP_FOR_S = settings.EVALS_HELP_FOR_S


@shared_task
def help_run(run_id: int) -> None:
    """Helps one run for a bounded time. While its model is down it returns, and the sweeper's next message tries again."""
    stop = threading.Event()
    bound = threading.Timer(HELP_FOR_S, stop.set)
    bound.daemon = True
    bound.start()
    try:
        run = work(run_id, Surroundings(clock=timezone.now, stop=stop))
    except (WrongHelper, ModelError) as error:
        logger.error("run %s: this worker cannot help: %s", run_id, error)
        return
    finally:
        bound.cancel()
    if stop.is_set() and run.status == Run.Status.RUNNING and run.results.filter(status=Result.Status.PENDING).exists():
        help_run.delay(run_id)


@shared_task
def sweep_runs() -> None:
    """Asks for help with every run that nobody is working on."""
    for run_id in runs_that_need_help(timezone.now()).values_list("pk", flat=True):
        help_run.delay(run_id)


@shared_task
def forget_imports() -> None:
    """Deletes the files that were brought to import and never confirmed."""
    forget_files(now=timezone.now())


def queue_help(run_id: int) -> None:
    """Asks for help with a run: by message, or in a daemon thread of this process when no broker is set.

    A broker that does not answer loses nothing: the run is saved, and the sweeper asks again.
    """
    if not settings.CELERY_BROKER_URL:
        threading.Thread(target=_help_in_thread, args=(run_id,), name=f"help-run-{run_id}", daemon=True).start()
        return
    try:
        for _ in range(settings.EVALS_HELPERS_PER_RUN):
            help_run.delay(run_id)
    except OperationalError:
        logger.exception("run %s is saved but no worker could be told; the sweeper will", run_id)


def _help_in_thread(run_id: int) -> None:
    """Helps this run, and then those that an earlier process left behind: without a broker nobody sweeps."""
    around = Surroundings(clock=timezone.now, stop=threading.Event())
    try:
        _work_through_outages(run_id, around)
        for left_behind in list(runs_that_need_help(timezone.now()).values_list("pk", flat=True)):
            _work_through_outages(left_behind, around)
    except (WrongHelper, ModelError) as error:
        logger.error("run %s: this process cannot help: %s", run_id, error)
    finally:
        connection.close()


def _work_through_outages(run_id: int, around: Surroundings) -> None:
    """Waits for a model that is down as long as patience lasts; then the run is interrupted, for a person to resume."""
    run, patience = work(run_id, around), Patience(around.clock)
    while run.status == Run.Status.RUNNING and outage_of(run):
        if not patience.wait(run, around.stop):
            interrupt_run(run=run)
            return
        run = work(run_id, around)
