"""What masking costs, for a club of 255 names: the labelled sentences, and 10,000 hostile signs of each kind that its tests know."""

import statistics

import django

django.setup()

from assistant.tests.test_pii import HOSTILE, LARGE_CLUB, fill, mask_for_a_large_club, measure_ms  # noqa: E402 -- models come first
from assistant.tests.test_pii_set import PARTS  # noqa: E402
from bench import goals  # noqa: E402
from bench.goals import Goal  # noqa: E402

SIGNS, TRIES = 10_000, 3
MOST_MS = 100


def main() -> None:
    texts = [sentence["text"] for part in PARTS.values() for sentence in part]
    each_ms = [measure_ms(mask_for_a_large_club, text) for text in texts]
    p95_ms = statistics.quantiles(each_ms, n=20)[-1]
    known = f"{len(LARGE_CLUB)} known names"
    goals.show(f"{f'one sentence, {known}':<58} median {statistics.median(each_ms):6.2f} ms   p95 {p95_ms:6.2f} ms   n={len(texts)}")
    hostile_ms = [min(measure_ms(mask_for_a_large_club, fill(shard)(SIGNS)) for _ in range(TRIES)) for shard in HOSTILE]
    worst_ms = max(hostile_ms)
    shard = HOSTILE[hostile_ms.index(worst_ms)]
    line = f"{f'{SIGNS:,} hostile signs, {known}':<58} median {statistics.median(hostile_ms):6.0f} ms   worst {worst_ms:6.0f} ms"
    goals.show(f"{line}   n={len(HOSTILE)}, best of {TRIES}, worst «{shard}»", Goal("cpu", worst_ms, MOST_MS, "ms"))


if __name__ == "__main__":
    main()
