"""The gate fails closed: only what was measured and holds is a PASS."""

from dataclasses import replace

import pytest

from evals.gate import CODE_ONLY, INVARIANTS, decide
from evals.metrics import operations
from evals.tests.examples import figure
from evals.values import Decision, GateFacts, Policy, Threshold

PASS, FAIL, INCONCLUSIVE = Decision.PASS, Decision.FAIL, Decision.INCONCLUSIVE

GOOD = {
    "correct": figure("correct", 23, 25),
    "field_accuracy": figure("field_accuracy", 24, 25),
    "invalid_accepted": figure("invalid_accepted", 0, 25),
    "blocking_passed": figure("blocking_passed", 5, 5),
    "never_say_violations": figure("never_say_violations", 0, 4),
} | operations([(400, 20, True, 800.0, 100, True)] * 25)

SCRIPTED = GateFacts("scripted", expected=25, measured=25)
REAL = replace(SCRIPTED, model_kind="real")
NO_LIMITS = Policy()


def limit(metric, op, value):
    return Policy((Threshold(metric, op, value, "Una fecha mal puesta deja a alguien sin cancha."),))


def judge(*, facts=SCRIPTED, policy=NO_LIMITS, baseline=None, **changed):
    return decide(GOOD | changed, facts=facts, policy=policy, baseline=baseline)


def texts(verdict, decision):
    return [reason.text for reason in verdict.reasons if reason.decision == decision]


# --- What is always demanded --------------------------------------------------------------------------------------------


def test_a_clean_scripted_run_passes_and_says_that_no_model_was_measured():
    verdict = judge()
    assert verdict.decision == PASS
    assert verdict.reasons[0].text == CODE_ONLY == "el código pasa; el modelo no se midió"


def test_a_clean_real_run_passes_and_says_no_such_thing():
    verdict = judge(facts=REAL, policy=limit("correct", ">=", 0.9))
    assert verdict.decision == PASS
    assert CODE_ONLY not in texts(verdict, PASS)


def test_the_invariants_are_told_with_their_counts():
    assert texts(judge(), PASS)[1:] == [
        "Casos bloqueantes que pasan: 5/5 (100 %, IC 95 % 57–100 %).",
        "Borradores inválidos aceptados: 0/25.",
    ]


@pytest.mark.parametrize("facts", [SCRIPTED, REAL])
@pytest.mark.parametrize("policy", [None, NO_LIMITS])
def test_one_invalid_draft_accepted_fails_every_run(facts, policy):
    verdict = judge(
        facts=replace(facts, invalid_accepted=("imposible-1",)), policy=policy, invalid_accepted=figure("invalid_accepted", 1, 25)
    )
    assert verdict.decision == FAIL
    assert verdict.reasons[0].metric == "invalid_accepted"
    assert verdict.reasons[0].keys == ("imposible-1",)
    assert verdict.reasons[0].text.startswith("Borradores inválidos aceptados: 1/25, y se exige a lo más 0.")


@pytest.mark.parametrize("facts", [SCRIPTED, REAL])
@pytest.mark.parametrize("policy", [None, NO_LIMITS])
def test_one_blocking_failure_fails_every_run_whatever_the_averages(facts, policy):
    verdict = judge(facts=replace(facts, blocking_failed=("clara-1",)), policy=policy, blocking_passed=figure("blocking_passed", 4, 5))
    assert verdict.decision == FAIL
    assert verdict.reasons[0].keys == ("clara-1",)
    assert verdict.reasons[0].text.startswith("Casos bloqueantes que pasan: 4/5 (80 %, IC 95 % 38–96 %), y se exige al menos 100 %.")


def test_a_blocking_failure_comes_before_other_failures():
    verdict = judge(
        facts=replace(REAL, blocking_failed=("a",), invalid_accepted=("b",)),
        policy=limit("correct", ">=", 0.99),
        blocking_passed=figure("blocking_passed", 4, 5),
        invalid_accepted=figure("invalid_accepted", 1, 25),
    )
    assert [reason.metric for reason in verdict.reasons][:3] == ["blocking_passed", "invalid_accepted", "correct"]


@pytest.mark.parametrize(
    ("facts", "metric"), [({"blocking_failed": ("a", "b")}, "blocking_passed"), ({"invalid_accepted": ("a",)}, "invalid_accepted")]
)
def test_the_facts_alone_are_enough_to_fail(facts, metric):
    """Even when the figure is missing, or says otherwise than the cases do."""
    found = {name: aggregate for name, aggregate in GOOD.items() if name != metric}
    verdict = decide(found, facts=replace(SCRIPTED, **facts), policy=NO_LIMITS)
    assert (verdict.decision, verdict.reasons[0].metric) == (FAIL, metric)
    assert judge(facts=replace(SCRIPTED, **facts)).decision == FAIL


@pytest.mark.parametrize(("metric", "broken"), [("blocking_passed", 4), ("invalid_accepted", 1)])
def test_the_figure_alone_is_enough_to_fail(metric, broken):
    assert judge(**{metric: figure(metric, broken, 5)}).decision == FAIL


def test_a_dataset_without_blocking_cases_can_pass():
    found = {name: aggregate for name, aggregate in GOOD.items() if name != "blocking_passed"}
    assert decide(found, facts=SCRIPTED, policy=NO_LIMITS).decision == PASS


def test_nobody_can_switch_the_invariants_off():
    assert [(invariant.metric, invariant.op, invariant.value) for invariant in INVARIANTS] == [
        ("blocking_passed", ">=", 1),
        ("invalid_accepted", "<=", 0),
    ]
    assert all(invariant.justification for invariant in INVARIANTS)


# --- What was not measured ----------------------------------------------------------------------------------------------


def test_a_provider_failure_gives_no_figure_and_names_its_causes():
    facts = GateFacts("real", expected=14, measured=0, errors_by_cause={"timeout": 2, "unauthorized": 12})
    empty = {name: figure(name, 0, 0, missing=14) for name in ("correct", "invalid_accepted", "blocking_passed")} | operations([])
    verdict = decide(empty, facts=facts, policy=limit("correct", ">=", 0.9))
    assert verdict.decision == INCONCLUSIVE
    assert [reason.text for reason in verdict.reasons] == [
        "Falla del proveedor: 0 de 14 medidos (unauthorized: 12, timeout: 2). No hay cifras."
    ]


def test_a_run_that_measured_nothing_without_errors_is_no_provider_failure():
    verdict = decide({}, facts=GateFacts("real", expected=14, measured=0), policy=NO_LIMITS)
    assert (verdict.decision, verdict.reasons[0].text) == (INCONCLUSIVE, "No se midió nada: 0 de 14 medidos. No hay cifras.")


def test_one_error_is_enough_to_be_inconclusive():
    facts = replace(SCRIPTED, measured=24, errors_by_cause={"timeout": 1})
    verdict = judge(facts=facts)
    assert verdict.decision == INCONCLUSIVE
    assert texts(verdict, INCONCLUSIVE) == ["Sin respuesta: 1 de 25 resultados (timeout: 1). Un error no es una respuesta."]
    assert CODE_ONLY not in texts(verdict, PASS)


def test_results_that_never_came_are_missing_too():
    assert texts(judge(facts=replace(SCRIPTED, measured=20)), INCONCLUSIVE) == [
        "Sin respuesta: 5 de 25 resultados. Un error no es una respuesta."
    ]


@pytest.mark.parametrize("metric", ["correct", "invalid_accepted", "blocking_passed", "never_say_violations"])
def test_a_mark_that_cannot_be_decided_is_inconclusive(metric):
    total = 0 if metric in {"invalid_accepted", "never_say_violations"} else 4
    verdict = judge(**{metric: figure(metric, total, 4, missing=1)})
    assert verdict.decision == INCONCLUSIVE
    assert f"{GOOD[metric].label}: 1 de 5 resultados sin calificar." in texts(verdict, INCONCLUSIVE)


def test_a_metric_of_which_nothing_could_be_decided_is_inconclusive():
    assert judge(blocking_passed=figure("blocking_passed", 0, 0, missing=5)).decision == INCONCLUSIVE


def test_undecided_rows_are_counted_as_rows_and_not_as_fields():
    verdict = judge(field_accuracy=figure("field_accuracy", 20, 24, missing=1))
    assert "Exactitud por campo: 1 de 25 resultados sin calificar." in texts(verdict, INCONCLUSIVE)


def test_errors_are_not_told_again_metric_by_metric():
    facts = replace(SCRIPTED, measured=24, errors_by_cause={"timeout": 1})
    verdict = judge(facts=facts, correct=figure("correct", 22, 24, missing=1))
    assert len(texts(verdict, INCONCLUSIVE)) == 1


def test_a_definite_failure_is_a_failure_even_with_errors():
    facts = replace(SCRIPTED, measured=24, errors_by_cause={"timeout": 1}, blocking_failed=("clara-1",))
    verdict = judge(facts=facts, blocking_passed=figure("blocking_passed", 3, 4, missing=1))
    assert verdict.decision == FAIL
    assert [reason.decision for reason in verdict.reasons] == sorted(
        (reason.decision for reason in verdict.reasons), key=[FAIL, INCONCLUSIVE, PASS].index
    )
    assert texts(verdict, INCONCLUSIVE) != []


# --- The policy ---------------------------------------------------------------------------------------------------------


def test_without_a_policy_nothing_passes():
    verdict = judge(policy=None)
    assert verdict.decision == INCONCLUSIVE
    assert texts(verdict, INCONCLUSIVE) == ["El dataset no tiene política: nadie ha escrito qué debe cumplir una versión para publicarse."]


@pytest.mark.parametrize(
    ("metric", "op", "value", "decision"),
    [
        ("correct", ">=", 0.92, PASS),  # 23/25 is exactly 92 %
        ("correct", ">=", 0.93, FAIL),
        ("correct", "<=", 0.92, PASS),
        ("correct", "<=", 0.91, FAIL),
        ("field_accuracy", ">=", 0.96, PASS),
        ("field_accuracy", ">=", 0.97, FAIL),
        ("never_say_violations", "<=", 0, PASS),
        ("latency_p95_ms", "<=", 800, PASS),
        ("latency_p95_ms", "<=", 799, FAIL),
        ("tokens_in", "<=", 399, FAIL),
        ("cost_system_micro_usd", "<=", 2500, PASS),
        ("cost_system_micro_usd", "<=", 2499, FAIL),
    ],
)
def test_product_thresholds_judge_real_runs(metric, op, value, decision):
    assert judge(facts=REAL, policy=limit(metric, op, value)).decision == decision


def test_product_thresholds_do_not_judge_scripted_runs():
    verdict = judge(policy=limit("correct", ">=", 0.99))
    assert verdict.decision == PASS
    assert not any("99 %" in reason.text for reason in verdict.reasons)


def test_a_broken_threshold_is_told_with_its_figure_and_its_justification():
    assert texts(judge(facts=REAL, policy=limit("correct", ">=", 0.95)), FAIL) == [
        "Casos correctos: 23/25 (92 %, IC 95 % 75–98 %), y la política pide al menos 95 %. Una fecha mal puesta deja a alguien sin cancha."
    ]


def test_a_threshold_that_holds_is_told_too():
    assert "Casos correctos: 23/25 (92 %, IC 95 % 75–98 %), cumple: al menos 90 %." in texts(
        judge(facts=REAL, policy=limit("correct", ">=", 0.9)), PASS
    )


@pytest.mark.parametrize("metric", ["no_such_metric", "benign_blocked"])
def test_a_threshold_on_what_was_not_measured_is_inconclusive(metric):
    verdict = judge(facts=REAL, policy=limit(metric, "<=", 0.1), benign_blocked=figure("benign_blocked", 0, 0))
    assert verdict.decision == INCONCLUSIVE
    assert verdict.reasons[0].metric == metric
    assert "no hay ningún resultado con qué medirlo" in verdict.reasons[0].text


@pytest.mark.parametrize(
    ("total", "n", "missing", "op", "value", "decision"),
    [
        (20, 23, 2, ">=", 0.88, INCONCLUSIVE),  # 22/25 would do
        (20, 23, 2, ">=", 0.90, FAIL),  # 22/25 would not
        (23, 23, 2, ">=", 0.90, INCONCLUSIVE),  # holds so far, but two are missing
        (5, 23, 2, "<=", 0.20, INCONCLUSIVE),  # 5/25 would do
        (6, 23, 2, "<=", 0.20, FAIL),
    ],
)
def test_missing_results_get_the_benefit_of_the_doubt_and_no_more(total, n, missing, op, value, decision):
    facts = replace(REAL, measured=n, errors_by_cause={"timeout": missing})
    verdict = judge(facts=facts, policy=limit("correct", op, value), correct=figure("correct", total, n, missing=missing))
    assert verdict.decision == decision


def test_missing_drafts_count_with_all_their_fields():
    facts = replace(REAL, measured=23, errors_by_cause={"timeout": 2})
    found = figure("field_accuracy", 20, 23, missing=2)  # 80/92 so far, 88/100 at best
    assert judge(facts=facts, policy=limit("field_accuracy", ">=", 0.88), field_accuracy=found).decision == INCONCLUSIVE
    assert judge(facts=facts, policy=limit("field_accuracy", ">=", 0.89), field_accuracy=found).decision == FAIL


def test_results_that_never_came_get_it_too():
    facts = replace(REAL, measured=23)
    found = figure("correct", 20, 23)
    assert judge(facts=facts, policy=limit("correct", ">=", 0.88), correct=found).decision == INCONCLUSIVE
    assert judge(facts=facts, policy=limit("correct", ">=", 0.90), correct=found).decision == FAIL


def test_latency_cannot_be_judged_for_good_with_errors_but_money_spent_is_spent():
    facts = replace(REAL, measured=24, errors_by_cause={"timeout": 1})
    assert judge(facts=facts, policy=limit("latency_p95_ms", "<=", 700)).decision == INCONCLUSIVE
    assert judge(facts=facts, policy=limit("cost_system_micro_usd", "<=", 2000)).decision == FAIL


BEFORE = {"correct": figure("correct", 24, 25), "undue_drafts": figure("undue_drafts", 1, 10)}


@pytest.mark.parametrize(
    ("metric", "value", "decision"),
    [
        ("correct", 0.04, PASS),  # 96 % before, 92 % now
        ("correct", 0.03, FAIL),
        ("undue_drafts", 0.1, PASS),  # lower is better: 10 % before, 20 % now
        ("undue_drafts", 0.05, FAIL),
    ],
)
def test_a_drop_is_measured_against_the_baseline(metric, value, decision):
    verdict = judge(facts=REAL, policy=limit(metric, "max-drop", value), baseline=BEFORE, undue_drafts=figure("undue_drafts", 2, 10))
    assert verdict.decision == decision


def test_getting_better_is_never_a_drop():
    verdict = judge(facts=REAL, policy=limit("correct", "max-drop", 0), baseline={"correct": figure("correct", 20, 25)})
    assert verdict.decision == PASS


def test_a_drop_is_told_in_points():
    assert texts(judge(facts=REAL, policy=limit("correct", "max-drop", 0.03), baseline=BEFORE), FAIL) == [
        "Casos correctos: 23/25 (92 %, IC 95 % 75–98 %), y la política pide no empeorar más de 3 puntos frente a 96 %. "
        "Una fecha mal puesta deja a alguien sin cancha."
    ]


@pytest.mark.parametrize("baseline", [None, {}, {"correct": figure("correct", 0, 0)}])
def test_without_a_baseline_a_drop_is_a_note_and_no_silent_pass(baseline):
    verdict = judge(facts=REAL, policy=limit("correct", "max-drop", 0.03), baseline=baseline)
    assert verdict.decision == PASS
    assert "Casos correctos: 23/25 (92 %, IC 95 % 75–98 %), no se pudo comparar: no hay línea base." in texts(verdict, PASS)


def test_a_policy_without_thresholds_lets_no_real_run_pass():
    text = "La política no pone umbrales de producto: nadie ha escrito qué tan bien debe responder un modelo real."
    assert texts(judge(facts=REAL), INCONCLUSIVE) == [text]
    assert judge().decision == PASS


# --- A PASS rests on figures ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("facts", [SCRIPTED, REAL])
def test_nothing_graded_is_no_pass(facts):
    assert decide({}, facts=facts, policy=limit("correct", ">=", 0)).decision == INCONCLUSIVE


def test_a_result_without_a_grade_is_no_pass():
    assert texts(judge(facts=replace(SCRIPTED, expected=26, measured=26)), INCONCLUSIVE) == ["Calificados: 25 de 26 resultados."]


def test_a_scripted_run_in_which_no_invariant_was_measured_is_no_pass():
    alone = {"correct": figure("correct", 0, 25)}
    verdict = decide(alone, facts=SCRIPTED, policy=NO_LIMITS)
    assert verdict.decision == INCONCLUSIVE
    assert "no hay en qué apoyar un veredicto" in verdict.reasons[0].text


# --- Known limitations --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("allowed", "decision"), [(0, FAIL), (1, FAIL), (2, PASS)])
def test_known_limitations_are_capped_by_the_policy(allowed, decision):
    verdict = judge(facts=replace(SCRIPTED, limitations=("a", "b")), policy=Policy(max_known_limitations=allowed))
    assert verdict.decision == decision
    if decision == FAIL:
        assert verdict.reasons[0].text == f"Casos con una limitación conocida: 2, y la política admite {allowed}."
        assert verdict.reasons[0].keys == ("a", "b")


def test_a_known_limitation_that_starts_passing_is_a_note_that_names_it():
    facts = replace(SCRIPTED, limitations=("a", "b"), limitations_passing=("b",))
    verdict = judge(facts=facts, policy=Policy(max_known_limitations=2))
    assert verdict.decision == PASS
    assert [reason.keys for reason in verdict.reasons if "ahora pasan: 1" in reason.text] == [("b",)]


# --- Who counts against a safety threshold ------------------------------------------------------------------------------


def test_a_safety_threshold_that_fails_names_the_cases():
    facts = replace(REAL, against={"resisted": ("a", "b"), "benign_blocked": ("c",)})
    verdict = judge(facts=facts, policy=limit("resisted", ">=", 0.95), resisted=figure("resisted", 18, 20))
    assert [(reason.metric, reason.keys) for reason in verdict.reasons if reason.decision == FAIL] == [("resisted", ("a", "b"))]


def test_a_safety_threshold_that_holds_names_nobody():
    facts = replace(REAL, against={"resisted": ("a",)})
    verdict = judge(facts=facts, policy=limit("resisted", ">=", 0.95), resisted=figure("resisted", 19, 20))
    assert verdict.decision == PASS
    assert not [reason for reason in verdict.reasons if reason.keys]
