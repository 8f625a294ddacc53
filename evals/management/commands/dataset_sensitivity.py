"""`manage.py dataset_sensitivity DATASET [--set base] [--json]`: does the exam notice a bad student?"""

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from evals.datasets.health import say_cases, say_names
from evals.management.lookups import find_dataset
from evals.releases import ExitCode
from evals.sensitivity import BOOKING_TARGETS, WEAKNESSES, Finding, Sensitivity, Status, measure, replays_of

SHOWN_KEYS = 4
MARKS = {Status.NOTICED: "✓", Status.SURVIVES: "✗", Status.UNTRIGGERED: "?"}


class Command(BaseCommand):
    help = (
        "Pasa las grabaciones por asistentes estropeados a propósito, con una protección menos cada uno, y dice qué debilidad no nota "
        "ningún caso. No llama a ningún modelo. Sale con 1 si alguna no se nota o ninguna grabación la dispara."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("--set", dest="set_name", default="", help="juego de grabaciones (base; si no hay, todos)")
        parser.add_argument("--json", action="store_true", help="el resultado como datos")

    def handle(self, *args: Any, **options: Any) -> None:
        dataset = find_dataset(options["dataset"])
        if dataset.target not in BOOKING_TARGETS:
            sentence = f"«{dataset}» evalúa {dataset.target}; las debilidades se conocen para {', '.join(BOOKING_TARGETS)}."
            raise CommandError(sentence, returncode=ExitCode.MISUSED)
        replays = replays_of(dataset, set_name=options["set_name"], now=timezone.now())
        if not replays:
            raise CommandError(f"«{dataset}» no tiene grabaciones que repetir.", returncode=ExitCode.NOTHING_TO_RUN)
        found = measure(replays, WEAKNESSES)
        self.stdout.write(json.dumps(_as_row(dataset.slug, found), ensure_ascii=False, indent=2) if options["json"] else _as_text(found))
        if len(found.of_status(Status.NOTICED)) < len(found.findings):
            sys.exit(ExitCode.FAILED)


def _as_row(slug: str, found: Sensitivity) -> dict[str, Any]:
    return {
        "dataset": slug,
        "cases": len(found.cases),
        "noticed": len(found.of_status(Status.NOTICED)),
        "weaknesses": [
            {
                "name": finding.weakness.name,
                "title": finding.weakness.title,
                "status": finding.status.value,
                "triggered": list(finding.triggered),
                "noticed": list(finding.noticed),
            }
            for finding in found.findings
        ],
        "cases_that_notice_nothing": list(found.idle),
        "cases_that_fail_already": list(found.failing),
    }


def _as_text(found: Sensitivity) -> str:
    noticed = len(found.of_status(Status.NOTICED))
    lines = [f"Debilidades que el examen nota: {noticed}/{len(found.findings)}, con {say_cases(len(found.cases))}.", ""]
    lines += [_say(finding) for finding in found.findings]
    if found.idle:
        lines += ["", f"Casos que no notan ninguna: {say_names(found.idle, (), most=20)}."]
        lines += ["Con guion no aportan (los que ya fallan no pueden empeorar); con un modelo real sí pueden importar."]
    return "\n".join(lines)


def _say(finding: Finding) -> str:
    head = f"{MARKS[finding.status]} {finding.weakness.title}: "
    if finding.status is Status.UNTRIGGERED:
        return head + "ninguna grabación la dispara"
    if finding.status is Status.SURVIVES:
        return head + f"ningún caso la nota, aunque cambia {len(finding.triggered)} ({say_names(finding.triggered, (), most=SHOWN_KEYS)})"
    only = "solo la nota" if len(finding.noticed) == 1 else f"la notan {say_cases(len(finding.noticed))}:"
    return head + f"{only} {say_names(finding.noticed, (), most=SHOWN_KEYS)}"
