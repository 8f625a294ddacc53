"""Every fault of a provider × the assistant's API, its form, the staff's agent and a run of the desk: see fault_table.py.

In each cell: the outcome has the cause that the table says and the person a sentence, never a 500; it comes within the call's deadline
and a second; the ledger has one row with the attempts that the server counted and what they may cost; no log tells key, phone or
request; and once the server is mended the same question is asked anew and answered.
"""

import logging
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from assistant.llm import ModelError
from assistant.llm.provider import ProviderModel
from assistant.models import AgentRun, Interaction, ModelCall
from assistant.tests.loopback_provider import Call, LoopbackProvider
from assistant.tests.neighbours import PROPOSALS, stop_clock
from assistant.tests.provider_faults import FAULTS, NO_CONNECTION, Answer
from bookings.models import Member
from evals.models import Result, Run
from evals.tests.commands import run_command
from evals.tests.desk import NOW, draft_output, draft_row, make_version
from evals.tests.fault_table import REFUSAL, TABLE, Row, cut_by_length

pytestmark = pytest.mark.django_db

KEY, PHONE, PROMPT = "canary-key-7c1e", "999 888 777", "canchita canaria"
TEXT = f"{PROMPT} de fulbito mañana a las 7 de la noche, mi celular es {PHONE}"
MODEL = "claude-haiku-4-5"  # 1 USD a million tokens in, 5 out
NOISE_S = 15.0  # what a crowded machine may add to the second that a page has beyond the call's deadline
DOWN_FOR_NEIGHBOURS = "El asistente no está disponible en este momento. El formulario de reserva funciona igual."
DOWN_FOR_STAFF = "El modelo no está disponible en este momento. Vuelve a probar más tarde."
LATE_FOR_STAFF = "Se acabó el tiempo antes de terminar. Vuelve a probar, o pide algo más corto."
LOGGERS = ("", "django", "httpx", "httpcore", "httpcore.connection", "httpcore.http11")


class Seen(NamedTuple):
    """What a person got, and what was kept of it: outcome, cause or reason, and micro-USD."""

    status: int
    page: str
    kept: tuple[str, str]
    cost: int


# --- The server, and who asks ---------------------------------------------------------------------------------------------


class Mendable:
    """An answer that goes wrong until somebody mends the server."""

    def __init__(self, fault: Answer) -> None:
        self.fault, self.mended = fault, False

    def __call__(self, call: Call) -> Any:
        return REFUSAL if self.mended else self.fault(call)


class Broken(NamedTuple):
    """A server with a fault: how to mend it, and the calls that it received (None when nobody was there to count)."""

    mend: Callable[[], None]
    calls: Callable[[], int | None]


@contextmanager
def broken(name: str, settings: Any) -> Iterator[Broken]:
    """The site's model with this fault."""
    settings.LLM_TIMEOUT_S = TABLE[name].timeout_s
    with broken_connection(name, settings) if name in NO_CONNECTION else broken_server(FAULTS[name].answer, settings) as server:
        yield server


@contextmanager
def broken_server(fault: Answer, settings: Any) -> Iterator[Broken]:
    answer = Mendable(fault)
    with LoopbackProvider(answer) as provider:
        point_at(settings, provider.base_url)
        yield Broken(lambda: setattr(answer, "mended", True), lambda: len(provider.calls))


@contextmanager
def broken_connection(name: str, settings: Any) -> Iterator[Broken]:
    open_fault, _ = NO_CONNECTION[name]
    with open_fault() as base_url, LoopbackProvider() as healthy:
        point_at(settings, base_url)
        yield Broken(lambda: point_at(settings, healthy.base_url), lambda: None)


def point_at(settings: Any, base_url: str) -> None:
    settings.LLM_BASE_URL, settings.LLM_MODEL, settings.LLM_API_KEY = base_url, MODEL, KEY
    settings.OUTBOUND_ALLOWED_HOSTS, settings.OUTBOUND_ALLOW_LOOPBACK = [base_url.split("/")[2]], True


class Site:
    """A neighbour and somebody of the staff at their browsers."""

    def __init__(self) -> None:
        rosa, desk = User.objects.create_user("rosa"), User.objects.create_user("recepcion", is_staff=True)
        Member.objects.create(user=rosa, name="Rosa Quispe", phone="987 654 321")
        desk.user_permissions.set(Permission.objects.filter(codename="use_agent"))
        self.neighbour, self.desk = Client(), Client()
        for client, user in ((self.neighbour, rosa), (self.desk, desk)):
            client.raise_request_exception = False  # a crash is the 500 that a person would see
            client.force_login(user)

    def by_api(self) -> Seen:
        answer = self.neighbour.post(PROPOSALS, {"text": TEXT}, content_type="application/json")
        kept = Interaction.objects.latest("pk")
        assert answer.status_code != 201 or (answer.json()["kind"], answer.json()["cause"]) == (kept.kind, kept.cause)
        return Seen(answer.status_code, str(answer.json()), (kept.kind, kept.cause or kept.reason), kept.cost_micro_usd)

    def by_form(self) -> Seen:
        body = urlencode({"text": TEXT, "date": "2026-03-10"})
        form = "application/x-www-form-urlencoded"
        page = self.neighbour.post(PROPOSALS, body, content_type=form, headers={"Accept": "text/html"})
        kept = Interaction.objects.latest("pk")
        return Seen(page.status_code, page.content.decode(), (kept.kind, kept.cause or kept.reason), kept.cost_micro_usd)

    def by_agent(self) -> Seen:
        page = self.desk.post("/asistente/equipo/", {"task": TEXT, "key": str(uuid.uuid4())}, follow=True)
        kept = AgentRun.objects.latest("pk")
        return Seen(page.status_code, page.content.decode(), (kept.stop, kept.cause), kept.cost_micro_usd)


CALLERS: dict[str, Callable[[Site], Seen]] = {"api": Site.by_api, "form": Site.by_form, "agent": Site.by_agent}
STATUS = {"api": 201, "form": 200, "agent": 200}
ANSWERED = {"api": ("refuse", ""), "form": ("refuse", ""), "agent": ("model", "")}


def sentence_for(caller: str, row: Row) -> str:
    if caller != "agent":
        return DOWN_FOR_NEIGHBOURS
    return LATE_FOR_STAFF if row.cause == "timeout" else DOWN_FOR_STAFF


@pytest.fixture
def site(db: None, settings: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Site:
    """On Monday 9 March 2026, with every log at DEBUG; a provider's model takes no time between its attempts."""
    settings.CELERY_BROKER_URL = ""
    stop_clock(monkeypatch, NOW)
    without_pauses(monkeypatch)
    for name in LOGGERS:
        caplog.set_level(logging.DEBUG, logger=name)
    return Site()


def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    defaults = ProviderModel.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "sleep", lambda seconds: None)


# --- People ---------------------------------------------------------------------------------------------------------------


def check_cell(caller: str, name: str, site: Site, settings: Any, *, noise_s: float) -> None:
    """One cell of the matrix, as the head of this file says it."""
    row, ask, before = TABLE[name], CALLERS[caller], ModelCall.objects.count()
    with broken(name, settings) as server:
        started = time.monotonic()
        seen = ask(site)
        elapsed = time.monotonic() - started
        assert (seen.status, seen.kept) == (STATUS[caller], ("unavailable", row.cause))
        assert sentence_for(caller, row) in seen.page
        assert elapsed <= row.timeout_s + 1.0 + noise_s
        assert server.calls() in (None, row.attempts)
        calls = ModelCall.objects.all()[: ModelCall.objects.count() - before]
        check_ledger(row, calls, settings)
        assert seen.cost == calls[0].cost_micro_usd
        server.mend()
        mended = ask(site)
    assert (mended.status, mended.kept) == (STATUS[caller], ANSWERED[caller])
    assert server.calls() in (None, row.attempts + 1)


def check_ledger(row: Row, calls: Any, settings: Any) -> None:
    """One row, with a cost for the attempts that may be charged: each a full question and the longest answer."""
    (call,) = calls
    most = settings.AGENT_MAX_TOKENS if call.purpose == "agent" else settings.LLM_MAX_TOKENS
    assert (call.outcome, call.attempts, call.tokens_measured) == (row.cause, row.attempts, False)
    assert call.output_tokens == row.charged * most
    assert (call.input_tokens > 100) == bool(row.charged)
    assert call.cost_micro_usd == call.input_tokens + 5 * call.output_tokens


def everyday_cells() -> list[tuple[str, str]]:
    """All of the API and the agent; the form, which is the API in HTML, with one fault for each different row."""
    one_of_each = {row: name for name, row in reversed(TABLE.items())}
    return [(caller, name) for caller in ("api", "agent") for name in TABLE] + [("form", name) for name in one_of_each.values()]


@pytest.mark.parametrize(("caller", "name"), everyday_cells())
def test_every_fault_is_a_named_outage_for_everybody(
    caller: str, name: str, site: Site, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    check_cell(caller, name, site, settings, noise_s=NOISE_S)
    assert not any(secret in caplog.text for secret in (KEY, PHONE, PROMPT))
    assert "Traceback" not in caplog.text


@pytest.mark.faults
@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("caller", CALLERS)
def test_ten_times_over_and_within_one_second_of_the_deadline(caller: str, name: str, site: Site, settings: Any) -> None:
    for _ in range(10):
        settings.CACHES = {"default": settings.CACHES["default"] | {"KEY_PREFIX": uuid.uuid4().hex}}  # nobody asked before
        check_cell(caller, name, site, settings, noise_s=0.0)


@pytest.mark.parametrize(("caller", "kept"), [("api", "rejected"), ("form", "rejected"), ("agent", "max-steps")])
def test_an_answer_cut_by_its_length_is_no_outage(caller: str, kept: str, site: Site, settings: Any) -> None:
    with broken_server(cut_by_length, settings) as server:
        seen = CALLERS[caller](site)
        assert server.calls() == (settings.AGENT_MAX_STEPS if caller == "agent" else 1)
    assert (seen.status, seen.kept) == (STATUS[caller], (kept, "" if caller == "agent" else "TRUNCATED"))
    assert set(ModelCall.objects.values_list("outcome", flat=True)) == {"ok"}


# --- A run ----------------------------------------------------------------------------------------------------------------

HEALTHY = 12
GROUPS = {
    "loud": [name for name in TABLE if name in FAULTS and TABLE[name].cause != "timeout"] + ["408"],
    "silent": [name for name in TABLE if name in FAULTS and TABLE[name].cause == "timeout" and name != "408"],
}


class Exam:
    """A server of whose cases each meets its own fault, beside HEALTHY ones that do not."""

    def __init__(self, names: list[str]) -> None:
        self.faults: dict[str, Answer] = {f"pedido {number:03}.": FAULTS[name].answer for number, name in enumerate(names)}
        self.mended = False

    def __call__(self, call: Call) -> Any:
        fault = next((fault for words, fault in self.faults.items() if words in call.text), None)
        return draft_output() if self.mended or fault is None else fault(call)

    def rows(self, names: list[str]) -> list[dict[str, Any]]:
        keys = [f"f-{name}" for name in range(len(names))] + [f"sano-{number}" for number in range(HEALTHY)]
        texts = [f"fulbito mañana a las 7 de la noche, pedido {number:03}." for number in range(len(keys))]
        return [draft_row(key, input={"text": text}) for key, text in zip(keys, texts, strict=True)]


@pytest.fixture
def desk(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every case is asked: an outage does not make the run wait, which test_outage_of_a_run.py is about."""
    settings.CELERY_BROKER_URL = ""
    monkeypatch.setattr("evals.outages.circuit_of", lambda model: None)
    without_pauses(monkeypatch)


def run_exam(group: str, settings: Any, *, repetitions: int) -> None:
    names = GROUPS[group]
    exam, settings.LLM_TIMEOUT_S = Exam(names), TABLE[names[0]].timeout_s
    slug = make_version(exam.rows(names)).dataset.slug
    asked = sum(TABLE[name].attempts for name in names) + HEALTHY
    with LoopbackProvider(exam) as provider:
        point_at(settings, provider.base_url)
        code, out, _ = run_command("eval_run", slug, "--model", MODEL, "--repetitions", str(repetitions))
        run = Run.objects.get()
        assert (code, run.status) == (3, "finished")
        assert f"{HEALTHY * repetitions} de {(len(names) + HEALTHY) * repetitions} medidos" in out
        assert len(provider.calls) == asked * repetitions
        check_results(run, names, repetitions)
        check_run_ledger(run, names, repetitions, settings)
        exam.mended = True
        code, _, _ = run_command("eval_resume", str(run.pk), "--retry-errors")
        assert len(provider.calls) == asked * repetitions + len(names) * repetitions  # nothing was remembered
    assert set(run.results.values_list("status", "outcome_kind")) == {("done", "draft")}
    assert code == 0


def check_results(run: Run, names: list[str], repetitions: int) -> None:
    found = Counter(Result.objects.filter(run=run).values_list("revision__traits__key", "status", "error_cause", "attempts"))
    wrong = {(f"f-{number}", "error", TABLE[name].cause, TABLE[name].attempts): repetitions for number, name in enumerate(names)}
    right = {(f"sano-{number}", "done", "", 1): repetitions for number in range(HEALTHY)}
    assert found == wrong | right


def check_run_ledger(run: Run, names: list[str], repetitions: int, settings: Any) -> None:
    """One row for each case, and together no more and no less than what the attempts may cost."""
    calls = ModelCall.objects.filter(reference=f"run:{run.pk}")
    expected = Counter({("ok", 1): HEALTHY * repetitions})
    expected.update((TABLE[name].cause, TABLE[name].attempts) for name in names for _ in range(repetitions))
    assert Counter(calls.values_list("outcome", "attempts")) == expected
    lost = sum(TABLE[name].charged for name in names) * repetitions
    failed = calls.exclude(outcome="ok")
    assert sum(call.output_tokens for call in failed) == lost * settings.LLM_MAX_TOKENS
    assert sum(call.cost_micro_usd for call in failed) == sum(call.input_tokens + 5 * call.output_tokens for call in failed)


@pytest.mark.parametrize("group", GROUPS)
def test_every_fault_is_an_error_of_its_own_case_in_a_run(group: str, desk: None, settings: Any) -> None:
    run_exam(group, settings, repetitions=1)


@pytest.mark.faults
@pytest.mark.parametrize("group", GROUPS)
def test_ten_repetitions_of_every_fault_in_a_run(group: str, desk: None, settings: Any) -> None:
    run_exam(group, settings, repetitions=10)


@pytest.mark.parametrize("name", NO_CONNECTION)
def test_a_run_without_a_server_has_no_figure(name: str, desk: None, settings: Any) -> None:
    slug = make_version([draft_row("a"), draft_row("b")]).dataset.slug
    with broken(name, settings) as server:
        code, out, _ = run_command("eval_run", slug, "--model", MODEL)
        run = Run.objects.get()
        server.mend()
    assert code == 3
    assert "0 de 2 medidos" in out
    assert Counter(run.results.values_list("status", "error_cause", "attempts")) == {("error", TABLE[name].cause, TABLE[name].attempts): 2}


def test_an_answer_cut_by_its_length_is_measured(desk: None, settings: Any) -> None:
    slug = make_version([draft_row("a")]).dataset.slug
    with broken_server(cut_by_length, settings):
        _, out, _ = run_command("eval_run", slug, "--model", MODEL)
    assert "1 de 1 medidos" in out
    result = Result.objects.get()
    assert result.outcome is not None
    assert (result.status, result.outcome["kind"], result.outcome["reason"]) == ("done", "rejected", "TRUNCATED")


# --- Controls: what the cells would show without the protections; uncaught, an outage is a 500 (test_outages.py) -----------


class NoModelError(Exception):
    """No error of the model is one of these."""


def test_control_without_the_deadline_a_dripping_server_is_read_past_it(site: Site, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kallpa.outbound.Deadline.remaining", lambda self: 3600.0)
    settings.LLM_TIMEOUT_S = 0.2
    started = time.monotonic()
    with broken_server(dripping_for_a_second, settings):
        site.by_api()
    assert time.monotonic() - started >= 1.0


def dripping_for_a_second(call: Call) -> Any:
    def write(wire: Any) -> None:
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n")
        for _ in range(20):
            wire.pause(0.055)
            wire.send(b" ")

    return write


def test_control_a_remembered_error_is_noticed(site: Site, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    complete, remembered = ProviderModel.complete, dict[str, ModelError]()

    def remember(model: ProviderModel, request: Any) -> Any:
        if model.server in remembered:
            raise remembered[model.server]
        try:
            return complete(model, request)
        except ModelError as error:
            remembered[model.server] = error
            raise

    monkeypatch.setattr(ProviderModel, "complete", remember)
    with pytest.raises(AssertionError, match="refuse"):
        check_cell("api", "500", site, settings, noise_s=NOISE_S)


def test_control_without_the_guard_a_crash_of_one_case_is_noticed(desk: None, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evals.runner.ModelError", NoModelError)
    with pytest.raises(AssertionError):
        run_exam("loud", settings, repetitions=1)
    assert set(Result.objects.filter(status="error").values_list("error_cause", flat=True)) == {"crash"}
