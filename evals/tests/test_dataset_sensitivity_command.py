"""`manage.py dataset_sensitivity`: which weaknesses the exam notices, and which it does not."""

import json

import pytest
from django.utils import timezone

from assistant.drafts import parse_output
from bookings.models import Booking, Court, Member
from evals.management.demo import seed_demo
from evals.models import Dataset
from evals.sensitivity import WEAKNESSES, Status, measure, replays_of
from evals.tests.commands import run_command
from evals.tests.desk import NOW, REFUSAL, draft_output, draft_row, make_dataset

pytestmark = pytest.mark.django_db

PROSE = "Claro: " + draft_output()
EXTRA = draft_output(memberId=7)


def found_in(*options):
    done = run_command("dataset_sensitivity", "examen", "--json", *options)
    return json.loads(done.out)


def status_of(name, row):
    return next(weakness["status"] for weakness in row["weaknesses"] if weakness["name"] == name)


def test_reservas_notices_every_weakness():
    seed_demo(with_passwords=False, now=timezone.now())
    before = Booking.objects.count(), Court.objects.count(), Member.objects.count()
    dataset = Dataset.objects.get(slug="reservas")
    found = measure(replays_of(dataset, set_name="", now=timezone.now()), WEAKNESSES)
    assert [finding.weakness.name for finding in found.findings if finding.status is not Status.NOTICED] == []
    assert (len(found.cases), len(found.failing)) == (213, 7)
    assert set(found.idle) < set(found.failing)  # whoever passes is of some use
    assert (Booking.objects.count(), Court.objects.count(), Member.objects.count()) == before
    assert parse_output(EXTRA, now=NOW).kind == "rejected"  # nothing of the running code was touched


def test_an_easy_exam_lets_most_weaknesses_through_and_the_command_says_so():
    make_dataset([draft_row("facil")])
    done = run_command("dataset_sensitivity", "examen")
    assert done.code == 1
    assert "Debilidades que el examen nota: 4/42, con 1 caso." in done.out
    row = found_in()
    assert {weakness["name"] for weakness in row["weaknesses"] if weakness["status"] == "noticed"} == {
        "siempre-pregunta", "siempre-declina", "un-dia-despues", "manana-por-noche",
    }  # fmt: skip
    assert status_of("claves-extra", row) == "untriggered"
    assert "? Ignora los datos de más en vez de rechazar la salida: ninguna grabación la dispara" in done.out
    assert "✓ Declina siempre: solo la nota facil" in done.out


def test_a_weakness_that_shows_and_that_no_case_minds_survives():
    """The output breaks the form, and somebody marked it as valid: who accepts it gets a point more, not one less."""
    make_dataset([draft_row("mal-marcado", EXTRA, invalid=False)])
    assert status_of("claves-extra", found_in()) == "survives"
    done = run_command("dataset_sensitivity", "examen")
    assert "✗ Ignora los datos de más en vez de rechazar la salida: ningún caso la nota, aunque cambia 1 (mal-marcado)" in done.out
    assert done.code == 1


def test_the_same_output_marked_as_invalid_notices_it():
    make_dataset([draft_row("bien-marcado", EXTRA, invalid=True)])
    assert status_of("claves-extra", found_in()) == "noticed"


def test_who_books_is_noticed_only_by_a_case_that_checks_the_effect():
    make_dataset([draft_row("sin-efecto")])
    assert status_of("siempre-otro-socio", found_in()) == "untriggered"
    make_dataset([draft_row("con-efecto", context={"now": "2026-03-09T10:00", "member": "Rosa Quispe"})])
    assert status_of("siempre-otro-socio", found_in()) == "noticed"


def test_cases_that_notice_nothing_are_named_and_excused():
    make_dataset([draft_row("util"), draft_row("falla", REFUSAL)])
    row = found_in()
    assert (row["cases_that_notice_nothing"], row["cases_that_fail_already"]) == (["falla"], ["falla"])
    out = run_command("dataset_sensitivity", "examen").out
    assert "Casos que no notan ninguna: falla." in out
    assert "con un modelo real sí pueden importar" in out


def test_a_held_out_case_is_neither_replayed_nor_named():
    make_dataset([draft_row("abierto"), draft_row("cerrado", PROSE, invalid=True, held_out=True)])
    for options in ([], ["--json"]):
        assert "cerrado" not in run_command("dataset_sensitivity", "examen", *options).out
    assert found_in()["cases"] == 1
    make_dataset([draft_row("otro-abierto", PROSE, invalid=True)])
    assert status_of("json-en-prosa", found_in()) == "noticed"  # control: an open one is


def test_a_set_is_chosen_and_without_base_all_are_replayed():
    two = [{"set": "obedece", "text": PROSE, "invalid": True}, {"set": "resiste", "text": draft_output(), "invalid": False}]
    make_dataset([draft_row("doble", recordings=two)])
    assert status_of("json-en-prosa", found_in("--set", "resiste")) == "untriggered"
    assert status_of("json-en-prosa", found_in("--set", "obedece")) == "noticed"
    assert status_of("json-en-prosa", found_in()) == "noticed"
    assert status_of("siempre-declina", found_in()) == "noticed"


def test_it_refuses_a_dataset_without_recordings_or_of_another_system():
    dataset = make_dataset([draft_row("a", recordings=[])])
    assert run_command("dataset_sensitivity", "examen").code == 5
    Dataset.objects.filter(pk=dataset.pk).update(target="quick")
    done = run_command("dataset_sensitivity", "examen")
    assert (done.code, "quick" in done.err) == (2, True)
