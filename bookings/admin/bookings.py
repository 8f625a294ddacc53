"""Bookings by day: found, made, cancelled and exported."""

import datetime as dt
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.formats import date_format
from import_export.admin import ExportMixin
from import_export.forms import ExportForm

from bookings.admin.forms import BookForm, PlainLinks
from bookings.clock import now_in_lima
from bookings.exports import BookingResource, SafeCSV, SafeXLSX
from bookings.models import Booking
from bookings.money import in_soles
from bookings.selectors import total_days
from bookings.services import CANCEL_MESSAGES, CancelRefused, cancel

ASKED = ["court", "member", "date", "start_hour", "hours", "team_name"]
STORED = ["court", "member", "date", "from_to", "price", "status", "created_at", "cancelled_at"]


class DayFilter(admin.SimpleListFilter):
    """The days that the desk asks for most; any other is in the date hierarchy."""

    title, parameter_name = "día", "dia"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("hoy", "Hoy"), ("manana", "Mañana"), ("semana", "Hoy y los 6 días siguientes"), ("pasadas", "Días pasados")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Booking]) -> QuerySet[Booking]:
        today = now_in_lima().date()
        tomorrow, last = today + dt.timedelta(days=1), today + dt.timedelta(days=6)
        wanted: dict[str, dict[str, Any]] = {
            "hoy": {"date": today},
            "manana": {"date": tomorrow},
            "semana": {"date__range": (today, last)},
            "pasadas": {"date__lt": today},
        }
        return queryset.filter(**wanted.get(self.value() or "", {}))


@admin.register(Booking)
class BookingAdmin(PlainLinks, ExportMixin, admin.ModelAdmin):
    list_display = ["day", "from_to", "court", "member", "team_name", "price", "status"]
    list_filter = [DayFilter, "status", "court__sport", "court"]
    list_select_related = ["court", "member"]
    search_fields = ["member__name", "member__phone", "team_name", "court__name"]
    search_help_text = "Busca por vecino, celular, equipo o cancha."
    date_hierarchy = "date"
    ordering = ["-date", "start_hour", "court__name"]
    autocomplete_fields = ["member"]
    actions = ["cancel_bookings"]
    resource_classes = [BookingResource]
    formats = [SafeXLSX, SafeCSV]
    export_form_class = ExportForm
    import_export_change_list_template = "admin/bookings/booking/change_list.html"
    export_template_name = "admin/bookings/booking/export.html"
    to_encoding = "utf-8-sig"  # spreadsheets read a CSV file without the mark in the machine's old encoding

    def get_form(self, request: HttpRequest, obj: Booking | None = None, change: bool = False, **options: Any) -> type[ModelForm]:
        return super().get_form(request, obj, change, **(options if change else options | {"form": BookForm}))

    def get_fields(self, request: HttpRequest, obj: Booking | None = None) -> Any:
        return ["team_name", *STORED] if obj else ASKED

    def get_readonly_fields(self, request: HttpRequest, obj: Booking | None = None) -> list[str]:
        return STORED if obj else []

    def save_model(self, request: HttpRequest, obj: Booking, form: Any, change: bool) -> None:
        """A new booking was stored by the service while the form was validated. Of an old one only the team is written."""
        if change:
            obj.save(update_fields=["team_name"])

    def has_delete_permission(self, request: HttpRequest, obj: Booking | None = None) -> bool:
        return False

    def has_export_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("bookings.export_booking")

    def get_export_filename(self, request: HttpRequest, queryset: QuerySet[Booking], file_format: Any) -> str:
        return f"reservas-{now_in_lima():%Y-%m-%d}.{file_format.get_extension()}"

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        response = super().changelist_view(request, {"title": "Reservas", **(extra_context or {})})
        if isinstance(response, TemplateResponse) and response.context_data and "cl" in response.context_data:
            listed = response.context_data["cl"]
            response.context_data["totals"] = total_days(listed.queryset, dates={booking.date for booking in listed.result_list})
        return response

    @admin.display(description="día", ordering="date")
    def day(self, booking: Booking) -> str:
        return date_format(booking.date, "D d/m/Y")

    @admin.display(description="horas", ordering="start_hour")
    def from_to(self, booking: Booking) -> str:
        return f"{booking.start_hour}:00 a {booking.end_hour}:00"

    @admin.display(description="precio", ordering="price_centimos")
    def price(self, booking: Booking) -> str:
        return in_soles(booking.price_centimos)

    @admin.action(description="Cancelar las reservas elegidas", permissions=["change"])
    def cancel_bookings(self, request: HttpRequest, queryset: QuerySet[Booking]) -> None:
        cancelled = [booking for booking in queryset.select_related("court", "member") if self._cancel(request, booking)]
        if cancelled:
            self.message_user(request, f"Reservas canceladas: {len(cancelled)}.")

    def _cancel(self, request: HttpRequest, booking: Booking) -> bool:
        """Whether the service cancelled it; if not, a message says why."""
        try:
            cancel(booking=booking, by=booking.member, now=now_in_lima())
        except CancelRefused as error:
            self.message_user(request, f"{booking}: {CANCEL_MESSAGES[error.code]}", messages.WARNING)
            return False
        self.log_change(request, booking, "Cancelada.")
        return True
