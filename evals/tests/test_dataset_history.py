"""The page «Historial» of a dataset: who changed what it says of itself, when and why."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from evals.services import Change, freeze_version, save_edited
from evals.tests.desk import NOW, draft_row, make_dataset
from evals.tests.rendered import fields_of_form, text_of

pytestmark = pytest.mark.django_db
XSS = "<script>alert(1)</script>"


@pytest.fixture
def dataset(experta):
    return make_dataset([draft_row("uno")])


def history_of(client, dataset):
    return client.get(reverse("admin:evals_dataset_history", args=[dataset.pk]))


def test_what_the_form_asked_the_reason_for_is_told_with_it(experta, dataset):
    form = experta.get(reverse("admin:evals_dataset_change", args=[dataset.pk]))
    sent = fields_of_form(form, "dataset_form") | {"name": f"Examen de marzo {XSS}", "reason": f"así le dicen todos {XSS}"}
    experta.post(reverse("admin:evals_dataset_change", args=[dataset.pk]), sent)
    page = history_of(experta, dataset)
    said = text_of(page)
    assert "experta lo cambió el" in said
    assert f"«así le dicen todos {XSS}»" in said
    assert f"nombre examen Examen de marzo {XSS}" in said.replace(" → ", " ")
    assert XSS not in page.content.decode()
    assert "Volver a este estado" not in said


def test_new_people_who_sign_are_named(experta, dataset):
    person = User.objects.get(username="desarrollo")
    dataset.owner = person
    save_edited(row=dataset, change=Change(person, NOW, "cambia la dueña"))
    dataset.delegates.add(User.objects.get(username="experta"))
    said = text_of(history_of(experta, dataset))
    assert "dueño de negocio duena desarrollo" in said.replace(" → ", " ")
    assert "delegados experta" in said


def test_long_histories_go_on_another_page_with_as_many_queries(experta, dataset, django_assert_max_num_queries):
    for number in range(60):
        dataset.name = f"examen {number}"
        save_edited(row=dataset, change=Change(None, NOW, ""))
    with django_assert_max_num_queries(12):
        first = text_of(history_of(experta, dataset))
    assert "Página 1 de 3" in first
    assert first.count("un programa lo cambió") == 25
    last = text_of(experta.get(reverse("admin:evals_dataset_history", args=[dataset.pk]) + "?p=3"))
    assert last.rstrip().endswith("Más nuevo Página 3 de 3")
    assert last.count("lo cambió") + last.count("lo creó") == 11
    assert "10:00 nombre examen 0 un programa lo creó" in last


def test_who_does_not_see_datasets_does_not_see_their_history(client, dataset, django_user_model):
    assert history_of(client, dataset).status_code == 200
    client.force_login(django_user_model.objects.create_user("recepcion", is_staff=True))
    assert history_of(client, dataset).status_code == 403


def test_what_never_changes_offers_no_history(experta, dataset):
    version = freeze_version(dataset=dataset, by=None)
    offered = 'class="historylink"'
    assert offered not in experta.get(reverse("admin:evals_datasetversion_change", args=[version.pk])).content.decode()
    assert offered in experta.get(reverse("admin:evals_dataset_change", args=[dataset.pk])).content.decode()
