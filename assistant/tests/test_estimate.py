"""The arithmetic of a month, by table: the course's own figures, our prompts, and what each limit leaves of an attack."""

import datetime as dt
from decimal import Decimal

import pytest

from assistant.estimate import Limits, Load, Tariff, bound_cost, bound_requests, hostile_tokens, prompt_tokens, taken_evenings

EXAMPLE, SMALL = Tariff(Decimal("0.50"), Decimal("2.00")), Tariff(Decimal("0.10"), Decimal("0.40"))
LIMITS = Limits(per_person_day=100, daily_budget_usd=Decimal("1.00"))


@pytest.mark.parametrize(
    ("load", "tariff", "usd"),
    [
        (Load(3_000, 400, 60), EXAMPLE, "0.96"),
        (Load(3_000, 200, 60), EXAMPLE, "0.66"),
        (Load(3_000, 400, 60), SMALL, "0.19"),
        (Load(3_000, 1_054, 60), EXAMPLE, "1.94"),
        (Load(30_000, 400, 60), EXAMPLE, "9.60"),
        (Load(100_000, 475, 60), EXAMPLE, "35.75"),
        (Load(1, 10_000, 0), EXAMPLE, "0.01"),  # half a cent, upwards
        (Load(0, 400, 60), EXAMPLE, "0.00"),
    ],
)
def test_tokens_times_tariff(load: Load, tariff: Tariff, usd: str) -> None:
    assert load.cost_usd(tariff) == Decimal(usd)


def test_a_load_adds_up_its_tokens() -> None:
    assert (Load(3_000, 1_054, 60).input_tokens, Load(3_000, 1_054, 60).output_tokens) == (3_162_000, 180_000)


@pytest.mark.parametrize(("wanted", "people", "made"), [(100_000, 1, 3_000), (100_000, 10, 30_000), (100_000, 50, 100_000), (7, 1, 7)])
def test_accounts_make_so_many_requests_in_a_month(wanted: int, people: int, made: int) -> None:
    assert bound_requests(wanted, people=people, limits=LIMITS) == made


@pytest.mark.parametrize(("cost", "bounded"), [("64.10", "30.00"), ("19.23", "19.23")])
def test_a_month_costs_at_most_thirty_days_of_budget(cost: str, bounded: str) -> None:
    assert bound_cost(Decimal(cost), LIMITS) == Decimal(bounded)


def test_forty_hours_are_ten_evenings(now: dt.datetime) -> None:
    taken = taken_evenings(40, now=now)
    assert (len(taken), len(set(taken))) == (40, 40)
    assert {hour.hour for hour in taken} == {18, 19, 20, 21}
    assert {hour.date.day for hour in taken} == {10, 11, 12, 13}


def test_our_prompt_is_measured_as_it_is_rendered(now: dt.datetime) -> None:
    """332 tokens on 9 March 2026; a change of the prompt's words moves these on purpose."""
    base, crowded = (prompt_tokens("base", hours=hours, now=now) for hours in (0, 40))
    assert 300 < base < 360
    assert 380 < crowded < 450
    assert prompt_tokens("con-nombres", hours=0, now=now) == base
    assert prompt_tokens("con-nombres", hours=40, now=now) == crowded + 40 * len(" (Los Cóndores de Lince)") // 4


def test_the_longest_request_adds_its_characters(now: dt.datetime) -> None:
    typical = prompt_tokens("base", hours=40, now=now)
    assert hostile_tokens(hours=40, now=now) - typical in (66, 67)  # 300 instead of 34 characters
