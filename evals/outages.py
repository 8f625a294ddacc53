"""What an outage means for a run: its rows wait for the model instead of being burned, and one row at a time tries.

Only failures that may pass make a run wait. A key that is wrong is as wrong a minute later: those rows are errors at once.
"""

import threading
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from django.conf import settings

from assistant.breaker import PASSING_CAUSES, Circuit, circuit_of, rules
from assistant.llm import Model
from evals.grading import Failure
from evals.in_flight import Claimed
from evals.models import Run
from evals.selectors import find_outage, outage_of
from evals.values import Outcome
from kallpa.circuits import is_due

LOOK_EVERY_S = 0.5

Answered = tuple[Claimed, Outcome | Failure]


class Admission(NamedTuple):
    """How many rows may be claimed now, and whether they try what kept failing."""

    rows: int
    probe: bool = False


class Watch:
    """A helper's eye on its model's circuit. For scripted answers there is none, and everything passes.

    A failure is in doubt until an answer comes, and it was the row's own, or the circuit opens, and the row waits for the end of
    the outage. A row that waited before and fails again is an error: else one that always fails would hold its run for ever.
    """

    def __init__(self, provider: Model | None) -> None:
        self._circuit = circuit_of(provider) if provider else None
        self.doubtful: list[tuple[Claimed, Failure]] = []
        if self._circuit:
            self._circuit.adopt_incident()

    def is_paused(self) -> bool:
        return self._circuit is not None and find_outage(self._circuit) is not None

    def admit(self, rows: int, *, now: datetime) -> Admission:
        """All of them; while paused one, as the probe, when its time has come, else none."""
        outage = find_outage(self._circuit) if self._circuit else None
        if self._circuit is None or outage is None:
            return Admission(rows)
        return Admission(int(self._circuit.may_probe(outage, now=now)), probe=True)

    def sort(self, row: Claimed, answer: Outcome | Failure, *, now: datetime) -> list[Answered]:
        """Tells the circuit what came of a call, and gives the answers that can now be stored."""
        if self._circuit is None or not row.calls:
            return [(row, answer)]
        if isinstance(answer, Outcome):
            self._note_success(self._circuit, row, now)
            return [*self.settle(), (row, answer)]
        self._circuit.note_failure(answer.cause, probe=row.is_probe, now=now)
        if answer.cause not in PASSING_CAUSES or (row.asked_before and not row.is_probe):
            return [(row, answer)]
        self.doubtful.append((row, answer))
        return self.settle() if self.is_paused() or len(self.doubtful) >= settings.BREAKER_FAILURES else []

    def settle(self) -> list[Answered]:
        """The failures in doubt: put off while the run is paused, errors otherwise."""
        paused = self.is_paused()
        doubtful, self.doubtful = self.doubtful, []
        return [(row, failure._replace(postponed=paused)) for row, failure in doubtful]

    def _note_success(self, circuit: Circuit, row: Claimed, now: datetime) -> None:
        """While a lasting failure keeps the circuit open the run goes on, and each of its rows is a probe."""
        opening = circuit.find_opening()
        circuit.note_success(probe=row.is_probe or (opening is not None and opening.cause not in PASSING_CAUSES), now=now)


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
