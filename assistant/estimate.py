"""What the assistant costs in a month: arithmetic over requests, tokens and a tariff. Pure; the tariffs are the caller's."""

import datetime as dt
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from assistant.llm import estimate_tokens
from assistant.pipeline import MAX_INPUT_CHARS
from assistant.prompts import render
from bookings.values import OccupiedHour

DAYS_IN_MONTH = 30
TYPICAL_REQUEST = "fulbito mañana a las 7 de la noche"
EVENING = range(18, 22)
SPORTS = ("fulbito", "voley", "basquet")
TEAM = "Los Cóndores de Lince"  # as long as people choose them


@dataclass(frozen=True, slots=True)
class Tariff:
    """USD per million tokens."""

    input_usd: Decimal
    output_usd: Decimal


@dataclass(frozen=True, slots=True)
class Load:
    """So many requests, each of so many tokens in and out."""

    requests: int
    input_each: int
    output_each: int

    @property
    def input_tokens(self) -> int:
        return self.requests * self.input_each

    @property
    def output_tokens(self) -> int:
        return self.requests * self.output_each

    def cost_usd(self, tariff: Tariff) -> Decimal:
        """USD to the cent, half a cent upwards."""
        micro_usd = self.input_tokens * tariff.input_usd + self.output_tokens * tariff.output_usd
        return (micro_usd / 1_000_000).quantize(Decimal("0.01"), ROUND_HALF_UP)


@dataclass(frozen=True, slots=True)
class Limits:
    """What stands between an attacker and the purse: requests of one person in a day, and USD that all may spend in a day."""

    per_person_day: int
    daily_budget_usd: Decimal


def bound_requests(wanted: int, *, people: int, limits: Limits) -> int:
    """How many of the requests wanted in a month these accounts can make."""
    return min(wanted, people * limits.per_person_day * DAYS_IN_MONTH)


def bound_cost(cost_usd: Decimal, limits: Limits) -> Decimal:
    """The most of this cost that a month can bring: each day stops at its budget."""
    return min(cost_usd, DAYS_IN_MONTH * limits.daily_budget_usd)


def taken_evenings(hours: int, *, now: dt.datetime) -> list[OccupiedHour]:
    """So many taken hours: from tomorrow on, each sport from 18 to 22 h, day by day."""
    days = (now.date() + dt.timedelta(days=ahead) for ahead in range(1, hours + 1))
    taken = [OccupiedHour(day, sport, hour, TEAM) for day in days for sport in SPORTS for hour in EVENING]
    return taken[:hours]


def prompt_tokens(variant: str, *, hours: int, now: dt.datetime, text: str = TYPICAL_REQUEST) -> int:
    """Tokens in of one request, at 4 characters each, with so many taken hours in its prompt."""
    messages = render(variant, text=text, now=now, occupied=taken_evenings(hours, now=now))
    return estimate_tokens("".join(message["content"] for message in messages))


def hostile_tokens(*, hours: int, now: dt.datetime) -> int:
    """Tokens in of the longest request that is let through."""
    return prompt_tokens("base", hours=hours, now=now, text="a" * MAX_INPUT_CHARS)
