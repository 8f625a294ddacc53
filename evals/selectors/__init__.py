"""Compound reads of the desk."""

from evals.selectors.figures import aggregates_of, gate_facts, stored_aggregates
from evals.selectors.health import health_of, health_of_version, health_report, live_facts
from evals.selectors.held_out import (
    CLOSED_REVISION,
    OPEN_FOR,
    HeldOutFigures,
    closed_to,
    count_openings,
    held_out_of_run,
    held_out_of_version,
    opened_by,
)
from evals.selectors.kept_rows import dataset_lines, say_row
from evals.selectors.mentions import MentionFigures, measure_mentions
from evals.selectors.reports import report_of, report_rows, report_without_rows
from evals.selectors.runs import baseline_for, baseline_run, is_dead, outage_of, policy_of, progress_of, runs_that_need_help
from evals.selectors.trail import trail_of_run, trail_of_version

__all__ = [
    "CLOSED_REVISION",
    "OPEN_FOR",
    "HeldOutFigures",
    "MentionFigures",
    "aggregates_of",
    "baseline_for",
    "baseline_run",
    "closed_to",
    "count_openings",
    "dataset_lines",
    "gate_facts",
    "health_of",
    "health_of_version",
    "health_report",
    "held_out_of_run",
    "held_out_of_version",
    "is_dead",
    "live_facts",
    "measure_mentions",
    "opened_by",
    "outage_of",
    "policy_of",
    "progress_of",
    "report_of",
    "report_rows",
    "report_without_rows",
    "runs_that_need_help",
    "say_row",
    "stored_aggregates",
    "trail_of_run",
    "trail_of_version",
]
