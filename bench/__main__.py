"""`make bench`: what runs cost, and how soon pages, lists and API answer. Trust ratios of one run. Exits 1 when a goal is missed."""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator

from bench.desk import ROOT, desk
from bench.goals import conclude, pass_on

MODULES = "bench"
# Each part is a module that runs in a process and a database of its own, with datasets of so many cases.
PARTS: dict[str, list[int]] = {"pages": [], "metrics": [], "masking": [], "health": [], "imports": [], "lists": [], "runs": [1000, 4000]}


def misses_of(part: str) -> Iterator[str]:
    """The lines of one part that miss a goal; a part that fails ends everything."""
    command = [sys.executable, "-m", f"{MODULES}.{part}"]
    with desk(PARTS[part]) as environment:
        with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None  # noqa: S101
            yield from pass_on(process.stdout)
        if process.returncode:
            sys.exit(f"{MODULES}.{part} failed with exit code {process.returncode}: its figures are not complete.")


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"what to measure: {', '.join(PARTS)}; all unless named")
    chosen = parser.parse_args().parts or list(PARTS)
    if unknown := [part for part in chosen if part not in PARTS]:
        parser.error(f"there is no part {', '.join(unknown)}: choose from {', '.join(PARTS)}")
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}", flush=True)
    return conclude([line for part in chosen for line in misses_of(part)])


if __name__ == "__main__":
    sys.exit(main())
