"""`manage.py eval_run DATASET`: run the exam and print the verdict."""

import argparse
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from assistant.llm import ModelError
from evals.checkout import current_commit
from evals.management.running import Outputs, finish_on_screen
from evals.models import Dataset, DatasetVersion, Run
from evals.releases import ExitCode
from evals.services import NothingToFreeze, NothingToRun, NotRunnable, RunConfig, freeze_version, start_run


class Command(BaseCommand):
    help = (
        "Corre un dataset y muestra el informe y el veredicto. Sale con 0 si pasa, 1 si falla por calidad, 2 por uso o configuración, "
        "3 por falla del proveedor o resultados incompletos, 4 por presupuesto, 5 si no hay nada que correr, 130 si se interrumpe."
    )
    requires_system_checks: list[str] = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Django's own --version gives way to ours: the version of the dataset."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("--target", default=None, help="sistema evaluado (el del dataset)")
        parser.add_argument("--model", default="scripted", help="scripted, scripted:JUEGO o el nombre de un modelo real")
        parser.add_argument("--prompt", default="base", help="variante del prompt")
        parser.add_argument("--temperature", type=_temperature, default=None)
        parser.add_argument("--version", default=None, help="número de versión o `draft` (la última firmada; si no hay, draft)")
        parser.add_argument("--repetitions", type=_at_least_one, default=1)
        parser.add_argument("--concurrency", type=_at_least_one, default=None)
        parser.add_argument("--purpose", choices=[purpose.value for purpose in Run.Purpose], default="iteration")
        parser.add_argument("--commit", default=None, help="SHA que se juzga (el de este checkout)")
        parser.add_argument("--max-cost", type=_micro_usd, default=None, metavar="USD")
        parser.add_argument("--queue", action="store_true", help="deja la corrida a los workers y termina")
        Outputs.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        outputs = Outputs.of(options)
        dataset = find_dataset(options["dataset"])
        if options["queue"] and not settings.CELERY_BROKER_URL:
            raise CommandError("--queue necesita workers: pon CELERY_BROKER_URL, o corre sin --queue.", returncode=ExitCode.MISUSED)
        try:
            version = _find_version(dataset, options["version"])
            run = start_run(version=version, config=_config(dataset, options), by=None, now=timezone.now())
        except (NothingToFreeze, NothingToRun) as error:
            raise CommandError(str(error), returncode=ExitCode.NOTHING_TO_RUN) from error
        except (NotRunnable, ModelError) as error:
            raise CommandError(str(error), returncode=ExitCode.MISUSED) from error
        if options["queue"]:
            self.stdout.write(f"Corrida {run.pk} en cola: {run.expected_results} resultados.")
            return
        finish_on_screen(self, run, outputs)


def find_dataset(slug: str) -> Dataset:
    """The dataset, or a usage error that names those that exist."""
    dataset = Dataset.objects.filter(slug=slug).first()
    if dataset is None:
        known = ", ".join(Dataset.objects.values_list("slug", flat=True)) or "ninguno (¿falta `manage.py seed_demo`?)"
        raise CommandError(f"No existe el dataset «{slug}». Existen: {known}.", returncode=ExitCode.MISUSED)
    return dataset


def _find_version(dataset: Dataset, asked: str | None) -> DatasetVersion:
    if asked is None:
        signed = dataset.versions.filter(signature__isnull=False).order_by("-number").first()
        return signed or freeze_version(dataset=dataset, by=None)
    if asked == "draft":
        return freeze_version(dataset=dataset, by=None)
    version = dataset.versions.filter(number=asked).first() if asked.isdecimal() else None
    if version is None:
        known = ", ".join(str(number) for number in dataset.versions.values_list("number", flat=True)) or "ninguna"
        raise CommandError(f"{dataset.slug} no tiene la versión «{asked}». Existen: {known}; o `draft`.", returncode=ExitCode.MISUSED)
    return version


def _config(dataset: Dataset, options: dict[str, Any]) -> RunConfig:
    commit = options["commit"]
    return RunConfig(
        model=options["model"],
        target=options["target"] or dataset.target,
        variant=options["prompt"],
        temperature=options["temperature"],
        repetitions=options["repetitions"],
        concurrency=options["concurrency"],
        purpose=options["purpose"],
        commit=current_commit(Path(settings.BASE_DIR)) if commit is None else commit,
        max_cost_micro_usd=options["max_cost"],
        queue=options["queue"],
    )


def _at_least_one(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 1000:
        raise argparse.ArgumentTypeError(f"{text} no está entre 1 y 1000")
    return value


def _temperature(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 2:
        raise argparse.ArgumentTypeError(f"{text} no está entre 0 y 2")
    return value


def _micro_usd(text: str) -> int:
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise argparse.ArgumentTypeError(f"{text} no es una cantidad de USD") from None
    if not value.is_finite() or not 0 <= value <= 10_000:
        raise argparse.ArgumentTypeError(f"{text} no está entre 0 y 10000 USD")
    return int(value * 1_000_000)
