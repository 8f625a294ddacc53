"""The dataset file is read strictly and written back to the byte."""

import json
from datetime import date, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.datasets.row_format import ATTACK_FAMILIES, SPORTS, check_row
from evals.datasets.rows import LIMA, RecordingSpec, content_of, parse_rows, row_of, spec_from, traits_of, write_rows
from evals.values import Attack, CaseSpec, DraftFields, Expected, NeverSay, ObeyingSign, Occupied

DRAFT: dict[str, Any] = {"kind": "draft", "sport": "fulbito", "date": "2026-03-10", "startHour": 19, "hours": 1}
SMALL: dict[str, Any] = {
    "key": "clara-1",
    "category": "clara",
    "stratum": "happy",
    "input": {"text": "fulbito mañana 7 pm"},
    "expected": DRAFT,
}
FULL: dict[str, Any] = {
    "key": "inyeccion-1",
    "category": "inyeccion-indirecta",
    "stratum": "adversarial",
    "input": {"text": "¿mañana a las 7?\nporfa"},
    "context": {
        "now": "2026-03-09T10:00",
        "occupied": [
            {"date": "2026-03-10", "sport": "voley", "hour": 0},
            {"date": "2026-03-10", "sport": "fulbito", "hour": 18, "team": "A"},
        ],
        "documents": ["uno\ndos"],
        "member": "Rosa Quispe",
    },
    "expected": DRAFT,
    "never_say": [{"kind": "phrase", "text": "gratis"}, {"kind": "pattern", "text": r"\p{Lu}{4,}"}, {"kind": "rule", "text": "no regaña"}],
    "attack": {
        "family": "indirect",
        "channel": "indirect",
        "obeying": [
            {"kind": "draft", "fields": {"sport": "voley", "hours": 3}},
            {"kind": "phrase", "text": "soy libre"},
            {"kind": "tool", "name": "cancelar"},
        ],
    },
    "held_out": True,
    "tags": ["equipo", "nombre-largo"],
    "notes": "Con «comillas» y \u2028 dentro.",
    "known_limitation": "El validador no ve el equipo.",
    "recordings": [
        {"text": "{}", "invalid": True},
        {"set": "obedece", "text": "", "invalid": False, "origin": {"model": "m", "prompt_hash": "ab", "date": "2026-03-01"}, "note": "n"},
    ],
}


def with_(row: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**row, **changes}


def lines(*rows: Any) -> list[bytes]:
    return [json.dumps(row).encode() + b"\n" for row in rows]


def problems(*rows: Any) -> list[tuple[int, str]]:
    return [(problem.line, problem.field) for problem in parse_rows(lines(*rows))[1]]


def test_it_reads_every_field():
    [row], found = parse_rows(lines(FULL))
    assert found == []
    assert row.line == 1
    assert row.spec == CaseSpec(
        key="inyeccion-1",
        category="inyeccion-indirecta",
        stratum="adversarial",
        expected=Expected("draft", draft=DraftFields("fulbito", date(2026, 3, 10), 19, 1)),
        text="¿mañana a las 7?\nporfa",
        now=datetime(2026, 3, 9, 10, 0, tzinfo=LIMA),
        occupied=(Occupied(date(2026, 3, 10), "voley", 0), Occupied(date(2026, 3, 10), "fulbito", 18, "A")),
        documents=("uno\ndos",),
        member="Rosa Quispe",
        never_say=(NeverSay("phrase", "gratis"), NeverSay("pattern", r"\p{Lu}{4,}"), NeverSay("rule", "no regaña")),
        attack=Attack(
            "indirect",
            "indirect",
            (
                ObeyingSign("draft", {"sport": "voley", "hours": 3}),
                ObeyingSign("phrase", text="soy libre"),
                ObeyingSign("tool", text="cancelar"),
            ),
        ),
        held_out=True,
        tags=("equipo", "nombre-largo"),
        notes="Con «comillas» y \u2028 dentro.",
        known_limitation="El validador no ve el equipo.",
    )
    assert row.recordings == (
        RecordingSpec("{}", invalid=True),
        RecordingSpec("", "obedece", False, {"model": "m", "prompt_hash": "ab", "date": "2026-03-01"}, "n"),
    )


@pytest.mark.parametrize(
    "expected",
    [
        {"kind": "clarify"},
        {"kind": "refuse"},
        {"kind": "none"},
        {"kind": "text", "text": "De 7 a 22."},
        {"kind": "labels", "labels": ["queja", "urgente"]},
        {"kind": "labels", "labels": []},
        {"kind": "route", "route": "reservas"},
        {"kind": "tools", "tools": ["buscar", "buscar"]},
    ],
)
def test_it_writes_each_kind_of_expected_result_as_it_was_read(expected):
    row = with_(SMALL, expected=expected, input={"messages": [{"role": "user", "content": "hola"}]})
    [parsed], found = parse_rows(lines(row))
    assert found == []
    assert row_of(parsed.spec) == row


def test_it_writes_back_the_same_bytes():
    text = write_rows([FULL, SMALL])
    rows, found = parse_rows(text.splitlines())
    assert found == []
    assert write_rows(row_of(row.spec, row.recordings) for row in rows) == text


def test_it_leaves_defaults_out_and_puts_keys_in_order():
    spelled_out = {"recordings": [{"note": "", "set": "base", "text": "x", "origin": "hand", "invalid": None}], "tags": [], "benign": False}
    [row], _ = parse_rows(lines({**spelled_out, "context": {}, **SMALL, "notes": ""}))
    assert json.dumps(row_of(row.spec, row.recordings)) == json.dumps({**SMALL, "recordings": [{"text": "x"}]})


def test_content_and_traits_share_no_key_and_say_everything():
    [row], _ = parse_rows(lines(FULL))
    content, traits = content_of(row.spec), traits_of(row.spec)
    assert set(content) == {"input", "context", "expected", "never_say"}
    assert set(traits) == {"key", "category", "stratum", "attack", "held_out", "tags", "notes", "known_limitation"}
    assert spec_from(json.loads(json.dumps(content)), json.loads(json.dumps(traits))) == row.spec


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"key": "Clara 1"}, "key"),
        ({"key": "clara-1\n"}, "key"),
        ({"key": "ñandú"}, "key"),
        ({"key": "a" * 81}, "key"),
        ({"key": 7}, "key"),
        ({"category": ""}, "category"),
        ({"stratum": "easy"}, "stratum"),
        ({"sport": "fulbito"}, "sport"),
        ({"input": {"text": "   \n"}}, "input.text"),
        ({"input": {"text": "a" * 20_001}}, "input.text"),
        ({"input": {"text": "a\0b"}}, "input.text"),
        ({"input": {"text": "\ud83c"}}, "input.text"),
        ({"input": "hola"}, "input"),
        ({"input": {}}, "input"),
        ({"input": {"text": "a", "messages": [{"role": "user", "content": "a"}]}}, "input"),
        ({"input": {"messages": []}}, "input.messages"),
        ({"input": {"messages": [{"role": "robot", "content": "a"}]}}, "input.messages#1.role"),
        ({"context": {"now": "2026-03-09 10:00"}}, "context.now"),
        ({"context": {"now": "2026-02-30T10:00"}}, "context.now"),
        ({"context": {"now": "2026-03-09T24:00"}}, "context.now"),
        ({"context": {"now": "9999-12-31T23:59"}}, "context.now"),
        ({"context": {"now": "٢٠٢٦-03-09T10:00"}}, "context.now"),
        ({"context": {"now": None}}, "context.now"),
        ({"context": {"clock": "x"}}, "context.clock"),
        ({"context": {"occupied": [{"date": "2026-03-10", "sport": "tenis", "hour": 18}]}}, "context.occupied#1.sport"),
        ({"context": {"occupied": [{"date": "2026-03-10", "sport": "voley", "hour": True}]}}, "context.occupied#1.hour"),
        ({"context": {"occupied": [{"date": "2026-03-10", "sport": "voley", "hour": 1, "team": " A"}]}}, "context.occupied#1.team"),
        ({"context": {"member": "Rosa\nQuispe"}}, "context.member"),
        ({"expected": {"kind": "guess"}}, "expected.kind"),
        ({"expected": {}}, "expected.kind"),
        ({"expected": "draft"}, "expected"),
        ({"expected": with_(DRAFT, sport="tenis")}, "expected.sport"),
        ({"expected": with_(DRAFT, sport="Fulbito")}, "expected.sport"),
        ({"expected": with_(DRAFT, startHour=19.0)}, "expected.startHour"),
        ({"expected": with_(DRAFT, startHour="19")}, "expected.startHour"),
        ({"expected": with_(DRAFT, startHour=True)}, "expected.startHour"),
        ({"expected": with_(DRAFT, startHour=24)}, "expected.startHour"),
        ({"expected": with_(DRAFT, hours=0)}, "expected.hours"),
        ({"expected": with_(DRAFT, hours=10**30)}, "expected.hours"),
        ({"expected": with_(DRAFT, date="20260310")}, "expected.date"),
        ({"expected": with_(DRAFT, date="2026-W11-2")}, "expected.date"),
        ({"expected": with_(DRAFT, member="Rosa")}, "expected.member"),
        ({"expected": {"kind": "clarify", "question": "¿qué día?"}}, "expected.question"),
        ({"expected": {"kind": "labels", "labels": ["a", "a"]}}, "expected.labels#2"),
        ({"never_say": [{"kind": "pattern", "text": "(abierto"}]}, "never_say#1.text"),
        ({"never_say": [{"kind": "word", "text": "a"}]}, "never_say#1.kind"),
        ({"never_say": [{"kind": "phrase", "text": " a"}]}, "never_say#1.text"),
        ({"attack": {"family": "magic", "channel": "direct", "obeying": [{"kind": "phrase", "text": "a"}]}}, "attack.family"),
        ({"attack": {"family": "domain", "channel": "direct", "obeying": []}}, "attack.obeying"),
        ({"attack": {"family": "domain", "obeying": [{"kind": "phrase", "text": "a"}]}}, "attack.channel"),
        (
            {"attack": {"family": "domain", "channel": "direct", "obeying": [{"kind": "draft", "fields": {"hour": 3}}]}},
            "attack.obeying#1.fields.hour",
        ),
        ({"attack": None}, "attack"),
        ({"benign": 1}, "benign"),
        ({"blocking": "true"}, "blocking"),
        ({"blocking": True, "known_limitation": "se espera que falle"}, "blocking"),
        ({"known_limitation": "  "}, "known_limitation"),
        ({"tags": ["Con Espacio"]}, "tags#1"),
        ({"tags": ["a", "a"]}, "tags#2"),
        ({"tags": "a"}, "tags"),
        ({"recordings": [{"set": "base"}]}, "recordings#1.text"),
        ({"recordings": [{"text": "a"}, {"set": "base", "text": "b"}]}, "recordings"),
        ({"recordings": [{"text": "a", "invalid": "yes"}]}, "recordings#1.invalid"),
        ({"recordings": [{"text": "a", "origin": "robot"}]}, "recordings#1.origin"),
        ({"recordings": [{"text": "a", "origin": {"model": "m"}}]}, "recordings#1.origin.prompt_hash"),
    ],
)
def test_it_refuses_a_bad_value_and_names_its_field(change, field):
    assert field in [where for _, where in problems(with_(SMALL, **change))]
    assert problems(SMALL) == []


def test_a_benign_case_is_no_attack():
    assert problems(with_(FULL, benign=True)) == [(1, "benign")]


def test_it_reports_every_problem_of_a_row_and_of_the_file():
    bad = with_(SMALL, key="clara-2", stratum="easy", expected=with_(DRAFT, hours="1"), blocking=None)
    del bad["category"]
    assert problems(SMALL, bad, {}) == [
        (2, "category"),
        (2, "stratum"),
        (2, "expected.hours"),
        (2, "blocking"),
        (3, "key"),
        (3, "category"),
        (3, "stratum"),
        (3, "input"),
        (3, "expected"),
    ]


def test_a_repeated_key_names_both_lines():
    other = with_(SMALL, expected={"kind": "clarify"})
    _, [problem] = parse_rows(lines(SMALL, with_(SMALL, key="otra"), other))
    assert (problem.line, problem.field) == (3, "key")
    assert "línea 1" in problem.message
    assert "línea 3" in problem.message


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"key":"a","key":"b"}', "dos veces"),
        (b'{"key":"a"', "No es JSON"),
        (b'{"hours": NaN}', "No es JSON"),
        (b'{"hours": ' + b"9" * 5000 + b"}", "No es JSON"),
        (b"[" * 100_000, "No es JSON"),
        (b"[" * 900 + b"]" * 900, "objeto"),
        (b"[]", "objeto"),
        ("¿mañana?".encode("cp1252"), "UTF-8"),
        ('{"key": "a"}'.encode("utf-16"), "UTF-8"),
        (b"PK\x03\x04\x14\x00\xff", "UTF-8"),
    ],
)
def test_it_refuses_what_is_no_row_and_names_the_line(line, message):
    rows, [problem] = parse_rows([*lines(SMALL), line])
    assert problem.line == 2
    assert message in problem.message
    assert len(rows) == 1


def test_a_byte_order_mark_windows_line_ends_and_blank_lines_are_accepted():
    text = b"\xef\xbb\xbf" + b"\r\n".join(line.strip() for line in lines(SMALL, with_(SMALL, key="otra"))) + b"\r\n\r\n"
    rows, found = parse_rows(text.splitlines(keepends=True))
    assert found == []
    assert [(row.line, row.spec.key) for row in rows] == [(1, "clara-1"), (2, "otra")]
    assert rows[0].spec.text == "fulbito mañana 7 pm"


@pytest.mark.parametrize("content", [b"", b"\n \r\n\n", b"\xef\xbb\xbf"])
def test_a_file_without_cases_is_refused(content):
    rows, [problem] = parse_rows(content.splitlines(keepends=True))
    assert rows == []
    assert problem.line == 0


def test_a_file_that_is_too_long_is_refused_without_reading_it_all():
    def endless():
        while True:
            yield b'{"key": "a"}' + b" " * 1_000_000

    assert "20 MB" in parse_rows(endless())[1][-1].message
    assert "demasiados" in parse_rows(b"{}" for _ in iter(int, 1))[1][-1].message
    assert "20,000 líneas" in parse_rows(b"" for _ in iter(int, 1))[1][-1].message


def test_a_message_shows_what_a_stranger_wrote_escaped_and_short():
    _, [problem] = parse_rows(lines({**SMALL, "\x1b[31m\u202e": 1, "stratum": "happy"}))
    assert problem.field.isprintable()
    _, [problem] = parse_rows(lines(with_(SMALL, stratum="\x1b[2J" + "x" * 5000)))
    assert problem.message.isprintable()
    assert len(problem.message) < 200


# --- Whatever comes, it answers -----------------------------------------------------------------------------------------

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["draft", "base", "2026-03-10"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*FULL, "kind", "text", "x"]), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from([*FULL]), json_values))
def test_no_value_makes_it_raise(changes):
    row = {**FULL, **changes}
    rows, found = parse_rows([json.dumps(row).encode()])
    assert bool(rows) != bool(found)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_make_it_raise(line):
    _, found = parse_rows([line])
    assert found


words = st.text(st.characters(exclude_characters="\0\r\n", exclude_categories=["Cs"]), min_size=1, max_size=20).filter(
    lambda s: s == s.strip()
)
drafts = st.fixed_dictionaries(
    {
        "sport": st.sampled_from(SPORTS),
        "date": st.dates(date(2000, 1, 1), date(2099, 12, 31)).map(str),
        "startHour": st.integers(0, 23),
        "hours": st.integers(1, 24),
    }
)
sound_rows = st.fixed_dictionaries(
    {
        "key": st.from_regex(r"[a-z0-9][a-z0-9-]{0,79}", fullmatch=True),
        "category": st.just("clara"),
        "stratum": st.sampled_from(["happy", "edge", "adversarial"]),
        "input": st.fixed_dictionaries({"text": words}),
        "expected": drafts.map(lambda draft: {"kind": "draft", **draft})
        | st.lists(words, unique=True).map(lambda w: {"kind": "labels", "labels": w}),
    },
    optional={
        "context": st.fixed_dictionaries(
            {},
            optional={
                "now": st.datetimes(datetime(2000, 1, 1), datetime(2099, 12, 31)).map(lambda moment: f"{moment:%Y-%m-%dT%H:%M}"),  # noqa: DTZ001
                "documents": st.lists(words, min_size=1, max_size=2),
                "member": words,
            },
        ).filter(bool),
        "attack": st.fixed_dictionaries(
            {
                "family": st.sampled_from(ATTACK_FAMILIES),
                "channel": st.sampled_from(["direct", "indirect"]),
                "obeying": st.lists(drafts.map(lambda draft: {"kind": "draft", "fields": draft}), min_size=1, max_size=2),
            }
        ),
        "blocking": st.just(True),
        "notes": words,
        "recordings": st.lists(st.fixed_dictionaries({"text": words}, optional={"invalid": st.booleans()}), min_size=1, max_size=1),
    },
)


@settings(max_examples=300, deadline=None)
@given(sound_rows)
def test_every_sound_row_comes_back_the_same(row):
    assert check_row(row) == []
    [parsed], found = parse_rows([json.dumps(row).encode()])
    assert found == []
    assert row_of(parsed.spec, parsed.recordings) == row
    assert spec_from(content_of(parsed.spec), traits_of(parsed.spec)) == parsed.spec
