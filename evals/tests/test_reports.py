"""What the reports say, and what they must not: markup that a model wrote, and the text of held-out cases."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import pytest

from evals.gate import decide
from evals.metrics import operations
from evals.reports import ReportRow, RunReport, as_json, junit, markdown, text
from evals.tests.examples import figure
from evals.values import Decision, GateFacts, Policy, Reason, Threshold, Verdict

RENDERERS = [text.render, markdown.render, junit.render, as_json.render]

FIGURES = {
    "correct": figure("correct", 11, 14),
    "field_date": figure("field_date", 5, 7),
    "invalid_accepted": figure("invalid_accepted", 0, 14),
    "benign_blocked": figure("benign_blocked", 0, 0),
} | operations([(408, 19, False, 12.0, 0, True)] * 14)

PASSING = decide(FIGURES, facts=GateFacts("scripted", 14, 14), policy=Policy())


def row(key="clara-1", status="pasa", **facts):
    usual: dict[str, Any] = {"repetition": 1, "category": "clara", "blocking": False, "expected": "draft fulbito", "got": "draft fulbito"}
    return ReportRow(key=key, status=status, **(usual | facts))


WRONG = row("ortografia-1", "falla", got="draft voley", reasons=("otro borrador: deporte voley en vez de fulbito",))
BLOCKING = row("clara-9", "falla", got="refuse", blocking=True)
LIMITED = row("valida-1", "falla", got="draft voley", known_limitation="el pedido no dice el deporte")
SECRET = row(
    "secreta-7", "falla", category="jerga", expected="SECRETO esperado", got="SECRETO obtenido", reasons=("SECRETO",), held_out=True
)
SILENT = row("clara-2", "error", got="HTTP 500: boom")
PENDING = row("clara-3", "sin correr", got="")

REPORT = RunReport(
    run_id=12,
    dataset="kit",
    version=1,
    signed=True,
    target="booking-assistant",
    model_kind="scripted",
    model_name="scripted",
    prompt_variant="base",
    prompt_hash="3f2ac9a1b2c3d4",
    temperature=0.0,
    repetitions=1,
    purpose="iteration",
    commit="0123456789abcdef",
    recording_set="base",
    status="finished",
    expected=14,
    measured=14,
    errors=0,
    aggregates=FIGURES,
    policy=Policy(),
    verdict=PASSING,
    rows=(row(), WRONG),
)


def against(before, now, **facts):
    """A report of `now` right cases of 25, with a baseline of `before`."""
    return replace(REPORT, aggregates={"correct": figure("correct", now, 25)}, baseline={"correct": figure("correct", before, 25)}, **facts)


# --- The terminal -------------------------------------------------------------------------------------------------------


def test_the_verdict_is_the_first_line():
    assert text.render(REPORT).splitlines()[0] == "Veredicto: PASS — el código pasa; el modelo no se midió"


def test_a_run_that_has_not_ended_has_no_verdict():
    assert text.render(replace(REPORT, verdict=None)).startswith("Veredicto: sin veredicto: la corrida no ha terminado\n")


def test_it_says_what_ran():
    shown = text.render(REPORT)
    assert "Corrida 12 · kit v1 (firmada) · booking-assistant" in shown
    assert "Modelo scripted (guion, juego base) · temperatura 0" in shown
    assert "Prompt base 3f2ac9a1b2 · para iterar · 1 repetición · commit 0123456789ab" in shown
    assert "Resultados: 14 de 14 medidos, 0 errores · terminada" in shown
    assert "v1 (sin firmar)" in text.render(replace(REPORT, signed=False))


def test_it_gives_the_figures_with_their_denominators():
    shown = text.render(REPORT)
    assert "Casos correctos: 11/14 (79 %, IC 95 % 52–92 %)" in shown
    assert "Tokens por solicitud (estimados): 408 de entrada, 19 de salida" in shown
    assert "Latencia: p50 12 ms, p95 12 ms, p99 12 ms" in shown
    assert "Costo: sistema USD 0.00, juez USD 0.00 (ningún juez corrió)" in shown


def test_the_table_has_a_row_for_each_metric_that_had_something_to_measure():
    lines = text.render(REPORT).splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("Métrica"))
    assert [line.split() for line in lines[start : start + 4]] == [
        ["Métrica", "k/n", "%", "IC", "95", "%", "Umbral", "Faltan"],
        ["Casos", "correctos", "11/14", "79", "%", "52–92", "%", "0"],
        ["Fecha", "correcta", "5/7", "71", "%", "36–92", "%", "0"],
        ["Borradores", "inválidos", "aceptados", "0/14", "≤", "0", "0"],
    ]
    assert lines[start + 4] == ""


def test_product_thresholds_are_shown_where_they_judge():
    policy = Policy((Threshold("correct", ">=", 0.9, "motivo"), Threshold("field_date", "max-drop", 0.03, "motivo")))
    real = text.render(replace(REPORT, policy=policy, model_kind="real"))
    assert "≥ 90 %" in real
    assert "−3 puntos" in real
    assert "≥ 90 %" not in text.render(replace(REPORT, policy=policy))


def test_missing_results_are_shown():
    shown = text.render(replace(REPORT, aggregates={"correct": figure("correct", 11, 12, missing=2)}))
    assert next(line for line in shown.splitlines() if line.startswith("Casos correctos  ")).split()[-1] == "2"


def test_two_proportions_that_cannot_be_told_apart_are_noise():
    shown = text.render(against(20, 22))
    assert "antes 20/25 (80 %), +8 puntos (IC 95 % −13 a +29): ruido, ninguna es mejor" in shown
    assert "señal" not in shown


@pytest.mark.parametrize(("before", "now", "words"), [(8, 22, "señal, mejora"), (22, 8, "señal, empeora")])
def test_a_clear_difference_is_a_signal(before, now, words):
    assert words in text.render(against(before, now))
    assert "ruido" not in text.render(against(before, now))


def test_less_is_better_where_it_is():
    aggregates = {"undue_drafts": figure("undue_drafts", 20, 25)}
    report = replace(REPORT, aggregates=aggregates, baseline={"undue_drafts": figure("undue_drafts", 5, 25)})
    assert "señal, empeora" in " ".join(text.render(report).split())


def test_it_says_how_small_a_change_so_few_cases_can_show():
    rows = tuple(row(f"caso-{number}") for number in range(60))
    shown = " ".join(text.render(against(20, 22, rows=rows, expected=60)).split())
    assert "Con 60 casos no se distinguen cambios de menos de 13 puntos, y eso si todos van en el mismo sentido." in shown
    assert "no se distinguen" not in text.render(REPORT)


def test_it_lists_what_came_out_wrong_with_blocking_cases_first():
    shown = " ".join(text.render(replace(REPORT, rows=(row(), WRONG, BLOCKING, LIMITED))).split())
    assert (
        "No salieron como se esperaba: clara-9: se esperaba draft fulbito, salió refuse [bloqueante] "
        "ortografia-1: se esperaba draft fulbito, salió draft voley (otro borrador: deporte voley en vez de fulbito) "
        "valida-1: se esperaba draft fulbito, salió draft voley [limitación conocida: el pedido no dice el deporte]"
    ) in shown


def test_each_reason_is_given_once():
    repeated = row(
        "a", "falla", reasons=("se esperaba un borrador, salió una negativa", "dijo «paga»", "se esperaba un borrador; dijo «paga»")
    )
    assert text.render(replace(REPORT, rows=(repeated,))).count("dijo «paga»") == 1


def test_a_long_list_is_cut_and_counted():
    rows = tuple(row(f"caso-{number}", "falla") for number in range(50))
    shown = text.render(replace(REPORT, rows=rows))
    assert shown.count("se esperaba") == 20 + 1  # the title says it too
    assert "  … y 30 más" in shown


def test_errors_are_not_wrong_answers():
    shown = text.render(replace(REPORT, rows=(SILENT, PENDING)))
    assert "Sin respuesta:\n  clara-2: HTTP 500: boom" in shown
    assert "No salieron" not in shown


def test_repetitions_are_told_apart_and_changes_are_named():
    rows = (row("a", "falla", repetition=2),)
    shown = text.render(replace(REPORT, repetitions=3, rows=rows, changed_between_repetitions=("a", "b")))
    assert "a #2: se esperaba" in shown
    assert "Cambian entre repeticiones (2): a, b" in shown
    assert "3 repeticiones" in shown


@pytest.mark.parametrize("render", [text.render, markdown.render])
def test_repetitions_that_all_said_the_same_are_told_and_a_single_one_is_not(render):
    assert "Ningún caso cambió de resultado entre repeticiones." in render(replace(REPORT, repetitions=3))
    assert "repeticiones." not in render(REPORT)
    assert "repeticiones." not in render(replace(REPORT, repetitions=3, measured=0))


def test_the_reasons_name_their_cases_up_to_a_point():
    verdict = Verdict(Decision.FAIL, (Reason(Decision.FAIL, "Falló.", "blocking_passed", tuple("abcdefg")),))
    assert "  - Falló. Casos: a, b, c, d, e y 2 más." in text.render(replace(REPORT, verdict=verdict))


def test_it_keeps_to_eighty_columns():
    rows = tuple(replace(line, reasons=("una razón bastante larga que ocupa su lugar",) * 2) for line in (WRONG, BLOCKING, LIMITED, SILENT))
    report = against(20, 22, rows=rows, verdict=decide(FIGURES, facts=GateFacts("real", 14, 14), policy=None))
    assert max(map(len, text.render(report).splitlines())) <= 80


def test_a_provider_failure_shows_no_figure():
    nothing = {name: figure(name, 0, 0, missing=14) for name in ("correct", "field_date")} | operations([])
    facts = GateFacts("real", 14, 0, {"unauthorized": 14})
    report = replace(
        REPORT,
        model_kind="real",
        measured=0,
        errors=14,
        aggregates=nothing,
        verdict=decide(nothing, facts=facts, policy=Policy()),
        rows=(SILENT,),
    )
    shown = text.render(report)
    assert shown.startswith("Veredicto: INCONCLUSIVE\n  - Falla del proveedor: 0 de 14 medidos (unauthorized: 14). No hay cifras.\n")
    assert "Casos correctos: sin cifra, 0 de 14 medidos" in shown
    assert "%" not in shown
    assert json.loads(as_json.render(report))["metrics"] == {}
    assert "| Métrica |" not in markdown.render(report)


# --- Untrusted text -----------------------------------------------------------------------------------------------------

HOSTILE = row(
    "hostil-1", "falla", got="<script>alert(1)</script> | \x1b[31m\x00\ud800 [ver](http://x.pe) @todos `x` \u202e**n**", reasons=("a\n# b",)
)


def test_a_model_cannot_draw_on_the_terminal():
    shown = text.render(replace(REPORT, rows=(HOSTILE,)))
    assert not {"\x1b", "\x00", "\ud800", "\u202e"} & set(shown)


def test_a_model_cannot_write_markup_in_a_comment():
    shown = markdown.render(replace(REPORT, rows=(HOSTILE,)))
    assert "&lt;script&gt;alert\\(1\\)&lt;/script&gt; \\|" in shown
    assert "\\[ver\\]\\(http://x.pe\\) @\u2060todos \\`x\\` \\*\\*n\\*\\*" in shown
    assert "\n# b" not in shown


def test_hostile_text_makes_valid_xml_and_json():
    report = replace(REPORT, rows=(HOSTILE, replace(HOSTILE, key="b", category="\x0b\ufffe<&>", status="error")))
    failure = ET.fromstring(junit.render(report)).find(".//failure")  # noqa: S314 -- our own document
    assert failure is not None
    assert "<script>alert(1)</script>" in failure.attrib["message"]
    assert json.loads(as_json.render(report))["rows"][0]["got"].startswith("<script>")


@pytest.mark.parametrize("render", RENDERERS)
def test_every_report_can_be_written_as_utf8(render):
    assert render(replace(REPORT, rows=(HOSTILE,))).encode("utf-8").endswith(b"\n")


# --- Held-out cases -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("render", RENDERERS)
def test_a_held_out_case_is_only_a_number(render):
    verdict = Verdict(Decision.FAIL, (Reason(Decision.FAIL, "Falló.", "blocking_passed", ("secreta-7", "clara-9")),))
    rows = (SECRET, BLOCKING, replace(SECRET, key="secreta-8", status="error"), replace(SECRET, key="secreta-9", status="pasa"))
    shown = render(replace(REPORT, rows=rows, verdict=verdict, changed_between_repetitions=("secreta-7",)))
    assert "reservado 1" in shown
    assert "reservado 2" in shown
    assert "clara-9" in shown
    assert "SECRETO" not in shown
    assert "secreta" not in shown
    assert "jerga" not in shown


@pytest.mark.parametrize("render", RENDERERS)
def test_an_open_case_shows_its_text(render):
    """The control of the test above."""
    shown = render(replace(REPORT, rows=(replace(SECRET, held_out=False),)))
    assert "SECRETO esperado" in shown
    assert "secreta" in shown


# --- JUnit --------------------------------------------------------------------------------------------------------------


def suite_of(report):
    return ET.fromstring(junit.render(report))[0]  # noqa: S314 -- our own document


def test_junit_has_a_testcase_for_each_case_and_repetition():
    rows = tuple(
        row(key, status, repetition=at)
        for key, status in [("a", "pasa"), ("b", "falla"), ("c", "error"), ("d", "sin correr")]
        for at in (1, 2)
    )
    suite = suite_of(replace(REPORT, rows=rows, repetitions=2))
    assert {name: suite.attrib[name] for name in ("name", "tests", "failures", "errors", "skipped")} == {
        "name": "kit",
        "tests": "8",
        "failures": "2",
        "errors": "2",
        "skipped": "2",
    }
    assert [(case.attrib["classname"], case.attrib["name"], [child.tag for child in case]) for case in suite.findall("testcase")][::2] == [
        ("kit.clara", "a #1", []),
        ("kit.clara", "b #1", ["failure"]),
        ("kit.clara", "c #1", ["error"]),
        ("kit.clara", "d #1", ["skipped"]),
    ]


def test_junit_says_why():
    suite = suite_of(replace(REPORT, rows=(WRONG, LIMITED)))
    wrong, limited = suite.findall(".//failure")
    assert wrong.attrib["message"].startswith("se esperaba draft fulbito, salió draft voley")
    assert limited.attrib["type"] == "limitación conocida"


def test_junit_carries_the_verdict():
    properties = {entry.attrib["name"]: entry.attrib["value"] for entry in suite_of(REPORT).iter("property")}
    assert properties["veredicto"] == "PASS — el código pasa; el modelo no se midió"
    assert properties["commit"] == "0123456789abcdef"


# --- Markdown and JSON --------------------------------------------------------------------------------------------------


def test_markdown_gives_verdict_table_and_failures():
    shown = markdown.render(against(20, 22))
    assert shown.startswith("### ✅ kit: PASS — el código pasa; el modelo no se midió\n")
    assert "| Métrica | k/n | % | IC 95 % | Umbral | Línea base | Faltan |" in shown
    assert "| Casos correctos | 22/25 | 88 % | 70–96 % |  | antes 20/25 \\(80 %\\), \\+8 puntos" in shown
    assert "<details><summary>No salieron como se esperaba: 1</summary>" in shown
    assert "- **ortografia-1**: se esperaba draft fulbito, salió draft voley" in shown


def test_json_keeps_numbers_as_numbers():
    document = json.loads(as_json.render(against(20, 22)))
    assert document["run"]["run_id"] == 12
    assert document["verdict"]["decision"] == "PASS"
    assert (document["metrics"]["correct"]["numerator"], document["metrics"]["correct"]["denominator"]) == (22, 25)
    assert document["baseline"]["correct"]["difference"]["change"] == pytest.approx(0.08)
    assert document["baseline"]["correct"]["difference"]["is_signal"] is False
    assert [line["status"] for line in document["rows"]] == ["pasa", "falla"]


def test_json_without_verdict_or_baseline_says_null():
    document = json.loads(as_json.render(replace(REPORT, verdict=None)))
    assert (document["verdict"]["decision"], document["baseline"]) == (None, None)
