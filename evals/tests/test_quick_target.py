"""The rules without a model, measured: alone they are the baseline of a model, before a model they save its calls."""

import json
from typing import Any

import pytest

from assistant.quick import RULES_HASH
from assistant.tests.loopback_provider import LoopbackProvider
from evals.models import Dataset, Result, Run
from evals.runner import WrongHelper, work
from evals.selectors import report_of
from evals.services import NotRunnable
from evals.tests.commands import point_at, run_command
from evals.tests.desk import (
    DRAFT,
    REFUSAL,
    aggregates_in,
    draft_output,
    draft_row,
    finished_run,
    make_version,
    new_run,
    outcome_in,
    surroundings,
)

pytestmark = pytest.mark.django_db(transaction=True)

EASY: dict[str, Any] = {"input": {"text": "fulbito mañana 19:00"}}
HARD: dict[str, Any] = {"input": {"text": "una canchita mañana a la hora de siempre"}}


def small_version() -> Any:
    rows = [
        draft_row("facil", **EASY),
        draft_row("dificil", **HARD),
        draft_row("nada", **HARD, expected={"kind": "none"}),
    ]
    return make_version(rows)


def test_a_run_of_the_rules_asks_no_model_and_says_so() -> None:
    run = finished_run(small_version(), target="quick")
    assert (run.model_kind, run.model_name, run.recording_set, run.prompt_variant) == ("rules", "quick", "", "reglas")
    assert (run.prompt_hash, run.system_prompt, run.temperature, run.server) == (RULES_HASH, "", 0.0, "")
    assert (outcome_in(run, "facil").kind, outcome_in(run, "facil").draft.as_row()) == ("draft", DRAFT)  # type: ignore[union-attr]
    assert (outcome_in(run, "dificil").kind, outcome_in(run, "dificil").draft) == ("left", None)
    assert set(run.results.values_list("cost_micro_usd", "input_tokens", "attempts")) == {(0, 0, 0)}


def test_its_report_says_what_share_it_answers_and_how_often_it_is_wrong() -> None:
    done = run_command("eval_run", small_version().dataset.slug, "--target", "quick")
    words = " ".join(done.out.split())
    assert "Ningún modelo: solo reglas Reglas" in words
    assert "responden 1/3 (33 %, IC 95 % 6–79 %) y se equivocan en 0/1 (0 %, IC 95 % 0–79 %). Lo demás lo dejan al modelo." in words
    assert "Casos correctos: 2/3" in words  # «nada» is right too: no draft was due


def test_a_wrong_answer_of_the_rules_is_counted_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of the figure: rules that read 20 where 19 is written."""
    from assistant.quick.hours import Slot

    version = small_version()
    monkeypatch.setattr("assistant.quick.resolve", lambda when, date, now: Slot(20, None))
    rules = report_of(finished_run(version, target="quick")).rules
    assert rules is not None
    assert (rules.answered.numerator, rules.wrong.numerator, rules.wrong.denominator) == (1, 1, 1)


def test_two_runs_of_the_same_rules_say_the_same() -> None:
    version = small_version()
    first, second = (finished_run(version, target="quick", repetitions=2) for _ in range(2))
    said = [
        [(row.revision_id, row.outcome_kind, (row.outcome or {})["draft"]) for row in run.results.order_by("pk")] for run in (first, second)
    ]
    assert said[0] == said[1]
    report = report_of(first)
    assert report.rules is not None
    assert report.changed_between_repetitions == ()
    assert report.rules.answered.denominator == 3  # cases, not rows


def test_other_rules_do_not_go_on_with_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    run = new_run(small_version(), target="quick")
    monkeypatch.setattr("evals.targets.quick.RULES_HASH", "otras")
    with pytest.raises(WrongHelper):
        work(run.pk, surroundings())
    assert set(Result.objects.values_list("status", flat=True)) == {"pending"}


@pytest.mark.parametrize("config", [{"model": "prueba"}, {"model": "scripted:otro"}, {"variant": "base"}])
def test_a_model_or_a_prompt_for_the_rules_is_a_mistake(config: dict[str, str]) -> None:
    with pytest.raises(NotRunnable):
        new_run(small_version(), target="quick", **config)


def test_the_rules_are_no_release() -> None:
    with pytest.raises(NotRunnable, match="usa el sistema del dataset"):
        new_run(small_version(), target="quick", purpose="release")


def test_a_release_runs_the_rules_where_production_does(settings: Any) -> None:
    """Control of the second half: where the switch is off, a release must not be helped by rules that nobody gets."""
    version = small_version()
    settings.ASSISTANT_QUICK = True
    with pytest.raises(NotRunnable, match="«quick-booking-assistant»"):
        new_run(version, purpose="release")
    assert new_run(version, target="quick-booking-assistant", purpose="release").expected_results == 3
    settings.ASSISTANT_QUICK = False
    with pytest.raises(NotRunnable, match="«booking-assistant»"):
        new_run(version, target="quick-booking-assistant", purpose="release")
    assert new_run(version, purpose="release").target == "booking-assistant"


def test_the_command_that_ci_runs_measures_what_goes_out(settings: Any) -> None:
    version = small_version()
    settings.ASSISTANT_QUICK = True
    run_command("eval_run", version.dataset.slug, "--model", "scripted", "--purpose", "release")
    run_command("eval_run", version.dataset.slug, "--model", "scripted")
    assert list(Run.objects.order_by("pk").values_list("target", flat=True)) == ["quick-booking-assistant", "booking-assistant"]


def test_a_dataset_of_both_together_is_released_as_production_is(settings: Any) -> None:
    version = small_version()
    Dataset.objects.update(target="quick-booking-assistant")
    version.refresh_from_db()
    settings.ASSISTANT_QUICK = False
    with pytest.raises(NotRunnable, match="«booking-assistant»"):
        new_run(version, target="quick-booking-assistant", purpose="release")


# --- Beside a model's run -----------------------------------------------------------------------------------------------


def test_a_models_report_names_what_it_has_to_beat(settings: Any) -> None:
    version = small_version()
    rules = finished_run(version, target="quick")
    with LoopbackProvider(answer=lambda call: REFUSAL) as provider:
        point_at(settings, provider)
        done = run_command("eval_run", version.dataset.slug, "--model", "prueba")
    words = " ".join(done.out.split())
    assert f"Sin modelo (corrida {rules.pk}), las reglas responden 1/3" in words
    assert "Solas tienen 2/3 (67 %, IC 95 % 21–94 %) casos correctos, 1 de ellos por no proponer nada donde no tocaba" in words


def test_a_scripted_report_and_one_of_another_version_name_nothing(settings: Any) -> None:
    version = small_version()
    finished_run(version, target="quick")
    assert report_of(finished_run(version)).rules is None
    other = make_version([draft_row("otro")], slug="otro")
    with LoopbackProvider(answer=lambda call: REFUSAL) as provider:
        point_at(settings, provider)
        assert report_of(finished_run(other, model="prueba")).rules is None


def test_the_report_for_machines_has_the_figures(tmp_path: Any) -> None:
    file = tmp_path / "r.json"
    run_command("eval_run", small_version().dataset.slug, "--target", "quick", "--json", str(file))
    rules = json.loads(file.read_text("utf-8"))["rules"]
    assert (rules["answered"]["numerator"], rules["answered"]["denominator"], rules["wrong"]["numerator"]) == (1, 3, 0)


# --- Before a model -----------------------------------------------------------------------------------------------------


def test_before_a_model_only_what_they_leave_is_asked_and_paid(settings: Any) -> None:
    version = small_version()
    with LoopbackProvider(answer=lambda call: REFUSAL) as provider:
        point_at(settings, provider)
        run = finished_run(version, model="prueba", target="quick-booking-assistant")
        assert sorted(call.text.count("siempre") for call in provider.calls) == [1, 1]
    costs = dict(run.results.values_list("revision__case__key", "cost_micro_usd"))
    assert costs["facil"] == 0
    assert costs["dificil"] is not None
    assert costs["dificil"] > 0
    assert outcome_in(run, "facil").kind == "draft"
    assert run.prompt_hash not in (RULES_HASH, finished_run(version).prompt_hash)


def test_the_mark_of_a_recording_is_not_held_against_the_rules() -> None:
    version = make_version([draft_row("facil", draft_output(hours=9), invalid=True, **EASY), draft_row("dificil", draft_output(), **HARD)])
    combined = finished_run(version, target="quick-booking-assistant")
    assert outcome_in(combined, "facil").marked_invalid is None
    assert aggregates_in(combined)["invalid_accepted"].numerator == 0
    assert outcome_in(combined, "dificil").marked_invalid is False


# --- On the shipped datasets --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("slug", "answered", "correct", "n"), [("kit", 4, 10, 14), ("reservas", 21, 63, 213), ("seguridad", 6, 12, 112)])
def test_on_the_shipped_datasets_the_rules_are_never_wrong(slug: str, answered: int, correct: int, n: int, settings: Any) -> None:
    settings.DEBUG = False  # nobody logs in here, and passwords take their time
    run_command("seed_demo")
    run_command("eval_run", slug, "--target", "quick")
    rules = report_of(Run.objects.latest("pk")).rules
    assert rules is not None
    assert rules.correct is not None
    assert (rules.answered.numerator, rules.answered.denominator) == (answered, n)
    assert (rules.wrong.numerator, rules.wrong.denominator) == (0, answered)
    assert (rules.correct.numerator, rules.correct.denominator) == (correct, n)
