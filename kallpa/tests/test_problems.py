"""Every error of the API is a problem document with Spanish sentences and codes."""

import json
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, InterfaceError, OperationalError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory
from rest_framework.views import APIView

from kallpa.problems import SENTENCES, TITLES, Problem


class Failing(APIView):
    authentication_classes: list[Any] = []
    permission_classes: list[Any] = []
    error = Exception()

    def get(self, request: Any) -> Response:
        raise self.error


def answer(error: Exception) -> Response:
    return Failing.as_view(error=error)(APIRequestFactory().get("/")).render()


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Problem(409, "IDEMPOTENCY_KEY_REUSED"), 409, "IDEMPOTENCY_KEY_REUSED"),
        (OperationalError("database is locked"), 503, "BUSY"),
        (InterfaceError("connection already closed"), 503, "BUSY"),
        (Http404("Court 7 of rosa@example.com"), 404, "NOT_FOUND"),
        (PermissionDenied("row 7"), 403, "PERMISSION_DENIED"),
        (exceptions.NotAuthenticated(), 403, "NOT_AUTHENTICATED"),
        (exceptions.MethodNotAllowed("PUT"), 405, "METHOD_NOT_ALLOWED"),
        (exceptions.UnsupportedMediaType("text/xml"), 415, "UNSUPPORTED_MEDIA_TYPE"),
        (exceptions.ParseError("line 1"), 400, "PARSE_ERROR"),
        (exceptions.Throttled(7), 429, "THROTTLED"),
    ],
)
def test_it_answers_with_a_title_a_sentence_and_a_code(error: Exception, status: int, code: str) -> None:
    response = answer(error)
    assert (response.status_code, response["Content-Type"]) == (status, "application/problem+json")
    assert json.loads(response.content) == {
        "type": "about:blank",
        "title": TITLES[status],
        "status": status,
        "detail": SENTENCES[code],
        "codes": [code],
        "errors": {},
    }


@pytest.mark.parametrize(("error", "seconds"), [(OperationalError("locked"), "2"), (exceptions.Throttled(7), "7")])
def test_it_says_when_to_come_back(error: Exception, seconds: str) -> None:
    assert answer(error)["Retry-After"] == seconds


def test_it_lists_what_is_wrong_with_each_field() -> None:
    document = answer(exceptions.ValidationError({"date": ["Falta la fecha."], "non_field_errors": ["No encaja."]})).data
    assert (document["status"], document["codes"]) == (400, ["INVALID"])
    assert document["errors"] == {"date": ["Falta la fecha."], "general": ["No encaja."]}
    assert answer(exceptions.ValidationError("No encaja.")).data["errors"] == {"general": ["No encaja."]}


def test_a_sentence_of_ones_own_comes_with_several_codes() -> None:
    document = Problem(422, "TOO_MANY_HOURS", "WRONG_COURT", detail="Tres horas.", errors={"hours": ("Tres horas.",)}).document()
    assert (document["codes"], document["detail"]) == (["TOO_MANY_HOURS", "WRONG_COURT"], "Tres horas.")
    assert document["errors"] == {"hours": ["Tres horas."]}


@pytest.mark.parametrize("unforeseen", [IntegrityError, KeyError])
def test_what_nobody_foresaw_stays_an_error_for_the_log(unforeseen: type[Exception]) -> None:
    with pytest.raises(unforeseen):
        answer(unforeseen("x"))
