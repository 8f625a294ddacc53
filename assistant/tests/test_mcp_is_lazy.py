"""The MCP SDK is loaded by who speaks MCP and by nobody else: it would double the time that the site and each command need to start."""

import subprocess
import sys

import pytest
from django.conf import settings

LOADED = "; import sys; print([name for name in ('mcp', 'starlette', 'uvicorn', 'pydantic') if name in sys.modules])"
SITE = "import kallpa.wsgi; from django.urls import get_resolver; get_resolver().url_patterns"
WORKER = "from kallpa.celery import app; app.loader.import_default_modules()"
CHECK = "import django; from django.core.management import call_command; django.setup(); call_command('check', verbosity=0)"
SERVER = "import django; django.setup(); import assistant.mcp_server"


@pytest.mark.parametrize(
    ("start", "loaded"),
    [(f"{SITE}; {CHECK}; {WORKER}", "[]"), (SERVER, "['mcp', 'starlette', 'uvicorn', 'pydantic']")],
    ids=["site", "control"],
)
def test_site_worker_and_check_start_without_it(start: str, loaded: str) -> None:
    code = f"import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'kallpa.settings'; {start}{LOADED}"
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=settings.BASE_DIR, capture_output=True, encoding="utf-8", timeout=60, check=True
    )
    assert ended.stdout.splitlines()[-1] == loaded
