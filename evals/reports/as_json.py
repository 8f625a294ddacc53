"""The report for machines: numbers as numbers, one document."""

import json
from dataclasses import asdict
from typing import Any

from evals.reports import ReportRow, RunReport
from evals.reports.figures import difference_from
from evals.reports.wording import explain_row, public_names, say_verdict
from evals.values import Verdict

FACTS = (
    "run_id",
    "dataset",
    "version",
    "version_hash",
    "signed",
    "target",
    "model_kind",
    "model_name",
    "prompt_variant",
    "prompt_hash",
    "temperature",
    "repetitions",
    "purpose",
    "commit",
    "recording_set",
    "status",
    "budget_reached",
    "expected",
    "measured",
    "errors",
    "held_out",
    "openings",
)


def render(report: RunReport) -> str:
    """One JSON object, indented, ending in a newline, good for a UTF-8 file. A held-out case is only its number and its status."""
    names = public_names(report.rows)
    document = {
        "run": {name: getattr(report, name) for name in FACTS},
        "verdict": _verdict(report.verdict, names) | {"sentence": say_verdict(report)},
        "metrics": {name: asdict(aggregate) for name, aggregate in report.aggregates.items()} if report.measured else {},
        "baseline": _baseline(report),
        "rules": report.rules and asdict(report.rules),
        "rows": [_row(row, names) for row in report.rows],
        "changed_between_repetitions": [names.get(key, key) for key in report.changed_between_repetitions],
    }
    written = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    return written.encode("utf-8", "replace").decode()


def _verdict(verdict: Verdict | None, names: dict[str, str]) -> dict[str, Any]:
    if verdict is None:
        return {"decision": None, "reasons": []}
    reasons = [
        {"decision": reason.decision, "text": reason.text, "metric": reason.metric, "keys": [names.get(key, key) for key in reason.keys]}
        for reason in verdict.reasons
    ]
    return {"decision": verdict.decision, "reasons": reasons}


def _baseline(report: RunReport) -> dict[str, Any] | None:
    """By metric: the baseline's figures, and the difference where both are shares."""
    if report.baseline is None:
        return None
    return {name: asdict(before) | {"difference": _difference(report, name)} for name, before in report.baseline.items()}


def _difference(report: RunReport, name: str) -> dict[str, Any] | None:
    aggregate = report.aggregates.get(name)
    found = difference_from(aggregate, report.baseline.get(name)) if aggregate and report.baseline else None
    return found and found._asdict() | {"is_signal": found.is_signal}


def _row(row: ReportRow, names: dict[str, str]) -> dict[str, Any]:
    shown: dict[str, Any] = {"key": names.get(row.key, row.key), "repetition": row.repetition, "status": row.status}
    if row.held_out:
        return shown | {"held_out": True}
    shown |= {"category": row.category, "blocking": row.blocking, "expected": row.expected, "got": row.got, "reasons": list(row.reasons)}
    return shown | {
        "known_limitation": row.known_limitation,
        "held_out": False,
        "explanation": "" if row.status == "pasa" else explain_row(row),
    }
