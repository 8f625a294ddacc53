"""Staff who may see money read what was spent, on what, and how well that is known; the ledger's rows are read only."""

import datetime as dt
import re
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assistant.models import ModelCall
from bookings.clock import LIMA

pytestmark = pytest.mark.django_db
PAGE, LIST = "/admin/assistant/modelcall/gasto/", "/admin/assistant/modelcall/"
TODAY = dt.datetime(2026, 3, 9, 10, 0, tzinfo=LIMA)
DAY = dt.timedelta(days=1)


@pytest.fixture(autouse=True)
def stopped_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assistant.ledger_admin.now_in_lima", lambda: TODAY)


@pytest.fixture
def desk(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("jefa"))
    return client


def call(at: dt.datetime = TODAY, **facts: Any) -> ModelCall:
    """A call of the assistant that cost 1,000 micro-USD, with changes."""
    usual = {"purpose": "assistant", "model": "gpt-4o-mini", "outcome": "ok", "attempts": 1, "tokens_measured": True, "price_known": True}
    counts = {"input_tokens": 500, "output_tokens": 50, "cost_micro_usd": 1_000, "latency_ms": 900}
    return ModelCall(created_at=at, **(usual | counts | facts))


def seen(client: Client, query: str = "") -> str:
    """The text of the page, its white space as one."""
    response = client.get(PAGE + query)
    assert response.status_code == 200
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


# --- The sums ------------------------------------------------------------------------------------------------------------


def test_it_adds_up_by_use_model_and_day(desk: Client) -> None:
    ModelCall.objects.bulk_create(
        [
            call(),
            call(TODAY - DAY),
            call(purpose="agent", cost_micro_usd=500_000),
            call(purpose="target", model="nadie-sabe", cost_micro_usd=2_000_000, price_known=False),
        ]
    )
    text = seen(desk)
    assert "USD 2.50 del 08/02/2026 al 09/03/2026" in text
    assert (
        "Evaluación precio desconocido USD 2.00 1 500 50 Agente del personal USD 0.5000 1 500 50 Asistente USD 0.002000 2 1,000 100" in text
    )
    assert "nadie-sabe precio desconocido USD 2.00 1 500 50 gpt-4o-mini USD 0.5020 3 1,500 150" in text
    assert "lun 09/03/2026 USD 2.50 3 1,500 150 dom 08/03/2026 USD 0.001000 1 500 50" in text


def test_it_says_how_well_the_cost_is_known(desk: Client) -> None:
    lost = call(outcome="timeout", tokens_measured=False, price_known=False, cost_micro_usd=3_000)
    ModelCall.objects.bulk_create([call(), call(), call(), lost])
    text = seen(desk)
    assert "4 llamadas, 3 respondidas." in text
    assert "Tokens contados por el proveedor en 3 de 4 llamadas (75 %); estimados en 1 de 4 llamadas (25 %)." in text
    assert "en 1 de 4 llamadas (25 %): USD 0.003000 de USD 0.006000." in text


def test_days_are_lima_s_and_both_ends_count(desk: Client) -> None:
    last_minute, midnight = TODAY.replace(hour=23, minute=59), TODAY.replace(hour=0, minute=0)
    ModelCall.objects.bulk_create([call(last_minute.astimezone(dt.UTC)), call(midnight), call(midnight - dt.timedelta(seconds=1))])
    assert "USD 0.002000 del 09/03/2026 al 09/03/2026" in seen(desk, "?desde=2026-03-09&hasta=2026-03-09")
    assert "USD 0.001000 del 08/03/2026 al 08/03/2026" in seen(desk, "?desde=2026-03-08&hasta=2026-03-08")


def test_a_month_is_thirty_days_like_those_that_have_passed(desk: Client) -> None:
    ModelCall.objects.bulk_create([call(TODAY - days * DAY, cost_micro_usd=1_000_000) for days in range(3)])
    text = seen(desk, "?desde=2026-03-07&hasta=2026-03-31")  # three days of them have passed
    assert "A este paso, un mes de 30 días cuesta USD 30.00." in text


def test_the_estimate_stands_beside_what_was_measured(desk: Client) -> None:
    ModelCall.objects.bulk_create([call(), call(cost_micro_usd=3_000, input_tokens=700), call(purpose="target", cost_micro_usd=90_000)])
    text = seen(desk)
    line = re.search(r"gpt-4o-mini USD 2\.00 USD ([\d.]+) USD 0\.004000 2 600 \+ 50 (\d+) \+ 60", text)
    assert line
    usd, tokens = float(line[1]), int(line[2])
    assert 380 < tokens < 450
    assert usd == pytest.approx(1_000 * (tokens * 0.15 + 60 * 0.60) / 1_000_000, abs=0.001)


def test_what_nobody_counted_is_not_measured(desk: Client) -> None:
    """Calls without an answer cost little or a guess, and would make a request look cheap or dear."""
    refused = call(outcome="unreachable", tokens_measured=False, input_tokens=0, output_tokens=0, cost_micro_usd=0)
    lost = call(outcome="timeout", tokens_measured=False, input_tokens=9_000, output_tokens=200, cost_micro_usd=7_000)
    other = call(model="gpt-4o", outcome="unreachable", tokens_measured=False, input_tokens=0, output_tokens=0, cost_micro_usd=0)
    ModelCall.objects.bulk_create([call(), refused, lost, other])
    text = seen(desk)
    assert re.search(r"gpt-4o-mini USD 1\.00 USD [\d.]+ USD 0\.008000 1 500 \+ 50 \d+ \+ 60", text)
    assert re.search(r"gpt-4o – USD [\d.]+ USD 0\.00 0 – \d+ \+ 60", text)


@pytest.mark.parametrize(
    "query",
    [
        "desde=2026-03-09&hasta=2026-03-01",
        "desde=2020-01-01&hasta=2026-03-09",
        "desde=0001-01-01&hasta=0001-01-02",
        "desde=9999-12-31&hasta=9999-12-31",
    ],
)
def test_days_that_make_no_sense_are_said_and_the_last_thirty_shown(desk: Client, query: str) -> None:
    text = seen(desk, f"?{query}")
    assert "«Desde» va antes que «Hasta», y entre los dos caben hasta 366 días." in text
    assert "del 08/02/2026 al 09/03/2026" in text


@pytest.mark.parametrize(
    "query", ["?desde=ayer", "?desde=2026-02-30", "?hasta=%00", "?desde=0001-01-01&hasta=9999-12-31", "?formato=csv&desde=x"]
)
def test_dates_that_are_none_break_nothing(desk: Client, query: str) -> None:
    assert "del 08/02/2026 al 09/03/2026" in seen(desk, query)


def test_without_calls_it_says_so(desk: Client) -> None:
    assert "En esos días no se llamó a ningún proveedor." in seen(desk)


def test_it_is_a_spreadsheet_too_and_nothing_in_it_runs(desk: Client) -> None:
    ModelCall.objects.bulk_create([call(), call(model='=HYPERLINK("http://x","ver")', cost_micro_usd=1)])
    response = desk.get(PAGE + "?formato=csv&desde=2026-03-01&hasta=2026-03-09")
    assert response["Content-Disposition"] == 'attachment; filename="gasto-2026-03-01-2026-03-09.csv"'
    lines = response.content.decode("utf-8-sig").splitlines()
    assert lines[0] == "día,para qué,modelo,llamadas,respondidas,tokens medidos,precio desconocido,entrada,salida,USD"
    assert lines[2] == "2026-03-09,Asistente,gpt-4o-mini,1,1,1,0,500,50,0.001000"
    assert "\"'=HYPERLINK(" in lines[1]


def test_a_model_s_name_stays_text(desk: Client) -> None:
    call(model="<img src=x onerror=alert(1)>").save()
    assert "<img src=x" not in desk.get(PAGE).content.decode()


# --- Who may, and how much it asks the database ---------------------------------------------------------------------------


def test_staff_without_the_permission_are_refused(client: Client) -> None:
    client.force_login(User.objects.create_user("alguien", is_staff=True))
    assert [client.get(url).status_code for url in (PAGE, PAGE + "?formato=csv", LIST)] == [403] * 3
    assert PAGE not in client.get("/admin/").content.decode()


def test_the_permission_opens_it_and_the_index_leads_there(client: Client) -> None:
    user = User.objects.create_user("alguien", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_modelcall"))
    client.force_login(user)
    assert [client.get(url).status_code for url in (PAGE, PAGE + "?formato=csv", LIST)] == [200] * 3
    assert PAGE in client.get("/admin/").content.decode()


def test_a_neighbour_is_sent_to_the_login(client: Client) -> None:
    client.force_login(User.objects.create_user("vecina"))
    assert client.get(PAGE).status_code == 302


def test_the_pages_take_as_many_queries_for_two_thousand_calls_as_for_twenty(desk: Client) -> None:
    counted = []
    for count in (20, 2_000):
        ModelCall.objects.bulk_create(call(TODAY - number % 30 * DAY, model=f"m{number % 20}") for number in range(count))
        asked = []
        for url in (PAGE, PAGE + "?formato=csv", LIST, f"{LIST}{ModelCall.objects.earliest('pk').pk}/change/"):
            desk.get(url)  # what Django looks up once and remembers
            with CaptureQueriesContext(connection) as captured:
                assert desk.get(url).status_code == 200
            asked.append(len(captured))
        counted.append(asked)
    assert counted[0] == counted[1]
    assert max(counted[1]) <= 15


def test_nobody_adds_changes_or_deletes(desk: Client) -> None:
    call().save()
    kept = ModelCall.objects.get()
    assert desk.get(f"{LIST}add/").status_code == 403
    assert desk.post(f"{LIST}{kept.pk}/change/", {"cost_micro_usd": "0"}).status_code == 403
    assert desk.post(f"{LIST}{kept.pk}/delete/", {"post": "yes"}).status_code == 403
    desk.post(LIST, {"action": "delete_selected", "_selected_action": [kept.pk], "post": "yes"})
    assert ModelCall.objects.get().cost_micro_usd == 1_000


@pytest.mark.parametrize("query", ["", "?purpose__exact=agent", "?price_known__exact=0", "?q=run:12", "?outcome=timeout"])
def test_the_list_answers_each_filter(desk: Client, query: str) -> None:
    ModelCall.objects.bulk_create([call(), call(reference="run:12", price_known=False)])
    page = desk.get(LIST + query)
    assert page.status_code == 200
    assert ("USD 0.001000 *" in page.content.decode()) == (query in ("", "?price_known__exact=0", "?q=run:12"))
