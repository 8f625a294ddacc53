"""The page of the staff's agent. It works without JavaScript: a form, and the way to what came of it."""

from collections.abc import Callable
from functools import partial
from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required, permission_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from assistant.agent_pages import AskAgentForm, render_agent_page
from assistant.agent_runs import NotWaiting, ask_agent, decide_agent_call
from assistant.agent_tools import open_tools
from assistant.agent_wording import ALREADY_DECIDED, TRIFECTA, tell_agent_limit
from assistant.limits import LimitReached
from assistant.llm.absent import production_model
from assistant.models import AgentRun
from assistant.tools import LethalTrifecta
from bookings.clock import now_in_lima

View = Callable[..., HttpResponseBase]


def staff_only(view: View) -> View:
    """Who is not logged in goes there; who may not use the agent gets 403."""
    guarded: View = login_required(permission_required("assistant.use_agent", raise_exception=True)(view))
    return guarded


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@staff_only
def agent(request: HttpRequest) -> HttpResponse:
    """An empty form and one's own earlier runs; a POST gives the agent a task."""
    return _ask(request) if request.method == "POST" else render_agent_page(request)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@staff_only
def agent_run(request: HttpRequest, pk: int) -> HttpResponse:
    """One of one's own runs, somebody else's does not exist (404); a POST says yes or no to the call that it waits with."""
    run = get_object_or_404(AgentRun.objects.select_related("user"), pk=pk, user=cast(User, request.user))
    return _decide(request, run) if request.method == "POST" else render_agent_page(request, run=run)


def _ask(request: HttpRequest) -> HttpResponse:
    """Waits for what comes of the task, and goes to its page."""
    form, now = AskAgentForm(request.POST), now_in_lima()
    if not form.is_valid():
        return render_agent_page(request, form=form, status=400)
    try:
        with open_tools(now, tell=partial(messages.warning, request)) as tools:
            run = ask_agent(user=cast(User, request.user), model=production_model(), tools=tools, now=now, **form.cleaned_data)
    except LimitReached as error:
        page = render_agent_page(request, form=form, problem=tell_agent_limit(error.retry_after_s), status=429)
        page.headers["Retry-After"] = str(error.retry_after_s)
        return page
    except LethalTrifecta:
        return render_agent_page(request, form=form, problem=TRIFECTA, status=503)
    return redirect("agent_run", pk=run.pk)


def _decide(request: HttpRequest, run: AgentRun) -> HttpResponse:
    """Anything but a yes is a no."""
    now, approved = now_in_lima(), request.POST.get("decision") == "yes"
    try:
        with open_tools(now, tell=partial(messages.warning, request)) as tools:
            decide_agent_call(run=run, call=request.POST.get("call", ""), approved=approved, model=production_model(), tools=tools, now=now)
    except NotWaiting:
        messages.error(request, ALREADY_DECIDED)
    except LethalTrifecta:
        messages.error(request, TRIFECTA)
    return redirect("agent_run", pk=run.pk)
