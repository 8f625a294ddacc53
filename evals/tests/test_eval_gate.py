"""`eval_gate` fails closed: what is not proven is not a yes."""

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from assistant.tests.loopback_provider import LoopbackProvider
from evals.models import CaseRevision, DatasetVersion, GatePolicy, Run, Scoring, Signature
from evals.runner import work
from evals.services import NotRunnable
from evals.tests.commands import point_at
from evals.tests.desk import NOW, REFUSAL, draft_output, draft_row, finished_run, make_version, new_run, surroundings
from evals.tests.test_dataset_verify import without_trigger

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
    Run.objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(days=8))
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
    release(make_version([draft_row("a")], needs_real=True))
    code, said = ask("examen")
    assert (code, "modelo real" in said) == (3, True)


def test_a_policy_that_changed_after_the_run_asks_for_another_run() -> None:
    version = make_version([draft_row("a")])
    release(version)
    GatePolicy.objects.filter(dataset=version.dataset).update(max_known_limitations=9)
    code, said = ask("examen")
    assert (code, "política cambió" in said) == (3, True)


def test_an_older_signed_version_is_no_longer_the_exam() -> None:
    old = make_version([draft_row("a", blocking=True)])
    release(make_version([draft_row("a", blocking=True), draft_row("b", REFUSAL, blocking=True)]))
    release(old)
    code, said = ask("examen")
    assert (code, "la última firmada es examen v2" in said) == (3, True)


def test_a_failed_kind_is_not_outweighed_by_a_later_run_of_another_kind() -> None:
    version = make_version([draft_row("a", blocking=True)])
    failed = release(version)
    Scoring.objects.filter(run=failed).update(is_current=False)
    Run.objects.filter(pk=failed.pk).update(model_kind="real")
    Scoring.objects.create(run=failed, decision="FAIL", verdict={"decision": "FAIL", "reasons": []}, closed_at=NOW, created_at=NOW)
    release(version)
    assert ask("examen")[0] == 1


def test_a_version_that_lost_a_case_does_not_run() -> None:
    version = make_version([draft_row("a"), draft_row("b")])
    version.revisions.remove(version.revisions.get(case__key="b"))
    with pytest.raises(NotRunnable, match="ya no son los que se congelaron"):
        release(version)


@pytest.mark.parametrize(("model", "table"), [(CaseRevision, "evals_caserevision"), (Signature, "evals_signature")])
def test_what_was_changed_behind_the_triggers_is_no_release(model: Any, table: str) -> None:
    version = DatasetVersion.objects.get(pk=make_version([draft_row("a")]).pk)
    without_trigger(table)
    changed = {"content": {"input": {"text": "otra cosa"}}} if model is CaseRevision else {"content_hash": "0" * 64}
    model.objects.update(**changed)
    with pytest.raises(NotRunnable, match="no da sus huellas") as told:
        new_run(version, purpose="release")
    assert "otra cosa" not in str(told.value)
    assert new_run(version).purpose == Run.Purpose.ITERATION


@pytest.mark.parametrize("config", [{"variant": "con-nombres"}, {"model": "scripted:bonito"}])
def test_a_release_run_measures_what_goes_out_and_no_variant_of_it(config: dict[str, str]) -> None:
    nice = {"set": "bonito", "text": draft_output()}
    version = make_version([draft_row("a", recordings=[{"text": REFUSAL}, nice])])
    with pytest.raises(NotRunnable, match="para publicar"):
        release(version, **config)
    assert finished_run(version, **config).status == Run.Status.FINISHED


@pytest.mark.parametrize(
    ("config", "what"), [({"model": "otro"}, "LLM_MODEL: «prueba»"), ({"model": "prueba", "temperature": 0.9}, "LLM_TEMPERATURE: «0.0»")]
)
def test_another_model_or_temperature_is_no_release_either(settings: Any, config: dict[str, Any], what: str) -> None:
    """Else a good answer of one model lets another one out."""
    version = make_version([draft_row("a")])
    with LoopbackProvider(answer=lambda call: draft_output()) as provider:
        point_at(settings, provider)
        with pytest.raises(NotRunnable, match=what):
            new_run(version, purpose="release", **config)
        assert new_run(version, **config).model_name == config["model"]
        assert new_run(version, purpose="release", model="prueba", temperature=0.0).temperature == 0.0


def test_one_commit_s_newest_run_counts_even_when_it_failed() -> None:
    version = make_version([draft_row("a", blocking=True)])
    release(version)
    recording = version.dataset.cases.get().recordings.get()
    from evals.services import correct_recording

    correct_recording(recording=recording, text=REFUSAL, note="la salida mala", by=None)
    work(new_run(version, purpose="release", commit=SHA).pk, surroundings())
    assert ask("examen")[0] == 1
