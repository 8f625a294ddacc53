"""What becomes of one request: asked, read, masked and kept, also when the model is down."""

import datetime as dt
import json
from typing import Any

import pytest

from assistant import services
from assistant.llm import ModelBadResponse, ModelError, ModelKind, ModelRequest, ModelResponse, ModelTimeout, ModelUnreachable, Usage
from assistant.llm.scripted import ScriptedModel
from assistant.models import Interaction
from assistant.prompts import prompt_hash
from assistant.services import ask_assistant
from bookings.models import Court, Member
from bookings.services import book
from bookings.values import BookingRequest

TEXT = "fulbito mañana a las 7 de la noche"
DRAFT = {"sport": "fulbito", "date": "2026-03-10", "startHour": 19, "hours": 1}
DRAFTED = json.dumps({"action": "draft", **DRAFT})


class CountedModel:
    """Answers, and says what it counted."""

    kind: ModelKind = "real"
    name = "gpt-4o-mini"

    def complete(self, request: ModelRequest) -> ModelResponse:
        return ModelResponse(DRAFTED, Usage(1_000, 40, measured=True), "stop", provider_ms=12.0, attempts=1, model=self.name)


def failing(error: ModelError) -> ScriptedModel:
    def fail(request: ModelRequest) -> str:
        raise error

    return ScriptedModel(fail, record=True)


def test_it_keeps_the_draft_with_what_it_took(member: Member, now: dt.datetime) -> None:
    interaction = ask_assistant(member=member, text=TEXT, model=CountedModel(), now=now)
    interaction.refresh_from_db()
    assert (interaction.member, interaction.created_at, interaction.masked_text) == (member, now, TEXT)
    assert (interaction.kind, interaction.reason, interaction.cause, interaction.draft) == ("draft", "", "", DRAFT)
    assert (interaction.prompt_variant, interaction.prompt_hash) == ("base", prompt_hash("base"))
    assert (interaction.model, interaction.masked_output) == ("gpt-4o-mini", DRAFTED)
    assert (interaction.input_tokens, interaction.output_tokens, interaction.usage_measured) == (1_000, 40, True)
    assert (interaction.cost_micro_usd, interaction.price_known) == (174, True)  # 1,000 x 0.15 + 40 x 0.60
    assert (interaction.follow_up, interaction.changed_fields, interaction.booking, interaction.followed_at) == ("none", [], None, None)


@pytest.mark.parametrize(
    ("output", "kind", "reason", "question"),
    [
        ('{"action":"clarify","question":"¿De la mañana o de la noche?"}', "clarify", "", "¿De la mañana o de la noche?"),
        ('{"action":"refuse"}', "refuse", "", ""),
        ("Claro, reservado.", "rejected", "NOT_JSON", ""),
        ('{"action":"clarify","question":"Entra a http://gratis.pe"}', "rejected", "UNSAFE_QUESTION", ""),
        (json.dumps({"action": "draft", **DRAFT, "startHour": 23}), "rejected", "OUTSIDE_OPENING_HOURS", ""),
    ],
)
def test_it_keeps_each_other_outcome(member: Member, now: dt.datetime, output: str, kind: str, reason: str, question: str) -> None:
    interaction = ask_assistant(member=member, text=TEXT, model=ScriptedModel(output), now=now)
    assert (interaction.kind, interaction.reason, interaction.question, interaction.draft) == (kind, reason, question, None)
    assert interaction.masked_output == output


@pytest.mark.parametrize(
    ("error", "cause", "perhaps_charged"),
    [(ModelUnreachable(attempts=4), "unreachable", False), (ModelTimeout(), "timeout", True), (ModelBadResponse(), "bad-response", True)],
)
def test_an_outage_is_kept_with_its_cause_and_what_it_may_have_cost(
    member: Member, now: dt.datetime, error: ModelError, cause: str, perhaps_charged: bool
) -> None:
    model = failing(error)
    model.kind, model.name = "real", "gpt-4o-mini"
    interaction = ask_assistant(member=member, text=TEXT, model=model, now=now)
    assert (interaction.kind, interaction.cause, interaction.reason) == ("unavailable", cause, "")
    assert (120 < interaction.cost_micro_usd < 1_000) == perhaps_charged  # 200 tokens of answer at 0.60, and the prompt
    assert Interaction.objects.get() == interaction


@pytest.mark.parametrize(("text", "reason"), [("", "INPUT_BLANK"), (" \u200b\n ", "INPUT_BLANK"), ("a" * 301, "INPUT_TOO_LONG")])
def test_a_blank_or_long_text_reaches_no_model(member: Member, now: dt.datetime, text: str, reason: str) -> None:
    model = ScriptedModel(DRAFTED, record=True)
    interaction = ask_assistant(member=member, text=text, model=model, now=now)
    assert (interaction.kind, interaction.reason, model.calls) == ("rejected", reason, [])


def test_of_a_text_that_is_too_long_nothing_is_kept(member: Member, now: dt.datetime) -> None:
    interaction = ask_assistant(member=member, text="llámame al " + " " * 284 + "987654321", model=ScriptedModel(DRAFTED), now=now)
    assert interaction.masked_text == ""


# --- Masked before it is stored ------------------------------------------------------------------------------------------

SECRET_TEXT = "soy Julio Paredes, mi celular es 987654321, fulbito mañana a las 7 de la noche"
ECHO = '{"action":"clarify","question":"¿Tu celular es 987654321, Julio Paredes?"}'


def kept_words(member: Member, now: dt.datetime) -> str:
    kept = ask_assistant(member=member, text=SECRET_TEXT, model=ScriptedModel(ECHO), now=now)
    return f"{kept.masked_text}\n{kept.question}\n{kept.masked_output}"


def test_it_masks_what_the_person_and_the_model_wrote(member: Member, other: Member, now: dt.datetime) -> None:
    kept = kept_words(member, now)
    assert "987654321" not in kept
    assert "Paredes" not in kept
    assert kept.startswith("soy ")
    assert "fulbito mañana a las 7 de la noche" in kept


def test_control_without_the_mask_the_number_is_kept(member: Member, now: dt.datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    class Unmasked:
        def __init__(self, text: str) -> None:
            self.text = text

    monkeypatch.setattr(services, "mask", lambda text, **options: Unmasked(text))
    assert kept_words(member, now).count("987654321") == 3


# --- What the model is told ----------------------------------------------------------------------------------------------


def prompt_of(member: Member, now: dt.datetime) -> str:
    model = ScriptedModel(DRAFTED, record=True)
    ask_assistant(member=member, text=TEXT, model=model, now=now)
    (request,) = model.calls
    return "\n".join(message["content"] for message in request.messages)


def test_it_tells_the_hours_that_are_taken_from_now_to_the_last_day(member: Member, court: Court, now: dt.datetime) -> None:
    early = now.replace(hour=7)
    for date, hour, hours in (("2026-03-09", 8, 3), ("2026-03-09", 20, 1), ("2026-03-23", 21, 1)):
        request = BookingRequest("fulbito", dt.date.fromisoformat(date), hour, hours, "Las Vicuñas")
        book(member=member, court=court, request=request, now=early)
    assert "<ocupado>\n2026-03-09 fulbito: 20\n2026-03-23 fulbito: 21\n</ocupado>" in prompt_of(member, now)


def test_it_asks_with_the_settings_of_the_site(member: Member, now: dt.datetime, settings: Any) -> None:
    settings.LLM_TEMPERATURE, settings.LLM_MAX_TOKENS = 0.7, 123
    model = ScriptedModel(DRAFTED, record=True)
    ask_assistant(member=member, text=TEXT, model=model, now=now)
    assert (model.calls[0].temperature, model.calls[0].max_tokens) == (0.7, 123)
