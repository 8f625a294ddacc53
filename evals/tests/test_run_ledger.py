"""Each call of a run is in the money ledger, stored with its result; a scripted run buys nothing."""

import threading
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.db.models import Sum
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from assistant.models import ModelCall
from assistant.tests.loopback_provider import Answer, LoopbackProvider, Reply
from assistant.tests.provider_faults import status
from evals import runner
from evals.models import DaySpending, Result, Run
from evals.runner import work
from evals.tests.desk import aggregates_in, draft_output, draft_row, finished_run, make_version, new_run, outcome_in, spent_by, surroundings
from evals.tests.test_claims import FIRST, store_first
from evals.tests.test_wrong_helper import break_metric

pytestmark = pytest.mark.django_db(transaction=True)
MODEL = "claude-haiku-4-5"  # 1 USD a million tokens in, 5 out


def point_at(settings: Any, provider: LoopbackProvider) -> None:
    settings.LLM_BASE_URL, settings.LLM_MODEL = provider.base_url, MODEL
    settings.OUTBOUND_ALLOWED_HOSTS, settings.OUTBOUND_ALLOW_LOOPBACK = [provider.host], True


def run_against(settings: Any, answer: Answer, *keys: str, **config: Any) -> Run:
    with LoopbackProvider(answer=answer) as provider:
        point_at(settings, provider)
        return finished_run(make_version([draft_row(key) for key in keys]), model=MODEL, **config)


def spent_in_ledger(run: Run) -> int:
    return ModelCall.objects.filter(reference=f"run:{run.pk}").aggregate(total=Sum("cost_micro_usd"))["total"] or 0


def test_each_repetition_is_a_row_and_costs_add_up(settings: Any) -> None:
    run = run_against(settings, lambda call: draft_output(), "a", "b", "c", repetitions=2)
    calls = ModelCall.objects.all()
    assert len(calls) == 6
    assert {(call.purpose, call.model, call.outcome, call.tokens_measured, call.price_known) for call in calls} == {
        ("target", MODEL, "ok", True, True)
    }
    assert {call.reference for call in calls} == {f"run:{run.pk}"}
    assert {call.prompt_hash for call in calls} == {run.prompt_hash}
    assert {call.server for call in calls} == {run.server}
    assert spent_in_ledger(run) == spent_by(run) == DaySpending.objects.get().micro_usd > 0


def test_a_call_that_failed_is_a_row_with_its_cause(settings: Any) -> None:
    run_against(settings, status(401), "a")
    call = ModelCall.objects.get()
    assert (call.outcome, call.attempts, call.cost_micro_usd) == ("auth", 1, 0)
    assert DaySpending.objects.get().micro_usd == 0


def test_an_answer_that_got_lost_counts_as_the_most_it_may_have_cost(settings: Any) -> None:
    run = run_against(settings, lambda call: Reply(200, b"cortad"), "a")
    call = ModelCall.objects.get()
    assert call.outcome == "bad-response"
    assert call.cost_micro_usd == call.input_tokens + 5 * settings.LLM_MAX_TOKENS
    assert 0 < call.cost_micro_usd == DaySpending.objects.get().micro_usd <= run.lost_cost_micro_usd


def test_the_result_costs_what_all_its_attempts_may_have_cost(settings: Any) -> None:
    run = run_against(settings, lambda call: status(408)(call) if call.number == 1 else draft_output(), "a")
    call, result = ModelCall.objects.get(), run.results.get()
    assert (call.attempts, result.attempts, result.status) == (2, 2, "done")
    assert result.cost_micro_usd == call.cost_micro_usd > call.input_tokens + 5 * call.output_tokens + 5 * settings.LLM_MAX_TOKENS
    assert aggregates_in(run)["cost_system_micro_usd"].value == call.cost_micro_usd


def test_a_bug_in_a_metric_does_not_lose_what_was_paid(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    break_metric(monkeypatch, "a")
    run = run_against(settings, lambda call: draft_output(), "a", "b")
    assert run.results.filter(status="error").count() == 1
    assert ModelCall.objects.count() == 2


def test_results_and_calls_are_stored_together_or_not_at_all(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise DatabaseError

    monkeypatch.setattr(runner, "settle_rows", fail)
    with pytest.raises(DatabaseError):
        run_against(settings, lambda call: draft_output(), "a")
    assert Result.objects.get().status == Result.Status.CLAIMED
    assert not ModelCall.objects.exists()


def test_an_answer_that_lost_its_lease_is_dropped_and_its_call_is_kept(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = runner._ask

    def ask_while_another_stores(target: Any, row: Any) -> Any:
        other = threading.Thread(target=store_first, args=(row.result_id,))
        other.start()
        other.join()
        return ask(target, row)

    monkeypatch.setattr(runner, "_ask", ask_while_another_stores)
    run = run_against(settings, lambda call: draft_output(), "a")
    assert outcome_in(run, "a") == FIRST
    assert 0 < spent_in_ledger(run) == DaySpending.objects.get().micro_usd


def test_a_scripted_run_buys_nothing_and_asks_the_ledger_nothing() -> None:
    run = new_run(make_version([draft_row("a"), draft_row("b")]))
    with CaptureQueriesContext(connection) as captured:
        work(run.pk, surroundings())
    touched = [query["sql"] for query in captured if "modelcall" in query["sql"] or "dayspending" in query["sql"]]
    assert touched == []
    assert run.results.filter(status="done", finished_at__lte=timezone.now()).count() == 2
    assert not ModelCall.objects.exists()
