"""The desk finds bookings by day, makes one for somebody who calls, and cancels, always through the services."""

import datetime as dt
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from pytest_django.fixtures import DjangoAssertNumQueries

from bookings.models import BookedHour, Booking, Court, Member
from bookings.tests.desk import DESK, in_days, log_in, make_booking, page


@pytest.fixture
def desk(db: None) -> Client:
    return log_in(DESK)


@pytest.fixture
def booking(court: Court, member: Member) -> Booking:
    return make_booking(member=member, court=court, team_name='"><img src=x onerror=alert(1)>')


def asked(court: Court, member: Member, **other: Any) -> dict[str, Any]:
    date = in_days(1).isoformat()
    return {"court": court.pk, "member": member.pk, "date": date, "start_hour": "18", "hours": "2", "team_name": "Los Pumas"} | other


def errors(desk: Client, body: dict[str, Any]) -> dict[str, list[str]]:
    """The sentences that stand next to the fields of the page that came back."""
    response = desk.post(page("booking", "add"), body)
    assert response.status_code == 200
    return dict(response.context["adminform"].form.errors)


def test_it_books_through_the_service_and_writes_it_down(desk: Client, court: Court, member: Member) -> None:
    response = desk.post(page("booking", "add"), asked(court, member))
    made = Booking.objects.get()
    assert response.status_code == 302
    assert (made.court, made.member, made.date, made.start_hour, made.hours) == (court, member, in_days(1), 18, 2)
    assert (made.team_name, made.price_centimos, made.status) == ("Los Pumas", 12_100, "confirmed")
    assert list(made.booked_hours.values_list("hour", flat=True)) == [18, 19]
    assert LogEntry.objects.get().object_id == str(made.pk)


def test_a_taken_hour_is_said_beside_the_hour(desk: Client, booking: Booking, court: Court, other: Member) -> None:
    assert errors(desk, asked(court, other, start_hour="19")) == {
        "start_hour": ["Esa cancha ya está ocupada en alguna de esas horas. Elige otra hora u otra cancha."]
    }
    assert Booking.objects.get() == booking


@pytest.mark.parametrize(
    ("change", "field", "sentence"),
    [
        ({"start_hour": "21"}, "start_hour", "El complejo abre de 7 a 22 h y la reserva termina a más tardar al cierre."),
        ({"date": "2020-01-01"}, "start_hour", "Esa hora ya empezó o ya pasó."),
        ({"date": "2999-01-01"}, "date", "Se reserva con 14 días de anticipación como máximo."),
        ({"date": "ayer"}, "date", "Introduzca una fecha válida."),
        ({"start_hour": "3"}, "start_hour", "Escoja una opción válida. 3 no es una de las opciones disponibles."),
        ({"hours": "4"}, "hours", "Escoja una opción válida. 4 no es una de las opciones disponibles."),
        ({"member": ""}, "member", "Este campo es requerido."),
    ],
)
def test_what_is_wrong_stands_beside_its_field(
    change: dict[str, str], field: str, sentence: str, desk: Client, court: Court, member: Member
) -> None:
    assert errors(desk, asked(court, member) | change) == {field: [sentence]}
    assert not Booking.objects.exists()


def test_a_court_out_of_service_is_not_booked(desk: Client, court: Court, member: Member) -> None:
    Court.objects.update(active=False)
    assert errors(desk, asked(court, member)) == {"court": ["Esa cancha no está disponible por ahora."]}


def test_what_the_form_does_not_have_changes_nothing(desk: Client, court: Court, member: Member) -> None:
    desk.post(page("booking", "add"), asked(court, member, price_centimos="1", status="cancelled", cancelled_at="2026-01-01"))
    assert Booking.objects.values_list("price_centimos", "status", "cancelled_at").get() == (12_100, "confirmed", None)


def test_only_the_team_of_a_booking_is_edited(desk: Client, booking: Booking) -> None:
    address = page("booking", "change", booking.pk)
    content = desk.get(address).content.decode()
    assert "S/ 121.00" in content
    assert "<img src=x" not in content
    desk.post(address, {"team_name": "Los Pumas", "start_hour": "8", "hours": "1", "status": "cancelled"})
    booking.refresh_from_db()
    assert (booking.team_name, booking.start_hour, booking.hours, booking.status) == ("Los Pumas", 18, 2, "confirmed")


def test_a_booking_is_never_deleted(desk: Client, booking: Booking) -> None:
    assert desk.post(page("booking", "delete", booking.pk), {"post": "yes"}).status_code == 403


def test_the_action_cancels_by_the_service_and_says_what_it_could_not(desk: Client, booking: Booking) -> None:
    action = {"action": "cancel_bookings", "_selected_action": [booking.pk]}
    assert "Reservas canceladas: 1." in desk.post(page("booking"), action, follow=True).content.decode()
    assert not BookedHour.objects.exists()
    assert LogEntry.objects.get().get_change_message() == "Cancelada."
    again = desk.post(page("booking"), action, follow=True).content.decode()
    assert "Esa reserva ya estaba cancelada." in again
    assert "Reservas canceladas" not in again


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["Halcones", "Pumas", "Tigres"]),
        ("?dia=hoy", []),
        ("?dia=manana", ["Pumas"]),
        ("?dia=semana", ["Halcones", "Pumas"]),
        ("?dia=pasadas", []),
        ("?q=quispe", ["Pumas"]),
        ("?q=halcones", ["Halcones"]),
        ("?court__sport__exact=voley", ["Tigres"]),
        ("?status__exact=cancelled", []),
    ],
)
def test_it_is_found_by_day_sport_status_member_and_team(
    query: str, found: list[str], desk: Client, court: Court, member: Member, other: Member
) -> None:
    voley = Court.objects.create(name="Vóley 1", sport="voley", price_centimos_per_hour=4000)
    make_booking(member=member, court=court, days=1, team_name="Pumas")
    make_booking(member=other, court=court, days=6, team_name="Halcones")
    make_booking(member=other, court=voley, days=9, team_name="Tigres")
    listed = desk.get(page("booking") + query).context["cl"].queryset
    assert sorted(listed.values_list("team_name", flat=True)) == found


def test_the_hierarchy_shows_one_day(desk: Client, booking: Booking, court: Court, other: Member) -> None:
    make_booking(member=other, court=court, days=2)
    date = booking.date
    query = f"?date__year={date.year}&date__month={date.month}&date__day={date.day}"
    assert list(desk.get(page("booking") + query).context["cl"].queryset) == [booking]


def test_each_day_has_its_total(desk: Client, court: Court, member: Member, other: Member) -> None:
    make_booking(member=member, court=court, start_hour=8, hours=2)
    make_booking(member=other, court=court, start_hour=10, hours=1)
    gone = make_booking(member=member, court=court, start_hour=15, hours=3)
    make_booking(member=member, court=court, days=2, hours=3)
    desk.post(page("booking"), {"action": "cancel_bookings", "_selected_action": [gone.pk]})
    assert [tuple(day) for day in desk.get(page("booking")).context["totals"]] == [
        (in_days(2), 1, 3, "S/ 181.50", 0),
        (in_days(1), 2, 3, "S/ 181.50", 1),
    ]
    assert [tuple(day)[1:3] for day in desk.get(page("booking") + "?q=paredes").context["totals"]] == [(1, 1)]


@pytest.mark.parametrize("rows", [20, 2000])
def test_the_list_asks_as_much_for_many_rows_as_for_few(
    rows: int, desk: Client, booking: Booking, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    fields = {field: getattr(booking, field) for field in ("court", "start_hour", "hours", "price_centimos", "created_at")}
    members = Member.objects.bulk_create(Member(name=f"Vecina {number}") for number in range(rows))
    Booking.objects.bulk_create(
        Booking(member=member, date=booking.date + dt.timedelta(days=number % 30), **fields) for number, member in enumerate(members)
    )
    with django_assert_max_num_queries(16):
        assert desk.get(page("booking")).status_code == 200
