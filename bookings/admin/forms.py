"""Forms of the front desk. Those that take hours ask the service as the last step of validation: it alone says what is free."""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib.admin.widgets import RelatedFieldWidgetWrapper
from django.db.models import Field
from django.http import HttpRequest

from bookings.api import FIELD_OF_CODE, HOUR_TAKEN
from bookings.clock import now_in_lima
from bookings.forms import in_hours
from bookings.models import Booking, Court, CourtBlock
from bookings.rules import CLOSES_AT, MAX_CENTIMOS_PER_HOUR, MAX_HOURS, MAX_TEAM_NAME, MIN_HOURS, OPENS_AT
from bookings.services import REJECTION_MESSAGES, BookingRejected, HourTaken, block_court, book
from bookings.values import BlockRequest, BookingRequest

DESK_FIELDS = {"startHour": "start_hour", "teamName": "team_name", "sport": "court"}
BLOCK_TAKEN = "Hay una reserva o un bloqueo en alguna de esas horas. Cancela la reserva o elige otras horas."


def _read_hour(text: str) -> int:
    return int(text)


def _hour_field() -> forms.TypedChoiceField:
    choices = [("", "Elige la hora"), *((hour, f"{hour}:00") for hour in range(OPENS_AT, CLOSES_AT))]
    return forms.TypedChoiceField(label="Empieza a las", coerce=_read_hour, choices=choices)


def _hours_field(longest: int) -> forms.TypedChoiceField:
    choices = [(count, in_hours(count)) for count in range(MIN_HOURS, longest + 1)]
    return forms.TypedChoiceField(label="Cuánto tiempo", coerce=_read_hour, choices=choices)


class PlainLinks:
    """For an admin whose forms choose a court or a member: no pencils, crosses and eyes beside the choice; only a member may be added."""

    def formfield_for_dbfield(self, db_field: Field, request: HttpRequest, **options: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **options)  # type: ignore[misc]
        widget = getattr(field, "widget", None)
        if isinstance(widget, RelatedFieldWidgetWrapper):
            widget.can_change_related = widget.can_delete_related = widget.can_view_related = False
            widget.can_add_related = widget.can_add_related and db_field.name == "member"
        return field


class HoursForm(forms.ModelForm):
    """Takes hours of a court through a service. The instance is what the service stored; saving the form stores nothing more."""

    start_hour = _hour_field()
    taken_message = HOUR_TAKEN

    def take_hours(self, wanted: dict[str, Any], now: dt.datetime) -> Any:
        """The row that the service made. Raises BookingRejected or HourTaken."""
        raise NotImplementedError

    def _post_clean(self) -> None:
        """In place of the model's own checks, which would name constraints; nothing is asked for while a field is wrong."""
        if not self.errors:
            with self._refusals_beside_the_fields():
                self.instance = self.take_hours(self.cleaned_data, now_in_lima())

    @contextmanager
    def _refusals_beside_the_fields(self) -> Iterator[None]:
        try:
            yield
        except BookingRejected as error:
            for code in error.codes:
                field = FIELD_OF_CODE[code]
                self.add_error(DESK_FIELDS.get(field, field), REJECTION_MESSAGES[code])
        except HourTaken:
            self.add_error("start_hour", self.taken_message)


class BookForm(HoursForm):
    hours = _hours_field(MAX_HOURS)
    team_name = forms.CharField(label="Equipo", max_length=MAX_TEAM_NAME, required=False, help_text="Opcional. Lo verán los vecinos.")

    class Meta:
        model = Booking
        fields = ["court", "member", "date", "start_hour", "hours", "team_name"]

    def take_hours(self, wanted: dict[str, Any], now: dt.datetime) -> Booking:
        court = wanted["court"]
        request = BookingRequest(court.sport, wanted["date"], wanted["start_hour"], wanted["hours"], wanted["team_name"])
        return book(member=wanted["member"], court=court, request=request, now=now)


class BlockForm(HoursForm):
    hours = _hours_field(CLOSES_AT - OPENS_AT)
    taken_message = BLOCK_TAKEN

    class Meta:
        model = CourtBlock
        fields = ["court", "date", "start_hour", "hours", "reason"]

    def take_hours(self, wanted: dict[str, Any], now: dt.datetime) -> CourtBlock:
        request = BlockRequest(wanted["date"], wanted["start_hour"], wanted["hours"], wanted["reason"])
        return block_court(court=wanted["court"], request=request, now=now)


class CourtForm(forms.ModelForm):
    """A court with its price in soles, as people say it; stored in whole céntimos."""

    price = forms.DecimalField(
        label="Precio por hora (S/)", min_value=Decimal(0), max_value=Decimal(MAX_CENTIMOS_PER_HOUR) / 100, decimal_places=2
    )

    class Meta:
        model = Court
        fields = ["name", "sport", "active"]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.instance.pk:
            self.initial["price"] = Decimal(self.instance.price_centimos_per_hour) / 100

    def _post_clean(self) -> None:
        """The price joins the row before its constraints are checked."""
        if "price" in self.cleaned_data:
            self.instance.price_centimos_per_hour = int(self.cleaned_data["price"] * 100)
        super()._post_clean()  # type: ignore[misc]
