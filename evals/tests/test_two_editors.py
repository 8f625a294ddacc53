"""Whoever saves a case that changed meanwhile sees what changed, by whom, when and why, and decides. Nothing is lost silently (S07)."""

from datetime import date, datetime

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.urls import reverse

from evals.datasets.rows import LIMA, parse_rows
from evals.management.demo import seed_people
from evals.models import Case, Dataset
from evals.services import Change, approve_case, import_rows, move_cases, reopen_case, retire_case, revert_case, save_case
from evals.tests.commands import run_command
from evals.tests.rendered import fields_of_form, text_of
from evals.tests.test_dataset_rows import FULL, SMALL, lines, with_

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 9, 10, tzinfo=LIMA)
LATER = datetime(2026, 3, 9, 11, 30, tzinfo=LIMA)
WHY = "El precio subió el lunes."


@pytest.fixture(autouse=True)
def people():
    seed_people(with_passwords=False)
    other = User.objects.create_user("otra", is_staff=True)
    other.user_permissions.add(Permission.objects.get(codename="approve_case"))


@pytest.fixture
def experta(client):
    client.force_login(User.objects.get(username="experta"))
    return client


@pytest.fixture
def case():
    return store(SMALL, with_(SMALL, key="vecino"))


def store(*rows):
    dataset, _ = Dataset.objects.get_or_create(slug="mio", defaults={"name": "Mío"})
    bring(dataset, *rows, change=Change(User.objects.get(username="experta"), NOW))
    return Case.objects.get(dataset=dataset, key=rows[0]["key"])


def bring(dataset, *rows, change):
    parsed, problems = parse_rows(lines(*rows))
    assert problems == []
    import_rows(dataset=dataset, rows=parsed, change=change, approved=True)


def other(why=WHY):
    return Change(User.objects.get(username="otra"), LATER, why)


def url_of(case):
    return reverse("admin:evals_case_change", args=[case.pk])


def open_form(client, case):
    return fields_of_form(client.get(url_of(case)), "case_form")


def edit(case, change=None, **values):
    """Another person saves other values."""
    fresh = Case.objects.get(pk=case.pk)
    for name, value in values.items():
        setattr(fresh, name, value)
    save_case(case=fresh, change=change or other())


def errors_of(response):
    return {name: " ".join(errors) for name, errors in response.context["adminform"].form.errors.items()}


def stored(case):
    return Case.objects.get(pk=case.pk)


# --- Whose each field is ------------------------------------------------------------------------------------------------------


def test_what_they_changed_and_i_did_not_is_told_and_comes_into_my_form(experta, case):
    mine = open_form(experta, case)
    edit(case, expected_start_hour=20)
    page = experta.post(url_of(case), mine | {"notes": "lo mío"})
    said = errors_of(page)
    assert set(said) == {"expected_start_hour", "__all__"}  # nobody but me touched the notes
    assert said["expected_start_hour"] == "Cambió mientras editabas: antes «19:00», ahora «20:00». Ya está aquí."
    assert (stored(case).expected_start_hour, stored(case).notes) == (20, "")
    decided = fields_of_form(page, "case_form")
    assert (decided["expected_start_hour"], decided["notes"]) == ("20", "lo mío")
    assert experta.post(url_of(case), decided).status_code == 302
    assert (stored(case).expected_start_hour, stored(case).notes) == (20, "lo mío")


def test_i_may_decide_for_what_it_said_before(experta, case):
    mine = open_form(experta, case)
    edit(case, expected_start_hour=20)
    decided = fields_of_form(experta.post(url_of(case), mine | {"notes": "lo mío"}), "case_form")
    assert experta.post(url_of(case), decided | {"expected_start_hour": "19"}).status_code == 302
    assert stored(case).expected_start_hour == 19


def test_what_both_changed_says_so_with_both_values_and_keeps_mine_in_the_form(experta, case):
    mine = open_form(experta, case)
    edit(case, notes="lo de la otra\nen dos líneas")
    page = experta.post(url_of(case), mine | {"notes": "lo mío"})
    said = errors_of(page)
    assert (
        said["notes"]
        == "Los dos lo cambiaron (antes decía «en blanco»). Quedó guardado «lo de la otra / en dos líneas»; aquí está lo tuyo."
    )
    assert "Donde los dos cambiaron lo mismo está lo tuyo" in said["__all__"]
    decided = fields_of_form(page, "case_form")
    assert decided["notes"] == "lo mío"
    assert stored(case).notes == "lo de la otra\nen dos líneas"
    assert experta.post(url_of(case), decided).status_code == 302
    assert stored(case).notes == "lo mío"


def test_what_only_i_changed_is_saved_without_a_word_when_what_they_left_is_what_i_typed(experta, case):
    mine = open_form(experta, case)
    edit(case, notes="lo mismo")
    assert experta.post(url_of(case), mine | {"notes": "lo mismo", "member": "Ana"}).status_code == 302
    assert (stored(case).notes, stored(case).member) == ("lo mismo", "Ana")


def test_a_form_sent_twice_is_no_other_edit(experta, case):
    mine = open_form(experta, case) | {"notes": "lo mío"}
    assert [experta.post(url_of(case), mine).status_code for _ in range(2)] == [302, 302]
    assert case.history.count() == 2


def test_every_kind_of_field_comes_into_my_form_as_they_left_it(experta):
    full = store(with_(FULL, held_out=False))
    mine = open_form(experta, full)
    theirs = {
        "now": datetime(2026, 4, 1, 8, 15, tzinfo=LIMA), "stratum": "edge", "blocking": not full.blocking, "known_limitation": "",
        "tags": ["nueva"], "documents": ["uno", "dos"], "expected_date": date(2026, 4, 2), "text": "otra\ncosa",
    }  # fmt: skip
    edit(full, **theirs)
    page = experta.post(url_of(full), mine | {"notes": "lo mío"})
    assert page.status_code == 200
    assert "miércoles 01/04/2026 08:15" in errors_of(page)["now"]
    decided = fields_of_form(page, "case_form")
    assert (decided["now_0"], decided["now_1"], decided["labels"]) == ("2026-04-01", "08:15", "nueva")
    fresh = {name: value for name, value in open_form(experta, full).items() if name not in {"csrfmiddlewaretoken", "notes"}}
    assert {name: decided.get(name) for name in fresh} == fresh
    assert experta.post(url_of(full), decided).status_code == 302
    assert {name: getattr(stored(full), name) for name in theirs} == theirs
    assert stored(full).notes == "lo mío"


def test_control_without_what_was_seen_the_second_editor_would_wipe_the_first(experta, case, monkeypatch):
    monkeypatch.setattr("evals.admin.case_form.CaseForm._notice_another_edit", lambda *args: None)
    mine = open_form(experta, case)
    edit(case, expected_start_hour=20)
    assert experta.post(url_of(case), mine | {"notes": "lo mío"}).status_code == 302
    assert stored(case).expected_start_hour == 19


# --- Who, when, why, and what it was ----------------------------------------------------------------------------------------------


def on_the_form(client, case):
    """Somebody saves by the page: the one way that leaves a line in the admin's own log."""
    someone = User.objects.get(username="experta")
    client.force_login(someone)
    assert (
        client.post(url_of(case), open_form(client, case) | {"expected_start_hour": "21", "reason": "De antes, por la página."}).status_code
        == 302
    )
    assert LogEntry.objects.filter(object_id=str(case.pk)).exists()


def by_import(client, case, tmp_path):
    bring(case.dataset, with_(SMALL, notes="x"), with_(SMALL, key="vecino", notes="x"), change=other())
    return f"otra lo cambió (hora de inicio, notas) el lunes 09/03, 11:30, junto con 1 caso más: «{WHY}»"


def by_revert(client, case, tmp_path):
    on_the_form(client, case)
    revert_case(case=stored(case), line=case.history.earliest("history_id"), change=other())
    return f"otra lo cambió (hora de inicio) el lunes 09/03, 11:30: «Vuelve al 09/03/2026 10:00. {WHY}»"


def by_bulk_retirement(client, case, tmp_path):
    move_cases(cases=[case, Case.objects.get(key="vecino")], to=Case.Status.RETIRED, change=other())
    return f"otra lo retiró el lunes 09/03, 11:30, junto con 1 caso más: «{WHY}»"


def by_retirement(client, case, tmp_path):
    retire_case(case=case, change=other())
    return f"otra lo retiró el lunes 09/03, 11:30: «{WHY}»"


def by_approval(client, case, tmp_path):
    reopen_case(case=case, change=other("Para leerlo otra vez."))
    approve_case(case=case, change=other())
    retire_case(case=case, change=other("Al final no va."))
    return "otra lo retiró el lunes 09/03, 11:30: «Al final no va.» otra lo aprobó el lunes 09/03, 11:30"


def by_command(client, case, tmp_path):
    file = tmp_path / "casos.jsonl"
    file.write_bytes(b"".join(lines(with_(SMALL, notes="x"))))
    assert run_command("dataset_import", "mio", str(file), "--reason", "Lo trajo un programa.").code == 0
    return "Un programa lo cambió y quedó propuesto (hora de inicio, notas) el "


@pytest.mark.parametrize("write", [by_import, by_revert, by_bulk_retirement, by_retirement, by_approval, by_command])
def test_the_message_names_who_changed_it_last_when_and_why(experta, case, write, tmp_path):
    on_the_form(experta, case)  # the admin's log names this edit, and it is not the last one
    mine = open_form(experta, case)
    told = write(experta, case, tmp_path)
    page = experta.post(url_of(case), mine | {"member": "Ana"})
    assert page.status_code == 200
    assert told in errors_of(page)["__all__"]
    if write is not by_revert:
        assert "De antes, por la página." not in errors_of(page)["__all__"]
    assert "member" not in errors_of(page)
    assert stored(case).member == ""
    assert experta.post(url_of(case), fields_of_form(page, "case_form")).status_code == 302
    assert stored(case).member == "Ana"


def test_only_the_newest_changes_are_told_and_the_others_counted(experta, case):
    mine = open_form(experta, case)
    for number in range(6):
        edit(case, other(f"Cambio número {number}."), notes=f"nota {number}")
    said = errors_of(experta.post(url_of(case), mine | {"member": "Ana"}))["__all__"]
    assert said.index("Cambio número 5.") < said.index("Cambio número 3.") < said.index("Antes hubo 3 cambios más")
    assert "Cambio número 2." not in said


def test_there_and_back_is_no_change(experta, case):
    mine = open_form(experta, case)
    edit(case, notes="x")
    edit(case, notes="")
    assert experta.post(url_of(case), mine | {"member": "Ana"}).status_code == 302


# --- What was shown, when the mark does not say it plainly ------------------------------------------------------------------------


@pytest.mark.parametrize("seen", ["", "x", "0.0", ".999999999999999999999", "abc.-1", "abc.1"])
def test_a_mark_that_fits_nothing_marks_every_field_that_differs(experta, case, seen):
    mine = open_form(experta, case)
    edit(case, expected_start_hour=20)
    said = errors_of(experta.post(url_of(case), mine | {"notes": "lo mío", "seen": seen}))
    assert said["expected_start_hour"] == "Los dos lo cambiaron. Quedó guardado «20:00»; aquí está lo tuyo."
    assert stored(case).expected_start_hour == 20


def test_a_save_between_reading_the_case_and_marking_it_is_found(experta, case):
    mine = open_form(experta, case)
    edit(case, expected_start_hour=20)
    newest = case.history.latest("history_id").pk
    mine["seen"] = f"{mine['seen'].partition('.')[0]}.{newest}"
    page = experta.post(url_of(case), mine | {"notes": "lo mío"})
    assert set(errors_of(page)) == {"expected_start_hour", "__all__"}
    assert "otra lo cambió (hora de inicio)" in errors_of(page)["__all__"]


def test_what_was_written_while_the_case_was_held_out_is_not_told(experta):
    secret = store(with_(SMALL, held_out=True))
    edit(secret, other("un motivo secreto"), notes="nota secreta")
    Case.objects.filter(pk=secret.pk).update(held_out=False)
    edit(secret, other("ya es de todos"), notes="ya")
    for number in ("0", str(secret.history.earliest("history_id").pk)):
        mine = open_form(experta, secret)
        page = experta.post(url_of(secret), mine | {"notes": "lo mío", "seen": f"{'0' * 64}.{number}"})
        assert page.status_code == 200
        assert "otra lo guardó el lunes 09/03, 11:30." in errors_of(page)["__all__"]
        assert "secret" not in text_of(page)
