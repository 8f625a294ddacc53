"""All runs of a day share a budget, reserved before each call: at once, from threads, none overshoots it."""

import datetime as dt
import threading
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import Sum

from assistant.models import ModelCall
from assistant.tests.loopback_provider import LoopbackProvider
from evals import claims
from evals.daily_budget import reserve_calls, settle_calls
from evals.models import DatasetVersion, DaySpending, Result, Run
from evals.runner import Surroundings, work
from evals.services import resume_run
from evals.tests.desk import NOW, draft_output, draft_row, make_version, new_run

pytestmark = pytest.mark.django_db(transaction=True)
CASES, MODEL = 20, "claude-haiku-4-5"
BUDGET = 0.004  # USD: 4,000 micro-USD; a call reserves about 1,900 and costs about 300, so that the budget covers about half of a run


@pytest.fixture
def provider(settings: Any) -> Iterator[LoopbackProvider]:
    with LoopbackProvider(answer=lambda call: draft_output()) as here:
        settings.LLM_BASE_URL, settings.LLM_MODEL = here.base_url, MODEL
        settings.OUTBOUND_ALLOWED_HOSTS, settings.OUTBOUND_ALLOW_LOOPBACK = [here.host], True
        yield here


def exam(slug: str = "examen") -> DatasetVersion:
    return make_version([draft_row(f"caso-{number}") for number in range(CASES)], slug=slug)


def help_at(run: Run, moment: dt.datetime, stop: threading.Event | None = None) -> Run:
    return work(run.pk, Surroundings(clock=lambda: moment, stop=stop or threading.Event()))


def help_at_once(runs: Sequence[Run]) -> None:
    """One helper a run, each in its thread, until each says that it is over."""

    def help_until_over(run: Run) -> None:
        try:
            while help_at(run, NOW).status == Run.Status.RUNNING:
                pass  # the other's calls in flight may still leave room
        finally:
            connection.close()

    threads = [threading.Thread(target=help_until_over, args=(run,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


def spent_micro_usd() -> int:
    return ModelCall.objects.aggregate(total=Sum("cost_micro_usd"))["total"] or 0


def statuses() -> set[str]:
    return set(Run.objects.values_list("status", flat=True))


def test_a_run_stops_before_the_call_that_the_day_does_not_cover(settings: Any, provider: LoopbackProvider) -> None:
    settings.EVALS_DAILY_BUDGET_USD = BUDGET
    run = help_at(new_run(exam(), model=MODEL, concurrency=4), NOW)
    assert (run.status, run.budget_reached) == (Run.Status.OVER_BUDGET, Run.Budget.DAY)
    assert 0 < len(provider.calls) < CASES
    assert 0 < spent_micro_usd() <= 4_000
    assert DaySpending.objects.get().micro_usd == spent_micro_usd()  # all is settled, nothing is held back


def test_the_next_day_it_goes_on(settings: Any, provider: LoopbackProvider) -> None:
    settings.EVALS_DAILY_BUDGET_USD = 1.5 * BUDGET
    run = help_at(new_run(exam(), model=MODEL), NOW)
    for days, status in ((0, Run.Status.OVER_BUDGET), (1, Run.Status.FINISHED)):
        resume_run(run=run, retry_errors=False, by=None, now=NOW)
        assert help_at(run, NOW + dt.timedelta(days=days)).status == status
    assert run.results.filter(status="done").count() == CASES == len(provider.calls)
    assert DaySpending.objects.count() == 2


def test_two_runs_at_once_stay_under_it_together(settings: Any, provider: LoopbackProvider) -> None:
    settings.EVALS_DAILY_BUDGET_USD = BUDGET
    help_at_once([new_run(exam(slug), model=MODEL, concurrency=8) for slug in ("uno", "dos")])
    assert statuses() == {Run.Status.OVER_BUDGET}
    assert 4_000 - 2_000 < spent_micro_usd() <= 4_000  # it is used, too: what is left does not cover one more call
    assert DaySpending.objects.get().micro_usd == spent_micro_usd()


def test_control_without_reserving_they_overshoot(settings: Any, provider: LoopbackProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same runs with a budget that looks at what was spent and holds nothing back."""

    def only_look(prices: Sequence[int], *, now: dt.datetime) -> int:
        return len(prices) if spent_micro_usd() < 4_000 else 0

    monkeypatch.setattr(claims, "reserve_calls", only_look)
    settings.EVALS_DAILY_BUDGET_USD = BUDGET
    help_at_once([new_run(exam(slug), model=MODEL, concurrency=16) for slug in ("uno", "dos")])
    assert spent_micro_usd() > 4_000


def test_what_is_given_back_is_no_longer_reserved(provider: LoopbackProvider) -> None:
    run, stop = new_run(exam(), model=MODEL, concurrency=2), threading.Event()
    work(run.pk, Surroundings(clock=lambda: NOW, stop=stop, on_store=lambda count: stop.set()))
    assert run.results.filter(status="pending").exists()
    assert not run.results.exclude(reserved_micro_usd=0).exists()
    assert 0 < DaySpending.objects.get().micro_usd == spent_micro_usd()


def test_what_a_dead_helper_reserved_stays_spent_on_its_day(provider: LoopbackProvider) -> None:
    run = new_run(exam(), model=MODEL)
    Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING)
    held = claims.claim_results(run.pk, limit=5, lease=dt.timedelta(seconds=1), now=NOW, price=lambda row: 2_000)
    assert (len(held.rows), DaySpending.objects.get().micro_usd) == (5, 10_000)
    tomorrow = NOW + dt.timedelta(days=1)
    assert help_at(run, tomorrow).status == Run.Status.FINISHED
    by_day = dict(DaySpending.objects.values_list("day", "micro_usd"))
    assert by_day == {NOW.date(): 10_000, tomorrow.date(): spent_micro_usd()}


def test_the_command_names_the_budget_that_ran_out(settings: Any, provider: LoopbackProvider) -> None:
    version = exam()
    said = {}
    for name, daily, words in (("day", 0, ()), ("run", 50, ("--max-cost", "0.000001"))):
        settings.EVALS_DAILY_BUDGET_USD = daily
        out, told = StringIO(), StringIO()
        with pytest.raises(SystemExit) as left:
            call_command("eval_run", version.dataset.slug, "--model", MODEL, *words, stdout=out, stderr=told)
        assert left.value.code == 4
        said[name] = " ".join((out.getvalue() + told.getvalue()).split())
    assert "del día para todas las corridas, EVALS_DAILY_BUDGET_USD=0." in said["day"]
    assert "sin presupuesto para el día, entre todas las corridas" in said["day"]
    assert "Se acabó el presupuesto de la corrida." in said["run"]
    assert "sin presupuesto para la corrida" in said["run"]
    assert "--max-cost" in said["run"]
    assert "--max-cost" not in said["day"]
    assert provider.calls == []


def test_a_run_waits_while_another_s_calls_may_leave_room(settings: Any, provider: LoopbackProvider) -> None:
    settings.EVALS_DAILY_BUDGET_USD = BUDGET
    other, run = new_run(exam("uno"), model=MODEL), new_run(exam("dos"), model=MODEL)
    Run.objects.filter(pk=other.pk).update(status=Run.Status.RUNNING)
    claims.claim_results(other.pk, limit=5, lease=dt.timedelta(minutes=1), now=NOW, price=lambda row: 800)
    assert help_at(run, NOW).status == Run.Status.RUNNING  # nothing fits, nothing is over
    Result.objects.filter(run=other, status="claimed").update(lease_until=NOW - dt.timedelta(seconds=1))
    assert help_at(run, NOW).status == Run.Status.OVER_BUDGET
    assert provider.calls == []


# --- The day itself ------------------------------------------------------------------------------------------------------


def test_it_reserves_the_first_calls_that_fit(settings: Any) -> None:
    settings.EVALS_DAILY_BUDGET_USD = 0.0001
    assert reserve_calls([30, 30, 50, 1], now=NOW) == 2
    assert DaySpending.objects.get().micro_usd == 60
    assert reserve_calls([40], now=NOW) == 1
    assert reserve_calls([1], now=NOW) == 0
    settle_calls(reserved=30, actual=10, at=NOW)
    assert reserve_calls([20, 1], now=NOW) == 1
    assert reserve_calls([100], now=NOW + dt.timedelta(days=1)) == 1


def test_the_day_is_lima_s(settings: Any) -> None:
    late = NOW.replace(hour=23, minute=59)
    assert reserve_calls([5], now=late.astimezone(dt.UTC)) == 1
    assert DaySpending.objects.get().day == late.date()


def test_what_costs_nothing_takes_no_turn() -> None:
    assert reserve_calls([0, 0], now=NOW) == 2
    assert not DaySpending.objects.exists()
