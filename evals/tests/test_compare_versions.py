"""Any two states of a dataset side by side, the page that freezes the next one, and the page that signs it."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from evals.datasets.comparison import compare_states, load_changes, say_counts
from evals.management.demo import seed_people
from evals.models import Case, Dataset, DatasetVersion, Signature
from evals.reports import text
from evals.selectors import report_of
from evals.services import Change, freeze_version, retire_case, save_case, sign_version
from evals.tests.commands import run_command
from evals.tests.desk import draft_row, finished_run, let_read_held_out, make_dataset, make_version, open_cases
from evals.tests.rendered import fields_of_form, text_of

pytestmark = pytest.mark.django_db
WHY = "La vecina pidió otra cosa."


def change() -> Change:
    return Change(None, timezone.now(), WHY)


def edit(key: str, **fields: Any) -> None:
    case = Case.objects.get(key=key)
    for name, value in fields.items():
        setattr(case, name, value)
    save_case(case=case, change=change())


@pytest.fixture
def dataset() -> Dataset:
    """v1 signed; since then one case added, one retired, one with another hour, one held-out with other words."""
    seed_people(with_passwords=False)
    rows = [draft_row("igual"), draft_row("sale"), draft_row("cambia"), draft_row("oculta", held_out=True, input={"text": "secreta uno"})]
    made = make_version(rows).dataset
    edit("cambia", expected_start_hour=20, text="fulbito mañana a las 8 de la noche")
    edit("oculta", text="secreta dos")
    retire_case(case=Case.objects.get(key="sale"), change=change())
    return make_dataset([draft_row("entra", input={"text": "voley el jueves"})], slug=made.slug)


@pytest.fixture
def experta(client: Client, dataset: Dataset) -> Client:
    client.force_login(User.objects.get(username="experta"))
    return client


def words_on(client: Client, url: str) -> str:
    page: Any = client.get(url)
    assert page.status_code == 200
    return text_of(page)


# --- What differs ---------------------------------------------------------------------------------------------------------------


def test_cases_are_added_retired_changed_or_the_same(dataset: Dataset) -> None:
    found = compare_states(dataset, dataset.versions.get(), None)
    assert [(change.kind, change.key) for change in load_changes(found, found.differing)] == [
        ("changed", "cambia"), ("changed", "oculta"), ("added", "entra"), ("retired", "sale"),
    ]  # fmt: skip
    assert (found.unchanged, say_counts(found)) == (1, "2 cambiados, 1 agregado, 1 retirado; 1 igual")


def test_the_other_way_round_what_was_added_is_retired(dataset: Dataset) -> None:
    found = compare_states(dataset, None, dataset.versions.get())
    assert [(change.kind, change.key) for change in load_changes(found, found.differing)][2:] == [("added", "sale"), ("retired", "entra")]


def test_a_dataset_without_versions_is_told_to_freeze_one(admin_client: Client) -> None:
    dataset = Dataset.objects.create(slug="nuevo", name="Nuevo")
    page: Any = admin_client.get(f"/admin/evals/dataset/{dataset.pk}/compare/")
    assert "todavía no tiene versiones" in text_of(page)
    assert f"/admin/evals/dataset/{dataset.pk}/freeze/" in page.content.decode()
    assert "<select" not in page.content.decode()
    assert "De lo de ahora a lo de ahora" not in text_of(page)


def test_two_frozen_versions_are_compared_as_they_were(dataset: Dataset) -> None:
    first, second = dataset.versions.get(), freeze_version(dataset=dataset, by=None)
    edit("igual", notes="después")
    assert say_counts(compare_states(dataset, first, second)) == "2 cambiados, 1 agregado, 1 retirado; 1 igual"
    assert say_counts(compare_states(dataset, second, second)) == "0 cambiados, 0 agregados, 0 retirados; 4 iguales"


def test_the_command_tells_each_field_from_old_to_new_and_only_counts_held_out_cases(dataset: Dataset) -> None:
    done = run_command("dataset_diff", "examen", "1", "ahora")
    assert "examen, de v1 a lo de ahora: 2 cambiados, 1 agregado, 1 retirado; 1 igual." in done.out
    assert "hora de inicio: 19:00 → 20:00" in done.out
    assert "Agregado: entra" in done.out
    assert "Retirado: sale" in done.out
    assert "Y 1 reservado, que aquí no se muestra." in done.out
    assert "oculta" not in done.out
    assert "secreta" not in done.out
    for asked in (("1", "7"), ("uno", "1"), ("1", "-1")):
        assert run_command("dataset_diff", "examen", *asked).code != 0


# --- The page -------------------------------------------------------------------------------------------------------------------


def test_the_page_compares_the_signed_version_with_the_cases_as_they_are(experta: Client, dataset: Dataset) -> None:
    seen = words_on(experta, f"/admin/evals/dataset/{dataset.pk}/compare/")
    assert "De v1 a lo de ahora: 2 cambiados, 1 agregado, 1 retirado; 1 igual." in seen
    assert "hora de inicio 19:00 → 20:00" in seen
    assert "voley el jueves" in seen
    assert "Y 1 reservado que cambió: lo que dice está cerrado" in seen
    assert "oculta" not in seen
    assert "secreta" not in seen


def test_who_may_open_held_out_cases_is_asked_why_and_then_sees_what_changed(experta: Client, dataset: Dataset) -> None:
    let_read_held_out("experta")
    url = f"/admin/evals/dataset/{dataset.pk}/compare/"
    seen = words_on(experta, url)
    assert "oculta Es un caso reservado: lo que dice está cerrado. Abrirlo con un motivo" in seen
    assert "secreta" not in seen
    open_cases("experta", Case.objects.get(key="oculta"))
    assert "secreta uno dos" in words_on(experta, url)


def test_the_pages_of_dataset_and_version_link_what_is_not_signed_to_the_comparison(experta: Client, dataset: Dataset) -> None:
    version = dataset.versions.get()
    link = f"/admin/evals/dataset/{dataset.pk}/compare/?a=1&amp;b=ahora"
    for url in (f"/admin/evals/dataset/{dataset.pk}/change/", f"/admin/evals/datasetversion/{version.pk}/change/"):
        assert "4 cambios sin firmar desde v1" in words_on(experta, url)
        assert link in experta.get(url).content.decode()


@pytest.mark.parametrize("query", ["a=9", "a=x", "b=-1", "a=1&b=%00"])
def test_a_version_that_is_not_there_is_not_found(experta: Client, dataset: Dataset, query: str) -> None:
    assert experta.get(f"/admin/evals/dataset/{dataset.pk}/compare/?{query}").status_code == 404


def test_a_long_comparison_comes_in_pages_of_few_queries(experta: Client, django_assert_max_num_queries: Any) -> None:
    big = make_version([draft_row(f"caso-{number:03}") for number in range(60)], slug="grande").dataset
    Case.objects.filter(dataset=big).update(notes="otra")
    url = f"/admin/evals/dataset/{big.pk}/compare/?a=1&b=ahora&p=2"
    with django_assert_max_num_queries(15):
        seen = words_on(experta, url)
    assert "caso-025" in seen
    assert "caso-024" not in seen
    assert "Página 2 de 3" in seen


# --- Freezing and signing ---------------------------------------------------------------------------------------------------------


def test_the_page_shows_what_a_new_version_brings_and_freezes_it(experta: Client, dataset: Dataset) -> None:
    url = f"/admin/evals/dataset/{dataset.pk}/freeze/"
    seen = words_on(experta, url)
    assert "La versión v2 guarda los 4 casos aprobados" in seen
    assert "hora de inicio 19:00 → 20:00" in seen
    assert DatasetVersion.objects.count() == 1
    assert "v2: 4 casos congelados" in str(experta.post(url, follow=True).content.decode())
    assert dataset.versions.count() == 2
    assert "Nada cambió desde v2" in words_on(experta, url)


def test_who_may_not_freeze_is_refused(client: Client, dataset: Dataset) -> None:
    client.force_login(User.objects.get(username="desarrollo"))
    url = f"/admin/evals/dataset/{dataset.pk}/freeze/"
    assert (client.get(url).status_code, client.post(url).status_code) == (403, 403)
    assert dataset.versions.count() == 1


def test_a_delegate_sees_what_she_signs_and_the_page_keeps_it(experta: Client, dataset: Dataset) -> None:
    version = freeze_version(dataset=dataset, by=None)
    url = f"/admin/evals/datasetversion/{version.pk}/"
    assert f"{url}sign/" not in experta.get(f"{url}change/").content.decode()
    dataset.delegates.add(User.objects.get(username="experta"))
    assert f"{url}sign/" in experta.get(f"{url}change/").content.decode()
    seen = words_on(experta, f"{url}sign/")
    assert version.content_hash in seen
    assert "Desde v1 2 cambiados, 1 agregado, 1 retirado; 1 igual" in seen
    assert "falta: Tamaño" in seen
    experta.post(f"{url}sign/", {"reason": WHY})
    assert str(Signature.objects.get(version=version).signed_by) == "experta"
    kept = words_on(experta, f"{url}change/")
    assert WHY in kept
    assert "Tamaño: falta" in kept
    signature = words_on(experta, f"/admin/evals/signature/{Signature.objects.get(version=version).pk}/change/")
    assert "Tamaño: falta" in signature
    assert "{" not in signature


def test_who_signs_is_told_how_many_differences_are_in_held_out_cases(client: Client, dataset: Dataset) -> None:
    dataset.owner = User.objects.get(username="experta")
    dataset.save()
    edit("igual", expected_start_hour=21, held_out=True)
    client.force_login(User.objects.get(username="experta"))
    shown = words_on(client, f"/admin/evals/datasetversion/{freeze_version(dataset=dataset, by=None).pk}/sign/")
    assert "3 cambiados, 1 agregado, 1 retirado; 0 iguales. Ojo: 2 de esas diferencias están en casos reservados" in shown
    edit("cambia", notes="x")
    sign_version(version=dataset.versions.get(number=2), by=User.objects.get(username="experta"), reason=WHY, now=timezone.now())
    shown = words_on(client, f"/admin/evals/datasetversion/{freeze_version(dataset=dataset, by=None).pk}/sign/")
    assert "1 cambiado, 0 agregados" in shown
    assert "Ojo" not in shown


def test_a_run_names_its_version_and_hash_and_no_release_rests_on_an_unsigned_one(dataset: Dataset) -> None:
    sha = "abcdef1"
    unsigned = finished_run(freeze_version(dataset=dataset, by=None), purpose="release", commit=sha)
    assert f"examen v2 (sin firmar) · huella {unsigned.version.content_hash[:10]}" in text.render(report_of(unsigned))
    assert unsigned.version.content_hash in run_command("audit_trail", "--run", str(unsigned.pk)).out
    refused = run_command("eval_gate", "examen", "--commit", sha)
    assert refused.code == 3
    assert "nadie ha firmado" in refused.out
    owner = User.objects.get(username="duena")
    sign_version(version=unsigned.version, by=owner, reason=WHY, now=timezone.now())
    assert "nadie ha firmado" not in run_command("eval_gate", "examen", "--commit", sha).out


def test_who_named_a_delegate_and_why_is_history(admin_client: Client, dataset: Dataset) -> None:
    url, experta = f"/admin/evals/dataset/{dataset.pk}/change/", User.objects.get(username="experta")
    page: Any = admin_client.get(url)
    fields = fields_of_form(page, "dataset_form")
    assert admin_client.post(url, {**fields, "delegates": [str(experta.pk)], "reason": "La dueña viaja."}).status_code == 302
    line = dataset.history.latest("history_id")
    assert [str(row.user) for row in line.delegates.all()] == ["experta"]
    assert (str(line.history_user), line.history_change_reason) == ("admin", "La dueña viaja.")
    told = run_command("audit_trail", "--dataset", "examen", "--version", "1").out
    assert "delegados: nada → experta). «La dueña viaja.»" in told


def test_an_expert_names_no_delegate(experta: Client, dataset: Dataset) -> None:
    url = f"/admin/evals/dataset/{dataset.pk}/change/"
    page: Any = experta.get(url)
    fields = fields_of_form(page, "dataset_form")
    experta.post(url, {**fields, "delegates": [str(User.objects.get(username="experta").pk)], "reason": "Yo firmo."})
    assert not dataset.delegates.exists()
