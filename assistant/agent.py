"""A bounded loop over tools: the model proposes; this program runs, limits, and decides what enters the context. No Django here.

Nothing here makes the model's last word true: an agent that never ran anything may say that it is done.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from math import ceil, inf
from typing import Any

from assistant.llm import Model, ModelError, ModelRequest, ModelResponse, Usage, estimate_request
from assistant.llm.charges import charge_cost, charge_usage
from assistant.tools import Tool, ToolFailed, check_tools, read_arguments

MAX_LABEL_CHARS, MAX_ARGUMENTS_SHOWN = 120, 2_000
TAIL_SHARE = 4  # a quarter of a cut result is its end: tables say what they are at the top, programs how it went at the bottom
EMPTY_ANSWER = "Error: la respuesta no trae texto ni pide herramientas. Responde a la persona o pide una herramienta."
CUT_ANSWER = "Error: tu respuesta se cortó antes de terminar. Responde más corto."
NO_TOKENS = Usage(0, 0, measured=False)
REFUSED_BY_PERSON = "La persona no autorizó esta acción. No se hizo nada."


class Stop(StrEnum):
    """Why a run is not going on: the model said that it is done, a limit, an outage, or a person who has to say yes or no."""

    MODEL = "model"
    MAX_STEPS = "max-steps"
    CONTEXT_WINDOW = "context-window"
    BUDGET = "budget"
    UNAVAILABLE = "unavailable"
    APPROVAL = "approval"


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """Tool calls of a run, expected tokens of one request, characters of one result, tokens of one answer, seconds of one go."""

    max_steps: int = 8
    context_tokens: int = 8_000
    max_result_chars: int = 4_000
    max_answer_tokens: int = 600
    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Agent:
    """A model with its tools and limits. Raises LethalTrifecta or SameName for tools that do not go together.

    `mask` is what happens to a result of a tool that is not ours before anybody reads it; `clock` counts seconds.
    """

    model: Model
    tools: tuple[Tool, ...]
    limits: AgentLimits = AgentLimits()
    instructions: str = ""
    temperature: float = 0.0
    mask: Callable[[str], str] = str
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        check_tools(self.tools)


@dataclass(frozen=True, slots=True)
class AgentStep:
    """One action of the model and what it was told: `result` as it entered the context, `result_chars` its length before any cut.

    `context_tokens` is what the next request is expected to be; money is that of the answer that asked, on the first of its actions.
    """

    label: str
    arguments: str
    result: str
    result_chars: int
    ok: bool
    was_cut: bool
    context_tokens: int
    cost_micro_usd: int = 0


@dataclass(frozen=True, slots=True)
class AgentRun:
    """What became of a task so far. `messages` and `pending` (calls not yet answered) are what a waiting run goes on from.

    `counted_per_estimated` is how many tokens the server has counted, at most, for one of our estimate.
    """

    messages: tuple[dict[str, Any], ...] = field(repr=False)
    pending: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    steps: tuple[AgentStep, ...] = ()
    answer: str = field(default="", repr=False)
    stop: Stop | None = None
    cause: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    tokens_measured: bool = True
    cost_micro_usd: int = 0
    price_known: bool = True
    model_calls: int = 0
    unbilled_micro_usd: int = field(default=0, repr=False)
    counted_per_estimated: float = 1.0

    @property
    def waits_for(self) -> dict[str, Any] | None:
        """Name and arguments of the call that a person has to decide about, or None."""
        return self.pending[0]["function"] if self.stop is Stop.APPROVAL else None

    def as_row(self) -> dict[str, Any]:
        """JSON-ready; `from_row` reads it back."""
        return asdict(self)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "AgentRun":
        """Reads what `as_row` wrote."""
        parts = dict(row)
        parts["messages"], parts["pending"] = tuple(row["messages"]), tuple(row["pending"])
        parts["steps"] = tuple(AgentStep(**step) for step in row["steps"])
        parts["stop"] = row["stop"] and Stop(row["stop"])
        return cls(**parts)


class NothingToDecide(Exception):  # noqa: N818 -- named after what it is
    """This run waits for nobody."""


def run_agent(task: str, *, agent: Agent) -> AgentRun:
    """What came of a task: always one of the named stops, never a ModelError."""
    messages = ({"role": "system", "content": agent.instructions}, {"role": "user", "content": task})
    return _go_on(AgentRun(messages), agent)


def decide_call(run: AgentRun, *, approved: bool, agent: Agent) -> AgentRun:
    """Goes on with a waiting run: its call runs, or the model hears that the person said no. Raises NothingToDecide."""
    if run.waits_for is None:
        raise NothingToDecide
    going = replace(run, stop=None)
    decided = _run_call(going, agent, approved=True) if approved else _answer_call(going, agent, REFUSED_BY_PERSON, ok=False)
    return _go_on(decided, agent)


def cut_result(text: str, *, limit: int) -> str:
    """The text when it has at most `limit` characters, else its beginning and its end with a notice between that says what is missing."""
    if len(text) <= limit:
        return text
    tail = limit // TAIL_SHARE
    notice = f"\n[Resultado cortado: aquí faltan {len(text) - limit:,} de {len(text):,} caracteres.]\n"
    return text[: limit - tail] + notice + (text[-tail:] if tail else "")


# --- The loop -----------------------------------------------------------------------------------------------------------


def _go_on(run: AgentRun, agent: Agent) -> AgentRun:
    deadline = agent.clock() + agent.limits.seconds
    while run.stop is None:
        if len(run.steps) >= agent.limits.max_steps:
            return replace(run, stop=Stop.MAX_STEPS, pending=())
        run = _run_call(run, agent, deadline) if run.pending else _ask_model(run, agent, deadline)
    return run


def _ask_model(run: AgentRun, agent: Agent, deadline: float) -> AgentRun:
    request = _request(run, agent)
    if _context_tokens(run, request) > agent.limits.context_tokens:
        return replace(run, stop=Stop.CONTEXT_WINDOW)
    if agent.clock() >= deadline:
        return replace(run, stop=Stop.UNAVAILABLE, cause="timeout")
    try:
        response = agent.model.complete(request)
    except ModelError as error:
        stop = Stop.BUDGET if error.cause == "budget" else Stop.UNAVAILABLE
        return replace(_charge(run, request, error, agent.model), stop=stop, cause=error.cause)
    return _take(_charge(run, request, response, agent.model), response, agent)


def _request(run: AgentRun, agent: Agent) -> ModelRequest:
    tools = tuple(tool.as_openai() for tool in agent.tools)
    return ModelRequest(run.messages, agent.temperature, agent.limits.max_answer_tokens, tools=tools)


def _context_tokens(run: AgentRun, request: ModelRequest) -> int:
    """Tokens of a request: estimated, and corrected by what this server has counted so far."""
    return ceil(estimate_request(request) * run.counted_per_estimated)


def _counted_per_estimated(request: ModelRequest, outcome: ModelResponse | ModelError) -> float:
    """1 where the server did not count, or counted less."""
    counted = outcome.usage.input_tokens if isinstance(outcome, ModelResponse) and outcome.usage.measured else 0
    return max(1.0, counted / max(1, estimate_request(request)))


def _charge(run: AgentRun, request: ModelRequest, outcome: ModelResponse | ModelError, model: Model) -> AgentRun:
    """Adds what one exchange used, as the ledger counts it: an attempt without an answer may be charged too."""
    usage, cost = charge_usage(request, outcome), charge_cost(model.name, request, outcome, kind=model.kind)
    return replace(
        run,
        input_tokens=run.input_tokens + usage.input_tokens,
        output_tokens=run.output_tokens + usage.output_tokens,
        tokens_measured=run.tokens_measured and (usage.measured or usage == NO_TOKENS),
        cost_micro_usd=run.cost_micro_usd + cost.micro_usd,
        price_known=run.price_known and (cost.price_known or not cost.micro_usd),
        model_calls=run.model_calls + isinstance(outcome, ModelResponse),
        unbilled_micro_usd=run.unbilled_micro_usd + cost.micro_usd,
        counted_per_estimated=max(run.counted_per_estimated, _counted_per_estimated(request, outcome)),
    )


def _take(run: AgentRun, response: ModelResponse, agent: Agent) -> AgentRun:
    """The answer, the calls to run next, or an error that the model hears about."""
    if response.tool_calls:
        return replace(run, messages=(*run.messages, response.message), pending=response.tool_calls)
    text = _storable(response.text)
    if response.finish_reason == "length":
        return _complain(run, agent, response, "respuesta cortada", CUT_ANSWER)
    if not text.strip():
        return _complain(run, agent, response, "respuesta vacía", EMPTY_ANSWER)
    return replace(run, messages=(*run.messages, response.message), answer=text, stop=Stop.MODEL)


def _complain(run: AgentRun, agent: Agent, response: ModelResponse, label: str, complaint: str) -> AgentRun:
    """An answer of no use is a step too: the limit of steps bounds it."""
    messages = (*run.messages, response.message, {"role": "user", "content": complaint})
    step = AgentStep(label, "", complaint, len(complaint), ok=False, was_cut=False, context_tokens=0)
    return _add_step(replace(run, messages=messages), agent, step)


# --- One call -----------------------------------------------------------------------------------------------------------


def _run_call(run: AgentRun, agent: Agent, deadline: float = inf, *, approved: bool = False) -> AgentRun:
    """Runs the first pending call, or stops before it: a person has to say yes, or time is up. What is not offered gets an error."""
    function = run.pending[0]["function"]
    tool = next((one for one in agent.tools if one.name == function["name"]), None)
    if tool is None:
        return _answer_call(run, agent, f"Error: no existe la herramienta {_short_name(function)}.", ok=False)
    try:
        arguments = read_arguments(tool, function["arguments"])
        if not tool.read_only and not approved:
            return replace(run, stop=Stop.APPROVAL)
        if agent.clock() >= deadline:
            return replace(run, stop=Stop.UNAVAILABLE, cause="timeout", pending=())
        result = tool.run(arguments)
    except ToolFailed as failed:
        return _answer_call(run, agent, f"Error: {_storable(str(failed))}", ok=False)
    return _answer_call(run, agent, agent.mask(result) if tool.origin else result, ok=True)


def _answer_call(run: AgentRun, agent: Agent, result: str, *, ok: bool) -> AgentRun:
    call, rest = run.pending[0], run.pending[1:]
    whole = _storable(result)
    shown = cut_result(whole, limit=agent.limits.max_result_chars)
    message = {"role": "tool", "tool_call_id": call["id"], "content": shown}
    arguments = call["function"]["arguments"][:MAX_ARGUMENTS_SHOWN]
    step = AgentStep(_label(call["function"]), arguments, shown, len(whole), ok, shown is not whole, context_tokens=0)
    return _add_step(replace(run, messages=(*run.messages, message), pending=rest), agent, step)


def _add_step(run: AgentRun, agent: Agent, step: AgentStep) -> AgentRun:
    context = _context_tokens(run, _request(run, agent))
    step = replace(step, context_tokens=context, cost_micro_usd=run.unbilled_micro_usd)
    return replace(run, steps=(*run.steps, step), unbilled_micro_usd=0)


def _label(function: dict[str, Any]) -> str:
    """«get_availability(2026-03-10, voley)», as far as the arguments can be read."""
    try:
        value = json.loads(function["arguments"] or "{}")
    except (ValueError, RecursionError):
        value = {"": "…"}
    values = value.values() if isinstance(value, dict) else [value]
    return _storable(f"{_short_name(function)}({', '.join(map(str, values))})")[:MAX_LABEL_CHARS]


def _short_name(function: dict[str, Any]) -> str:
    return _storable(function["name"])[:60]


def _storable(text: str) -> str:
    """Without NUL and halves of surrogate pairs, which no database can store."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
