"""The agent's loop to look at: one script with a short and a long result, the long one cut, and a model that only says it is done.

No model decides anything here: the script is written below. What is shown is the program around it.
"""

from collections.abc import Iterator
from typing import Any

from assistant.agent import Agent, AgentLimits, AgentRun, Stop, run_agent
from assistant.llm.scripted import ReplayModel, Turn
from assistant.tools import NOTHING, Tool, ToolFailed

TASK = "Revisa que nadie pueda reservar más de 3 horas y corre make check."
TESTS, CUT_CHARS = 214, 400
SUMMARY = f"{TESTS} pruebas pasaron en 12 s."
SHORT = SUMMARY
LONG = "\n".join([*(f"ok {number:3} bookings/test_rules.py::{number:03}" for number in range(1, TESTS + 1)), SUMMARY])
FILES = {
    "AGENTS.md": "Después de cada cambio corre make check. Si falla, no sigas con otra cosa.",
    "bookings/rules.py": "MIN_HOURS = 1\nMAX_HOURS = 3\nMAX_DAYS_AHEAD = 14",
}
READ_BOTH = (Turn(calls=(("read_file", {"path": "AGENTS.md"}),)), Turn(calls=(("read_file", {"path": "bookings/rules.py"}),)))
DONE = Turn("Revisé el límite de horas. make check pasa.")
SCRIPT = (*READ_BOTH, Turn(calls=(("run_check", {}),)), DONE)
ENDINGS = {Stop.MODEL: "el modelo dijo que terminó", Stop.MAX_STEPS: "llegó al máximo de pasos"}


def tell_demo() -> Iterator[str]:
    """The demonstration, line by line, in Spanish."""
    yield "Un modelo con guion: pide lo que está escrito en assistant/agent_demo.py. Tokens estimados, a 4 caracteres cada uno."
    short, long = play(SCRIPT, check=SHORT), play(SCRIPT, check=LONG)
    yield from _tell("1. El mismo guion, con una salida corta de make check", short)
    yield from _tell("2. El mismo guion, con una línea por cada prueba", long)
    ratio = last_context(long) / last_context(short)
    yield f"   El contexto termina {ratio:.1f} veces más grande, con la misma información: {SUMMARY}"
    cut = play(SCRIPT, check=LONG, max_result_chars=CUT_CHARS)
    yield from _tell(f"3. La misma salida larga, cortada a {CUT_CHARS} caracteres", cut)
    yield f"   Ahora termina {last_context(cut) / last_context(short):.1f} veces más grande. El resumen del final sigue ahí."
    yield from _tell("4. Un modelo que dice que terminó sin haber corrido nada", play((DONE,), check=SHORT))
    yield "   Ningún paso: nadie corrió make check. El programa no puede saber si es cierto; hay que comprobarlo aparte."
    yield from _tell("5. Un modelo que pide lo que nadie le ofreció", play((Turn(calls=(("delete_database", {}),)), DONE), check=SHORT))
    yield "   Recibe un error como resultado y sigue. No hay nada que borrar con lo que tiene."
    yield from _tell("6. Un modelo que no termina nunca", play([READ_BOTH[0]] * 9, check=SHORT, max_steps=3))


def play(script: Any, *, check: str, **limits: Any) -> AgentRun:
    """One run of a script; `check` is what run_check says, `limits` those of AgentLimits."""
    chosen = {"max_result_chars": 100_000} | limits
    return run_agent(TASK, agent=Agent(ReplayModel(script), _tools(check), AgentLimits(**chosen), instructions="Ayudas a programar."))


def last_context(run: AgentRun) -> int:
    """Tokens of the context after the last step."""
    return run.steps[-1].context_tokens


def _tools(check: str) -> tuple[Tool, ...]:
    path = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    nothing = {"type": "object", "properties": {}}
    return (
        Tool("read_file", "Lee un archivo.", path, _read_file, read_only=True, capabilities=NOTHING),
        Tool("run_check", "Corre make check.", nothing, lambda arguments: check, read_only=True, capabilities=NOTHING),
    )


def _read_file(arguments: dict[str, Any]) -> str:
    if arguments["path"] not in FILES:
        raise ToolFailed("Ese archivo no existe.")
    return FILES[arguments["path"]]


def _tell(title: str, run: AgentRun) -> Iterator[str]:
    yield ""
    yield f"{title}:"
    for step in run.steps:
        note = f"  (cortado, de {step.result_chars:,} caracteres)" if step.was_cut else ""
        yield f"   {step.label:<32} contexto: {step.context_tokens:>6,} tokens{note}" + ("" if step.ok else f"  {step.result}")
    yield f"   se detuvo porque {ENDINGS[run.stop or Stop.MODEL]}" + (f": «{run.answer}»" if run.answer else "")
