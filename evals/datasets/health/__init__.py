"""Is this dataset a good exam? Checks over its cases, each with a figure, a sentence and what to do. Pure: no database, no clock."""

from evals.datasets.health.attacks import check_attacks
from evals.datasets.health.composition import check_composition
from evals.datasets.health.keeping import check_keeping
from evals.datasets.health.likeness import check_likeness
from evals.datasets.health.report import CaseFacts, Check, DatasetFacts, HealthReport, Level, Stored, say_cases, say_names
from evals.datasets.health.writing import check_writing

__all__ = ["CaseFacts", "Check", "DatasetFacts", "HealthReport", "Level", "Stored", "check_health", "say_cases", "say_names"]


def check_health(facts: DatasetFacts) -> HealthReport:
    """Every check that applies to these cases, in the order in which people read them."""
    checks = (*check_composition(facts), *check_attacks(facts), check_likeness(facts), check_writing(facts), *check_keeping(facts))
    held_out = frozenset(spec.key for spec in facts.specs if spec.held_out)
    return HealthReport(checks, len(facts.cases), held_out, facts.now)
