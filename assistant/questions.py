"""The one free text of a model that reaches a person: what makes it unsafe to show."""

import re
import unicodedata

MAX_QUESTION_CHARS = 200

_LINKS = {
    "a scheme": r"//|\b(?:https?|ftp|file|javascript|vbscript|data|mailto|tel|sms|intent|whatsapp|tg|market)\s*:",
    "an address": r"\S@\S|\bwww\d*\s*\.",
    # Letters after the dot tell kallpa.pe from 10.03.2026, and two of them tell it from p.m.
    "a domain": r"[^\W_][\w-]*[.。｡](?:xn--[\w-]+|[^\W\d_]{2,})",
    "a numeric address": r"\b\d{1,3}(?:\.\d{1,3}){3}\b",
}
_MARKUP = {
    "a tag": r"[<>]",
    "an entity": r"&#?\w+;|%3[ce]|\\",
    "markdown": r"[*`_]|~~|\]\s*[(\[:]|!\[|^\s*#{1,6}\s",
    "a template": r"\{\{|\{%|\$\{",
}
_PATTERNS = [(what, re.compile(pattern, re.IGNORECASE)) for what, pattern in (_LINKS | _MARKUP).items()]

# Seen as nothing, yet not of category Cf: joiners, fillers, variation selectors. U+FE0F is left out: it only colours an emoji.
_INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0e\U000e0100-\U000e01ef]")
_EMOJI_JOINER = re.compile("(?<=[\u2600-\u27bf\ufe0f\U0001f000-\U0001faff])\u200d(?=[\u2600-\u27bf\U0001f000-\U0001faff])")
_FORBIDDEN_CATEGORIES = {"Cc": "a control character", "Cf": "an invisible character", "Cs": "a lone surrogate", "Co": "a private character"}
_LINE_BREAKS = {"Zl": "a line break", "Zp": "a line break"}


def find_unsafe(question: str) -> str:
    """Why `question` may not be shown to a person, in a few English words; empty if it may."""
    if len(question) > MAX_QUESTION_CHARS:
        return f"{len(question)} characters"
    hidden = _find_hidden(question)
    if hidden:
        return hidden
    if not any(character.isalnum() for character in question):
        return "nothing to read"
    # Browsers read full-width letters and signs as the plain ones, so we look at both.
    spellings = (question, unicodedata.normalize("NFKC", question))
    return next((what for what, pattern in _PATTERNS if any(map(pattern.search, spellings))), "")


def _find_hidden(question: str) -> str:
    if _INVISIBLE.search(question):
        return "an invisible character"
    categories = map(unicodedata.category, _EMOJI_JOINER.sub("", question))
    forbidden = _FORBIDDEN_CATEGORIES | _LINE_BREAKS
    return next((forbidden[category] for category in categories if category in forbidden), "")
