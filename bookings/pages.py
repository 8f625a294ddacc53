"""The neighbours' day page, for the view and for whoever refuses or fills its form."""

import datetime as dt
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from bookings.forms import BookingForm
from bookings.selectors import day_grids


def render_day_page(
    request: HttpRequest, *, date: dt.date, form: BookingForm | None = None, proposal: Any = None, status: int = 200
) -> HttpResponse:
    """The grid of a day and the booking form: empty, as it was refused, or filled by a proposal that the box above it tells."""
    context = {"date": date, "courts": day_grids(date), "form": form or BookingForm(), "proposal": proposal}
    return render(request, "bookings/day.html", context, status=status)
