"""One command tells what stands behind a result: exam, signature, health, policy, figures, and every change since."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone

from evals.datasets.rows import parse_rows
from evals.management.demo import seed_people
from evals.models import Case, CaseRevision, Recording, Run
from evals.services import (
    Change,
    correct_recording,
    freeze_version,
    hold_out_share,
    import_rows,
    remove_threshold,
    rescore_run,
    retire_case,
    save_case,
    save_edited,
    sign_version,
)
from evals.tests.commands import run_command
from evals.tests.desk import REFUSAL, draft_row, finished_run, make_version, open_cases
from evals.tests.rendered import text_of
from evals.tests.test_dataset_rows import lines
from evals.tests.test_dataset_verify import without_trigger

pytestmark = pytest.mark.django_db
WHY = "El precio subió el lunes."


@pytest.fixture
def run() -> Run:
    """A release run of the signed v1, by a developer, with one wrong answer and a held-out case."""
    seed_people(with_passwords=False)
    rows = [draft_row("bien"), draft_row("mal", REFUSAL), draft_row("oculta", held_out=True, input={"text": "frase secreta"})]
    version = make_version(rows, max_known_limitations=2)
    run = finished_run(version, purpose="release", commit="abcdef1234567")
    User.objects.get(username="duena").user_permissions.add(Permission.objects.get(codename="approve_case"))
    Run.objects.filter(pk=run.pk).update(created_by=User.objects.get(username="desarrollo"))
    return run


def change() -> Change:
    return Change(User.objects.get(username="duena"), timezone.now(), WHY)


def trail_of(run: Run) -> str:
    done = run_command("audit_trail", "--run", str(run.pk))
    assert done.code == 0
    return done.out


def test_it_tells_exam_signature_health_run_result_and_policy(run: Run) -> None:
    told = trail_of(run)
    for words in (
        "examen v1: 3 casos", f"Huella: {run.version.content_hash}", "Las huellas, calculadas otra vez, coinciden.",
        "Reservados: 1 casos, abiertos hasta hoy 0 veces.",
        "La firmó duena", "«para la prueba»", "Salud al firmar: falta.", "falta: Tamaño, 3",
        "La empezó desarrollo", "scripted", "Commit: abcdef1234567", run.prompt_hash,
        "Veredicto: ", "2/3", "IC 95 %", "nadie los había abierto",
        "Publicar exigía: guion. Limitaciones conocidas como máximo: 2.", "correct >= 0: «En la prueba cualquier cifra vale.»",
    ):  # fmt: skip
        assert words in told, words
    assert told.endswith("  Ninguno.\n")


def test_every_change_since_is_told_with_who_when_and_why(run: Run) -> None:
    dataset, owner = run.version.dataset, User.objects.get(username="duena")
    case = Case.objects.get(key="bien")
    case.expected_start_hour = 20
    save_case(case=case, change=change())
    retire_case(case=Case.objects.get(key="mal"), change=change())
    import_rows(dataset=dataset, rows=parse_rows(lines(draft_row("nueva")))[0], change=change())
    correct_recording(recording=Recording.objects.filter(case=case).latest("pk"), invalid=True, note="la copié mal", by=owner)
    dataset.policy.max_known_limitations = 5
    save_edited(row=dataset.policy, change=change())
    remove_threshold(threshold=dataset.policy.thresholds.get(), change=change())
    sign_version(version=freeze_version(dataset=dataset, by=owner), by=owner, reason="segunda firma", now=timezone.now())
    open_cases("experta", Case.objects.get(key="oculta"))
    rescore_run(run=run, by=owner, now=timezone.now())
    told = trail_of(run)
    for words in (
        "duena cambió casos (hora de inicio): bien. «El precio subió el lunes.»",
        "duena cambió casos (pasan a retirado): mal. «El precio subió el lunes.»",
        "duena creó casos, como aprobado: nueva. «El precio subió el lunes.»",
        "duena corrigió una grabación (base): bien. «la copié mal»",
        "duena cambió la política (limitaciones conocidas como máximo: 2 → 5). «El precio subió el lunes.»",
        "duena quitó un umbral (correct >= 0.0). «El precio subió el lunes.»",
        "congeló v2, 3 casos", "duena firmó v2. «segunda firma»",
        "experta abrió casos reservados: 1 reservado. «para la prueba»",
        f"duena calificó otra vez la corrida {run.pk}",
    ):  # fmt: skip
        assert words in told, words
    assert "Limitaciones conocidas como máximo: 2." in told  # as it stood


def test_an_import_of_many_cases_is_one_line(run: Run) -> None:
    rows = parse_rows(lines(*[draft_row(f"nueva-{number:02}") for number in range(30)]))[0]
    import_rows(dataset=run.version.dataset, rows=rows, change=change())
    [line] = [line for line in trail_of(run).splitlines() if "creó casos" in line]
    assert "nueva-00, nueva-01" in line
    assert "y 22 más" in line


def test_of_a_held_out_case_it_tells_who_and_when_alone(run: Run) -> None:
    case = Case.objects.get(key="oculta")
    case.text = "otra frase secreta"
    save_case(case=case, change=change()._replace(reason="dice algo secreto"))
    told = trail_of(run)
    assert "duena cambió casos: 1 reservado." in told
    assert "secret" not in told
    assert "oculta" not in told
    assert "secret" not in run_command("audit_trail", "--run", str(run.pk), "--json").out


def test_that_a_case_was_held_out_is_told_with_its_reason(run: Run) -> None:
    hold_out_share(dataset=run.version.dataset, share=1, change=change())
    assert "duena reservó casos: 2 reservados. «El precio subió el lunes.»" in trail_of(run)


def test_a_version_tells_its_runs(run: Run) -> None:
    told = run_command("audit_trail", "--dataset", "examen", "--version", "1").out
    assert f"Corrida {run.pk}, " in told
    assert "desarrollo: para publicar, guion scripted, commit abcdef123456; terminada, PASS, correctos 2/3" in told


def test_an_unsigned_version_says_so(run: Run) -> None:
    Case.objects.update(notes="x")
    freeze_version(dataset=run.version.dataset, by=None)
    assert "Nadie la ha firmado." in run_command("audit_trail", "--dataset", "examen", "--version", "2").out


def test_json_has_the_figures_with_their_denominators(run: Run) -> None:
    told: dict[str, Any] = json.loads(run_command("audit_trail", "--run", str(run.pk), "--json").out)
    assert told["report"]["metrics"]["correct"]["denominator"] == 3
    assert (told["seal"]["by"], told["run_by"], told["policy"]["max_known_limitations"]) == ("duena", "desarrollo", 2)
    assert told["changes"] == []
    version = json.loads(run_command("audit_trail", "--dataset", "examen", "--version", "1", "--json").out)
    assert [each["run_id"] for each in version["runs"]] == [run.pk]


def test_evidence_that_was_tampered_with_exits_1(run: Run) -> None:
    without_trigger("evals_caserevision")
    CaseRevision.objects.filter(case__key="bien").update(traits={"key": "bien", "category": "otra", "stratum": "happy"})
    done = run_command("audit_trail", "--run", str(run.pk))
    assert done.code == 1
    assert "¡No coincide! revisión" in done.out


@pytest.mark.parametrize("words", [(), ("--run", "99"), ("--dataset", "examen"), ("--dataset", "x", "--version", "1"),
                                   ("--dataset", "examen", "--version", "9"), ("--run", "1", "--dataset", "examen")])  # fmt: skip
def test_what_is_not_there_is_a_usage_error(run: Run, words: tuple[str, ...]) -> None:
    assert run_command("audit_trail", *words).code == 2


@pytest.mark.parametrize("username", ["experta", "desarrollo"])
def test_the_pages_of_run_and_version_link_to_the_same_answer(client: Client, run: Run, username: str) -> None:
    client.force_login(User.objects.get(username=username))
    for page in (f"/admin/evals/run/{run.pk}/", f"/admin/evals/datasetversion/{run.version_id}/"):
        assert f"{page}trail/" in client.get(f"{page}change/").content.decode()
        shown: Any = client.get(f"{page}trail/")
        assert f"Huella: {run.version.content_hash}" in text_of(shown)
        assert "La firmó duena" in text_of(shown)
