"""Attempts are counted per person and per address before the password is looked at, at every door."""

import datetime as dt
import logging
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.exceptions import ValidationError
from django.test import Client
from pytest_django import Settings

from bookings import account_forms, logins
from bookings.clock import LIMA
from bookings.logins import counted_guess
from kallpa.counters import CountersDown

pytestmark = pytest.mark.django_db
NOON = dt.datetime(2026, 3, 9, 12, 0, tzinfo=LIMA)
PASSWORD = "una clave larga 9"
WAIT = "Fueron demasiados intentos. Espera 15 minutos y prueba otra vez."
DOORS = ["/cuenta/entrar/", "/admin/login/"]


class Clock:
    now = NOON

    def __call__(self) -> dt.datetime:
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Clock:
    clock = Clock()
    for module in ("bookings.account_forms", "bookings.account_views"):
        monkeypatch.setattr(f"{module}.now_in_lima", clock)
    settings.CACHES = {"default": settings.CACHES["default"] | {"KEY_PREFIX": uuid.uuid4().hex}}
    return clock


@pytest.fixture(autouse=True)
def rosa() -> User:
    return User.objects.create_superuser("rosa@vecinos.example", email="rosa@vecinos.example", password=PASSWORD)


def try_to_enter(
    door: str = "/cuenta/entrar/",
    *,
    name: str = "rosa@vecinos.example",
    right: bool = False,
    address: str = "198.51.100.7",
    forwarded: str = "",
) -> tuple[bool, str]:
    """With the right password or a wrong one: whether it was let in, and the page otherwise."""
    client = Client(REMOTE_ADDR=address, headers={"X-Forwarded-For": forwarded} if forwarded else None)
    html = client.post(door, {"username": name, "password": PASSWORD if right else "mala"}).content.decode()
    return "_auth_user_id" in client.session, html


@pytest.mark.parametrize("door", DOORS)
def test_after_ten_wrong_passwords_the_right_one_waits_too(door: str, clock: Clock) -> None:
    for _ in range(10):
        assert WAIT not in try_to_enter(door)[1]
    entered, html = try_to_enter(door, right=True)
    assert (entered, WAIT in html) == (False, True)
    clock.now = NOON + dt.timedelta(minutes=15)
    assert try_to_enter(door, right=True)[0]


def test_the_doors_count_together() -> None:
    for door in DOORS * 5:
        try_to_enter(door)
    assert not any(try_to_enter(door, right=True)[0] for door in DOORS)


@pytest.mark.parametrize("name", ["ROSA@vecinos.example", " Rosa@Vecinos.Example "])
def test_another_spelling_is_the_same_person(name: str) -> None:
    for number in range(10):
        try_to_enter(name=name, address=f"198.51.100.{number}")
    assert WAIT in try_to_enter(address="203.0.113.9")[1]


def test_somebody_else_at_another_address_is_served() -> None:
    User.objects.create_user("julio@vecinos.example", password=PASSWORD)
    for _ in range(15):
        try_to_enter()
    assert try_to_enter(name="julio@vecinos.example", right=True, address="203.0.113.9")[0]


def test_an_address_that_tries_many_names_waits_and_uses_up_nobody_elses_attempts() -> None:
    for number in range(50):
        assert WAIT not in try_to_enter(name=f"vecino{number}@vecinos.example")[1]
    for _ in range(10):
        assert WAIT in try_to_enter()[1]
    assert try_to_enter(right=True, address="203.0.113.9")[0]


def test_a_header_that_the_client_adds_is_no_other_address() -> None:
    for number in range(50):
        try_to_enter(name=f"vecino{number}@vecinos.example", forwarded=f"203.0.113.{number}")
    assert WAIT in try_to_enter(name="otro@vecinos.example", forwarded="203.0.113.200")[1]


def test_too_many_is_answered_429_and_costs_no_password_check(monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(10):
        try_to_enter()
    monkeypatch.setattr(account_forms.AuthenticationForm, "clean", lambda form: pytest.fail("it looked at the password"))
    response = Client(REMOTE_ADDR="198.51.100.7").post("/cuenta/entrar/", {"username": "rosa@vecinos.example", "password": PASSWORD})
    assert response.status_code == 429


def test_right_passwords_use_nothing_up() -> None:
    for _ in range(60):
        assert try_to_enter(right=True)[0]


def test_a_right_password_gives_back_its_own_attempt_and_no_other() -> None:
    for _ in range(9):
        try_to_enter()
    for _ in range(5):
        assert try_to_enter(right=True)[0]
    assert WAIT not in try_to_enter()[1]
    assert not try_to_enter(right=True)[0]


def test_of_a_thousand_guesses_at_once_ten_are_looked_at() -> None:
    looked_at: list[int] = []

    def guess(number: int) -> None:
        with suppress(ValidationError), counted_guess(person="rosa", address=f"198.51.100.{number % 250}", now=NOON):
            looked_at.append(number)
            raise ValidationError("a wrong password")

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(guess, range(1000)))
    assert len(looked_at) == 10


def test_signing_up_is_limited_per_address() -> None:
    def sign_up(number: int) -> int:
        body = {"name": "V", "phone": "987654321", "email": f"v{number}@vecinos.example", "password": PASSWORD}
        return Client(REMOTE_ADDR="198.51.100.7").post("/cuenta/crear/", body).status_code

    assert [sign_up(number) for number in range(22)] == [302] * 20 + [429] * 2
    assert User.objects.count() == 21


def test_nobodys_mailbox_is_flooded() -> None:
    for number in range(6):
        Client(REMOTE_ADDR=f"198.51.100.{number}").post("/cuenta/clave/", {"email": "Rosa@vecinos.example"})
    assert len(mail.outbox) == 3


def test_without_the_counters_people_get_in_and_it_is_logged(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def down(*args: object, **options: object) -> None:
        raise CountersDown("ConnectionError")

    for name in ("reserve", "settle", "hit"):
        monkeypatch.setattr(logins, name, down)
    with caplog.at_level(logging.ERROR, logger="bookings.logins"):
        assert try_to_enter(right=True)[0]
        assert Client().post("/cuenta/clave/", {"email": "rosa@vecinos.example"}).status_code == 302
    assert "the counters are down" in caplog.text
    assert "rosa" not in caplog.text


@pytest.mark.parametrize("door", DOORS)
def test_control_without_the_count_any_number_of_guesses_is_looked_at(door: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account_forms, "counted_guess", lambda **who: nullcontext())
    for _ in range(60):
        try_to_enter(door)
    assert try_to_enter(door, right=True)[0]
