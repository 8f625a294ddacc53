"""The front desk's view of members, courts and bookings. Bookings are written by the services, not by forms."""

from collections.abc import Iterable

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from bookings.clock import now_in_lima
from bookings.models import BookedHour, Booking, Court, Member
from bookings.services import CANCEL_MESSAGES, CancelRefused, cancel


def _in_soles(centimos: int) -> str:
    return f"S/ {centimos // 100:,}.{centimos % 100:02d}"


@admin.register(Member)
class MemberAdmin(admin.ModelAdmin):
    list_display = ["name", "phone", "team_name", "user"]
    list_select_related = ["user"]
    search_fields = ["name", "phone", "team_name", "user__username"]
    autocomplete_fields = ["user"]


@admin.register(Court)
class CourtAdmin(admin.ModelAdmin):
    list_display = ["name", "sport", "price", "active"]
    list_filter = ["sport", "active"]
    search_fields = ["name"]

    @admin.display(description="precio por hora", ordering="price_centimos_per_hour")
    def price(self, court: Court) -> str:
        return _in_soles(court.price_centimos_per_hour)


class BookedHourInline(admin.TabularInline):
    model = BookedHour
    fields = ["date", "hour"]
    readonly_fields = ["date", "hour"]
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Booking | None = None) -> bool:
        return False


@admin.register(Booking)
class BookingAdmin(admin.ModelAdmin):
    list_display = ["date", "start_hour", "hours", "court", "member", "team_name", "price", "status"]
    list_filter = ["status", "court__sport", "court"]
    list_select_related = ["court", "member"]
    search_fields = ["member__name", "member__phone", "team_name", "court__name"]
    date_hierarchy = "date"
    fields = ["court", "member", "date", "start_hour", "hours", "team_name", "price", "status", "created_at", "cancelled_at"]
    readonly_fields = ["court", "member", "date", "start_hour", "hours", "price", "status", "created_at", "cancelled_at"]
    inlines = [BookedHourInline]
    actions = ["cancel_bookings"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Booking | None = None) -> bool:
        return False

    @admin.display(description="precio", ordering="price_centimos")
    def price(self, booking: Booking) -> str:
        return _in_soles(booking.price_centimos)

    @admin.action(description="Cancelar las reservas elegidas", permissions=["change"])
    def cancel_bookings(self, request: HttpRequest, queryset: QuerySet[Booking]) -> None:
        refusals = list(_cancel_each(queryset.select_related("court", "member")))
        for refusal in refusals:
            self.message_user(request, refusal, messages.WARNING)
        self.message_user(request, f"Reservas canceladas: {queryset.count() - len(refusals)}.")


def _cancel_each(bookings: Iterable[Booking]) -> Iterable[str]:
    for booking in bookings:
        try:
            cancel(booking=booking, by=booking.member, now=now_in_lima())
        except CancelRefused as error:
            yield f"{booking}: {CANCEL_MESSAGES[error.code]}"
