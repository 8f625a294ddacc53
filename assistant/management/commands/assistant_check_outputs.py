"""Reads stored model outputs with the parser in use and says whether each came out as its line expects."""

import datetime as dt
import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assistant.drafts import parse_output
from bookings.clock import LIMA, now_in_lima

EXPECTATIONS = ("draft", "clarify", "refuse", "rejected", "either")
VALID = ("draft", "clarify", "refuse")


@dataclass(frozen=True)
class OutputLine:
    """One line of the file; without `expected` it is only checked for not raising."""

    id: str
    text: Any
    expected: str | None


@dataclass(frozen=True)
class Verdict:
    """What became of one line; `ok` is None when nothing was expected and nothing was raised."""

    id: str
    kind: str
    reason: str
    ok: bool | None


class Command(BaseCommand):
    help = (
        'Lee FILE (una línea JSON por salida: {"id", "text", "expected"}), imprime un veredicto por línea y un resumen. '
        "`expected` es draft, clarify, refuse, rejected o either (vale cualquiera); sin él solo se mira que nada reviente y `ok` es null. "
        "Termina con 1 si algo difiere y con 2 si el archivo o la hora no se entienden."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE")
        parser.add_argument("--now", metavar="2026-03-09T10:00", help="fecha y hora de Lima; si falta, la actual")

    def handle(self, *, file: str, now: str | None, **options: Any) -> None:
        moment = _read_moment(now) if now else now_in_lima()
        lines = _read_lines(Path(file))
        verdicts = [_judge(line, moment) for line in lines]
        for verdict in verdicts:
            self.stdout.write(json.dumps(asdict(verdict)))
        self.stdout.write(json.dumps(_summarise(lines, verdicts)))
        if any(verdict.ok is False for verdict in verdicts):
            sys.exit(1)


def _judge(line: OutputLine, now: dt.datetime) -> Verdict:
    try:
        result = parse_output(line.text, now=now)
    except Exception as error:  # noqa: BLE001 -- that nothing raises, of any class, is what this command measures
        return Verdict(line.id, "exception", type(error).__name__, ok=False)
    ok = None if line.expected is None else line.expected in ("either", result.kind)
    return Verdict(line.id, result.kind, result.reason, ok)


def _summarise(lines: list[OutputLine], verdicts: list[Verdict]) -> dict[str, Any]:
    judged = list(zip(lines, verdicts, strict=True))
    wrong = [verdict.id for verdict in verdicts if verdict.ok is False]
    return {
        "valid_accepted": _share(verdict for line, verdict in judged if line.expected in VALID),
        "invalid_rejected": _share(verdict for line, verdict in judged if line.expected == "rejected"),
        "exceptions": sum(verdict.kind == "exception" for verdict in verdicts),
        "wrong": len(wrong),
        "wrong_ids": wrong,
    }


def _share(verdicts: Iterable[Verdict]) -> str:
    right = [verdict.ok is True for verdict in verdicts]
    return f"{sum(right)}/{len(right)}"


# --- Reading: a file that is not understood is a mistake of use, never a result ------------------------------------------


def _read_moment(text: str) -> dt.datetime:
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(f"--now {text!r} no es una fecha y hora como 2026-03-09T10:00.", returncode=2) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=LIMA)


def _read_lines(path: Path) -> list[OutputLine]:
    try:
        rows = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"No se puede leer {path}: {error}", returncode=2) from None
    lines = [_read_line(row, number, path) for number, row in enumerate(rows, start=1) if row.strip()]
    if not lines:
        raise CommandError(f"{path} no tiene líneas: no hay nada que comprobar.", returncode=2)
    return lines


def _read_line(row: str, number: int, path: Path) -> OutputLine:
    def refuse(why: str) -> CommandError:
        return CommandError(f"{path}, línea {number}: {why}.", returncode=2)

    try:
        fields = json.loads(row)
    except (ValueError, RecursionError) as error:
        raise refuse(f"no es JSON ({error})") from None
    if not isinstance(fields, dict) or "text" not in fields:
        raise refuse("tiene que ser un objeto con el campo text")
    expected = fields.get("expected")
    if expected is not None and expected not in EXPECTATIONS:
        raise refuse(f"expected es {expected!r} y tiene que ser uno de {', '.join(EXPECTATIONS)}")
    return OutputLine(str(fields.get("id", number)), fields["text"], expected)
