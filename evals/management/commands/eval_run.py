"""`manage.py eval_run DATASET`: run the exam and print the verdict."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from assistant.llm import ModelError
from evals.checkout import current_commit, same_commit
from evals.datasets.selection import latest_version
from evals.management.arguments import read_commit, read_count, read_micro_usd, read_temperature
from evals.management.lookups import find_dataset
from evals.management.running import Outputs, finish_on_screen
from evals.models import Dataset, DatasetVersion, Run
from evals.releases import ExitCode
from evals.services import NothingToFreeze, NothingToRun, NotRunnable, RunConfig, freeze_version, start_run
from evals.targets import TARGETS, released_target


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
        parser.add_argument("--target", default=None, help=f"sistema evaluado (el del dataset): {', '.join(TARGETS)}")
        parser.add_argument(
            "--model", default="scripted", help="scripted, scripted:JUEGO o el nombre de un modelo real; quick no usa ninguno"
        )
        parser.add_argument("--prompt", default="", help="variante del prompt (la que sale a producción)")
        parser.add_argument("--temperature", type=read_temperature, default=None)
        parser.add_argument("--version", default=None, help="número de versión o `draft` (la última firmada; si no hay, draft)")
        parser.add_argument("--repetitions", type=read_count, default=1)
        parser.add_argument("--concurrency", type=read_count, default=None)
        parser.add_argument("--purpose", choices=[purpose.value for purpose in Run.Purpose], default="iteration")
        parser.add_argument("--commit", type=read_commit, default=None, help="SHA que se juzga (el de este checkout)")
        parser.add_argument("--max-cost", type=read_micro_usd, default=None, metavar="USD")
        parser.add_argument("--queue", action="store_true", help="deja la corrida a los workers y termina")
        Outputs.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        outputs = Outputs.of(options)
        dataset = find_dataset(options["dataset"])
        if options["queue"]:
            _check_queue(outputs)
        try:
            run = _start(dataset, options)
        except (NothingToFreeze, NothingToRun) as error:
            raise CommandError(str(error), returncode=ExitCode.NOTHING_TO_RUN) from error
        except (NotRunnable, ModelError) as error:
            raise CommandError(str(error), returncode=ExitCode.MISUSED) from error
        if options["queue"]:
            self.stdout.write(f"Corrida {run.pk} en cola: {run.expected_results} resultados.")
            return
        finish_on_screen(self, run, outputs)


def _check_queue(outputs: Outputs) -> None:
    if not settings.CELERY_BROKER_URL:
        raise CommandError("--queue necesita workers: pon CELERY_BROKER_URL, o corre sin --queue.", returncode=ExitCode.MISUSED)
    if outputs.files:
        sentence = "--queue termina antes de que haya informe: pide los archivos después, con manage.py eval_resume."
        raise CommandError(sentence, returncode=ExitCode.MISUSED)


@transaction.atomic
def _start(dataset: Dataset, options: dict[str, Any]) -> Run:
    """A run that is refused leaves no frozen version behind."""
    version = _find_version(dataset, options["version"])
    return start_run(version=version, config=_config(dataset, options), by=None, now=timezone.now())


def _find_version(dataset: Dataset, asked: str | None) -> DatasetVersion:
    if asked is None:
        return latest_version(dataset, signed=True) or freeze_version(dataset=dataset, by=None)
    if asked == "draft":
        return freeze_version(dataset=dataset, by=None)
    version = dataset.versions.filter(number=asked).first() if asked.isdecimal() else None
    if version is None:
        known = ", ".join(str(number) for number in dataset.versions.values_list("number", flat=True)) or "ninguna"
        raise CommandError(f"{dataset.slug} no tiene la versión «{asked}». Existen: {known}; o `draft`.", returncode=ExitCode.MISUSED)
    return version


def _config(dataset: Dataset, options: dict[str, Any]) -> RunConfig:
    return RunConfig(
        model=options["model"],
        target=options["target"] or _usual_target(dataset, options["purpose"]),
        variant=options["prompt"],
        temperature=options["temperature"],
        repetitions=options["repetitions"],
        concurrency=options["concurrency"],
        purpose=options["purpose"],
        commit=_commit(options["commit"]),
        max_cost_micro_usd=options["max_cost"],
        queue=options["queue"],
    )


def _usual_target(dataset: Dataset, purpose: str) -> str:
    return released_target(dataset.target) if purpose == Run.Purpose.RELEASE else dataset.target


def _commit(asked: str | None) -> str:
    """What is judged. Inside a checkout only what is checked out can be: a release must not carry another commit's name."""
    here = current_commit(Path(settings.BASE_DIR))
    if asked and here and not same_commit(asked, here):
        sentence = f"Este checkout está en {here}, no en {asked}: cambia de commit (o guarda tus cambios) antes de correr."
        raise CommandError(sentence, returncode=ExitCode.MISUSED)
    return here or asked or ""
