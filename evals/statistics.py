"""How sure a figure is: intervals, paired tests and percentiles, from the standard library alone.

`evals/tests/test_statistics.py` holds each formula against published values and against scipy and statsmodels.
"""

from collections.abc import Iterable
from math import comb, floor, sqrt
from statistics import NormalDist
from typing import NamedTuple

Z_95 = 1.959963984540054


class Interval(NamedTuple):
    """Both ends, as shares between 0 and 1."""

    low: float
    high: float


class Difference(NamedTuple):
    """How far one share stands from another, with its 95 % interval; all in shares (0.08 = 8 points)."""

    change: float
    low: float
    high: float

    @property
    def is_signal(self) -> bool:
        """True when the interval leaves 0 out; otherwise neither share is better than the other."""
        return self.low > 0 or self.high < 0


def wilson_interval(successes: float, n: float, z: float = Z_95) -> Interval:
    """Score interval of a share (Wilson 1927; Newcombe 1998, method 3). ValueError unless 0 <= successes <= n and n > 0."""
    if not (n > 0 and 0 <= successes <= n):
        raise ValueError(f"{successes} of {n} is not a share")
    share = successes / n
    centre = share + z * z / (2 * n)
    reach = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = 0.0 if successes == 0 else (centre - reach) / scale
    high = 1.0 if successes == n else (centre + reach) / scale
    return Interval(low, high)


def compare_shares(share: float, interval: Interval, other: float, other_interval: Interval) -> Difference:
    """`share - other`, two unpaired shares with their Wilson intervals (Newcombe 1998, hybrid score, method 10).

    Stricter than a glance at the two intervals would be: intervals that do not touch always give a signal here, and two that
    overlap a little may still give one. Two runs over the same cases are better compared in pairs, with `mcnemar_exact`.
    """
    change = share - other
    low = change - sqrt((share - interval.low) ** 2 + (other_interval.high - other) ** 2)
    high = change + sqrt((interval.high - share) ** 2 + (other - other_interval.low) ** 2)
    return Difference(change, low, high)


def mcnemar_exact(only_a: int, only_b: int) -> float:
    """Two-sided p that cases passing in only one of two runs split this unevenly by chance (exact binomial, one half each)."""
    n = only_a + only_b
    tail = sum(comb(n, k) for k in range(min(only_a, only_b) + 1))
    return min(1.0, 2 * tail / 2**n)


def minimum_detectable_change(n: int, discordant: float = 0.0, *, power: float = 0.8) -> float:
    """The smallest change of a share that `n` paired cases show with this power at 5 %, two-sided (0.15 = 15 points).

    `discordant` is the share of cases expected to come out differently in the two runs. Connor 1987 (Biometrics 43:207-211),
    n = (z_a √ψ + z_b √(ψ - d²))² / d², solved for d. A change cannot exceed ψ, so ψ is at least the change itself: the best
    case, in which every case that moves moves the same way. 1.0 when not even that would show.
    """
    z_a, z_b = Z_95, NormalDist().inv_cdf(power)
    if n <= z_a**2:
        return 1.0
    scale = n + z_b**2
    unmoved = (sqrt((z_a * z_b) ** 2 + scale * (n - z_a**2)) - z_a * z_b) / scale
    moving = max(discordant, 1 - unmoved**2)
    return sqrt(moving) * (z_a * sqrt(n) + z_b * sqrt(scale - z_a**2)) / scale


def percentile(values: Iterable[float], q: float) -> float:
    """The q-th percentile (0-100), interpolating between neighbours (Hyndman and Fan type 7, as spreadsheets do).

    ValueError when there is no value or `q` is outside 0-100.
    """
    ordered = sorted(values)
    if not ordered or not 0 <= q <= 100:
        raise ValueError(f"no percentile {q} of {len(ordered)} values")
    position = (len(ordered) - 1) * q / 100
    below = floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)
