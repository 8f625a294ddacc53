"""How the API reads a body: one small object, each field once. Two readings of one body are how checks are passed by."""

import json
from typing import Any, NoReturn

from django.http import QueryDict
from rest_framework.exceptions import ParseError
from rest_framework.parsers import FormParser, JSONParser

from kallpa.problems import Problem

MAX_BODY_BYTES = 64 * 1024


class StrictJSONParser(JSONParser):
    """A JSON object without repeated names, NaN or endless nesting. Raises Problem or ParseError."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: dict[str, Any] | None = None) -> dict[str, Any]:
        try:
            body = json.loads(_read(stream), object_pairs_hook=_read_object, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise ParseError from error
        if not isinstance(body, dict):
            raise ParseError
        return body


class StrictFormParser(FormParser):
    """The fields of a browser's form, each sent once. Raises Problem or ParseError."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: dict[str, Any] | None = None) -> QueryDict:
        try:
            fields = QueryDict(_read(stream), encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ParseError from error
        if any(len(values) > 1 for _, values in fields.lists()):
            raise Problem(400, "REPEATED_FIELD")
        return fields


def _read(stream: Any) -> bytes:
    """At most one byte more than is allowed is ever in memory."""
    body: bytes = stream.read(MAX_BODY_BYTES + 1)
    if len(body) > MAX_BODY_BYTES:
        raise Problem(413, "TOO_LARGE")
    return body


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise Problem(400, "REPEATED_FIELD")
    return fields


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
