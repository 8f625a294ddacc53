"""The assistant's endpoint, for programs: a proposal or a reason, and nothing booked."""

import datetime as dt
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import yaml
from django.core.management import call_command
from django.test import Client

from assistant.models import Interaction, UserReport
from assistant.tests.loopback_provider import Call, LoopbackProvider
from assistant.tests.neighbours import BOOKINGS, PROPOSALS, log_in, point_at, stop_clock
from bookings.models import Booking, Court, Member

TEXT = "fulbito mañana a las 7 de la noche"
DRAFT = {"sport": "fulbito", "date": "2026-03-10", "startHour": 19, "hours": 1}
DRAFTED = json.dumps({"action": "draft", **DRAFT})
SAID: dict[str, str] = {
    "draft": DRAFTED,
    "clarify": '{"action":"clarify","question":"¿De la mañana o de la noche?"}',
    "refuse": '{"action":"refuse"}',
    "rejected": "Claro, ya reservé.",
}


@pytest.fixture(autouse=True)
def frozen_clock(monkeypatch: pytest.MonkeyPatch, now: dt.datetime) -> None:
    stop_clock(monkeypatch, now)


@pytest.fixture
def provider() -> Iterator[LoopbackProvider]:
    """A model that says what the request's last word names in SAID, and a draft to anything else."""

    def answer(call: Call) -> str:
        word = call.text.partition("<pedido>\n")[2].partition("\n")[0].split()[-1]
        return SAID.get(word, DRAFTED)

    with LoopbackProvider(answer) as server:
        yield server


@pytest.fixture
def site(settings: Any, provider: LoopbackProvider) -> None:
    point_at(settings, provider)


@pytest.fixture
def rosa(member: Member) -> Client:
    return log_in(member)


def ask(client: Client, text: Any = TEXT, **headers: str) -> Any:
    return client.post(PROPOSALS, {"text": text}, content_type="application/json", headers=headers)


def propose(client: Client) -> int:
    return int(ask(client).json()["id"])


@pytest.mark.usefixtures("site")
def test_a_draft_comes_whole_in_words_and_with_a_free_court(rosa: Client, court: Court) -> None:
    response = ask(rosa)
    interaction = Interaction.objects.get()
    assert response.status_code == 201
    assert response.json() == {
        "id": interaction.pk,
        "kind": "draft",
        "draft": DRAFT,
        "court": court.pk,
        "words": "Fulbito, martes 10 de marzo, de 19:00 a 20:00",
        "question": "",
        "reason": "",
        "cause": "",
        "message": "Llené el formulario con esto. Revísalo y confirma: todavía no hay nada reservado.",
        "followUp": "none",
        "createdAt": "2026-03-09T10:00:00-05:00",
    }
    assert not Booking.objects.exists()


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    ("word", "reason", "question", "message"),
    [
        ("clarify", "", "¿De la mañana o de la noche?", "Me falta un dato."),
        ("refuse", "", "", "Con eso no te puedo ayudar."),
        ("rejected", "NOT_JSON", "", "No te entendí bien"),
    ],
)
def test_each_other_answer_says_what_to_do(rosa: Client, word: str, reason: str, question: str, message: str) -> None:
    said = ask(rosa, f"algo así: {word}").json()
    assert (said["kind"], said["reason"], said["cause"], said["question"]) == (word, reason, "", question)
    assert (said["draft"], said["court"], said["words"]) == (None, None, "")
    assert said["message"].startswith(message)


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    ("text", "reason", "message"),
    [
        ("", "INPUT_BLANK", "Escribe qué quieres reservar."),
        (" \n ", "INPUT_BLANK", "Escribe qué quieres reservar."),
        ("a" * 301, "INPUT_TOO_LONG", "Tu pedido pasa de 300 caracteres. Escríbelo más corto."),
    ],
)
def test_a_blank_or_long_text_reaches_no_model(rosa: Client, provider: LoopbackProvider, text: str, reason: str, message: str) -> None:
    said = ask(rosa, text).json()
    assert (said["kind"], said["reason"], said["message"], provider.calls) == ("rejected", reason, message, [])


@pytest.mark.usefixtures("site")
def test_three_hundred_characters_are_asked_however_the_form_ends_its_lines(rosa: Client, provider: LoopbackProvider) -> None:
    rosa.post(PROPOSALS, urlencode({"text": "a\r\n" * 150}), content_type="application/x-www-form-urlencoded")
    ask(rosa, "ñ" * 300)
    assert len(provider.calls) == 2


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    "body", [{}, {"text": None}, {"text": ["a"]}, {"text": {"a": 1}}, {"text": True}, {"text": "a\0b"}, {"text": "\ud83d"}]
)
def test_what_is_no_text_is_a_problem_and_no_use(rosa: Client, provider: LoopbackProvider, body: dict[str, Any]) -> None:
    response = rosa.post(PROPOSALS, json.dumps(body), content_type="application/json")
    assert (response.status_code, list(response.json()["errors"])) == (400, ["text"])
    assert (provider.calls, Interaction.objects.count()) == ([], 0)


def test_without_a_model_it_says_so_and_bookings_go_on(rosa: Client, court: Court) -> None:
    said = ask(rosa).json()
    assert (said["kind"], said["cause"]) == ("unavailable", "not-configured")
    assert said["message"] == "El asistente no está disponible en este momento. El formulario de reserva funciona igual."
    booked = rosa.post(BOOKINGS, {"court": court.pk, **DRAFT}, content_type="application/json")
    assert booked.status_code == 201


@pytest.mark.usefixtures("site")
def test_a_forbidden_model_is_never_asked(rosa: Client, provider: LoopbackProvider, settings: Any) -> None:
    settings.LLM_MODEL = "deepseek-chat:free"
    said = ask(rosa).json()
    assert (said["kind"], said["cause"], provider.calls) == ("unavailable", "forbidden-model", [])


# --- Who asks ------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("site")
def test_it_answers_nobody_without_an_account_or_with_a_forged_page(member: Member, provider: LoopbackProvider) -> None:
    assert ask(Client()).json()["codes"] == ["NOT_AUTHENTICATED"]
    strict = Client(enforce_csrf_checks=True)
    assert member.user is not None
    strict.force_login(member.user)
    assert ask(strict).status_code == 403
    assert (provider.calls, Interaction.objects.count()) == ([], 0)


@pytest.mark.usefixtures("site")
def test_an_account_without_a_member_is_told_what_is_missing(client: Client, django_user_model: Any) -> None:
    client.force_login(django_user_model.objects.create_user("nueva"))
    response = ask(client)
    assert (response.status_code, response.json()["codes"]) == (403, ["NO_MEMBER"])


@pytest.mark.usefixtures("site")
def test_another_person_s_proposal_does_not_exist(rosa: Client, other: Member, court: Court) -> None:
    number = propose(rosa)
    julio = log_in(other)
    assert julio.post(f"{PROPOSALS}{number}/discard/").status_code == 404
    assert julio.post(f"{PROPOSALS}{number}/report/").status_code == 404
    booked = julio.post(BOOKINGS, {"court": court.pk, **DRAFT, "proposal": number}, content_type="application/json")
    assert booked.status_code == 201
    assert Interaction.objects.get().follow_up == "none"


# --- What the person does next -------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    ("changes", "follow_up", "fields"),
    [
        ({}, "confirmed", []),
        ({"startHour": 20, "hours": 2}, "changed", ["startHour", "hours"]),
        ({"date": "2026-03-12"}, "changed", ["date"]),
    ],
)
@pytest.mark.parametrize("spell", [int, str])
def test_the_booking_notes_what_became_of_its_proposal(
    rosa: Client, court: Court, changes: dict[str, Any], follow_up: str, fields: list[str], spell: Callable[[int], Any]
) -> None:
    body = {"court": court.pk, **DRAFT, **changes, "teamName": "Las Vicuñas", "proposal": spell(propose(rosa))}
    assert rosa.post(BOOKINGS, body, content_type="application/json").status_code == 201
    interaction = Interaction.objects.get()
    assert (interaction.follow_up, interaction.changed_fields, interaction.booking) == (follow_up, fields, Booking.objects.get())


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize("number", ["", "abc", "-1", "9" * 30, "١٢", None, [1], {"id": 1}, 1.5, True, 999_999])
def test_a_booking_does_not_fail_because_of_a_strange_proposal(rosa: Client, court: Court, number: Any) -> None:
    propose(rosa)
    body = {"court": court.pk, **DRAFT, "proposal": number}
    assert rosa.post(BOOKINGS, body, content_type="application/json").status_code == 201
    assert Interaction.objects.get().follow_up == "none"


@pytest.mark.usefixtures("site")
def test_a_refused_booking_leaves_the_proposal_waiting(rosa: Client, court: Court, other: Member) -> None:
    number = propose(rosa)
    julio = log_in(other)
    assert julio.post(BOOKINGS, {"court": court.pk, **DRAFT}, content_type="application/json").status_code == 201
    refused = rosa.post(BOOKINGS, {"court": court.pk, **DRAFT, "proposal": number}, content_type="application/json")
    assert refused.status_code == 409
    assert Interaction.objects.get().follow_up == "none"


@pytest.mark.usefixtures("site")
def test_discarding_and_reporting_are_kept(rosa: Client, court: Court) -> None:
    number = propose(rosa)
    assert rosa.post(f"{PROPOSALS}{number}/discard/").json()["followUp"] == "discarded"
    reported = rosa.post(f"{PROPOSALS}{number}/report/", {"word": "era vóley"}, content_type="application/json")
    assert (reported.status_code, reported.json()["word"]) == (201, "era vóley")
    again = rosa.post(f"{PROPOSALS}{number}/report/", {}, content_type="application/json")
    assert (again.status_code, again.json()["codes"]) == (409, ["ALREADY_REPORTED"])
    assert UserReport.objects.get().interaction.follow_up == "discarded"


@pytest.mark.usefixtures("site")
def test_a_confirmed_proposal_cannot_be_discarded(rosa: Client, court: Court) -> None:
    number = propose(rosa)
    rosa.post(BOOKINGS, {"court": court.pk, **DRAFT, "proposal": number}, content_type="application/json")
    response = rosa.post(f"{PROPOSALS}{number}/discard/")
    assert (response.status_code, response.json()["codes"]) == (409, ["ALREADY_FOLLOWED"])


@pytest.mark.usefixtures("site")
def test_a_word_that_is_too_long_is_a_problem(rosa: Client) -> None:
    response = rosa.post(f"{PROPOSALS}{propose(rosa)}/report/", {"word": "x" * 201}, content_type="application/json")
    assert response.json()["errors"] == {"word": ["Escribe como máximo 200 caracteres."]}
    assert not UserReport.objects.exists()


# --- Limits --------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("site")
def test_the_eleventh_request_in_a_minute_is_told_when_to_come_back(rosa: Client, provider: LoopbackProvider) -> None:
    assert {ask(rosa, forwarded_for=f"10.0.0.{number}").status_code for number in range(10)} == {201}
    response = ask(rosa, x_forwarded_for="203.0.113.7")
    assert (response.status_code, response.headers["Retry-After"], response.json()["codes"]) == (429, "60", ["ASSISTANT_LIMIT"])
    assert response.json()["detail"] == (
        "Le escribiste muchas veces seguidas al asistente. Vuelve a probar en 1 minuto. El formulario de reserva funciona igual."
    )
    assert len(provider.calls) == 10


@pytest.mark.usefixtures("site")
def test_at_the_day_s_budget_it_closes_and_bookings_go_on(rosa: Client, court: Court, provider: LoopbackProvider, settings: Any) -> None:
    settings.ASSISTANT_DAILY_BUDGET_USD = 0
    said = ask(rosa).json()
    assert (said["kind"], said["cause"], provider.calls) == ("unavailable", "budget", [])
    assert "Vuelve a probar mañana." in said["message"]
    assert rosa.post(BOOKINGS, {"court": court.pk, **DRAFT}, content_type="application/json").status_code == 201


@pytest.mark.usefixtures("site")
def test_without_the_counter_store_it_closes_and_bookings_go_on(
    rosa: Client, court: Court, provider: LoopbackProvider, settings: Any
) -> None:
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://127.0.0.1:1/0"}}
    said = ask(rosa).json()
    assert (said["kind"], said["cause"], provider.calls) == ("unavailable", "counters-down", [])
    assert rosa.post(BOOKINGS, {"court": court.pk, **DRAFT}, content_type="application/json").status_code == 201


# --- The description of the API ------------------------------------------------------------------------------------------


def test_the_api_describes_the_assistant_and_the_proposal_of_a_booking(tmp_path: Path) -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "schema.yaml"))
    schema = yaml.safe_load((tmp_path / "schema.yaml").read_text(encoding="utf-8"))
    described = {path: set(schema["paths"][path]) for path in schema["paths"] if "assistant" in path}
    assert described == {PROPOSALS: {"post"}, f"{PROPOSALS}{{id}}/discard/": {"post"}, f"{PROPOSALS}{{id}}/report/": {"post"}}
    asked = schema["paths"][BOOKINGS]["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    assert "proposal" in schema["components"]["schemas"][asked]["properties"]
