"""What an outage means for a run: its rows wait for the model instead of being burned, and one row at a time tries.

Only failures that may pass make a run wait. A key that is wrong is as wrong a minute later: those rows are errors at once.
"""

import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from django.conf import settings

from assistant.breaker import PASSING_CAUSES, Circuit, circuit_of, rules
from assistant.llm import Model
from evals.grading import Failure
from evals.in_flight import Claimed
from evals.models import Run
from evals.selectors import outage_of
from evals.values import Outcome
from kallpa.circuits import Opening, is_due

LOOK_EVERY_S, LOOK_GOOD_FOR_S = 0.5, 0.1

Answered = tuple[Claimed, Outcome | Failure]


class Admission(NamedTuple):
    """How many rows may be claimed now, and whether they try what kept failing."""

    rows: int
    probe: bool = False


class Watch:
    """A helper's eye on its model's circuit. For scripted answers there is none, and everything passes.

    A failure is in doubt until an answer comes, and it was the row's own, or the circuit opens, and the row waits for the end of
    the outage. A row that waited before and fails again is an error: else one that always fails would hold its run for ever. As the
    probe it is one only if the model has answered since it was put off: the outage that it waits for is another.
    """

    def __init__(self, provider: Model | None) -> None:
        self._circuit = circuit_of(provider) if provider else None
        self.doubtful: list[tuple[Claimed, Failure]] = []
        self._opening: Opening | None = None
        self._look_again_at = 0.0
        if self._circuit:
            self._circuit.adopt_incident()

    def is_paused(self) -> bool:
        opening = self._look()
        return opening is not None and opening.cause in PASSING_CAUSES

    def admit(self, rows: int, *, now: datetime) -> Admission:
        """All of them; while paused one, as the probe, when its time has come, else none."""
        if self._circuit is None or self._opening is None or not self.is_paused():
            return Admission(rows)
        return Admission(int(self._circuit.may_probe(self._opening, now=now)), probe=True)

    def sort(self, row: Claimed, answer: Outcome | Failure, *, now: datetime) -> list[Answered]:
        """Tells the circuit what came of a call, and gives the answers that can now be stored."""
        if self._circuit is None or not row.calls:
            return [(row, answer)]
        if isinstance(answer, Outcome):
            self._note_success(self._circuit, row, now)
            return [*self.settle(), (row, answer)]
        self._circuit.note_failure(answer.cause, probe=row.is_probe, now=now)
        self._look_again_at = 0.0
        if answer.cause not in PASSING_CAUSES or _is_its_own(row, self._circuit):
            return [(row, answer)]
        self.doubtful.append((row, answer))
        return self.settle() if self.is_paused() or len(self.doubtful) >= settings.BREAKER_FAILURES else []

    def settle(self) -> list[Answered]:
        """The failures in doubt: put off while the run is paused, errors otherwise."""
        doubtful, self.doubtful = self.doubtful, []
        paused = bool(doubtful) and self.is_paused()
        return [(row, failure._replace(postponed=paused)) for row, failure in doubtful]

    def _note_success(self, circuit: Circuit, row: Claimed, now: datetime) -> None:
        """While a lasting failure keeps the circuit open the run goes on, and each of its rows is a probe."""
        is_open = self._look() is not None
        circuit.note_success(probe=row.is_probe or (is_open and not self.is_paused()), now=now)
        if is_open:
            self._look_again_at = 0.0

    def _look(self) -> Opening | None:
        """A look is good for a tenth of a second, or until this helper changed something: each asks a cache that others share."""
        if self._circuit and time.monotonic() >= self._look_again_at:
            self._opening, self._look_again_at = self._circuit.find_opening(), time.monotonic() + LOOK_GOOD_FOR_S
        return self._opening


def _is_its_own(row: Claimed, circuit: Circuit) -> bool:
    """Whether a failure is the row's and not the model's: it failed before, and that outage is over."""
    if not row.is_probe:
        return row.asked_before
    return row.put_off_at is not None and circuit.was_mended_since(row.put_off_at)


class Patience:
    """How much longer one process waits for the outages of a run, in all: EVALS_OUTAGE_PATIENCE_S at first."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock, self._left_s = clock, float(settings.EVALS_OUTAGE_PATIENCE_S)

    def wait(self, run: Run, stop: threading.Event) -> bool:
        """Waits until the next probe may be made, or none is needed. False when patience is at an end or `stop` is set."""
        while self._left_s > 0:
            slept = min(LOOK_EVERY_S, self._left_s)
            self._left_s -= slept
            if stop.wait(slept):
                return False
            outage = outage_of(run)
            if outage is None or is_due(outage, rules=rules(), now=self._clock()):
                return True
        return False
