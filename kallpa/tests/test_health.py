"""/healthz says that the process answers, /readyz that it can work."""

import os
import subprocess
import sys
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from pytest_django import DjangoAssertNumQueries

ASK_BOTH = """
import django
django.setup()
from django.test import Client
for path in ("/healthz", "/readyz"):
    response = Client(headers={"host": "localhost"}).get(path)
    print(path, response.status_code, response.content.decode())
"""


def test_it_says_that_the_process_answers_without_asking_the_database(client: Client) -> None:
    response = client.get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


@pytest.mark.django_db
def test_it_asks_the_database_one_query_before_it_says_ready(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries, settings: Any
) -> None:
    settings.LLM_BASE_URL = settings.LLM_MODEL = ""
    with django_assert_num_queries(1):
        response = client.get("/readyz")
    assert response.status_code == 200
    assert response.json() == {"status": "ok", "database": "ok", "model": {"state": "not-configured"}, "incidents": []}


def test_it_is_alive_but_not_ready_when_the_database_cannot_be_reached() -> None:
    asked = subprocess.run(
        [sys.executable, "-c", ASK_BOTH],
        cwd=settings.BASE_DIR,
        env={
            "PATH": os.environ["PATH"],
            "DJANGO_SETTINGS_MODULE": "kallpa.settings",
            "DATABASE_URL": "postgres://kallpa:hunter2-canary@127.0.0.1:1/kallpa",
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert asked.stdout.splitlines() == [
        '/healthz 200 {"status": "ok"}',
        '/readyz 503 {"status": "unavailable", "database": "unreachable"}',
    ]
    assert "hunter2-canary" not in asked.stderr
