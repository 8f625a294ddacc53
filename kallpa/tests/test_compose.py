"""docker-compose.yml keeps what a server promises."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings

ROOT = Path(settings.BASE_DIR)


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]


def find_compose() -> list[str]:
    """The compose client of this machine, or nothing; it needs no engine to read the file."""
    for client in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(client[0]) and subprocess.run([*client, "version"], capture_output=True, check=False).returncode == 0:
            return client
    return []


@pytest.mark.skipif(not find_compose(), reason="this machine has no compose client")
def test_compose_itself_accepts_the_file_only_when_the_password_is_set(tmp_path: Path) -> None:
    shutil.copy(ROOT / "docker-compose.yml", tmp_path)
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    results = []
    for password in ("", "azul1234"):
        (tmp_path / ".env").write_text(example.replace("POSTGRES_PASSWORD=", f"POSTGRES_PASSWORD={password}"), encoding="utf-8")
        results.append(subprocess.run([*find_compose(), "config"], cwd=tmp_path, capture_output=True, text=True, check=False))
    refused, accepted = results
    assert refused.returncode != 0
    assert "set it in .env" in refused.stderr
    assert accepted.returncode == 0, accepted.stderr
    assert "postgres://kallpa:azul1234@db:5432/kallpa" in accepted.stdout


def test_it_runs_the_six_parts(services: dict[str, Any]) -> None:
    assert set(services) == {"migrate", "web", "worker", "beat", "db", "redis"}
    assert (services["db"]["image"], services["redis"]["image"]) == ("postgres:16", "redis:7")


@pytest.mark.parametrize("name", ["web", "worker", "beat"])
def test_it_starts_what_needs_the_schema_after_the_migrations(services: dict[str, Any], name: str) -> None:
    waits = {other: how["condition"] for other, how in services[name]["depends_on"].items()}
    assert waits == {"migrate": "service_completed_successfully", "db": "service_healthy", "redis": "service_healthy"}


def test_it_watches_the_health_of_every_lasting_process(services: dict[str, Any]) -> None:
    watched = {name for name, service in services.items() if "test" in service.get("healthcheck", {})}
    assert watched == {"worker", "beat", "db", "redis"}  # web keeps the image's own
    assert "HEALTHCHECK" in (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_it_keeps_the_broker_on_disk_and_evicts_nothing(services: dict[str, Any]) -> None:
    assert services["redis"]["command"] == "redis-server --appendonly yes --maxmemory-policy noeviction"
    assert services["redis"]["volumes"] == ["redis:/data"]
    assert services["db"]["volumes"] == ["db:/var/lib/postgresql/data"]


def test_it_takes_secrets_from_the_env_file_and_shows_no_port_but_on_loopback(services: dict[str, Any]) -> None:
    variables = [pair for service in services.values() for pair in service.get("environment", {}).items()]
    secrets = [value for name, value in variables if re.search("PASSWORD|SECRET|KEY|TOKEN", name)]
    passwords = [value.partition("://")[2].rpartition("@")[0].partition(":")[2] for name, value in variables if name.endswith("_URL")]
    assert {value for value in (*secrets, *passwords) if value} == {"${POSTGRES_PASSWORD:?set it in .env}"}
    ports = [port for service in services.values() for port in service.get("ports", [])]
    assert ports == ["127.0.0.1:${WEB_PORT:-8000}:8000"]


def test_it_gives_a_worker_longer_to_stop_than_its_soft_shutdown_takes(services: dict[str, Any]) -> None:
    assert int(services["worker"]["stop_grace_period"].removesuffix("s")) > settings.CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT


def test_the_image_runs_as_a_person_without_power() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    assert dockerfile.index("USER kallpa") < next(number for number, line in enumerate(dockerfile) if line.startswith("CMD"))
