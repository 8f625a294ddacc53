"""Kallpa's own assistant, as a system under test."""

import json
import time
from typing import Any

from assistant.drafts import AssistantResult
from assistant.llm import Model, Usage
from assistant.llm.catalog import cost_micro_usd
from assistant.pipeline import propose
from assistant.prompts import VARIANTS, prompt_hash, render
from assistant.prompts.answer_schema import RESPONSE_FORMAT
from evals.targets.config import TargetConfig
from evals.values import CaseSpec, DraftFields, Outcome, Spending, canonical_hash

VARIANT_WITH_TEAM_NAMES = "con-nombres"


class BookingAssistant:
    """Text in; a draft, a question, a refusal or a rejection out."""

    variants: tuple[str, ...] = tuple(VARIANTS)
    asks_model = True
    answers = frozenset({"draft", "clarify", "refuse", "none"})

    def __init__(self, config: TargetConfig) -> None:
        self.config = config

    def run(self, case: CaseSpec, model: Model) -> Outcome:
        started = time.perf_counter()
        result = propose(
            request_text(case),
            model=model,
            now=case.now or self.config.now,
            occupied=case.occupied,
            variant=self.config.variant,
            temperature=self.config.temperature,
            max_tokens=self.config.max_tokens,
            json_schema=self.config.json_schema,
            check_mentions=self.config.check_mentions,
        )
        latency_ms = (time.perf_counter() - started) * 1000
        return Outcome(
            kind=result.kind,
            draft=draft_fields(result),
            said=result.question,
            reason=result.reason,
            raw=result.raw,
            finish_reason=result.trace.finish_reason if result.trace else "",
            spending=_spending(result, model, latency_ms),
            trace=_trace(result),
            saw_indirect=self.config.variant == VARIANT_WITH_TEAM_NAMES and any(hour.team for hour in case.occupied),
        )

    def prompt_hash(self) -> str:
        words = prompt_hash(self.config.variant, json_schema=self.config.json_schema)
        return canonical_hash([words, "mentions"]) if self.config.check_mentions else words

    def system_prompt(self) -> str:
        return str(self._messages("")[0]["content"])

    def prompt_characters(self, case: CaseSpec) -> int:
        form = len(json.dumps(RESPONSE_FORMAT)) if self.config.json_schema else 0
        return form + sum(len(message["content"]) for message in self._messages(request_text(case), case))

    def _messages(self, text: str, case: CaseSpec | None = None) -> tuple[dict[str, Any], ...]:
        now = (case and case.now) or self.config.now
        return render(self.config.variant, text=text, now=now, occupied=case.occupied if case else ())


def request_text(case: CaseSpec) -> str:
    """The person's last words: this assistant keeps no conversation."""
    if not case.messages:
        return case.text
    return next((str(message["content"]) for message in reversed(case.messages) if message["role"] == "user"), "")


def draft_fields(result: AssistantResult) -> DraftFields | None:
    draft = result.draft
    return None if draft is None else DraftFields(draft.sport, draft.date, draft.start_hour, draft.hours)


def _spending(result: AssistantResult, model: Model, latency_ms: float) -> Spending:
    if result.trace is None:  # the model was never called
        return Spending(latency_ms=latency_ms)
    usage = result.usage or Usage(0, 0, measured=False)
    cost = cost_micro_usd(model.name, usage)
    return Spending(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        measured=usage.measured,
        latency_ms=latency_ms,
        provider_ms=result.trace.provider_ms,
        cost_micro_usd=cost.micro_usd,
        price_known=cost.price_known,
        attempts=result.trace.attempts,
    )


def _trace(result: AssistantResult) -> dict[str, Any]:
    """Everything sent but the instructions, which the run keeps once for all its rows."""
    if result.trace is None:
        return {}
    return {"messages": [message for message in result.trace.messages if message["role"] != "system"]}
