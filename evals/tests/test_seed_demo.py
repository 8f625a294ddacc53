"""The demo is loaded once, and never again over what a person edited."""

import io
import re
import time
from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission, User
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from bookings.models import Booking, Court, Member
from evals.management.demo import APPS, ENGINEERS, EXPERTS, GROUPS
from evals.models import Case, Dataset, GatePolicy, Recording

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def laptop(settings):
    settings.DEBUG = True


def seed(**options):
    out = io.StringIO()
    call_command("seed_demo", stdout=out, **options)
    return out.getvalue()


def test_it_loads_people_complex_and_signed_datasets():
    seed()
    assert {user.username: (user.is_superuser, user.is_staff) for user in User.objects.all()} == {
        "admin": (True, True),
        "experta": (False, True),
        "desarrollo": (False, True),
        "vecina@kallpa.test": (False, False),
    }
    assert set(Court.objects.values_list("sport", flat=True)) == {"fulbito", "voley", "basquet"}
    assert Member.objects.filter(name="Rosa Quispe").exists()
    for slug, cases in (("kit", 14), ("reservas", 213), ("seguridad", 112)):
        version = Dataset.objects.get(slug=slug).versions.get()
        assert (version.number, version.size, version.signature.signed_by.username) == (1, cases, "experta")
        assert Recording.objects.filter(case__dataset__slug=slug).count() >= cases
    policy = GatePolicy.objects.get(dataset__slug="reservas")
    assert (policy.needs_scripted, policy.needs_real, policy.max_known_limitations) == (True, False, 6)
    strict = GatePolicy.objects.get(dataset__slug="seguridad")
    assert (strict.needs_scripted, strict.needs_real, strict.max_known_limitations) == (False, True, 11)
    assert all(threshold.justification for threshold in policy.thresholds.all())


def test_a_second_time_it_writes_nothing_and_is_quick():
    seed()
    started = time.process_time()
    with CaptureQueriesContext(connection) as captured:
        assert seed() == ""
    assert time.process_time() - started < 5  # what it must not do is import the datasets again
    assert [query["sql"] for query in captured if query["sql"].split()[0] in {"INSERT", "UPDATE", "DELETE"}] == []


def test_it_never_resets_what_a_person_edited():
    seed()
    experta, case = User.objects.get(username="experta"), Case.objects.filter(dataset__slug="kit").earliest("id")
    experta.set_password("una clave de verdad")
    experta.save()
    Case.objects.filter(pk=case.pk).update(notes="editado")
    Group.objects.get(name=ENGINEERS).permissions.clear()
    Court.objects.filter(name="Losa 1").update(name="Losa techada nueva")
    Member.objects.filter(name="Rosa Quispe").update(name="Rosa Q.")
    Dataset.objects.filter(slug="kit").update(name="Otro nombre")
    seed()
    experta.refresh_from_db()
    assert experta.check_password("una clave de verdad")
    assert Case.objects.get(pk=case.pk).notes == "editado"
    assert not Group.objects.get(name=ENGINEERS).permissions.exists()
    assert not Court.objects.filter(name="Losa 1").exists()
    assert not Member.objects.filter(name="Rosa Quispe").exists()
    assert Dataset.objects.get(slug="kit").name == "Otro nombre"


def test_on_a_server_nobody_can_log_in_with_a_demo_password_and_nothing_is_booked(settings):
    settings.DEBUG = False
    seed()
    assert {user.username: user.has_usable_password() for user in User.objects.all()} == {"experta": False, "desarrollo": False}
    assert not Booking.objects.exists()
    assert "-demo" not in seed(logins=True)


def test_it_shows_logins_that_work_and_only_those():
    seed()
    User.objects.filter(username="experta").update(password="!")
    shown = seed(logins=True)
    assert "http://127.0.0.1:8000/admin/" in shown
    assert re.search(r"admin +admin-demo", shown)
    assert "experta-demo" not in shown
    assert re.search(r"vecina@kallpa\.test +vecina-demo", shown)
    for username, password in (("desarrollo", "desarrollo-demo"), ("vecina@kallpa.test", "vecina-demo")):
        assert User.objects.get(username=username).check_password(password)


def test_each_permission_of_a_group_exists():
    for codenames in GROUPS.values():
        assert Permission.objects.filter(content_type__app_label__in=APPS, codename__in=codenames).count() == len(codenames)


@pytest.mark.parametrize("username", ["experta", "desarrollo"])
def test_the_desk_reads_production_and_changes_none_of_it(username, client):
    seed()
    client.force_login(User.objects.get(username=username))
    assert client.get("/admin/assistant/interaction/").status_code == 200
    assert client.get("/admin/assistant/interaction/add/").status_code == 403
    assert client.get("/admin/bookings/booking/").status_code == 403


def test_a_group_that_existed_gains_production_and_keeps_the_rest_as_it_was():
    group = Group.objects.create(name=EXPERTS)
    desk = import_module("evals.migrations.0004_desk_reads_production")
    desk.let_the_desk_read_production(apps, SimpleNamespace(connection=connection))
    assert set(group.permissions.values_list("codename", flat=True)) == {"view_interaction", "view_userreport"}


def test_engineers_that_existed_read_incidents_and_nobody_else_does():
    groups = {name: Group.objects.create(name=name) for name in (EXPERTS, ENGINEERS)}
    import_module("evals.migrations.0005_engineers_read_incidents").let_engineers_read_incidents(
        apps, SimpleNamespace(connection=connection)
    )
    assert list(groups[ENGINEERS].permissions.values_list("codename", flat=True)) == ["view_incident"]
    assert not groups[EXPERTS].permissions.exists()


def test_experts_that_existed_may_go_on_approving_and_nobody_else_does():
    groups = {name: Group.objects.create(name=name) for name in (EXPERTS, ENGINEERS)}
    import_module("evals.migrations.0009_history_from_here").let_experts_approve(apps, SimpleNamespace(connection=connection))
    assert list(groups[EXPERTS].permissions.values_list("codename", flat=True)) == ["approve_case"]
    assert not groups[ENGINEERS].permissions.exists()


@pytest.mark.parametrize("forbidden", ["change_gatepolicy", "add_run", "change_run", "delete_case", "view_held_out_text"])
def test_an_expert_may_not(forbidden):
    seed()
    experta = User.objects.get(username="experta")
    assert not experta.has_perm(f"evals.{forbidden}")
    assert experta.has_perm("evals.change_case")
    assert experta.groups.get().name == EXPERTS
