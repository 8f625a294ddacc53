"""Choosing a model is three questions in this order: does it take tools, does the whole tray fit, what does it cost?

Each is asked of the live server with a real call, and the first no ends it: a low price is worth nothing without tools.
"""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from assistant.estimate import TYPICAL_REQUEST
from assistant.llm import Model, ModelBadRequest, ModelRequest, ModelResponse, ModelServerError, Usage, estimate_request
from assistant.llm.catalog import cost_micro_usd
from assistant.pipeline import MAX_INPUT_CHARS
from assistant.prompts import VARIANTS, render
from assistant.prompts.agent import agent_instructions
from assistant.staff_tools import staff_tools
from assistant.tools import ToolFailed, read_arguments
from bookings.clock import in_lima
from bookings.rules import CLOSES_AT, MAX_DAYS_AHEAD, OPENS_AT, Sport
from bookings.values import OccupiedHour

ASKED_TOOL = "get_availability"
ASKS_FOR_TOOL = "¿Qué horas de fulbito hay libres mañana? Consúltalo con la herramienta."
DEAREST_CHARACTER = "🏐"  # four bytes: to tokenizers that do not know it, as many tokens
CUT_BELOW = 0.8  # a prompt that counts fewer tokens than this share of what its length makes expect was cut
PER = 1_000

PRODUCTION_VARIANT = VARIANTS[0]


class Answer(NamedTuple):
    """One of the questions with a yes or a no, and the sentence in Spanish that says why."""

    question: str
    ok: bool
    sentence: str


@dataclass
class Check:
    """What is asked and how. `context` is in tokens, None when nobody knows; `most_usd` is a limit for 1,000 typical requests.

    `agent_context` is how far the staff's agent lets a conversation grow, in tokens.
    """

    model: Model
    now: dt.datetime
    max_tokens: int
    agent_context: int
    context: int | None = None
    most_usd: Decimal | None = None
    usages: dict[str, Usage] = field(default_factory=dict)


def check_model(check: Check) -> Iterator[Answer]:
    """The answers up to the first no. A ModelError that is no answer to the question passes through."""
    for ask in (_takes_tools, _tray_fits, _costs_little):
        answer = ask(check)
        yield answer
        if not answer.ok:
            return


# --- The requests -------------------------------------------------------------------------------------------------------


def typical_request(now: dt.datetime, max_tokens: int) -> ModelRequest:
    """What a neighbour asks on a day on which nothing is taken."""
    return ModelRequest(render(PRODUCTION_VARIANT, text=TYPICAL_REQUEST, now=now, occupied=()), 0.0, max_tokens)


def largest_request(now: dt.datetime, max_tokens: int) -> ModelRequest:
    """The largest prompt that production can build: every hour of the fortnight taken, and the longest text of the dearest characters."""
    today = in_lima(now).date()
    days = [today + dt.timedelta(days=ahead) for ahead in range(MAX_DAYS_AHEAD + 1)]
    taken = [OccupiedHour(day, sport, hour) for day in days for sport in Sport for hour in range(OPENS_AT, CLOSES_AT)]
    text = DEAREST_CHARACTER * MAX_INPUT_CHARS
    return ModelRequest(render(PRODUCTION_VARIANT, text=text, now=now, occupied=taken), 0.0, max_tokens)


def tool_request(now: dt.datetime, max_tokens: int) -> ModelRequest:
    """What the staff's agent asks first, with all its tools."""
    messages = ({"role": "system", "content": agent_instructions(now)}, {"role": "user", "content": ASKS_FOR_TOOL})
    return ModelRequest(messages, 0.0, max_tokens, tools=tuple(tool.as_openai() for tool in staff_tools(now)))


# --- 1. Tools -----------------------------------------------------------------------------------------------------------


def _takes_tools(check: Check) -> Answer:
    question = "¿Pide herramientas?"
    try:
        response = check.model.complete(tool_request(check.now, check.max_tokens))
    except ModelBadRequest as error:
        return Answer(question, False, f"No: el servidor rechaza un pedido con herramientas. {error}")
    except ModelServerError:
        _ask_typical(check)  # when it fails as well, the server is down, and that is no answer
        return Answer(question, False, "No: el servidor falla en cuanto se le ofrecen herramientas, y sin ellas responde.")
    return Answer(question, *_judge_call(response, check.now))


def _judge_call(response: ModelResponse, now: dt.datetime) -> tuple[bool, str]:
    if not response.tool_calls:
        return False, "No: contestó con texto en vez de pedir la herramienta. El agente del personal inventaría los datos."
    function = response.tool_calls[0]["function"]
    tool = next((tool for tool in staff_tools(now) if tool.name == function["name"]), None)
    if tool is None or tool.name != ASKED_TOOL:
        return False, f"No: pidió otra herramienta que la que hacía falta ({function['name'][:40]!a})."
    try:
        read_arguments(tool, function["arguments"])
    except ToolFailed as error:
        return False, f"No: pidió la herramienta con argumentos que no sirven. {error}"
    return True, f"Sí: pidió {tool.name} con argumentos válidos."


# --- 2. The tray --------------------------------------------------------------------------------------------------------


def _tray_fits(check: Check) -> Answer:
    question = "¿Le cabe lo más grande que le podemos mandar?"
    request = largest_request(check.now, check.max_tokens)
    least = estimate_request(request) + check.max_tokens
    if check.context is not None and least > check.context:
        return Answer(question, False, f"No: hacen falta por lo menos {least:,} tokens y su contexto es de {check.context:,}.")
    typical = _ask_typical(check)
    try:
        used = check.model.complete(request).usage
    except ModelBadRequest as error:
        known = f" con su contexto de {check.context:,} tokens" if check.context else ""
        return Answer(question, False, f"No: el servidor rechaza un pedido de ese tamaño{known}. {error}")
    check.usages["largest"] = used
    expected = _expected_tokens(request, typical, check)
    if used.measured and typical.measured and used.input_tokens < CUT_BELOW * expected:
        counted = f"contó {used.input_tokens:,} tokens donde por su largo tocaban {expected:,}"
        return Answer(question, False, f"No: el servidor recorta el pedido sin avisar, {counted}. Dale más contexto.")
    return Answer(question, *_judge_room(check, used))


def _expected_tokens(request: ModelRequest, typical: Usage, check: Check) -> int:
    """The least that the large prompt must count, from what this server counted for the typical one."""
    return typical.input_tokens * estimate_request(request) // estimate_request(typical_request(check.now, check.max_tokens))


def _judge_room(check: Check, used: Usage) -> tuple[bool, str]:
    needed = used.input_tokens + check.max_tokens
    size = f"{needed:,} tokens ({used.input_tokens:,} de pedido{'' if used.measured else ' estimados'} y {check.max_tokens:,} de respuesta)"
    if check.context is None:
        return True, f"Sí: respondió a un pedido de {size}. El servidor no dice su contexto: pásalo con --context para comprobar el margen."
    if needed > check.context:
        return False, f"No: hacen falta {size} y su contexto es de {check.context:,}."
    return True, f"Sí: hacen falta {size} y su contexto es de {check.context:,}.{_warn_agent(check)}"


def _warn_agent(check: Check) -> str:
    """The agent stops by itself at its own limit, which this server might not reach."""
    if check.context is None or check.context >= check.agent_context + check.max_tokens:
        return ""
    fits = check.context - check.max_tokens
    return f" Para el agente del personal baja AGENT_CONTEXT_TOKENS de {check.agent_context:,} a {fits:,} o menos."


# --- 3. The price -------------------------------------------------------------------------------------------------------


def _costs_little(check: Check) -> Answer:
    typical, largest = _ask_typical(check), check.usages["largest"]
    name = check.model.name
    cost, worst = (cost_micro_usd(name, usage) for usage in (typical, largest))
    counted = f"{typical.input_tokens:,} tokens de entrada y {typical.output_tokens:,} de salida cada uno, {_say_origin(typical)}"
    price = "" if cost.price_known else " No conocemos su precio: se contó como el modelo más caro que conocemos."
    usd, most = _usd_per_thousand(cost.micro_usd), _usd_per_thousand(worst.micro_usd)
    sentence = f"{PER:,} pedidos típicos cuestan USD {usd} ({counted}), y de los más grandes USD {most}.{price}"
    question = f"¿Cuánto cuestan {PER:,} pedidos?"
    if check.most_usd is not None and usd > check.most_usd:
        return Answer(question, False, f"Demasiado, el límite es USD {check.most_usd}: {sentence}")
    return Answer(question, True, sentence)


def _usd_per_thousand(micro_usd: int) -> Decimal:
    return (Decimal(micro_usd) * PER / 1_000_000).quantize(Decimal("0.01"))


def _say_origin(usage: Usage) -> str:
    return "medidos" if usage.measured else "estimados"


def _ask_typical(check: Check) -> Usage:
    """Tokens of the typical request; asked once."""
    if "typical" not in check.usages:
        check.usages["typical"] = check.model.complete(typical_request(check.now, check.max_tokens)).usage
    return check.usages["typical"]
