"""What the staff's agent says about its runs, in Spanish."""

import datetime as dt

from django.conf import settings

from assistant.models import AgentRun, AgentStop
from assistant.wording import tell_wait

GRACE_S = 30  # a run that should have ended by now, and this much later has not, was interrupted
BY_STOP = {
    AgentStop.MODEL: "El agente dio su respuesta por terminada. Revísala: nada comprueba que sea cierta.",
    AgentStop.MAX_STEPS: "Se detuvo: llegó al máximo de consultas sin terminar. Prueba con un pedido más corto.",
    AgentStop.CONTEXT_WINDOW: "Se detuvo: lo que ya leyó no cabe en una pregunta al modelo. Prueba con menos días o algo más corto.",
    AgentStop.BUDGET: "Se detuvo: el agente llegó a su tope de gasto de hoy. Vuelve a probar mañana.",
    AgentStop.UNAVAILABLE: "El modelo no está disponible en este momento. Vuelve a probar más tarde.",
    AgentStop.APPROVAL: "El agente quiere hacer algo que no es solo leer. No hizo nada todavía: dile si puede.",
}
TOOL_TITLES = {
    "get_availability": "Horario de un día",
    "list_bookings": "Reservas de un día",
    "get_rules": "Reglas del complejo",
    "get_occupancy": "Ocupación",
}
NOTHING_RUN = "Respondió sin consultar nada: lo que dice no sale de los datos del complejo."
BY_CAUSE = {
    "busy": "Ya hay otra consulta en curso. Espera a que termine y vuelve a probar.",
    "timeout": "Se acabó el tiempo antes de terminar. Vuelve a probar, o pide algo más corto.",
    "not-configured": "Este sitio no tiene un modelo configurado. Avisa a quien lo administra.",
    "counters-down": "No se puede contar lo que se gasta, así que el agente está cerrado. Avisa a quien administra el sitio.",
    "crash": "Algo falló de nuestro lado y la consulta se cortó. El detalle está en el registro del sitio.",
}
RUNNING = "Todavía está en curso. Actualiza la página en unos segundos."
INTERRUPTED = "Se interrumpió antes de terminar. Vuelve a preguntar."
ALREADY_DECIDED = "Eso ya se había decidido. Esto es lo que hay ahora."
TRIFECTA = (
    "El agente no puede usar juntas las herramientas que tiene configuradas: unas ven datos privados, otras traen textos de fuera "
    "y otras pueden enviar datos afuera. Avisa a quien administra el sitio."
)


def tell_run(run: AgentRun, now: dt.datetime) -> str:
    """The sentence that goes with how a run stopped."""
    if run.stop == AgentStop.RUNNING:
        return INTERRUPTED if was_interrupted(run, now) else RUNNING
    if run.stop == AgentStop.MODEL and not any(step["ok"] for step in run.steps):
        return NOTHING_RUN
    return BY_CAUSE.get(run.cause) or BY_STOP[AgentStop(run.stop)]


def was_interrupted(run: AgentRun, now: dt.datetime) -> bool:
    """Whether the process that worked on a run must be gone: it is past every deadline that it had."""
    longest_s = settings.AGENT_TIMEOUT_S + settings.LLM_TIMEOUT_S + GRACE_S
    return run.running_since is not None and (now - run.running_since).total_seconds() > longest_s


def tell_agent_limit(retry_after_s: int) -> str:
    """When somebody who asked too often may ask again."""
    return f"Le preguntaste muchas veces seguidas al agente. Vuelve a probar {tell_wait(retry_after_s)}."
