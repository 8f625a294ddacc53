"""What one call costs, with the attempts that may have been charged although no answer reached us. Pure."""

from assistant.llm import (
    ModelBadResponse,
    ModelError,
    ModelKind,
    ModelRequest,
    ModelResponse,
    ModelResponseTooLarge,
    ModelTimeout,
    Usage,
    bound_request,
    estimate_usage,
)
from assistant.llm.catalog import Cost, cost_micro_usd

# The provider may have done the work and charge for it, although the answer did not reach us.
PERHAPS_CHARGED = (ModelTimeout, ModelBadResponse, ModelResponseTooLarge)
PERHAPS_CHARGED_CAUSES = frozenset(error.cause for error in PERHAPS_CHARGED)


def dearest_usage(request: ModelRequest) -> Usage:
    """What an attempt that nobody counted is charged: its input, estimated, and an answer of full length."""
    return Usage(estimate_usage(request, "").input_tokens, request.max_tokens, measured=False)


def reserved_usage(request: ModelRequest) -> Usage:
    """What is set aside for one attempt: no less than a provider counts, also one whose tokens are small, and a full answer."""
    return Usage(bound_request(request), request.max_tokens, measured=False)


def charge_usage(request: ModelRequest, outcome: ModelResponse | ModelError) -> Usage:
    """Tokens of the answer; without one, the most that the attempts that may be charged can have used (none: 0 and 0)."""
    if isinstance(outcome, ModelResponse):
        return outcome.usage
    dearest, lost = dearest_usage(request), count_lost(outcome)
    return Usage(lost * dearest.input_tokens, lost * dearest.output_tokens, measured=False)


def charge_cost(model: str, request: ModelRequest, outcome: ModelResponse | ModelError, *, kind: ModelKind = "real") -> Cost:
    """Micro-USD of all attempts of one call: the answer's usage, and the dearest usage for each attempt that may be charged."""
    each = cost_micro_usd(model, dearest_usage(request), kind=kind)
    answered = cost_micro_usd(model, outcome.usage, kind=kind).micro_usd if isinstance(outcome, ModelResponse) else 0
    return Cost(answered + count_lost(outcome) * each.micro_usd, each.price_known)


def count_lost(outcome: ModelResponse | ModelError) -> int:
    """How many attempts got no answer and may be charged all the same. An error that names no attempts was one."""
    if outcome.failed_attempts:
        return sum(cause in PERHAPS_CHARGED_CAUSES for cause in outcome.failed_attempts)
    return int(isinstance(outcome, PERHAPS_CHARGED))
