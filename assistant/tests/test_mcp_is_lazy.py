"""The MCP SDK is loaded by who speaks MCP and by nobody else: it would double the time that the site and each command need to start."""

import subprocess
import sys

from django.conf import settings

CODE = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "kallpa.settings"

def tell():
    print([name for name in ("mcp", "starlette", "uvicorn", "pydantic") if name in sys.modules])

import kallpa.wsgi
from django.core.management import call_command
from django.urls import get_resolver
from kallpa.celery import app

get_resolver().url_patterns
call_command("check", stdout=sys.stderr)
app.loader.import_default_modules()
tell()
import assistant.mcp_server
tell()
"""


def test_site_check_and_worker_start_without_it_and_the_control_loads_it() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", CODE], cwd=settings.BASE_DIR, capture_output=True, encoding="utf-8", timeout=60, check=True
    )
    assert ended.stdout.splitlines() == ["[]", "['mcp', 'starlette', 'uvicorn', 'pydantic']"]
