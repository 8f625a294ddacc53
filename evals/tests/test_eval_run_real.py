"""`eval_run` against a loopback model server."""

from collections import Counter
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from assistant.tests.loopback_provider import LoopbackProvider, Reply, always_refuse
from evals.models import Result, Run
from evals.selectors import baseline_run
from evals.tests.desk import DRAFT, aggregates_in, draft_output, draft_row, make_version, new_run, spent_by, verdict_in
from evals.values import Decision

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def point_at(settings: Any) -> Any:
    def point(provider: LoopbackProvider) -> None:
        settings.LLM_BASE_URL, settings.LLM_MODEL, settings.LLM_API_KEY = provider.base_url, "prueba", "clave-de-prueba"
        settings.OUTBOUND_ALLOWED_HOSTS = [provider.base_url.split("/")[2]]
        settings.OUTBOUND_ALLOW_LOOPBACK = True

    return point


def run_command(*words: str) -> tuple[int, str]:
    """Exit code and standard output of `manage.py eval_run`."""
    out = StringIO()
    try:
        call_command("eval_run", *words, stdout=out, stderr=StringIO())
    except SystemExit as leaving:
        return int(leaving.code or 0), out.getvalue()
    except CommandError as error:
        return error.returncode, str(error)
    return 0, out.getvalue()


@pytest.fixture
def refusing() -> Iterator[LoopbackProvider]:
    with LoopbackProvider(answer=always_refuse) as provider:
        yield provider


def test_a_server_that_always_refuses_fails_the_kit_with_7_of_14(refusing: LoopbackProvider, point_at: Any) -> None:
    call_command("seed_demo", stdout=StringIO())
    point_at(refusing)
    code, out = run_command("kit", "--model", "prueba")
    assert code == 1
    assert "7/14" in out
    assert "medidos" in out
    assert len(refusing.calls) == 14


def test_a_server_that_answers_401_is_a_provider_failure_without_a_figure(point_at: Any) -> None:
    version = make_version([draft_row("a"), draft_row("b")])
    with LoopbackProvider(answer=lambda call: Reply(status=401)) as provider:
        point_at(provider)
        code, out = run_command(version.dataset.slug, "--model", "prueba")
        assert len(provider.calls) == 2  # 401 is not asked again
    assert code == 3
    assert "PASS" not in out
    assert "0 de 2" in out
    assert verdict_in(Run.objects.get()).decision == Decision.INCONCLUSIVE
    assert aggregates_in(Run.objects.get())["correct"].value is None
    later = new_run(version)
    assert baseline_run(later) is None


def test_an_error_body_is_an_error_even_when_the_case_only_forbids_words(point_at: Any) -> None:
    forbids = draft_row("a", expected={"kind": "none"}, never_say=[{"kind": "phrase", "text": "enlace"}])
    version = make_version([forbids])
    with LoopbackProvider(answer=lambda call: Reply(status=400, body=b"Error: boom")) as provider:
        point_at(provider)
        code, _ = run_command(version.dataset.slug, "--model", "prueba")
    assert code == 3
    assert Result.objects.get().status == Result.Status.ERROR


def test_repetitions_are_asked_each_time(point_at: Any) -> None:
    version = make_version([draft_row(key) for key in "abcde"])
    with LoopbackProvider(answer=lambda call: draft_output(hours=call.number % 3 + 1)) as provider:
        point_at(provider)
        run_command(version.dataset.slug, "--model", "prueba", "--repetitions", "3")
        assert len(provider.calls) == 15
    raws = Counter(row["raw"] for row in Result.objects.values_list("outcome", flat=True) if row)
    assert sorted(raws.values()) == [5, 5, 5]  # the server's counter went through, nothing was copied


def test_a_budget_stops_before_the_call_that_it_does_not_cover(point_at: Any) -> None:
    version = make_version([draft_row(f"caso-{number}") for number in range(20)])
    with LoopbackProvider(answer=lambda call: draft_output()) as provider:
        point_at(provider)
        code, _ = run_command(version.dataset.slug, "--model", "prueba", "--max-cost", "0.10", "--concurrency", "8")
        calls = len(provider.calls)
    run = Run.objects.get()
    assert code == 4
    assert run.status == Run.Status.OVER_BUDGET
    assert 0 < calls < 20
    assert 0 < spent_by(run) <= 100_000


def test_without_reservations_parallel_calls_overshoot_the_budget(point_at: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of the test above: the same code with reservations of nothing."""
    monkeypatch.setattr("evals.runner._Helper._dearest_cost", lambda self, row: 0)
    version = make_version([draft_row(f"caso-{number}") for number in range(20)])
    with LoopbackProvider(answer=lambda call: draft_output()) as provider:
        point_at(provider)
        run_command(version.dataset.slug, "--model", "prueba", "--max-cost", "0.001", "--concurrency", "8")
    assert spent_by(Run.objects.get()) > 1_000


def test_a_forbidden_model_is_refused_before_any_row_is_written(refusing: LoopbackProvider, point_at: Any) -> None:
    version = make_version([draft_row("a")])
    point_at(refusing)
    code, out = run_command(version.dataset.slug, "--model", "modelo-bonito:free")
    assert code == 2
    assert "prohibido" in out
    assert not Run.objects.exists()
    assert refusing.calls == []


def test_a_real_model_without_settings_says_what_to_set(settings: Any) -> None:
    settings.LLM_BASE_URL = ""
    version = make_version([draft_row("a")])
    code, out = run_command(version.dataset.slug, "--model", "prueba")
    assert code == 2
    assert "LLM_BASE_URL" in out


def test_the_request_carries_no_team_name_in_the_base_prompt(point_at: Any) -> None:
    occupied = [{"date": "2026-03-10", "sport": "fulbito", "hour": 18, "team": "Los Sin Nombre"}]
    version = make_version([draft_row("a", context={"now": "2026-03-09T10:00", "occupied": occupied})])
    with LoopbackProvider(answer=lambda call: draft_output(**DRAFT)) as provider:
        point_at(provider)
        run_command(version.dataset.slug, "--model", "prueba")
        run_command(version.dataset.slug, "--model", "prueba", "--prompt", "con-nombres")
        shown = ["Los Sin Nombre" in call.text for call in provider.calls]
    assert shown == [False, True]
