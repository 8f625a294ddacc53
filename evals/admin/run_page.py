"""What the page of a run shows, in a number of queries that does not grow with its results."""

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from django.db.models import F

from evals.admin.case_results import WAITS, was_written
from evals.admin.words import say_answer
from evals.datasets.revisions import read_spec
from evals.gate import CODE_ONLY
from evals.models import CaseRevision, Result, Run
from evals.reports.figures import metric_lines, say_correct, say_operations, say_rules
from evals.reports.wording import SHOWN_AT_MOST, Line, clean, say_facts, say_held_out, say_verdict
from evals.selectors import CLOSED_REVISION, progress_of, report_without_rows
from evals.values import Reason
from evals.words import say_expected

BLOCKING_FIRST = F("revision__traits__blocking").desc(nulls_last=True)


class ReasonWithRows(NamedTuple):
    """One sentence of the verdict, the keys that a page may link to, and how many held-out cases it does not name."""

    decision: str
    text: str
    keys: list[str]
    held_out: int


def run_context(run: Run) -> dict[str, Any]:
    """Verdict, figures and the first failures. Held-out cases are never named, as in every report."""
    report = report_without_rows(run)
    reasons = [reason for reason in report.verdict.reasons if reason.text != CODE_ONLY] if report.verdict else []
    closed = _held_out_keys(run, reasons)
    return {
        "facts": say_facts(report),
        "decision": report.verdict.decision.value if report.verdict else "",
        "verdict": say_verdict(report),
        "reasons": [_with_rows(reason, closed) for reason in reasons],
        "correct": say_correct(report),
        "metrics": metric_lines(report),
        "operations": [line for line in (say_held_out(report), say_rules(report), *say_operations(report)) if line],
        "failed": _first_failures(run),
        "progress": progress_of(run),
    }


def _held_out_keys(run: Run, reasons: Iterable[Reason]) -> set[str]:
    keys = {key for reason in reasons for key in reason.keys}
    closed = CaseRevision.objects.filter(CLOSED_REVISION, versions=run.version_id, case__key__in=keys)
    return set(closed.values_list("case__key", flat=True))


def _with_rows(reason: Reason, closed: Collection[str]) -> ReasonWithRows:
    open_keys = [key for key in reason.keys if key not in closed]
    return ReasonWithRows(reason.decision.value, clean(reason.text, 600), open_keys[:SHOWN_AT_MOST], len(reason.keys) - len(open_keys))


def _first_failures(run: Run) -> list[Line]:
    """The first results with an incorrect grade, blocking ones first; held-out ones are left to the figures."""
    wrong = Result.objects.filter(run=run, scores__scoring__is_current=True, scores__metric="correct", scores__value__lt=1)
    shown = (
        wrong.filter(revision__traits__held_out__isnull=True, revision__case__held_out=False)
        .select_related("revision__case")
        .order_by(BLOCKING_FIRST, "pk")
    )
    return [_explain(result) for result in shown[:SHOWN_AT_MOST]]


def _explain(result: Result) -> Line:
    spec = read_spec(result.revision)
    limitation = f" Limitación conocida: {clean(spec.known_limitation)}" if spec.known_limitation else ""
    blocking = " Bloqueante." if spec.blocking else ""
    got = clean(say_answer(result)) if was_written(result.revision.case) else WAITS
    return Line(spec.key, f"Se esperaba: {say_expected(spec.expected)}. Salió: {got}.{blocking}{limitation}")
