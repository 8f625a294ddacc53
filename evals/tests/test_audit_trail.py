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
from evals.reports.trail import say_moment
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
from evals.tests.desk import REFUSAL, draft_output, draft_row, finished_run, make_version, open_cases
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
        "examen v1: 3 casos", " por duena.", f"Huella: {run.version.content_hash}", "Las huellas, calculadas otra vez, coinciden.",
        "Reservados: 1 caso; nadie los ha abierto.",
        "La firmó duena", "«para la prueba»", "Salud al firmar: falta.", "falta: Tamaño, 3",
        "La empezó desarrollo", "scripted", "Commit: abcdef1234567", run.prompt_hash,
        "Veredicto: ", "2/3", "IC 95 %", "nadie los había abierto",
        "Para publicar se exige: guion. Limitaciones conocidas como máximo: 2.",
        "Casos correctos ≥ 0 %: «En la prueba cualquier cifra vale.»",
        "Hoy sigue igual.",
    ):  # fmt: skip
        assert words in told, words
    assert told.endswith("  Ninguno.\n")


def test_every_change_since_is_told_with_who_when_and_why(run: Run) -> None:
    dataset, owner = run.version.dataset, User.objects.get(username="duena")
    case = Case.objects.get(key="bien")
    case.expected_start_hour = 20
    save_case(case=case, change=change())
    retire_case(case=Case.objects.get(key="mal"), change=change())
    import_rows(dataset=dataset, rows=parse_rows(lines(draft_row("nueva")))[0], change=change(), approved=True)
    correct_recording(recording=Recording.objects.filter(case=case).latest("pk"), invalid=True, note="la copié mal", by=owner)
    dataset.policy.max_known_limitations = 5
    save_edited(row=dataset.policy, change=change())
    remove_threshold(threshold=dataset.policy.thresholds.get(), change=change())
    sign_version(version=freeze_version(dataset=dataset, by=owner), by=owner, reason="segunda firma", now=timezone.now())
    open_cases("experta", Case.objects.get(key="oculta"))
    rescore_run(run=run, by=owner, now=timezone.now())
    told = trail_of(run)
    for words in (
        "duena cambió casos (hora de inicio: 19:00 → 20:00): bien. «El precio subió el lunes.»",
        "duena cambió casos (pasan a retirado): mal. «El precio subió el lunes.»",
        "duena creó casos, como aprobado: nueva. «El precio subió el lunes.»",
        "duena corrigió grabaciones (juego base; inválida: no → sí): bien. «la copié mal»",
        "duena cambió la política (limitaciones conocidas como máximo: 2 → 5). «El precio subió el lunes.»",
        "duena quitó un umbral (métrica: correct; condición: al menos; valor: 0; justificación: En la prueba cualquier cifra vale.). «El",
        "duena congeló v2, 3 casos", "duena firmó v2. «segunda firma»",
        "experta abrió casos reservados: 1 reservado. «para la prueba»",
        f"duena calificó otra vez la corrida {run.pk}",
    ):  # fmt: skip
        assert words in told, words
    assert (
        told.index("Limitaciones conocidas como máximo: 2.")
        < told.index("Hoy es otra:")
        < told.index("hoy: Para publicar se exige: guion. Limitaciones conocidas como máximo: 5.")
    )


def test_what_changed_between_the_signature_and_the_run_is_told_before_it(run: Run) -> None:
    """The hash that was signed has neither recordings nor policy in it."""
    owner, before = User.objects.get(username="duena"), trail_of(run)
    assert "firmó v1" in before.partition("Cambios entre la versión y la corrida")[2].partition("La corrida\n")[0]
    recording = Recording.objects.get(case__key="mal")
    correct_recording(recording=recording, text=draft_output(), note="para que salga bien", by=owner)
    run.version.dataset.policy.max_known_limitations = 9
    save_edited(row=run.version.dataset.policy, change=change())
    later = finished_run(run.version, purpose="release", commit="abcdef1234567")
    correct_recording(recording=Recording.objects.filter(case__key="mal").latest("pk"), text=REFUSAL, note="como estaba", by=owner)
    told = trail_of(later)
    between, _, after = told.partition("Cambios entre la versión y la corrida")[2].partition("La corrida\n")
    assert "duena corrigió grabaciones (juego base; otro texto): mal. «para que salga bien»" in between
    assert "limitaciones conocidas como máximo: 2 → 9" in between
    assert "como estaba" not in between
    assert "como estaba" in after.partition("Cambios desde entonces")[2]
    told_as_data = json.loads(run_command("audit_trail", "--run", str(later.pk), "--json").out)
    assert "para que salga bien" in [each["why"] for each in told_as_data["changes_before"]]


def test_an_import_of_many_cases_is_one_line_and_their_recordings_another(run: Run) -> None:
    rows = parse_rows(lines(*[draft_row(f"nueva-{number:02}") for number in range(30)]))[0]
    import_rows(dataset=run.version.dataset, rows=rows, change=change(), approved=True)
    told = trail_of(run).splitlines()
    for said in ("creó casos", "agregó grabaciones (juego base)"):
        found = [line for line in told if said in line]
        assert 1 <= len(found) <= 2  # the minute may turn between two recordings
        assert "nueva-00, nueva-01" in found[0]
        assert "y 22 más" in found[0] or len(found) == 2


def test_who_froze_a_version_is_told_on_its_trail_and_page_or_that_it_was_not_written(run: Run, client: Client) -> None:
    dataset, owner = run.version.dataset, User.objects.get(username="duena")
    client.force_login(User.objects.create_superuser("jefa"))
    for number, options, words in ((2, ("--as", "duena"), "duena"), (3, (), "no quedó escrito quién")):
        Case.objects.update(notes=f"nota {number}")
        assert run_command("dataset_freeze", "examen", *options).code == 0
        version = dataset.versions.get(number=number)
        assert version.created_by == (owner if options else None)
        told = run_command("audit_trail", "--dataset", "examen", "--version", str(number)).out
        assert f"congelada el {say_moment(version.created_at)}{' por duena.' if options else f'; {words} la congeló.'}" in told
        assert f"{words} congeló v{number}, 3 casos" in trail_of(run)
        page: Any = client.get(f"/admin/evals/datasetversion/{version.pk}/change/")
        assert f"Congelada por: {words.removesuffix(' quién')}" in text_of(page)
    told = json.loads(run_command("audit_trail", "--dataset", "examen", "--version", "2", "--json").out)
    assert (told["frozen_by"], told["policy_now"]["max_known_limitations"]) == ("duena", 2)


def test_a_dataset_and_its_thresholds_change_in_words_with_names(run: Run) -> None:
    dataset, person = run.version.dataset, User.objects.get(username="experta")
    why = change()
    dataset.owner, dataset.second_person_approves, dataset.description = person, True, "muy largo " * 100
    save_edited(row=dataset, change=why)
    dataset.delegates.add(User.objects.get(username="duena"), person)  # as the form does, after the row
    threshold = dataset.policy.thresholds.get()
    threshold.value = 0.25
    save_edited(row=threshold, change=change())
    dataset.policy.needs_real = True
    save_edited(row=dataset.policy, change=change())
    told = trail_of(run)
    assert "dueño de negocio: duena → experta; el autor no aprueba lo suyo: no → sí; delegados: nada → duena, experta). «" in told
    assert told.count("cambió el dataset (") == 1
    assert "descripción: nada → muy largo muy largo" in told
    assert max(len(line) for line in told.splitlines()) < 600
    assert "duena cambió el umbral «correct >= 0.0» (valor: 0 → 0.25)." in told
    assert "duena cambió la política (publicar exige una corrida con modelo real: no → sí)." in told
    assert "True" not in told


def test_long_words_of_a_case_are_cut_and_many_cases_tell_their_fields_alone(run: Run) -> None:
    why = change()
    for key in ("bien", "mal"):
        case = Case.objects.get(key=key)
        case.notes = "una nota larga " * 60
        save_case(case=case, change=why)
    case = Case.objects.get(key="bien")
    case.text = "otra pichanga " * 200
    save_case(case=case, change=change())
    told = trail_of(run)
    assert "cambió casos (notas): bien, mal." in told
    assert "(lo que escribe la persona: fulbito mañana a las 7 de la noche → otra pichanga" in told
    assert max(len(line) for line in told.splitlines()) < 600


def test_of_a_case_that_was_held_out_once_it_tells_no_words(run: Run) -> None:
    case = Case.objects.get(key="oculta")
    case.held_out = False
    save_case(case=case, change=change())
    recording = Recording.objects.filter(case=case).latest("pk")
    correct_recording(recording=recording, invalid=True, note="frase secreta", by=User.objects.get(username="duena"))
    told = trail_of(run)
    assert "duena escribió grabaciones: 1 reservado." in told
    assert "secreta" not in told


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


def test_that_a_case_was_changed_and_held_out_in_one_save_is_told_without_its_words(run: Run) -> None:
    case = Case.objects.get(key="mal")
    case.expected_start_hour, case.held_out = 21, True
    save_case(case=case, change=change()._replace(reason="dice algo secreto"))
    told = trail_of(run)
    assert "duena cambió casos y los reservó: 1 reservado." in told
    assert "secret" not in told
    assert "21" not in told.partition("duena cambió casos y los reservó")[2]


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
