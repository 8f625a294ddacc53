"""The report on a terminal, 80 columns wide."""

import textwrap
from collections.abc import Sequence

from evals.reports import RunReport
from evals.reports.figures import MetricLine, metric_lines, say_correct, say_operations, say_resolution, say_rules
from evals.reports.wording import (
    SHOWN_AT_MOST,
    Line,
    error_lines,
    failed_lines,
    say_changes,
    say_facts,
    say_held_out,
    say_verdict,
    verdict_reasons,
)

WIDTH = 80


def render(report: RunReport) -> str:
    """The whole report, ending in a newline. The verdict comes first."""
    blocks = (
        [f"Veredicto: {say_verdict(report)}", *(_wrap(f"- {reason}", "  ", "    ") for _, reason in verdict_reasons(report))],
        [_wrap(fact, "", "  ") for fact in say_facts(report)],
        [_wrap(line, "", "  ") for line in (say_correct(report), say_held_out(report), say_rules(report), *say_operations(report)) if line],
        _table(metric_lines(report)),
        [_wrap(say_resolution(report), "", "")],
        _list("No salieron como se esperaba", failed_lines(report)),
        _list("Sin respuesta", error_lines(report)),
        [_wrap(say_changes(report), "", "  ")],
    )
    return "\n\n".join("\n".join(lines) for lines in blocks if any(lines)) + "\n"


def _wrap(text: str, first: str, rest: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)


def _table(lines: Sequence[MetricLine]) -> list[str]:
    if not lines:
        return []
    cells = [("Métrica", "k/n", "%", "IC 95 %", "Umbral", "Faltan")]
    cells += [(line.label, line.fraction, line.percent, line.interval, line.threshold, str(line.missing)) for line in lines]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    rows = [_row(row, widths) for row in cells]
    drawn = [rows[0]]
    for line, row in zip(lines, rows[1:], strict=True):
        drawn += [row, *([_wrap(line.before, "    ", "      ")] if line.before else [])]
    return drawn


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = (
        f"{cell:<{width}}" if at == 0 else f"{cell:>{width}}" for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join([first, *rest]).rstrip()


def _list(title: str, lines: Sequence[Line]) -> list[str]:
    if not lines:
        return []
    shown = [_wrap(f"{line.name}: {line.text}", "  ", "      ") for line in lines[:SHOWN_AT_MOST]]
    rest = len(lines) - len(shown)
    return [f"{title}:", *shown, *([f"  … y {rest} más"] if rest else [])]
