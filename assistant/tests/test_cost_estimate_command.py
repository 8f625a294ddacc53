"""`manage.py cost_estimate` shows the course's figures, our prompts, what was measured, and abuse with and without limits."""

import datetime as dt
import re
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from assistant.models import ModelCall, Purpose

pytestmark = pytest.mark.django_db
COURSE = (
    "Estimación de la guía",
    "Con un modelo más pequeño",
    "Con la mitad de instrucciones",
    "Con 40 horas ocupadas",
    "Con diez veces más solicitudes",
    "100,000 de 300 caracteres",
)


def estimate(*words: str) -> str:
    said = StringIO()
    call_command("cost_estimate", *words, stdout=said)
    return said.getvalue()


def amounts(said: str) -> dict[str, str]:
    """USD a month by the label of its line."""
    lines = re.findall(r"^  (.+?)\s{2,}[\d, ]+USD +([\d,.]+)$", said, re.MULTILINE)
    return {re.sub(r" \(.*", "", label): usd for label, usd in lines}


def bought(count: int, *, purpose: str = Purpose.ASSISTANT, days_ago: int = 1, **facts: Any) -> None:
    row = {"model": "m", "input_tokens": 500, "output_tokens": 40, "tokens_measured": True, "outcome": "ok", "attempts": 1} | facts
    moment = timezone.now() - dt.timedelta(days=days_ago)
    ModelCall.objects.bulk_create(
        ModelCall(created_at=moment, purpose=purpose, cost_micro_usd=1, price_known=True, latency_ms=1, **row) for _ in range(count)
    )


def test_it_reproduces_the_course_s_arithmetic() -> None:
    said = amounts(estimate())
    assert [said[label] for label in COURSE] == ["0.96", "0.19", "0.66", "1.94", "9.60", "35.75"]


def test_tariffs_are_arguments_and_said_to_be_examples() -> None:
    said = estimate("--input-usd", "1", "--output-usd", "4", "--requests", "30000")
    assert amounts(said)["Estimación de la guía"] == "19.20"
    assert "30,000 solicitudes al mes, con tarifas de ejemplo (no son de un proveedor):" in said


def test_it_compares_the_month_with_abuse_and_each_limit(settings: Any) -> None:
    settings.ASSISTANT_PER_DAY, settings.LLM_MAX_TOKENS = 100, 200
    settings.ASSISTANT_DAILY_BUDGET_USD = 0.5
    lines = re.findall(r"^  ((?:Mes|Abuso).*?)\s{2,}([\d,]+)\s+USD +([\d,.]+)$", estimate(), re.MULTILINE)
    assert [requests for _, requests, _ in lines] == ["3,000", "100,000", "3,000", "30,000", "30,000", "100,000"]
    typical, unlimited, one, ten, ten_within_budget, within_budget = (float(usd) for _, _, usd in lines)
    assert unlimited > ten > ten_within_budget == within_budget == 30 * 0.5 > one > typical


def test_what_the_provider_counted_stands_beside_it() -> None:
    bought(2)
    bought(1, input_tokens=800, output_tokens=70)
    bought(5, tokens_measured=False, input_tokens=9_000)
    bought(5, days_ago=31, input_tokens=9_000)
    bought(5, purpose=Purpose.TARGET, input_tokens=9_000)
    said = estimate()
    assert "Medido en 3 llamadas de los últimos 30 días: 600 + 50 tokens" in said
    assert amounts(said)["Con lo medido"] == "1.20"


def test_without_measured_calls_it_says_so() -> None:
    assert "Sin llamadas medidas por el proveedor" in estimate()


def test_it_fits_on_a_screen() -> None:
    bought(1)
    assert max(map(len, estimate().splitlines())) <= 100


@pytest.mark.parametrize("words", [("--requests", "0"), ("--input-usd", "gratis"), ("--output-usd", "-1"), ("--attack", "1e9")])
def test_an_argument_that_is_not_understood_is_refused(words: tuple[str, str]) -> None:
    with pytest.raises(CommandError):
        estimate(*words)
