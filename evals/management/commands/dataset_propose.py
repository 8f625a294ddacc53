"""`manage.py dataset_propose DATASET`: cases for a person to judge, rewritten or invented by a model."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from assistant.llm import Model, ModelError, ModelRequest
from assistant.llm.provider import provider_from_settings
from evals.datasets.checks import unstorable
from evals.datasets.proposals import Proposals, ask_for_cases, ask_for_questions, propose_rewrites, read_cases, read_questions
from evals.datasets.revisions import spec_of
from evals.datasets.rewriters import REWRITERS
from evals.management.arguments import read_count
from evals.management.lookups import find_dataset
from evals.models import Case, Dataset
from evals.releases import ExitCode
from evals.services import Change, NoBudgetLeft, buy_answer, store_proposals
from evals.targets import TARGETS, TargetConfig
from evals.values import CaseSpec

ALL = "todos"
MOST_INVENTED = 20
LONGEST_DOCUMENT = 20_000


class Command(BaseCommand):
    help = (
        "Propone casos nuevos: pedidos aprobados escritos como otra gente los escribiría (--rewrite), o pedidos que inventa un modelo "
        "a partir del sistema (--model) o de documentos (--documents). Todos quedan propuestos y con la etiqueta «sintetico»: en una "
        "versión solo entra lo que una persona apruebe. Sale con 0, 2 por uso, 3 por falla del proveedor, 4 por presupuesto, 5 si no "
        "hay nada nuevo."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("--rewrite", default="", metavar="NOMBRES", help=f"{ALL}, o separados por comas: {', '.join(REWRITERS)}")
        parser.add_argument("--model", default="", help="nombre del modelo que inventa")
        parser.add_argument("--documents", nargs="+", type=Path, default=[], metavar="ARCHIVO", help="textos sobre los que preguntar")
        parser.add_argument("--count", type=read_count, default=10, help=f"cuántos propone; un modelo, hasta {MOST_INVENTED} por llamada")
        parser.add_argument("--seed", type=int, default=0, help="otra semilla, otras palabras")

    def handle(self, *args: Any, **options: Any) -> None:
        dataset, now = find_dataset(options["dataset"]), timezone.now()
        _check_usage(options)
        if options["rewrite"]:
            change = Change(None, now, f"Reescritos: {options['rewrite']}")
            found = Proposals(_rewritten(dataset, options), [])
        else:
            change = Change(None, now, f"Los propuso el modelo {options['model']}")
            found = self._invented(dataset, options, now)
        for why in found.refused:
            self.stderr.write(f"Descartado: {why}", style_func=str)
        limit = options["count"] * max(1, len(options["documents"]))
        added = store_proposals(dataset=dataset, specs=found.specs, change=change, limit=limit)
        self.stdout.write(f"{dataset}: {added} propuestos, {len(found.refused)} descartados.")
        if not added:
            raise CommandError("No hay nada nuevo que proponer.", returncode=ExitCode.NOTHING_TO_RUN)

    def _invented(self, dataset: Dataset, options: dict[str, Any], now: datetime) -> Proposals:
        model = _find_model(options["model"])
        found = [self._ask(model, request, document, dataset, now) for request, document in list(_requests(dataset, options, now))]
        specs = [spec for proposals in found for spec in proposals.specs]
        return Proposals(specs, [why for proposals in found for why in proposals.refused])

    def _ask(self, model: Model, request: ModelRequest, document: str, dataset: Dataset, now: datetime) -> Proposals:
        try:
            answer = buy_answer(request=request, model=model, reference=f"dataset:{dataset.pk}", now=now)
        except NoBudgetLeft as error:
            raise CommandError(str(error), returncode=ExitCode.OVER_BUDGET) from error
        except ModelError as error:
            raise CommandError(str(error), returncode=ExitCode.INCOMPLETE) from error
        if answer.finish_reason == "length":
            return Proposals([], ["la respuesta llegó cortada: pide menos con --count"])
        if document:
            return read_questions(answer.text, document=document, model=model.name)
        return read_cases(answer.text, now=now, model=model.name)


def _check_usage(options: dict[str, Any]) -> None:
    if bool(options["rewrite"]) == bool(options["model"]):
        raise CommandError("Elige uno: --rewrite NOMBRES, o --model NOMBRE (con --documents o sin ellos).", returncode=ExitCode.MISUSED)
    if options["documents"] and not options["model"]:
        raise CommandError("--documents necesita --model, que es quien pregunta.", returncode=ExitCode.MISUSED)
    if options["model"] and options["count"] > MOST_INVENTED:
        raise CommandError(f"--count llega hasta {MOST_INVENTED} con un modelo: pide varias veces.", returncode=ExitCode.MISUSED)


def _rewritten(dataset: Dataset, options: dict[str, Any]) -> list[CaseSpec]:
    names = list(REWRITERS) if options["rewrite"] == ALL else options["rewrite"].split(",")
    if unknown := [name for name in names if name not in REWRITERS]:
        raise CommandError(f"No se conoce «{unknown[0]}». Hay: {', '.join(REWRITERS)}, o {ALL}.", returncode=ExitCode.MISUSED)
    approved = dataset.cases.filter(status=Case.Status.APPROVED).order_by("id")
    return propose_rewrites(map(spec_of, approved), names=names, seed=options["seed"])


def _find_model(name: str) -> Model:
    try:
        return provider_from_settings(name)
    except ModelError as error:  # not configured, or forbidden
        raise CommandError(str(error), returncode=ExitCode.MISUSED) from error


def _requests(dataset: Dataset, options: dict[str, Any], now: datetime) -> Iterator[tuple[ModelRequest, str]]:
    """What to ask, each with the document that it is about, or an empty text."""
    if options["documents"]:
        for document in map(_read_document, options["documents"]):
            yield ask_for_questions(document, count=options["count"]), document
    else:
        config = TargetConfig("base", settings.LLM_TEMPERATURE, settings.LLM_MAX_TOKENS, now)
        target = TARGETS.get(dataset.target)
        words = target(config).system_prompt() if target else ""
        if not words:
            raise CommandError(
                f"El sistema «{dataset.target}» no tiene instrucciones de donde inventar casos.", returncode=ExitCode.MISUSED
            )
        yield ask_for_cases(words, count=options["count"], now=now), ""


def _read_document(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"No se puede leer {path}: hace falta un texto en UTF-8.", returncode=ExitCode.MISUSED) from error
    if not text or len(text) > LONGEST_DOCUMENT or unstorable(text):
        raise CommandError(f"{path} debe tener de 1 a {LONGEST_DOCUMENT:,} caracteres de texto.", returncode=ExitCode.MISUSED)
    return text
