"""manage.py mcp_server: the MCP server, over stdio for an editor or over HTTP for programs with a token."""

from argparse import ArgumentParser
from typing import Any

import anyio
import uvicorn
from django.core.management.base import BaseCommand

from assistant.mcp_server import PATH, http_app, serve_stdio

LIMITS: dict[str, Any] = {
    "limit_concurrency": 64,
    "timeout_keep_alive": 5,
    "timeout_graceful_shutdown": 5,
    "h11_max_incomplete_event_size": 16 * 1024,
}


class Command(BaseCommand):
    help = (
        "Sirve por MCP las canchas, sus horas y las reglas; sin datos personales y sin escribir nada. Sin opciones habla por stdio; con "
        "--http atiende en /mcp a quien muestre un token con el permiso mcp (manage.py api_token)."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--http", action="store_true", help="Streamable HTTP en vez de stdio")
        parser.add_argument("--host", default="127.0.0.1", help="dirección donde atiende; 127.0.0.1 si falta, que es solo esta máquina")
        parser.add_argument("--port", type=int, default=8765, help="puerto; 8765 si falta, 0 para que lo elija el sistema")

    def handle(self, *, http: bool, host: str, port: int, **options: Any) -> None:
        if http:
            self._serve_http(host, port)
        else:
            anyio.run(serve_stdio)

    def _serve_http(self, host: str, port: int) -> None:
        # Our own logging: one line a record on stderr, and none for each request.
        config = uvicorn.Config(http_app(host=host), host=host, port=port, log_config=None, access_log=False, server_header=False, **LIMITS)
        listening = config.bind_socket()
        listening.listen(config.backlog)
        self.stderr.write(f"Servidor MCP en http://{host}:{listening.getsockname()[1]}{PATH}. Termina con Ctrl-C.")
        uvicorn.Server(config).run(sockets=[listening])
