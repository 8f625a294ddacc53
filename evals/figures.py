"""How a figure is said to a person in Lima: `1,234.50`, `11/14 (79 %, IC 95 % 52–92 %)`. Pure."""

from math import floor

from bookings.money import say_usd
from evals.values import Aggregate


def say_percent(share: float, *, sign: bool = False) -> str:
    """`79 %`. A share that is not whole never reads 0 % or 100 %: 249 of 250 is `99.6 %`."""
    return f"{_percent_digits(share, sign=sign)} %"


def say_interval(low: float, high: float) -> str:
    """`52–92 %`."""
    return f"{_percent_digits(low)}–{say_percent(high)}"


def say_points(change: float) -> str:
    """A difference of shares in percentage points: `+8 puntos`."""
    digits = _percent_digits(change, sign=True)
    return f"{digits} punto" if digits in {"+1", "−1"} else f"{digits} puntos"


def say_count(count: int, one: str, many: str) -> str:
    """`1 versión`, `1,234 versiones`."""
    return f"{count:,} {one if count == 1 else many}"


def say_number(value: float) -> str:
    """`1,234` or `1,234.50`."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def say_fraction(aggregate: Aggregate) -> str:
    """`11/14`, or `—` where nothing was measured."""
    if aggregate.value is None or aggregate.numerator is None:
        return "—"
    return f"{say_number(aggregate.numerator)}/{say_number(aggregate.denominator)}"


def say_aggregate(aggregate: Aggregate) -> str:
    """The whole figure in one breath, with what it was counted over."""
    if aggregate.value is None:
        return "sin medir"
    if aggregate.unit == "share":
        return f"{say_fraction(aggregate)} ({say_percent(aggregate.value)}{_say_confidence(aggregate)})"
    if aggregate.unit == "count":
        return say_fraction(aggregate)
    return f"{say_limit(aggregate.unit, aggregate.value)} (n = {say_number(aggregate.denominator)})"


def say_limit(unit: str, value: float) -> str:
    """A bare value in its unit, as a threshold states it: `92 %`, `3`, `850 ms`, `USD 0.05`."""
    if unit == "share":
        return say_percent(value)
    if unit == "micro_usd":
        return say_usd(value)
    return say_number(value) + {"ms": " ms", "tokens": " tokens"}.get(unit, "")


def _say_confidence(aggregate: Aggregate) -> str:
    if aggregate.low is None or aggregate.high is None:
        return ""
    return f", IC 95 % {say_interval(aggregate.low, aggregate.high)}"


def _percent_digits(share: float, *, sign: bool = False) -> str:
    size = abs(share) * 100
    whole = floor(size + 0.5 + 1e-9)
    hides_something = whole in {0, 100} and abs(size - whole) > 1e-9
    digits = f"{min(max(floor(size * 10 + 0.5) / 10, 0.1), 99.9 if size < 100 else size):.1f}" if hides_something else f"{whole:,}"
    return f"{'−' if share < 0 else '+' if share > 0 else ''}{digits}" if sign else digits
