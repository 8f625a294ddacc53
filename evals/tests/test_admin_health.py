"""The health of a dataset in the admin: its page, the links to it, and the lines on the front page."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evals.management.demo import ENGINEERS, EXPERTS, seed_people
from evals.models import Case, Dataset
from evals.selectors import live_facts
from evals.services import freeze_version
from evals.tests.desk import draft_row, make_dataset
from evals.tests.rendered import text_of
from evals.tests.test_health_checks import words

pytestmark = pytest.mark.django_db

MOST_QUERIES = 15
SVG = "<svg/onload=alert(1)>"


def rows(count, **fields):
    return [draft_row(f"caso-{n}", **{"input": {"text": words(n)}} | fields) for n in range(count)]


def page_of(dataset, query=""):
    return reverse("admin:evals_dataset_health", args=[dataset.pk]) + query


def login_as(group, *permissions):
    seed_people(with_passwords=False)
    user = User.objects.create_user(f"persona-{group}-{len(permissions)}", is_staff=True)
    user.groups.add(Group.objects.get(name=group))
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client


# --- The page -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("group", [EXPERTS, ENGINEERS])
def test_the_page_says_level_figures_and_what_to_do_the_worst_first(group):
    dataset = make_dataset(rows(40, blocking=True))
    seen = text_of(login_as(group).get(page_of(dataset)))
    assert "Salud: falta" in seen
    assert (
        seen.index("Familias de ataque falta 0/7 (0 %)") < seen.index("Tamaño atención 40") < seen.index("Bloqueantes bien 40/40 (100 %)")
    )
    assert "Qué hacer: Alcanza para empezar. Para decidir una publicación, llega a 50." in seen


def test_a_version_is_judged_as_it_was_frozen(admin_client):
    dataset = make_dataset(rows(2, blocking=True))
    freeze_version(dataset=dataset, by=None)
    Case.objects.update(blocking=False)
    assert "Bloqueantes bien 2/2" in text_of(admin_client.get(page_of(dataset, "?version=1")))
    assert "Bloqueantes falta 0/2" in text_of(admin_client.get(page_of(dataset)))


@pytest.mark.parametrize("asked", ["2", "0", "x", "-1", "9" * 40, "1;"])
def test_a_version_that_does_not_exist_is_not_found(admin_client, asked):
    dataset = make_dataset(rows(1))
    assert admin_client.get(page_of(dataset, f"?version={asked}")).status_code == 404


def test_each_case_behind_a_figure_is_a_link_to_it(admin_client):
    dataset = make_dataset(rows(2, recordings=[]))
    page = admin_client.get(page_of(dataset)).content.decode()
    link = f"/admin/evals/case/?dataset__id__exact={dataset.pk}&amp;q=caso-0"
    assert f'href="{link}">caso-0</a>' in page
    assert "caso-0" in text_of(admin_client.get(link.replace("&amp;", "&")))


def test_held_out_cases_are_named_only_to_those_who_may_read_them():
    text: dict[str, Any] = {"input": {"text": "vóley hoy a las 8 de la noche"}, "recordings": []}
    dataset = make_dataset([draft_row("abierto", **text), draft_row("cerrado", held_out=True, **text)])
    page = text_of(login_as(EXPERTS).get(page_of(dataset)))
    assert "cerrado" not in page
    assert "abierto , y 1 reservado." in page
    assert "cerrado se parece a abierto" in text_of(login_as(EXPERTS, "view_held_out_text").get(page_of(dataset)))  # control


def test_the_page_is_for_those_who_see_datasets(client):
    dataset = make_dataset(rows(1))
    assert client.get(page_of(dataset)).status_code == 302
    client.force_login(User.objects.create_user("recepcion", is_staff=True))
    assert client.get(page_of(dataset)).status_code == 403
    assert client.get(page_of(Dataset(pk=999))).status_code == 404


def test_what_experts_wrote_stays_text(admin_client):
    dataset = make_dataset([draft_row("a", expected={"kind": "labels", "labels": [SVG]}, input={"text": SVG})])
    page = admin_client.get(page_of(dataset)).content.decode()
    assert SVG not in page
    assert "&lt;svg/onload=alert(1)&gt;" in page


def test_the_list_and_the_page_of_a_dataset_lead_to_its_health(admin_client):
    dataset = make_dataset(rows(1))
    for url in ("/admin/evals/dataset/", f"/admin/evals/dataset/{dataset.pk}/change/"):
        assert f'href="{page_of(dataset)}"' in admin_client.get(url).content.decode()


def test_the_page_takes_as_many_queries_for_many_cases_as_for_few(admin_client):
    counted = []
    for count in (20, 400):
        dataset = make_dataset(rows(count), slug=f"d{count}")
        admin_client.get(page_of(dataset))
        counted.append(queries_of(admin_client, page_of(dataset)))
    assert counted[0] == counted[1] <= MOST_QUERIES


def queries_of(client, url):
    with CaptureQueriesContext(connection) as captured:
        assert client.get(url).status_code == 200
    return len(captured)


# --- The front page -----------------------------------------------------------------------------------------------------------


def lines_of(client):
    seen = text_of(client.get("/admin/"))
    return seen.partition("Salud de los datasets")[2].partition("Mesa de evaluación")[0].strip()


def test_the_front_page_has_a_line_for_each_dataset():
    make_dataset(rows(1), slug="citas")
    make_dataset(rows(60), slug="ventas")
    assert lines_of(login_as(EXPERTS)).startswith("citas falta Falta: Tamaño, ")
    assert "ventas falta Falta: Mezcla 60/25/15, " in lines_of(login_as(ENGINEERS))


def test_the_front_page_says_nothing_to_those_who_see_no_dataset(client):
    make_dataset(rows(1))
    client.force_login(User.objects.create_user("recepcion", is_staff=True))
    assert "Salud de los datasets" not in text_of(client.get("/admin/"))


def test_a_line_is_remembered_until_something_changes(admin_client, monkeypatch):
    dataset = make_dataset(rows(60))
    before = lines_of(admin_client)
    judged = []

    def count_and_read(datasets, *, now):
        judged.append(datasets)
        return live_facts(datasets, now=now)

    monkeypatch.setattr("evals.admin.health.live_facts", count_and_read)
    assert lines_of(admin_client) == before
    assert judged == []
    for case in dataset.cases.all()[:1]:
        case.blocking = True
        case.save()
    assert "Bloqueantes" not in lines_of(admin_client)
    assert len(judged) == 1
    assert "Bloqueantes" in before


@pytest.mark.parametrize("change", ["recording", "owner", "retired"])
def test_other_changes_are_seen_too(admin_client, change):
    dataset = make_dataset(rows(60, recordings=[]))
    before = lines_of(admin_client)
    if change == "recording":
        make_dataset(rows(60))
    elif change == "owner":
        Dataset.objects.update(owner=None)
    else:
        dataset.cases.update(status=Case.Status.RETIRED)
    assert lines_of(admin_client) != before


def test_a_big_dataset_waits_until_somebody_opens_its_page(admin_client, monkeypatch):
    monkeypatch.setattr("evals.admin.health.MOST_CASES", 10)
    make_dataset(rows(3), slug="chico")
    big = make_dataset(rows(11), slug="grande")
    assert "grande Es grande: abre su página para revisarlo." in lines_of(admin_client)
    assert "chico falta" in lines_of(admin_client)
    admin_client.get(page_of(big))
    assert "grande falta Falta: Tamaño" in lines_of(admin_client)


def test_a_remembered_line_names_no_case(admin_client):
    make_dataset(rows(3, recordings=[]))
    assert "caso-" not in lines_of(admin_client) + lines_of(admin_client)


def test_the_front_page_takes_as_many_queries_for_twelve_datasets_as_for_one(admin_client):
    counted = []
    for count in (1, 12):
        for number in range(count):
            make_dataset(rows(2), slug=f"d{count}-{number}")
        counted.append(queries_of(admin_client, "/admin/"))
    assert counted[0] == counted[1] <= MOST_QUERIES
