"""The day page: the grid of a day, and the form as it is, as it was filled, as it was refused."""

import datetime as dt
import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpResponse
from django.test import Client, RequestFactory
from pytest_django import DjangoAssertNumQueries

from bookings.clock import LIMA
from bookings.forms import BookingForm
from bookings.models import BookedHour, Court, CourtBlock, Member
from bookings.pages import render_day_page
from bookings.services import book, cancel
from bookings.values import BookingRequest

pytestmark = pytest.mark.django_db
TUESDAY = dt.date(2026, 3, 10)
Render = Callable[..., str]


@pytest.fixture(autouse=True)
def monday_at_ten(monkeypatch: pytest.MonkeyPatch, now: dt.datetime) -> None:
    for module in ("bookings.pages", "bookings.views"):
        monkeypatch.setattr(f"{module}.now_in_lima", lambda: now)


@pytest.fixture
def account(member: Member) -> User:
    member.user = User.objects.create_user("rosa@vecinos.example")
    member.team_name, member.phone = "Las Panteras", "987654321"
    member.save()
    return member.user


@pytest.fixture
def neighbour(client: Client, account: User) -> Client:
    client.force_login(account)
    return client


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def cells(html: str, court: Court) -> dict[int, str]:
    """What the page says for each hour of a court."""
    card = html.split(f"<h3>{court.name}</h3>", 1)[1].split("</article>", 1)[0]
    shown = [text_of(cell).partition(":00 ") for cell in re.findall(r"<li.*?</li>", card, re.DOTALL)]
    return {int(hour): label for hour, _, label in shown}


def render(rf: RequestFactory, account: User, **options: object) -> HttpResponse:
    request = rf.post("/api/v1/bookings/")
    request.user = account
    return render_day_page(request, date=TUESDAY, **options)  # type: ignore[arg-type]


def test_anyone_sees_todays_free_and_taken_hours_without_phones(client: Client, court: Court, account: User, now: dt.datetime) -> None:
    book(member=account.member, court=court, request=BookingRequest("fulbito", now.date(), 18, 2, "Las Panteras"), now=now)
    html = client.get("/").content.decode()
    assert '<html lang="es-PE">' in html
    assert "lunes 9 de marzo" in html
    hours = cells(html, court)
    assert list(hours) == list(range(10, 22))
    assert {hour: hours[hour] for hour in (10, 11, 17, 18, 19, 20)} == {
        10: "Ya empezó",
        11: "Libre",
        17: "Libre",
        18: "Las Panteras",
        19: "Las Panteras",
        20: "Libre",
    }
    assert "987654321" not in html
    assert "Rosa Quispe" not in html
    assert 'action="/api/v1/bookings/"' not in html
    assert 'href="/cuenta/entrar/?next=%2F"' in html


def test_one_finds_ones_own_hours(neighbour: Client, court: Court, account: User, other: Member, now: dt.datetime) -> None:
    book(member=account.member, court=court, request=BookingRequest("fulbito", TUESDAY, 18, 1), now=now)
    book(member=other, court=court, request=BookingRequest("fulbito", TUESDAY, 20, 1), now=now)
    html = neighbour.get("/?fecha=2026-03-10").content.decode()
    assert (cells(html, court)[18], cells(html, court)[20]) == ("Tu reserva", "Ocupada")
    assert "Tu próxima reserva: martes 10 de marzo, 18:00 , Fulbito 1" in text_of(html)


def test_the_next_booking_is_neither_cancelled_nor_over(neighbour: Client, court: Court, account: User, now: dt.datetime) -> None:
    early = dt.datetime(2026, 3, 9, 6, 0, tzinfo=LIMA)
    book(member=account.member, court=court, request=BookingRequest("fulbito", now.date(), 9, 1), now=early)
    gone = book(member=account.member, court=court, request=BookingRequest("fulbito", now.date(), 12, 1), now=now)
    cancel(booking=gone, by=account.member, now=now)
    assert "Tu próxima reserva" not in neighbour.get("/").content.decode()
    book(member=account.member, court=court, request=BookingRequest("fulbito", now.date(), 8, 1), now=early)
    long = book(member=account.member, court=court, request=BookingRequest("fulbito", TUESDAY, 8, 3), now=early)
    assert f"martes 10 de marzo, {long.start_hour}:00" in text_of(neighbour.get("/").content.decode())


def test_it_leads_to_each_day_that_can_be_booked_and_to_no_other(client: Client, court: Court) -> None:
    html = client.get("/").content.decode()
    days = [
        (date, text_of(words)) for date, words in re.findall(r'<a id="dia-\d+" href="/\?fecha=([\d-]+)"[^>]*>(.*?)</a>', html, re.DOTALL)
    ]
    assert (len(days), days[0], days[-1]) == (15, ("2026-03-09", "lun 9 de marzo"), ("2026-03-23", "lun 23 de marzo"))
    assert len(re.findall(r'aria-current="date"', html)) == 1


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ("2026-03-23", "lunes 23 de marzo"),
        ("2026-03-24", "lunes 23 de marzo"),
        ("9999-12-31", "lunes 23 de marzo"),
        ("2026-03-08", "lunes 9 de marzo"),
        ("0001-01-01", "lunes 9 de marzo"),
        ("mañana", "lunes 9 de marzo"),
        ("", "lunes 9 de marzo"),
        ("2026-02-30", "lunes 9 de marzo"),
    ],
)
def test_a_day_that_cannot_be_booked_shows_the_nearest(client: Client, court: Court, asked: str, shown: str) -> None:
    response = client.get("/", {"fecha": asked})
    assert response.status_code == 200
    assert f'<h2 id="que-dia">{shown}</h2>' in response.content.decode()


def test_a_sport_shows_its_courts_alone(client: Client, court: Court) -> None:
    Court.objects.create(name="Red 1", sport="voley", price_centimos_per_hour=4000)
    Court.objects.create(name="En obras", sport="fulbito", price_centimos_per_hour=4000, active=False)
    everything, voley = (client.get(page).content.decode() for page in ("/", "/?deporte=voley"))
    assert re.findall(r"<h3>(.+?)</h3>", everything) == ["Fulbito 1", "Red 1"]
    assert re.findall(r"<h3>(.+?)</h3>", voley) == ["Red 1"]
    assert "/?fecha=2026-03-10&amp;deporte=voley" in voley
    assert "básquet" not in everything.lower()
    assert client.get("/?deporte=<script>").status_code == 200


def test_a_free_hour_fills_the_form_through_its_address(neighbour: Client, court: Court) -> None:
    html = neighbour.get("/?fecha=2026-03-10").content.decode()
    address = re.search(r'href="(/\?[^"#]+hora=19)#reservar"', html)
    assert address is not None
    filled = neighbour.get(address[1].replace("&amp;", "&")).content.decode()
    for value in ("fulbito", str(court.pk), "2026-03-10", "19"):
        assert re.search(rf'<option value="{value}" selected[ >]', filled)
    assert re.search(r'name="teamName"[^>]* value="Las Panteras"|value="Las Panteras"[^>]* name="teamName"', filled)
    assert re.search(r'name="hours" value="1"[^>]*checked', filled)


@pytest.mark.parametrize(
    "query", ["cancha=99999&hora=19", "cancha=x&hora=x", "cancha=&hora=-1", "hora=²", "cancha=1&hora=99999999999999999999"]
)
def test_an_address_that_somebody_made_up_shows_the_page(neighbour: Client, court: Court, query: str) -> None:
    assert neighbour.get(f"/?{query}").status_code == 200


def test_a_refused_form_keeps_what_was_sent_and_says_why_beside_it(rf: RequestFactory, account: User, court: Court) -> None:
    sent = {
        "sport": "fulbito",
        "court": str(court.pk),
        "date": "2026-03-01",
        "startHour": "9",
        "hours": "3",
        "teamName": "Los Pumas",
        "proposal": "77",
    }
    form = BookingForm(sent, errors={"date": ["Esa hora ya empezó o ya pasó."], "codes": ["Otra cosa."]})
    response = render(rf, account, form=form, status=422)
    html = response.content.decode()
    assert response.status_code == 422
    for value in ("fulbito", str(court.pk), "2026-03-01", "9"):
        assert re.search(rf'<option value="{value}" selected[ >]', html)
    assert re.search(r'name="hours" value="3"[^>]*checked', html)
    assert 'value="Los Pumas"' in html
    assert 'name="proposal" value="77"' in html
    assert '<p class="error" id="id_date_error">Esa hora ya empezó o ya pasó.</p>' in html
    assert re.search(r'<select name="date"[^>]*aria-describedby="id_date_error"', html)
    assert re.search(r'<select name="date"[^>]*aria-invalid="true"', html)
    assert "<p>Otra cosa.</p>" in html
    assert html.index('id="reservar"') < html.index('id="dia"')


def test_a_proposal_fills_the_form_and_marks_its_hours(rf: RequestFactory, account: User, court: Court) -> None:
    wanted = {"court": court.pk, "date": TUESDAY.isoformat(), "startHour": 19, "hours": 2, "teamName": "Los Pumas", "proposal": 5}
    html = render(rf, account, form=BookingForm(initial=wanted)).content.decode()
    for value in ("fulbito", court.pk, "2026-03-10", 19):
        assert re.search(rf'<option value="{value}" selected[ >]', html)
    assert re.search(r'name="hours" value="2"[^>]*checked', html)
    assert 'name="proposal" value="5"' in html
    assert re.findall(rf'aria-current="true" data-court="{court.pk}" data-hour="(\d+)"', html) == ["19", "20"]


def test_each_page_has_its_own_idempotency_key(neighbour: Client, court: Court) -> None:
    keys = {re.search(r'name="idempotencyKey" value="([^"]{36})"', neighbour.get("/").content.decode())[1] for _ in range(2)}  # type: ignore[index]
    assert len(keys) == 2


@pytest.mark.parametrize(
    "team", ["<img src=x onerror=alert(1)>", '"><script>alert(1)</script>', "{{ 7|add:7 }}", "javascript:alert(1)", "\u202eadnalb\u202c"]
)
def test_a_team_name_is_only_ever_text(client: Client, account: User, court: Court, other: Member, now: dt.datetime, team: str) -> None:
    Member.objects.filter(pk=account.member.pk).update(team_name=team, name=team)
    Court.objects.filter(pk=court.pk).update(name=team)
    book(member=other, court=court, request=BookingRequest("fulbito", TUESDAY, 18, 1, team), now=now)
    client.force_login(account)
    html = client.get("/?fecha=2026-03-10").content.decode()
    assert "<img src=x" not in html
    assert "<script>alert" not in html
    assert "14" not in re.findall(r"<bdi>(.*?)</bdi>", html)
    assert len(re.findall("<bdi>", html)) == 1


def test_an_account_without_a_member_is_led_to_its_data(client: Client, court: Court) -> None:
    client.force_login(User.objects.create_superuser("jefa"))
    html = client.get("/").content.decode()
    assert 'href="/cuenta/datos/">Completar mis datos' in html
    assert 'href="/admin/"' in html


def test_the_way_to_the_desk_is_for_staff(neighbour: Client, court: Court) -> None:
    assert "/admin/" not in neighbour.get("/").content.decode()


def test_after_closing_time_today_has_no_hours(client: Client, court: Court, monkeypatch: pytest.MonkeyPatch) -> None:
    late = dt.datetime(2026, 3, 9, 22, 30, tzinfo=LIMA)
    for module in ("bookings.pages", "bookings.views"):
        monkeypatch.setattr(f"{module}.now_in_lima", lambda: late)
    assert "Por hoy ya cerró." in client.get("/").content.decode()
    assert len(cells(client.get("/?fecha=2026-03-10").content.decode(), court)) == 15


def test_hours_out_of_use_are_not_free(client: Client, court: Court, now: dt.datetime) -> None:
    block = CourtBlock.objects.create(court=court, date=TUESDAY, start_hour=9, hours=1, reason="Pintura", created_at=now)
    BookedHour.objects.create(block=block, court=court, date=TUESDAY, hour=9)
    hours = cells(client.get("/?fecha=2026-03-10").content.decode(), court)
    assert (hours[8], hours[9], hours[10]) == ("Libre", "En mantenimiento", "Libre")


def test_a_complex_without_courts_says_so(client: Client) -> None:
    assert "Todavía no hay canchas para reservar." in client.get("/").content.decode()


def test_the_page_is_never_kept_by_a_cache(client: Client, court: Court) -> None:
    assert "no-store" in client.get("/").headers["Cache-Control"]


@pytest.mark.parametrize("courts", [3, 20])
def test_the_number_of_queries_does_not_grow_with_the_courts(
    neighbour: Client, account: User, other: Member, now: dt.datetime, courts: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(courts):
        court = Court.objects.create(name=f"Losa {number}", sport="fulbito", price_centimos_per_hour=6000)
        for hour in range(7, 22):
            owner = account.member if hour == 20 else other
            book(member=owner, court=court, request=BookingRequest("fulbito", TUESDAY, hour, 1, "Los Pumas"), now=now)
    with django_assert_num_queries(6):  # session, account, member, hours, courts, next booking
        html = neighbour.get("/?fecha=2026-03-10").content.decode()
    assert html.count("<bdi>Los Pumas</bdi>") == 14 * courts


def test_it_opens_for_somebody_who_is_not_logged_in_after_a_refusal(rf: RequestFactory, court: Court) -> None:
    request = rf.post("/api/v1/bookings/")
    request.user = AnonymousUser()
    html = render_day_page(request, date=TUESDAY, form=BookingForm({}, errors={"date": ["No."]}), status=403).content.decode()
    assert 'href="/cuenta/entrar/?next=%2F%3Ffecha%3D2026-03-10"' in html
