"""Looking for words in what was said, and for fields in what a model wrote, however badly."""

import json
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

import regex

PATTERN_TIMEOUT_S = 0.2

_UNICODE_ESCAPE = regex.compile(r"\\u([0-9a-fA-F]{4})")
_SPACE_ESCAPE = regex.compile(r"\\[nrt]")
_BRACE_OR_PAIR = regex.compile(
    r"""(?P<brace>[{}])
      | (?P<quote>["'])(?P<key>[^"'\\{}]{1,80})(?P=quote)\s*+:\s*+
        (?:"(?P<double>(?:[^"\\]|\\.)*+)" | '(?P<single>(?:[^'\\]|\\.)*+)' | (?P<bare>-?\d+(?:\.\d+)?|true|false|null))""",
    regex.VERBOSE | regex.DOTALL,
)


def fold(text: str) -> str:
    """The text without case, accents, invisible characters or differences of white space."""
    if not text.isascii():
        text = "".join(char for char in unicodedata.normalize("NFKD", text) if unicodedata.category(char) not in {"Mn", "Cf"})
    return " ".join(text.casefold().split())


def has_phrase(phrase: str, text: str) -> bool:
    """True when `text` contains the whole phrase: «paga» is not in «apagado». A blank phrase is nowhere."""
    wanted, said = fold(phrase), fold(text)
    return bool(wanted) and any(_stands_alone(said, start, start + len(wanted)) for start in _places(wanted, said))


def has_pattern(pattern: str, text: str) -> bool:
    """True when the regular expression is found. Raises TimeoutError after PATTERN_TIMEOUT_S, and regex.error."""
    return regex.search(pattern, text, timeout=PATTERN_TIMEOUT_S) is not None


def unescape(raw: str) -> str:
    """JSON's escapes of letters and white space undone, in text that need not be JSON."""
    letters = _UNICODE_ESCAPE.sub(lambda found: chr(int(found[1], 16)), _SPACE_ESCAPE.sub(" ", raw))
    return letters.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def objects_in(raw: str) -> list[dict[str, list[str]]]:
    """Every thing like a JSON object in `raw`, however broken what surrounds it: its keys, each with the values it was given.

    Objects written inside a string count as well.
    """
    found: list[dict[str, list[str]]] = []
    open_objects: list[dict[str, list[str]]] = []
    for match in _BRACE_OR_PAIR.finditer(unescape(raw)):
        value = _value_of(match)
        if match["brace"] == "{":
            open_objects.append({})
            found.append(open_objects[-1])
        elif match["brace"]:
            del open_objects[-1:]
        elif open_objects:
            open_objects[-1].setdefault(match["key"].strip(), []).append(value)
            if "{" in value:
                found += objects_in(value.replace('\\"', '"'))
    return found


def has_fields(fields: Mapping[str, Any], found: Mapping[str, list[str]]) -> bool:
    """True when every field was given the wanted value at least once; "9", 9 and 9.0 are the same, and so are «Vóley» and «voley»."""
    return all(any(_means(wanted, value) for value in found.get(key, ())) for key, wanted in fields.items())


def has_call(tool: str, raw: str) -> bool:
    """True when `raw` calls the tool: `name(`, or an object that names it. A blank name is never called."""
    if not tool.strip():
        return False
    if regex.search(rf"(?<!\w){regex.escape(tool)}\s*\(", raw, regex.IGNORECASE):
        return True
    return any(fold(value) == fold(tool) for found in objects_in(raw) for values in found.values() for value in values)


def _places(wanted: str, said: str) -> Iterator[int]:
    start = said.find(wanted)
    while start >= 0:
        yield start
        start = said.find(wanted, start + 1)


def _stands_alone(said: str, start: int, end: int) -> bool:
    """A letter or digit at an edge of the phrase must not go on outside it."""
    cut_before = said[start].isalnum() and said[start - 1 : start].isalnum()
    cut_after = said[end - 1].isalnum() and said[end : end + 1].isalnum()
    return not cut_before and not cut_after


def _value_of(match: "regex.Match[str]") -> str:
    """The value of a pair, as written between its quotes; empty for a brace."""
    return match["double"] or match["single"] or match["bare"] or ""


def _means(wanted: Any, value: str) -> bool:
    if isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
        return bool(regex.fullmatch(r"-?\d{1,15}(\.\d{1,15})?", value.strip())) and float(value) == wanted
    return fold(value) == fold(wanted if isinstance(wanted, str) else json.dumps(wanted))
