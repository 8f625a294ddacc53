"""Going on with a run that stopped, asking its errors again, and grading it again without asking anybody."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import Count
from django.utils import timezone

from assistant.llm import ForbiddenModel, ModelNotConfigured
from assistant.tests.loopback_provider import Call, LoopbackProvider, Reply
from evals import metrics
from evals.metrics import metrics_hash
from evals.metrics.metric import PASSED, Metric
from evals.models import Result, Run, Score, Scoring
from evals.runner import Surroundings, work
from evals.services import NotRunnable, cancel_run, interrupt_run, rescore_run, resume_run
from evals.tests.commands import point_at, run_command
from evals.tests.desk import aggregates_in, draft_output, draft_row, finished_run, make_version, new_run, surroundings, verdict_in
from evals.values import Decision

pytestmark = pytest.mark.django_db(transaction=True)
KEYS = ("uno", "dos", "tres", "cuatro")
Broken = set[str]


def row_of(key: str) -> dict[str, Any]:
    """A case whose request names it, so that the server's ledger does too."""
    return draft_row(key, input={"text": f"fulbito mañana 7 pm, pedido {key}"}, blocking=True)


@pytest.fixture
def broken() -> Broken:
    """Keys of the cases that the server fails for the moment."""
    return set()


@pytest.fixture
def provider(settings: Any, broken: Broken) -> Iterator[LoopbackProvider]:
    def answer(call: Call) -> str | Reply:
        return (
            Reply(400) if any(call.text.endswith(f"pedido {key}") or f"pedido {key}\n" in call.text for key in broken) else draft_output()
        )

    with LoopbackProvider(answer) as server:
        point_at(settings, server)
        yield server


def real_run(**config: Any) -> Run:
    return new_run(make_version([row_of(key) for key in KEYS]), model="prueba", concurrency=1, **config)


def asked_keys(provider: LoopbackProvider) -> list[str]:
    """The keys that the server was asked for, in order."""
    return [next(key for key in KEYS if f"pedido {key}" in call.text) for call in provider.calls]


def resume(run: Run, *, retry_errors: bool = False, **more: Any) -> Run:
    resumed = resume_run(run=run, retry_errors=retry_errors, by=None, now=timezone.now(), **more)
    return work(resumed.pk, surroundings())


def stop_after(run: Run, count: int) -> Run:
    """The run, interrupted once that many results are stored."""
    stop = threading.Event()

    def on_store(more: int) -> None:
        if run.results.filter(status__in=("done", "error")).count() >= count:
            stop.set()

    work(run.pk, Surroundings(clock=timezone.now, stop=stop, on_store=on_store))
    interrupt_run(run=run)
    return Run.objects.get(pk=run.pk)


def current(run: Run) -> Scoring:
    return Scoring.objects.get(run=run, is_current=True)


def assert_one_current_score_each(run: Run) -> None:
    """By the rows: each (result, metric) has one score in the current scoring, and every result has some."""
    scores = Score.objects.filter(scoring__run=run, scoring__is_current=True)
    assert not scores.values("result", "metric").annotate(times=Count("id")).filter(times__gt=1).exists()
    assert scores.filter(metric="correct").count() == run.expected_results


# --- Resume -------------------------------------------------------------------------------------------------------------


def test_an_interrupted_run_asks_only_what_is_missing(provider: LoopbackProvider) -> None:
    run = stop_after(real_run(), 2)
    assert run.status == Run.Status.INTERRUPTED
    done_before = run.results.filter(status="done").count()
    assert 2 <= done_before < 4
    resumed = resume(run)
    assert resumed.status == Run.Status.FINISHED
    assert sorted(asked_keys(provider)) == sorted(KEYS)
    assert_one_current_score_each(resumed)
    assert verdict_in(resumed).decision == Decision.PASS
    assert Scoring.objects.filter(run=run).count() == 1


def test_a_run_over_budget_goes_on_once_the_limit_is_higher(provider: LoopbackProvider) -> None:
    run = work(real_run(max_cost_micro_usd=1).pk, surroundings())
    assert (run.status, provider.calls) == (Run.Status.OVER_BUDGET, [])
    assert resume(run).status == Run.Status.OVER_BUDGET
    assert provider.calls == []
    assert resume(run, max_cost_micro_usd=5_000_000).status == Run.Status.FINISHED
    assert len(provider.calls) == 4


def test_a_finished_run_stays_as_it_is(provider: LoopbackProvider) -> None:
    run = work(real_run().pk, surroundings())
    finished_at, scoring = run.finished_at, current(run)
    resumed = resume(run, retry_errors=True)  # it has no errors
    assert (resumed.status, resumed.finished_at) == (Run.Status.FINISHED, finished_at)
    assert current(run) == scoring
    assert len(provider.calls) == 4


def test_a_cancelled_run_is_refused(provider: LoopbackProvider) -> None:
    run = real_run()
    cancel_run(run=run)
    with pytest.raises(NotRunnable, match="empieza otra"):
        resume_run(run=run, retry_errors=False, by=None, now=timezone.now())
    assert run_command("eval_resume", str(run.pk)).code == 2
    assert Run.objects.get(pk=run.pk).status == Run.Status.CANCELLED


def test_a_run_on_which_somebody_works_is_left_running(provider: LoopbackProvider) -> None:
    """Other helpers claim only while the run says that it is running."""
    run = real_run()
    Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING)
    assert resume_run(run=run, retry_errors=False, by=None, now=timezone.now()).status == Run.Status.RUNNING


@pytest.mark.parametrize(("base_url", "model", "error"), [("", "prueba", ModelNotConfigured), (None, "bonito:free", ForbiddenModel)])
def test_a_real_run_whose_model_is_out_of_reach_is_refused_and_stays_as_it_was(
    provider: LoopbackProvider, broken: Broken, settings: Any, base_url: str | None, model: str, error: type[Exception]
) -> None:
    broken.add("dos")
    run = work(real_run().pk, surroundings())
    Run.objects.filter(pk=run.pk).update(model_name=model)
    settings.LLM_BASE_URL = settings.LLM_BASE_URL if base_url is None else base_url
    with pytest.raises(error):
        resume_run(run=run, retry_errors=True, by=None, now=timezone.now())
    assert run_command("eval_resume", str(run.pk), "--retry-errors").code == 2
    assert (Run.objects.get(pk=run.pk).status, run.results.filter(status="error").count()) == (Run.Status.FINISHED, 1)
    assert Scoring.objects.filter(run=run).count() == 1
    assert run_command("eval_resume", str(run.pk)).code == 3  # its report needs no model


def test_resume_waits_for_the_rows_of_a_helper_that_died(provider: LoopbackProvider, settings: Any) -> None:
    run = real_run()
    first = run.results.order_by("id").first()
    assert first is not None
    until = timezone.now() + timedelta(seconds=1.2)
    Result.objects.filter(pk=first.pk).update(status="claimed", lease_token="muerto", lease_until=until)
    Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING)
    code, _, err = run_command("eval_resume", str(run.pk))
    assert code == 0
    assert timezone.now() >= until
    assert err.count("esperando") == 1
    assert sorted(asked_keys(provider)) == sorted(KEYS)


def test_an_unknown_run_is_2() -> None:
    done = run_command("eval_resume", "99999999999999999999")
    assert (done.code, "No existe la corrida" in done.err) == (2, True)


# --- Errors, asked again ------------------------------------------------------------------------------------------------


def test_only_the_errors_are_asked_again_and_the_former_verdict_is_kept(provider: LoopbackProvider, broken: Broken) -> None:
    broken.update({"dos", "cuatro"})
    run = work(real_run().pk, surroundings())
    before = current(run)
    assert (before.decision, aggregates_in(run)["correct"].missing) == ("INCONCLUSIVE", 2)
    answers = list(run.results.filter(status="done").order_by("id").values("id", "outcome", "finished_at"))
    broken.clear()
    provider.calls.clear()
    resumed = resume(run, retry_errors=True)
    assert sorted(asked_keys(provider)) == ["cuatro", "dos"]
    assert resumed.status == Run.Status.FINISHED
    assert verdict_in(resumed).decision == Decision.PASS
    assert (aggregates_in(resumed)["correct"].denominator, aggregates_in(resumed)["correct"].missing) == (4, 0)
    assert_one_current_score_each(resumed)
    kept = Scoring.objects.get(pk=before.pk)
    assert (kept.is_current, kept.decision, kept.verdict, kept.closed_at) == (False, before.decision, before.verdict, before.closed_at)
    assert kept.scores.filter(metric="correct", value__isnull=True).count() == 2
    first_answers = run.results.filter(pk__in=[answer["id"] for answer in answers]).order_by("id")
    assert list(first_answers.values("id", "outcome", "finished_at")) == answers


def test_an_error_that_comes_back_is_an_error_again(provider: LoopbackProvider, broken: Broken) -> None:
    broken.add("dos")
    run = work(real_run().pk, surroundings())
    assert resume(run, retry_errors=True).status == Run.Status.FINISHED
    assert run.results.filter(status="error").count() == 1
    assert [scoring.decision for scoring in Scoring.objects.filter(run=run)] == ["INCONCLUSIVE", "INCONCLUSIVE"]
    assert_one_current_score_each(run)


def test_errors_of_an_interrupted_run_can_be_asked_again_with_the_rest(provider: LoopbackProvider, broken: Broken) -> None:
    broken.add(sorted(KEYS)[0])  # results come in the order of the keys
    run = stop_after(real_run(), 1)
    assert run.results.filter(status="error").count() == 1
    broken.clear()
    resumed = resume(run, retry_errors=True)
    assert (resumed.status, verdict_in(resumed).decision) == (Run.Status.FINISHED, Decision.PASS)
    assert_one_current_score_each(resumed)
    assert Scoring.objects.filter(run=run).count() == 1


def test_the_command_asks_errors_again_only_when_told(provider: LoopbackProvider, broken: Broken) -> None:
    broken.add("dos")
    run = work(real_run().pk, surroundings())
    broken.clear()
    assert run_command("eval_resume", str(run.pk)).code == 3
    assert len(provider.calls) == 4
    code, out, _ = run_command("eval_resume", str(run.pk), "--retry-errors")
    assert (code, "Casos correctos: 4/4" in out) == (0, True)
    assert len(provider.calls) == 5


# --- Graded again -------------------------------------------------------------------------------------------------------


def stricter(name: str = "puntual") -> Metric:
    """A new metric that every answer passes."""
    return Metric(name, "Puntual", lambda case: True, lambda case, outcome: PASSED)


@pytest.fixture
def add_metric(monkeypatch: pytest.MonkeyPatch) -> Callable[[Metric], None]:
    return lambda metric: monkeypatch.setitem(metrics.METRICS, metric.name, metric)


def test_grading_again_does_not_call_the_model(provider: LoopbackProvider, broken: Broken) -> None:
    """S12 of the bug log: one current score per case, the former one is history, and the model is left alone."""
    broken.add("dos")
    run = work(real_run().pk, surroundings())
    before, calls = current(run), len(provider.calls)
    old_scores = list(before.scores.order_by("id").values())
    old_facts = list(run.results.order_by("id").values())
    person = User.objects.create(username="experta")
    again = rescore_run(run=run, by=person, now=timezone.now())
    assert len(provider.calls) == calls
    assert (again.is_current, again.created_by, again.decision) == (True, person, "INCONCLUSIVE")
    assert_one_current_score_each(run)
    assert list(run.results.order_by("id").values()) == old_facts
    kept = Scoring.objects.get(pk=before.pk)
    assert (kept.is_current, kept.verdict, kept.aggregates, kept.closed_at) == (False, before.verdict, before.aggregates, before.closed_at)
    assert list(kept.scores.order_by("id").values()) == old_scores


def test_the_same_metrics_give_the_same_figures() -> None:
    run = finished_run(make_version([draft_row("a"), draft_row("b", draft_output(startHour=20)), draft_row("c", recordings=[])]))
    before = current(run)
    again = rescore_run(run=run, by=None, now=timezone.now())
    again.refresh_from_db()
    assert (again.aggregates, again.verdict, again.metrics_hash) == (before.aggregates, before.verdict, before.metrics_hash)
    assert again.pk != before.pk


def test_a_changed_set_of_metrics_is_visible(add_metric: Callable[[Metric], None]) -> None:
    run = finished_run(make_version([draft_row("a"), draft_row("b")]))
    before = current(run)
    add_metric(stricter())
    again = rescore_run(run=run, by=None, now=timezone.now())
    assert before.metrics_hash != again.metrics_hash == metrics_hash()
    assert again.aggregates is not None
    assert (again.aggregates["puntual"]["numerator"], again.aggregates["puntual"]["denominator"]) == (2.0, 2)
    assert before.aggregates is not None
    assert "puntual" not in before.aggregates
    assert not before.scores.filter(metric="puntual").exists()


def test_a_metric_that_judges_anew_counts_once_in_the_mean(add_metric: Callable[[Metric], None]) -> None:
    run = finished_run(make_version([draft_row("a"), draft_row("b", draft_output(startHour=20))]))
    assert aggregates_in(run)["correct"].numerator == 1
    add_metric(stricter("correct"))
    rescore_run(run=run, by=None, now=timezone.now())
    rescore_run(run=run, by=None, now=timezone.now())
    assert (aggregates_in(run)["correct"].numerator, aggregates_in(run)["correct"].denominator) == (2, 2)
    assert Scoring.objects.filter(run=run).count() == 3
    assert_one_current_score_each(run)


@pytest.mark.parametrize("status", ["queued", "running", "interrupted", "over-budget", "cancelled"])
def test_a_run_that_is_not_finished_is_not_graded_again(status: str) -> None:
    run = new_run(make_version([draft_row("a")]))
    Run.objects.filter(pk=run.pk).update(status=status)
    with pytest.raises(NotRunnable, match="no ha terminado"):
        rescore_run(run=run, by=None, now=timezone.now())
    assert Scoring.objects.filter(run=run).count() == 1
