"""One's own bookings: what is to come, what was, and cancelling until the hour begins."""

import datetime as dt
import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from bookings.clock import LIMA
from bookings.models import BookedHour, Booking, BookingStatus, Court, Member
from bookings.services import book
from bookings.values import BookingRequest

pytestmark = pytest.mark.django_db
MONDAY, TUESDAY = dt.date(2026, 3, 9), dt.date(2026, 3, 10)
Take = Callable[..., Booking]


class Clock:
    now = dt.datetime(2026, 3, 9, 10, 0, tzinfo=LIMA)

    def __call__(self) -> dt.datetime:
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    for module in ("bookings.views", "bookings.pages"):
        monkeypatch.setattr(f"{module}.now_in_lima", clock)
    return clock


@pytest.fixture
def rosa(client: Client, member: Member) -> Client:
    member.user = User.objects.create_user("rosa@vecinos.example")
    member.save()
    client.force_login(member.user)
    return client


@pytest.fixture
def take(court: Court, member: Member) -> Take:
    def _take(date: dt.date, hour: int, hours: int = 1, team: str = "", owner: Member = member) -> Booking:
        early = dt.datetime.combine(date, dt.time(0), tzinfo=LIMA)
        return book(member=owner, court=court, request=BookingRequest("fulbito", date, hour, hours, team), now=early)

    return _take


def lines(client: Client, page: str = "/mis-reservas/") -> dict[str, list[str]]:
    """Under each heading, the bookings as text."""
    html = client.get(page).content.decode()
    parts = re.split(r"<h2>(.*?)</h2>", html)[1:]
    return {
        title: [" ".join(re.sub(r"<[^>]+>", " ", line).split()) for line in re.findall(r"<li>(.*?)</li>", body, re.DOTALL)]
        for title, body in zip(parts[::2], parts[1::2], strict=True)
    }


def test_it_tells_what_is_to_come_from_what_was(rosa: Client, take: Take, other: Member) -> None:
    take(TUESDAY, 19, 2, "Los Pumas")
    take(MONDAY, 9, 2)
    take(MONDAY, 8)
    take(TUESDAY, 7, owner=other)
    found = lines(rosa)
    assert [line.split(" Cancelar")[0] for line in found["Por jugar"]] == [
        "lunes 9 de marzo, de 9:00 a 11:00 Fulbito 1 (Fulbito) · S/ 121.00 Ya empezó",
        "martes 10 de marzo, de 19:00 a 21:00 Fulbito 1 (Fulbito) · Los Pumas · S/ 121.00",
    ]
    assert found["Anteriores"] == ["lunes 9 de marzo, de 8:00 a 9:00 Fulbito 1 (Fulbito) · S/ 60.50 Jugada"]


def test_without_bookings_it_leads_to_the_free_hours(rosa: Client) -> None:
    assert "No tienes reservas por jugar." in rosa.get("/mis-reservas/").content.decode()


@pytest.mark.parametrize("minutes_before", [24 * 60, 1])
def test_one_cancels_until_the_hour_begins(rosa: Client, take: Take, clock: Clock, minutes_before: int) -> None:
    booking = take(TUESDAY, 19, 2)
    clock.now = booking.starts_at - dt.timedelta(minutes=minutes_before)
    assert f'action="/reservas/{booking.pk}/cancelar/"' in rosa.get("/mis-reservas/").content.decode()
    response = rosa.post(f"/reservas/{booking.pk}/cancelar/")
    assert (response.status_code, response["Location"]) == (302, "/mis-reservas/")
    assert "Cancelaste Fulbito 1 del martes 10 de marzo, 19:00." in rosa.get("/mis-reservas/").content.decode()
    booking.refresh_from_db()
    assert (booking.status, BookedHour.objects.count()) == (BookingStatus.CANCELLED, 0)
    assert lines(rosa)["Anteriores"] == ["martes 10 de marzo, de 19:00 a 21:00 Fulbito 1 (Fulbito) · S/ 121.00 Cancelada"]


def test_when_the_hour_has_begun_it_says_so(rosa: Client, take: Take, clock: Clock) -> None:
    booking = take(TUESDAY, 19)
    clock.now = booking.starts_at
    assert "cancelar/" not in rosa.get("/mis-reservas/").content.decode()
    html = rosa.post(f"/reservas/{booking.pk}/cancelar/", follow=True).content.decode()
    assert "La reserva ya empezó: solo se cancela antes de su hora." in html
    assert BookedHour.objects.count() == 1


def test_cancelling_twice_says_so_and_changes_nothing(rosa: Client, take: Take) -> None:
    booking = take(TUESDAY, 19)
    for sentence in ("Cancelaste Fulbito 1", "Esa reserva ya estaba cancelada."):
        assert sentence in rosa.post(f"/reservas/{booking.pk}/cancelar/", follow=True).content.decode()


def test_somebody_elses_booking_does_not_exist(rosa: Client, take: Take, other: Member) -> None:
    booking = take(TUESDAY, 19, owner=other)
    assert rosa.post(f"/reservas/{booking.pk}/cancelar/").status_code == 404
    assert rosa.post("/reservas/999999/cancelar/").status_code == 404
    assert BookedHour.objects.count() == 1


def test_it_takes_a_post_and_a_session(rosa: Client, take: Take) -> None:
    booking = take(TUESDAY, 19)
    page = f"/reservas/{booking.pk}/cancelar/"
    assert rosa.get(page).status_code == 405
    assert Client().post(page)["Location"] == f"/cuenta/entrar/?next={page}"
    rosa.handler.enforce_csrf_checks = True
    assert rosa.post(page).status_code == 403
    assert BookedHour.objects.count() == 1


def test_twenty_earlier_ones_stand_on_a_page(rosa: Client, take: Take) -> None:
    for day in range(1, 9):
        for hour in (8, 12, 16):
            take(dt.date(2026, 3, day), hour)
    first, second = lines(rosa), lines(rosa, "/mis-reservas/?pagina=2")
    assert (len(first["Anteriores"]), len(second["Anteriores"])) == (20, 4)
    assert first["Anteriores"][0].startswith("domingo 8 de marzo, de 16:00")
    assert "Página 2 de 2" in rosa.get("/mis-reservas/?pagina=99").content.decode()


@pytest.mark.parametrize("team", ["<img src=x onerror=alert(1)>", "<script>alert(1)</script>"])
def test_a_team_name_is_only_ever_text(rosa: Client, take: Take, team: str) -> None:
    take(TUESDAY, 19, team=team)
    html = rosa.get("/mis-reservas/").content.decode()
    assert team not in html
    assert team.replace("<", "&lt;").replace(">", "&gt;") in html


@pytest.mark.parametrize("days", [1, 14])
def test_the_number_of_queries_does_not_grow(
    rosa: Client, take: Take, days: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for day in range(days):
        take(TUESDAY + dt.timedelta(days=day), 19)
        take(MONDAY - dt.timedelta(days=day + 1), 19)
    with django_assert_num_queries(6):  # session, account, member, to come, how many were, those of the page
        rosa.get("/mis-reservas/")
