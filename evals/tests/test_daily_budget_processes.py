"""Two commands at once, each a process of its own, share the day's budget: by SQL and by the model server's own count."""

from pathlib import Path

import pytest

from evals.tests.processes import calls_in, import_cases, site, start_model

pytestmark = pytest.mark.faults
CASES, BUDGET_MICRO_USD = 30, 6_000


def test_two_commands_stay_under_it_together(tmp_path: Path) -> None:
    with site(tmp_path, EVALS_DAILY_BUDGET_USD=str(BUDGET_MICRO_USD / 1_000_000), EVALS_CONCURRENCY="8") as here:
        import_cases(here, tmp_path, CASES)
        start_model(here, tmp_path / "calls.jsonl", delay_ms=20)
        commands = [here.start("manage.py", "eval_run", "examen", "--model", "claude-haiku-4-5") for _ in range(2)]
        assert [command.wait(timeout=120) for command in commands] == [4, 4]
        assert here.rows("SELECT DISTINCT status, budget_reached FROM evals_run") == [("over-budget", "day")]
        ((spent, bought),) = here.rows("SELECT sum(cost_micro_usd), count(*) FROM assistant_modelcall")
        assert 0 < spent <= BUDGET_MICRO_USD
        assert here.rows("SELECT micro_usd FROM evals_dayspending") == [(spent,)]
        assert calls_in(tmp_path / "calls.jsonl") == bought < 2 * CASES
