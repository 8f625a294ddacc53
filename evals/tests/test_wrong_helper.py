"""A helper that would give another answer than the run's does not help; a bug of ours costs one row; lost money is counted."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from assistant.tests.loopback_provider import LoopbackProvider, Reply
from evals import metrics
from evals.models import Result, Run, Score
from evals.runner import WrongHelper, work
from evals.services import NotRunnable, resume_run
from evals.tests.commands import point_at
from evals.tests.desk import NOW, aggregates_in, draft_output, draft_row, finished_run, make_version, new_run, surroundings, verdict_in
from evals.values import Decision

pytestmark = pytest.mark.django_db(transaction=True)


def test_another_prompt_does_not_help(monkeypatch: pytest.MonkeyPatch) -> None:
    run = new_run(make_version([draft_row("a")]))
    monkeypatch.setattr("evals.targets.booking.prompt_hash", lambda variant, **options: "otra")
    with pytest.raises(WrongHelper, match="otro prompt"):
        work(run.pk, surroundings())
    assert (Run.objects.get().status, Result.objects.get().status) == ("queued", "pending")


def test_another_form_of_answer_does_not_help(settings: Any) -> None:
    run = new_run(make_version([draft_row("a")]))
    settings.LLM_JSON_SCHEMA = not settings.LLM_JSON_SCHEMA
    with pytest.raises(WrongHelper, match="otro prompt"):
        work(run.pk, surroundings())


def test_another_model_server_does_not_help(settings: Any) -> None:
    with LoopbackProvider() as first, LoopbackProvider() as second:
        point_at(settings, first)
        run = new_run(make_version([draft_row("a")]), model="prueba")
        point_at(settings, second)
        with pytest.raises(WrongHelper, match="otro servidor"):
            work(run.pk, surroundings())
        assert second.calls == []
    assert Result.objects.get().status == "pending"


def test_another_commit_does_not_go_on_with_a_run() -> None:
    run = new_run(make_version([draft_row("a")]), commit="a" * 40)
    with pytest.raises(NotRunnable, match="no se pueden mezclar"):
        resume_run(run=run, retry_errors=False, commit="b" * 40, by=None, now=NOW)
    assert resume_run(run=run, retry_errors=False, commit="a" * 40, by=None, now=NOW).status == "queued"


def test_the_recording_is_the_one_of_the_start() -> None:
    from evals.services import correct_recording

    version = make_version([draft_row("a")])
    run = new_run(version)
    recording = version.dataset.cases.get().recordings.get()
    correct_recording(recording=recording, text='{"action":"refuse"}', note="después del comienzo", by=None)
    work(run.pk, surroundings())
    assert run.results.get().recording == recording
    assert run.results.get().outcome_kind == "draft"


def break_metric(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    mark = metrics.METRICS["correct"].mark

    def buggy(case: Any, outcome: Any) -> Any:
        if case.key == key:
            raise ZeroDivisionError(f"texto de {case.text}")
        return mark(case, outcome)

    from dataclasses import replace

    broken = {name: replace(metric, mark=buggy) if name == "correct" else metric for name, metric in metrics.METRICS.items()}
    monkeypatch.setattr(metrics, "METRICS", broken)


def test_a_bug_in_a_metric_is_an_error_of_that_row_alone(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    break_metric(monkeypatch, "b")
    run = finished_run(make_version([draft_row("a"), draft_row("b"), draft_row("c")]))
    assert dict(run.results.values_list("revision__case__key", "status")) == {"a": "done", "b": "error", "c": "done"}
    assert verdict_in(run).decision == Decision.INCONCLUSIVE
    said = caplog.text + "".join(run.results.values_list("error_detail", flat=True))
    assert "ZeroDivisionError" in said
    assert "fulbito mañana" not in said  # the message may quote a held-out case


def test_a_metric_that_a_deploy_dropped_does_not_keep_a_run_open(monkeypatch: pytest.MonkeyPatch) -> None:
    run = new_run(make_version([draft_row("a")]))
    scoring = run.scorings.get()
    Score.objects.create(scoring=scoring, result=run.results.get(), metric="ya-no-existe", value=1.0)
    assert work(run.pk, surroundings()).status == Run.Status.FINISHED


def test_a_call_that_failed_counts_as_spent(settings: Any) -> None:
    with LoopbackProvider(answer=lambda call: Reply(status=400)) as provider:
        point_at(settings, provider)
        run = finished_run(make_version([draft_row("a")]), model="prueba")
    assert run.lost_cost_micro_usd > 0
    cost = aggregates_in(run)["cost_system_micro_usd"]
    assert cost.value == run.lost_cost_micro_usd
    assert "llamadas sin respuesta" in cost.note


def test_a_dead_helper_s_reservation_does_not_keep_a_run_without_budget_open(settings: Any) -> None:
    with LoopbackProvider(answer=lambda call: draft_output()) as provider:
        point_at(settings, provider)
        run = new_run(make_version([draft_row("a"), draft_row("b")]), model="prueba", max_cost_micro_usd=30_000)
        over = timezone.now() - timedelta(seconds=1)
        row = run.results.order_by("pk")[0]
        Result.objects.filter(pk=row.pk).update(status="claimed", lease_token="muerto", lease_until=over, reserved_micro_usd=29_000)
        Run.objects.filter(pk=run.pk).update(status="running")
        run = work(run.pk, surroundings())
        assert provider.calls == []
    assert (run.status, run.lost_cost_micro_usd) == (Run.Status.OVER_BUDGET, 29_000)
    assert set(run.results.values_list("status", "reserved_micro_usd")) == {("pending", 0)}
