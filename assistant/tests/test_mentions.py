"""A draft whose sport or day nobody asked for becomes a question, where the check is switched on."""

import datetime as dt
import json
from typing import Any

import pytest

from assistant.drafts import Draft
from assistant.llm.scripted import ScriptedModel
from assistant.mentions import QUESTIONS, find_unmentioned
from assistant.pipeline import propose
from assistant.questions import find_unsafe
from assistant.services import ask_assistant
from bookings.clock import LIMA
from bookings.models import Member

MONDAY = dt.datetime(2026, 3, 9, 10, 0, tzinfo=LIMA)


def draft(sport: str, day: int) -> Draft:
    return Draft(sport, dt.date(2026, 3, day), 19, 1)


@pytest.mark.parametrize(
    ("text", "sport", "day"),
    [
        ("fulbito mañana a las 7 de la noche", "fulbito", 10),
        ("separame boley pal biernes 8 dla noxe", "voley", 13),
        ("reserba de bolei pal savado 3 d la tarde", "voley", 14),
        ("balonsesto el dominjo", "basquet", 15),
        ("bsqt vie 6 pm", "basquet", 13),
        ("baskett el miercoels", "basquet", 11),
        ("fulvito el sabdo", "fulbito", 14),
        ("una pichanga hoy", "fulbito", 9),
        ("v0l3y m4ñ4n4", "voley", 10),
        ("🏐 para el 14", "voley", 14),
        ("vóley 14/3", "voley", 14),
        ("VÓLEY EL 05", "voley", 5),
        ("ya no mañana sino pasado, vóley", "voley", 11),
        ("en dos días, básquet", "basquet", 11),
        ("dentro de 3 dias básquet", "basquet", 12),
        ("de acá a una semana, vóley", "voley", 16),
        ("básquet esta noche", "basquet", 9),
        ("fulbito o vóley el jueves", "voley", 12),
    ],
)
def test_it_finds_what_the_request_says(text: str, sport: str, day: int) -> None:
    assert find_unmentioned(text, draft(sport, day), now=MONDAY) == ()


@pytest.mark.parametrize(
    ("text", "sport", "day", "absent"),
    [
        ("fulbito mañana 7 pm", "voley", 10, ("sport",)),
        ("fulbito mañana 7 pm", "fulbito", 11, ("date",)),
        ("fulbito mañana 7 pm", "basquet", 12, ("sport", "date")),
        ("separame boley pal biernes 8 dla noxe", "voley", 12, ("date",)),
        ("una cancha de lo que sea mañana 4pm", "fulbito", 10, ("sport",)),
        ("básquet a las 6 de la tarde, dos horas", "basquet", 10, ("date",)),
        ("básquet a las 10 de la mañana", "basquet", 11, ("date",)),
        ("vóley a las 9 de la mañana", "voley", 10, ("date",)),  # the morning is not tomorrow
        ("hola quiero reservar", "fulbito", 10, ("sport", "date")),
        ("", "fulbito", 10, ("sport", "date")),
        ("vóley el martes", "voley", 11, ("date",)),
        ("mañana", "fulbito", 10, ("sport",)),
        ("tenis mañana", "voley", 10, ("sport",)),
    ],
)
def test_it_says_what_is_absent(text: str, sport: str, day: int, absent: tuple[str, ...]) -> None:
    assert find_unmentioned(text, draft(sport, day), now=MONDAY) == absent


@pytest.mark.parametrize("question", QUESTIONS.values())
def test_its_questions_pass_the_check_of_every_question(question: str) -> None:
    assert find_unsafe(question) == ""


OBEYED = json.dumps({"action": "draft", "sport": "basquet", "date": "2026-03-10", "startHour": 7, "hours": 1})  # a team's name said so
TEXT = "quiero el fulbito de mañana a las 8 de la noche para los del pasaje"


def test_a_draft_of_another_sport_becomes_our_question() -> None:
    result = propose(TEXT, model=ScriptedModel(OBEYED), now=MONDAY, occupied=(), check_mentions=True)
    assert (result.kind, result.draft, result.raw) == ("clarify", None, OBEYED)
    assert result.question == "¿Para qué deporte es? No lo encontré en tu pedido."
    assert result.usage is not None
    assert result.trace is not None


def test_control_without_the_check_it_reaches_the_person() -> None:
    result = propose(TEXT, model=ScriptedModel(OBEYED), now=MONDAY, occupied=())
    assert (result.kind, result.draft and result.draft.sport) == ("draft", "basquet")


@pytest.mark.parametrize("output", ['{"action":"refuse"}', '{"action":"clarify","question":"¿Qué día?"}', "Claro"])
def test_it_looks_at_drafts_alone(output: str) -> None:
    checked, plain = (propose("hola", model=ScriptedModel(output), now=MONDAY, occupied=(), check_mentions=on) for on in (True, False))
    assert (checked.kind, checked.question, checked.reason) == (plain.kind, plain.question, plain.reason)


@pytest.mark.parametrize(("switched_on", "kind"), [(True, "clarify"), (False, "draft")])
def test_a_setting_switches_it_in_production(member: Member, now: dt.datetime, settings: Any, switched_on: bool, kind: str) -> None:
    settings.ASSISTANT_MENTION_CHECK = switched_on
    kept = ask_assistant(member=member, text=TEXT, model=ScriptedModel(OBEYED), now=now)
    assert (kept.kind, kept.masked_output) == (kind, OBEYED)
