"""Counters of one's own, for an open circuit is no other test's; and who looks at the desk's pages."""

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evals.management.demo import seed_people


@pytest.fixture(autouse=True)
def own_counters(settings: Any) -> None:
    """Tests that run at the same time share a Redis, never a counter."""
    settings.CACHES = {"default": settings.CACHES["default"] | {"KEY_PREFIX": uuid.uuid4().hex}}


@pytest.fixture
def experta(client: Client) -> Client:
    """Logged in with the experts' permissions and no other."""
    return _log_in(client, "experta")


@pytest.fixture
def desarrollo(client: Client) -> Client:
    """Logged in with the engineers' permissions and no other."""
    return _log_in(client, "desarrollo")


def _log_in(client: Client, username: str) -> Client:
    seed_people(with_passwords=False)
    client.force_login(User.objects.get(username=username))
    return client
