"""The form that a server may be asked for: it says what the strict parser accepts, is asked for by a flag, and nothing relies on it."""

import datetime as dt
import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from assistant.drafts import parse_output
from assistant.llm import ModelRequest
from assistant.llm.scripted import ScriptedModel
from assistant.models import Interaction, ModelCall
from assistant.pipeline import propose
from assistant.prompts import prompt_hash
from assistant.prompts.answer_schema import ANSWER_SCHEMA
from assistant.services import ask_assistant
from assistant.tests.loopback_provider import LoopbackProvider
from assistant.tests.neighbours import ask, log_in, point_at
from bookings.models import Member

DRAFT = '{"action":"draft","sport":"voley","date":"2026-03-10","startHour":19,"hours":1}'
ACCEPTED = [DRAFT, '{"action":"clarify","question":"¿A qué hora?"}', '{"action":"refuse"}']
REJECTED = [
    '{"action":"draft","sport":"voley","date":"2026-03-10","startHour":19,"hours":1,"memberId":2}',
    '{"action":"draft","sport":"tenis","date":"2026-03-10","startHour":19,"hours":1}',
    '{"action":"draft","sport":"voley","date":"mañana","startHour":19,"hours":1}',
    '{"action":"draft","sport":"voley","date":"2026-03-10","startHour":22,"hours":1}',
    '{"action":"draft","sport":"voley","date":"2026-03-10","startHour":9,"hours":6}',
    '{"action":"draft","sport":"voley","date":"2026-03-10","startHour":"19","hours":1}',
    '{"action":"clarify"}',
    '{"action":"refuse","question":"¿?"}',
    '{"action":"book"}',
    "[]",
]


@pytest.mark.parametrize("output", ACCEPTED + REJECTED)
def test_form_and_parser_agree(output: str, now: dt.datetime) -> None:
    fits = Draft202012Validator(ANSWER_SCHEMA).is_valid(json.loads(output))
    assert fits is (output in ACCEPTED)
    assert (parse_output(output, now=now).kind != "rejected") is fits


def asked(now: dt.datetime, **options: Any) -> ModelRequest:
    model = ScriptedModel('{"action":"refuse"}', record=True)
    propose("vóley mañana a las 7 pm", model=model, now=now, occupied=(), **options)
    return model.calls[0]


def test_it_is_asked_for_only_when_the_flag_says_so(now: dt.datetime) -> None:
    assert asked(now).response_format is None
    form = asked(now, json_schema=True).response_format
    assert form is not None
    assert (form["type"], form["json_schema"]["schema"]) == ("json_schema", ANSWER_SCHEMA)


def test_a_server_that_ignores_it_is_read_as_strictly_as_before(now: dt.datetime) -> None:
    for output in REJECTED:
        assert propose("vóley", model=ScriptedModel(output), now=now, occupied=(), json_schema=True).kind == "rejected"


def test_the_prompts_hash_says_that_a_form_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, formed = prompt_hash("base"), prompt_hash("base", json_schema=True)
    assert plain != formed
    monkeypatch.setattr("assistant.prompts.RESPONSE_FORMAT", {"type": "json_object"})
    assert (prompt_hash("base"), prompt_hash("base", json_schema=True) != formed) == (plain, True)


@pytest.mark.parametrize("flag", [True, False])
def test_the_site_asks_as_its_setting_says_and_keeps_the_hash(member: Member, settings: Any, flag: bool) -> None:
    settings.LLM_JSON_SCHEMA = flag
    with LoopbackProvider() as provider:
        point_at(settings, provider)
        ask(log_in(member), "vóley mañana a las 7 de la noche")
        assert ("response_format" in provider.calls[0].payload) is flag
    kept = {Interaction.objects.get().prompt_hash, ModelCall.objects.get().prompt_hash}
    assert kept == {prompt_hash("base", json_schema=flag)}


def test_an_outage_keeps_the_hash_of_what_was_asked(member: Member, settings: Any, now: dt.datetime) -> None:
    settings.LLM_JSON_SCHEMA = True
    interaction = ask_assistant(member=member, text="vóley", model=ScriptedModel("{"), now=now)
    assert interaction.prompt_hash == prompt_hash("base", json_schema=True)
