"""Both ends of MCP connections for tests: the server as a process or on a port of this one, and the SDK's client speaking to it."""

import http.client
import json
import os
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import httpx2  # noqa: TID251 -- the SDK's client, of the other side
import mcp_types as types
import uvicorn
from django.conf import settings
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from kallpa.tests.processes import address_of_the_test_database

PATIENCE_S = 60
MODERN, PREVIOUS = "2026-07-28", "legacy"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}


def run(talk: Callable[[], Awaitable[Any]]) -> Any:
    """What an asynchronous conversation comes to; fails when it takes longer than PATIENCE_S."""

    async def bounded() -> Any:
        with anyio.fail_after(PATIENCE_S):
            return await talk()

    return anyio.run(bounded)


def answering(action: str, date: str = "") -> Any:
    """A person who, asked for a date, does `action`; keeps the questions in its list `asked`."""

    async def answer(context: Any, question: types.ElicitRequestParams) -> types.ElicitResult:
        answer.asked.append(question.message)  # type: ignore[attr-defined]
        return types.ElicitResult(action=action, content={"date": date} if date else None)  # type: ignore[arg-type]

    answer.asked = []  # type: ignore[attr-defined]
    return answer


def stdio_server(*arguments: str, **environment: str) -> StdioServerParameters:
    """`manage.py mcp_server` in a process of its own, on the rows of this test."""
    return StdioServerParameters(
        command=sys.executable,
        args=["manage.py", "mcp_server", *arguments],
        cwd=settings.BASE_DIR,
        env=process_environment(**environment),
    )


def process_environment(**more: str) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "VIRTUAL_ENV", "LANG", "PYTHONUTF8"}} | {
        "DATABASE_URL": address_of_the_test_database(),
        **more,
    }


def http_client(url: str, secret: str, **options: Any) -> Client:
    """The SDK's client with this token."""
    web = httpx2.AsyncClient(headers={"Authorization": f"Bearer {secret}"}, timeout=PATIENCE_S, trust_env=False)
    return Client(streamable_http_client(url, http_client=web), **options)


@contextmanager
def serving(app: Any) -> Iterator[int]:
    """The port where this process serves an ASGI application meanwhile."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, access_log=False)
    listening = config.bind_socket()
    listening.listen()  # who connects before the server is ready waits
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)


def post(port: int, message: Any, *, path: str = "/mcp", **headers: str) -> tuple[int, Any]:
    """Status and body (JSON where it is) of one POST. The headers that revision 2026-07-28 wants are there unless given."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": MODERN}
    if isinstance(message, dict):
        usual |= {"Mcp-Method": message["method"], "Mcp-Name": message.get("params", {}).get("name", "")}
    sent = usual | {name.replace("_", "-"): value for name, value in headers.items()}
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        line.request("POST", path, body, {name: value for name, value in sent.items() if value})
        answer = line.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if answer.getheader("Content-Type") == "application/json" else text.decode()
    finally:
        line.close()


def ask(method: str, **params: Any) -> dict[str, Any]:
    """A request of revision 2026-07-28."""
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": META, **params}}


class HttpProcess:
    """`manage.py mcp_server --http` in a process of its own, logging everything; `lines` is what it has said."""

    def __init__(self) -> None:
        command = [sys.executable, "manage.py", "mcp_server", "--http", "--port", "0"]
        environment = process_environment(LOG_LEVEL="DEBUG")
        self._process = subprocess.Popen(
            command, cwd=settings.BASE_DIR, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
        )
        self.lines: list[str] = []
        self._said = threading.Condition()
        threading.Thread(target=self._listen, daemon=True).start()
        self.url = self.wait_for("Servidor MCP en ").split()[3].rstrip(".")

    def wait_for(self, word: str) -> str:
        """The line that holds the word, once it is there."""
        with self._said:
            assert self._said.wait_for(lambda: any(word in line for line in self.lines), PATIENCE_S), self.lines[-20:]
            return next(line for line in self.lines if word in line)

    def stop(self) -> str:
        """Ends it as a person does; returns what it wrote on standard output."""
        assert self._process.stdout is not None
        self._process.terminate()
        try:
            self._process.wait(PATIENCE_S)
            return self._process.stdout.read()
        finally:
            self._process.kill()

    def _listen(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            with self._said:
                self.lines.append(line)
                self._said.notify_all()
