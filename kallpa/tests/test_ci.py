"""The last word of .ci/run: how many tests ran, and that the `services` and `browser` ones really did."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

COUNT = Path(settings.BASE_DIR) / ".ci" / "count_tests.py"


SEEN = '<testcase classname="assistant.tests.browser.test_journey" name="test_a"/>'


def count(folder: Path, *, case: str = SEEN, **rounds: str) -> subprocess.CompletedProcess[str]:
    """Runs the count over one JUnit file a round, each with the attributes given and this one test."""
    for name, attributes in rounds.items():
        (folder / f"{name}.xml").write_text(f"<testsuites><testsuite {attributes}>{case}</testsuite></testsuites>", encoding="utf-8")
    return subprocess.run([sys.executable, str(COUNT), str(folder)], capture_output=True, text=True, timeout=30, check=False)


GREEN = 'tests="30" failures="0" errors="0" skipped="2"'
SERVICES = 'tests="7" failures="0" errors="0" skipped="0"'


def test_it_prints_each_round_and_the_sum(tmp_path: Path) -> None:
    counted = count(tmp_path, sqlite=GREEN, postgresql=GREEN, services=SERVICES)
    assert counted.returncode == 0
    assert counted.stdout.splitlines() == [
        "sqlite: 28 passed, 0 failed, 2 skipped",
        "postgresql: 28 passed, 0 failed, 2 skipped",
        "services: 7 passed, 0 failed, 0 skipped",
        "sqlite, in a browser: 1 passed, 0 failed, 0 skipped",
        "postgresql, in a browser: 1 passed, 0 failed, 0 skipped",
        "63 passed, 0 failed, 4 skipped",
    ]


def test_it_fails_when_a_services_test_was_skipped(tmp_path: Path) -> None:
    counted = count(tmp_path, sqlite=GREEN, postgresql=GREEN, services=SERVICES.replace('skipped="0"', 'skipped="1"'))
    assert counted.returncode == 1
    assert "PostgreSQL and Redis have not been tested" in counted.stderr


def test_it_fails_when_no_services_test_ran(tmp_path: Path) -> None:
    assert count(tmp_path, sqlite=GREEN, postgresql=GREEN, services=SERVICES.replace('"7"', '"0"')).returncode == 1


@pytest.mark.parametrize("case", ["", SEEN.replace("/>", "><skipped/></testcase>"), SEEN.replace("browser.", "")])
def test_it_fails_when_a_browser_test_was_skipped_or_none_ran(tmp_path: Path, case: str) -> None:
    counted = count(tmp_path, case=case, sqlite=GREEN, postgresql=GREEN, services=SERVICES)
    assert counted.returncode == 1
    assert "the pages have not been seen in Chromium" in counted.stderr


def test_it_fails_when_a_test_failed_or_broke(tmp_path: Path) -> None:
    for word in ("failures", "errors"):
        broken = GREEN.replace(f'{word}="0"', f'{word}="1"')
        assert count(tmp_path, sqlite=GREEN, postgresql=broken, services=SERVICES).returncode == 1
