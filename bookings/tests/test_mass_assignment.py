"""What the API does not ask for has no effect: who books is the session's to say, the price the court's, the state the server's."""

import json
import random
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from bookings.clock import now_in_lima
from bookings.models import BookedHour, Booking, Court, Member
from bookings.services import book
from bookings.tests.crowd import BOOKINGS, TOKEN, make_neighbours, tomorrow
from bookings.values import BookingRequest

pytestmark = pytest.mark.django_db
ATTACKS = 200


class Scene:
    """Rosa's browser, the court she wants, a booking that is not hers, and a court of another sport."""

    def __init__(self, court: Court) -> None:
        self.court = court
        self.rosa, self.other = Member.objects.order_by("pk")
        self.volley = Court.objects.create(name="Vóley", sport="voley", price_centimos_per_hour=100)
        asked = BookingRequest("voley", tomorrow(), 9, 1, "Ajeno")
        self.theirs = book(member=self.other, court=self.volley, request=asked, now=now_in_lima())

    def everything_else(self) -> list[Any]:
        """All rows that no booking of Rosa's may change."""
        tables = [User, Member, Court, Group]
        rows = [list(table._default_manager.order_by("pk").values()) for table in tables]
        return [*rows, list(Booking.objects.filter(pk=self.theirs.pk).values()), list(User.groups.through.objects.values())]


@pytest.fixture
def browser(db: None) -> Client:
    return make_neighbours(2)[0]


@pytest.fixture
def scene(browser: Client, court: Court) -> Scene:
    return Scene(court)


def hostile_fields(scene: Scene) -> dict[str, list[Any]]:
    """Fields that nobody asked for, each with values that would pay off."""
    stranger, theirs = scene.other.pk, scene.theirs.pk
    prizes: list[tuple[str, list[Any]]] = [
        ("member memberId member_id user userId owner", [stranger, str(stranger), {"id": stranger}, None]),
        ("id pk booking", [theirs, [theirs]]),
        ("status", ["cancelled", "", {"$set": "cancelled"}]),
        ("price priceCentimos price_centimos pricePerHourCentimos", [0, -1, 1, "0", [0]]),
        ("is_staff isStaff is_superuser active", [True, "true", 1]),
        ("createdAt created_at cancelledAt", ["2020-01-01T00:00:00Z"]),
        ("courtName endHour booked_hours groups permissions", ["x", 22, [1, 2, 3]]),
        ("member.id member[id] member__user __proto__ court.price _method", [stranger, "DELETE"]),
        ("data booking_request", [{"member": stranger, "price": 0}, [{"status": "cancelled"}]]),
    ]
    return {name: values for names, values in prizes for name in names.split()}


def attacks(scene: Scene, dice: random.Random) -> Iterator[tuple[str, str, str, int]]:
    """(content type, body, query, hours) of requests that are in order but for what has no business in them."""
    extra = hostile_fields(scene)
    for number in range(ATTACKS):
        hours = dice.randint(1, 3)
        day, slot = divmod(number % 65, 5)
        body: dict[str, Any] = {"court": scene.court.pk, "date": tomorrow(day).isoformat(), "startHour": 7 + 3 * slot, "hours": hours}
        fields = {name: dice.choice(extra[name]) for name in dice.sample(sorted(extra), dice.randint(1, 6))}
        query = urlencode({name: dice.choice(extra[name]) for name in dice.sample(sorted(extra), number % 3)})
        if number % 4 == 3:
            yield "application/x-www-form-urlencoded", urlencode(body | fields), query, hours
        else:
            yield "application/json", json.dumps(dict(dice.sample(list((body | fields).items()), len(body | fields)))), query, hours


def send(browser: Client, content_type: str, body: str, query: str = "") -> Any:
    return browser.post(f"{BOOKINGS}?{query}", body, content_type=content_type, headers={"X-CSRFToken": TOKEN})


def bodies_with_an_effect(browser: Client, scene: Scene) -> list[str]:
    """Of all attacks, those after which anything is other than after the same request without them."""
    before, found = scene.everything_else(), []
    for content_type, body, query, hours in attacks(scene, random.Random(20260310)):
        answer = send(browser, content_type, body, query)
        assert answer.status_code == 201, (body, answer.content)
        made = Booking.objects.exclude(pk=scene.theirs.pk).get()
        facts = (made.pk, made.member, made.court, made.status, made.cancelled_at, made.hours, made.price_centimos)
        right = (answer.json()["id"], scene.rosa, scene.court, "confirmed", None, hours, hours * 6050)
        if facts != right or made.booked_hours.count() != hours or scene.everything_else() != before:
            found.append(body)
        made.delete()
    return found


def test_two_hundred_bodies_with_fields_that_nobody_asked_for_have_no_effect(browser: Client, scene: Scene) -> None:
    assert bodies_with_an_effect(browser, scene) == []


def test_control_a_view_that_believes_the_body_about_who_books_is_caught(
    browser: Client, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def believe(request: Any) -> Member:
        return scene.other if "memberId" in request.data else scene.rosa

    monkeypatch.setattr("bookings.api._member_of", believe)
    assert len(bodies_with_an_effect(browser, scene)) > 10


@pytest.mark.parametrize("sport", ["voley", "fulbito", ""])
def test_a_court_of_another_sport_is_booked_for_its_own_sport_or_not_at_all(browser: Client, scene: Scene, sport: str) -> None:
    body = {"court": scene.volley.pk, "sport": sport, "date": tomorrow().isoformat(), "startHour": 18, "hours": 1}
    answer = send(browser, "application/json", json.dumps(body))
    assert answer.status_code == (422 if sport == "fulbito" else 201)
    assert BookedHour.objects.filter(court=scene.volley).count() == (1 if sport == "fulbito" else 2)


@pytest.mark.parametrize("name", ["court", "date", "startHour", "hours", "teamName", "sport", "memberId", "idempotencyKey"])
def test_a_field_that_comes_twice_books_nothing(browser: Client, scene: Scene, name: str) -> None:
    body = {"court": scene.court.pk, "date": tomorrow().isoformat(), "startHour": 18, "hours": 1, name: 1}
    repeated = f"{urlencode(body)}&{name}=2"
    assert send(browser, "application/x-www-form-urlencoded", repeated).status_code == 400
    text = f'{json.dumps(body)[:-1]}, "{name}": 2}}'
    assert send(browser, "application/json", text).status_code == 400
    assert list(Booking.objects.all()) == [scene.theirs]


@pytest.mark.parametrize("name", ["court", "date", "startHour", "hours", "teamName", "sport"])
@pytest.mark.parametrize("nested", [{"id": 1}, [1], [[1]], {"$gt": ""}, [{"value": 1}]])
def test_a_field_that_holds_more_than_a_value_books_nothing(browser: Client, scene: Scene, name: str, nested: Any) -> None:
    body = {"court": scene.court.pk, "date": tomorrow().isoformat(), "startHour": 18, "hours": 1, name: nested}
    assert send(browser, "application/json", json.dumps(body)).status_code == 400
    assert list(Booking.objects.all()) == [scene.theirs]
