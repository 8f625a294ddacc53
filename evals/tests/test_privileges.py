"""Who gets what from each address of the desk's admin: a table beside this file, with a row for every address and every action.

`login` sends to the login page. Addresses answer to an empty form, so 200 on POST means that the person was let in and asked for more.
"""

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import AnonymousUser, Group, Permission, User
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.sessions.backends.signed_cookies import SessionStore
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest
from django.test import RequestFactory
from django.urls import resolve

from evals.management.demo import ENGINEERS, EXPERTS, seed_people
from evals.models import Case, HeldOutOpening, Run
from evals.tests.desk import NOW, draft_row, finished_run, make_version

pytestmark = pytest.mark.django_db
TABLE = Path(__file__).with_name("privileges.txt")
ROLES = ("anonymous", "neighbour", "expert", "engineer", "reader", "admin")


@pytest.fixture
def people() -> dict[str, Any]:
    """One person of each kind; the reader may view the desk and nothing else."""
    seed_people(with_passwords=False)
    people: dict[str, Any] = {"anonymous": AnonymousUser(), "neighbour": User.objects.create_user("vecina")}
    for role, group in (("expert", EXPERTS), ("engineer", ENGINEERS)):
        people[role] = User.objects.create_user(role, is_staff=True)
        people[role].groups.add(Group.objects.get(name=group))
    people["reader"] = User.objects.create_user("reader", is_staff=True)
    people["reader"].user_permissions.set(Permission.objects.filter(content_type__app_label="evals", codename__startswith="view_"))
    people["reader"].user_permissions.remove(Permission.objects.get(codename="view_held_out_text"))
    people["admin"] = User.objects.create_superuser("jefa")
    return people


@pytest.fixture
def run() -> Run:
    """A row of each model that has pages: an open case with its history, its version, run, result, recording, policy, and an opening."""
    run = finished_run(make_version([draft_row("abierta")]), purpose="release")
    owner = User.objects.get(username="duena")
    HeldOutOpening.objects.create(case=Case.objects.get(), opened_by=owner, opened_at=NOW, reason="para la prueba")
    return run


def desk_pages() -> list[tuple[Any, Any]]:
    admin.autodiscover()
    return [(model, page) for model, page in admin.site._registry.items() if model._meta.app_label == "evals"]


def addresses() -> dict[str, str]:
    """Every named address of the desk by its name; the nameless ones only lead to the page of a row."""
    found = {}
    for model, page in desk_pages():
        for pattern in page.get_urls():
            route = f"/admin/evals/{model._meta.model_name}/{pattern.pattern}"
            for name in re.findall(r"<\w+:(\w+)>", route):
                route = re.sub(rf"<\w+:{name}>", str(id_for(name, model)), route)
            if pattern.name:
                found[pattern.name] = route
    return found


def id_for(name: str, model: Any) -> int:
    if name == "case":
        return Case.objects.get().pk
    if name == "line":
        return int(Case.history.get().pk)
    row = model.objects.first()
    return row.pk if row else 0


def request_of(person: Any, method: str, url: str) -> HttpRequest:
    request: Any = getattr(RequestFactory(), method.lower())(url)
    request.user, request.session, request._dont_enforce_csrf_checks = person, SessionStore(), True
    request._messages = FallbackStorage(request)
    return request


def answer(person: Any, method: str, url: str) -> str:
    """The status, before any page is drawn; whatever was written is undone."""
    view, before = resolve(url), transaction.savepoint()
    try:
        response = view.func(request_of(person, method, url), *view.args, **view.kwargs)
    except PermissionDenied:
        return "403"
    except Http404:
        return "404"
    finally:
        transaction.savepoint_rollback(before)
    to_login = response.status_code == 302 and response["Location"].startswith("/admin/login/")
    return "login" if to_login else str(response.status_code)


def measured(people: dict[str, Any]) -> dict[str, list[str]]:
    """The rows of the table as the desk answers now."""
    rows = {}
    for name, url in sorted(addresses().items()):
        for method in ("GET", "POST"):
            rows[f"{method} {name}"] = [answer(people[role], method, url) for role in ROLES]
    for model, page in desk_pages():
        offered = {role: page.get_actions(request_of(people[role], "GET", "/admin/")) for role in ROLES}
        for action in sorted(set().union(*offered.values())):
            rows[f"ACTION {model._meta.model_name}.{action}"] = ["yes" if action in offered[role] else "no" for role in ROLES]
    return rows


def written() -> dict[str, list[str]]:
    """The rows of the file: method, name, and what each role gets."""
    lines = [line.split() for line in TABLE.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    return {f"{method} {name}": gets for method, name, *gets in lines}


def test_each_address_and_action_gives_each_role_what_the_table_says(people: dict[str, Any], run: Run) -> None:
    now, table = measured(people), written()
    differing = [f"{name:<52}{' '.join(f'{each:<9}' for each in gets)}".rstrip() for name, gets in now.items() if table.get(name) != gets]
    assert not differing, "these rows are not in privileges.txt as they are:\n" + "\n".join(differing)
    assert not table.keys() - now.keys(), "these addresses do not exist any more"


def test_nobody_from_outside_gets_in_and_the_reader_writes_nothing() -> None:
    table = written()
    assert len(table) > 100
    for name, gets in table.items():
        given = dict(zip(ROLES, gets, strict=True))
        assert {given["anonymous"], given["neighbour"]} <= {"login", "no"}, name
        assert not (name.startswith("ACTION") and given["reader"] == "yes"), name


@pytest.mark.parametrize(
    "row",
    ["GET evals_run_add", "POST evals_run_add", "POST evals_run_change", "POST evals_gatepolicy_add", "POST evals_gatepolicy_change",
     "GET evals_gatepolicy_change", "GET evals_heldoutopening_open", "POST evals_heldoutopening_open", "POST evals_result_change",
     "POST evals_caserevision_change", "POST evals_signature_change", "POST evals_dataset_delete", "POST evals_case_delete"],
)  # fmt: skip
def test_an_expert_changes_no_run_and_no_policy_and_opens_nothing_held_out(row: str) -> None:
    assert written()[row][ROLES.index("expert")] == "403"


@pytest.mark.parametrize("action", ["run.resume", "run.retry_errors", "run.cancel", "run.rescore", "dataset.run_scripted"])
def test_an_expert_operates_no_run(action: str) -> None:
    assert written()[f"ACTION {action}"][ROLES.index("expert")] == "no"


def test_control_a_permission_more_changes_the_answers(people: dict[str, Any], run: Run) -> None:
    people["reader"].user_permissions.add(Permission.objects.get(content_type__app_label="evals", codename="change_case"))
    people["reader"] = User.objects.get(username="reader")
    now, table = measured(people), written()
    assert {name for name, gets in now.items() if table.get(name) != gets} >= {"POST evals_case_change", "ACTION case.retire_many"}
