"""The agent's page: what became of a task, step by step, and the form for the next one."""

import datetime as dt
import json
import unicodedata
import uuid
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from django import forms
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from assistant.agent_runs import MAX_TASK_CHARS
from assistant.agent_wording import TOOL_TITLES, tell_run
from assistant.models import AgentRun, AgentStop
from bookings.clock import now_in_lima

PER_PAGE = 10


class AskAgentForm(forms.Form):
    """A task. `key` makes a form that is sent twice one task."""

    task = forms.CharField(
        label="¿Qué quieres saber?",
        max_length=MAX_TASK_CHARS,
        widget=forms.Textarea({"rows": 3, "autocomplete": "off", "data-counter": "agente-cuenta"}),
        help_text="Por ejemplo: ¿qué horas libres de fulbito hay mañana? No escribas nombres ni celulares: el agente no los ve.",
        error_messages={
            "required": "Escribe qué quieres saber.",
            "max_length": "Aquí caben %(limit_value)d caracteres; escribiste %(show_value)d.",
        },
    )
    key = forms.CharField(widget=forms.HiddenInput, required=False)

    def clean_key(self) -> uuid.UUID:
        """A form without a key of its own is a task of its own."""
        try:
            return uuid.UUID(self.cleaned_data["key"])
        except ValueError:
            return uuid.uuid4()


@dataclass(frozen=True, slots=True)
class StepLine:
    """One step as people read it; `usd` is "" when the step had no answer of its own to pay, `title` for a tool that is not ours."""

    title: str
    label: str
    result: str
    ok: bool
    cut: str
    context_tokens: int
    usd: str


class WaitingCall(NamedTuple):
    """A call to decide about: the tool, and its arguments as it would get them."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as people read it."""

    run: AgentRun
    sentence: str
    steps: list[StepLine]
    usd: str
    seconds: str
    waits_for: WaitingCall | None


def view_run(run: AgentRun, now: dt.datetime) -> RunView:
    """`now` tells a run that goes on from one that was interrupted."""
    function = run.conversation["pending"][0]["function"] if run.conversation else None
    waits_for = WaitingCall(function["name"], show_arguments(function["arguments"])) if function else None
    steps = [_line(step) for step in run.steps]
    return RunView(run, tell_run(run, now), steps, _usd(run.cost_micro_usd), f"{run.latency_ms / 1000:.1f}", waits_for)


def show_arguments(written: str) -> str:
    """Checked arguments for a person to decide about: letters as letters, and whatever cannot be seen as its code."""
    shown = json.dumps(json.loads(written.strip() or "{}"), ensure_ascii=False, indent=2)
    return "".join(sign if sign == "\n" or unicodedata.category(sign)[0] != "C" else f"\\u{ord(sign):04x}" for sign in shown)


def _line(step: dict[str, Any]) -> StepLine:
    cut = f"cortado, de {step['resultChars']:,} caracteres" if step["wasCut"] else ""
    usd = _usd(step["costMicroUsd"]) if step["costMicroUsd"] else ""
    title = TOOL_TITLES.get(step["label"].partition("(")[0], "")
    return StepLine(title, step["label"], step["result"], step["ok"], cut, step["contextTokens"], usd)


def _usd(micro_usd: int) -> str:
    return f"USD\u00a0{micro_usd / 1_000_000:.6f}"


def render_agent_page(
    request: HttpRequest, *, run: AgentRun | None = None, form: AskAgentForm | None = None, problem: str = "", status: int = 200
) -> HttpResponse:
    """The form, the run if one is shown, and one's own earlier runs, ten a page (`pagina`)."""
    own = AgentRun.objects.filter(user=cast(User, request.user)).only("pk", "created_at", "masked_task", "stop")
    context = {
        "form": form or AskAgentForm(initial={"key": uuid.uuid4()}),
        "limit": MAX_TASK_CHARS,
        "shown": run and view_run(run, now_in_lima()),
        "problem": problem,
        "earlier": Paginator(own, PER_PAGE).get_page(request.GET.get("pagina")),
        "list_address": reverse("agent"),
        "approval": AgentStop.APPROVAL,
    }
    return render(request, "assistant/agent.html", context, status=status)
