"""From what a person typed to one of four results. No tools, no database, no clock of its own."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import replace

from assistant import prompts
from assistant.drafts import AssistantResult, Reason, Trace, parse_output
from assistant.llm import Model, ModelRequest
from assistant.mentions import QUESTIONS, find_unmentioned
from assistant.prompts.answer_schema import RESPONSE_FORMAT
from bookings.values import OccupiedHour

MAX_INPUT_CHARS = 300


def propose(
    text: str,
    *,
    model: Model,
    now: dt.datetime,
    occupied: Iterable[OccupiedHour],
    variant: str = "base",
    temperature: float = 0.0,
    max_tokens: int = 200,
    json_schema: bool = False,
    check_mentions: bool = False,
) -> AssistantResult:
    """What to show the person who typed `text`. A ModelError passes through: an outage is not an answer.

    With `json_schema` the server is asked to hold the model to the three answers; what comes back is read as strictly as without.
    With `check_mentions` a draft whose sport or day the request does not mention becomes a question.
    """
    if len(text) > MAX_INPUT_CHARS:
        return AssistantResult("rejected", reason=Reason.INPUT_TOO_LONG, detail=f"{len(text)} characters")
    if not prompts.quote_untrusted(text):
        return AssistantResult("rejected", reason=Reason.INPUT_BLANK)
    messages = prompts.render(variant, text=text, now=now, occupied=occupied)
    form = RESPONSE_FORMAT if json_schema else None
    response = model.complete(ModelRequest(messages, temperature, max_tokens, response_format=form))
    trace = Trace(messages, response.text, response.finish_reason, response.provider_ms, response.attempts, response.model)
    result = _read(trace, now)
    if check_mentions:
        result = _ask_what_is_absent(result, text, now)
    return replace(result, usage=response.usage, trace=trace)


def _read(trace: Trace, now: dt.datetime) -> AssistantResult:
    """A cut answer is never parsed: the part that is missing could say something else."""
    if trace.finish_reason == "length":
        return AssistantResult("rejected", reason=Reason.TRUNCATED, raw=trace.raw)
    return parse_output(trace.raw, now=now)


def _ask_what_is_absent(result: AssistantResult, text: str, now: dt.datetime) -> AssistantResult:
    """The question is ours, fixed: no word of the model is in it. The draft stays readable in `raw`."""
    absent = find_unmentioned(text, result.draft, now=now) if result.draft else ()
    return replace(result, kind="clarify", draft=None, question=QUESTIONS[absent]) if absent else result
