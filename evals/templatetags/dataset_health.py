"""What the admin's front page says of the datasets."""

from typing import Any

from django import template
from django.utils import timezone

from evals.admin.health import health_lines

register = template.Library()


@register.inclusion_tag("admin/evals/dataset/health_lines.html")
def dataset_health_lines() -> dict[str, Any]:
    """A line for each dataset."""
    return {"lines": health_lines(now=timezone.now())}
