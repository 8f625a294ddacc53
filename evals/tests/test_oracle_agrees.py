"""Ten thousand damaged outputs, seeded: the parser never raises, and what it accepts the oracle accepts too."""

import datetime as dt
import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import assistant
from assistant.drafts import MAX_OUTPUT_CHARS, parse_output
from bookings.clock import LIMA
from bookings.rules import check_booking_rules
from bookings.values import BookingRequest
from evals.oracle import draft_breaks_rules, text_is_valid_draft

SEED = 20_260_309
NOW = dt.datetime(2026, 3, 9, 10, 0, tzinfo=LIMA)
TESTDATA = Path(assistant.__file__).parent / "tests" / "testdata"
KEYS = ("action", "sport", "date", "startHour", "hours")


def read_texts(name: str) -> list[str]:
    return [json.loads(line)["text"] for line in (TESTDATA / name).read_text(encoding="utf-8").splitlines()]


def make_fields(chance: random.Random) -> dict[str, Any]:
    """A draft within the rules, by construction: today only from 11 on."""
    day, hours = chance.randint(9, 23), chance.randint(1, 3)
    start = chance.randint(11 if day == 9 else 7, 22 - hours)
    return {
        "action": "draft",
        "sport": chance.choice(["fulbito", "voley", "basquet"]),
        "date": f"2026-03-{day:02d}",
        "startHour": start,
        "hours": hours,
    }


# --- Damage: text in, text out ------------------------------------------------------------------------------------------


def flip_bytes(text: str, chance: random.Random) -> str:
    raw = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(chance.randint(1, 4)):
        raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
    return raw.decode("utf-8", chance.choice(["replace", "surrogateescape", "ignore"]))


def splice(text: str, chance: random.Random) -> str:
    other = json.dumps(make_fields(chance))
    cut, start = chance.randrange(len(text) + 1), chance.randrange(len(other))
    end = chance.randint(start, len(other))
    return chance.choice([text[:cut] + other[start:end] + text[cut:], text[:cut] + other[start:], text + other, other + "\n" + text])


def swap_type(text: str, chance: random.Random) -> str:
    fields = make_fields(chance)
    key = chance.choice(KEYS)
    value = fields[key]
    fields[key] = chance.choice(
        [str(value), [value], {key: value}, True, False, None, 1.0, 19.0, 0.5, "", -0.0, float("nan"), float("inf")]
    )
    return json.dumps(fields)


def look_alike(text: str, chance: random.Random) -> str:
    twins = {
        "a": "а",
        "o": "ο",
        "i": "і",
        "e": "е",
        "-": "‐",
        '"': "”",
        ":": "：",
        ",": "，",
        "{": "｛",
        "1": "１",
        "2": "٢",
        " ": "\u00a0",
    }
    places = [at for at, character in enumerate(text) if character in twins]
    for at in chance.sample(places, min(len(places), chance.randint(1, 3))):
        text = text[:at] + twins[text[at]] + text[at + 1 :]
    return text


def nest(text: str, chance: random.Random) -> str:
    depth = chance.choice([1, 2, 10, 500, 990, 1_010, 5_000, 100_000])
    opening, closing = chance.choice([("[", "]"), ('{"action":', "}"), ('{"a":[', "]}")])
    return opening * depth + text + closing * chance.choice([0, depth])


def lengthen_number(text: str, chance: random.Random) -> str:
    key = chance.choice(["startHour", "hours"])
    fields = make_fields(chance)
    number = chance.choice(["", "-"]) + chance.choice("123456789") * chance.choice([2, 3, 18, 20, 400, 4_299, 4_301, 5_000])
    return json.dumps(fields).replace(f'"{key}": {fields[key]}', f'"{key}": {number}{chance.choice(["", "", ".0", "e5", "e-4999"])}')


def repeat_key(text: str, chance: random.Random) -> str:
    fields, other = make_fields(chance), make_fields(chance)
    pairs = [*fields.items(), *chance.sample(sorted(other.items(), key=str), chance.randint(1, 3))]
    chance.shuffle(pairs)
    spelled = [(key if chance.random() < 0.7 else f"\\u{ord(key[0]):04x}{key[1:]}", value) for key, value in pairs]
    return "{" + ",".join(f'"{key}":{json.dumps(value)}' for key, value in spelled) + "}"


def break_rule(text: str, chance: random.Random) -> str:
    fields = make_fields(chance)
    key = chance.choice(KEYS)
    fields[key] = {
        "action": chance.choice(["Draft", "book", "refuse", "clarify", "draft "]),
        "sport": chance.choice(["tenis", "Fulbito", "vóley", "fútbol", "", "fulbito\x00", "\ud800"]),
        "date": chance.choice(["2026-03-08", "2026-03-24", "2026-02-30", "2026-3-10", "20260310", "mañana", "2026-03-10\n", "0000-00-00"]),
        "startHour": chance.choice([-1, 0, 6, 20, 21, 22, 23, 24]),
        "hours": chance.choice([-1, 0, 4, 5, 6, 24]),
    }[key]
    return json.dumps(fields, ensure_ascii=chance.random() < 0.5)


def add_or_lose_key(text: str, chance: random.Random) -> str:
    fields = make_fields(chance)
    if chance.random() < 0.5:
        del fields[chance.choice(KEYS)]
    else:
        fields[chance.choice(["memberId", "question", "Hours", "start_hour", "hours ", ""])] = 2
    return json.dumps(fields)


def edit_characters(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(text) + 1)
        insert = chance.choice(["", "", " ", "\n", "\x00", "\ud83d", "\ufeff", "\\", '"', ",", "}", "0", "1", "9", "-", ".", "e1", "//"])
        text = text[:at] + insert + text[at + chance.randint(0, 1) :]
    return text


def cut_or_wrap(text: str, chance: random.Random) -> str:
    return chance.choice([text[: chance.randrange(len(text))], f"```json\n{text}\n```", f"Claro: {text}", f"{text} Listo.", f" \n{text}\t"])


DAMAGES: list[Callable[[str, random.Random], str]] = [
    flip_bytes,
    splice,
    swap_type,
    look_alike,
    nest,
    lengthen_number,
    repeat_key,
    break_rule,
    add_or_lose_key,
    edit_characters,
    cut_or_wrap,
]


@pytest.fixture(scope="module")
def damaged() -> list[str]:
    chance = random.Random(SEED)
    written = [text for text in read_texts("outputs_shared.jsonl") if text.strip()]
    texts = []
    for number in range(10_000):
        text = json.dumps(make_fields(chance)) if chance.random() < 0.8 else chance.choice(written)
        text = DAMAGES[number % len(DAMAGES)](text, chance)
        if text and len(text) < MAX_OUTPUT_CHARS and chance.random() < 0.2:
            text = chance.choice(DAMAGES)(text, chance)
        texts.append(text)
    return texts


# --- The parser in use --------------------------------------------------------------------------------------------------


def test_it_accepts_no_invalid_draft_and_refuses_no_valid_one(damaged: list[str]) -> None:
    kinds, seconds = [], []
    for text in damaged:
        began = time.thread_time()
        result = parse_output(text, now=NOW)
        seconds.append(time.thread_time() - began)
        kinds.append(result.kind)
        if result.draft:
            draft = result.draft
            assert text_is_valid_draft(text, now=NOW), text
            assert not draft_breaks_rules(draft.sport, draft.date.isoformat(), draft.start_hour, draft.hours, now=NOW)
        elif len(text) <= MAX_OUTPUT_CHARS:
            assert not text_is_valid_draft(text, now=NOW), text
    assert len(kinds) == 10_000
    # The damage is real, and not so large that nothing valid is left to tell apart.
    assert kinds.count("rejected") > 8_000
    assert kinds.count("draft") > 200
    assert sorted(seconds)[9_900] <= 0.050


def test_the_same_seed_makes_the_same_damage(damaged: list[str]) -> None:
    assert max(map(len, damaged)) > 100_000
    assert sum("9" * 5_000 in text or "1" * 5_000 in text for text in damaged) > 10
    assert len(set(damaged)) > 9_000


# --- The controls: careless parsers are caught --------------------------------------------------------------------------


def accepts_by_types_alone(text: str) -> bool:
    """Looks at keys and types, and forgets the rules."""
    fields = json.loads(text)
    return fields["action"] == "draft" and isinstance(fields["startHour"], int) and isinstance(fields["hours"], int)


def accepts_what_can_be_converted(text: str) -> bool:
    """Keeps the rules, and is generous with the form: extra and repeated keys, numbers in strings, dates as they come."""
    fields = json.loads(text.strip().removeprefix("```json").removesuffix("```"))
    date = dt.datetime.strptime(fields["date"], "%Y-%m-%d").replace(tzinfo=LIMA).date()
    request = BookingRequest(fields["sport"], date, int(fields["startHour"]), int(fields["hours"]))
    return fields["action"] == "draft" and not check_booking_rules(request, NOW)


@pytest.mark.parametrize("accepts", [accepts_by_types_alone, accepts_what_can_be_converted])
def test_a_careless_parser_accepts_invalid_drafts(accepts: Callable[[str], bool], damaged: list[str]) -> None:
    accepted_invalid, raised = 0, 0
    for text in damaged:
        try:
            accepted_invalid += accepts(text) and not text_is_valid_draft(text, now=NOW)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            raised += 1
    assert accepted_invalid > 100
    assert raised > 1_000


# --- What is valid stays valid, however it is spelled -------------------------------------------------------------------


def respell(fields: dict[str, Any], chance: random.Random) -> str:
    """The same object with other spaces, another order and other escapes."""
    pairs = list(fields.items())
    chance.shuffle(pairs)

    def space() -> str:
        return "".join(chance.choices(" \t\r\n", k=chance.choice([0, 0, 1, 3])))

    def escape(text: str) -> str:
        styles = [lambda c: c, lambda c: f"\\u{ord(c):04x}", lambda c: f"\\u{ord(c):04X}", lambda c: "\\/" if c == "/" else c]
        return "".join(chance.choices(styles, weights=[6, 1, 1, 1])[0](c) for c in text)

    def spell(value: Any) -> str:
        return f'"{escape(value)}"' if isinstance(value, str) else str(value)

    body = ",".join(f"{space()}{spell(key)}{space()}:{space()}{spell(value)}{space()}" for key, value in pairs)
    return f"{space()}{{{body}}}{space()}"


def test_a_thousand_valid_outputs_are_accepted_however_they_are_spelled() -> None:
    chance = random.Random(SEED)
    questions = ["¿El 10/03 o el 11/03?", "¿De la mañana o de la noche?", "¿Qué deporte: fulbito, vóley o básquet?"]
    for _ in range(800):
        fields = make_fields(chance)
        text = respell(fields, chance)
        draft = parse_output(text, now=NOW).draft
        assert draft is not None, text
        found = (draft.sport, draft.date.isoformat(), draft.start_hour, draft.hours)
        assert found == (fields["sport"], fields["date"], fields["startHour"], fields["hours"])
        assert text_is_valid_draft(text, now=NOW)
    for _ in range(150):
        question = chance.choice(questions)
        assert parse_output(respell({"action": "clarify", "question": question}, chance), now=NOW).question == question
    for _ in range(50):
        assert parse_output(respell({"action": "refuse"}, chance), now=NOW).kind == "refuse"


# --- Texts that were not made here --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "drafts"), [("outputs_shared.jsonl", 14), ("real_outputs.jsonl", 5)])
def test_on_stored_outputs_parser_and_oracle_find_the_same_drafts(name: str, drafts: int) -> None:
    texts = read_texts(name)
    accepted = [parse_output(text, now=NOW).kind == "draft" for text in texts]
    assert accepted == [text_is_valid_draft(text, now=NOW) for text in texts]
    assert sum(accepted) == drafts
