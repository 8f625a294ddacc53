"""The rules that read easy requests without a model: alone, as the baseline that a model must beat, and before a model."""

import time

from assistant.drafts import AssistantResult
from assistant.llm import Model
from assistant.quick import RULES_HASH, propose_quickly
from evals.targets.booking import BookingAssistant, draft_fields, request_text
from evals.targets.config import TargetConfig
from evals.values import CaseSpec, Outcome, Spending, canonical_hash

LEFT = "left"  # the rules say nothing: in production the request goes to the model


class QuickRules:
    """Text in; a draft, or nothing. Asks no model, and the same code gives the same answers."""

    variants: tuple[str, ...] = ("reglas",)
    asks_model = False
    answers = BookingAssistant.answers

    def __init__(self, config: TargetConfig) -> None:
        self.config = config

    def run(self, case: CaseSpec, model: Model) -> Outcome:
        started = time.perf_counter()
        result = _propose(case, self.config)
        return _outcome(result, started) if result else Outcome(LEFT, spending=_nothing_spent(started))

    def prompt_hash(self) -> str:
        """Of the rules: there is no prompt."""
        return RULES_HASH

    def system_prompt(self) -> str:
        return ""

    def prompt_characters(self, case: CaseSpec) -> int:
        return 0


class QuickThenAssistant(BookingAssistant):
    """The rules first, and the booking assistant for what they leave: what production does with ASSISTANT_QUICK."""

    def run(self, case: CaseSpec, model: Model) -> Outcome:
        started = time.perf_counter()
        result = _propose(case, self.config)
        return _outcome(result, started) if result else super().run(case, model)

    def prompt_hash(self) -> str:
        return canonical_hash([RULES_HASH, super().prompt_hash()])


def _propose(case: CaseSpec, config: TargetConfig) -> AssistantResult | None:
    return propose_quickly(request_text(case), now=case.now or config.now, occupied=case.occupied)


def _outcome(result: AssistantResult, started: float) -> Outcome:
    return Outcome(
        kind=result.kind,
        draft=draft_fields(result),
        reason=result.reason,
        raw=result.raw,
        spending=_nothing_spent(started),
        trace={"quick": True},
    )


def _nothing_spent(started: float) -> Spending:
    return Spending(latency_ms=(time.perf_counter() - started) * 1000, measured=True, attempts=0)
