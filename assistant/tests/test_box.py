"""The assistant's box as a browser gets it: the form filled, the question escaped, the words kept, nothing booked."""

import datetime as dt
import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.utils.safestring import mark_safe

from assistant import wording
from assistant.models import Interaction, UserReport
from assistant.tests.loopback_provider import LoopbackProvider
from assistant.tests.neighbours import PROPOSALS, log_in, point_at, stop_clock
from bookings.models import Booking, Court, Member

TEXT = "fulbito mañana\na las 7 de la noche & <b>rápido</b>"
DRAFT = {"sport": "fulbito", "date": "2026-03-10", "startHour": 19, "hours": 2}


@pytest.fixture(autouse=True)
def frozen_clock(monkeypatch: pytest.MonkeyPatch, now: dt.datetime) -> None:
    stop_clock(monkeypatch, now)


class Said:
    """What the model says next."""

    output = json.dumps({"action": "draft", **DRAFT})


@pytest.fixture
def said(settings: Any) -> Iterator[Said]:
    here = Said()
    with LoopbackProvider(lambda call: here.output) as server:
        point_at(settings, server)
        yield here


@pytest.fixture
def rosa(member: Member) -> Client:
    return log_in(member)


def send(client: Client, path: str, **fields: Any) -> Any:
    return client.post(path, urlencode(fields), content_type="application/x-www-form-urlencoded", headers={"Accept": "text/html"})


def ask(client: Client, text: str = TEXT) -> str:
    response = send(client, PROPOSALS, text=text, date="2026-03-12")
    assert (response.status_code, response.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    return str(response.content.decode())


def chosen(page: str) -> dict[str, str]:
    """The values that the booking form holds, hidden ones too."""
    form = page[page.index("data-booking") :]
    selected = re.findall(r'<select name="(\w+)".*?<option value="([^"]*)" selected>', form, re.DOTALL)
    checked = re.findall(r'<input type="radio" name="(\w+)" value="(\w+)"[^>]* checked', form)
    typed = re.findall(r'<input type="(?:hidden|text)" name="(\w+)" value="([^"]*)"', form)
    return {name: unescape(value) for name, value in (*selected, *checked, *typed)}


def test_the_box_is_there_for_a_member_and_invites_others(rosa: Client, court: Court) -> None:
    page = rosa.get("/").content.decode()
    assert f'action="{PROPOSALS}"' in page
    assert 'maxlength="300"' in page
    assert "Máximo 300 caracteres." in page
    anonymous = Client().get("/").content.decode()
    assert f'action="{PROPOSALS}"' not in anonymous
    assert "entra a tu cuenta" in anonymous


def test_a_draft_fills_the_whole_form_and_is_told_in_words(rosa: Client, court: Court, said: Said) -> None:
    page = ask(rosa)
    values = chosen(page)
    values.pop("idempotencyKey")
    values.pop("csrfmiddlewaretoken", None)
    assert values == {
        "proposal": str(Interaction.objects.get().pk),
        "sport": "fulbito",
        "court": str(court.pk),
        "date": "2026-03-10",
        "startHour": "19",
        "hours": "2",
        "teamName": "Las Vicuñas",
    }
    assert "Fulbito, martes 10 de marzo, de 19:00 a 21:00" in page
    assert "todavía no hay nada reservado" in page
    assert not Booking.objects.exists()


def test_the_filled_form_is_the_one_that_books_and_tells_what_became_of_it(rosa: Client, court: Court, said: Said) -> None:
    response = send(rosa, "/api/v1/bookings/", **chosen(ask(rosa)))
    assert (response.status_code, response.headers["Location"]) == (303, "/mis-reservas/")
    interaction = Interaction.objects.get()
    assert (interaction.follow_up, interaction.booking) == ("confirmed", Booking.objects.get())


def test_a_refused_form_keeps_its_proposal_beside_it(rosa: Client, court: Court, said: Said) -> None:
    response = send(rosa, "/api/v1/bookings/", **chosen(ask(rosa)) | {"startHour": "21"})
    page = response.content.decode()
    assert response.status_code == 422
    assert "Fulbito, martes 10 de marzo, de 19:00 a 21:00" in page
    assert chosen(page)["proposal"] == str(Interaction.objects.get().pk)


def test_it_says_when_no_court_is_free_at_that_hour(rosa: Client, court: Court, said: Said) -> None:
    send(rosa, "/api/v1/bookings/", court=court.pk, **DRAFT)
    page = ask(rosa)
    assert wording.NO_COURT in page
    assert chosen(page).get("court", "") == ""


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ('{"action":"clarify","question":"¿De la mañana o de la noche?"}', "¿De la mañana o de la noche?"),
        ('{"action":"refuse"}', "Con eso no te puedo ayudar."),
        ("Listo, ya reservé.", "No te entendí bien y prefiero no adivinar."),
    ],
)
def test_other_answers_keep_the_words_and_the_day(rosa: Client, court: Court, said: Said, output: str, sentence: str) -> None:
    said.output = output
    page = ask(rosa)
    assert sentence in page
    assert "Listo, ya" not in page
    assert "fulbito mañana\na las 7 de la noche &amp; &lt;b&gt;rápido&lt;/b&gt;</textarea>" in page
    assert 'data-date="2026-03-12"' in page
    assert chosen(page).get("proposal", "") == ""


def test_with_htmx_the_same_page_comes_with_the_parts_that_change(rosa: Client, court: Court, said: Said) -> None:
    fields = urlencode({"text": TEXT})
    response = rosa.post(
        PROPOSALS, fields, content_type="application/x-www-form-urlencoded", headers={"HX-Request": "true", "Accept": "*/*"}
    )
    page = response.content.decode()
    assert "Fulbito, martes 10 de marzo, de 19:00 a 21:00" in page
    changing = re.findall(r'hx-(?:target|select|select-oob)="([^"]+)"', page[page.index("hx-post") : page.index("hx-sync")])
    assert changing == ["#asistente", "#asistente", "#reservar,#dia"]
    assert [page.count(f'id="{name}"') for name in ("asistente", "reservar", "dia")] == [1, 1, 1]


def test_without_a_model_it_says_so_and_the_form_is_there(rosa: Client, court: Court) -> None:
    page = ask(rosa)
    assert "El asistente no está disponible en este momento. El formulario de reserva funciona igual." in page
    assert "data-booking" in page


def test_over_the_limit_the_words_are_kept_and_it_says_when_to_come_back(rosa: Client, court: Court, said: Said, settings: Any) -> None:
    settings.ASSISTANT_PER_MINUTE = 1
    ask(rosa)
    response = send(rosa, PROPOSALS, text="vóley el sábado")
    assert (response.status_code, response.headers["Retry-After"]) == (429, "60")
    page = response.content.decode()
    assert "Vuelve a probar en 1 minuto." in page
    assert "vóley el sábado</textarea>" in page


def test_a_session_that_ended_leads_to_the_login(member: Member) -> None:
    response = send(Client(), PROPOSALS, text=TEXT)
    assert (response.status_code, response.headers["Location"]) == (303, "/cuenta/entrar/?next=/")


def test_discarding_goes_back_to_the_day(rosa: Client, court: Court, said: Said) -> None:
    ask(rosa)
    interaction = Interaction.objects.get()
    response = send(rosa, f"{PROPOSALS}{interaction.pk}/discard/", date="2026-03-12")
    assert (response.status_code, response.headers["Location"]) == (303, "/?fecha=2026-03-12")
    page = rosa.get(response.headers["Location"]).content.decode()
    assert "Descartaste la propuesta." in page
    assert chosen(page).get("proposal", "") == ""
    interaction.refresh_from_db()
    assert interaction.follow_up == "discarded"


def test_this_is_not_what_i_asked_keeps_a_word(rosa: Client, court: Court, said: Said) -> None:
    assert "Esto no es lo que pedí" in ask(rosa)
    interaction = Interaction.objects.get()
    for expected in ("Gracias por avisar.", "Ya nos avisaste"):
        response = send(rosa, f"{PROPOSALS}{interaction.pk}/report/", word="era <i>vóley</i>", date="sin fecha")
        assert response.headers["Location"] == "/?fecha=2026-03-09"
        assert expected in rosa.get(response.headers["Location"]).content.decode()
    assert UserReport.objects.get().word == "era <i>vóley</i>"


def test_without_an_answer_there_is_nothing_to_report(rosa: Client, member: Member, now: dt.datetime, court: Court) -> None:
    down = Interaction.objects.create(member=member, created_at=now, kind="unavailable", cause="timeout", masked_text=TEXT)
    page = send(rosa, "/api/v1/bookings/", proposal=down.pk, court=court.pk).content.decode()
    assert "El asistente no está disponible" in page
    assert "Esto no es lo que pedí" not in page


# --- The question is text ------------------------------------------------------------------------------------------------

HOSTILE = "<img src=x onerror=alert(1)>\"'&lt;"


def shown_question(rosa: Client, member: Member, now: dt.datetime, court: Court) -> str:
    """The page that shows a question which got past every check, beside a form that was refused."""
    kept = Interaction.objects.create(member=member, created_at=now, kind="clarify", question=HOSTILE, masked_text=HOSTILE)
    return str(send(rosa, "/api/v1/bookings/", proposal=kept.pk, court=court.pk).content.decode())


def test_a_hostile_question_is_shown_as_text(rosa: Client, member: Member, now: dt.datetime, court: Court) -> None:
    page = shown_question(rosa, member, now, court)
    assert page.count("&lt;img src=x onerror=alert(1)&gt;&quot;&#x27;&amp;lt;") == 2
    assert "<img" not in page


def test_control_marked_as_safe_the_question_would_be_markup(
    rosa: Client, member: Member, now: dt.datetime, court: Court, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Interaction, "question", property(lambda self: mark_safe(HOSTILE), lambda self, value: None))  # noqa: S308
    assert "<img src=x onerror=alert(1)>" in shown_question(rosa, member, now, court)


def test_a_model_that_asks_with_markup_is_rejected_and_not_shown(rosa: Client, court: Court, said: Said) -> None:
    said.output = json.dumps({"action": "clarify", "question": HOSTILE})
    page = ask(rosa)
    assert "onerror" not in page
    assert Interaction.objects.get().reason == "UNSAFE_QUESTION"


def test_the_box_needs_no_inline_script_or_style(rosa: Client, court: Court, said: Said) -> None:
    page = ask(rosa)
    assert re.findall(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)[^>]*>", page) == []
    assert re.findall(r"\son\w+=|\sstyle=", page[page.index('id="asistente"') : page.index("data-booking")]) == []
