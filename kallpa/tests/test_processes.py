"""The processes of production, started as Dockerfile and docker-compose.yml start them, against PostgreSQL and Redis on loopback."""

import http.client
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import redis
import yaml
from django.conf import settings

from kallpa.tests import processes

pytestmark = pytest.mark.services

ROOT = Path(settings.BASE_DIR)
HOST = "kallpa.example"
SERVER = os.environ.get("DATABASE_URL", "")
if not SERVER.startswith("postgres"):
    SERVER = "postgres://postgres@127.0.0.1:5432/postgres"
BROKER = f"redis://{urlsplit(os.environ.get('REDIS_URL') or 'redis://127.0.0.1:6379').netloc}/7"
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]

Answer = tuple[int, dict[str, str], bytes]


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    """The URL of an empty database of this module's own."""
    name = f"kallpa_processes_{os.getpid()}"
    maintenance = urlsplit(SERVER)._replace(path="/postgres").geturl()
    try:
        server = psycopg.connect(maintenance, autocommit=True, connect_timeout=3)
    except psycopg.OperationalError:
        pytest.skip("no PostgreSQL answers")
    server.execute(f"CREATE DATABASE {name}")
    yield urlsplit(SERVER)._replace(path=f"/{name}").geturl()
    server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    server.close()


@pytest.fixture(scope="module")
def broker() -> str:
    """The URL of a Redis database that no other test uses."""
    try:
        redis.Redis.from_url(BROKER, socket_connect_timeout=3).ping()
    except redis.ConnectionError:
        pytest.skip("no Redis answers")
    return BROKER


@pytest.fixture(scope="module")
def production(database: str, broker: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a server with its schema and static files in place."""
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "DEBUG": "0",
        "SECRET_KEY": "cl4ve-de-prueba_" * 4,
        "ALLOWED_HOSTS": HOST,
        "BEHIND_TLS_PROXY": "1",
        "DATABASE_URL": database,
        "REDIS_URL": broker,
        "CELERY_BROKER_URL": broker,
        "STATIC_ROOT": str(tmp_path_factory.mktemp("static")),
        "HOSTNAME": socket.gethostname(),
    }
    for command in ("migrate --noinput", "collectstatic --noinput"):
        subprocess.run(
            [sys.executable, "manage.py", *command.split(), "--verbosity", "0"], cwd=ROOT, env=environment, check=True, timeout=120
        )
    return environment


@contextmanager
def started(command: list[str], environment: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a group of its own, all of which is gone afterwards."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        yield process
        process.terminate()
        process.wait(30)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_until(holds: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    """Returns when it holds; fails with the process's own words when it ended or took longer than 30 seconds."""
    end = time.monotonic() + 30
    while not holds():
        assert process.poll() is None, log.read_text(encoding="utf-8", errors="replace")
        assert time.monotonic() < end, log.read_text(encoding="utf-8", errors="replace")
        time.sleep(0.1)


def ask(port: int, path: str, **headers: str) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path, headers={"Host": HOST, **headers})
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def answers(port: int) -> bool:
    try:
        return ask(port, "/healthz")[0] == 200
    except OSError:
        return False


def dockerfile_command(instruction: str) -> list[str]:
    """The words of the last CMD line that begins so, `CMD` of the image or of its HEALTHCHECK."""
    line = next(line for line in DOCKERFILE.splitlines() if line.startswith(instruction))
    return json.loads(line.partition("CMD ")[2])


@pytest.fixture(scope="module")
def site_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where gunicorn's words go."""
    return tmp_path_factory.mktemp("logs") / "gunicorn.log"


@pytest.fixture(scope="module")
def site(production: dict[str, str], site_log: Path) -> Iterator[int]:
    """The port of gunicorn, started with the image's own command."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [word.replace("0.0.0.0:8000", f"127.0.0.1:{port}") for word in dockerfile_command("CMD ")]
    with started(command, production, site_log) as gunicorn:
        wait_until(lambda: answers(port), gunicorn, site_log)
        yield port


def test_gunicorn_logs_the_page_and_not_what_was_searched_for(site: int, site_log: Path) -> None:
    ask(site, "/admin/bookings/member/?q=934518207", Referer=f"https://{HOST}/admin/?q=934518207")
    processes.wait_until(lambda: "GET /admin/bookings/member/ HTTP/1.1" in site_log.read_text(encoding="utf-8"))  # after the answer
    logged = site_log.read_text(encoding="utf-8")
    assert "934518207" not in logged


def test_gunicorn_says_that_it_is_alive_and_ready(site: int) -> None:
    assert ask(site, "/healthz")[0::2] == (200, b'{"status": "ok"}')
    status, _, body = ask(site, "/readyz")
    assert (status, json.loads(body)) == (200, {"status": "ok", "database": "ok", "model": {"state": "not-configured"}, "incidents": []})


def test_gunicorn_shows_the_login_of_the_admin_behind_a_tls_proxy(site: int) -> None:
    status, headers, body = ask(site, "/admin/login/", **{"X-Forwarded-Proto": "https"})
    assert status == 200
    assert b'name="csrfmiddlewaretoken"' in body
    assert headers["Strict-Transport-Security"] == "max-age=31536000; includeSubDomains; preload"
    assert "script-src 'self'" in headers["Content-Security-Policy"]
    assert "Secure" in headers["Set-Cookie"]


def test_gunicorn_sends_plain_http_to_https_and_refuses_other_hosts(site: int) -> None:
    status, headers, _ = ask(site, "/admin/login/")
    assert (status, headers["Location"]) == (301, f"https://{HOST}/admin/login/")
    assert ask(site, "/healthz", Host="elsewhere.example")[0] == 400


def test_the_health_check_of_the_image_passes_on_this_site_and_fails_without_one(site: int, production: dict[str, str]) -> None:
    check = dockerfile_command("    CMD ")
    outcomes = [
        subprocess.run(
            [word.replace(":8000", f":{port}") for word in check], env=production, capture_output=True, timeout=30, check=False
        ).returncode
        for port in (site, 1)
    ]
    assert outcomes == [0, 1]


def test_gunicorn_is_ready_again_after_all_its_connections_were_cut(site: int, database: str) -> None:
    with psycopg.connect(urlsplit(database)._replace(path="/postgres").geturl(), autocommit=True) as server:
        server.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (urlsplit(database).path.removeprefix("/"),)
        )
    assert [ask(site, "/readyz")[0] for _ in range(20)] == [200] * 20


def run_health_check(service: str, environment: dict[str, str], *replacements: tuple[str, str]) -> bool:
    """Whether a service's health check of docker-compose.yml passes; `$$` is how compose writes a dollar."""
    kind, command = COMPOSE[service]["healthcheck"]["test"]
    assert kind == "CMD-SHELL"
    for old, new in (("$$", "$"), *replacements):
        command = command.replace(old, new)
    return subprocess.run(["sh", "-c", command], cwd=ROOT, env=environment, capture_output=True, timeout=60, check=False).returncode == 0


def test_the_worker_of_compose_answers_its_health_check_and_stops_when_told(production: dict[str, str], tmp_path: Path) -> None:
    command = shlex.split(COMPOSE["worker"]["command"].replace("${WORKER_CONCURRENCY:-2}", "1"))
    log = tmp_path / "worker.log"
    assert not run_health_check("worker", production, ("--timeout 10", "--timeout 1"))
    with started(command, production, log) as worker:
        wait_until(lambda: b" ready." in log.read_bytes(), worker, log)
        assert run_health_check("worker", production), log.read_text(encoding="utf-8")
        worker.terminate()
        assert worker.wait(30) == 0


def test_the_beat_of_compose_writes_the_schedule_that_its_health_check_looks_for(production: dict[str, str], tmp_path: Path) -> None:
    command = shlex.split(COMPOSE["beat"]["command"].replace("/var/lib/kallpa", str(tmp_path)))
    log = tmp_path / "beat.log"
    healthy = [("/var/lib/kallpa", str(tmp_path))]
    assert not run_health_check("beat", production, *healthy)
    with started(command, production, log) as beat:
        wait_until(lambda: run_health_check("beat", production, *healthy), beat, log)
