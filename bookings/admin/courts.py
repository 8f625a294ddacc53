"""Courts, and the hours in which one is out of use."""

import datetime as dt
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.formats import date_format

from bookings.admin.forms import BlockForm, CourtForm, PlainLinks
from bookings.clock import now_in_lima
from bookings.models import Court, CourtBlock
from bookings.money import in_soles
from bookings.services import unblock_court


@admin.register(Court)
class CourtAdmin(admin.ModelAdmin):
    form = CourtForm
    fields = ["name", "sport", "price", "active"]
    list_display = ["name", "sport", "price_in_soles", "active"]
    list_filter = ["sport", "active"]
    search_fields = ["name"]

    def get_fields(self, request: HttpRequest, obj: Court | None = None) -> Any:
        may_write = self.has_change_permission(request, obj) if obj else self.has_add_permission(request)
        return ["name", "sport", "price" if may_write else "price_in_soles", "active"]

    def get_readonly_fields(self, request: HttpRequest, obj: Court | None = None) -> list[str]:
        return [name for name in self.get_fields(request, obj) if name == "price_in_soles"]

    @admin.display(description="precio por hora", ordering="price_centimos_per_hour")
    def price_in_soles(self, court: Court) -> str:
        return in_soles(court.price_centimos_per_hour)


class ToComeFilter(admin.SimpleListFilter):
    """Blocks by whether they are over."""

    title, parameter_name = "cuándo", "cuando"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("por-venir", "De hoy en adelante"), ("pasados", "Pasados")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[CourtBlock]) -> QuerySet[CourtBlock]:
        today: dt.date = now_in_lima().date()
        wanted = {"por-venir": {"date__gte": today}, "pasados": {"date__lt": today}}.get(self.value() or "", {})
        return queryset.filter(**wanted)


@admin.register(CourtBlock)
class CourtBlockAdmin(PlainLinks, admin.ModelAdmin):
    """A block is made, read and lifted (deleted); to move it, lift it and make another."""

    form = BlockForm
    fields = ["court", "date", "start_hour", "hours", "reason"]
    list_display = ["day", "from_to", "court", "reason"]
    list_filter = [ToComeFilter, "court__sport", "court"]
    list_select_related = ["court"]
    search_fields = ["court__name", "reason"]
    date_hierarchy = "date"

    def has_change_permission(self, request: HttpRequest, obj: CourtBlock | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: CourtBlock, form: Any, change: bool) -> None:
        """The service stored it while the form was validated."""

    def delete_model(self, request: HttpRequest, obj: CourtBlock) -> None:
        unblock_court(block=obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[CourtBlock]) -> None:
        for block in queryset:
            unblock_court(block=block)

    @admin.display(description="día", ordering="date")
    def day(self, block: CourtBlock) -> str:
        return date_format(block.date, "D d/m/Y")

    @admin.display(description="horas", ordering="start_hour")
    def from_to(self, block: CourtBlock) -> str:
        return f"{block.start_hour}:00 a {block.end_hour}:00"
