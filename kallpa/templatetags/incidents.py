"""What every admin page says of incidents that are open."""

from typing import Any

from django import template

from kallpa.alerts import say
from kallpa.incidents import open_incidents

register = template.Library()
SHOWN_AT_MOST = 5


@register.inclusion_tag("admin/kallpa/incidents.html", takes_context=True)
def incident_banner(context: dict[str, Any]) -> dict[str, Any]:
    """A line for each open incident, for staff alone: the login page is an admin page too."""
    user = getattr(context.get("request"), "user", None)
    if not (user and user.is_active and user.is_staff):
        return {"lines": []}
    found = list(open_incidents()[: SHOWN_AT_MOST + 1])
    return {
        "lines": [say(incident) for incident in found[:SHOWN_AT_MOST]],
        "more": len(found) > SHOWN_AT_MOST,
        "may_read": user.has_perm("kallpa.view_incident"),
    }
