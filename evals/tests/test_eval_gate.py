"""`eval_gate` fails closed: what is not proven is not a yes."""

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from evals.models import GatePolicy, Run
from evals.runner import work
from evals.tests.desk import REFUSAL, draft_row, finished_run, make_version, new_run, surroundings

pytestmark = pytest.mark.django_db
SHA = "a" * 40
OTHER = "b" * 40


def ask(*words: str, commit: str | None = SHA) -> tuple[int, str]:
    """Exit code and everything that was said."""
    out = StringIO()
    try:
        call_command("eval_gate", *words, *(("--commit", commit) if commit else ()), stdout=out)
    except SystemExit as leaving:
        return int(leaving.code or 0), out.getvalue()
    except CommandError as error:
        return error.returncode, str(error)
    return 0, out.getvalue()


def release(version: Any, **config: Any) -> Run:
    return finished_run(version, **({"purpose": "release", "commit": SHA} | config))


def test_a_passed_release_run_of_this_commit_is_a_yes() -> None:
    release(make_version([draft_row("a", blocking=True)]))
    code, said = ask("examen")
    assert code == 0
    assert "el modelo no se midió" in said
    assert "Corridas para publicar de este commit: 1." in said


def test_a_short_sha_is_the_same_commit() -> None:
    release(make_version([draft_row("a")]))
    assert ask("examen", commit=SHA[:7])[0] == 0


def test_running_until_green_is_seen() -> None:
    version = make_version([draft_row("a")])
    for _ in range(3):
        release(version)
    assert "Corridas para publicar de este commit: 3." in ask("examen")[1]


def test_no_run_at_all_is_5() -> None:
    make_version([draft_row("a")])
    assert ask("examen")[0] == 5


def test_a_run_to_iterate_is_no_release_run() -> None:
    finished_run(make_version([draft_row("a")]), commit=SHA)
    assert ask("examen")[0] == 5


def test_no_policy_is_2() -> None:
    release(make_version([draft_row("a")], policy=False))
    code, said = ask("examen")
    assert (code, "política" in said) == (2, True)


def test_no_commit_outside_a_checkout_is_2(settings: Any, tmp_path: Any) -> None:
    settings.BASE_DIR = tmp_path
    release(make_version([draft_row("a")]))
    code, said = ask("examen", commit=None)
    assert (code, "--commit" in said) == (2, True)


def test_an_unknown_dataset_is_2() -> None:
    assert ask("nadie")[0] == 2


def test_a_failed_run_is_1() -> None:
    release(make_version([draft_row("a", REFUSAL, blocking=True)]))
    assert ask("examen")[0] == 1


def test_another_commit_is_3() -> None:
    release(make_version([draft_row("a")]), commit=OTHER)
    code, said = ask("examen")
    assert (code, "otro commit" in said) == (3, True)


def test_a_dirty_tree_is_no_commit() -> None:
    release(make_version([draft_row("a")]), commit=f"{SHA}-dirty")
    assert ask("examen")[0] == 3


def test_an_unsigned_version_is_3() -> None:
    release(make_version([draft_row("a")], signed=False))
    code, said = ask("examen")
    assert (code, "firmado" in said) == (3, True)


def test_an_inconclusive_run_is_3() -> None:
    release(make_version([draft_row("a"), draft_row("b", recordings=[])]))
    assert ask("examen")[0] == 3


def test_a_stale_run_is_3() -> None:
    run = release(make_version([draft_row("a")]))
    Run.objects.filter(pk=run.pk).update(finished_at=timezone.now() - timedelta(days=8))
    assert ask("examen", "--max-age-days", "7")[0] == 3
    assert ask("examen", "--max-age-days", "9")[0] == 0


@pytest.mark.parametrize("status", ["queued", "running", "interrupted", "over-budget", "cancelled"])
def test_a_newer_run_that_did_not_finish_is_3(status: str) -> None:
    version = make_version([draft_row("a")])
    release(version)
    newer = new_run(version, purpose="release", commit=SHA)
    Run.objects.filter(pk=newer.pk).update(status=status)
    assert ask("examen")[0] == 3


def test_a_newer_run_that_died_is_3_and_says_so() -> None:
    version = make_version([draft_row("a")])
    release(version)
    newer = new_run(version, purpose="release", commit=SHA)
    Run.objects.filter(pk=newer.pk).update(status="running", created_at=timezone.now() - timedelta(hours=1))
    code, said = ask("examen")
    assert (code, "muerta" in said) == (3, True)


def test_a_policy_that_needs_a_real_run_is_not_met_by_a_scripted_one() -> None:
    version = make_version([draft_row("a")])
    release(version)
    GatePolicy.objects.filter(dataset=version.dataset).update(needs_real=True)
    code, said = ask("examen")
    assert (code, "modelo real" in said) == (3, True)


def test_one_commit_s_newest_run_counts_even_when_it_failed() -> None:
    version = make_version([draft_row("a", blocking=True)])
    release(version)
    recording = version.dataset.cases.get().recordings.get()
    from evals.services import correct_recording

    correct_recording(recording=recording, text=REFUSAL, note="la salida mala", by=None)
    work(new_run(version, purpose="release", commit=SHA).pk, surroundings())
    assert ask("examen")[0] == 1
