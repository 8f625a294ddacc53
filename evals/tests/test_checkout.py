"""Which commit is in a folder, and when two spellings mean the same one."""

import subprocess
from pathlib import Path

import pytest

from evals.checkout import current_commit, head_commit, same_commit

SHA = "0123456789abcdef0123456789abcdef01234567"
NOBODY = ("-c", "user.name=nadie", "-c", "user.email=nadie@example.invalid", "-c", "commit.gpgsign=false")


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", folder, *NOBODY, *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with one commit of one file."""
    git(tmp_path, "init", "--quiet")
    (tmp_path / "reglas.py").write_text("ABRE = 7\n", encoding="utf-8")
    git(tmp_path, "add", "reglas.py")
    git(tmp_path, "commit", "--quiet", "--message", "uno")
    return tmp_path


def test_a_clean_folder_is_its_head(checkout: Path) -> None:
    assert current_commit(checkout) == head_commit(checkout) == git(checkout, "rev-parse", "HEAD")
    assert len(head_commit(checkout)) == 40


def test_a_folder_inside_the_checkout_is_the_same_commit(checkout: Path) -> None:
    (checkout / "dentro").mkdir()
    assert current_commit(checkout / "dentro") == head_commit(checkout)


@pytest.mark.parametrize("staged", [False, True])
def test_a_changed_file_makes_it_dirty_and_leaves_head_as_it_was(checkout: Path, staged: bool) -> None:
    (checkout / "reglas.py").write_text("ABRE = 6\n", encoding="utf-8")
    if staged:
        git(checkout, "add", "reglas.py")
    assert current_commit(checkout) == f"{head_commit(checkout)}-dirty"
    assert head_commit(checkout) == git(checkout, "rev-parse", "HEAD")


def test_a_file_that_git_does_not_know_changes_nothing(checkout: Path) -> None:
    (checkout / "informe.json").write_text("{}", encoding="utf-8")
    assert current_commit(checkout) == head_commit(checkout)


def test_what_git_cannot_compare_is_not_clean(checkout: Path) -> None:
    (checkout / ".git" / "index").write_bytes(b"roto")
    assert current_commit(checkout) == f"{head_commit(checkout)}-dirty"


def test_outside_a_checkout_there_is_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert (head_commit(tmp_path), current_commit(tmp_path)) == ("", "")


def test_a_repository_without_a_commit_has_none(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    assert (head_commit(tmp_path), current_commit(tmp_path)) == ("", "")


def test_a_machine_without_git_has_no_commit(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "vacio"))
    assert current_commit(checkout) == ""


@pytest.mark.parametrize(
    ("asked", "stored", "same"),
    [
        (SHA, SHA, True),
        (SHA[:7], SHA, True),
        (SHA[:12], SHA, True),
        (SHA, SHA[:7], True),
        (SHA.upper(), SHA, True),
        (SHA[:6], SHA, False),
        ("", SHA, False),
        ("", "", False),
        (SHA, "", False),
        (SHA[:7] + "f", SHA, False),
        (SHA[1:9], SHA, False),
        (SHA, f"{SHA}-dirty", False),
        (SHA[:7], f"{SHA}-dirty", False),
        (f"{SHA}-dirty", f"{SHA}-dirty", False),
        (f"{SHA}-dirty", SHA, False),
    ],
)
def test_when_two_spellings_are_one_commit(asked: str, stored: str, same: bool) -> None:
    assert same_commit(asked, stored) is same
