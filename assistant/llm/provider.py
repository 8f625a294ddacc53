"""The one file that knows the provider: its path, its headers, its statuses and the shape of its answers.

The protocol is OpenAI-compatible chat completions; messages travel as they are. When the provider changes, this file changes.
"""

import json
import random
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn
from urllib.parse import urlsplit

from assistant.llm import (
    ModelAddressRefused,
    ModelAuthError,
    ModelBadRequest,
    ModelBadResponse,
    ModelError,
    ModelKind,
    ModelNotConfigured,
    ModelRateLimited,
    ModelRequest,
    ModelResponse,
    ModelResponseTooLarge,
    ModelServerError,
    ModelTimeout,
    ModelUnreachable,
    Usage,
    estimate_usage,
)
from assistant.llm.catalog import check_allowed
from kallpa.outbound import (
    AddressRefused,
    ConnectFailed,
    Deadline,
    DeadlineExceeded,
    OutboundClient,
    OutboundError,
    OutboundResponse,
    ProtocolFailed,
    ResponseTooLarge,
    shared_client,
)

PATH = "/chat/completions"
LISTING_PATH = "/models"
# How servers name the tokens of context that a request may fill. Not what a model was trained with: a server may give less.
CONTEXT_KEYS = ("context_length", "max_model_len", "max_context_length", "context_window", "n_ctx")
FIRST_BACKOFF_S, LONGEST_BACKOFF_S = 0.5, 8.0
LONGEST_RETRY_AFTER_S = 30.0
MOST_TOKENS = 100_000_000  # a usage above this is not a count
MOST_TOOL_CALLS, MOST_TOOL_CALL_CHARS, MOST_NAME_CHARS = 16, 32_000, 200

# NUL and halves of surrogate pairs: JSON can spell them, no database can store them.
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
REASON = re.compile(r"[A-Za-z0-9_-]{1,40}")
SECONDS = re.compile(r"[0-9]{1,18}(\.[0-9]{1,9})?")

RETRYABLE = (ModelRateLimited, ModelServerError, ModelTimeout, ModelUnreachable)
BY_OUTBOUND_ERROR: dict[type[OutboundError], tuple[type[ModelError], str]] = {
    AddressRefused: (ModelAddressRefused, "revisa LLM_BASE_URL, OUTBOUND_ALLOWED_HOSTS y si se permite loopback o la red privada"),
    ConnectFailed: (ModelUnreachable, "revisa que esté encendido y que LLM_BASE_URL sea correcta"),
    DeadlineExceeded: (ModelTimeout, ""),
    ProtocolFailed: (ModelBadResponse, "no es una respuesta HTTP completa y sin comprimir"),
    ResponseTooLarge: (ModelResponseTooLarge, ""),
}
BY_STATUS: dict[int, type[ModelError]] = {401: ModelAuthError, 403: ModelAuthError, 408: ModelTimeout, 429: ModelRateLimited}
BY_STATUS_CLASS: dict[int, type[ModelError]] = {4: ModelBadRequest, 5: ModelServerError}


@dataclass(frozen=True)
class ProviderConfig:
    """Where and how to call; `timeout_s` is the whole call's deadline, with its retries and the waits between them."""

    base_url: str
    api_key: str = field(default="", repr=False)
    timeout_s: float = 20.0
    max_retries: int = 3
    max_bytes: int = 1_048_576


@dataclass(frozen=True)
class Attempt:
    """One call that was made: `outcome` is "ok" or a cause, `ms` its time, `wait_s` the pause that follows before the next, if any."""

    number: int
    outcome: str
    ms: float
    wait_s: float | None = None


class _PrivateHeaders(dict[str, str]):
    """Headers that do not show themselves in an error page or a log."""

    def __repr__(self) -> str:
        return f"<{len(self)} headers>"


def _ignore(attempt: Attempt) -> None:
    """Nobody is watching."""


class ProviderModel:
    """A model behind an OpenAI-compatible server. Threads may share it."""

    kind: ModelKind = "real"

    def __init__(
        self,
        name: str,
        config: ProviderConfig,
        client: OutboundClient,
        *,
        on_attempt: Callable[[Attempt], None] = _ignore,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.name = name
        self._config, self._client = config, client
        self._on_attempt, self._sleep, self._jitter = on_attempt, sleep, jitter

    @property
    def server(self) -> str:
        """Host and port of who answers, without credentials or path."""
        return urlsplit(self._config.base_url).netloc.rpartition("@")[2]

    def complete(self, request: ModelRequest) -> ModelResponse:
        """One answer within the deadline, asked again after 429, 5xx, 408 or no connection; raises a ModelError with its attempts."""
        check_allowed(self.name)
        deadline = Deadline(self._config.timeout_s)
        number = 0
        failed: list[str] = []
        while True:
            number += 1
            started = time.perf_counter()
            outcome = self._ask(request, deadline)
            ms = (time.perf_counter() - started) * 1_000
            if isinstance(outcome, _Completion):
                self._on_attempt(Attempt(number, "ok", ms))
                return self._respond(request, outcome, ms, tuple(failed))
            wait_s = self._pause_before_retry(outcome, number, deadline)
            self._on_attempt(Attempt(number, outcome.cause, ms, wait_s))
            failed.append(outcome.cause)
            if wait_s is None:
                outcome.attempts, outcome.failed_attempts = number, tuple(failed)
                raise outcome
            self._sleep(wait_s)

    def listed_context(self) -> int | None:
        """Tokens of context that the server's listing gives this model; None when it does not tell, or does not answer."""
        check_allowed(self.name)
        try:
            response = self._client.get(
                self._config.base_url.rstrip("/") + LISTING_PATH,
                headers=_headers(self._config.api_key),
                deadline=Deadline(self._config.timeout_s),
                max_bytes=self._config.max_bytes,
            )
            return _context_of(self.name, json.loads(response.body.decode("utf-8")))
        except (OutboundError, ValueError, RecursionError):
            return None

    def _respond(self, request: ModelRequest, outcome: "_Completion", ms: float, failed: tuple[str, ...]) -> ModelResponse:
        text, calls = outcome.text, outcome.tool_calls
        usage = outcome.usage or estimate_usage(request, text, calls)
        return ModelResponse(text, usage, outcome.finish_reason, ms, len(failed) + 1, self.name, calls, failed)

    def _ask(self, request: ModelRequest, deadline: Deadline) -> "_Completion | ModelError":
        """One call: what came of it, as a value."""
        try:
            response = self._client.post_json(
                self._config.base_url.rstrip("/") + PATH,
                self._payload(request),
                headers=_headers(self._config.api_key),
                deadline=deadline,
                max_bytes=self._config.max_bytes,
            )
        except OutboundError as error:
            return _name_outbound_error(error)
        return _read(response, with_tools=bool(request.tools))

    def _payload(self, request: ModelRequest) -> dict[str, Any]:
        """What is asked for and nothing else: a server that knows neither tools nor forms never hears of them."""
        optional = {"tools": request.tools, "response_format": request.response_format}
        return {
            "model": self.name,
            "messages": request.messages,
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "stream": False,
            **{name: value for name, value in optional.items() if value},
        }

    def _pause_before_retry(self, error: ModelError, number: int, deadline: Deadline) -> float | None:
        """Seconds to wait before asking again, or None to give up: not retryable, no retries left, or the pause does not fit."""
        if not isinstance(error, RETRYABLE) or number > self._config.max_retries:
            return None
        if error.retry_after_s is None:
            pause = min(LONGEST_BACKOFF_S, FIRST_BACKOFF_S * 2 ** (number - 1)) * (0.5 + self._jitter() / 2)
        else:
            pause = min(LONGEST_RETRY_AFTER_S, error.retry_after_s) * (1 + self._jitter() / 10)
        return pause if pause < deadline.remaining() else None


@dataclass(frozen=True)
class _Completion:
    """What we take from a chat completion; usage is None when the server did not count."""

    text: str
    finish_reason: str
    usage: Usage | None
    tool_calls: tuple[dict[str, Any], ...] = ()


def _headers(api_key: str) -> _PrivateHeaders:
    return _PrivateHeaders({"Authorization": f"Bearer {api_key}"} if api_key else {})


def _name_outbound_error(error: OutboundError) -> ModelError:
    named, detail = BY_OUTBOUND_ERROR[type(error)]
    model_error = named(detail)
    model_error.__cause__ = error.with_traceback(None)  # what happened, without the frames that hold the prompt
    return model_error


def _read(response: OutboundResponse, *, with_tools: bool) -> _Completion | ModelError:
    if response.status != 200:
        named = BY_STATUS.get(response.status) or BY_STATUS_CLASS.get(response.status // 100, ModelBadResponse)
        return named(f"HTTP {response.status}", retry_after_s=_retry_after_s(response.headers.get("retry-after", "")))
    if response.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return ModelBadResponse("no es JSON")
    try:
        return _read_completion(json.loads(response.body.decode("utf-8")), with_tools=with_tools)
    except (ValueError, RecursionError):
        return ModelBadResponse("no es JSON")


def _read_completion(document: Any, *, with_tools: bool) -> _Completion | ModelError:
    """The first choice of the document; anything that does not look like one is a bad response."""
    match document:
        case {"error": error} if error:
            return ModelBadResponse("trae un error en vez de una respuesta")
        case {"choices": [{"message": dict(message), **choice}, *_], **rest}:
            read = _read_message(message, with_tools=with_tools)
            if isinstance(read, ModelError):
                return read
            text, calls = read
            return _Completion(text, _finish_reason(choice.get("finish_reason")), _measured_usage(rest.get("usage")), calls)
    return ModelBadResponse("no trae una respuesta")


def _read_message(message: dict[str, Any], *, with_tools: bool) -> tuple[str, tuple[dict[str, Any], ...]] | ModelError:
    """Text and tool calls. Calls that nobody offered do not count; a content of null needs some that do."""
    calls = _read_tool_calls(message.get("tool_calls") or []) if with_tools else ()
    if calls is None:
        return ModelBadResponse("pide herramientas de una forma que no se entiende")
    content = message.get("content")
    text = "" if content is None and calls else content
    if not isinstance(text, str):
        return ModelBadResponse("no trae una respuesta")
    if any(UNSTORABLE.search(piece) for piece in (text, *_strings_in(calls))):
        return ModelBadResponse("no es texto")
    return text, calls


def _read_tool_calls(value: Any) -> tuple[dict[str, Any], ...] | None:
    """The calls as they came, for a provider may want its own marks back; None when one is no call, too many or too large."""
    if not isinstance(value, list) or len(value) > MOST_TOOL_CALLS or not all(map(_is_tool_call, value)):
        return None
    fits = len(json.dumps(value, allow_nan=False)) <= MOST_TOOL_CALL_CHARS  # NaN is a ValueError: not JSON
    return tuple(value) if fits else None


def _is_tool_call(value: Any) -> bool:
    match value:
        case {"id": str(identity), "type": "function", "function": {"name": str(name), "arguments": str()}}:
            return len(identity) <= MOST_NAME_CHARS and len(name) <= MOST_NAME_CHARS
    return False


def _strings_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _strings_in([*value.keys(), *value.values()])
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _strings_in(one)


def _context_of(name: str, listing: Any) -> int | None:
    """The context of the entry with this name, or of the only one, whatever a server of one model calls it."""
    entries = listing.get("data") if isinstance(listing, dict) else None
    known = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    ours = [entry for entry in known if entry.get("id") == name] or (known if len(known) == 1 else [])
    told = [part.get(key) for entry in ours for part in (entry, entry.get("meta")) if isinstance(part, dict) for key in CONTEXT_KEYS]
    counts = [count for count in told if type(count) is int and 0 < count <= MOST_TOKENS]
    return min(counts, default=None)


def _finish_reason(value: Any) -> str:
    return value if isinstance(value, str) and REASON.fullmatch(value) else "unknown"


def _measured_usage(usage: Any) -> Usage | None:
    """The server's own count, if it is one."""
    match usage:
        case {"prompt_tokens": int(counted_in), "completion_tokens": int(counted_out)}:
            counts = (counted_in, counted_out)
            if not any(isinstance(count, bool) or not 0 <= count <= MOST_TOKENS for count in counts):
                return Usage(counted_in, counted_out, measured=True)
    return None


def _retry_after_s(value: str) -> float | None:
    """Seconds that a Retry-After header asks for, given as a number or as an HTTP date; None when it says nothing we understand."""
    if SECONDS.fullmatch(value):
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds())


def provider_from_settings(name: str | None = None) -> ProviderModel:
    """The model that the settings name, or another on the same server; raises ModelNotConfigured saying what to set, or ForbiddenModel."""
    from django.conf import settings

    name = name or settings.LLM_MODEL
    if not settings.LLM_BASE_URL:
        _refuse("falta LLM_BASE_URL, la dirección del servidor; por ejemplo LLM_BASE_URL=http://127.0.0.1:8080/v1")
    if not name:
        _refuse("falta LLM_MODEL, el nombre del modelo; por ejemplo LLM_MODEL=qwen2.5-7b-instruct")
    if not (settings.LLM_API_KEY.isascii() and settings.LLM_API_KEY.isprintable()):
        _refuse("LLM_API_KEY tiene caracteres que no caben en una cabecera; cópiala de nuevo, sin espacios ni saltos de línea")
    check_allowed(name)
    return ProviderModel(name, ProviderConfig(settings.LLM_BASE_URL, settings.LLM_API_KEY, settings.LLM_TIMEOUT_S), _client())


def _client() -> OutboundClient:
    try:
        return shared_client()
    except ValueError as error:
        raise ModelNotConfigured(f"revisa LLM_BASE_URL y OUTBOUND_ALLOWED_HOSTS: {error}") from None


def _refuse(detail: str) -> NoReturn:
    raise ModelNotConfigured(detail)
