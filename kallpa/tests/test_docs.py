"""The documents name only commands, files and pages that exist."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import get_commands

ROOT = Path(settings.BASE_DIR)
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
DECISIONS = ROOT / "docs" / "decisions"


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_it_names_only_what_exists(page: Path) -> None:
    text = read(page)
    targets = set(re.findall(r"^([a-z-]+):", read(ROOT / "Makefile"), re.MULTILINE))
    links = {link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link}
    files = set(re.findall(r"`((?:kallpa|bookings|assistant|evals|docs|templates|bench)/[\w./-]*)`", text))
    assert set(re.findall(r"(?:`|^| )make ([a-z-]+)(?:`| [A-Z]+=|\s+#|$)", text, re.MULTILINE)) - targets == set()
    assert set(re.findall(r"manage\.py ([a-z_]+)", text)) - set(get_commands()) == set()
    assert [link for link in links if not (page.parent / link).exists()] == []
    assert [name for name in files if not (ROOT / name).exists()] == []


def test_the_index_of_decisions_lists_each_page_under_its_title() -> None:
    titles = {page.name: read(page).splitlines()[0].partition(". ")[2] for page in DECISIONS.glob("0*.md")}
    listed = dict(re.findall(r"^- \[\d{4}\]\((\S+)\) (.+)$", read(DECISIONS / "README.md"), re.MULTILINE))
    assert len(titles) > 15
    assert listed == titles


def test_the_page_for_agents_stays_short() -> None:
    assert len(read(ROOT / "AGENTS.md").splitlines()) < 30
