"""A body is read in one way or not at all."""

import json
from io import BytesIO
from typing import Any

import pytest
from django.http import QueryDict
from rest_framework.exceptions import ParseError

from kallpa.parsers import MAX_BODY_BYTES, StrictFormParser, StrictJSONParser
from kallpa.problems import Problem


def read_json(body: bytes) -> dict[str, Any]:
    return StrictJSONParser().parse(BytesIO(body))


def read_form(body: bytes) -> QueryDict:
    return StrictFormParser().parse(BytesIO(body))


def test_it_reads_an_object_and_a_form() -> None:
    assert read_json('{"teamName": "Ñandú", "hours": 2, "nested": {"a": [1]}}'.encode()) == {
        "teamName": "Ñandú",
        "hours": 2,
        "nested": {"a": [1]},
    }
    assert read_form(b"teamName=%C3%91and%C3%BA&hours=2&sport=").dict() == {"teamName": "Ñandú", "hours": "2", "sport": ""}
    assert read_json(b"{" + b" " * (MAX_BODY_BYTES - 2) + b"}") == {}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"7",
        b'"x"',
        b"null",
        b"{",
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b"\xff\xfe{}",
        b'{"a": %s}' % (b"9" * 5000),
        b'{"a": %s1%s}' % (b"[" * 20_000, b"]" * 20_000),
    ],
)
def test_what_is_no_plain_object_is_not_read(body: bytes) -> None:
    with pytest.raises(ParseError):
        read_json(body)


@pytest.mark.parametrize("body", [b'{"hours": 1, "hours": 3}', b'{"a": {"b": 1, "b": 1}}', b'{"hours": 1, "ho\\u0075rs": 3}'])
def test_a_repeated_name_is_not_chosen_from(body: bytes) -> None:
    assert len(json.loads(body)) == 1
    with pytest.raises(Problem) as refused:
        read_json(body)
    assert (refused.value.status_code, refused.value.codes) == (400, ["REPEATED_FIELD"])


def test_a_repeated_form_field_is_not_chosen_from() -> None:
    with pytest.raises(Problem) as refused:
        read_form(b"court=1&hours=1&court=2")
    assert refused.value.codes == ["REPEATED_FIELD"]


@pytest.mark.parametrize("parser", [StrictJSONParser(), StrictFormParser()])
def test_a_body_that_is_too_large_is_not_read_to_its_end(parser: Any) -> None:
    stream = BytesIO(b" " * (4 * MAX_BODY_BYTES))
    with pytest.raises(Problem) as refused:
        parser.parse(stream)
    assert (refused.value.status_code, stream.tell()) == (413, MAX_BODY_BYTES + 1)
