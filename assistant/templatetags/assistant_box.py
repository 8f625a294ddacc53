"""What the box needs to know without the page's help."""

from django import template

from assistant.models import MAX_WORD
from assistant.pipeline import MAX_INPUT_CHARS

register = template.Library()


@register.simple_tag
def max_input_chars() -> int:
    """Longest request, in characters."""
    return MAX_INPUT_CHARS


@register.simple_tag
def max_word_chars() -> int:
    """Longest report, in characters."""
    return MAX_WORD
