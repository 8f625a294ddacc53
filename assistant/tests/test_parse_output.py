import datetime as dt
import json
import time
from typing import Any

import pytest

from assistant.drafts import MAX_OUTPUT_CHARS, AssistantResult, Draft, Reason, parse_output
from bookings.clock import LIMA

NOW = dt.datetime(2026, 3, 9, 10, 0, tzinfo=LIMA)
GOOD = {"action": "draft", "sport": "fulbito", "date": "2026-03-10", "startHour": 19, "hours": 1}


def parse(text: Any) -> AssistantResult:
    return parse_output(text, now=NOW)


def draft_with(**fields: Any) -> str:
    return json.dumps(GOOD | fields)


def test_it_reads_each_of_the_three_shapes() -> None:
    text = draft_with(sport="voley", date="2026-03-12", startHour=8, hours=2)
    assert parse(text) == AssistantResult("draft", draft=Draft("voley", dt.date(2026, 3, 12), 8, 2), raw=text)
    text = '{"action":"clarify","question":"¿De la mañana o de la noche?"}'
    assert parse(text) == AssistantResult("clarify", question="¿De la mañana o de la noche?", raw=text)
    assert parse('{"action":"refuse"}') == AssistantResult("refuse", raw='{"action":"refuse"}')


def test_a_draft_has_no_field_for_who_books() -> None:
    assert set(Draft.__dataclass_fields__) == {"sport", "date", "start_hour", "hours"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "NOT_JSON"),
        (" \n\t ", "NOT_JSON"),
        ("Claro, le reservo la cancha.", "NOT_JSON"),
        ('```json\n{"action":"refuse"}\n```', "NOT_JSON"),
        ('{"action":"refuse"} gracias', "NOT_JSON"),
        ('{"action":"refuse"}{"action":"refuse"}', "NOT_JSON"),
        ('\ufeff{"action":"refuse"}', "NOT_JSON"),
        ('\u00a0{"action":"refuse"}', "NOT_JSON"),
        ('{"action":"refuse",}', "NOT_JSON"),
        ("{'action':'refuse'}", "NOT_JSON"),
        ('{"action":"refuse"', "NOT_JSON"),
        ('{"action":"ref\nuse"}', "NOT_JSON"),
        ('{"action":"refuse"}\x00', "NOT_JSON"),
        ('{"action":NaN}', "NOT_JSON"),
        ('{"action":"draft","hours":-Infinity}', "NOT_JSON"),
        ("null", "NOT_AN_OBJECT"),
        ("7", "NOT_AN_OBJECT"),
        ('"refuse"', "NOT_AN_OBJECT"),
        ('[{"action":"refuse"}]', "NOT_AN_OBJECT"),
        ('{"action":"refuse","action":"refuse"}', "DUPLICATE_KEY"),
        ('{"action":"refuse","\\u0061ction":"draft"}', "DUPLICATE_KEY"),
        ('{"action":"refuse","x":{"a":1,"a":1}}', "DUPLICATE_KEY"),
        ("{}", "MISSING_KEYS"),
        ('{"error":{"code":429}}', "MISSING_KEYS"),
        ('{"action":"draft"}', "MISSING_KEYS"),
        ('{"action":"clarify"}', "MISSING_KEYS"),
        ('{"action":"refuse","reason":"no"}', "UNEXPECTED_KEYS"),
        ('{"action":"clarify","question":"¿Qué día?","field":"date"}', "UNEXPECTED_KEYS"),
        (draft_with(memberId=2), "UNEXPECTED_KEYS"),
        (draft_with(question="¿Confirmo?"), "UNEXPECTED_KEYS"),
        ('{"action":"Draft"}', "UNKNOWN_ACTION"),
        ('{"action":"book"}', "UNKNOWN_ACTION"),
        ('{"action":""}', "UNKNOWN_ACTION"),
        ('{"action":null}', "WRONG_TYPE"),
        ('{"action":["refuse"]}', "WRONG_TYPE"),
        ('{"action":{"draft":1}}', "WRONG_TYPE"),
        ('{"action":"clarify","question":null}', "WRONG_TYPE"),
        ('{"action":"clarify","question":7}', "WRONG_TYPE"),
        (draft_with(sport=["fulbito"]), "WRONG_TYPE"),
        (draft_with(date=20260310), "WRONG_TYPE"),
        (draft_with(startHour="19"), "WRONG_TYPE"),
        (draft_with(startHour=19.0), "WRONG_TYPE"),
        (draft_with(startHour=1e300), "WRONG_TYPE"),
        (draft_with(hours=True), "WRONG_TYPE"),
        (draft_with(hours=None), "WRONG_TYPE"),
        (json.dumps(GOOD).replace("19", "1.9e1"), "WRONG_TYPE"),
        (json.dumps(GOOD).replace("19", "1" * 10), "NUMBER_TOO_LONG"),
        (json.dumps(GOOD).replace("19", "9" * 5000), "NUMBER_TOO_LONG"),
        (json.dumps(GOOD).replace("19", "-" + "9" * 5000), "NUMBER_TOO_LONG"),
        (json.dumps(GOOD).replace("19", "07"), "NOT_JSON"),
        (draft_with(date="2026-3-10"), "BAD_DATE"),
        (draft_with(date="20260310"), "BAD_DATE"),
        (draft_with(date="2026-03-10\n"), "BAD_DATE"),
        (draft_with(date=" 2026-03-10"), "BAD_DATE"),
        (draft_with(date="2026-03-10T19:00"), "BAD_DATE"),
        (draft_with(date="2026-W11-2"), "BAD_DATE"),
        (draft_with(date="2026-02-30"), "BAD_DATE"),
        (draft_with(date="2026-13-01"), "BAD_DATE"),
        (draft_with(date="0000-01-01"), "BAD_DATE"),
        (draft_with(date="２０２６-03-10"), "BAD_DATE"),
        (draft_with(date="2026-03-1٠"), "BAD_DATE"),
        (draft_with(date="2026‑03‑10"), "BAD_DATE"),
        (draft_with(date="2026-03-10\x00"), "BAD_DATE"),
        (draft_with(date="mañana"), "BAD_DATE"),
        (draft_with(date=""), "BAD_DATE"),
        (draft_with(sport="tenis"), "UNKNOWN_SPORT"),
        (draft_with(sport="Fulbito"), "UNKNOWN_SPORT"),
        (draft_with(sport="fulbito "), "UNKNOWN_SPORT"),
        (draft_with(sport="fulbito\x00"), "UNKNOWN_SPORT"),
        (draft_with(sport="\ud800"), "UNKNOWN_SPORT"),
        (draft_with(sport="vóley"), "UNKNOWN_SPORT"),
        (draft_with(sport="fulbіto"), "UNKNOWN_SPORT"),  # Cyrillic і
        (draft_with(startHour=23), "OUTSIDE_OPENING_HOURS"),
        (draft_with(startHour=0), "OUTSIDE_OPENING_HOURS"),
        (draft_with(startHour=-5), "OUTSIDE_OPENING_HOURS"),
        (draft_with(startHour=20, hours=3), "OUTSIDE_OPENING_HOURS"),
        (draft_with(startHour=999_999_999), "OUTSIDE_OPENING_HOURS"),
        (draft_with(hours=0), "TOO_FEW_HOURS"),
        (draft_with(startHour=10, hours=6), "TOO_MANY_HOURS"),
        (draft_with(date="2026-03-24"), "TOO_FAR_AHEAD"),
        (draft_with(date="9999-12-31"), "TOO_FAR_AHEAD"),
        (draft_with(date="2026-03-08"), "IN_THE_PAST"),
        (draft_with(date="0001-01-01"), "IN_THE_PAST"),
        (draft_with(date="2026-03-09", startHour=10), "IN_THE_PAST"),
        ('{"action":"clarify","question":""}', "UNSAFE_QUESTION"),
        ('{"action":"clarify","question":"pague en kallpa.example"}', "UNSAFE_QUESTION"),
        ('{"action":"clarify","question":"\\ud800 ¿hoy?"}', "UNSAFE_QUESTION"),
        ('{"action":"clarify","question":"¿hoy?\\u0000"}', "UNSAFE_QUESTION"),
    ],
)
def test_it_rejects_the_whole_output_with_one_reason(text: str, reason: str) -> None:
    result = parse(text)
    assert (result.kind, result.reason) == ("rejected", reason)
    assert (result.draft, result.question, result.raw) == (None, "", text)
    assert result.detail.isascii()


def test_it_names_every_broken_rule_in_the_detail() -> None:
    result = parse(draft_with(sport="tenis", startHour=23, hours=5))
    assert (result.reason, result.detail) == ("UNKNOWN_SPORT", "UNKNOWN_SPORT, OUTSIDE_OPENING_HOURS, TOO_MANY_HOURS")


@pytest.mark.parametrize(
    "text",
    [
        ' \t\r\n{ "action" : "refuse" }\r\n',
        '{"\\u0061ction":"refuse"}',
        '{"action":"\\u0072efuse"}',
    ],
)
def test_it_takes_every_spelling_that_json_allows(text: str) -> None:
    assert parse(text).kind == "refuse"


@pytest.mark.parametrize("thing", [None, 7, 1.5, True, b'{"action":"refuse"}', ["refuse"], {"action": "refuse"}, object(), float("nan")])
def test_it_rejects_what_is_not_text(thing: Any) -> None:
    assert (parse(thing).kind, parse(thing).reason, parse(thing).raw) == ("rejected", "NOT_TEXT", "")


def test_it_does_not_trust_a_text_that_overrides_its_own_methods() -> None:
    class Liar(str):
        __slots__ = ()

        def __len__(self) -> int:
            raise RuntimeError

    assert parse(Liar('{"action":"refuse"}')).reason == "NOT_TEXT"


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"action":', '{"action":["draft",'])
@pytest.mark.parametrize("depth", [10, 900, 1_100, 4_000])
def test_no_depth_makes_it_raise(opening: str, depth: int) -> None:
    assert parse((opening * depth)[:MAX_OUTPUT_CHARS]).reason == "NOT_JSON"


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_closing_what_was_opened_helps_nobody(opening: str, closing: str) -> None:
    for depth in (100_000, 1_000_000):
        assert parse(opening * depth + "1" + closing * depth).reason == "TOO_LONG"
    assert parse("[" * 10_000 + "]" * 10_000).reason == "NOT_JSON"


def test_length_is_looked_at_before_anything_else_and_only_the_beginning_is_kept() -> None:
    huge = '{"action":"refuse"}' + " " * 50_000_000
    began = time.process_time()
    result = parse(huge)
    assert time.process_time() - began < 1  # it takes microseconds; reading 50 MB takes longer than this
    assert (result.reason, result.detail, result.raw) == ("TOO_LONG", "50000019 characters", huge[:20_000])


def test_the_limit_of_length_is_inclusive() -> None:
    assert parse('{"action":"refuse"}'.ljust(20_000)).kind == "refuse"
    assert parse('{"action":"refuse"}'.ljust(20_001)).reason == "TOO_LONG"


def test_the_same_draft_stops_being_one_when_its_hour_begins() -> None:
    text = draft_with()
    before = dt.datetime(2026, 3, 10, 23, 59, tzinfo=dt.UTC)
    assert parse_output(text, now=before).kind == "draft"
    assert parse_output(text, now=before + dt.timedelta(minutes=1)).reason == "IN_THE_PAST"


def test_a_clock_without_zone_is_the_callers_mistake() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        parse_output("", now=dt.datetime(2026, 3, 9, 10, 0))  # noqa: DTZ001 -- the mistake under test


def test_reasons_are_their_own_names() -> None:
    assert all(reason.name == reason.value for reason in Reason)
