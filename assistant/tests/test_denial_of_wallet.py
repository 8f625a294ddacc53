"""One person with many hands: the model is called no more often than the limit, and other people are served."""

import datetime as dt
import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any

import pytest
from django.db import connection

from assistant.models import Interaction
from assistant.tests.loopback_provider import LoopbackProvider
from assistant.tests.neighbours import ask, log_in, point_at
from bookings.models import Member

HANDS = 24
THEIRS, OTHERS = "quiero mil veces lo mismo", "fulbito mañana a las 7 de la noche"
SIZES = [pytest.param(120, 12, id="short"), pytest.param(1_000, 50, id="whole", marks=pytest.mark.faults)]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, now: dt.datetime) -> threading.local:
    """Stands still, unless a thread sets `minutes` for itself."""
    here = threading.local()
    monkeypatch.setattr("assistant.api.now_in_lima", lambda: now + dt.timedelta(minutes=getattr(here, "minutes", 0)))
    return here


def attack(member: Member, requests: int) -> Counter[int]:
    """So many requests at once, each with another forwarded address; how often each status came back."""
    client_of_thread = threading.local()

    def ask_once(number: int) -> int:
        client = client_of_thread.__dict__.setdefault("client", log_in(member))
        address = ".".join(str(random.randrange(256)) for _ in range(4))
        status = ask(client, THEIRS, X_Forwarded_For=address, X_Real_Ip=address, Forwarded=f"for={address}").status_code
        connection.close()
        return int(status)

    with ThreadPoolExecutor(HANDS) as hands:
        return Counter(hands.map(ask_once, range(requests)))


def calls_for(provider: LoopbackProvider, text: str) -> int:
    return sum(text in call.text for call in list(provider.calls))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("requests", "visits"), SIZES)
def test_a_thousand_requests_at_once_are_ten_calls_and_nobody_else_notices(
    member: Member, other: Member, settings: Any, clock: threading.local, requests: int, visits: int
) -> None:
    with LoopbackProvider(delay_s=0.02) as provider:
        point_at(settings, provider)
        with ThreadPoolExecutor(1) as attackers:
            attacking = attackers.submit(attack, member, requests)
            served = [visit(other, clock, number) for number in range(visits)]
            statuses = attacking.result()
        assert served == ["refuse"] * visits
        assert calls_for(provider, OTHERS) == visits
        assert 1 <= calls_for(provider, THEIRS) <= 10
    assert statuses == {201: 10, 429: requests - 10}
    assert Interaction.objects.filter(member=member).count() == 10


def visit(other: Member, clock: threading.local, number: int) -> str:
    """One request of somebody who asks every minute."""
    clock.minutes = number
    return str(ask(log_in(other), OTHERS).json()["kind"])


@pytest.mark.django_db(transaction=True)
def test_control_without_limits_each_request_is_a_call(
    member: Member, settings: Any, clock: threading.local, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.services.admit", lambda **options: None)
    settings.ASSISTANT_PER_MINUTE = 10
    monkeypatch.setattr("assistant.limits.places.take", lambda member_id: nullcontext())
    with LoopbackProvider() as provider:
        point_at(settings, provider)
        attack(member, 60)
        assert calls_for(provider, THEIRS) == 60
