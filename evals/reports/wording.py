"""The sentences that every report shares, and what a report may show of a held-out case: nothing but a number."""

import unicodedata
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from evals.gate import CODE_ONLY
from evals.reports import ReportRow, RunReport
from evals.values import Decision, Reason

SHOWN_AT_MOST = 20
KEYS_AT_MOST = 5
TEXT_AT_MOST = 200

_EXPECTED = "se esperaba "

KIND_WORDS = {"scripted": "guion", "real": "modelo real", "rules": "reglas sin modelo"}
PURPOSE_WORDS = {"iteration": "para iterar", "release": "para publicar"}
STATUS_WORDS = {
    "queued": "en cola",
    "running": "corriendo",
    "interrupted": "interrumpida",
    "over-budget": "sin presupuesto",
    "cancelled": "cancelada",
    "finished": "terminada",
}
BUDGET_WORDS = {"run": " para la corrida", "day": " para el día, entre todas las corridas"}


class Line(NamedTuple):
    """One result as a report names and explains it."""

    name: str
    text: str


def clean(text: str, limit: int = TEXT_AT_MOST) -> str:
    """One line without control or invisible characters, cut at `limit`: a model must not draw on anybody's terminal."""
    visible = "".join(" " if char.isspace() else char for char in text if char.isspace() or unicodedata.category(char)[0] != "C")
    line = " ".join(visible.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def public_names(rows: Iterable[ReportRow]) -> dict[str, str]:
    """What to call each held-out case: `reservado 1`, `reservado 2`, … in the order of their keys."""
    held_out = sorted({row.key for row in rows if row.held_out})
    return {key: f"reservado {number}" for number, key in enumerate(held_out, start=1)}


def say_keys(keys: Iterable[str], names: Mapping[str, str], limit: int = KEYS_AT_MOST) -> str:
    """`a, b, reservado 1 y 3 más`."""
    shown = [names.get(key, key) for key in keys]
    rest = len(shown) - limit
    return ", ".join(shown) if rest <= 0 else f"{', '.join(shown[:limit])} y {rest} más"


def say_reason(reason: Reason, names: Mapping[str, str]) -> str:
    """The sentence and the cases it rests on."""
    text = clean(reason.text, 600)
    return f"{text} Casos: {say_keys(reason.keys, names)}." if reason.keys else text


def say_verdict(report: RunReport) -> str:
    """`PASS — el código pasa; el modelo no se midió`."""
    if report.verdict is None:
        return "sin veredicto: la corrida no ha terminado"
    code_only = any(reason.text == CODE_ONLY for reason in report.verdict.reasons)
    return f"{report.verdict.decision} — {CODE_ONLY}" if code_only else str(report.verdict.decision)


def verdict_reasons(report: RunReport) -> list[tuple[Decision, str]]:
    """The reasons below the verdict, without the one that stands in its own line."""
    reasons = report.verdict.reasons if report.verdict else ()
    names = public_names(report.rows)
    return [(reason.decision, say_reason(reason, names)) for reason in reasons if reason.text != CODE_ONLY]


def say_facts(report: RunReport) -> list[str]:
    """What ran, in four lines."""
    is_rules = report.model_kind == "rules"
    words = "Reglas" if is_rules else f"Prompt {report.prompt_variant}"
    model = f"{report.model_name} ({KIND_WORDS[report.model_kind]}{f', juego {report.recording_set}' if report.recording_set else ''})"
    times = "1 repetición" if report.repetitions == 1 else f"{report.repetitions} repeticiones"
    sha, _, state = report.commit.partition("-")
    commit = f" · commit {sha[:12]}{' con cambios sin guardar' if state else ''}" if sha else ""
    errors = "1 error" if report.errors == 1 else f"{report.errors} errores"
    status = STATUS_WORDS.get(report.status, report.status) + BUDGET_WORDS.get(report.budget_reached, "")
    version = f"{report.dataset} v{report.version} ({'firmada' if report.signed else 'sin firmar'})"
    seal = f" · huella {report.version_hash[:10]}" if report.version_hash else ""
    return [
        f"Corrida {report.run_id} · {version}{seal} · {report.target}",
        "Ningún modelo: solo reglas" if is_rules else f"Modelo {model} · temperatura {report.temperature:g}",
        f"{words} {report.prompt_hash[:10]} · {PURPOSE_WORDS.get(report.purpose, report.purpose)} · {times}{commit}",
        f"Resultados: {report.measured} de {report.expected} medidos, {errors} · {status}",
    ]


def say_held_out(report: RunReport) -> str:
    """How many cases are held out and how often they had been opened: what that part of the score is worth. Empty without any."""
    if not report.held_out:
        return ""
    cases = "1 caso reservado" if report.held_out == 1 else f"{report.held_out} casos reservados"
    times = {0: "nadie los había abierto", 1: "se habían abierto 1 vez"}.get(report.openings, f"se habían abierto {report.openings} veces")
    return f"Con {cases}; al empezar, {times}."


def say_changes(report: RunReport) -> str:
    """Which cases did not come out the same in every repetition, or that all did; empty where nothing was repeated."""
    changed = report.changed_between_repetitions
    if changed:
        return f"Cambian entre repeticiones ({len(changed)}): {say_keys(changed, public_names(report.rows), SHOWN_AT_MOST)}"
    return "Ningún caso cambió de resultado entre repeticiones." if report.repetitions > 1 and report.measured else ""


def name_row(row: ReportRow, report: RunReport, names: Mapping[str, str]) -> str:
    """`ambigua-7`, or `ambigua-7 #2` in a run with repetitions."""
    name = names.get(row.key, row.key)
    return name if report.repetitions == 1 else f"{name} #{row.repetition}"


def explain_row(row: ReportRow) -> str:
    """Why a row did not pass, in one line; nothing of the text of a held-out case."""
    if row.held_out:
        return "el proveedor no respondió" if row.status == "error" else "no salió como se esperaba"
    if row.status == "error":
        return clean(row.got) or "el proveedor no respondió"
    return f"{_EXPECTED}{clean(row.expected)}, salió {clean(row.got)}{_say_reasons(row)}{_say_marks(row)}"


def _say_reasons(row: ReportRow) -> str:
    """Each reason once, without those that only repeat what was expected and what came out."""
    parts = dict.fromkeys(clean(part) for reason in row.reasons for part in reason.split("; "))
    told = [part for part in parts if not part.startswith(_EXPECTED)]
    return f" ({'; '.join(told)})" if told else ""


def _say_marks(row: ReportRow) -> str:
    blocking = " [bloqueante]" if row.blocking else ""
    return f"{blocking} [limitación conocida: {clean(row.known_limitation, 400)}]" if row.known_limitation else blocking


def failed_lines(report: RunReport) -> list[Line]:
    """Rows that came out wrong, blocking ones first."""
    names = public_names(report.rows)
    failed = sorted((row for row in report.rows if row.status == "falla"), key=lambda row: not row.blocking)
    return [Line(name_row(row, report, names), explain_row(row)) for row in failed]


def error_lines(report: RunReport) -> list[Line]:
    """Rows without an answer: not wrong, not right."""
    names = public_names(report.rows)
    return [Line(name_row(row, report, names), explain_row(row)) for row in report.rows if row.status == "error"]
