"""What /readyz says of the model: nothing that names it, its server or its key."""

from assistant.breaker import Circuit, circuit_of
from assistant.llm import ModelError
from assistant.llm.provider import provider_from_settings
from kallpa import circuits
from kallpa.counters import CountersDown
from kallpa.incidents import open_incidents
from kallpa.models import Incident


def report_model() -> dict[str, str]:
    """`state` is ok, failing (with its cause), unknown while the counters are away, or why none can be asked."""
    try:
        circuit = circuit_of(provider_from_settings())
        opening = circuits.find_opening(circuit.name) if circuit else None
    except ModelError as error:
        return {"state": error.cause}
    except CountersDown:
        return {"state": "unknown"}
    cause = opening.cause if opening else _alarmed_by(circuit)
    return {"state": "failing", "cause": cause} if cause else {"state": "ok"}


def _alarmed_by(circuit: Circuit | None) -> str:
    """The cause of an incident that a canary opened: one call that failed opens no circuit."""
    alarms = open_incidents().filter(kind=Incident.Kind.MODEL, subject=circuit.name) if circuit else Incident.objects.none()
    return alarms.values_list("cause", flat=True).first() or ""
