"""The page that monitoring reads. A program shows a token for it, a person the permission to see what the model cost."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

from assistant.prometheus import SiteCollector
from kallpa.tokens import bearer

PERMISSION = "assistant.view_modelcall"


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus text for who may read it, else 401."""
    if not _may_read(request):
        return HttpResponse(status=401, headers={"WWW-Authenticate": "Bearer"})
    registry = CollectorRegistry(auto_describe=False)
    registry.register(SiteCollector(now=timezone.now()))
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_0_0_4, headers={"Cache-Control": "no-store"})


def _may_read(request: HttpRequest) -> bool:
    return bearer(request, scope="metrics") is not None or (request.user.is_staff and request.user.has_perm(PERMISSION))
