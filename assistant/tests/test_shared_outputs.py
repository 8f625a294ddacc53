"""Texts labelled by people, and raw outputs of two small models: what becomes of each."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

from assistant.drafts import Draft, parse_output
from bookings.clock import LIMA

FOLDER = Path(__file__).parent / "testdata"
NOW = dt.datetime(2026, 3, 9, 10, 0, tzinfo=LIMA)


def read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def test_the_file_has_the_hundred_lines() -> None:
    expected = [line["expected"] for line in read("outputs_shared.jsonl")]
    assert [expected.count(kind) for kind in ("draft", "clarify", "refuse", "rejected", "either")] == [14, 5, 2, 78, 1]


@pytest.mark.parametrize("line", read("outputs_shared.jsonl"), ids=lambda line: line["id"])
def test_each_labelled_output_comes_out_right(line: dict[str, Any]) -> None:
    # "either" is decided: 19.0 is not an integer.
    expected = "rejected" if line["expected"] == "either" else line["expected"]
    assert parse_output(line["text"], now=NOW).kind == expected, line["reason"]


def test_real_outputs_give_only_the_drafts_that_a_person_finds_in_them() -> None:
    results = [parse_output(line["text"], now=NOW) for line in read("real_outputs.jsonl")]
    wednesday = dt.date(2026, 3, 11)
    assert {number: result.draft for number, result in enumerate(results, start=1) if result.draft} == {
        30: Draft("voley", wednesday, 20, 1),
        31: Draft("voley", wednesday, 20, 1),
        48: Draft("fulbito", wednesday, 18, 1),
        81: Draft("voley", wednesday, 20, 1),
        83: Draft("fulbito", wednesday, 19, 1),
    }
    assert [number for number, result in enumerate(results, start=1) if result.kind == "clarify"] == [49, 50, 82]
    assert [number for number, result in enumerate(results, start=1) if result.kind == "refuse"] == [16, 24, 29]
