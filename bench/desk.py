"""Where measurements happen: a database of one's own, thrown away afterwards."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SEED = ROOT / "evals" / "seeds" / "reservas.jsonl"


def write_cases(path: Path, count: int) -> None:
    """`count` cases: those of `reservas`, again and again under other keys."""
    rows = [json.loads(line) for line in SEED.read_text(encoding="utf-8").splitlines()]
    with path.open("w", encoding="utf-8") as out:
        for number in range(count):
            row = rows[number % len(rows)] | {"key": f"caso-{number:06}"}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


def manage_quietly(environment: dict[str, str], *words: str) -> None:
    """Set-up that must work: what it prints is shown when it fails."""
    done = subprocess.run([sys.executable, "manage.py", *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stdout}{done.stderr}")


@contextmanager
def desk(counts: list[int]) -> Iterator[dict[str, str]]:
    """An environment with its own database, holding the demo data and a dataset `banco-N` for each N."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {
            "DATABASE_URL": f"sqlite:///{folder}/bench.sqlite3",
            "CELERY_BROKER_URL": "",
            "REDIS_URL": "",
            "DJANGO_SETTINGS_MODULE": "kallpa.settings",
        }
        manage_quietly(environment, "migrate", "--verbosity", "0")
        manage_quietly(environment, "seed_demo")
        for count in counts:
            path = Path(folder) / f"{count}.jsonl"
            write_cases(path, count)
            manage_quietly(environment, "dataset_import", f"banco-{count}", str(path), "--create", "--as", "experta", "--approve")
            manage_quietly(environment, "dataset_freeze", f"banco-{count}")
        yield environment
