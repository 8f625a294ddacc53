"""manage.py mcp_demo: a conversation with the MCP server, message by message, over the pipes of a real process."""

import datetime as dt
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import IO, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from bookings.clock import now_in_lima
from bookings.models import Court

PATIENCE_S = 60.0
REVISION, PREVIOUS = "2026-07-28", "2025-11-25"
CLIENT = {"name": "kallpa-demo", "version": "1.0.0"}
CAN_ASK: dict[str, Any] = {"elicitation": {"form": {}}}
META = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": CAN_ASK,
}
Message = dict[str, Any]


class Command(BaseCommand):
    help = "Conversa por stdio con el servidor MCP y muestra cada mensaje: --> lo que va, <-- lo que vuelve."

    def handle(self, *args: Any, **options: Any) -> None:
        court = Court.objects.filter(active=True).first()
        if court is None:
            raise CommandError("No hay canchas: manage.py seed_demo las crea.", returncode=2)
        tomorrow = now_in_lima().date() + dt.timedelta(days=1)
        with _server() as process:
            self._talk(Conversation(process, self.stdout), court.pk, tomorrow.isoformat())
        with _server() as process:
            self._talk_as_before(Conversation(process, self.stdout), court.pk, tomorrow.isoformat())

    def _talk(self, server: "Conversation", court_id: int, date: str) -> None:
        self._remark(
            f"Revisión {REVISION}: no hay saludo ni sesión. Cada solicitud lleva en _meta la versión y lo que el cliente sabe hacer:"
        )
        self.stdout.write(json.dumps(META, ensure_ascii=False))
        self._remark("Preguntar qué soporta el servidor es opcional.")
        server.ask("server/discover")
        self._remark("Lo que ofrece. Las descripciones son texto para el modelo: el host las pone en su contexto.")
        server.ask("tools/list")
        self._remark("El modelo pide, el host decide si llama.")
        server.ask("tools/call", name="get_availability", arguments={"courtId": court_id, "date": date})
        self._remark("Los recursos los trae la aplicación; los prompts los invoca la persona.")
        server.ask("resources/read", uri="kallpa://rules")
        server.ask("prompts/get", name="summarize_day", arguments={"date": date})
        self._remark("Falta la fecha: el servidor devuelve un resultado que dice qué falta…")
        server.ask("tools/call", name="get_availability", arguments={"courtId": court_id})
        self._remark("…el cliente se la pregunta a la persona y repite la solicitud con la respuesta.")
        given = {"date": {"action": "accept", "content": {"date": date}}}
        server.ask("tools/call", name="get_availability", arguments={"courtId": court_id}, inputResponses=given)
        self._remark("Un dato equivocado vuelve como resultado con isError: el modelo lo lee y corrige.")
        server.ask("tools/call", name="get_availability", arguments={"courtId": court_id, "date": "mañana"})
        self._remark("Lo que el servidor no ofrece no existe.")
        server.ask("bookings/delete_all")

    def _talk_as_before(self, server: "Conversation", court_id: int, date: str) -> None:
        self._remark(
            f"Revisión {PREVIOUS}, la anterior: comienza con initialize, y es el servidor quien pregunta en medio de la solicitud."
        )
        server.send(method="initialize", params={"protocolVersion": PREVIOUS, "capabilities": CAN_ASK, "clientInfo": CLIENT}, id=1)
        server.receive()
        server.send(method="notifications/initialized")
        server.send(method="tools/call", params={"name": "get_availability", "arguments": {"courtId": court_id}}, id=2)
        question = server.receive()
        server.send(result={"action": "accept", "content": {"date": date}}, id=question["id"])
        server.receive()

    def _remark(self, sentence: str) -> None:
        self.stdout.write(f"\n# {sentence}")


class Conversation:
    """Sends and receives JSON-RPC messages, a line each, and shows them without the `_meta` that all of them carry."""

    def __init__(self, process: "subprocess.Popen[str]", out: Any) -> None:
        self._input, self._output, self._out, self._last_id = _pipe(process.stdin), _pipe(process.stdout), out, 0

    def ask(self, method: str, **params: Any) -> Message:
        """The server's answer. Raises CommandError when the process ends without one."""
        self._last_id += 1
        self._write({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": {"_meta": META, **params}})
        self._out.write(f"--> {method} {json.dumps(params, ensure_ascii=False)}")
        return self.receive()

    def send(self, **message: Any) -> None:
        self._write({"jsonrpc": "2.0", **message})
        self._out.write(f"--> {json.dumps(message, ensure_ascii=False)}")

    def receive(self) -> Message:
        line = self._output.readline()
        if not line:
            raise CommandError("El servidor terminó sin responder; lo que dijo está arriba.")
        message: Message = json.loads(line)
        result = {name: value for name, value in message.get("result", {}).items() if name != "_meta"}
        self._out.write(f"<-- {json.dumps(message | ({'result': result} if result else {}), ensure_ascii=False)}")
        return message

    def _write(self, message: Message) -> None:
        self._input.write(json.dumps(message) + "\n")
        self._input.flush()


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None  # noqa: S101 -- the process is started with pipes
    return pipe


@contextmanager
def _server() -> Iterator["subprocess.Popen[str]"]:
    """The server in a process of its own. It ends when its input does, and in any case after PATIENCE_S."""
    command = [sys.executable, str(Path(settings.BASE_DIR) / "manage.py"), "mcp_server"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as process:  # noqa: S603 -- our own command
        limit = Timer(PATIENCE_S, process.kill)
        limit.start()
        try:
            yield process
        finally:
            _pipe(process.stdin).close()
            process.wait()
            limit.cancel()
