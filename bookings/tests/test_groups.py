"""Who may do what at the complex: the groups that a fresh database has."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.db import connection

from bookings.accounts import NEIGHBOURS

pytestmark = pytest.mark.django_db
groups = import_module("bookings.migrations.0003_groups")
desk = import_module("bookings.migrations.0004_desk_books_and_exports")


def make_groups() -> None:
    groups.make_groups(apps, SimpleNamespace(connection=connection))


def let_the_desk_book_and_export() -> None:
    desk.let_the_desk_book_and_export(apps, SimpleNamespace(connection=connection))


@pytest.fixture
def fresh() -> None:
    Group.objects.all().delete()
    make_groups()


def permissions(name: str) -> set[str]:
    """What a person of this group may do."""
    person = User.objects.create_user("alguien", is_staff=True)
    person.groups.add(Group.objects.get(name=name))
    return person.get_all_permissions()


def test_each_permission_that_the_migration_names_exists(fresh: None) -> None:
    for name, codenames in groups.GROUPS.items():
        assert set(Group.objects.get(name=name).permissions.values_list("codename", flat=True)) == set(codenames)


def test_a_neighbour_may_do_nothing_in_the_admin(fresh: None) -> None:
    assert permissions(NEIGHBOURS) == set()


def test_the_front_desk_runs_the_complex_and_books_only_through_the_service(fresh: None) -> None:
    let_the_desk_book_and_export()
    found = permissions("Administración del complejo")
    assert {"bookings.view_member", "bookings.change_court", "bookings.change_booking", "bookings.delete_courtblock"} <= found
    assert {"bookings.add_booking", "bookings.export_booking"} <= found
    assert found.isdisjoint({"bookings.delete_booking", "bookings.delete_member", "bookings.change_bookedhour"})
    assert {permission.partition(".")[0] for permission in found} == {"bookings"}


def test_a_reader_only_looks(fresh: None) -> None:
    assert {permission.partition("_")[0] for permission in permissions("Solo lectura")} == {"bookings.view"}


def test_a_group_keeps_what_somebody_changed(fresh: None) -> None:
    Group.objects.get(name="Solo lectura").permissions.clear()
    make_groups()
    assert permissions("Solo lectura") == set()
    assert Group.objects.count() == 3


def test_a_desk_that_existed_gains_two_permissions_and_keeps_the_rest_as_it_was(fresh: None) -> None:
    Group.objects.get(name=desk.DESK).permissions.clear()
    let_the_desk_book_and_export()
    assert permissions(desk.DESK) == {"bookings.add_booking", "bookings.export_booking"}
    assert permissions_of_readers() == {f"bookings.view_{model}" for model in groups.SEEN}


def permissions_of_readers() -> set[str]:
    names = Group.objects.get(name="Solo lectura").permissions.values_list("codename", flat=True)
    return {f"bookings.{name}" for name in names}
