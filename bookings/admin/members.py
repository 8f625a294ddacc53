"""Who books, with or without an account."""

from django.contrib import admin
from django.http import HttpRequest

from bookings.models import Member


@admin.register(Member)
class MemberAdmin(admin.ModelAdmin):
    list_display = ["name", "phone", "team_name", "user"]
    list_select_related = ["user"]
    search_fields = ["name", "phone", "team_name", "user__username"]
    autocomplete_fields = ["user"]
    fields = ["name", "phone", "team_name", "user"]

    def get_readonly_fields(self, request: HttpRequest, obj: Member | None = None) -> list[str]:
        """Who may not look at accounts does not hand them out either."""
        return [] if request.user.has_perm("auth.view_user") else ["user"]
