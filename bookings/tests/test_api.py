"""The neighbours' API by its addresses: what it shows, what it takes, and how it says no."""

import datetime as dt
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.test import Client

from bookings.models import BookedHour, Booking, Court, Member
from bookings.services import block_court, book, cancel
from bookings.values import BlockRequest, BookingRequest
from kallpa.models import IdempotencyKey

MONDAY, TUESDAY = dt.date(2026, 3, 9), dt.date(2026, 3, 10)
BOOKINGS = "/api/v1/bookings/"


@pytest.fixture(autouse=True)
def _at_ten(monkeypatch: pytest.MonkeyPatch, now: dt.datetime) -> None:
    monkeypatch.setattr("bookings.api.now_in_lima", lambda: now)


@pytest.fixture
def account(member: Member) -> User:
    member.user = get_user_model().objects.create_user("rosa")
    member.save()
    return member.user


@pytest.fixture
def rosa(client: Client, account: User) -> Client:
    """Rosa's browser, logged in."""
    client.force_login(account)
    return client


@pytest.fixture
def body(court: Court) -> dict[str, Any]:
    return {"court": court.pk, "sport": "fulbito", "date": "2026-03-10", "startHour": 18, "hours": 2, "teamName": "Los Halcones"}


def post(client: Client, body: Any, key: str = "", **headers: str) -> Any:
    """The answer to a program's POST."""
    named = {"Idempotency-Key": key} if key else {}
    return client.post(BOOKINGS, body, content_type="application/json", headers=named | headers)


def assert_problem(response: Any, status: int, *codes: str) -> dict[str, Any]:
    """The document, once it is one."""
    assert (response.status_code, response["Content-Type"]) == (status, "application/problem+json"), response.content
    document: dict[str, Any] = response.json()
    assert set(document) == {"type", "title", "status", "detail", "codes", "errors"}
    assert (document["status"], document["codes"]) == (status, list(codes))
    assert document["title"]
    assert document["detail"].endswith(".")
    return document


def test_it_books_for_whoever_has_the_session(rosa: Client, member: Member, court: Court, body: dict[str, Any]) -> None:
    response = post(rosa, body)
    booking = Booking.objects.get()
    assert (response.status_code, response["Location"]) == (201, f"{BOOKINGS}{booking.pk}/")
    assert response.json() == {
        "id": booking.pk,
        "court": court.pk,
        "courtName": "Fulbito 1",
        "sport": "fulbito",
        "date": "2026-03-10",
        "startHour": 18,
        "hours": 2,
        "endHour": 20,
        "teamName": "Los Halcones",
        "priceCentimos": 12100,
        "status": "confirmed",
        "createdAt": "2026-03-09T10:00:00-05:00",
        "cancelledAt": None,
    }
    assert booking.member == member
    assert list(BookedHour.objects.values_list("booking", "hour")) == [(booking.pk, 18), (booking.pk, 19)]


def test_sport_and_team_may_be_left_out(rosa: Client, court: Court) -> None:
    assert post(rosa, {"court": court.pk, "date": "2026-03-10", "startHour": 18, "hours": 1}).status_code == 201
    assert Booking.objects.get().team_name == ""


@pytest.mark.parametrize(
    ("change", "codes", "fields"),
    [
        ({"startHour": 21}, ["OUTSIDE_OPENING_HOURS"], {"startHour"}),
        ({"hours": 0}, ["TOO_FEW_HOURS"], {"hours"}),
        ({"hours": 4}, ["TOO_MANY_HOURS"], {"hours"}),
        ({"date": "2026-03-24"}, ["TOO_FAR_AHEAD"], {"date"}),
        ({"date": "2026-03-09", "startHour": 10}, ["IN_THE_PAST"], {"startHour"}),
        ({"teamName": "x" * 41}, ["TEAM_NAME_TOO_LONG"], {"teamName"}),
        ({"sport": "voley"}, ["WRONG_COURT"], {"court"}),
        ({"sport": "tenis"}, ["UNKNOWN_SPORT", "WRONG_COURT"], {"sport", "court"}),
        ({"hours": 10**30, "startHour": -(10**30)}, ["OUTSIDE_OPENING_HOURS", "TOO_MANY_HOURS"], {"startHour", "hours"}),
    ],
)
def test_a_broken_rule_is_a_422_with_its_code_and_a_sentence_at_the_field(
    rosa: Client, body: dict[str, Any], change: dict[str, Any], codes: list[str], fields: set[str]
) -> None:
    document = assert_problem(post(rosa, body | change), 422, *codes)
    assert set(document["errors"]) == fields
    assert not Booking.objects.exists()


def test_a_court_out_of_service_is_refused(rosa: Client, court: Court, body: dict[str, Any]) -> None:
    Court.objects.update(active=False)
    assert_problem(post(rosa, body), 422, "INACTIVE_COURT")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"court": None}, "court"),
        ({"court": 999_999}, "court"),
        ({"court": 10**30}, "court"),
        ({"court": "uno"}, "court"),
        ({"court": {"id": 1}}, "court"),
        ({"court": [1]}, "court"),
        ({"date": "10/03/2026"}, "date"),
        ({"date": "2026-03-10T18:00"}, "date"),
        ({"date": "2026-02-30"}, "date"),
        ({"date": 20260310}, "date"),
        ({"startHour": "18:00"}, "startHour"),
        ({"startHour": 18.5}, "startHour"),
        ({"hours": True}, "hours"),
        ({"hours": None}, "hours"),
        ({"teamName": None}, "teamName"),
        ({"teamName": ["a"]}, "teamName"),
        ({"teamName": "a\0b"}, "teamName"),
        ({"teamName": "\ud800"}, "teamName"),
        ({"sport": True}, "sport"),
    ],
)
def test_what_cannot_be_read_is_a_400_at_its_field(rosa: Client, body: dict[str, Any], change: dict[str, Any], field: str) -> None:
    document = assert_problem(post(rosa, body | change), 400, "INVALID")
    assert list(document["errors"]) == [field]
    assert not Booking.objects.exists()


@pytest.mark.parametrize("missing", ["court", "date", "startHour", "hours"])
def test_what_is_missing_is_named(rosa: Client, body: dict[str, Any], missing: str) -> None:
    del body[missing]
    assert list(assert_problem(post(rosa, body), 400, "INVALID")["errors"]) == [missing]


@pytest.mark.parametrize(
    ("text", "content_type", "status", "code"),
    [
        ("[]", "application/json", 400, "PARSE_ERROR"),
        ("{", "application/json", 400, "PARSE_ERROR"),
        ("[" * 100_000, "application/json", 413, "TOO_LARGE"),
        ("[" * 50_000, "application/json", 400, "PARSE_ERROR"),
        ('{"hours": 1, "hours": 3}', "application/json", 400, "REPEATED_FIELD"),
        ("court=1&court=2", "application/x-www-form-urlencoded", 400, "REPEATED_FIELD"),
        ("a=" + "1" * 3_000_000, "application/x-www-form-urlencoded", 413, "TOO_LARGE"),
        ("a=1&" * 2_000, "application/x-www-form-urlencoded", 400, "PARSE_ERROR"),
        ("<a/>", "text/xml", 415, "UNSUPPORTED_MEDIA_TYPE"),
    ],
)
def test_a_body_that_is_no_request_is_refused(rosa: Client, text: str, content_type: str, status: int, code: str) -> None:
    assert_problem(rosa.post(BOOKINGS, text, content_type=content_type), status, code)


@pytest.mark.parametrize(("start_hour", "hours", "status"), [(19, 1, 201), (17, 1, 201), (17, 3, 409), (18, 2, 409)])
def test_bookings_may_touch_and_not_overlap(
    rosa: Client, court: Court, other: Member, now: dt.datetime, body: dict[str, Any], start_hour: int, hours: int, status: int
) -> None:
    book(member=other, court=court, request=BookingRequest("fulbito", TUESDAY, 18, 1), now=now)
    response = post(rosa, body | {"startHour": start_hour, "hours": hours})
    assert response.status_code == status
    if status == 409:
        document = assert_problem(response, 409, "HOUR_TAKEN")
        assert document["errors"] == {"startHour": [document["detail"]]}
    assert Booking.objects.count() == (2 if status == 201 else 1)


def test_it_needs_a_session_a_member_and_the_forms_token(account: User, body: dict[str, Any]) -> None:
    browser = Client(enforce_csrf_checks=True)
    assert_problem(post(browser, body), 403, "NOT_AUTHENTICATED")
    browser.force_login(account)
    assert_problem(post(browser, body), 403, "PERMISSION_DENIED")
    browser.cookies["csrftoken"] = "t" * 32
    assert post(browser, body, **{"X-CSRFToken": "t" * 32}).status_code == 201
    staff = Client()
    staff.force_login(get_user_model().objects.create_user("mesa", is_staff=True))
    assert_problem(post(staff, body), 403, "NO_MEMBER")
    assert staff.get(BOOKINGS).json()["results"] == []


def test_the_same_key_and_body_get_the_same_answer(rosa: Client, body: dict[str, Any]) -> None:
    first, again = post(rosa, body, "k1"), post(rosa, dict(reversed(body.items())), "k1")
    assert (first.status_code, again.status_code, first.content) == (201, 201, again.content)
    assert (Booking.objects.count(), IdempotencyKey.objects.count()) == (1, 1)


def test_the_same_key_with_another_body_is_a_409(rosa: Client, body: dict[str, Any]) -> None:
    post(rosa, body, "k1")
    assert_problem(post(rosa, body | {"startHour": 20}, "k1"), 409, "IDEMPOTENCY_KEY_REUSED")
    assert Booking.objects.count() == 1


def test_a_conflict_is_remembered_and_a_broken_rule_is_not(
    rosa: Client, court: Court, other: Member, now: dt.datetime, body: dict[str, Any]
) -> None:
    taken = book(member=other, court=court, request=BookingRequest("fulbito", TUESDAY, 18, 1), now=now)
    assert_problem(post(rosa, body, "k1"), 409, "HOUR_TAKEN")
    cancel(booking=taken, by=other, now=now)
    assert_problem(post(rosa, body, "k1"), 409, "HOUR_TAKEN")
    assert_problem(post(rosa, body | {"hours": 4}, "k2"), 422, "TOO_MANY_HOURS")
    assert post(rosa, body, "k2").status_code == 201


def test_a_retry_after_the_hour_began_still_gets_its_booking(
    rosa: Client, body: dict[str, Any], monkeypatch: pytest.MonkeyPatch, now: dt.datetime
) -> None:
    soon = body | {"date": "2026-03-09", "startHour": 11}
    first = post(rosa, soon, "k1")
    monkeypatch.setattr("bookings.api.now_in_lima", lambda: now + dt.timedelta(hours=3))
    assert post(rosa, soon, "k1").content == first.content
    assert_problem(post(rosa, soon, "k2"), 422, "IN_THE_PAST")


def test_the_list_is_ones_own_newest_first_by_pages(rosa: Client, member: Member, other: Member, court: Court, now: dt.datetime) -> None:
    for hour in range(7, 22):
        book(member=other if hour == 7 else member, court=court, request=BookingRequest("fulbito", TUESDAY, hour, 1), now=now)
        for day in range(1, 4):
            book(member=member, court=court, request=BookingRequest("fulbito", TUESDAY + dt.timedelta(day), hour, 1), now=now)
    page = rosa.get(BOOKINGS).json()
    assert (page["count"], len(page["results"]), page["previous"]) == (59, 50, None)
    assert [(row["date"], row["startHour"]) for row in page["results"]][:2] == [("2026-03-13", 21), ("2026-03-13", 20)]
    last = rosa.get(page["next"]).json()
    assert (len(last["results"]), last["next"], last["results"][-1]["startHour"]) == (9, None, 8)
    assert_problem(rosa.get(f"{BOOKINGS}?page=3"), 404, "NOT_FOUND")


def test_somebody_elses_booking_does_not_exist(rosa: Client, other: Member, court: Court, now: dt.datetime) -> None:
    theirs = book(member=other, court=court, request=BookingRequest("fulbito", TUESDAY, 18, 1), now=now)
    assert_problem(rosa.get(f"{BOOKINGS}{theirs.pk}/"), 404, "NOT_FOUND")
    assert_problem(rosa.post(f"{BOOKINGS}{theirs.pk}/cancel/"), 404, "NOT_FOUND")
    assert_problem(rosa.get(f"{BOOKINGS}{10**30}/"), 404, "NOT_FOUND")
    assert rosa.get(BOOKINGS).json()["count"] == 0
    assert BookedHour.objects.count() == 1


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_a_booking_is_not_edited(rosa: Client, body: dict[str, Any], method: str) -> None:
    address = post(rosa, body)["Location"]
    assert rosa.get(address).json()["status"] == "confirmed"
    for place in (address, BOOKINGS):
        response = getattr(rosa, method)(place, {"status": "cancelled"}, content_type="application/json")
        assert_problem(response, 405, "METHOD_NOT_ALLOWED")


def test_cancelling_frees_the_hours_once(rosa: Client, body: dict[str, Any], now: dt.datetime) -> None:
    address = f"{post(rosa, body)['Location']}cancel/"
    response = rosa.post(address)
    assert (response.status_code, response.json()["status"]) == (200, "cancelled")
    assert response.json()["cancelledAt"] == "2026-03-09T10:00:00-05:00"
    assert_problem(rosa.post(address), 409, "ALREADY_CANCELLED")
    assert not BookedHour.objects.exists()


def test_cancelling_ends_when_the_hour_begins(rosa: Client, body: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"{post(rosa, body)['Location']}cancel/"
    monkeypatch.setattr("bookings.api.now_in_lima", lambda: dt.datetime(2026, 3, 10, 23, 0, tzinfo=dt.UTC))
    assert_problem(rosa.post(address), 409, "ALREADY_BEGUN")
    assert BookedHour.objects.count() == 2


def test_everybody_sees_courts_and_free_hours_and_nobodys_name(client: Client, court: Court, member: Member, now: dt.datetime) -> None:
    volley = Court.objects.create(name="Vóley", sport="voley", price_centimos_per_hour=5000)
    Court.objects.create(name="En obras", sport="voley", price_centimos_per_hour=5000, active=False)
    book(member=member, court=court, request=BookingRequest("fulbito", TUESDAY, 18, 2, "Los Halcones"), now=now)
    block_court(court=court, request=BlockRequest(TUESDAY, 20, 1), now=now)
    assert [row["name"] for row in client.get("/api/v1/courts/").json()["results"]] == ["Fulbito 1", "Vóley"]
    response = client.get("/api/v1/availability/?date=2026-03-10&sport=fulbito")
    (day,) = response.json()["courts"]
    assert (response.json()["date"], day["id"], day["name"], day["sport"]) == ("2026-03-10", court.pk, "Fulbito 1", "fulbito")
    assert [row["hour"] for row in day["hours"]] == list(range(7, 22))
    assert [row["hour"] for row in day["hours"] if not row["free"]] == [18, 19, 20]
    assert [row["id"] for row in client.get("/api/v1/availability/?date=2026-03-10").json()["courts"]] == [court.pk, volley.pk]
    assert "Halcones" not in response.content.decode()


def test_hours_that_cannot_be_booked_any_more_or_yet_are_not_free(client: Client, court: Court) -> None:
    def free_on(query: str) -> list[int]:
        (day,) = client.get(f"/api/v1/availability/{query}").json()["courts"]
        return [row["hour"] for row in day["hours"] if row["free"]]

    assert free_on("") == free_on("?date=2026-03-09&sport=") == list(range(11, 22))
    assert free_on("?date=2026-03-08") == free_on("?date=2026-03-24") == []
    assert free_on("?date=2026-03-23") == list(range(7, 22))


@pytest.mark.parametrize(("query", "field"), [("date=mañana", "date"), ("sport=tenis", "sport")])
def test_a_question_that_cannot_be_read_is_a_400(client: Client, db: None, query: str, field: str) -> None:
    assert list(assert_problem(client.get(f"/api/v1/availability/?{query}"), 400, "INVALID")["errors"]) == [field]
