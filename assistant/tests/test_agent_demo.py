"""`make agente`: the figures that the demonstration shows, and what a person reads of them."""

from io import StringIO

from django.core.management import call_command

from assistant.agent import Stop
from assistant.agent_demo import CUT_CHARS, DONE, LONG, SCRIPT, SHORT, SUMMARY, last_context, play


def contexts(check: str, **limits: int) -> list[int]:
    return [step.context_tokens for step in play(SCRIPT, check=check, **limits).steps]


def test_a_long_result_makes_the_context_nine_times_as_large_with_the_same_information() -> None:
    assert contexts(SHORT) == [153, 196, 227]
    assert contexts(LONG) == [153, 196, 2_099]
    assert round(2_099 / 227, 1) == 9.2
    assert SUMMARY in SHORT
    assert SUMMARY in LONG


def test_the_cut_keeps_it_small_and_the_summary_in() -> None:
    run = play(SCRIPT, check=LONG, max_result_chars=CUT_CHARS)
    assert last_context(run) == 335
    assert run.steps[-1].result.endswith(SUMMARY)
    assert "aquí faltan 7,118 de 7,518 caracteres" in run.steps[-1].result


def test_the_model_may_say_that_it_is_done_without_having_run_anything() -> None:
    run = play((DONE,), check=SHORT)
    assert (run.stop, run.answer, run.steps) == (Stop.MODEL, "Revisé el límite de horas. make check pasa.", ())


def test_the_command_shows_contexts_ratio_and_cut() -> None:
    said = StringIO()
    call_command("agent_demo", stdout=said)
    lines = said.getvalue().splitlines()
    assert "   run_check()                      contexto:    227 tokens" in lines
    assert "   run_check()                      contexto:  2,099 tokens" in lines
    assert "   run_check()                      contexto:    335 tokens  (cortado, de 7,518 caracteres)" in lines
    assert f"   El contexto termina 9.2 veces más grande, con la misma información: {SUMMARY}" in lines
    assert any("Ningún paso: nadie corrió make check." in line for line in lines)
    assert any(line.endswith("Error: no existe la herramienta delete_database.") for line in lines)
    assert "   se detuvo porque llegó al máximo de pasos" in lines
    assert max(map(len, lines)) <= 140
