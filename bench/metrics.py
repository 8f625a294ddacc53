"""/metrics over a ledger of 100,000 calls, in one process through Django's test client."""

import datetime as dt
import random
import time

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402 -- models exist once Django is set up
from django.test import Client  # noqa: E402
from django.test.utils import setup_test_environment  # noqa: E402

from assistant.models import Interaction, Kind, ModelCall, Purpose  # noqa: E402
from bench.pages import get, measure, show  # noqa: E402
from bookings.clock import now_in_lima  # noqa: E402

CALLS, READS, BATCH = 100_000, 20, 5_000
OUTCOMES = ("ok",) * 16 + ("timeout", "rate-limited", "server-error", "bad-response")


def fill_ledger(now: dt.datetime) -> None:
    """Calls of two models for four purposes over a quarter, one in five without an answer, and as many uses of the assistant."""
    chance = random.Random(4)
    for _ in range(CALLS // BATCH):
        moments = [now - dt.timedelta(minutes=chance.randrange(90 * 24 * 60)) for _ in range(BATCH)]
        ModelCall.objects.bulk_create(make_call(chance, moment) for moment in moments)
        Interaction.objects.bulk_create(Interaction(created_at=moment, kind=Kind.REFUSE, prompt_hash="0" * 64) for moment in moments)


def make_call(chance: random.Random, moment: dt.datetime) -> ModelCall:
    outcome = chance.choice(OUTCOMES)
    return ModelCall(
        created_at=moment,
        purpose=chance.choice((Purpose.ASSISTANT, Purpose.TARGET, Purpose.AGENT, Purpose.CANARY)),
        model=chance.choice(("gpt-4o-mini", "qwen2.5-7b-instruct")),
        server="models.example",
        input_tokens=1_054,
        output_tokens=60,
        tokens_measured=outcome == "ok",
        cost_micro_usd=194,
        price_known=True,
        latency_ms=chance.randrange(100, 8_000),
        attempts=1,
        outcome=outcome,
    )


def main() -> None:
    setup_test_environment(debug=False)
    fill_ledger(now_in_lima())
    browser = Client()
    browser.force_login(User.objects.create_superuser("banco-metricas"))
    started = time.perf_counter()
    browser.get("/metrics")
    print(f"GET /metrics, {CALLS:,} calls, nothing in the cache: {(time.perf_counter() - started) * 1000:.0f} ms", flush=True)
    show(f"GET /metrics, {CALLS:,} calls in the ledger", measure(get(browser, "/metrics"), READS), median_ms=300)


if __name__ == "__main__":
    main()
