"""People at the front desk, each with the groups of a fresh database."""

import datetime as dt

from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from bookings.clock import now_in_lima
from bookings.models import Booking, Court, Member
from bookings.services import book
from bookings.values import BookingRequest

DESK, READERS = "Administración del complejo", "Solo lectura"
FOUR_PAGES = ["booking", "court", "courtblock", "member"]


def log_in(group: str) -> Client:
    """A browser of a person of this group."""
    person = User.objects.create_user(f"persona de {group}", is_staff=True)
    person.groups.add(Group.objects.get(name=group))
    client = Client()
    client.force_login(person)
    return client


def in_days(days: int) -> dt.date:
    return now_in_lima().date() + dt.timedelta(days=days)


def make_booking(*, member: Member, court: Court, days: int = 1, start_hour: int = 18, hours: int = 2, team_name: str = "") -> Booking:
    """A booking made now, so many days ahead."""
    request = BookingRequest(court.sport, in_days(days), start_hour, hours, team_name)
    return book(member=member, court=court, request=request, now=timezone.now())


def page(model: str, action: str = "changelist", *args: int) -> str:
    return reverse(f"admin:bookings_{model}_{action}", args=args)
