"""Held-out cases are chosen by hand or by share, and each opening is written with its reason and told beside the score."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from evals.datasets.rows import parse_rows
from evals.management.demo import seed_people
from evals.models import Case, HeldOutOpening
from evals.reports import as_json, junit, markdown, text
from evals.selectors import health_of, report_of
from evals.services import Change, HeldOutClosed, NotAReader, ReasonMissing, hold_out_share, import_rows, open_held_out
from evals.services.held_out import place_of
from evals.tests.commands import run_command
from evals.tests.desk import draft_row, finished_run, let_read_held_out, make_dataset, make_version, open_cases
from evals.tests.rendered import text_of
from evals.tests.test_dataset_rows import lines

pytestmark = pytest.mark.django_db
WHY = "Un vecino se quejó de esto."
SECRET: dict[str, Any] = {"held_out": True, "input": {"text": "una frase secreta"}}


@pytest.fixture
def case():
    seed_people(with_passwords=False)
    make_version([draft_row("abierta"), draft_row("oculta", **SECRET)])
    return Case.objects.get(key="oculta")


@pytest.fixture
def lectora(client, case):
    client.force_login(let_read_held_out("experta"))
    return client


def url_of(case):
    return f"/admin/evals/case/{case.pk}/change/"


def opening_url(case):
    return f"/admin/evals/heldoutopening/open/{case.pk}/"


# --- Opening one ----------------------------------------------------------------------------------------------------------------


def test_the_page_asks_why_and_writes_who_when_and_where(lectora, case):
    closed = lectora.get(url_of(case))
    assert "secreta" not in closed.content.decode()
    assert opening_url(case) in closed.content.decode()
    for reason in ("", "pues"):
        assert lectora.post(opening_url(case), {"reason": reason}).status_code == 200
    assert not HeldOutOpening.objects.exists()
    assert "secreta" in lectora.post(opening_url(case), {"reason": WHY}, follow=True).content.decode()
    opening = HeldOutOpening.objects.get()
    assert (opening.case, str(opening.opened_by), opening.reason, opening.where) == (case, "experta", WHY, "page")
    lectora.get(url_of(case))
    assert HeldOutOpening.objects.count() == 1  # looking again while it is open is the same opening


def test_it_comes_back_to_the_page_that_was_asked_for_and_to_no_other_site(lectora, case):
    result = finished_run(case.dataset.versions.get(), purpose="release").results.get(revision__case=case)
    asked = lectora.get(f"/admin/evals/result/{result.pk}/change/")
    assert asked.status_code == 302
    assert asked["Location"].startswith(opening_url(case))
    assert lectora.post(asked["Location"], {"reason": WHY})["Location"] == f"/admin/evals/result/{result.pk}/change/"
    assert "secreta" in lectora.get(f"/admin/evals/result/{result.pk}/change/").content.decode()
    for elsewhere in ("https://otro.test/", "//otro.test/", "javascript:alert(1)"):
        assert lectora.post(f"{opening_url(case)}?next={elsewhere}", {"reason": WHY})["Location"] == url_of(case)


def test_an_opening_ends_and_is_nobody_elses(lectora, case, client):
    open_held_out(cases=[case], change=Change(User.objects.get(username="experta"), timezone.now() - timedelta(hours=9), WHY))
    assert "secreta" not in lectora.get(url_of(case)).content.decode()
    open_cases("experta", case)
    client.force_login(let_read_held_out("desarrollo"))
    assert "secreta" not in client.get(url_of(case)).content.decode()


def test_who_has_no_permission_opens_nothing(client, case):
    client.force_login(User.objects.get(username="experta"))
    assert client.get(opening_url(case)).status_code == 403
    assert client.post(opening_url(case), {"reason": WHY}).status_code == 403
    for by in (None, User.objects.get(username="experta")):
        with pytest.raises(NotAReader):
            open_held_out(cases=[case], change=Change(by, timezone.now(), WHY))
    assert not HeldOutOpening.objects.exists()


def test_an_administrator_gives_a_reason_too(admin_client, case):
    assert "secreta" not in admin_client.get(url_of(case)).content.decode()
    admin_client.post(opening_url(case), {"reason": WHY})
    assert "secreta" in admin_client.get(url_of(case)).content.decode()


# --- Told beside the score --------------------------------------------------------------------------------------------------------


def test_the_openings_until_a_run_began_stand_beside_its_score(lectora, case):
    open_cases("experta", case)
    open_cases("experta", case)
    run = finished_run(case.dataset.versions.get(), purpose="release")
    open_cases("experta", case)  # later: the score was measured before
    said = "Con 1 caso reservado; al empezar, se habían abierto 2 veces."
    assert said in text.render(report_of(run)).replace("\n  ", " ")
    assert "se habían abierto 2 veces" in markdown.render(report_of(run))
    assert '"held_out": 1,\n    "openings": 2' in as_json.render(report_of(run))
    assert '<property name="aperturas" value="2" />' in junit.render(report_of(run))
    assert said in text_of(lectora.get(f"/admin/evals/run/{run.pk}/change/"))
    iteration = finished_run(case.dataset.versions.get())
    assert "reservado" not in text.render(report_of(iteration))


def test_the_page_of_the_dataset_and_its_health_count_every_opening(lectora, case):
    url = f"/admin/evals/dataset/{case.dataset_id}/change/"
    assert "1 de 2 casos aprobados. Nadie los ha abierto." in text_of(lectora.get(url))
    open_cases("experta", case)
    page = lectora.get(url)
    assert "Se abrieron 1 vez" in text_of(page)
    link = f"/admin/evals/heldoutopening/?case__dataset__id__exact={case.dataset_id}"
    assert link in page.content.decode()
    assert "para la prueba" in text_of(lectora.get(link))
    [check] = [check for check in health_of(case.dataset, now=timezone.now()).checks if check.name == "held_out"]
    assert "Se abrieron 1 vez" in check.sentence


# --- Choosing them ----------------------------------------------------------------------------------------------------------------


def test_a_share_is_chosen_by_the_key_and_does_not_move_when_cases_come():
    dataset = make_dataset([draft_row(f"caso-{number}") for number in range(100)])
    change = Change(dataset.owner, timezone.now(), WHY)
    done = hold_out_share(dataset=dataset, share=0.2, change=change)
    first = set(dataset.cases.filter(held_out=True).values_list("key", flat=True))
    assert done == (len(first), len(first), 100)
    assert first == {key for key in dataset.cases.values_list("key", flat=True) if place_of("examen", key) < 0.2}
    assert 10 <= len(first) <= 30
    make_dataset([draft_row(f"otro-{number}") for number in range(50)])
    hold_out_share(dataset=dataset, share=0.2, change=change)
    assert {key for key in dataset.cases.filter(held_out=True).values_list("key", flat=True) if key.startswith("caso")} == first
    hold_out_share(dataset=dataset, share=0.5, change=change)
    assert first < set(dataset.cases.filter(held_out=True).values_list("key", flat=True))


def test_holding_out_asks_why_and_is_history():
    dataset = make_dataset([draft_row("uno")])
    with pytest.raises(ReasonMissing):
        hold_out_share(dataset=dataset, share=1, change=Change(dataset.owner, timezone.now()))
    hold_out_share(dataset=dataset, share=1, change=Change(dataset.owner, timezone.now(), WHY))
    line = dataset.cases.get().history.latest("history_id")
    assert (line.held_out, str(line.history_user), line.history_change_reason) == (True, "duena", WHY)
    assert dataset.cases.get().status == "approved"


def test_the_command_says_how_many_and_refuses_nonsense():
    make_dataset([draft_row("uno"), draft_row("dos")])
    assert run_command("dataset_hold_out", "examen", "--share", "1", "--reason", WHY).out == (
        "examen: 2 casos reservados ahora; 2 de 2 están reservados.\n"
    )
    assert "0 casos reservados ahora" in run_command("dataset_hold_out", "examen", "--share", "0.1", "--reason", WHY).out
    assert run_command("dataset_hold_out", "examen", "--share", "1", "--reason", "no").code == 1
    assert run_command("dataset_hold_out", "examen", "--share", "20", "--reason", WHY).code != 0


def test_the_list_of_datasets_holds_a_share_out_with_a_reason(client, case):
    client.force_login(User.objects.get(username="experta"))
    given = {"action": "hold_out", "_selected_action": [case.dataset_id]}
    assert "Parte" in text_of(client.post("/admin/evals/dataset/", given))
    client.post("/admin/evals/dataset/", given | {"apply": "1", "share": "100", "reason": WHY})
    assert not Case.objects.filter(held_out=False).exists()
    assert Case.objects.get(key="abierta").history.latest("history_id").history_change_reason == WHY


# --- Files ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fields", [SECRET, SECRET | {"notes": "otra"}])
def test_who_has_not_opened_a_held_out_case_does_not_import_over_it(case, fields):
    """Not even what it says already: «unchanged» would confirm a guess."""
    parsed = parse_rows(lines(draft_row("oculta", **fields)))[0]
    for person in (User.objects.get(username="experta"), let_read_held_out("experta")):
        with pytest.raises(HeldOutClosed, match="oculta"):
            import_rows(dataset=case.dataset, rows=parsed, change=Change(person, timezone.now(), WHY))
    assert Case.objects.get(key="oculta").notes == ""
    open_cases("experta", Case.objects.get(key="oculta"))
    import_rows(dataset=case.dataset, rows=parsed, change=Change(person, timezone.now(), WHY))
    assert Case.objects.get(key="oculta").notes == fields.get("notes", "")
