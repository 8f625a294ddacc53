"""`make bench` fails on a missed goal: the figures here are invented, the sequencer is the real one."""

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bench import __main__ as bench
from bench.goals import Goal, conclude, pass_on, show


@pytest.mark.parametrize(("measured", "met"), [(299.9, True), (300, True), (300.1, False), (math.nan, False)])
def test_a_line_says_its_goal_and_whether_it_was_missed(measured: float, met: bool, capsys: Any) -> None:
    show("cases   n=10", Goal("median", measured, 300, "ms"), Goal("of", 15, 15, "queries"))
    goal = "goal median 300 ms" if met else "MISSED goal median 300 ms"
    assert capsys.readouterr().out == f"cases   n=10   {goal}   goal of 15 queries\n"


def test_lines_pass_at_once_and_those_that_miss_are_listed_at_the_end(capsys: Any) -> None:
    missed = list(pass_on(["a   goal cpu 4 s\n", "b   MISSED goal cpu 4 s\n", "c\n"]))
    assert conclude(missed) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("a   goal cpu 4 s\nb   MISSED goal cpu 4 s\nc\n")
    assert shown.endswith("1 of the lines above MISSED a goal:\nb   MISSED goal cpu 4 s\n")
    assert conclude([]) == 0


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A part `invented` whose module is this file; no database."""

    @contextmanager
    def nowhere(counts: list[int]) -> Iterator[dict[str, str]]:
        yield {"PYTHONPATH": f"{tmp_path}:{bench.ROOT}"}

    monkeypatch.setattr(bench, "desk", nowhere)
    monkeypatch.setattr(bench, "PARTS", {"invented": []})
    monkeypatch.setattr(bench, "MODULES", "invented_bench")
    (tmp_path / "invented_bench").mkdir()
    return tmp_path / "invented_bench" / "invented.py"


@pytest.mark.parametrize(
    ("measured", "code", "last"),
    [(3.9, 0, "Every goal was met."), (4.1, 1, "kit   MISSED goal cpu 4 s")],
)
def test_a_part_that_misses_makes_it_exit_1(
    part: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, measured: float, code: int, last: str
) -> None:
    part.write_text(f"from bench.goals import Goal, show\nshow('kit', Goal('cpu', {measured}, 4, 's'))\n")
    monkeypatch.setattr(sys, "argv", ["bench", "invented"])
    assert bench.main() == code
    assert capsys.readouterr().out.splitlines()[-1] == last


def test_a_part_that_breaks_is_no_part_that_met_its_goals(part: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part.write_text("raise SystemExit(1)\n")
    monkeypatch.setattr(sys, "argv", ["bench"])
    with pytest.raises(SystemExit, match=r"invented_bench\.invented failed with exit code 1"):
        bench.main()


def test_a_part_that_does_not_exist_is_named(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", "pagess"])
    with pytest.raises(SystemExit):
        bench.main()
    assert "there is no part pagess: choose from pages," in capsys.readouterr().err
