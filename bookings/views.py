"""The neighbours' pages."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from bookings.clock import now_in_lima
from bookings.forms import in_words
from bookings.models import Booking
from bookings.money import in_soles
from bookings.pages import render_day_page
from bookings.selectors import earlier_bookings, find_member, upcoming_bookings
from bookings.services import CANCEL_MESSAGES, CancelRefused, cancel

PER_PAGE = 20


@dataclass(frozen=True, slots=True)
class BookingLine:
    """A booking as its member sees it."""

    booking: Booking
    price: str
    can_cancel: bool


@require_safe
@never_cache
def show_day(request: HttpRequest) -> HttpResponse:
    """The day that `fecha` names, or today."""
    return render_day_page(request, date=_date_of(request.GET.get("fecha", "")) or now_in_lima().date())


@require_safe
@never_cache
@login_required
def show_my_bookings(request: HttpRequest) -> HttpResponse:
    """What is to come, whole, and what was, 20 a page (`pagina`)."""
    member, now = find_member(request.user), now_in_lima()
    if member is None:
        return redirect("profile")
    earlier = Paginator(earlier_bookings(member=member, now=now), PER_PAGE).get_page(request.GET.get("pagina"))
    context = {"upcoming": _lines(upcoming_bookings(member=member, now=now), now), "earlier": _lines(earlier, now), "page": earlier}
    return render(request, "bookings/mine.html", context)


@require_POST
@login_required
def cancel_booking(request: HttpRequest, booking_id: int) -> HttpResponse:
    """Cancels one's own booking; somebody else's does not exist (404)."""
    booking = get_object_or_404(Booking.objects.select_related("court", "member"), pk=booking_id, member__user=request.user)
    try:
        cancel(booking=booking, by=booking.member, now=now_in_lima())
        messages.success(request, f"Cancelaste {booking.court} del {in_words(booking.date)}, {booking.start_hour}:00.")
    except CancelRefused as refusal:
        messages.error(request, CANCEL_MESSAGES[refusal.code])
    return redirect("my_bookings")


def _date_of(text: str) -> dt.date | None:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        return None


def _lines(bookings: Iterable[Booking], now: dt.datetime) -> list[BookingLine]:
    return [BookingLine(booking, in_soles(booking.price_centimos), now < booking.starts_at) for booking in bookings]
