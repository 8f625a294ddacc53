"""What a page about a crash may tell on a machine with DEBUG on: where it happened, and none of the values that were there."""

import re
from collections.abc import ItemsView
from types import FrameType
from typing import Any

from django.http import HttpRequest
from django.views.debug import SafeExceptionReporterFilter


class PrivateReporterFilter(SafeExceptionReporterFilter):
    """Hides settings and headers that may hold a secret, all that was posted, and every variable, whatever DEBUG says.

    Django's own shows variables and forms while DEBUG is on: the key of the model, the words of a neighbour, the names in a prompt.
    Addresses are hidden too: a password stands in that of a database or a cache, and a webhook's is a secret itself.
    """

    hidden_settings = re.compile("API|AUTH|TOKEN|KEY|SECRET|PASS|SIGNATURE|HTTP_COOKIE|URL|LOCATION", re.IGNORECASE)

    def get_post_parameters(self, request: HttpRequest | None) -> dict[str, Any]:
        """Names of fields, without what was written in them."""
        return dict.fromkeys(request.POST, self.cleansed_substitute) if request else {}

    def get_traceback_frame_variables(self, request: HttpRequest | None, tb_frame: FrameType) -> ItemsView[str, Any]:
        """None of them."""
        return dict[str, Any]().items()
