"""Every word of the MCP server that a model reads before it asks anything: what a host puts into its prompt when it connects.

Reviewed like a prompt. Tests pin the hash of all of it, so that no change passes unseen.
"""

from typing import Any

from bookings.rules import MAX_DAYS_AHEAD, MAX_HOURS, MIN_HOURS, Sport

SERVER_NAME = "kallpa"
SERVER_TITLE = "Kallpa, complejo deportivo"
SERVER_VERSION = "1.0.0"  # goes up when anything below changes: hosts pin it
INSTRUCTIONS = (
    "Kallpa es un complejo deportivo en Lima. Este servidor dice qué horas de sus canchas están ocupadas o libres y cuáles son sus reglas. "
    "Solo lee: no reserva, no cancela y no dice quién juega."
)

_DATE = {"type": "string", "description": f"Fecha AAAA-MM-DD, de hoy a {MAX_DAYS_AHEAD} días. Si falta, se le pregunta a la persona."}
_HOURS = {"type": "array", "items": {"type": "integer"}}
_READS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}

TOOLS: tuple[dict[str, Any], ...] = (
    {
        "name": "get_availability",
        "title": "Horas de una cancha",
        "description": "Devuelve las horas ocupadas y libres de una cancha de Kallpa en una fecha.",
        "inputSchema": {
            "type": "object",
            "properties": {"courtId": {"type": "integer", "description": "Número de la cancha; kallpa://courts las lista"}, "date": _DATE},
            "required": ["courtId"],
            "additionalProperties": False,
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "courtId": {"type": "integer"},
                "court": {"type": "string"},
                "date": {"type": "string"},
                "occupied": _HOURS,
                "free": _HOURS,
            },
            "required": ["courtId", "court", "date", "occupied", "free"],
        },
        "annotations": _READS,
    },
    {
        "name": "find_free_hours",
        "title": "Horas libres de un deporte",
        "description": "Busca a qué horas puede empezar un partido en una fecha y en qué canchas libres de ese deporte.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "sport": {"type": "string", "enum": [sport.value for sport in Sport], "description": "Deporte"},
                "hours": {
                    "type": "integer",
                    "minimum": MIN_HOURS,
                    "maximum": MAX_HOURS,
                    "default": MIN_HOURS,
                    "description": "Cuántas horas seguidas",
                },
                "date": _DATE,
            },
            "required": ["sport"],
            "additionalProperties": False,
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "sport": {"type": "string"},
                "date": {"type": "string"},
                "hours": {"type": "integer"},
                "starts": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"startHour": {"type": "integer"}, "courtIds": _HOURS},
                        "required": ["startHour", "courtIds"],
                    },
                },
            },
            "required": ["sport", "date", "hours", "starts"],
        },
        "annotations": _READS,
    },
)

RESOURCES: tuple[dict[str, Any], ...] = (
    {
        "uri": "kallpa://rules",
        "name": "rules",
        "title": "Reglas del complejo",
        "description": "Horario, duración y anticipación de las reservas.",
        "mimeType": "text/plain",
    },
    {
        "uri": "kallpa://courts",
        "name": "courts",
        "title": "Canchas",
        "description": "Las canchas en uso, con su número, su deporte y su precio por hora.",
        "mimeType": "application/json",
    },
)

PROMPTS: tuple[dict[str, Any], ...] = (
    {
        "name": "summarize_day",
        "title": "Resumir un día",
        "description": "Pide un resumen de la ocupación de las canchas en una fecha.",
        "arguments": [{"name": "date", "description": _DATE["description"], "required": False}],
    },
)
SUMMARIZE_DAY = (
    "Resume en tres frases la ocupación de las canchas de Kallpa de este día, para quien atiende el mostrador: cuánto se juega de cada "
    "deporte, qué horas están más llenas y qué queda libre. Usa solo estos datos; no hay nombres de personas y no hacen falta."
    "\n\n{day}"
)

ASK_FOR_DATE = "¿De qué fecha?"
DATE_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"date": {"type": "string", "title": "Fecha", "description": "AAAA-MM-DD", "format": "date"}},
    "required": ["date"],
}
