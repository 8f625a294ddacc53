"""Debian's Chromium before the whole site, on Monday 9 March 2026 at 10:00 in Lima. Whatever the browser complains of fails the test."""

import datetime as dt
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from assistant.tests.browser.watching import Watch
from assistant.tests.loopback_provider import Call, LoopbackProvider, Reply, json_reply
from assistant.tests.neighbours import point_at, stop_clock
from bookings.models import Court

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
]
PATIENCE_MS = 20_000
QUESTION = "¿A qué hora quieres jugar?"
ANSWERS: dict[str, str | Reply] = {
    "el sábado a las 5": json.dumps({"action": "draft", "sport": "fulbito", "date": "2026-03-14", "startHour": 17, "hours": 1}),
    "algún día": json.dumps({"action": "clarify", "question": QUESTION}),
    "una pizza": '{"action":"refuse"}',
    "algo confuso": "Claro, ¡con gusto!",
    "sin servicio": json_reply({"error": {"message": "no"}}, 401),
}


def answer_by_text(call: Call) -> str | Reply:
    """The scripted model: the first answer whose words are in the request."""
    return next((answer for words, answer in ANSWERS.items() if words in call.text), '{"action":"refuse"}')


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """One browser for all these tests; ended with them, for its event loop would meet the other tests of this process."""
    if not CHROMIUM.exists():
        pytest.skip(f"Chromium is not installed at {CHROMIUM}: apt-get install chromium")
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")  # the event loop is the browser's; the rows are read by this thread alone
        expect.set_options(timeout=PATIENCE_MS)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def provider() -> Iterator[LoopbackProvider]:
    with LoopbackProvider(answer_by_text) as server:
        yield server


@pytest.fixture
def courts(transactional_db: None) -> list[Court]:
    rows = [("Fulbito 1", "fulbito", 6050), ("Fulbito 2", "fulbito", 6050), ("Vóley 1", "voley", 4500)]
    return [Court.objects.create(name=name, sport=sport, price_centimos_per_hour=price) for name, sport, price in rows]


@pytest.fixture
def home(
    live_server: Any, courts: list[Court], provider: LoopbackProvider, settings: Any, monkeypatch: pytest.MonkeyPatch, now: dt.datetime
) -> str:
    """The address of a site with courts and a scripted model."""
    point_at(settings, provider)
    stop_clock(monkeypatch, now)
    return str(live_server.url)


@pytest.fixture
def watch(home: str) -> Iterator[Watch]:
    watching = Watch(urlsplit(home).netloc)
    yield watching
    assert (watching.complaints, watching.dialogs, watching.trapped) == ([], [], [])


@pytest.fixture
def open_browser(chromium: Browser, home: str, watch: Watch) -> Iterator[Callable[..., BrowserContext]]:
    """Opens a browser of one's own, with Playwright's options for a context."""
    opened: list[BrowserContext] = []

    def open_one(**options: Any) -> BrowserContext:
        context = chromium.new_context(base_url=home, locale="es-PE", **options)
        context.set_default_timeout(PATIENCE_MS)
        watch.listen(context)
        opened.append(context)
        return context

    yield open_one
    for context in opened:
        context.close()


@pytest.fixture
def page(open_browser: Callable[..., BrowserContext]) -> Page:
    return open_browser().new_page()
