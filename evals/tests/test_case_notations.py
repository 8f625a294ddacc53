"""Lists as experts write them: what is written is read back the same, and what cannot be read names its line."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.datasets import lines
from evals.tests.test_dataset_rows import drafts, words

hours = st.fixed_dictionaries(
    {"date": st.dates().map(str), "sport": st.sampled_from(["fulbito", "voley"]), "hour": st.integers(0, 23)}, optional={"team": words}
)
rules = st.fixed_dictionaries({"kind": st.sampled_from(["phrase", "pattern", "rule"]), "text": words})
signs = (
    st.lists(st.sampled_from(["sport", "date", "startHour", "hours"])).flatmap(
        lambda names: drafts.map(lambda draft: {"kind": "draft", "fields": {name: draft[name] for name in draft if name in names}})
    )
    | words.map(lambda text: {"kind": "phrase", "text": text})
    | words.map(lambda name: {"kind": "tool", "name": name})
)
PAIRS = [
    (lines.write_never_say, lines.read_never_say, rules),
    (lines.write_occupied, lines.read_occupied, hours),
    (lines.write_obeying, lines.read_obeying, signs),
    (lines.write_words, lines.read_words, words),
    (lines.write_documents, lines.read_documents, words),
]


@pytest.mark.parametrize(("write", "read", "rows"), PAIRS)
def test_what_is_written_is_read_back_the_same(write, read, rows):
    @settings(max_examples=200, deadline=None)
    @given(st.lists(rows, max_size=4))
    def holds(given_rows):
        assert [row for row, _ in read(write(given_rows))] == given_rows

    holds()


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60) | st.text("borrador:frase, =hora\n", max_size=60))
def test_no_text_makes_a_reader_raise_anything_but_a_named_line(text):
    for _, read, _ in PAIRS:
        assert all(1 <= number <= text.count("\n") + text.count("\r") + 1 for number in _lines_of(read, text))


def _lines_of(read, text):
    try:
        return [number for _, number in read(text)]
    except lines.LineError as error:
        return [error.line]


def test_a_conversation_keeps_its_turns_and_its_line_breaks():
    messages = [{"role": "user", "content": "hola\n\n  quiero cancha"}, {"role": "assistant", "content": "¿cuándo?"}]
    text = lines.write_messages(messages)
    assert text == "persona: hola\n\n  quiero cancha\nasistente: ¿cuándo?"
    assert [message for message, _ in lines.read_messages(text)] == messages


@pytest.mark.parametrize(
    ("read", "text", "line"),
    [
        (lines.read_messages, "\nhola", 2),
        (lines.read_occupied, "2026-03-10 fulbito 18\n\n2026-03-10 fulbito", 3),
        (lines.read_occupied, "2026-03-10 fulbito siete", 1),
        (lines.read_obeying, "frase: a\r\nborador: horas=6", 2),
        (lines.read_obeying, "borrador: horas=6, horas=7", 1),
        (lines.read_obeying, "borrador:", 1),
    ],
)
def test_a_line_that_cannot_be_read_is_named(read, text, line):
    with pytest.raises(lines.LineError) as raised:
        read(text)
    assert raised.value.line == line
