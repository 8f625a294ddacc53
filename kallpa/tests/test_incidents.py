"""An incident opens once however many see it at the same time, and ends once."""

import datetime as dt
import logging
import threading
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from kallpa.incidents import Sign, close_incident, open_incident, open_incidents
from kallpa.models import Incident

NOW = dt.datetime(2026, 3, 9, 15, 0, tzinfo=dt.UTC)
LATER = NOW + dt.timedelta(minutes=4)
MODEL, OTHER = "prueba en 127.0.0.1:8080", "otro en 127.0.0.1:8080"
TIMEOUT = Sign("timeout", "El modelo no respondió a tiempo", {"failures": 5, "calls": 5})

pytestmark = pytest.mark.django_db


def see(subject: str = MODEL, *, now: dt.datetime = NOW, sign: Sign = TIMEOUT) -> bool:
    return open_incident(Incident.Kind.MODEL, subject, sign, now=now)


def end(subject: str = MODEL, *, now: dt.datetime = LATER) -> bool:
    return close_incident(Incident.Kind.MODEL, subject, now=now)


def test_it_is_opened_once_and_then_counts_signs() -> None:
    assert [see(), see(now=LATER), see(now=LATER, sign=Sign("auth"))] == [True, False, False]
    incident = Incident.objects.get()
    assert (incident.cause, incident.counts, incident.signs) == ("timeout", {"failures": 5, "calls": 5}, 3)
    assert (incident.opened_at, incident.last_sign_at, incident.closed_at) == (NOW, LATER, None)


def test_it_ends_once_and_a_new_one_may_open() -> None:
    see()
    assert [end(), end()] == [True, False]
    assert Incident.objects.get().closed_at == LATER
    assert see(now=LATER)
    assert open_incidents().count() == 1
    assert Incident.objects.count() == 2


def test_what_never_began_does_not_end() -> None:
    see(OTHER)
    assert not end(MODEL)
    assert list(open_incidents().values_list("subject", flat=True)) == [OTHER]


def test_an_end_before_the_beginning_is_the_beginning() -> None:
    see(now=LATER)
    assert end(now=NOW)  # the clocks of two machines differ
    assert Incident.objects.get().closed_at == LATER


def test_it_says_so_at_error_when_it_opens_and_when_it_is_over(
    caplog: pytest.LogCaptureFixture, django_capture_on_commit_callbacks: Any
) -> None:
    with caplog.at_level(logging.ERROR, "kallpa.incidents"), django_capture_on_commit_callbacks(execute=True):
        see()
        see()
        end()
    assert [(record.levelname, record.message.split(" ", 2)[2]) for record in caplog.records] == [
        ("ERROR", f"opened: Modelo caído: {MODEL}, cause timeout"),
        ("ERROR", f"closed: Modelo caído: {MODEL}, cause timeout"),
    ]


def test_one_that_is_rolled_back_is_not_told(django_capture_on_commit_callbacks: Any, caplog: pytest.LogCaptureFixture) -> None:
    with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
        see()
        transaction.set_rollback(True)
    assert caplog.records == []
    assert not Incident.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_many_that_see_it_at_once_open_one() -> None:
    crowd, opened = threading.Barrier(6), []

    def look() -> None:
        try:
            crowd.wait(20)
            opened.append(see())
        finally:
            connection.close()

    threads = [threading.Thread(target=look) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(opened) == [False] * 5 + [True]
    assert Incident.objects.get().signs == 6


def test_control_the_database_decides_who_was_first() -> None:
    see()
    with pytest.raises(IntegrityError), transaction.atomic():
        Incident.objects.create(kind="model", subject=MODEL, cause="auth", opened_at=NOW, last_sign_at=NOW)
    end()
    Incident.objects.create(kind="model", subject=MODEL, cause="auth", opened_at=LATER, last_sign_at=LATER)
