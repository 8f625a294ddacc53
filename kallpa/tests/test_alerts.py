"""Who outside is told of an incident: once when it opens and once when it is over, and nobody waits for it."""

import datetime as dt
import json
import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.core import mail

from kallpa import alerts, tasks
from kallpa.incidents import Sign, close_incident, open_incident
from kallpa.models import Incident
from kallpa.tests.raw_server import OK, RawServer, hang, say

NOW = dt.datetime(2026, 3, 9, 15, 0, tzinfo=dt.UTC)
MODEL = "prueba en 127.0.0.1:8080"
SIGN = Sign("auth", "El servidor del modelo rechazó la clave", {"failures": 5})
SECRET_PATH = "canario-5c1d"
OPENED = f"Modelo caído: {MODEL}, desde el 09/03/2026 a las 10:00. El servidor del modelo rechazó la clave (auth)."
ENDED = (
    f"Terminó: Modelo caído: {MODEL}. Estuvo así desde el 09/03/2026 a las 10:00 hasta el 09/03/2026 a las 10:04. "
    "El servidor del modelo rechazó la clave (auth)."
)

pytestmark = pytest.mark.django_db(transaction=True)


def see() -> None:
    open_incident(Incident.Kind.MODEL, MODEL, SIGN, now=NOW)


def end() -> None:
    close_incident(Incident.Kind.MODEL, MODEL, now=NOW + dt.timedelta(minutes=4))


def wait_for_alerts() -> None:
    for thread in threading.enumerate():
        if thread.name.startswith("alert-"):
            thread.join(30)


def point_at(settings: Any, port: int) -> None:
    settings.ALERT_WEBHOOK_URL = f"http://127.0.0.1:{port}/{SECRET_PATH}"
    settings.OUTBOUND_ALLOWED_HOSTS, settings.OUTBOUND_ALLOW_LOOPBACK = [f"127.0.0.1:{port}"], True


@pytest.fixture(autouse=True)
def _no_broker(settings: Any) -> Iterator[None]:
    settings.CELERY_BROKER_URL, settings.ALERT_EMAILS = "", ["guardia@kallpa.test"]
    yield
    wait_for_alerts()


@pytest.fixture
def webhook(settings: Any) -> Iterator[RawServer]:
    with RawServer(say(OK)) as server:
        point_at(settings, server.port)
        yield server


def test_readers_are_told_when_it_opens_and_when_it_is_over(webhook: RawServer) -> None:
    for happen in (see, see, end, end):
        happen()
        wait_for_alerts()
    assert [(letter.to, letter.subject, letter.body) for letter in mail.outbox] == [
        (["guardia@kallpa.test"], f"[Kallpa] Modelo caído: {MODEL}", f"{OPENED}\n"),
        (["guardia@kallpa.test"], f"[Kallpa] Terminó: Modelo caído: {MODEL}", f"{ENDED}\n"),
    ]
    posted = [json.loads(request.partition(b"\r\n\r\n")[2]) for request in webhook.requests]
    assert [(each["event"], each["text"], each["cause"], each["counts"]) for each in posted] == [
        ("incident.opened", OPENED, "auth", {"failures": 5}),
        ("incident.closed", ENDED, "auth", {"failures": 5}),
    ]
    assert webhook.requests[0].startswith(f"POST /{SECRET_PATH} HTTP/1.1\r\n".encode())


def test_a_message_that_is_delivered_twice_tells_once(webhook: RawServer) -> None:
    see()
    wait_for_alerts()
    tasks.send_alert(Incident.objects.get().pk, "opened")
    assert (len(mail.outbox), len(webhook.requests)) == (1, 1)


def test_control_without_the_mark_a_second_delivery_tells_again(webhook: RawServer) -> None:
    see()
    wait_for_alerts()
    Incident.objects.update(opening_told_at=None)
    tasks.send_alert(Incident.objects.get().pk, "opened")
    assert (len(mail.outbox), len(webhook.requests)) == (2, 2)


def test_a_reader_that_hangs_holds_nobody(settings: Any) -> None:
    with RawServer(hang()) as server:
        point_at(settings, server.port)
        settings.ALERT_EMAILS = []
        see()  # returns while the webhook is still waiting
        assert [thread.name for thread in threading.enumerate() if thread.name.startswith("alert-")] != []
        end()
        assert Incident.objects.get().closed_at is not None


@pytest.mark.parametrize("reply", [b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", b"not http at all"])
def test_a_webhook_that_fails_keeps_no_mail_from_going_and_its_address_out_of_the_log(
    settings: Any, caplog: pytest.LogCaptureFixture, reply: bytes
) -> None:
    with RawServer(say(reply)) as server, caplog.at_level(logging.DEBUG):
        point_at(settings, server.port)
        see()
        wait_for_alerts()
    assert len(mail.outbox) == 1
    assert "webhook" in caplog.text
    assert SECRET_PATH not in caplog.text


def test_a_mail_server_that_is_not_there_keeps_no_webhook_from_being_called(
    webhook: RawServer, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.EMAIL_BACKEND, settings.EMAIL_HOST, settings.EMAIL_PORT = "django.core.mail.backends.smtp.EmailBackend", "127.0.0.1", 1
    see()
    wait_for_alerts()
    assert len(webhook.requests) == 1
    assert "the mail could not be sent (ConnectionRefusedError)" in caplog.text


def test_a_webhook_at_an_address_that_we_may_not_call_is_not_called(webhook: RawServer, settings: Any) -> None:
    settings.OUTBOUND_ALLOWED_HOSTS = []
    see()
    wait_for_alerts()
    assert webhook.connections == 0


def test_without_readers_no_thread_is_started(settings: Any) -> None:
    settings.ALERT_EMAILS, settings.ALERT_WEBHOOK_URL = [], ""
    see()
    assert Incident.objects.get().opening_told_at is None
    assert not alerts.has_readers()


def test_a_broker_that_does_not_answer_leaves_the_telling_to_this_process(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise tasks.OperationalError("no broker")

    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    monkeypatch.setattr(tasks.send_alert, "delay", refuse)
    see()
    wait_for_alerts()
    assert len(mail.outbox) == 1


def test_with_a_broker_a_worker_tells_and_its_message_holds_an_id_alone(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[object, ...]] = []
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    monkeypatch.setattr(tasks.send_alert, "delay", lambda *args: sent.append(args))
    see()
    end()
    incident = Incident.objects.get()
    assert sent == [(incident.pk, "opened"), (incident.pk, "closed")]
    for message in sent:
        tasks.send_alert(*message)
    assert [letter.subject for letter in mail.outbox] == [f"[Kallpa] Modelo caído: {MODEL}", f"[Kallpa] Terminó: Modelo caído: {MODEL}"]
