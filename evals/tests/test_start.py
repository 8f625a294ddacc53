"""A command starts without the admin's pages, the API and what reads Excel: they would double what each of them costs."""

import json
import subprocess
import sys

from django.conf import settings

CODE = """
import json, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "kallpa.settings"
import django
from django.core import checks

HEAVY = ("evals.admin", "rest_framework.serializers", "openpyxl", "redis", "jsonschema", "kallpa.urls")

def tell():
    print(json.dumps([name for name in HEAVY if name in sys.modules]))

django.setup()
import evals.management.commands.eval_run
tell()
checks.run_checks(tags=["admin"])
tell()
import kallpa.wsgi
tell()
"""


def test_a_run_starts_without_them_a_check_loads_the_pages_and_a_server_all() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", CODE], cwd=settings.BASE_DIR, env={"PATH": ""}, capture_output=True, encoding="utf-8", timeout=60, check=True
    )
    run, check, server = map(json.loads, ended.stdout.splitlines())
    assert run == []
    assert check == ["evals.admin", "rest_framework.serializers", "openpyxl"]
    assert server == [*check, "jsonschema", "kallpa.urls"]
