"""The audit answer: what was measured with which exam, who stands for it, and all that changed since. Pure: sections of plain sentences."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.utils.timezone import localtime

from evals.figures import say_count
from evals.reports import RunReport, as_json
from evals.reports.figures import metric_lines, say_correct, say_demand
from evals.reports.wording import KIND_WORDS, PURPOSE_WORDS, clean, say_facts, say_held_out, say_verdict, verdict_reasons
from evals.values import Policy

KEYS_SHOWN = 8


class Seal(NamedTuple):
    """Who signed a version, when and why, the hash that they signed, and the health report as it stood."""

    by: str
    at: datetime
    reason: str
    content_hash: str
    health: Mapping[str, Any] | None


class PastRun(NamedTuple):
    """A run of the version in one line."""

    run_id: int
    at: datetime
    by: str
    kind: str
    model: str
    purpose: str
    commit: str
    status: str
    decision: str
    correct: str


@dataclass(frozen=True, slots=True)
class Change:
    """Something that was written after what the trail is about. `keys` names open cases; `held_out` counts the others."""

    at: datetime
    by: str
    what: str
    why: str = ""
    keys: tuple[str, ...] = ()
    held_out: int = 0


@dataclass(frozen=True, slots=True)
class Trail:
    """Everything behind a version, or behind one run of it. `broken` are sentences on hashes that do not match.

    `changes` came after `since`; `changes_before` between the version and its run, for recordings and policy are not in the hash.
    """

    dataset: str
    version: int
    content_hash: str
    size: int
    held_out: int
    openings: int
    frozen_at: datetime
    frozen_by: str
    broken: tuple[str, ...]
    seal: Seal | None
    since: datetime
    changes: tuple[Change, ...]
    changes_before: tuple[Change, ...] = ()
    runs: tuple[PastRun, ...] = ()
    report: RunReport | None = None
    run_by: str = ""
    run_at: datetime | None = None
    server: str = ""
    policy_by: str = ""
    policy_now: Policy | None = None
    gradings: int = 0


class Section(NamedTuple):
    """A heading and its sentences."""

    title: str
    lines: list[str]


def sections_of(trail: Trail) -> list[Section]:
    """The trail as people read it, on the terminal and in the admin."""
    return [
        Section("El examen", list(_say_exam(trail))),
        Section("La firma", list(_say_seal(trail.seal))),
        *(_run_sections(trail, trail.report) if trail.report else _version_sections(trail)),
        Section(f"Cambios desde entonces ({say_moment(trail.since)})", _say_changes(trail.changes)),
    ]


def _version_sections(trail: Trail) -> list[Section]:
    return [Section("Las corridas", _say_runs(trail.runs)), Section("La política, como está hoy", list(_say_policy(trail.policy_now)))]


def render_text(trail: Trail) -> str:
    """Plain text, ending in a newline."""
    return "\n\n".join("\n".join([section.title, *(f"  {line}" for line in section.lines)]) for section in sections_of(trail)) + "\n"


def render_json(trail: Trail) -> str:
    """One JSON object, ending in a newline; the run's part has the figures with their denominators."""
    row = {name: value for name, value in _as_row(trail).items() if name not in {"report"}}
    if trail.report:
        row |= {"report": json.loads(as_json.render(trail.report)), "policy": _policy_row(trail.report.policy)}
        del row["report"]["rows"], row["runs"]
    return json.dumps(row, ensure_ascii=False, indent=2, default=_as_text) + "\n"


def _as_row(trail: Trail) -> dict[str, Any]:
    parts = {name: getattr(trail, name) for name in Trail.__slots__}
    changes = {name: [asdict(change) for change in getattr(trail, name)] for name in ("changes", "changes_before")}
    runs = [run._asdict() for run in trail.runs]
    return parts | {
        "seal": trail.seal and trail.seal._asdict(), **changes, "runs": runs, "policy_now": _policy_row(trail.policy_now)
    }  # fmt: skip


def _policy_row(policy: Policy | None) -> dict[str, Any] | None:
    return policy.as_row() if policy else None


def _as_text(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(type(value).__name__)


def say_moment(at: datetime) -> str:
    """`09/03/2026 10:00`, in Lima."""
    return f"{localtime(at):%d/%m/%Y %H:%M}"


# --- The exam and its signature -------------------------------------------------------------------------------------------


def _say_exam(trail: Trail) -> Iterator[str]:
    who = f" por {trail.frozen_by}" if trail.frozen_by else "; no quedó escrito quién la congeló"
    yield f"{trail.dataset} v{trail.version}: {say_count(trail.size, 'caso', 'casos')}, congelada el {say_moment(trail.frozen_at)}{who}."
    yield f"Huella: {trail.content_hash}"
    if trail.held_out:
        opened = f"se abrieron hasta hoy {say_count(trail.openings, 'vez', 'veces')}" if trail.openings else "nadie los ha abierto"
        yield f"Reservados: {say_count(trail.held_out, 'caso', 'casos')}; {opened}."
    yield from trail.broken or ("Las huellas, calculadas otra vez, coinciden.",)


def _say_seal(seal: Seal | None) -> Iterator[str]:
    if seal is None:
        yield "Nadie la ha firmado."
        return
    yield f"La firmó {seal.by} el {say_moment(seal.at)}: «{clean(seal.reason, 600)}»"
    yield f"Huella firmada: {seal.content_hash}"
    if seal.health:
        yield f"Salud al firmar: {seal.health['level']}."
        for check in seal.health["checks"]:
            if check["level"] != "bien":
                yield f"  {check['level']}: {check['title']}, {check['figure']}. {check['sentence']}"
    else:
        yield "Se firmó antes de que la salud se guardara con la firma."


# --- The run --------------------------------------------------------------------------------------------------------------


def _run_sections(trail: Trail, report: RunReport) -> list[Section]:
    return [
        Section(f"Cambios entre la versión y la corrida ({say_moment(trail.frozen_at)})", _say_changes(trail.changes_before)),
        Section("La corrida", list(_say_run(trail, report))),
        Section("El resultado", list(_say_result(trail, report))),
        Section("La política, como estaba al correr", [*_say_policy(report.policy), *_say_later_policy(trail, report.policy)]),
    ]


def _say_run(trail: Trail, report: RunReport) -> Iterator[str]:
    who = trail.run_by or "un programa, sin persona,"
    yield f"La empezó {who}{f' el {say_moment(trail.run_at)}' if trail.run_at else ''}."
    yield from say_facts(report)
    yield f"Commit: {report.commit or 'no se dijo'}. Huella del prompt: {report.prompt_hash or 'no usa'}."
    if trail.server:
        yield f"Servidor del modelo: {trail.server}"


def _say_result(trail: Trail, report: RunReport) -> Iterator[str]:
    yield f"Veredicto: {say_verdict(report)}"
    yield from (f"  {reason}" for _, reason in verdict_reasons(report))
    yield say_correct(report)
    if held_out := say_held_out(report):
        yield held_out
    for line in metric_lines(report):
        parts = (line.percent, f"IC 95 % {line.interval}" if line.interval else "", f"se exige {line.threshold}" if line.threshold else "")
        missing = f"; sin medir {line.missing}" if line.missing else ""
        yield f"  {line.label}: {line.fraction}{''.join(f', {part}' for part in parts if part)}{missing}"
    if trail.gradings > 1:
        yield f"Se calificó {trail.gradings:,} veces; esta es la vigente."


def _say_later_policy(trail: Trail, then: Policy | None) -> Iterator[str]:
    """Who had changed it last, and what it demands today where that is something else."""
    if then and trail.policy_by:
        yield trail.policy_by
    if trail.policy_now == then:
        yield "Hoy sigue igual."
        return
    before, now = list(_say_policy(then)), list(_say_policy(trail.policy_now))
    yield "Hoy es otra:"
    yield from (f"  ya no: {line.strip()}" for line in before if line not in now)
    yield from (f"  hoy: {line.strip()}" for line in now if line not in before)


def _say_policy(policy: Policy | None) -> Iterator[str]:
    if policy is None:
        yield "No hay política: solo lo que se exige siempre."
        return
    kinds = ", ".join(KIND_WORDS[kind] for kind in policy.release_kinds)
    yield f"Para publicar se exige: {kinds}. Limitaciones conocidas como máximo: {policy.max_known_limitations}."
    for threshold in policy.thresholds:
        yield f"  {say_demand(threshold)}: «{clean(threshold.justification, 400)}»"
    if not policy.thresholds:
        yield "Sin umbrales de producto."


def _say_runs(runs: Iterable[PastRun]) -> list[str]:
    return [
        f"Corrida {run.run_id}, {say_moment(run.at)}, {run.by or 'un programa'}: {PURPOSE_WORDS.get(run.purpose, run.purpose)}, "
        f"{KIND_WORDS.get(run.kind, run.kind)} {run.model}, commit {run.commit[:12] or 'sin decir'}; {run.status}, "
        f"{run.decision or 'sin veredicto'}, correctos {run.correct}"
        for run in runs
    ] or ["Ninguna."]


# --- What came later ------------------------------------------------------------------------------------------------------


def _say_changes(changes: Iterable[Change]) -> list[str]:
    return [say_change(change) for change in changes] or ["Ninguno."]


def say_change(change: Change) -> str:
    """`09/03/2026 10:00, experta cambió casos (hora de inicio): clara-1. «El precio subió.»`"""
    shown = list(change.keys[:KEYS_SHOWN])
    rest = len(change.keys) - len(shown)
    named = f"{', '.join(shown)}{f' y {rest:,} más' if rest else ''}"
    closed = say_count(change.held_out, "reservado", "reservados") if change.held_out else ""
    about = ", y ".join(part for part in (named, closed) if part)
    why = f" «{clean(change.why, 400)}»" if change.why else ""
    return f"{say_moment(change.at)}, {change.by or 'un programa'} {change.what}{f': {about}' if about else ''}.{why}"
