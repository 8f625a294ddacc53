"""A scripted run from pending rows to a verdict."""

import pytest

from bookings.models import BookedHour, Booking, Court, Member
from evals.models import Result, Run, Score
from evals.services import NothingToRun, NotRunnable, RunConfig, start_run
from evals.tests.desk import (
    NOW,
    REFUSAL,
    aggregates_in,
    draft_output,
    draft_row,
    finished_run,
    make_version,
    new_run,
    outcome_in,
    verdict_in,
)
from evals.values import Decision

pytestmark = pytest.mark.django_db


def test_it_creates_one_pending_result_per_case_and_repetition() -> None:
    run = new_run(make_version([draft_row("a"), draft_row("b")]), repetitions=3)
    rows = run.results.order_by("id").values_list("revision__traits__key", "repetition", "status")
    assert list(rows) == [(key, turn, "pending") for turn in (1, 2, 3) for key in ("a", "b")]
    assert run.expected_results == 6


def test_it_closes_with_every_result_done_and_a_pass() -> None:
    run = finished_run(make_version([draft_row("a", blocking=True), draft_row("b")]))
    assert run.status == Run.Status.FINISHED
    assert set(run.results.values_list("status", flat=True)) == {Result.Status.DONE}
    assert verdict_in(run).decision == Decision.PASS
    assert (aggregates_in(run)["correct"].numerator, aggregates_in(run)["correct"].denominator) == (2, 2)


def test_a_blocking_case_that_fails_fails_the_run() -> None:
    run = finished_run(make_version([draft_row("a", draft_output(startHour=20), blocking=True), draft_row("b")]))
    assert verdict_in(run).decision == Decision.FAIL
    assert verdict_in(run).reasons[0].keys == ("a",)


def test_a_case_without_a_recording_is_an_error_and_never_a_pass() -> None:
    version = make_version([draft_row("a"), draft_row("b", recordings=[])])
    run = finished_run(version)
    assert list(run.results.filter(status="error").values_list("error_cause", flat=True)) == ["no-recording"]
    correct = aggregates_in(run)["correct"]
    assert (correct.numerator, correct.denominator, correct.missing) == (1, 1, 1)
    assert verdict_in(run).decision == Decision.INCONCLUSIVE


def test_it_copies_in_what_can_change_later() -> None:
    version = make_version([draft_row("a")], max_known_limitations=4)
    run = new_run(version, commit="abcdef1234", temperature=0.5, variant="con-nombres")
    assert (run.commit, run.temperature, run.prompt_variant) == ("abcdef1234", 0.5, "con-nombres")
    assert run.policy is not None
    assert run.policy["max_known_limitations"] == 4
    assert len(run.prompt_hash) == 64
    assert "JSON" in run.system_prompt


def test_a_result_points_at_the_recording_that_it_replayed() -> None:
    version = make_version([draft_row("a")])
    run = finished_run(version)
    assert run.results.get().recording == version.dataset.cases.get().recordings.get()


def test_held_out_cases_run_only_for_a_release() -> None:
    version = make_version([draft_row("a"), draft_row("b", held_out=True)])
    assert new_run(version).expected_results == 1
    assert new_run(version, purpose="release").expected_results == 2


def test_a_version_with_held_out_cases_alone_has_nothing_to_iterate_on() -> None:
    version = make_version([draft_row("a", held_out=True)])
    with pytest.raises(NothingToRun):
        new_run(version)
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (RunConfig(target="dentista"), "booking-assistant"),
        (RunConfig(variant="otra"), "base, con-nombres"),
        (RunConfig(model="scripted:otro"), "base"),
    ],
)
def test_a_wrong_configuration_says_what_exists(config: RunConfig, words: str) -> None:
    version = make_version([draft_row("a")])
    with pytest.raises(NotRunnable, match=words):
        start_run(version=version, config=config, by=None, now=NOW)
    assert not Run.objects.exists()


def test_the_effect_is_checked_and_nothing_of_it_stays() -> None:
    member = {"now": "2026-03-09T10:00", "member": "Rosa Quispe"}
    run = finished_run(make_version([draft_row("a", context=member), draft_row("b", REFUSAL, context=member)]))
    effects = dict(Score.objects.filter(metric="effects_correct").values_list("result__revision__traits__key", "value"))
    assert effects == {"a": 1.0, "b": 0.0}
    effect = outcome_in(run, "a").effect
    assert effect is not None
    assert effect.rows[0] == {"member": "Rosa Quispe", "sport": "fulbito", "date": "2026-03-10", "startHour": 19, "hours": 1}
    assert not any(model.objects.exists() for model in (Booking, BookedHour, Court, Member))


def test_a_draft_on_an_occupied_hour_has_no_effect() -> None:
    taken = {"now": "2026-03-09T10:00", "member": "Rosa Quispe", "occupied": [{"date": "2026-03-10", "sport": "fulbito", "hour": 19}]}
    finished_run(make_version([draft_row("a", context=taken)]))
    score = Score.objects.get(metric="effects_correct")
    assert (score.value, "tomada" in score.reason) == (0.0, True)


def test_a_key_made_of_digits_stays_a_text() -> None:
    run = finished_run(make_version([draft_row("2026", REFUSAL, blocking=True), draft_row("a", REFUSAL, blocking=True)]))
    assert verdict_in(run).reasons[0].keys == ("2026", "a")


def test_a_known_limitation_that_passes_is_said() -> None:
    run = finished_run(make_version([draft_row("a", known_limitation="Ninguna validación lo ve.")], max_known_limitations=1))
    assert verdict_in(run).decision == Decision.PASS
    assert any("a" in reason.keys for reason in verdict_in(run).reasons)


def test_too_many_known_limitations_fail() -> None:
    run = finished_run(make_version([draft_row("a", REFUSAL, known_limitation="No se puede.")], max_known_limitations=0))
    assert verdict_in(run).decision == Decision.FAIL
