"""Cases that nobody has judged yet: rewritten requests, and what a model invents. No Django here.

What a model writes is untrusted: one JSON array, each element checked like a row of a dataset file, and whatever is not sound is
refused with a reason. What comes out carries the tag SYNTHETIC and still waits for a person.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from assistant.llm import ModelRequest
from assistant.pii import mask
from assistant.pipeline import MAX_INPUT_CHARS
from evals.datasets.checks import shown
from evals.datasets.rewriters import REWRITERS, rewrite
from evals.datasets.row_format import check_row
from evals.datasets.rows import LIMA, spec_from
from evals.oracle import draft_breaks_rules
from evals.values import CaseSpec, canonical_hash

SYNTHETIC = "sintetico"
TEMPERATURE = 0.8
TOKENS_PER_ELEMENT = 150
LONGEST_KEY = 80

_FOLDER = Path(__file__).parent / "prompts"
_CASES = Template((_FOLDER / "casos.md").read_text(encoding="utf-8").strip())
_QUESTIONS = Template((_FOLDER / "preguntas.md").read_text(encoding="utf-8").strip())
_WEEKDAYS = ("lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo")


class Proposals(NamedTuple):
    """Sound cases, and why each of the others was refused, in Spanish."""

    specs: list[CaseSpec]
    refused: list[str]


# --- Rewritten ------------------------------------------------------------------------------------------------------------


def propose_rewrites(specs: Iterable[CaseSpec], *, names: Iterable[str], seed: int) -> list[CaseSpec]:
    """Each request in each rewriting that changes it and still fits, well mixed. KeyError for an unknown rewriter.

    Attacks and their twins are left alone, for their wording is the point, and so are held-out cases, whose text stays closed.
    """
    plain = [spec for spec in specs if spec.text and not (spec.attack or spec.benign or spec.held_out)]
    rewritten = [_rewrite_case(spec, name, seed) for name in names for spec in plain]
    return sorted((spec for spec in rewritten if spec is not None), key=lambda spec: canonical_hash([seed, spec.key]))


def _rewrite_case(spec: CaseSpec, name: str, seed: int) -> CaseSpec | None:
    text, suffix = rewrite(spec.text, name, seed=seed), f"-{name}-{seed}"
    if text == spec.text or len(text) > MAX_INPUT_CHARS:
        return None
    loses = "" if REWRITERS[name].keeps_facts else " Puede haber perdido un dato: mira otra vez lo correcto."
    return replace(
        spec,
        key=f"{spec.key[: LONGEST_KEY - len(suffix)].rstrip('-')}{suffix}",
        text=text,
        blocking=False,
        known_limitation="",
        tags=tuple(dict.fromkeys((*spec.tags, SYNTHETIC))),
        notes=f"«{spec.key}» {REWRITERS[name].label}.{loses}",
    )


# --- Invented by a model --------------------------------------------------------------------------------------------------


def ask_for_cases(system_prompt: str, *, count: int, now: datetime) -> ModelRequest:
    """The request for `count` cases about a system, from its own instructions."""
    here = now.astimezone(LIMA)
    weekday, date, time = _WEEKDAYS[here.weekday()], here.date().isoformat(), f"{here:%H:%M}"
    return _request(_CASES.substitute(system=system_prompt, weekday=weekday, date=date, time=time, count=count), count)


def ask_for_questions(document: str, *, count: int) -> ModelRequest:
    """The request for `count` questions that the document answers."""
    return _request(_QUESTIONS.substitute(document=document, count=count), count)


def _request(words: str, count: int) -> ModelRequest:
    return ModelRequest(({"role": "user", "content": words},), temperature=TEMPERATURE, max_tokens=count * TOKENS_PER_ELEMENT)


def read_cases(text: str, *, now: datetime, model: str) -> Proposals:
    """The booking cases in a model's answer; `now` is the clock that it was told."""
    return _read(text, lambda element: _booking_row(element, now, model), lambda spec: _why_no_case(spec, now))


def read_questions(text: str, *, document: str, model: str) -> Proposals:
    """The questions in a model's answer whose quote stands in the document, word for word."""
    return _read(text, lambda element: _question_row(element, document, model), lambda spec: "")


def _read(text: str, row_of: Callable[[dict[str, Any]], dict[str, Any] | str], objection: Callable[[CaseSpec], str]) -> Proposals:
    specs: list[CaseSpec] = []
    refused: list[str] = []
    for element in _elements(text, refused):
        row = row_of(element) if isinstance(element, dict) else f"no es un objeto: {shown(element)}"
        reason = row if isinstance(row, str) else _why_unsound(row)
        if not reason and isinstance(row, dict):
            spec = spec_from(row, row)
            reason = objection(spec) or ("ya lo propuso antes" if spec.key in {other.key for other in specs} else "")
            specs += [] if reason else [spec]
        refused += [reason] if reason else []
    return Proposals(specs, refused)


def _elements(text: str, refused: list[str]) -> list[Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list):
        refused.append("la respuesta no es un arreglo JSON")
        return []
    return found


def _why_unsound(row: dict[str, Any]) -> str:
    """What the format of a dataset says against the row, or an empty string; text of people never leaves the model's answer."""
    if faults := check_row(row):
        return f"{faults[0].where}: {faults[0].message}"
    words = row["input"]["text"]
    if len(words) > MAX_INPUT_CHARS:
        return f"el texto pasa de {MAX_INPUT_CHARS} caracteres"
    return "parece tener un dato personal" if mask(words).text != words else ""


def _booking_row(element: dict[str, Any], now: datetime, model: str) -> dict[str, Any] | str:
    if not isinstance(element.get("text"), str) or element.get("kind") not in ("draft", "clarify", "refuse"):
        return f"no dice text y kind como se pidió: {shown(element)}"
    return {
        "key": f"propuesto-{canonical_hash(element['text'].casefold())[:12]}",
        "category": "propuesta",
        "stratum": "happy" if element["kind"] == "draft" else "edge",
        "input": {"text": element["text"]},
        "context": {"now": f"{now.astimezone(LIMA):%Y-%m-%dT%H:%M}"},
        "expected": {name: value for name, value in element.items() if name != "text"},
        **_marks(model),
    }


def _why_no_case(spec: CaseSpec, now: datetime) -> str:
    draft = spec.expected.draft
    if draft and draft_breaks_rules(draft.sport, draft.date.isoformat(), draft.start_hour, draft.hours, now=now):
        return f"{shown(spec.text)}: lo que da por correcto rompe las reglas"
    return ""


def _question_row(element: dict[str, Any], document: str, model: str) -> dict[str, Any] | str:
    question, answer, quote = (element.get(name) for name in ("question", "answer", "quote"))
    if not (isinstance(question, str) and isinstance(answer, str) and isinstance(quote, str) and quote.strip()):
        return f"no dice question, answer y quote como se pidió: {shown(element)}"
    if _evened(quote) not in _evened(document):
        return f"{shown(question)}: la cita no está en el documento"
    return {
        "key": f"pregunta-{canonical_hash([question.casefold(), document])[:12]}",
        "category": "documento",
        "stratum": "happy",
        "input": {"text": question},
        "context": {"documents": [document]},
        "expected": {"kind": "text", "text": answer},
        **_marks(model, f" Lo prueba: «{_evened(quote)}»."),
    }


def _marks(model: str, more: str = "") -> dict[str, Any]:
    return {"tags": [SYNTHETIC], "notes": f"Lo propuso el modelo {model}: revisa el pedido y lo correcto.{more}"}


def _evened(text: str) -> str:
    return " ".join(text.split())
