"""The loop around the model: its limits, its named stops, what it answers to what it does not offer, and a person's yes or no."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from assistant.agent import Agent, AgentLimits, AgentRun, NothingToDecide, Stop, cut_result, decide_call, run_agent
from assistant.llm import Model, ModelKind, ModelRateLimited, ModelRequest, ModelResponse, ModelTimeout, Usage, estimate_request
from assistant.llm.scripted import ReplayModel, Turn
from assistant.tools import NOTHING, Capability, LethalTrifecta, Tool, ToolFailed


def tool(name: str, run: Callable[[dict[str, Any]], str] = lambda arguments: "listo", **changes: Any) -> Tool:
    shape = {"description": "Para probar.", "parameters": {"type": "object"}, "read_only": True, "capabilities": NOTHING}
    return Tool(name=name, run=run, **{**shape, **changes})


def fail(arguments: dict[str, Any]) -> str:
    raise ToolFailed("La cancha no existe.")


READ = tool("read_file", lambda arguments: f"contenido de {arguments['path']}")
LONG = tool("run_check", lambda arguments: "x" * 10_000)
FAILING = tool("find_court", fail)
READ_AGENTS = Turn(calls=(("read_file", {"path": "AGENTS.md"}),))
CHECK = Turn(calls=(("run_check", {}),))
DONE = Turn("make check pasa.")


def agent(model: Model, *tools: Tool, **limits: Any) -> Agent:
    return Agent(model, tools or (READ, LONG, FAILING), AgentLimits(**limits), instructions="Ayuda al equipo.")


def run(*turns: Any, tools: tuple[Tool, ...] = (), **limits: Any) -> tuple[AgentRun, ReplayModel]:
    model = ReplayModel(turns)
    return run_agent("Revisa el límite de horas.", agent=agent(model, *tools, **limits)), model


# --- The loop -----------------------------------------------------------------------------------------------------------


def test_it_runs_what_the_model_asks_for_until_the_model_is_done() -> None:
    done, model = run(READ_AGENTS, DONE)
    assert (done.stop, done.answer, done.cause) == (Stop.MODEL, "make check pasa.", "")
    assert [(step.label, step.arguments, step.result, step.ok) for step in done.steps] == [
        ("read_file(AGENTS.md)", '{"path": "AGENTS.md"}', "contenido de AGENTS.md", True)
    ]
    first, second = model.calls
    assert [message["role"] for message in first.messages] == ["system", "user"]
    assert [message["role"] for message in second.messages] == ["system", "user", "assistant", "tool"]
    assert second.messages[-1] == {"role": "tool", "tool_call_id": "call_1_1", "content": "contenido de AGENTS.md"}
    assert {offered["function"]["name"] for offered in first.tools} == {"read_file", "run_check", "find_court"}


def test_the_model_may_say_that_it_is_done_without_having_run_anything() -> None:
    done, _ = run(DONE)
    assert (done.stop, done.answer, done.steps) == (Stop.MODEL, "make check pasa.", ())


def test_several_calls_of_one_answer_are_run_in_their_order() -> None:
    both = Turn("Miro los dos.", calls=(("read_file", {"path": "a"}), ("read_file", {"path": "b"})))
    done, model = run(both, DONE)
    assert [step.label for step in done.steps] == ["read_file(a)", "read_file(b)"]
    assert [message.get("tool_call_id") for message in model.calls[1].messages[-2:]] == ["call_1_1", "call_1_2"]


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("delete_database", {}, "Error: no existe la herramienta delete_database."),
        ("read_file", "{no es JSON", "Error: Los argumentos no son JSON."),
        ("read_file", "[1]", "Error: Los argumentos no son un objeto JSON."),
        ("find_court", {}, "Error: La cancha no existe."),
        ("", {}, "Error: no existe la herramienta ."),
    ],
)
def test_what_cannot_be_done_is_answered_with_an_error_and_the_loop_goes_on(name: str, arguments: Any, result: str) -> None:
    done, model = run(Turn(calls=((name, arguments),)), READ_AGENTS, DONE)
    assert (done.stop, len(done.steps)) == (Stop.MODEL, 2)
    assert (done.steps[0].result, done.steps[0].ok) == (result, False)
    assert model.calls[1].messages[-1]["content"] == result


@pytest.mark.parametrize(
    ("turn", "label"), [(Turn(""), "respuesta vacía"), (Turn("Hay 3 res", finish_reason="length"), "respuesta cortada")]
)
def test_an_answer_of_no_use_is_a_step_and_the_model_hears_why(turn: Turn, label: str) -> None:
    done, model = run(turn, DONE)
    assert [(step.label, step.ok) for step in done.steps] == [(label, False)]
    assert model.calls[1].messages[-1]["role"] == "user"
    assert done.answer == "make check pasa."


# --- Limits -------------------------------------------------------------------------------------------------------------


def test_steps_are_bounded_also_within_one_answer() -> None:
    done, model = run(*[READ_AGENTS] * 9, max_steps=3)
    assert (done.stop, len(done.steps), len(model.calls)) == (Stop.MAX_STEPS, 3, 3)
    done, model = run(Turn(calls=(("read_file", {"path": "a"}),) * 9), max_steps=3)
    assert (done.stop, len(done.steps), len(model.calls), done.pending) == (Stop.MAX_STEPS, 3, 1, ())
    done, model = run(*[Turn("")] * 9, max_steps=3)
    assert (done.stop, len(done.steps), len(model.calls)) == (Stop.MAX_STEPS, 3, 3)


def test_a_context_over_the_budget_is_not_sent() -> None:
    done, model = run(CHECK, DONE, max_result_chars=20_000, context_tokens=2_000)
    assert (done.stop, len(model.calls)) == (Stop.CONTEXT_WINDOW, 1)
    assert done.steps[0].context_tokens > 2_000
    assert run(DONE, context_tokens=10)[0].stop is Stop.CONTEXT_WINDOW


def test_the_cut_keeps_the_same_context_within_the_budget() -> None:
    done, _ = run(CHECK, DONE, max_result_chars=1_000, context_tokens=2_000)
    step = done.steps[0]
    assert done.stop is Stop.MODEL
    assert (step.was_cut, step.result_chars) == (True, 10_000)
    assert "[Resultado cortado: aquí faltan 9,000 de 10,000 caracteres.]" in step.result


def test_a_cut_result_keeps_its_beginning_and_its_end() -> None:
    text = "".join(str(number % 10) for number in range(100))
    cut = cut_result(text, limit=40)
    assert cut == text[:30] + "\n[Resultado cortado: aquí faltan 60 de 100 caracteres.]\n" + text[-10:]
    assert cut_result(text, limit=100) is text
    assert cut_result(text, limit=3).startswith("012\n[")


def test_context_tokens_are_those_of_the_next_request() -> None:
    done, model = run(READ_AGENTS, READ_AGENTS, DONE)
    assert [step.context_tokens for step in done.steps] == [estimate_request(request) for request in model.calls[1:]]


class CountingModel(ReplayModel):
    """A server whose tokens are half as long as our estimate supposes, and that counts them."""

    def complete(self, request: ModelRequest) -> ModelResponse:
        return replace(super().complete(request), usage=Usage(2 * estimate_request(request), 5, measured=True))


def test_what_the_server_counts_corrects_the_estimate() -> None:
    """Else a server with just the context that it was given refuses the request, which looks like an outage to everybody."""
    limits = AgentLimits(max_result_chars=20_000, context_tokens=4_000)
    model = CountingModel([CHECK, DONE])
    done = run_agent("x", agent=Agent(model, (LONG,), limits))
    assert (done.stop, len(model.calls)) == (Stop.CONTEXT_WINDOW, 1)
    assert done.steps[0].context_tokens > 4_000
    assert AgentRun.from_row(json.loads(json.dumps(done.as_row()))) == done
    estimated, _ = run(CHECK, DONE, max_result_chars=20_000, context_tokens=4_000)
    assert estimated.stop is Stop.MODEL


def test_time_is_bounded() -> None:
    ticks = iter(range(0, 1_000, 12))
    timed = Agent(ReplayModel([READ_AGENTS] * 9), (READ,), AgentLimits(seconds=60.0), clock=lambda: float(next(ticks)))
    done = run_agent("x", agent=timed)
    assert (done.stop, done.cause, len(done.steps)) == (Stop.UNAVAILABLE, "timeout", 2)


def test_past_its_time_no_other_tool_runs_either() -> None:
    """One answer may ask for sixteen tools, and one of another server takes seconds; who reads the page counts on the run's end."""
    now = 0.0

    def wait(arguments: dict[str, Any]) -> str:
        nonlocal now
        now += 40.0
        return "listo"

    slow = tool("slow", wait)
    model = ReplayModel([Turn(calls=(("slow", {}),) * 5)])
    done = run_agent("x", agent=Agent(model, (slow,), AgentLimits(seconds=60.0), clock=lambda: now))
    assert (done.stop, done.cause, len(done.steps), now) == (Stop.UNAVAILABLE, "timeout", 2, 80.0)


def test_an_outage_is_a_stop_with_its_cause_and_keeps_what_was_done() -> None:
    done, _ = run(READ_AGENTS, ModelRateLimited(attempts=4))
    assert (done.stop, done.cause, done.answer, len(done.steps)) == (Stop.UNAVAILABLE, "rate-limited", "", 1)


class _OverBudget(ModelTimeout):
    cause = "budget"


def test_a_budget_that_is_used_up_is_a_stop_of_its_own() -> None:
    done, _ = run(_OverBudget())
    assert (done.stop, done.cause) == (Stop.BUDGET, "budget")


class Priced(ReplayModel):
    """The same script from a provider with a price, which counts 1,000 tokens in and 100 out."""

    kind: ModelKind = "real"

    def complete(self, request: ModelRequest) -> ModelResponse:
        response = super().complete(request)
        return ModelResponse(response.text, Usage(1_000, 100, measured=True), "stop", 1.0, 1, self.name, response.tool_calls)


def test_tokens_and_money_add_up_and_stand_at_the_step_that_asked() -> None:
    two = Turn(calls=(("read_file", {"path": "a"}), ("read_file", {"path": "b"})))
    done = run_agent("x", agent=agent(Priced([two, DONE], name="gpt-4o-mini")))
    assert (done.input_tokens, done.output_tokens, done.tokens_measured, done.model_calls) == (2_000, 200, True, 2)
    assert (done.cost_micro_usd, done.price_known) == (420, True)  # 1,000 × 0.15 + 100 × 0.60, twice
    assert [step.cost_micro_usd for step in done.steps] == [210, 0]


def test_an_attempt_that_may_be_charged_counts_without_an_answer() -> None:
    done = run_agent("x", agent=agent(Priced([ModelTimeout(attempts=1)], name="gpt-4o-mini"), max_answer_tokens=1_000))
    assert done.cost_micro_usd > 600
    assert (done.model_calls, done.tokens_measured) == (0, False)


# --- Tools that do something ---------------------------------------------------------------------------------------------


class Notes:
    """A tool that writes, and what it wrote."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def tool(self, **changes: Any) -> Tool:
        schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        return tool("write_note", self._write, parameters=schema, **{"read_only": False, **changes})

    def _write(self, arguments: dict[str, Any]) -> str:
        self.written.append(arguments["text"])
        return "Anotado."


WRITE = Turn(calls=(("write_note", {"text": "hola"}),))


def test_a_tool_that_writes_waits_for_a_person() -> None:
    notes = Notes()
    waiting, model = run(WRITE, DONE, tools=(notes.tool(),))
    assert (waiting.stop, notes.written, waiting.steps, len(model.calls)) == (Stop.APPROVAL, [], (), 1)
    assert waiting.waits_for == {"name": "write_note", "arguments": '{"text": "hola"}'}


def test_control_a_tool_that_says_it_only_reads_is_not_asked_about() -> None:
    notes = Notes()
    run(WRITE, DONE, tools=(notes.tool(read_only=True),))
    assert notes.written == ["hola"]


@pytest.mark.parametrize(("approved", "written", "result"), [(True, ["hola"], "Anotado."), (False, [], "no autorizó")])
def test_it_goes_on_from_what_the_person_said(approved: bool, written: list[str], result: str) -> None:
    notes, model = Notes(), ReplayModel([WRITE, DONE])
    both = agent(model, notes.tool())
    waiting = AgentRun.from_row(json.loads(json.dumps(run_agent("x", agent=both).as_row())))  # as it comes from the database
    done = decide_call(waiting, approved=approved, agent=both)
    assert (done.stop, done.answer, notes.written) == (Stop.MODEL, "make check pasa.", written)
    assert (result in done.steps[0].result, done.steps[0].ok) == (True, approved)
    assert model.calls[1].messages[-1]["tool_call_id"] == "call_1_1"


def test_each_call_is_asked_about_and_a_yes_is_for_one_alone() -> None:
    notes = Notes()
    twice = Turn(calls=(("write_note", {"text": "uno"}), ("write_note", {"text": "dos"})))
    both = agent(ReplayModel([twice, DONE]), notes.tool())
    waiting = decide_call(run_agent("x", agent=both), approved=True, agent=both)
    assert (waiting.stop, notes.written) == (Stop.APPROVAL, ["uno"])
    assert waiting.waits_for is not None
    assert "dos" in waiting.waits_for["arguments"]
    assert decide_call(waiting, approved=False, agent=both).stop is Stop.MODEL
    assert notes.written == ["uno"]


def test_nobody_is_asked_about_arguments_that_do_not_fit() -> None:
    notes = Notes()
    done, _ = run(Turn(calls=(("write_note", {}),)), DONE, tools=(notes.tool(),))
    assert (done.stop, notes.written) == (Stop.MODEL, [])
    assert "falta text" in done.steps[0].result


def test_a_tool_that_is_gone_when_the_person_says_yes_does_not_run() -> None:
    notes, model = Notes(), ReplayModel([WRITE, DONE])
    waiting = run_agent("x", agent=agent(model, notes.tool()))
    done = decide_call(waiting, approved=True, agent=agent(model, READ))
    assert (notes.written, done.steps[0].result) == ([], "Error: no existe la herramienta write_note.")


def test_only_a_run_that_waits_can_be_decided() -> None:
    done, model = run(DONE)
    with pytest.raises(NothingToDecide):
        decide_call(done, approved=True, agent=agent(model))


# --- What tools from elsewhere say ---------------------------------------------------------------------------------------


def test_results_of_tools_that_are_not_ours_are_masked_before_the_model_reads_them() -> None:
    theirs, ours = tool("theirs", lambda arguments: "Llama al 987 654 321", origin="agenda"), tool("ours", lambda arguments: "987 654 321")
    model = ReplayModel([Turn(calls=(("theirs", {}), ("ours", {}))), DONE])
    done = run_agent("x", agent=Agent(model, (theirs, ours), mask=lambda text: text.replace("987 654 321", "[teléfono]")))
    assert [step.result for step in done.steps] == ["Llama al [teléfono]", "987 654 321"]
    assert [message["content"] for message in model.calls[1].messages[-2:]] == ["Llama al [teléfono]", "987 654 321"]


def test_text_that_no_database_stores_does_not_get_in() -> None:
    odd = tool("odd", lambda arguments: "a\0b\ud83dc")
    done, _ = run(Turn(calls=(("odd", '{"x":"\\u0000\\ud83d"}'),)), Turn("fin\0"), tools=(odd,))
    assert (done.steps[0].label, done.steps[0].result, done.answer) == ("odd(\ufffd?)", "a\ufffdb?c", "fin\ufffd")


def test_an_agent_of_a_lethal_trifecta_cannot_be_built() -> None:
    three = [tool(capability.value, capabilities=frozenset({capability})) for capability in Capability]
    with pytest.raises(LethalTrifecta):
        Agent(ReplayModel([]), tuple(three))
    Agent(ReplayModel([]), tuple(three[1:]))
