"""How a figure is said."""

import pytest

from evals.figures import say_aggregate, say_interval, say_number, say_percent, say_points, say_usd
from evals.metrics import operations
from evals.statistics import wilson_interval
from evals.tests.examples import figure


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (11 / 14, "79 %"),
        (5 / 8, "63 %"),
        (0.0, "0 %"),
        (1.0, "100 %"),
        (249 / 250, "99.6 %"),
        (1 / 250, "0.4 %"),
        (9999 / 10000, "99.9 %"),
        (1 / 10000, "0.1 %"),
        (0.995, "99.5 %"),
        (0.29, "29 %"),
    ],
)
def test_a_share_is_said_in_percent_and_never_rounded_to_perfect(share, said):
    assert say_percent(share) == said


def test_the_worked_interval_of_23_of_25_reads_75_to_98():
    assert say_interval(*wilson_interval(23, 25)) == "75–98 %"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (0.08, "+8 puntos"),
        (-0.12, "−12 puntos"),
        (0.01, "+1 punto"),
        (-0.01, "−1 punto"),
        (0.0, "0 puntos"),
        (0.004, "+0.4 puntos"),
        (-0.004, "−0.4 puntos"),
        (1.0, "+100 puntos"),
    ],
)
def test_a_difference_is_said_in_points(change, said):
    assert say_points(change) == said


@pytest.mark.parametrize(("value", "said"), [(1234, "1,234"), (1234.5, "1,234.50"), (0, "0")])
def test_numbers_are_written_as_in_peru(value, said):
    assert say_number(value) == said


@pytest.mark.parametrize(
    ("micro_usd", "said"),
    [(0, "USD 0.00"), (408, "USD 0.000408"), (12_345, "USD 0.0123"), (1_250_000, "USD 1.25"), (1_234_567_890, "USD 1,234.57")],
)
def test_small_money_keeps_its_decimals(micro_usd, said):
    assert say_usd(micro_usd) == said


def test_every_figure_says_what_it_was_counted_over():
    assert say_aggregate(figure("correct", 11, 14)) == "11/14 (79 %, IC 95 % 52–92 %)"
    assert say_aggregate(figure("invalid_accepted", 0, 14)) == "0/14"
    assert say_aggregate(figure("correct", 0, 0, missing=14)) == "sin medir"
    spent = operations([(400, 20, True, 812.0, 100, True)] * 3)
    assert say_aggregate(spent["latency_p95_ms"]) == "812 ms (n = 3)"
    assert say_aggregate(spent["tokens_in"]) == "400 tokens (n = 3)"
    assert say_aggregate(spent["cost_system_micro_usd"]) == "USD 0.000300 (n = 3)"
