"""Incidents, to read. Tokens of programs: made here, read here, revoked here; a token never changes, and its secret is shown once."""

import datetime as dt
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.timezone import localtime

from kallpa.models import ApiToken, Incident
from kallpa.tokens import MAX_DAYS, MAX_NAME, create_token, revoke_token


class ReadOnly:
    """Nobody adds, changes or deletes, whatever the permissions of the account."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


COUNTED = {"streak": "fallas seguidas", "failures": "fallas en la ventana", "calls": "llamadas en la ventana"}


class OpenFilter(admin.SimpleListFilter):
    title = "estado"
    parameter_name = "estado"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("abierto", "abierto"), ("terminado", "terminado")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Incident]) -> QuerySet[Incident]:
        return queryset.filter(closed_at__isnull=self.value() == "abierto") if self.value() in ("abierto", "terminado") else queryset


@admin.register(Incident)
class IncidentAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ["__str__", "why", "since", "until", "signs"]
    list_filter = [OpenFilter, "kind", "cause"]
    show_facets = admin.ShowFacets.NEVER
    search_fields = ["subject"]
    date_hierarchy = "opened_at"
    fieldsets = [
        (None, {"fields": ["kind", "subject", "why", "since", "until"]}),
        ("Señales", {"fields": ["counted", "signs", "last_sign_at"]}),
        ("Avisos por correo y webhook", {"fields": ["opening_told_at", "closing_told_at"]}),
    ]

    @admin.display(description="por qué", ordering="cause")
    def why(self, incident: Incident) -> str:
        return f"{incident.detail} ({incident.cause})" if incident.detail else incident.cause

    @admin.display(description="desde", ordering="opened_at")
    def since(self, incident: Incident) -> str:
        return f"{localtime(incident.opened_at):%d/%m/%Y %H:%M}"

    @admin.display(description="hasta", ordering="closed_at")
    def until(self, incident: Incident) -> str:
        return f"{localtime(incident.closed_at):%d/%m/%Y %H:%M}" if incident.closed_at else "sigue abierto"

    @admin.display(description="al abrirse")
    def counted(self, incident: Incident) -> str:
        return ", ".join(f"{words}: {incident.counts[name]}" for name, words in COUNTED.items() if name in incident.counts) or "—"


def _say_moment(moment: dt.datetime) -> str:
    return date_format(timezone.localtime(moment), "d/m/Y H:i")


class TokenForm(forms.Form):
    name = forms.CharField(label="Para qué es", max_length=MAX_NAME, help_text="Por ejemplo: editor de Rosa.")
    scopes = forms.MultipleChoiceField(label="Qué abre", choices=ApiToken.Scope.choices, widget=forms.CheckboxSelectMultiple)
    days = forms.IntegerField(label="Días que vale", min_value=1, max_value=MAX_DAYS, initial=90, help_text=f"De 1 a {MAX_DAYS}.")


class StateFilter(admin.SimpleListFilter):
    """Tokens that open, and those that no longer do."""

    title, parameter_name = "estado", "estado"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("vigente", "Vigentes"), ("vencido", "Vencidos"), ("revocado", "Revocados")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> QuerySet[ApiToken]:
        now = timezone.now()
        wanted: dict[str, dict[str, Any]] = {
            "vigente": {"revoked_at": None, "expires_at__gt": now},
            "vencido": {"revoked_at": None, "expires_at__lte": now},
            "revocado": {"revoked_at__isnull": False},
        }
        return queryset.filter(**wanted.get(self.value() or "", {}))


@admin.register(ApiToken)
class ApiTokenAdmin(admin.ModelAdmin):
    list_display = ["name", "prefix", "state", "opens", "owner", "ends", "last_use"]
    list_filter = [StateFilter, ("owner", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["owner"]
    search_fields = ["name", "prefix"]
    fields = ["name", "prefix", "opens", "owner", "created_at", "expires_at", "revoked_at", "last_used_at"]
    actions = ["revoke"]

    def has_change_permission(self, request: HttpRequest, obj: ApiToken | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ApiToken | None = None) -> bool:
        return False

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("kallpa.change_apitoken")

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """The secret is in the answer to the form and nowhere else: a redirect would have to keep it in a session or a cookie."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = TokenForm(request.POST or None)
        if not form.is_valid():
            return self._page(request, "add", {"form": form, "title": "Crear un token"})
        assert isinstance(request.user, AbstractBaseUser)  # noqa: S101 -- who may add has an account
        made = create_token(**form.cleaned_data, owner=request.user, now=timezone.now())
        self.log_addition(request, made.row, "Creado.")
        return self._page(request, "created", {"token": made.row, "secret": made.secret, "title": f"Token creado: {made.row}"})

    def _page(self, request: HttpRequest, name: str, context: dict[str, Any]) -> HttpResponse:
        return TemplateResponse(
            request, f"admin/kallpa/apitoken/{name}.html", self.admin_site.each_context(request) | {"opts": self.opts} | context
        )

    @admin.action(description="Revocar: dejan de abrir desde la siguiente solicitud", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        closed = [token for token in queryset if revoke_token(token=token, now=timezone.now())]
        for token in closed:
            self.log_change(request, token, "Revocado.")
        self.message_user(request, f"Tokens revocados: {len(closed)}.")

    @admin.display(description="abre")
    def opens(self, token: ApiToken) -> str:
        return ", ".join(ApiToken.Scope(scope).label for scope in token.scopes)

    @admin.display(description="vence", ordering="expires_at")
    def ends(self, token: ApiToken) -> str:
        return _say_moment(token.expires_at)

    @admin.display(description="último uso", ordering="last_used_at")
    def last_use(self, token: ApiToken) -> str:
        return _say_moment(token.last_used_at) if token.last_used_at else "sin usar"

    @admin.display(description="estado")
    def state(self, token: ApiToken) -> str:
        if token.revoked_at:
            return "revocado"
        return "vencido" if token.expires_at <= timezone.now() else "vigente"
