"""What /readyz says of the model: nothing that names it, its server or its key."""

from assistant.breaker import circuit_of
from assistant.llm import ModelError
from assistant.llm.provider import provider_from_settings
from kallpa import circuits
from kallpa.counters import CountersDown


def report_model() -> dict[str, str]:
    """`state` is ok, failing (with its cause), unknown while the counters are away, or why none can be asked."""
    try:
        circuit = circuit_of(provider_from_settings())
        opening = circuits.find_opening(circuit.name) if circuit else None
    except ModelError as error:
        return {"state": error.cause}
    except CountersDown:
        return {"state": "unknown"}
    return {"state": "failing", "cause": opening.cause} if opening else {"state": "ok"}
