"""Errors of the API as problem documents (RFC 9457): a Spanish sentence for people, codes for programs."""

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404
from rest_framework.exceptions import APIException, NotFound, Throttled, ValidationError
from rest_framework.exceptions import PermissionDenied as Forbidden
from rest_framework.response import Response
from rest_framework.serializers import CharField, DictField, IntegerField, ListField, Serializer

from kallpa.away import is_away

logger = logging.getLogger(__name__)

BUSY_RETRY_S = 2
TITLES = {
    400: "Solicitud no válida",
    403: "Sin permiso",
    404: "No existe",
    405: "Método no permitido",
    406: "Formato no disponible",
    409: "Conflicto",
    413: "Demasiado grande",
    415: "Formato no admitido",
    422: "No cumple las reglas",
    429: "Demasiados intentos",
    503: "No disponible por ahora",
}
SENTENCES = {
    "BUSY": "Hay mucha gente reservando a la vez. Vuelve a intentarlo en unos segundos.",
    "IDEMPOTENCY_KEY_INVALID": "La clave de la solicitud (Idempotency-Key) debe tener de 1 a 255 caracteres visibles.",
    "IDEMPOTENCY_KEY_REUSED": "Esa clave (Idempotency-Key) ya se usó para otra solicitud. Recarga la página y vuelve a intentarlo.",
    "INVALID": "Revisa los campos marcados.",
    "METHOD_NOT_ALLOWED": "Esa dirección no admite ese método.",
    "NOT_ACCEPTABLE": "Esa dirección no responde en el formato pedido.",
    "NOT_AUTHENTICATED": "Entra con tu cuenta para continuar.",
    "NOT_FOUND": "No encontramos lo que buscas.",
    "PARSE_ERROR": "No pudimos leer la solicitud.",
    "PERMISSION_DENIED": "No tienes permiso, o la página caducó: recárgala y vuelve a intentarlo.",
    "REPEATED_FIELD": "Un campo llegó dos veces. Envíalo una sola vez.",
    "THROTTLED": "Demasiados intentos seguidos. Espera un momento.",
    "TOO_LARGE": "La solicitud es demasiado grande.",
    "UNSUPPORTED_MEDIA_TYPE": "Esa dirección no lee ese formato.",
}


class Problem(APIException):
    """An error that the API answers with. `codes` are keys of SENTENCES unless `detail` says the sentence itself."""

    def __init__(
        self,
        status: int,
        *codes: str,
        detail: str = "",
        errors: Mapping[str, Sequence[str]] | None = None,
        retry_after_s: int | None = None,
    ) -> None:
        self.status_code, self.codes, self.retry_after_s = status, list(codes), retry_after_s
        self.errors = {field: list(sentences) for field, sentences in (errors or {}).items()}
        super().__init__(detail or " ".join(SENTENCES[code] for code in codes), codes[0])

    def document(self) -> dict[str, Any]:
        return {
            "type": "about:blank",
            "title": TITLES.get(self.status_code) or HTTPStatus(self.status_code).phrase,
            "status": self.status_code,
            "detail": str(self.detail),
            "codes": self.codes,
            "errors": self.errors,
        }


class ProblemSerializer(Serializer):
    type = CharField()
    title = CharField(help_text="Qué clase de error es, en dos palabras.")
    status = IntegerField()
    detail = CharField(help_text="Una frase en español para las personas.")
    codes = ListField(child=CharField(), help_text="Códigos de las reglas, para los programas.")
    errors = DictField(child=ListField(child=CharField()), help_text="Frases por campo; `general` reúne las de ninguno.")


def answer_problem(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler. None, which becomes a logged 500, for what nobody foresaw."""
    problem = _as_problem(error)
    if problem is None:
        return None
    headers = {} if problem.retry_after_s is None else {"Retry-After": str(problem.retry_after_s)}
    return show_problem(problem.document(), headers)


def show_problem(document: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    """The answer that carries a problem document."""
    return Response(document, status=document["status"], headers=headers, content_type="application/problem+json")


def _as_problem(error: Exception) -> Problem | None:
    match error:
        case Problem():
            return error
        case _ if is_away(error):
            logger.error("The database does not answer: %s", error, exc_info=error)
            return Problem(503, "BUSY", retry_after_s=BUSY_RETRY_S)
        case ValidationError():
            return Problem(400, "INVALID", errors=_sentences(error.detail))
        case Http404():
            return _as_problem(NotFound())
        case PermissionDenied():
            return _as_problem(Forbidden())
        case RequestDataTooBig():
            return Problem(413, "TOO_LARGE")
        case SuspiciousOperation():
            return Problem(400, "PARSE_ERROR")
        case Throttled():
            return Problem(429, "THROTTLED", retry_after_s=error.wait)
        case APIException():
            return _from_framework(error)
    return None


def _from_framework(error: APIException) -> Problem:
    code = error.default_code.upper()
    return Problem(error.status_code, code, detail=SENTENCES.get(code, ""))


def _sentences(detail: Any) -> dict[str, list[str]]:
    """{field: sentences} of what a serializer found; what belongs to no field stands under `general`."""
    if not isinstance(detail, Mapping):
        return {"general": [str(sentence) for sentence in detail]}
    named = {"general" if field == "non_field_errors" else field: sentences for field, sentences in detail.items()}
    return {field: [str(sentence) for sentence in sentences] for field, sentences in named.items()}
