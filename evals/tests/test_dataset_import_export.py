"""Datasets come in and go out as files, through the commands."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command

from evals.management.demo import SEEDS, seed_people
from evals.models import Case, Dataset, DatasetVersion, HeldOutOpening, Recording, Signature
from evals.services import correct_recording
from evals.tests.desk import let_read_held_out
from evals.tests.test_dataset_rows import FULL, SMALL, lines, with_

pytestmark = pytest.mark.django_db


APPROVED = {"as_user": "experta", "approve": True}


@pytest.fixture(autouse=True)
def people():
    seed_people(with_passwords=False)


@pytest.fixture
def dataset():
    return Dataset.objects.create(slug="reservas", name="Reservas")


@pytest.fixture
def write(tmp_path):
    def write_file(*rows, content=None):
        file = tmp_path / "casos.jsonl"
        file.write_bytes(b"".join(lines(*rows)) if content is None else content)
        return file

    return write_file


def run(command, *arguments, **options):
    """What the command printed (stdout, stderr); a CommandError is the caller's."""
    out, err = io.StringIO(), io.StringIO()
    call_command(command, *arguments, stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def exported(tmp_path, slug, **options):
    file = tmp_path / "salida.jsonl"
    run("dataset_export", slug, str(file), **options)
    return file.read_bytes()


# --- Import -------------------------------------------------------------------------------------------------------------


def test_it_imports_and_says_what_changed(dataset, write):
    assert run("dataset_import", "reservas", write(SMALL, with_(SMALL, key="otra")))[0] == "reservas: 2 nuevos, 0 cambiados, 0 iguales.\n"
    assert run("dataset_import", "reservas", write(with_(SMALL, notes="x"), FULL))[0] == "reservas: 1 nuevos, 1 cambiados, 0 iguales.\n"
    assert dataset.cases.count() == 3


def test_one_bad_row_refuses_the_file_and_every_problem_is_told(dataset, write):
    bad = with_(SMALL, key="mala", expected=with_(SMALL["expected"], hours="1", sport="tenis"))
    err = io.StringIO()
    with pytest.raises(CommandError, match="no se importó nada") as raised:
        call_command("dataset_import", "reservas", write(SMALL, bad, SMALL), stderr=err)
    assert raised.value.returncode == 1
    assert [line.split(":")[0] for line in err.getvalue().splitlines()] == [
        "línea 2 · expected.sport",
        "línea 2 · expected.hours",
        "línea 3 · key",
    ]
    assert not Case.objects.exists()


def test_two_rows_with_one_key_and_different_answers_are_refused_with_both_lines(dataset, write):
    """S13: the last of them would have won silently."""
    err = io.StringIO()
    with pytest.raises(CommandError):
        call_command("dataset_import", "reservas", write(SMALL, with_(SMALL, expected={"kind": "clarify"})), stderr=err)
    assert "línea 1" in err.getvalue()
    assert "línea 2" in err.getvalue()
    assert not Case.objects.exists()


def test_a_file_saved_with_the_wrong_encoding_saves_no_broken_accent(dataset, write):
    """S22."""
    row = json.dumps(with_(SMALL, input={"text": "¿mañana a las 7?"}), ensure_ascii=False)
    err = io.StringIO()
    with pytest.raises(CommandError):
        call_command("dataset_import", "reservas", write(content=row.encode("cp1252")), stderr=err)
    assert "UTF-8" in err.getvalue()
    run("dataset_import", "reservas", write(content=b"\xef\xbb\xbf" + row.encode()))
    assert Case.objects.get().text == "¿mañana a las 7?"


def test_an_unknown_dataset_is_a_usage_error_that_names_the_known_ones(dataset, write):
    with pytest.raises(CommandError, match="reservas") as raised:
        call_command("dataset_import", "resevas", write(SMALL))
    assert raised.value.returncode == 2


def test_create_makes_the_dataset_with_its_owner(write):
    owner = User.objects.get(username="experta")
    run("dataset_import", "nuevo", write(SMALL), create=True, name="Uno nuevo", owner="experta")
    dataset = Dataset.objects.get()
    assert (dataset.slug, dataset.name, dataset.owner, dataset.cases.count()) == ("nuevo", "Uno nuevo", owner, 1)
    run("dataset_import", "nuevo", write(SMALL), create=True)
    assert Dataset.objects.get().name == "Uno nuevo"


@pytest.mark.parametrize("options", [{"owner": "nadie"}, {"name": "x" * 121}])
def test_create_refuses_what_no_dataset_may_be(write, options):
    with pytest.raises(CommandError) as raised:
        call_command("dataset_import", "nuevo", write(SMALL), create=True, **options)
    assert raised.value.returncode == 2
    assert not Dataset.objects.exists()


def test_a_bad_file_creates_no_dataset(write):
    with pytest.raises(CommandError):
        call_command("dataset_import", "nuevo", write({}), create=True, stderr=io.StringIO())
    assert not Dataset.objects.exists()


def test_a_file_that_is_not_there_is_a_usage_error(dataset, tmp_path):
    with pytest.raises(CommandError, match="No se puede leer") as raised:
        call_command("dataset_import", "reservas", tmp_path / "nada.jsonl")
    assert raised.value.returncode == 2


def test_the_shell_sees_usage_errors_as_2():
    command = [sys.executable, "manage.py", "dataset_import", "reservas"]
    assert subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, check=False).returncode == 2


# --- Who approves -------------------------------------------------------------------------------------------------------


def status_of(dataset):
    return dict(dataset.cases.values_list("key", "status"))


def refused(write, *rows, **options):
    with pytest.raises(CommandError) as raised:
        call_command("dataset_import", "reservas", write(*rows), **options)
    return raised.value


@pytest.mark.parametrize("options", [{}, {"as_user": "experta"}])
def test_what_comes_in_waits_and_so_does_what_changes(dataset, write, options):
    run("dataset_import", "reservas", write(SMALL, with_(SMALL, key="igual")), **APPROVED)
    run("dataset_import", "reservas", write(with_(SMALL, notes="otra"), with_(SMALL, key="igual"), with_(SMALL, key="nueva")), **options)
    assert status_of(dataset) == {"clara-1": "proposed", "igual": "approved", "nueva": "proposed"}


def test_with_approve_it_is_approved_by_the_person_named(dataset, write):
    run("dataset_import", "reservas", write(SMALL), **APPROVED)
    run("dataset_import", "reservas", write(with_(SMALL, notes="otra")), **APPROVED)
    assert status_of(dataset) == {"clara-1": "approved"}
    assert str(Case.objects.get().author) == "experta"


def test_with_approve_what_was_proposed_and_changes_is_approved_too_and_the_rest_is_named(dataset, write):
    both = (SMALL, {**SMALL, "key": "igual"})
    run("dataset_import", "reservas", write(*both), as_user="experta")
    out, err = run("dataset_import", "reservas", write(with_(SMALL, notes="otra"), both[1]), **APPROVED)
    assert out == "reservas: 0 nuevos, 1 cambiados, 1 iguales.\n"
    assert err == "1 caso que el archivo no cambia sigue propuesto: se aprueban en «Casos».\n"
    assert status_of(dataset) == {"clara-1": "approved", "igual": "proposed"}


def test_with_approve_a_retired_case_stays_retired(dataset, write):
    run("dataset_import", "reservas", write(SMALL), **APPROVED)
    Case.objects.update(status=Case.Status.RETIRED)
    assert run("dataset_import", "reservas", write(with_(SMALL, notes="otra")), **APPROVED)[1] == ""
    assert status_of(dataset) == {"clara-1": "retired"}


def test_nobody_approves_without_a_name_or_the_permission(dataset, write):
    assert "--approve necesita --as" in str(refused(write, SMALL, approve=True))
    assert refused(write, SMALL, approve=True).returncode == 2
    User.objects.get(username="experta").groups.get().permissions.remove(Permission.objects.get(codename="approve_case"))
    error = refused(write, SMALL, **APPROVED)
    assert (error.returncode, str(error)[:45]) == (1, "experta no puede aprobar casos de «reservas»:")
    assert not dataset.cases.exists()
    run("dataset_import", "reservas", write(SMALL), as_user="experta")
    assert status_of(dataset) == {"clara-1": "proposed"}


@pytest.mark.parametrize("dry_run", [False, True])
def test_who_may_not_add_and_change_cases_brings_no_file(dataset, write, dry_run):
    error = refused(write, SMALL, as_user="desarrollo", dry_run=dry_run)
    assert (error.returncode, "permisos de agregar y de cambiar casos" in str(error)) == (1, True)
    assert not dataset.cases.exists()


def test_where_another_person_approves_it_waits_and_that_is_said(dataset, write):
    Dataset.objects.update(second_person_approves=True)
    _, err = run("dataset_import", "reservas", write(SMALL), **APPROVED)
    assert err == "Quedan propuestos: en «reservas» el autor no aprueba lo suyo.\n"
    assert status_of(dataset) == {"clara-1": "proposed"}


def test_a_held_out_row_is_refused_by_its_line_to_who_may_not_read_it(dataset, write):
    run("dataset_import", "reservas", write(with_(SMALL, held_out=True)), **APPROVED)
    for dry_run in (False, True):
        err = io.StringIO()
        with pytest.raises(CommandError):
            call_command("dataset_import", "reservas", write(SMALL), stderr=err, as_user="experta", dry_run=dry_run)
        assert "línea 1 · «clara-1»: Es un caso reservado" in err.getvalue()


# --- Export -------------------------------------------------------------------------------------------------------------


def test_export_import_export_gives_the_same_bytes(dataset, write, tmp_path):
    run(
        "dataset_import",
        "reservas",
        write(with_(FULL, held_out=False), SMALL, with_(SMALL, key="abc", recordings=[{"text": "é"}])),
        **APPROVED,
    )
    first = exported(tmp_path, "reservas")
    assert [json.loads(line)["key"] for line in first.splitlines()] == ["inyeccion-1", "clara-1", "abc"]
    assert run("dataset_import", "reservas", write(content=first), **APPROVED)[0] == "reservas: 0 nuevos, 0 cambiados, 3 iguales.\n"
    assert exported(tmp_path, "reservas") == first
    run("dataset_import", "copia", write(content=first), create=True, **APPROVED)
    assert exported(tmp_path, "copia") == first


@pytest.mark.parametrize("slug", ["kit", "reservas", "seguridad"])
def test_the_shipped_datasets_come_out_as_they_are_in_the_repository(slug, tmp_path):
    shipped = (SEEDS / f"{slug}.jsonl").read_bytes()
    run("dataset_import", slug, SEEDS / f"{slug}.jsonl", create=True, **APPROVED)
    assert exported(tmp_path, slug, include_held_out=True) == shipped


def test_a_corrected_recording_leaves_in_its_newest_form_and_place(dataset, write, tmp_path):
    run("dataset_import", "reservas", write(with_(SMALL, recordings=[{"text": "a"}, {"set": "mala", "text": "b"}])), **APPROVED)
    correct_recording(recording=Recording.objects.get(set_name="base"), text="c", note="la copié mal", by=None)
    [row] = [json.loads(line) for line in exported(tmp_path, "reservas").splitlines()]
    assert row["recordings"] == [{"text": "c", "note": "la copié mal"}, {"set": "mala", "text": "b"}]


def test_held_out_and_unapproved_cases_stay_and_are_counted(dataset, write, tmp_path):
    run("dataset_import", "reservas", write(SMALL, with_(SMALL, key="oculto", held_out=True), with_(SMALL, key="viejo")), **APPROVED)
    Case.objects.filter(key="viejo").update(status=Case.Status.RETIRED)
    _, err = run("dataset_export", "reservas", str(tmp_path / "a"))
    assert err == "1 casos exportados; quedan fuera 1 reservados y 1 propuestos o retirados.\n"
    assert b"oculto" not in (tmp_path / "a").read_bytes()
    User.objects.create_user("lectora")
    for missing in ({}, {"as_user": "lectora", "reason": "para respaldo"}):
        with pytest.raises(CommandError):
            run("dataset_export", "reservas", str(tmp_path / "b"), include_held_out=True, **missing)
    let_read_held_out("lectora")
    with pytest.raises(CommandError):
        run("dataset_export", "reservas", str(tmp_path / "b"), include_held_out=True, as_user="lectora")
    assert not (tmp_path / "b").exists()
    _, err = run("dataset_export", "reservas", str(tmp_path / "b"), include_held_out=True, as_user="lectora", reason="para respaldo")
    opening = HeldOutOpening.objects.get()
    assert (opening.case.key, str(opening.opened_by), opening.reason, opening.where) == ("oculto", "lectora", "para respaldo", "export")
    assert err == "2 casos exportados; quedan fuera 1 propuestos o retirados.\n"
    assert b"oculto" in (tmp_path / "b").read_bytes()


def test_importing_an_export_without_held_out_cases_retires_nothing(dataset, write, tmp_path):
    run("dataset_import", "reservas", write(SMALL, with_(SMALL, key="oculto", held_out=True)), **APPROVED)
    run("dataset_import", "reservas", write(content=exported(tmp_path, "reservas")), **APPROVED)
    assert list(Case.objects.order_by("key").values_list("key", "status")) == [("clara-1", "approved"), ("oculto", "approved")]


def test_a_dash_writes_the_same_bytes_to_standard_output(dataset, write, tmp_path, capsysbinary):
    run("dataset_import", "reservas", write(with_(SMALL, notes="ñandú")), **APPROVED)
    call_command("dataset_export", "reservas")
    assert capsysbinary.readouterr().out == exported(tmp_path, "reservas")


def test_export_to_where_nothing_can_be_written_is_a_usage_error(dataset, tmp_path):
    with pytest.raises(CommandError, match="No se puede escribir") as raised:
        call_command("dataset_export", "reservas", str(tmp_path / "no" / "a.jsonl"))
    assert raised.value.returncode == 2


# --- Freeze and sign ----------------------------------------------------------------------------------------------------


def test_freeze_and_sign_from_the_command_line(dataset, write):
    Dataset.objects.update(owner=User.objects.get(username="experta"))
    run("dataset_import", "reservas", write(SMALL), **APPROVED)
    assert run("dataset_freeze", "reservas")[0].startswith("reservas v1: 1 casos")
    run("dataset_sign", "reservas", version=1, as_user="experta", reason="Lo revisé.")
    assert Signature.objects.get().version == DatasetVersion.objects.get()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"version": 9, "as_user": "experta", "reason": "x"}, 2),
        ({"version": 1, "as_user": "nadie", "reason": "x"}, 2),
        ({"version": 1, "as_user": "otro", "reason": "x"}, 1),
        ({"version": 1, "as_user": "experta", "reason": " "}, 1),
        ({"version": 1, "as_user": "experta", "reason": "x"}, 1),
    ],
)
def test_signing_refuses_with_one_sentence(dataset, write, options, code):
    Dataset.objects.update(owner=User.objects.get(username="experta"))
    User.objects.create_user("otro")
    run("dataset_import", "reservas", write(SMALL), **APPROVED)
    run("dataset_freeze", "reservas")
    with pytest.raises(CommandError) as raised:
        call_command("dataset_sign", "reservas", **options)
    assert raised.value.returncode == code
    assert not Signature.objects.exists()


def test_freezing_nothing_is_refused(dataset):
    with pytest.raises(CommandError, match="ningún caso aprobado") as raised:
        call_command("dataset_freeze", "reservas")
    assert raised.value.returncode == 1


def test_the_version_option_reaches_the_command_and_not_django():
    command = [sys.executable, str(Path("manage.py")), "dataset_sign", "--help"]
    answer = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, check=True)
    assert "--version VERSION" in answer.stdout
