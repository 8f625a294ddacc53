"""manage.py mcp_review: what an MCP server on the list says of itself now, for a person to read before pinning it."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assistant.mcp_allowlist import McpProblem, ServerRefused, find_server
from assistant.mcp_host import check_offer, digest_tool, read_offer


class Command(BaseCommand):
    help = (
        "Muestra la versión y las herramientas de un servidor de assistant/mcp_allowlist.py con la huella de cada una. Lo que dicen llega "
        "al modelo: se lee antes de fijarlo. Termina con 0 si es lo que se revisó, con 1 si no y con 2 si no se puede saber."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NOMBRE")

    def handle(self, *, name: str, **options: Any) -> None:
        try:
            server = find_server(name)
            offer = read_offer(server)
        except McpProblem as problem:
            raise CommandError(str(problem), returncode=2) from None
        self.stdout.write(f"Versión: {json.dumps(offer.version)}")
        for tool in offer.tools:
            said = tool.model_dump(by_alias=True, mode="json", exclude_none=True)
            self.stdout.write(f"{digest_tool(tool)}\n{json.dumps(said, indent=2, ensure_ascii=True)}")
        try:
            check_offer(server, offer)
        except ServerRefused as refusal:
            raise CommandError(str(refusal), returncode=1) from None
        self.stdout.write("Es lo que se revisó.")
