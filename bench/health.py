"""The health of 10,000 cases whose texts all differ, the worst case for finding repeats: in one process, without a database."""

import random
import resource
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import django

django.setup()

from bench import goals  # noqa: E402 -- models exist once Django is set up
from bench.desk import SEED  # noqa: E402
from bench.goals import Goal  # noqa: E402
from evals.datasets.health import CaseFacts, DatasetFacts, Stored, check_health  # noqa: E402
from evals.datasets.health.attacks import check_attacks  # noqa: E402
from evals.datasets.health.composition import check_composition  # noqa: E402
from evals.datasets.health.keeping import check_keeping  # noqa: E402
from evals.datasets.health.likeness import check_likeness, find_alike  # noqa: E402
from evals.datasets.health.writing import check_writing  # noqa: E402
from evals.datasets.rows import parse_rows  # noqa: E402

CASES = 10_000
MOST_CPU_S = {"near-duplicates": 5.0}  # the work is bounded there
NOW = datetime(2026, 3, 9, 10, 0, tzinfo=ZoneInfo("America/Lima"))


def different_cases(count: int) -> Iterator[CaseFacts]:
    """The cases of `reservas` again and again, each with words of the whole dataset in a new order."""
    with SEED.open("rb") as lines:
        rows, _ = parse_rows(lines)
    words = [word for row in rows for word in row.spec.text.split()]
    shuffle = random.Random(7)
    for number in range(count):
        row = rows[number % len(rows)]
        text = " ".join(shuffle.choices(words, k=shuffle.randint(3, 30)))
        stored = tuple(Stored(each.set_name, each.text) for each in row.recordings)
        yield CaseFacts(replace(row.spec, key=f"caso-{number}", text=text), stored, NOW)


def main() -> None:
    facts = DatasetFacts(tuple(different_cases(CASES)), True, NOW)
    before_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    parts = {
        "mixture and attacks": lambda: [*check_composition(facts), *check_attacks(facts)],
        "near-duplicates": lambda: check_likeness(facts),
        "writing": lambda: check_writing(facts),
        "personal data and the rest": lambda: [*check_keeping(facts)],
        "the whole report": lambda: check_health(facts),
    }
    for name, part in parts.items():
        started, worked = time.perf_counter(), time.process_time()
        part()
        wall_s, cpu_s = time.perf_counter() - started, time.process_time() - worked
        line = f"{f'health of {CASES:,} different cases: {name}':<70} wall {wall_s:6.2f} s   cpu {cpu_s:6.2f} s   n=1"
        goals.show(line, *([Goal("cpu", cpu_s, MOST_CPU_S[name], "s")] if name in MOST_CPU_S else []))
    grown_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before_mb
    found = find_alike(facts.specs)
    print(f"  texts compared {found.compared:,} of {found.texts:,}, {len(found.alike):,} alike, peak {grown_mb:+.0f} MB", flush=True)


if __name__ == "__main__":
    main()
