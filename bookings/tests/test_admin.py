import datetime as dt

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import DjangoAssertNumQueries

from bookings.clock import now_in_lima
from bookings.models import BookedHour, Booking, Court, Member
from bookings.services import book
from bookings.values import BookingRequest


@pytest.fixture
def staff(db: None) -> Client:
    client = Client()
    client.force_login(get_user_model().objects.create_superuser("jefa", password="una-clave-de-prueba"))
    return client


@pytest.fixture
def booking(court: Court, member: Member) -> Booking:
    tomorrow = now_in_lima().date() + dt.timedelta(days=1)
    request = BookingRequest("fulbito", tomorrow, 18, 2, '"><img src=x onerror=alert(1)>')
    return book(member=member, court=court, request=request, now=timezone.now())


@pytest.mark.parametrize("page", ["member", "court", "booking"])
def test_each_list_opens_searches_and_filters(page: str, staff: Client, booking: Booking) -> None:
    response = staff.get(reverse(f"admin:bookings_{page}_changelist"), {"q": "quispe"})
    assert response.status_code == 200
    assert b"<img src=x" not in response.content


def test_the_booking_page_shows_its_hours_and_lets_only_the_team_be_edited(staff: Client, booking: Booking) -> None:
    page = reverse("admin:bookings_booking_change", args=[booking.pk])
    content = staff.get(page).content.decode()
    assert "S/ 121.00" in content
    assert "<img src=x" not in content
    inline = {"booked_hours-TOTAL_FORMS": "0", "booked_hours-INITIAL_FORMS": "0"}
    staff.post(page, {"team_name": "Los Pumas", "start_hour": "8", "hours": "1", **inline})
    booking.refresh_from_db()
    assert (booking.team_name, booking.start_hour, booking.hours) == ("Los Pumas", 18, 2)


@pytest.mark.parametrize("path", ["admin:bookings_booking_add", "admin:bookings_booking_delete"])
def test_bookings_are_neither_added_nor_deleted_by_hand(path: str, staff: Client, booking: Booking) -> None:
    args = [booking.pk] if path.endswith("delete") else []
    assert staff.get(reverse(path, args=args)).status_code == 403


def test_the_action_cancels_by_the_service(staff: Client, booking: Booking) -> None:
    action = {"action": "cancel_bookings", "_selected_action": [booking.pk]}
    url = reverse("admin:bookings_booking_changelist")
    assert "Reservas canceladas: 1." in staff.post(url, action, follow=True).content.decode()
    assert not BookedHour.objects.exists()
    assert "Esa reserva ya estaba cancelada." in staff.post(url, action, follow=True).content.decode()


@pytest.mark.parametrize("rows", [20, 200])
def test_the_booking_list_asks_as_much_for_many_rows_as_for_few(
    rows: int, staff: Client, booking: Booking, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    fields = {field: getattr(booking, field) for field in ("court", "date", "start_hour", "hours", "price_centimos", "created_at")}
    members = Member.objects.bulk_create(Member(name=f"Vecina {number}") for number in range(rows))
    Booking.objects.bulk_create(Booking(member=member, **fields) for member in members)
    with django_assert_max_num_queries(14):
        staff.get(reverse("admin:bookings_booking_changelist"))
