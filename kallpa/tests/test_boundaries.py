"""Which files may open a connection of their own. Whoever adds one writes it here, with the reason."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
NETWORK = (
    "httpx",
    "httpcore",
    "httpx2",
    "httpcore2",
    "requests",
    "aiohttp",
    "urllib3",
    "urllib.request",
    "http.client",
    "socket",
    "ftplib",
    "smtplib",
    "websockets",
    "mcp.client.streamable_http",
    "mcp.client.sse",
)
ALLOWED = {
    "kallpa/outbound.py": "the one guarded HTTP client",
}


def imported(source: str) -> Iterator[str]:
    """Dotted names that a module imports, also through import_module("name")."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield from (f"{module}.{alias.name}" for alias in names)
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield name


def opens_connections(source: str) -> bool:
    return any(name == module or name.startswith(f"{module}.") for name in imported(source) for module in NETWORK)


def test_only_the_listed_modules_open_connections() -> None:
    files = [path for folder in ("kallpa", "bookings", "assistant", "evals") for path in (ROOT / folder).rglob("*.py")]
    found = {
        path.relative_to(ROOT).as_posix() for path in files if "tests" not in path.parts and opens_connections(path.read_text("utf-8"))
    }
    assert found == set(ALLOWED)


@pytest.mark.parametrize(
    "source",
    [
        "import httpx",
        "import http.client as web",
        "from urllib import request",
        "from urllib.request import urlopen",
        "def later():\n    from requests import get",
        "importlib.import_module('httpx')",
        "__import__('socket')",
    ],
)
def test_control_the_search_finds_each_way_to_import(source: str) -> None:
    assert opens_connections(source)
    assert not opens_connections("import socketserver\nfrom urllib.parse import urlsplit\nfrom http import HTTPStatus")
