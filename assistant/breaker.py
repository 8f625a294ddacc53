"""A circuit breaker for each model on each server: an outage is not hammered, and it is told as an incident.

When the counters do not answer the circuit counts as closed: the limits of the assistant decide then, and they close it anyway.
"""

import datetime as dt
import logging
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.conf import settings
from django.db import DatabaseError

from assistant.llm import (
    Model,
    ModelAddressRefused,
    ModelAuthError,
    ModelBadRequest,
    ModelBadResponse,
    ModelError,
    ModelRateLimited,
    ModelResponseTooLarge,
    ModelServerError,
    ModelTimeout,
    ModelUnreachable,
)
from kallpa import circuits, counters
from kallpa.counters import CountersDown
from kallpa.incidents import Sign, close_incident, end_silent, open_incident, open_incidents
from kallpa.models import Incident

logger = logging.getLogger(__name__)

SHARE, LEAST_CALLS = 0.5, 10
SILENT_AFTER = dt.timedelta(days=1)
# Waiting may mend these; the others stay until somebody mends a setting or our code.
PASSING = (ModelTimeout, ModelRateLimited, ModelServerError, ModelUnreachable, ModelBadResponse, ModelResponseTooLarge)
LASTING = (ModelAuthError, ModelBadRequest, ModelAddressRefused)
PASSING_CAUSES = frozenset(error.cause for error in PASSING)
SENTENCES = {error.cause: error.sentence for error in (*PASSING, *LASTING)}  # what counts as a failure of the provider


class CircuitOpen(ModelError):  # noqa: N818 -- named after what it is
    """The model keeps failing: it was not asked."""

    cause = "circuit-open"
    asked = False
    sentence = "El modelo viene fallando y por un momento no se le pregunta"


@dataclass(frozen=True, slots=True)
class Circuit:
    """The calls to one model on one server. `now` is always the instant of the call or of its end, aware."""

    model: str
    server: str

    @property
    def name(self) -> str:
        """The subject of its incidents: `gpt-4o-mini en api.example:443`."""
        return f"{self.model} en {self.server}"

    def find_opening(self) -> circuits.Opening | None:
        """None while it is closed, or while nobody can tell."""
        try:
            return circuits.find_opening(self.name)
        except CountersDown:
            return None

    def enter(self, *, now: dt.datetime) -> bool:
        """Whether this call is the probe. Raises CircuitOpen when it must not be made."""
        opening = self.find_opening()
        if opening is None:
            return False
        if self.may_probe(opening, now=now):
            return True
        raise CircuitOpen

    def may_probe(self, opening: circuits.Opening, *, now: dt.datetime) -> bool:
        """True for the one caller who may try now."""
        try:
            return circuits.may_probe(self.name, opening, rules=rules(), now=now)
        except CountersDown:
            return True

    def note_success(self, *, probe: bool, now: dt.datetime) -> None:
        """An answer came. It ends the incident, also one that a canary or another process opened."""
        try:
            closed = circuits.note_success(self.name, probe=probe, rules=rules(), now=now)
            looks = closed or counters.hit("circuit-look", self.name, limit=1, window_s=settings.BREAKER_OPEN_S, now=now).allowed
        except CountersDown:
            return
        if looks and (closed or self.find_opening() is None):
            self.end_alarm(now=now)

    def note_failure(self, cause: str, *, probe: bool, now: dt.datetime) -> None:
        """No answer came. A cause that is not the provider's is not counted."""
        if cause not in SENTENCES:
            return
        try:
            tally = circuits.note_failure(self.name, cause, probe=probe, rules=rules(), now=now)
        except CountersDown:
            return
        if tally or probe:
            self.alarm(cause, SENTENCES[cause], now=now, counts=tally._asdict() if tally else {})

    def alarm(self, cause: str, sentence: str, *, now: dt.datetime, counts: dict[str, int]) -> None:
        """Opens the incident of this model, or adds a sign to the one that is open."""
        _write(lambda: open_incident(Incident.Kind.MODEL, self.name, Sign(cause, sentence, counts), now=now))

    def end_alarm(self, *, now: dt.datetime) -> None:
        """Ends the incident of this model, if one is open."""
        _write(lambda: close_incident(Incident.Kind.MODEL, self.name, now=now))

    def was_mended_since(self, moment: dt.datetime) -> bool:
        """Whether an incident of this model has ended since then."""
        return Incident.objects.filter(kind=Incident.Kind.MODEL, subject=self.name, closed_at__gt=moment).exists()

    def adopt_incident(self) -> None:
        """Begins as open if the database knows of an outage that may pass: an earlier process, with a memory of its own, saw it."""
        incident = open_incidents().filter(kind=Incident.Kind.MODEL, subject=self.name).first()
        if incident and incident.cause in PASSING_CAUSES:
            try:
                circuits.adopt(self.name, circuits.Opening(int(incident.last_sign_at.timestamp() * 1_000), incident.cause))
            except CountersDown:
                return


def end_silent_alarms(*, now: dt.datetime) -> int:
    """Ends the incidents of models that nobody has asked for a day, such as one that another replaced; says how many."""
    return end_silent(Incident.Kind.MODEL, since=now - SILENT_AFTER, now=now)


def circuit_of(model: Model) -> Circuit | None:
    """None for a model that is not on a server: scripted, or not configured."""
    server = getattr(model, "server", "")
    return Circuit(model.name, server) if model.kind == "real" and server else None


def rules() -> circuits.Rules:
    """As the settings say now."""
    open_s = settings.BREAKER_OPEN_S
    probe_s = max(open_s, math.ceil(settings.LLM_TIMEOUT_S) + 1)
    return circuits.Rules(settings.BREAKER_FAILURES, settings.BREAKER_WINDOW_S, SHARE, LEAST_CALLS, open_s, probe_s)


class Breaker:
    """What stands before each call to a model. `now` is the instant it was made; time passes with the process's own clock."""

    def __init__(self, model: Model, *, now: dt.datetime) -> None:
        self._circuit = circuit_of(model)
        self._made_at, self._started = now, time.monotonic()

    @contextmanager
    def call(self) -> Iterator[None]:
        """The call is made inside. Raises CircuitOpen before it begins; a ModelError of the call passes through and is noted."""
        circuit = self._circuit
        if circuit is None:
            yield
            return
        probe = circuit.enter(now=self._now())
        try:
            yield
        except ModelError as error:
            circuit.note_failure(error.cause, probe=probe, now=self._now())
            raise
        circuit.note_success(probe=probe, now=self._now())

    def _now(self) -> dt.datetime:
        return self._made_at + dt.timedelta(seconds=time.monotonic() - self._started)


def _write(write: Callable[[], object]) -> None:
    """An incident that cannot be written must not turn an answer into an error; the next sign tries again."""
    try:
        write()
    except DatabaseError:
        logger.exception("an incident could not be written")
