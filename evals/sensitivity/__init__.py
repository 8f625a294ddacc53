"""Does the exam notice a bad student? Recordings are replayed through assistants that lack one guard each, like mutation testing."""

from evals.sensitivity.measure import Finding, Sensitivity, Status, measure
from evals.sensitivity.replays import BOOKING_TARGETS, Replay, replays_of
from evals.sensitivity.weakness import Weakness
from evals.sensitivity.weaknesses import WEAKNESSES

__all__ = ["BOOKING_TARGETS", "WEAKNESSES", "Finding", "Replay", "Sensitivity", "Status", "Weakness", "measure", "replays_of"]
