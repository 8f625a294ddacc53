"""The money ledger in the admin: its rows, read only, and the page that adds them up."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path

from assistant.models import ModelCall
from assistant.spending import spending_between
from assistant.spending_page import PeriodForm, as_table, spending_context
from bookings.clock import in_lima, now_in_lima
from bookings.exports import SafeCSV
from bookings.money import say_usd
from kallpa.admin import ReadOnly


@admin.register(ModelCall)
class ModelCallAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ["when", "purpose", "model", "outcome", "tokens", "cost", "reference"]
    list_filter = ["purpose", "tokens_measured", "price_known", "outcome"]
    search_fields = ["model", "=reference"]
    search_help_text = "Busca por modelo, o por lo que pagó: run:12, interaction:7. Con *, el precio es el más caro que conocemos."
    date_hierarchy = "created_at"
    show_facets = admin.ShowFacets.NEVER
    show_full_result_count = False
    change_list_template = "admin/assistant/modelcall/change_list.html"
    fieldsets = [
        (None, {"fields": ["created_at", "purpose", "reference", "outcome"]}),
        ("Modelo", {"fields": ["model", "server", "prompt_hash"]}),
        ("Consumo", {"fields": ["input_tokens", "output_tokens", "tokens_measured", "cost", "price_known", "latency_ms", "attempts"]}),
    ]

    def get_urls(self) -> list[URLPattern]:
        page = path("gasto/", self.admin_site.admin_view(self.spending), name="assistant_modelcall_spending")
        return [page, *super().get_urls()]

    @admin.display(description="cuándo", ordering="created_at")
    def when(self, call: ModelCall) -> str:
        return f"{in_lima(call.created_at):%d/%m/%Y %H:%M}"

    @admin.display(description="tokens")
    def tokens(self, call: ModelCall) -> str:
        counted = "medidos" if call.tokens_measured else "estimados"
        return f"{call.input_tokens:,} + {call.output_tokens:,} ({counted})"

    @admin.display(description="costo", ordering="cost_micro_usd")
    def cost(self, call: ModelCall) -> str:
        return f"{say_usd(call.cost_micro_usd)}{'' if call.price_known else ' *'}"

    def spending(self, request: HttpRequest) -> HttpResponse:
        """Spend by purpose, model and day; the same as a spreadsheet with `formato=csv`."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        today = now_in_lima().date()
        form = PeriodForm(PeriodForm.with_defaults(request.GET, today))
        first, last = form.period(today)
        cells = spending_between(first, last)
        if request.GET.get("formato") == "csv" and form.is_valid():
            return _as_csv(SafeCSV().export_data(as_table(cells)), f"gasto-{first}-{last}.csv")
        context = {**self.admin_site.each_context(request), **spending_context(cells, first, last, now=now_in_lima())}
        context |= {"form": form, "title": "Gasto en modelos", "opts": self.opts}
        return TemplateResponse(request, "admin/assistant/modelcall/spending.html", context)


def _as_csv(text: Any, name: str) -> HttpResponse:
    """Spreadsheets read a CSV file without the mark in the machine's old encoding."""
    return HttpResponse(
        str(text).encode("utf-8-sig"),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
