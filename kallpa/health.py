"""Answers for whoever watches the site: is the process alive, can it work."""

from typing import Any

from django.conf import settings
from django.db import Error
from django.http import HttpRequest, JsonResponse
from django.utils.module_loading import import_string

from kallpa.incidents import open_incidents

SHOWN_AT_MOST = 20


def healthz(request: HttpRequest) -> JsonResponse:
    """200 while the process answers."""
    return JsonResponse({"status": "ok"})


def readyz(request: HttpRequest) -> JsonResponse:
    """200 when the database answers a query, 503 when it does not. What else is broken is told and fails nothing: bookings go on.

    Anybody may read it: causes by name, no sentence, address or name of a model.
    """
    try:
        incidents = [_show(*row) for row in open_incidents().values_list("kind", "cause", "opened_at")[:SHOWN_AT_MOST]]
    except Error:
        return JsonResponse({"status": "unavailable", "database": "unreachable"}, status=503)
    reports = {name: import_string(report)() for name, report in settings.READY_REPORTS.items()}
    return JsonResponse({"status": "ok", "database": "ok", **reports, "incidents": incidents})


def _show(kind: str, cause: str, opened_at: Any) -> dict[str, str]:
    return {"kind": kind, "cause": cause, "since": opened_at.isoformat()}
