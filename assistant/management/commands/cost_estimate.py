"""`manage.py cost_estimate`: what the assistant costs in a month, typical and attacked, with and without our limits."""

import datetime as dt
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import DatabaseError

from assistant.estimate import (
    Limits,
    Load,
    Tariff,
    bound_cost,
    bound_requests,
    hostile_tokens,
    prompt_tokens,
)
from assistant.llm import estimate_tokens
from assistant.pipeline import MAX_INPUT_CHARS
from assistant.prompts import VARIANTS
from assistant.spending import Average, measured_average
from bookings.clock import now_in_lima

TYPICAL_IN, TYPICAL_OUT = 400, 60
IN_WITH_40_HOURS = 1_054  # the prompt of the course, which names a team beside each hour
LEDGER_DAYS = 30
HOURS = (0, 40)


class Line(NamedTuple):
    """One line of the table: what it is, and what is asked."""

    label: str
    load: Load
    tariff: Tariff


class Command(BaseCommand):
    help = (
        "Calcula lo que cuesta el asistente en un mes, con tarifas de ejemplo que no son de ningún proveedor: las cuentas del curso, "
        "nuestros prompts, y el mes típico frente al abuso, con los límites y sin ellos."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--requests", type=_read_count, default=3_000, metavar="N", help="solicitudes al mes (3000)")
        parser.add_argument("--input-usd", type=_read_usd, default=Decimal("0.50"), metavar="USD", help="por millón de tokens de entrada")
        parser.add_argument("--output-usd", type=_read_usd, default=Decimal("2.00"), metavar="USD", help="por millón de tokens de salida")
        parser.add_argument("--small-input-usd", type=_read_usd, default=Decimal("0.10"), metavar="USD", help="de un modelo más pequeño")
        parser.add_argument("--small-output-usd", type=_read_usd, default=Decimal("0.40"), metavar="USD", help="de un modelo más pequeño")
        parser.add_argument("--attack", type=_read_count, default=100_000, metavar="N", help="solicitudes del abuso en un mes (100000)")
        parser.add_argument("--accounts", type=_read_count, default=10, metavar="N", help="cuentas que abusan (10)")

    def handle(self, *args: Any, **options: Any) -> None:
        tariff, small = (Tariff(options[f"{prefix}input_usd"], options[f"{prefix}output_usd"]) for prefix in ("", "small_"))
        now, requests = now_in_lima(), options["requests"]
        self._say(f"{requests:,} solicitudes al mes, con tarifas de ejemplo (no son de un proveedor):")
        self._say(f"USD {tariff.input_usd} por millón de tokens de entrada y USD {tariff.output_usd} de salida;")
        self._say(f"un modelo más pequeño, USD {small.input_usd} y USD {small.output_usd}.", "")
        self._table("Las cuentas del curso", course_lines(requests, tariff, small, options["attack"]))
        self._table("Nuestros prompts, a 4 caracteres por token", prompt_lines(requests, tariff, now))
        self._say(*_say_measured(requests, tariff, now))
        self._compare(options, tariff, now)

    def _say(self, *lines: str) -> None:
        for line in lines:
            self.stdout.write(line)

    def _table(self, title: str, lines: Iterator[Line]) -> None:
        self._say(f"{title:<46}{'entrada':>16}{'salida':>14}{'al mes':>18}")
        for label, load, tariff in lines:
            self._say(f"  {label:<44}{load.input_tokens:>16,}{load.output_tokens:>14,}{_usd(load.cost_usd(tariff)):>18}")
        self._say("")

    def _compare(self, options: dict[str, Any], tariff: Tariff, now: dt.datetime) -> None:
        """Typical month and abuse, and what each limit leaves of the abuse."""
        limits = Limits(settings.ASSISTANT_PER_DAY, settings.ASSISTANT_DAILY_BUDGET_USD)
        self._say(f"{'Mes típico y abuso (40 horas ocupadas)':<62}{'solicitudes':>14}{'al mes':>18}")
        for label, requests, cost in compare(options, tariff, limits, now):
            self._say(f"  {label:<60}{requests:>14,}{_usd(cost):>18}")
        self._say(
            "",
            f"El abuso son pedidos de {MAX_INPUT_CHARS} caracteres con respuestas del largo máximo ({settings.LLM_MAX_TOKENS} tokens).",
            f"Límites: {limits.per_person_day} pedidos por persona y día, USD {limits.daily_budget_usd:.2f} por día entre todos.",
        )


def course_lines(requests: int, tariff: Tariff, small: Tariff, attack: int) -> Iterator[Line]:
    """The arithmetic of the course."""
    hostile = TYPICAL_IN + estimate_tokens("a" * MAX_INPUT_CHARS)
    typical = Load(requests, TYPICAL_IN, TYPICAL_OUT)
    yield Line("Estimación de la guía (400 + 60)", typical, tariff)
    yield Line("Con un modelo más pequeño", typical, small)
    yield Line("Con la mitad de instrucciones (200 + 60)", Load(requests, TYPICAL_IN // 2, TYPICAL_OUT), tariff)
    yield Line("Con 40 horas ocupadas (1,054 + 60)", Load(requests, IN_WITH_40_HOURS, TYPICAL_OUT), tariff)
    yield Line("Con diez veces más solicitudes", Load(10 * requests, TYPICAL_IN, TYPICAL_OUT), tariff)
    yield Line(f"{attack:,} de {MAX_INPUT_CHARS} caracteres ({hostile} + 60)", Load(attack, hostile, TYPICAL_OUT), tariff)


def prompt_lines(requests: int, tariff: Tariff, now: dt.datetime) -> Iterator[Line]:
    """Our prompts as they are rendered today, with and without team names."""
    for variant in VARIANTS:
        for hours in HOURS:
            tokens = prompt_tokens(variant, hours=hours, now=now)
            yield Line(f"{variant}, {hours} horas ocupadas ({tokens:,} + 60)", Load(requests, tokens, TYPICAL_OUT), tariff)


def compare(options: dict[str, Any], tariff: Tariff, limits: Limits, now: dt.datetime) -> Iterator[tuple[str, int, Decimal]]:
    """Label, requests and USD of the typical month, the abuse, and the abuse that each limit lets through."""
    typical = Load(options["requests"], prompt_tokens("base", hours=40, now=now), TYPICAL_OUT)
    yield "Mes típico", typical.requests, typical.cost_usd(tariff)
    attack, accounts = options["attack"], options["accounts"]
    for label, people, budgeted in (
        ("Abuso sin límites", None, False),
        ("Abuso de una cuenta, con el límite por persona", 1, False),
        (f"Abuso de {accounts:,} cuentas, con el límite por persona", accounts, False),
        (f"Abuso de {accounts:,} cuentas, con los dos límites", accounts, True),
        ("Abuso sin límite por persona, con el tope diario", None, True),
    ):
        made = attack if people is None else bound_requests(attack, people=people, limits=limits)
        cost = Load(made, hostile_tokens(hours=40, now=now), settings.LLM_MAX_TOKENS).cost_usd(tariff)
        yield label, made, bound_cost(cost, limits) if budgeted else cost


def _say_measured(requests: int, tariff: Tariff, now: dt.datetime) -> list[str]:
    """What the provider counted, when it has counted anything and there is a database to ask."""
    measured = _measured(now)
    if measured is None:
        return [f"Sin llamadas medidas por el proveedor en los últimos {LEDGER_DAYS} días.", ""]
    load = Load(requests, measured.input_tokens, measured.output_tokens)
    head = f"Medido en {measured.calls:,} llamadas de los últimos {LEDGER_DAYS} días: {load.input_each:,} + {load.output_each:,} tokens"
    return [head, f"  {'Con lo medido':<44}{load.input_tokens:>16,}{load.output_tokens:>14,}{_usd(load.cost_usd(tariff)):>18}", ""]


def _measured(now: dt.datetime) -> Average | None:
    try:
        return measured_average(since=now - dt.timedelta(days=LEDGER_DAYS))
    except DatabaseError:  # the arithmetic needs no database that is set up
        return None


def _usd(amount: Decimal) -> str:
    return f"USD {amount:>9,.2f}"


def _read_count(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= 10**9:
        raise ArgumentTypeError(f"{text!r} no es un número entero entre 1 y mil millones")
    return int(text)


def _read_usd(text: str) -> Decimal:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not (amount.is_finite() and 0 <= amount <= 10_000):
        raise ArgumentTypeError(f"{text!r} no es un monto en USD entre 0 y 10000")
    return amount
