"""`.env.example` explains every variable that Kallpa reads, and settings.py is the only file that reads any."""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)
READERS = {"_text", "_flag", "_number", "_whole", "_words", "_url"}
OTHER_READERS = {
    "evals/management/commands/seed_demo.py": "the PORT that `make serve` hands down, to print the address",
}
CODE = [path for folder in ("kallpa", "bookings", "assistant", "evals") for path in (ROOT / folder).rglob("*.py")]


def read_names(source: str) -> set[str]:
    """The variables that a settings file reads through its readers."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    names = [call.args[0] for call in calls if isinstance(call.func, ast.Name) and call.func.id in READERS]
    return {name.value for name in names if isinstance(name, ast.Constant) and isinstance(name.value, str)}


def explained(example: str) -> Iterator[tuple[str, bool]]:
    """Each variable of an env file and whether a comment stands right above it."""
    lines = example.splitlines()
    for above, line in pairwise(lines):
        if found := re.match(r"([A-Z_]+)=", line):
            yield found.group(1), above.startswith("# ")


def test_it_explains_each_variable_of_settings_and_compose_and_no_other() -> None:
    example = dict(explained((ROOT / ".env.example").read_text(encoding="utf-8")))
    compose = set(re.findall(r"\$\{([A-Z_]+)", (ROOT / "docker-compose.yml").read_text(encoding="utf-8")))
    read = read_names((ROOT / "kallpa/settings.py").read_text(encoding="utf-8"))
    assert len(read) > 20
    assert set(example) == read | compose
    assert [name for name, has_comment in example.items() if not has_comment] == []


def test_only_settings_reads_the_environment() -> None:
    reading = re.compile(r"os\.(?:getenv|environ(?!\.setdefault\(\"DJANGO_SETTINGS_MODULE\"))")
    readers = {path for path in CODE if "tests" not in path.parts and reading.search(path.read_text(encoding="utf-8"))}
    assert {path.relative_to(ROOT).as_posix() for path in readers} == {"kallpa/settings.py", *OTHER_READERS}
