"""The report as a comment on a pull request. Everything a model or a case wrote is escaped."""

import html
import re
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

MARKS = {"PASS": "✅", "FAIL": "❌", "INCONCLUSIVE": "⚠️"}
COLUMNS = ("Métrica", "k/n", "%", "IC 95 %", "Umbral", "Línea base", "Faltan")

_PUNCTUATION = re.compile(r"([\\`*_{}\[\]()#+!|~])")


def render(report: RunReport) -> str:
    """GitHub-flavoured Markdown, ending in a newline."""
    mark = MARKS[report.verdict.decision] if report.verdict else "⏳"
    blocks = (
        [f"### {mark} {escape(report.dataset)}: {escape(say_verdict(report))}"],
        [f"- {escape(reason)}" for _, reason in verdict_reasons(report)],
        [f"**{escape(say_correct(report))}**"],
        [escape(say_held_out(report))],
        [escape(say_rules(report))],
        _table(metric_lines(report)),
        [escape(say_resolution(report))],
        [f"- {escape(line)}" for line in say_operations(report)],
        _list("No salieron como se esperaba", failed_lines(report)),
        _list("Sin respuesta", error_lines(report)),
        [escape(say_changes(report))],
        [f"<sub>{'<br>'.join(escape(fact) for fact in say_facts(report))}</sub>"],
    )
    return "\n\n".join("\n".join(lines) for lines in blocks if any(lines)) + "\n"


def escape(text: str) -> str:
    """Text that GitHub shows as it is: no HTML, no markup, no table cell, and nobody mentioned."""
    return html.escape(_PUNCTUATION.sub(r"\\\1", text), quote=False).replace("@", "@\u2060")


def _table(lines: Sequence[MetricLine]) -> list[str]:
    if not lines:
        return []
    rows = [(line.label, line.fraction, line.percent, line.interval, line.threshold, line.before, str(line.missing)) for line in lines]
    drawn = [f"| {' | '.join(escape(cell) for cell in row)} |" for row in (COLUMNS, *rows)]
    return [drawn[0], f"|{' --- |' * len(COLUMNS)}", *drawn[1:]]


def _list(title: str, lines: Sequence[Line]) -> list[str]:
    if not lines:
        return []
    shown = [f"- **{escape(line.name)}**: {escape(line.text)}" for line in lines[:SHOWN_AT_MOST]]
    rest = len(lines) - len(shown)
    more = [f"- … y {rest} más"] if rest else []
    return [f"<details><summary>{title}: {len(lines)}</summary>", "", *shown, *more, "", "</details>"]
