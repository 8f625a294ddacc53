"""A day of the whole site with marked values in it, for a process of its own: python -m evals.tests.canary_day FOLDER [--all] [--unguarded]

Leaves in FOLDER what pages, reports, exports, mails, webhook and cache said (said.jsonl) and the values made on the way (made.json). Its
log goes to stderr, as the site's does. `--all` meets every fault of a provider, not a few; `--unguarded` takes
the guards of log and error page away.
"""

import argparse
import io
import json
import logging
import threading
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.contrib import admin  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.core import mail  # noqa: E402
from django.core.cache import cache  # noqa: E402
from django.db import OperationalError  # noqa: E402
from django.http import HttpRequest, HttpResponse  # noqa: E402
from django.test import Client  # noqa: E402
from django.urls import path  # noqa: E402
from django.utils import timezone  # noqa: E402

from assistant.llm.absent import production_model  # noqa: E402
from assistant.tests.agent_models import asking_for, playing  # noqa: E402
from assistant.tests.loopback_provider import Answer, Call, LoopbackProvider, Reply  # noqa: E402
from assistant.tests.provider_faults import FAULTS  # noqa: E402
from bookings.models import Booking, Court, Member  # noqa: E402
from evals.tests import canaries  # noqa: E402
from evals.tests.commands import run_command  # noqa: E402
from evals.tests.desk import draft_output, draft_row, make_version  # noqa: E402
from kallpa import logs  # noqa: E402
from kallpa.tokens import create_token  # noqa: E402
from kallpa.urls import urlpatterns as site_urls  # noqa: E402

A_FEW = ("500", "cut JSON", "hang after headers", "redirect")
CASES = 6
logger = logging.getLogger("kallpa.canary_day")


# --- What goes wrong in it ------------------------------------------------------------------------------------------------


def echo(status: int) -> Answer:
    """A provider that quotes key and question in what it answers, and in its headers too."""

    def answer(call: Call) -> Reply:
        key = call.headers.get("authorization", "")
        quoted = {"error": {"message": f"Incorrect API key provided: {key}", "param": call.text}}
        return Reply(status, json.dumps(quoted).encode(), (("Content-Type", "application/json"), ("Retry-After", key), ("X-Request", key)))

    return answer


def ask_for_a_phone(call: Call) -> str:
    """A model that says a telephone number to a person."""
    return json.dumps({"action": "clarify", "question": f"¿Tu celular es {canaries.PHONE}?"})


def in_turn(*answers: Answer) -> Answer:
    return lambda call: answers[(call.number - 1) % len(answers)](call)


def break_down(request: HttpRequest) -> HttpResponse:
    """A bug in a view that holds everything worth hiding, which logs what a person wrote and then that it broke."""
    text, key, member, model = request.POST["text"], settings.LLM_API_KEY, Member.objects.latest("pk"), production_model()
    logger.warning("a team of this name: %s", f"Los Halcones\r\n{canaries.FORGED}")
    try:
        raise LookupError("first")
    except LookupError as error:
        logger.exception("broken in the middle")
        raise RuntimeError(f"{len(text)} {len(key)} {member.pk} {model.kind}") from error


def be_busy(request: HttpRequest) -> HttpResponse:
    raise OperationalError("the database is gone")


class Urls:
    urlpatterns = [*site_urls, path("roto/", break_down), path("ocupado/", be_busy)]


# --- Who hears it ---------------------------------------------------------------------------------------------------------


class Notebook:
    """Everything that the site said, by its place."""

    def __init__(self) -> None:
        self.said: list[canaries.Said] = []

    def note(self, place: str, text: str) -> None:
        self.said.append(canaries.Said(place, text))

    def page(self, place: str, response: Any) -> Any:
        """A page with its headers; cookies are for the browser alone. A spreadsheet is read inside."""
        body = b"".join(response.streaming_content) if response.streaming else response.content
        if body[:4] == b"PK\x03\x04":
            book = zipfile.ZipFile(io.BytesIO(body))
            body = b"\n".join(book.read(name) for name in book.namelist())
        kind = " as JSON" if "json" in response.headers.get("Content-Type", "") else ""
        self.note(f"page {place}{kind}", f"{dict(response.headers)}\n{body.decode(errors='replace')}")
        return response


class Browser:
    """A person's browser, over TLS, whose every page is noted."""

    def __init__(self, notebook: Notebook) -> None:
        self.client = Client(raise_request_exception=False)
        self.notebook = notebook

    def get(self, address: str, **options: Any) -> Any:
        return self.notebook.page(address.partition("?")[0], self.client.get(address, secure=True, **options))

    def post(self, address: str, body: Any, **options: Any) -> Any:
        return self.notebook.page(address.partition("?")[0], self.client.post(address, body, secure=True, **options))

    def session(self) -> str:
        return self.client.cookies[settings.SESSION_COOKIE_NAME].value


@contextmanager
def model_is(answer: Answer, hook: str) -> Iterator[LoopbackProvider]:
    """The site's model, at an address of its own, so that one fault opens no other's circuit."""
    with LoopbackProvider(answer) as provider:
        settings.LLM_BASE_URL, settings.LLM_MODEL = provider.base_url, "gpt-4o-mini"
        settings.OUTBOUND_ALLOWED_HOSTS = [provider.host, hook]
        yield provider


# --- The day --------------------------------------------------------------------------------------------------------------


def spend_day(notebook: Notebook, hook: LoopbackProvider, faults: list[Answer]) -> dict[str, str]:
    """The values that were made on the way."""
    settings.ALERT_WEBHOOK_URL, settings.ALERT_EMAILS = f"http://{hook.host}/{canaries.HOOK}", ["guardia@kallpa.test"]
    logger.debug("the day begins")
    neighbour, desk = Browser(notebook), Browser(notebook)
    User.objects.create_superuser("jefa", "jefa@kallpa.test", canaries.PASSWORD)
    book_and_cancel(neighbour)
    desk.post("/admin/login/?next=/admin/", {"username": "jefa", "password": canaries.PASSWORD})
    token = create_token(name="monitor", scopes=["metrics"], owner=User.objects.get(username="jefa"), days=1, now=timezone.now()).secret
    ask_everybody(neighbour, desk, hook.host, faults)
    run_exam(notebook, hook.host)
    break_everything(neighbour)
    look_at_everything(desk)
    desk.get("/metrics", headers={"Authorization": f"Bearer {token}"})
    return {"an API token": token, "a neighbour's session": neighbour.session(), "the desk's session": desk.session()}


def book_and_cancel(neighbour: Browser) -> None:
    court = Court.objects.create(name="Losa 1", sport="fulbito", price_centimos_per_hour=6000)
    profile = {"name": "Rosa Quispe", "phone": canaries.OWN_PHONE, "team_name": "Los Halcones"}
    account = profile | {"email": "rosa@kallpa.test", "password": canaries.PASSWORD}
    assert neighbour.post("/cuenta/crear/", account | {"password": "corta"}).status_code in (200, 400)
    assert neighbour.post("/cuenta/crear/", account).status_code == 302
    for address in ("/", "/cuenta/datos/", "/mis-reservas/", "/api/v1/courts/", "/api/v1/schema/"):
        assert neighbour.get(address).status_code == 200, address
    tomorrow = timezone.localdate() + timedelta(days=1)
    wanted = {"court": court.pk, "sport": "fulbito", "date": tomorrow.isoformat(), "startHour": 19, "hours": 1, "teamName": "Los Halcones"}
    booked = neighbour.post("/api/v1/bookings/", wanted, content_type="application/json", headers={"Idempotency-Key": "uno"})
    assert booked.status_code == 201
    assert neighbour.post("/api/v1/bookings/", wanted, content_type="application/json").status_code == 409
    neighbour.post(f"/reservas/{Booking.objects.get().pk}/cancelar/", {})
    neighbour.post("/cuenta/clave/", {"email": "rosa@kallpa.test"})
    Browser(neighbour.notebook).post("/cuenta/entrar/", {"username": "rosa@kallpa.test", "password": f"{canaries.PASSWORD}no"})


def ask_everybody(neighbour: Browser, desk: Browser, hook: str, faults: list[Answer]) -> None:
    answers: list[Answer] = [lambda call: draft_output(), ask_for_a_phone]
    for answer in [*answers, playing(asking_for("get_rules"), "Listo."), *faults]:
        with model_is(answer, hook):
            ask_assistant(neighbour, {"Accept": "application/json"})
            ask_assistant(neighbour, {"Accept": "text/html"})
            asked = desk.post("/asistente/equipo/", {"task": canaries.REQUEST.replace("\r\n", " "), "key": str(uuid.uuid4())})
            assert asked.status_code == 302
            desk.get(asked["Location"])
    with model_is(echo(401), hook):
        for _ in range(settings.BREAKER_FAILURES):
            ask_assistant(neighbour, {"Accept": "application/json"})
        desk.get("/admin/")
        desk.get("/readyz")
        done = run_command("canary")
        neighbour.notebook.note("canary", f"{done.out}{done.err}")


def ask_assistant(neighbour: Browser, headers: dict[str, str]) -> None:
    form = "application/x-www-form-urlencoded"
    answer = neighbour.post("/api/v1/assistant/proposals/", urlencode({"text": canaries.REQUEST}), content_type=form, headers=headers)
    assert answer.status_code in (200, 201), answer.content
    if answer.status_code == 201:
        word = {"word": f"no pedí eso, llámame al {canaries.PHONE}"}
        neighbour.post(f"/api/v1/assistant/proposals/{answer.json()['id']}/report/", word, content_type="application/json")


def run_exam(notebook: Notebook, hook: str) -> None:
    text = f"fulbito mañana a las 7 de la noche, {canaries.CASE}"
    slug = make_version([draft_row(f"caso-{number}", input={"text": text}) for number in range(CASES)]).dataset.slug
    files = {name: Path(f"informe.{name}") for name in ("junit", "json", "markdown")}
    with model_is(in_turn(lambda call: draft_output(), echo(400), FAULTS["cut JSON"].answer, lambda call: "hola"), hook):
        options = [word for name, file in files.items() for word in (f"--{name}", str(file))]
        done = run_command("eval_run", slug, "--model", "gpt-4o-mini", *options)
    assert done.code == 3
    notebook.note("report text", done.out)
    notebook.note("stderr of a run", done.err)
    for file in files.values():
        notebook.note(f"report {file}", file.read_text())
    run_command("dataset_export", slug, "casos.jsonl")
    notebook.note("report casos.jsonl", Path("casos.jsonl").read_text())


def break_everything(neighbour: Browser) -> None:
    """404, 403, 400, 413, 500 and 503; what was posted is marked."""
    posted = {"text": canaries.REQUEST, "phone": canaries.PHONE}
    assert neighbour.get("/nada/").status_code == 404
    assert neighbour.post("/roto/", posted).status_code == 500
    assert neighbour.post("/roto/", posted, headers={"Accept": "text/plain"}).status_code == 500
    assert neighbour.post("/ocupado/", posted).status_code == 503
    strict = Browser(neighbour.notebook)
    strict.client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    assert strict.post("/cuenta/entrar/", posted).status_code == 403
    proposals = "/api/v1/assistant/proposals/"
    for body in (f'{{"text": "{canaries.SENTENCE}', "{}", json.dumps({"texto": canaries.REQUEST})):
        answer = neighbour.post(proposals, body, content_type="application/json")
        assert answer.status_code == 400


def look_at_everything(desk: Browser) -> None:
    """Every page of the admin that a name leads to: lists, forms, one row of each with its history; and the exports."""
    for model in admin.site._registry:
        base = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        pages = [base, f"{base}?q=rosa", f"{base}add/"]
        if (row := model._default_manager.order_by("pk").last()) is not None:
            pages += [f"{base}{row.pk}/change/", f"{base}{row.pk}/history/"]
        for page in pages:
            assert desk.get(page).status_code in (200, 302, 403), page
    for kind in ("0", "1"):
        desk.post("/admin/bookings/booking/export/", {"format": kind, "resource": ""})
    for page in ("/admin/", "/admin/assistant/modelcall/gasto/", "/healthz", "/readyz", "/metrics"):
        assert desk.get(page).status_code == 200, page


# --- The process ----------------------------------------------------------------------------------------------------------


def set_up() -> None:
    """Addresses that break, mails and cache of one's own, and nothing that needs files collected or seconds spent on passwords."""
    settings.ROOT_URLCONF, settings.EMAIL_BACKEND = Urls, "django.core.mail.backends.locmem.EmailBackend"
    settings.CACHES = {"default": settings.CACHES["default"] | {"KEY_PREFIX": uuid.uuid4().hex}}
    settings.STORAGES = settings.STORAGES | {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    mail.outbox = []


def take_guards_away() -> None:
    """What log and error page would be without them: any form, any level, headers at DEBUG, every variable."""
    for name in ("httpx", "httpcore.connection", "httpcore.http11"):
        logging.getLogger(name).filters.clear()
    for name in ("httpx", "httpcore", "django.db.backends", "django.template"):
        logging.getLogger(name).setLevel(logging.DEBUG)
    logs.OneLineFormatter.format = logging.Formatter.format  # type: ignore[method-assign]
    settings.DEFAULT_EXCEPTION_REPORTER_FILTER = "django.views.debug.SafeExceptionReporterFilter"


def cached() -> str:
    """Every key and value in the cache, whichever kind it is."""
    if hasattr(cache, "_expire_info"):
        return repr(cache._cache)  # type: ignore[attr-defined]
    store = cache._cache.get_client()  # type: ignore[attr-defined]
    return repr([(key, store.get(key)) for key in store.scan_iter(f"*{settings.CACHES['default']['KEY_PREFIX']}*")])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--unguarded", action="store_true")
    options = parser.parse_args()
    set_up()
    if options.unguarded:
        take_guards_away()
    notebook = Notebook()
    named = () if options.unguarded else FAULTS if options.all else A_FEW
    faults = [echo(401), echo(429), echo(500), echo(200), *(FAULTS[name].answer for name in named)]
    with LoopbackProvider(lambda call: Reply()) as hook:
        made = spend_day(notebook, hook, faults)
        for thread in threading.enumerate():
            if thread.name.startswith("alert-"):
                thread.join(30)
        notebook.note("hook", repr([call.payload for call in hook.calls]))
    notebook.note("mail", "\n".join(letter.message().as_string() for letter in mail.outbox))
    notebook.note("cache", cached())
    (options.folder / "said.jsonl").write_text("".join(json.dumps(said) + "\n" for said in notebook.said))
    (options.folder / "made.json").write_text(json.dumps(made))


if __name__ == "__main__":
    main()
