"""Counters of one's own: an open circuit is no other test's."""

import uuid
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def own_counters(settings: Any) -> None:
    """Tests that run at the same time share a Redis, never a counter."""
    settings.CACHES = {"default": settings.CACHES["default"] | {"KEY_PREFIX": uuid.uuid4().hex}}
