"""What a call costs, by table: answers, errors that may be charged, and attempts that failed on the way."""

import pytest

from assistant.llm import (
    ModelAuthError,
    ModelBadResponse,
    ModelError,
    ModelRateLimited,
    ModelRequest,
    ModelResponse,
    ModelResponseTooLarge,
    ModelServerError,
    ModelTimeout,
    ModelUnreachable,
    Usage,
)
from assistant.llm.catalog import Cost
from assistant.llm.charges import charge_cost, charge_usage, reserved_usage

# 4,000 characters are 1,000 tokens; with 100 of answer at 1 and 5 USD a million, one lost attempt is 1,500 micro-USD.
REQUEST = ModelRequest(({"role": "user", "content": "x" * 4_000},), temperature=0.0, max_tokens=100)
MODEL, LOST = "claude-haiku-4-5", 1_500


def answer(*failed: str) -> ModelResponse:
    """An answer of 900 tokens in and 40 out: 1,100 micro-USD."""
    usage = Usage(900, 40, measured=True)
    return ModelResponse("hola", usage, "stop", provider_ms=5.0, attempts=1 + len(failed), model=MODEL, failed_attempts=failed)


def error(named: type[ModelError], *failed: str) -> ModelError:
    made = named(attempts=len(failed))
    made.failed_attempts = failed
    return made


@pytest.mark.parametrize(
    ("outcome", "micro_usd"),
    [
        (answer(), 1_100),
        (answer("rate-limited", "server-error", "unreachable"), 1_100),
        (answer("timeout"), 1_100 + LOST),
        (answer("timeout", "rate-limited", "timeout"), 1_100 + 2 * LOST),
        (error(ModelTimeout), LOST),
        (error(ModelBadResponse, "bad-response"), LOST),
        (error(ModelResponseTooLarge, "too-large"), LOST),
        (error(ModelRateLimited, "rate-limited", "rate-limited"), 0),
        (error(ModelServerError, "timeout", "server-error"), LOST),
        (error(ModelTimeout, "server-error", "timeout"), LOST),
        (error(ModelUnreachable, "unreachable"), 0),
        (error(ModelAuthError, "auth"), 0),
    ],
)
def test_each_attempt_that_may_be_charged_is_counted(outcome: ModelResponse | ModelError, micro_usd: int) -> None:
    assert charge_cost(MODEL, REQUEST, outcome) == Cost(micro_usd, price_known=True)


def test_a_model_of_unknown_price_is_charged_as_the_dearest_and_marked() -> None:
    assert charge_cost("modelo-nuevo-2026-03", REQUEST, answer()) == Cost(900 * 15 + 40 * 75, price_known=False)
    assert charge_cost("modelo-nuevo-2026-03", REQUEST, error(ModelTimeout)) == Cost(1_000 * 15 + 100 * 75, price_known=False)


def test_a_script_costs_nothing() -> None:
    assert charge_cost("scripted", REQUEST, answer(), kind="scripted") == Cost(0, price_known=True)


@pytest.mark.parametrize(
    ("outcome", "usage"),
    [
        (answer("timeout"), Usage(900, 40, measured=True)),
        (error(ModelTimeout, "timeout"), Usage(1_000, 100, measured=False)),
        (error(ModelRateLimited, "rate-limited"), Usage(0, 0, measured=False)),
    ],
)
def test_tokens_are_the_answer_s_and_of_lost_attempts_the_most(outcome: ModelResponse | ModelError, usage: Usage) -> None:
    assert charge_usage(REQUEST, outcome) == usage


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("x" * 4_000, 2_000), ("abc", 2), ("señal", 4), ("🏐" * 300, 1_200), ("", 0), ("\ud800", 3)],
)
def test_what_is_set_aside_holds_for_small_tokens(text: str, tokens: int) -> None:
    """A sign that a tokenizer does not know is as many tokens as it has bytes."""
    request = ModelRequest(({"role": "user", "content": text},), temperature=0.0, max_tokens=7)
    assert reserved_usage(request) == Usage(tokens, 7, measured=False)
