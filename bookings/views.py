"""The neighbours' pages."""

from django.http import HttpRequest, HttpResponse

from bookings.clock import now_in_lima
from bookings.pages import render_day_page


def show_day(request: HttpRequest) -> HttpResponse:
    """The day that `fecha` names, or today."""
    return render_day_page(request, date=now_in_lima().date())
