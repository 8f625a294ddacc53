"""What the assistant asks of a model and what can go wrong, without a word about who provides it."""
# ruff: noqa: N818 - an error is named after what happened

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

ModelKind = Literal["scripted", "real"]


@dataclass(frozen=True)
class ModelRequest:
    """One question: messages in the OpenAI-compatible form (kept out of the repr: people write in them), max_tokens of the answer.

    `tools` and `response_format` travel in that form too, untranslated; a server may ignore either, so nothing rests on them.
    """

    messages: tuple[dict[str, Any], ...] = field(repr=False)
    temperature: float
    max_tokens: int
    tools: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    response_format: dict[str, Any] | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Usage:
    """Tokens of one call; `measured` says that the provider counted them, otherwise they are estimated."""

    input_tokens: int
    output_tokens: int
    measured: bool


@dataclass(frozen=True)
class ModelResponse:
    """What came back: the text as it is, the provider's own finish reason, milliseconds of the exchange that worked, calls made in all.

    Each of `tool_calls` has at least a string `id`, `type` "function" and a `function` of a name and arguments, both strings: what
    the arguments hold is untrusted text that nobody has read yet. There are none unless the request offered tools.

    `failed_attempts` are the causes of the calls before the one that worked, in their order.
    """

    text: str
    usage: Usage
    finish_reason: str
    provider_ms: float
    attempts: int
    model: str
    tool_calls: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    failed_attempts: tuple[str, ...] = ()

    @property
    def message(self) -> dict[str, Any]:
        """The answer as a message to go on from, with its tool calls as they came."""
        if not self.tool_calls:
            return {"role": "assistant", "content": self.text}
        return {"role": "assistant", "content": self.text or None, "tool_calls": list(self.tool_calls)}


class Model(Protocol):
    """Anything that completes a request; raises a ModelError when there is no answer."""

    name: str
    kind: ModelKind

    def complete(self, request: ModelRequest) -> ModelResponse:
        """One answer, or a ModelError."""
        ...


def estimate_tokens(text: str) -> int:
    """Tokens of a text at 4 characters each, rounded up."""
    return -(-len(text) // 4)


def estimate_request(request: ModelRequest) -> int:
    """Tokens of all that a request sends: contents and tool calls of its messages, its tools, the form asked for."""
    return -(-sum(map(len, _sent_texts(request))) // 4)


def bound_request(request: ModelRequest) -> int:
    """Tokens that all that a request sends can come to: one for two ASCII characters and one for each byte of the others, rounded up."""
    octets = [text.encode("utf-8", "surrogatepass") for text in _sent_texts(request)]
    return -(-sum(1 if octet < 128 else 2 for text in octets for octet in text) // 2)


def estimate_usage(request: ModelRequest, text: str, tool_calls: tuple[dict[str, Any], ...] = ()) -> Usage:
    """Usage of an exchange that nobody counted: all that was sent, and the answer with its tool calls."""
    answer = text + json.dumps(tool_calls, ensure_ascii=False) if tool_calls else text
    return Usage(estimate_request(request), estimate_tokens(answer), measured=False)


def _sent_texts(request: ModelRequest) -> Iterable[str]:
    for message in request.messages:
        yield str(message.get("content") or "")
        if message.get("tool_calls"):
            yield json.dumps(message["tool_calls"], ensure_ascii=False)
    for other in (request.tools, request.response_format):
        if other:
            yield json.dumps(other, ensure_ascii=False)


class ModelError(Exception):
    """There is no answer, and `cause` says why; `attempts` counts the calls that were made. Never holds key, prompt or answer.

    `failed_attempts` are the causes of those calls, in their order; empty where nobody kept them.
    """

    cause: ClassVar[str]
    sentence: ClassVar[str]
    asked: ClassVar[bool] = True  # False: it is raised before any call is made

    def __init__(self, detail: str = "", *, attempts: int = 0, retry_after_s: float | None = None) -> None:
        super().__init__(f"{self.sentence} ({detail})." if detail else f"{self.sentence}.")
        self.attempts = attempts
        self.failed_attempts: tuple[str, ...] = ()
        self.retry_after_s = retry_after_s


class ModelTimeout(ModelError):
    """The total deadline passed."""

    cause = "timeout"
    sentence = "El modelo no respondió a tiempo"


class ModelRateLimited(ModelError):
    """429, also after waiting."""

    cause = "rate-limited"
    sentence = "El proveedor del modelo está limitando las llamadas"


class ModelServerError(ModelError):
    """5xx, also after retrying."""

    cause = "server-error"
    sentence = "El servidor del modelo falló"


class ModelUnreachable(ModelError):
    """No connection: name, network, port or TLS."""

    cause = "unreachable"
    sentence = "No se pudo conectar con el servidor del modelo"


class ModelAuthError(ModelError):
    """401 or 403."""

    cause = "auth"
    sentence = "El servidor del modelo rechazó la clave"


class ModelBadRequest(ModelError):
    """Any other 4xx: the same request would fail again."""

    cause = "bad-request"
    sentence = "El servidor del modelo rechazó la petición"


class ModelBadResponse(ModelError):
    """An answer that is not a chat completion."""

    cause = "bad-response"
    sentence = "El servidor del modelo devolvió una respuesta que no se entiende"


class ModelResponseTooLarge(ModelError):
    """An answer over the size limit."""

    cause = "too-large"
    sentence = "La respuesta del servidor del modelo es demasiado grande"


class ForbiddenModel(ModelError):
    """A model whose provider promises nothing about the data."""

    cause = "forbidden-model"
    sentence = "Este modelo está prohibido"
    asked = False


class ModelNotConfigured(ModelError):
    """Settings are missing or unusable; the message says which."""

    cause = "not-configured"
    sentence = "El modelo no está configurado"
    asked = False


class ModelAddressRefused(ModelError):
    """The configured address is not one we may call."""

    cause = "refused-address"
    sentence = "No está permitido llamar a la dirección del modelo"
