"""What is installed is what the requirement files say: direct packages pinned, and all that they bring along locked."""

import re
from importlib.metadata import distribution
from pathlib import Path

from django.conf import settings
from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

ROOT = Path(settings.BASE_DIR)


def read_requirements(name: str) -> list[Requirement]:
    """The requirements of one file, in its order; `-r` lines and comments left out."""
    lines = (line.split("#")[0].strip() for line in (ROOT / name).read_text(encoding="utf-8").splitlines())
    return [Requirement(line) for line in lines if line and not line.startswith("-")]


def brought_along(wanted: list[Requirement]) -> set[NormalizedName]:
    """Canonical names of these packages and of all that they need on this machine, each of them installed."""
    seen: set[tuple[NormalizedName, str]] = set()
    while wanted:
        package = wanted.pop()
        for extra in ("", *package.extras):
            if (key := (canonicalize_name(package.name), extra)) in seen:
                continue
            seen.add(key)
            needs = (Requirement(text) for text in distribution(package.name).requires or [])
            wanted += [need for need in needs if need.marker is None or need.marker.evaluate({"extra": extra})]
    return {name for name, _ in seen}


def test_every_direct_requirement_is_pinned_to_one_version() -> None:
    direct = read_requirements("requirements.txt") + read_requirements("requirements-dev.txt")
    assert len(direct) > 15
    assert [str(package) for package in direct if not re.fullmatch(r"==[\w.]+", str(package.specifier))] == []


def test_the_lock_names_each_package_that_they_bring_along_in_the_version_installed() -> None:
    lock = {canonicalize_name(package.name): str(package.specifier) for package in read_requirements("constraints.txt")}
    needed = brought_along(read_requirements("requirements.txt") + read_requirements("requirements-dev.txt"))
    assert {name: f"=={distribution(name).version}" for name in needed} == {name: lock.get(name) for name in needed}
    assert set(lock) - needed <= {"async-timeout"}  # redis needs it on Python older than 3.11.3
