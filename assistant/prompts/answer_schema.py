"""The three answers of `sistema.md` as a JSON Schema, for servers that can hold a model to one. The strict parser stays the judge."""

from typing import Any

from bookings.rules import CLOSES_AT, MAX_HOURS, MIN_HOURS, OPENS_AT, Sport


def _answer(action: str, **fields: dict[str, Any]) -> dict[str, Any]:
    properties = {"action": {"const": action}, **fields}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


# "type" beside "anyOf" says nothing new, but some servers want an object at the root. Not "strict": that mode forbids anyOf there.
ANSWER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "anyOf": [
        _answer(
            "draft",
            sport={"enum": [sport.value for sport in Sport]},
            date={"type": "string", "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
            startHour={"type": "integer", "minimum": OPENS_AT, "maximum": CLOSES_AT - 1},
            hours={"type": "integer", "minimum": MIN_HOURS, "maximum": MAX_HOURS},
        ),
        _answer("clarify", question={"type": "string"}),
        _answer("refuse"),
    ],
}
RESPONSE_FORMAT: dict[str, Any] = {"type": "json_schema", "json_schema": {"name": "respuesta", "schema": ANSWER_SCHEMA}}
