"""Neighbours at their browsers, and the model server that their site asks."""

import datetime as dt
from typing import Any

import pytest
from django.test import Client

from assistant.tests.loopback_provider import LoopbackProvider
from bookings.models import Member

PROPOSALS = "/api/v1/assistant/proposals/"
BOOKINGS = "/api/v1/bookings/"


def log_in(member: Member) -> Client:
    """A browser with the session of this member."""
    client = Client()
    assert member.user is not None
    client.force_login(member.user)
    return client


def ask(client: Client, text: str, **headers: str) -> Any:
    """The answer to one request, as JSON."""
    return client.post(PROPOSALS, {"text": text}, content_type="application/json", headers=headers)


def point_at(settings: Any, provider: LoopbackProvider) -> None:
    """Makes this server the site's model."""
    settings.LLM_BASE_URL, settings.LLM_MODEL = provider.base_url, "gpt-4o-mini"
    settings.OUTBOUND_ALLOWED_HOSTS, settings.OUTBOUND_ALLOW_LOOPBACK = [provider.host], True


def stop_clock(monkeypatch: pytest.MonkeyPatch, now: dt.datetime) -> None:
    """Every view says that it is `now`."""
    assistant = ("assistant.api", "assistant.pages", "assistant.views", "assistant.agent_pages")
    for module in (*assistant, "bookings.api", "bookings.pages", "bookings.views"):
        monkeypatch.setattr(f"{module}.now_in_lima", lambda: now)
