"""Prints how many tests each round of .ci/run ran, from its JUnit files; exit 1 if a `services` test was skipped or none ran."""

import sys
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

ROUNDS = ("sqlite", "postgresql", "services")


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


def main(folder: Path) -> int:
    counts = {name: count_tests(folder / f"{name}.xml") for name in ROUNDS}
    for name, count in counts.items():
        print(f"{name}: {count}")
    services = counts["services"]
    if services.skipped or not services.passed:
        print("Tests marked `services` were skipped or none ran: PostgreSQL and Redis have not been tested.", file=sys.stderr)
        return 1
    print(Count(*(sum(column) for column in zip(*counts.values(), strict=True))))
    return 1 if any(count.failed for count in counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
