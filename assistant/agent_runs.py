"""Writes of the staff's agent: a task given, a call decided, old ones deleted. Masked before anything is sent or stored."""

import datetime as dt
import hashlib
import json
import logging
import time
import uuid
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from assistant import agent as loop
from assistant.agent import Agent, AgentLimits, AgentStep, Stop, cut_result, decide_call, run_agent
from assistant.ledger import record_calls
from assistant.limits import MeteredModel, admit_to_agent, metered_model
from assistant.llm import Model, ModelError
from assistant.models import AgentRun, AgentStop, Purpose
from assistant.pii import mask
from assistant.prompts.agent import agent_instructions, agent_prompt_hash
from assistant.selectors import known_names
from assistant.tools import Tool

logger = logging.getLogger(__name__)

MAX_TASK_CHARS = 500
MAX_STORED_ANSWER = 8_000
PRUNE_BATCH = 500
CRASH = "crash"
Mask = Callable[[str], str]


class NotWaiting(Exception):  # noqa: N818 -- an answer, not a fault
    """The run does not wait for a decision about this call: it was decided already, or it never asked."""

    def __init__(self, *, run_id: int) -> None:
        super().__init__(f"agent run {run_id}")
        self.run_id = run_id


def ask_agent(*, user: User, task: str, key: uuid.UUID, model: Model, tools: tuple[Tool, ...], now: dt.datetime) -> AgentRun:
    """What became of one task, stored; an outage is stored too. The same `key` of the same person is the same run, asked once.

    Names and phones in the task are masked before the model sees it. Raises LethalTrifecta or SameName for tools that do not go
    together, and LimitReached; then nothing was asked nor stored.
    """
    mine = AgentRun.objects.filter(key=key, user=user)
    if earlier := mine.first():
        return earlier
    metered = _metered(user, model, tools, now)
    agent = _agent(metered, tools, now)
    row = AgentRun(user=user, key=key, created_at=now, masked_task=agent.mask(task), model=model.name, prompt_hash=agent_prompt_hash(tools))
    try:
        admit_to_agent(user_id=user.pk, now=now)
        row.running_since = now
    except ModelError as error:
        row.stop, row.cause = AgentStop.UNAVAILABLE, error.cause
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:  # the same form came twice at once
        return mine.get()
    return row if row.stop else _go(row, metered, agent, lambda: run_agent(row.masked_task, agent=agent))


def decide_agent_call(*, run: AgentRun, call: str, approved: bool, model: Model, tools: tuple[Tool, ...], now: dt.datetime) -> AgentRun:
    """Goes on after the person's yes or no to the call whose fingerprint this is. Raises NotWaiting when it does not wait for that one."""
    user, conversation = run.user, run.conversation
    if user is None or conversation is None:
        raise NotWaiting(run_id=run.pk)
    metered = _metered(user, model, tools, now)
    agent = _agent(metered, tools, now)
    waiting = AgentRun.objects.filter(pk=run.pk, stop=AgentStop.APPROVAL, waiting_call=call)
    if not call or not waiting.update(stop=AgentStop.RUNNING, running_since=now, conversation=None, waiting_call=""):
        raise NotWaiting(run_id=run.pk)
    run.refresh_from_db()
    return _go(run, metered, agent, lambda: decide_call(loop.AgentRun.from_row(conversation), approved=approved, agent=agent))


def prune_agent_runs(*, now: dt.datetime) -> int:
    """Deletes what is older than INTERACTION_RETENTION_DAYS, a batch at a time, and says how many went. May run twice."""
    old = AgentRun.objects.filter(created_at__lt=now - dt.timedelta(days=settings.INTERACTION_RETENTION_DAYS)).order_by("pk")
    deleted = 0
    while batch := list(old.values_list("pk", flat=True)[:PRUNE_BATCH]):
        deleted += AgentRun.objects.filter(pk__in=batch).delete()[0]
    return deleted


def _metered(user: User, model: Model, tools: tuple[Tool, ...], now: dt.datetime) -> MeteredModel:
    return metered_model(model, purpose=Purpose.AGENT, who=user.pk, now=now, prompt_hash=agent_prompt_hash(tools))


def _agent(model: Model, tools: tuple[Tool, ...], now: dt.datetime) -> Agent:
    names = known_names()
    limits = AgentLimits(
        max_steps=settings.AGENT_MAX_STEPS,
        context_tokens=settings.AGENT_CONTEXT_TOKENS,
        max_result_chars=settings.AGENT_RESULT_CHARS,
        max_answer_tokens=settings.AGENT_MAX_TOKENS,
        seconds=settings.AGENT_TIMEOUT_S,
    )
    return Agent(
        model,
        tools,
        limits,
        instructions=agent_instructions(now),
        temperature=settings.LLM_TEMPERATURE,
        mask=lambda text: mask(text, known_names=names).text,
    )


def _go(row: AgentRun, metered: MeteredModel, agent: Agent, go: Callable[[], loop.AgentRun]) -> AgentRun:
    """Runs and stores what came of it. A bug of ours ends the run, which says so, and what was bought is in the ledger all the same."""
    started = time.perf_counter()
    try:
        facts = _facts_of(go(), agent.mask)
    except Exception as bug:  # noqa: BLE001 -- whatever a tool raises, the run must not look as if it were still going on
        logger.error("agent run %s: %s", row.pk, type(bug).__name__)  # its message may quote what people wrote
        facts = {"stop": AgentStop.UNAVAILABLE, "cause": CRASH}
    facts["latency_ms"] = row.latency_ms + round((time.perf_counter() - started) * 1_000)
    return _store(row, metered, facts)


@transaction.atomic
def _store(row: AgentRun, metered: MeteredModel, facts: dict[str, Any]) -> AgentRun:
    """A run and what it bought, together."""
    for name, value in facts.items():
        setattr(row, name, value)
    row.running_since = None
    row.save()
    record_calls(metered.calls, reference=f"agent:{row.pk}")
    return row


def _facts_of(run: loop.AgentRun, mask_text: Mask) -> dict[str, Any]:
    """What is kept of a run. The model's words are masked; results were masked before it read them, or hold nobody."""
    waits = run.stop is Stop.APPROVAL
    return {
        "steps": [_step_row(step, mask_text) for step in run.steps],
        "answer": mask_text(cut_result(run.answer, limit=MAX_STORED_ANSWER)),
        "stop": run.stop,
        "cause": run.cause,
        "conversation": run.as_row() if waits else None,
        "waiting_call": _fingerprint(run) if waits else "",
        "model_calls": run.model_calls,
        "input_tokens": run.input_tokens,
        "output_tokens": run.output_tokens,
        "tokens_measured": bool(run.model_calls and run.tokens_measured),
        "cost_micro_usd": run.cost_micro_usd,
        "price_known": run.price_known,
    }


def _step_row(step: AgentStep, mask_text: Mask) -> dict[str, Any]:
    return {
        "label": mask_text(step.label),
        "arguments": mask_text(step.arguments),
        "result": step.result,
        "resultChars": step.result_chars,
        "ok": step.ok,
        "wasCut": step.was_cut,
        "contextTokens": step.context_tokens,
        "costMicroUsd": step.cost_micro_usd,
    }


def _fingerprint(run: loop.AgentRun) -> str:
    """SHA-256 (hex) of the call that waits and of how far the run had come, so that a yes is for this call at this point."""
    return hashlib.sha256(json.dumps([len(run.steps), run.pending[0]], sort_keys=True).encode()).hexdigest()
