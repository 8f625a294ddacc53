"""Prints the tests of each round of .ci/run, from its JUnit files; exit 1 if a `services` or `browser` test was skipped, or none ran."""

import sys
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

ROUNDS = ("sqlite", "postgresql", "services")
BROWSER = "assistant.tests.browser."  # where the tests marked `browser` live, in every round but the last


class Count(NamedTuple):
    passed: int
    failed: int
    skipped: int

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def count_tests(report: Path) -> Count:
    """The counts of one JUnit file that pytest wrote."""
    suites = ElementTree.parse(report).getroot().iter("testsuite")  # noqa: S314 - our own file of a moment ago
    total, failed, skipped = 0, 0, 0
    for suite in suites:
        total += int(suite.get("tests", 0))
        failed += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped += int(suite.get("skipped", 0))
    return Count(total - failed - skipped, failed, skipped)


def count_browser_tests(report: Path) -> Count:
    """The same for the tests in a browser alone."""
    cases = ElementTree.parse(report).getroot().iter("testcase")  # noqa: S314 - our own file of a moment ago
    ours = [{part.tag for part in case} for case in cases if case.get("classname", "").startswith(BROWSER)]
    failed, skipped = sum(bool(parts & {"failure", "error"}) for parts in ours), sum("skipped" in parts for parts in ours)
    return Count(len(ours) - failed - skipped, failed, skipped)


def main(folder: Path) -> int:
    counts = {name: count_tests(folder / f"{name}.xml") for name in ROUNDS}
    for name, count in counts.items():
        print(f"{name}: {count}")
    services = counts["services"]
    if services.skipped or not services.passed:
        print("Tests marked `services` were skipped or none ran: PostgreSQL and Redis have not been tested.", file=sys.stderr)
        return 1
    for name in ("sqlite", "postgresql"):
        browser = count_browser_tests(folder / f"{name}.xml")
        print(f"{name}, in a browser: {browser}")
        if browser.skipped or not browser.passed:
            print("Tests marked `browser` were skipped or none ran: the pages have not been seen in Chromium.", file=sys.stderr)
            return 1
    print(Count(*(sum(column) for column in zip(*counts.values(), strict=True))))
    return 1 if any(count.failed for count in counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
