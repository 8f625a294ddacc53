"""`manage.py dataset_health`, and the facts that it reads from the database."""

import json
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from evals.management.demo import seed_demo
from evals.models import Case, Dataset
from evals.selectors import health_of, health_of_version, health_report, live_facts
from evals.services import freeze_version, sign_version
from evals.tests.commands import run_command
from evals.tests.desk import draft_output, draft_row, make_dataset, make_version
from evals.tests.test_health_checks import words

pytestmark = pytest.mark.django_db


def rows(count, **fields):
    return [draft_row(f"caso-{n}", **{"input": {"text": words(n)}} | fields) for n in range(count)]


def check_in(row, name):
    return next(each for each in row["checks"] if each["name"] == name)


@pytest.fixture
def shipped():
    seed_demo(with_passwords=False, now=timezone.now())


def test_the_shipped_datasets_lack_nothing_but_the_kit(shipped):
    assert {slug: run_command("dataset_health", slug).code for slug in ("reservas", "seguridad", "kit")} == {
        "reservas": 0,
        "seguridad": 0,
        "kit": 1,
    }


def test_it_says_level_figure_and_what_to_do(shipped):
    done = run_command("dataset_health", "kit")
    assert done.out.startswith("Salud de kit: falta\n")
    assert "✗ Tamaño: 14 · falta" in done.out
    assert "Qué hacer: Escribe casos hasta tener 30 por lo menos" in done.out
    assert "✗ Familias de ataque: 0/7 (0 %) · falta" in done.out
    assert "✓ Con grabación: 14/14 (100 %) · bien" in done.out


def test_the_figures_of_reservas_are_these(shipped):
    row = json.loads(run_command("dataset_health", "reservas", "--version", "1", "--json").out)
    assert (row["dataset"], row["version"], row["level"]) == ("reservas", 1, "atención")
    assert [check_in(row, "strata")["rows"][n][1] for n in range(3)] == [126, 54, 33]
    assert check_in(row, "families")["count"] == 7
    assert (check_in(row, "twins")["count"], check_in(row, "twins")["total"]) == (22, 22)
    assert check_in(row, "likeness")["count"] == 0
    assert check_in(row, "blocking")["count"] == 22
    assert check_in(row, "personal_data")["count"] == 0
    assert {check["name"] for check in row["checks"] if check["level"] == "atención"} == {"twins", "held_out"}


def test_each_attack_of_seguridad_has_its_own_twin(shipped):
    row = json.loads(run_command("dataset_health", "seguridad", "--json").out)
    assert check_in(row, "twins") | {"title": "", "sentence": ""} == {
        "name": "twins", "title": "", "level": "bien", "count": 56, "total": 56, "figure": "56/56 (100 %)", "sentence": "", "advice": "",
        "keys": [], "held_out_keys": 0, "rows": [], "alike": [],
    }  # fmt: skip


def test_it_refuses_what_does_not_exist():
    assert run_command("dataset_health", "nada").code == 2
    make_dataset(rows(1))
    assert run_command("dataset_health", "examen", "--version", "7").code == 2


def test_a_held_out_case_is_counted_and_never_named():
    make_dataset([*rows(2), draft_row("secreto-uno", held_out=True, recordings=[], input={"text": "CANARIO"})])
    for options in ([], ["--json"]):
        done = run_command("dataset_health", "examen", *options)
        assert "secreto-uno" not in done.out + done.err
        assert "CANARIO" not in done.out + done.err
    assert "Casos: 1 reservado" in run_command("dataset_health", "examen").out


def test_a_version_is_judged_as_it_was_frozen_and_the_dataset_as_it_is_now():
    version = make_version(rows(2, blocking=True))
    Case.objects.update(blocking=False)
    assert check_in(health_report(version, now=timezone.now()), "blocking")["count"] == 2
    assert check_in(health_of(version.dataset, now=timezone.now()).as_row(), "blocking")["count"] == 0


def test_only_approved_cases_count():
    dataset = make_dataset(rows(3))
    Case.objects.filter(key="caso-0").update(status=Case.Status.PROPOSED)
    assert health_of(dataset, now=timezone.now()).cases == 2


def test_a_recording_that_was_superseded_does_not_count_and_its_correction_does():
    dataset = make_dataset(rows(1))
    make_dataset(rows(1, recordings=[{"text": draft_output(hours=2), "invalid": False}]))
    (case,) = live_facts([dataset], now=timezone.now())[dataset.pk].cases
    assert [stored.text for stored in case.recordings] == [draft_output(hours=2)]


# --- When was it reviewed? --------------------------------------------------------------------------------------------------------


def stale(report):
    return next(check for check in report.checks if check.name == "reviews").keys


def test_an_edit_or_a_signature_makes_a_case_reviewed():
    dataset = make_dataset(rows(2))
    later = timezone.now() + timedelta(days=100)
    version = freeze_version(dataset=dataset, by=dataset.owner)
    assert stale(health_of(dataset, now=later)) == stale(health_of_version(version, now=later)) == ("caso-0", "caso-1")
    sign_version(version=version, by=User.objects.get(username="duena"), reason="repasado", now=later)
    assert stale(health_of(dataset, now=later)) == stale(health_of_version(version, now=later)) == ()


def test_a_signature_is_no_review_of_what_was_edited_after_it():
    version = make_version(rows(2), signed=False)
    edited = version.created_at + timedelta(minutes=1)
    Case.objects.filter(key="caso-0").update(updated_at=edited, notes="otra cosa")
    later = timezone.now() + timedelta(days=100)
    sign_version(version=version, by=User.objects.get(username="duena"), reason="repasado", now=later)
    assert stale(health_of(version.dataset, now=later)) == ("caso-0",)


# --- Cost ---------------------------------------------------------------------------------------------------------------------------


def test_facts_take_as_many_queries_for_many_datasets_and_cases_as_for_few():
    counted = []
    for slugs, cases in ((["a"], 2), (["b", "c", "d"], 40)):
        datasets = [make_dataset(rows(cases), slug=slug) for slug in slugs]
        with CaptureQueriesContext(connection) as captured:
            live_facts(list(Dataset.objects.filter(slug__in=slugs)), now=timezone.now())
        assert len(datasets) == len(slugs)
        counted.append(len(captured))
    assert counted[0] == counted[1] <= 5
