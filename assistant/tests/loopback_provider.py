"""A small OpenAI-compatible server on 127.0.0.1 with a ledger of the calls it received. For tests and demonstrations only.

As a context manager:   with LoopbackProvider(answer=lambda call: '{"action":"refuse"}') as provider: provider.base_url, provider.calls
As a process:           python -m assistant.tests.loopback_provider --port 0 --always-refuse --delay-ms 50 --ledger calls.jsonl
"""

import argparse
import json
import socketserver
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Self

HOST = "127.0.0.1"
REFUSAL = '{"action":"refuse"}'
MAX_CONNECTIONS = 128


@dataclass(frozen=True)
class Call:
    """One request as the server received it; `number` counts from 1, `headers` have lower-case names, `at` is a Unix time in seconds."""

    number: int
    path: str
    headers: dict[str, str]
    payload: dict[str, Any]
    at: float

    @property
    def text(self) -> str:
        """The content of the last user message, or ""."""
        return next((str(m.get("content")) for m in reversed(self.payload.get("messages", [])) if m.get("role") == "user"), "")


@dataclass(frozen=True)
class Reply:
    """A whole HTTP response; Content-Length is added."""

    status: int = 200
    body: bytes = b"{}"
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"),)


class Wire:
    """The open connection, for replies that break the protocol on purpose; it is closed afterwards."""

    def __init__(self, handler: BaseHTTPRequestHandler, closing: threading.Event) -> None:
        self._handler, self._closing = handler, closing

    def send(self, octets: bytes) -> None:
        """Put these bytes on the wire now."""
        self._handler.wfile.write(octets)

    def pause(self, seconds: float) -> bool:
        """Wait; False when the server is stopping, so that the caller ends."""
        return not self._closing.wait(seconds)


RawReply = Callable[[Wire], None]
Answer = Callable[[Call], str | Reply | RawReply]


def always_refuse(call: Call) -> str:
    """The answer of a model that refuses everything."""
    return REFUSAL


def completion(
    text: str | None, call: Call, *, finish_reason: str = "stop", usage: dict[str, Any] | None = None, **extra: object
) -> dict[str, Any]:
    """The JSON object of a chat completion; usage counts words, so that it cannot be mistaken for an estimate by characters."""
    words_in = sum(len(str(message.get("content")).split()) for message in call.payload.get("messages", []))
    words_out = len((text or "").split())
    return {
        "id": f"chatcmpl-{call.number}",
        "object": "chat.completion",
        "created": int(call.at),
        "model": call.payload.get("model", ""),
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}],
        "usage": usage or {"prompt_tokens": words_in, "completion_tokens": words_out, "total_tokens": words_in + words_out},
        **extra,
    }


def json_reply(value: object, status: int = 200) -> Reply:
    """A response whose body is this value as JSON."""
    return Reply(status, json.dumps(value).encode())


class LoopbackProvider:
    """Answers POST {base_url}/chat/completions with what `answer` returns: a text, a Reply, or a function that writes the raw bytes.

    GET {base_url}/models gets `listing`, or 404.
    """

    def __init__(
        self,
        answer: Answer = always_refuse,
        *,
        delay_s: float = 0.0,
        ledger: Path | None = None,
        port: int = 0,
        listing: Reply | None = None,
    ) -> None:
        self.listing = listing
        self._answer, self._delay_s, self._ledger = answer, delay_s, ledger
        self._lock, self._closing = threading.Lock(), threading.Event()
        self.calls: list[Call] = []
        self._server = _Server((HOST, port), self._make_handler())
        self.port: int = self._server.server_address[1]
        self.base_url = f"http://{HOST}:{self.port}/v1"

    @property
    def host(self) -> str:
        """The host:port to put on an allowlist."""
        return f"{HOST}:{self.port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    def serve(self) -> None:
        """Serve in this thread until interrupted."""
        self._server.serve_forever()

    def _record(self, path: str, headers: dict[str, str], body: bytes) -> Call:
        with self._lock:
            call = Call(len(self.calls) + 1, path, headers, _read_payload(body), time.time())
            self.calls.append(call)
            if self._ledger:
                line = {"number": call.number, "at": call.at, "path": path, "model": call.payload.get("model"), "text": call.text}
                with self._ledger.open("a", encoding="utf-8") as ledger:
                    ledger.write(json.dumps(line, ensure_ascii=False) + "\n")
            return call

    def _make_handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            timeout = 60

            def do_POST(self) -> None:
                if provider._closing.is_set():  # a kept-alive connection outlives the listener
                    self.close_connection = True
                    return
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                call = provider._record(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
                if provider._delay_s and provider._closing.wait(provider._delay_s):
                    self.close_connection = True
                    return
                answer = provider._answer(call)
                if isinstance(answer, str):
                    answer = json_reply(completion(answer, call))
                if isinstance(answer, Reply):
                    self._send(answer)
                else:
                    self.close_connection = True
                    answer(Wire(self, provider._closing))

            def do_GET(self) -> None:
                if provider._closing.is_set():
                    self.close_connection = True
                elif provider.listing and self.path == "/v1/models":
                    self._send(provider.listing)
                else:
                    self._send(Reply(404))

            def _send(self, reply: Reply) -> None:
                lines = [f"HTTP/1.1 {reply.status} Reply", f"Content-Length: {len(reply.body)}"]
                lines += [f"{name}: {value}" for name, value in reply.headers]
                self.wfile.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + reply.body)

            def log_message(self, format: str, *args: object) -> None:
                """Nothing: the ledger is the log."""

        return Handler


def _read_payload(body: bytes) -> dict[str, Any]:
    try:
        payload = json.loads(body)
    except ValueError:
        return {}
    return payload if isinstance(payload, dict) else {}


class _Server(socketserver.ThreadingTCPServer):
    """At most MAX_CONNECTIONS threads; a client that goes away in the middle is nothing to report."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._slots = threading.BoundedSemaphore(MAX_CONNECTIONS)
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._slots.acquire(timeout=5):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._slots.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Broken pipes are part of the tests."""


def _answer_from(options: argparse.Namespace) -> Answer:
    if options.status:
        return lambda call: json_reply({"error": {"message": f"status {options.status}"}}, options.status)
    return lambda call: options.text


def main() -> None:
    """Serve until interrupted; the first line printed is the base URL."""
    parser = argparse.ArgumentParser(description="A loopback model server for tests.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--text", default=REFUSAL, help="what the model answers to everything")
    parser.add_argument("--always-refuse", action="store_const", dest="text", const=REFUSAL, help="the same as no --text")
    parser.add_argument("--status", type=int, help="answer this HTTP status to everything")
    parser.add_argument("--delay-ms", type=float, default=0.0)
    parser.add_argument("--ledger", type=Path, help="a file that gets one JSON line per call, before it is answered")
    options = parser.parse_args()
    provider = LoopbackProvider(_answer_from(options), delay_s=options.delay_ms / 1000, ledger=options.ledger, port=options.port)
    print(provider.base_url, flush=True)
    try:
        provider.serve()
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
