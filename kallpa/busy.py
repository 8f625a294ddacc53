"""A database that is locked, overrun or gone is said to people as what it is: come back in a moment. It is never a 500."""

import logging
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from kallpa.away import is_away
from kallpa.problems import BUSY_RETRY_S

logger = logging.getLogger(__name__)


class BusyDatabaseMiddleware:
    """Answers 503 when a page meets a database that does not answer. The API does so itself, as a problem document."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not is_away(exception):
            return None
        logger.error("The database does not answer on %s: %s", request.path, exception, exc_info=exception)
        return HttpResponse(render_to_string("503.html"), status=503, headers={"Retry-After": str(BUSY_RETRY_S)})
