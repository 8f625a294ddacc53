"""An action on many cases does to them what the person confirmed: cases that changed since the page was shown are named, and none moves."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from evals.management.demo import seed_people
from evals.models import Case, Dataset
from evals.services import Change, retire_case, save_case
from evals.tests.desk import NOW, draft_row, let_approve, let_read_held_out, make_dataset
from evals.tests.rendered import fields_of_form, text_of
from evals.tests.test_case_pages import act, messages_of, save, url_of

pytestmark = pytest.mark.django_db
WHY = "Ya no se pregunta así."
KEYS = ("uno", "dos", "tres")


@pytest.fixture
def expert(client: Client) -> Client:
    seed_people(with_passwords=False)
    make_dataset([draft_row(key) for key in KEYS])
    client.force_login(let_read_held_out("experta"))
    return client


def cases(*keys: str, status: str = "proposed", **fields: Any) -> list[Case]:
    """These cases, as the test wants them to stand before the page is opened."""
    Case.objects.filter(key__in=keys).update(status=status, **fields)
    return list(Case.objects.filter(key__in=keys))


def ask(client: Client, action: str, chosen: list[Case], **fields: Any) -> dict[str, Any]:
    """Opens the confirmation; what its button posts."""
    page = act(client, action, chosen, **fields)
    return {**fields_of_form(page, "step_form"), "apply": "1", "reason": WHY, "_selected_action": [case.pk for case in chosen]}


def press(client: Client, form: dict[str, Any]) -> Any:
    return client.post("/admin/evals/case/", form)


def by_form(key: str) -> None:
    """Somebody else saves other words on the page of the case."""
    somebody = Client()
    somebody.force_login(let_approve("duena2"))
    User.objects.filter(username="duena2").update(is_staff=True, is_superuser=True)
    assert save(somebody, Case.objects.get(key=key), text="fulbito gratis para siempre", reason="otra").status_code == 302


def by_import(key: str) -> None:
    make_dataset([draft_row(key, input={"text": "fulbito gratis para siempre"})])
    Case.objects.filter(key=key).update(status="proposed")


def told(page: Any) -> str:
    """What the page says; a link is followed by a full stop without a blank."""
    return text_of(page).replace(" .", ".").replace(" ,", ",")


def statuses() -> dict[str, str]:
    return dict(Case.objects.values_list("key", "status"))


@pytest.mark.parametrize("change", [by_form, by_import])
def test_words_that_nobody_read_are_not_approved(expert: Client, change: Any) -> None:
    form = ask(expert, "approve_many", cases("uno", "dos"))
    change("dos")
    again = press(expert, form)
    assert "Mientras mirabas cambió: dos. No se hizo nada todavía. Léelo y confirma otra vez." in told(again)
    assert url_of(Case.objects.get(key="dos")) in again.content.decode()
    assert statuses() == {"uno": "proposed", "dos": "proposed", "tres": "approved"}
    confirmed = fields_of_form(again, "step_form") | {"apply": "1", "_selected_action": form["_selected_action"]}
    assert confirmed["reason"] == WHY  # what was typed is still there
    assert "2 casos aprobados." in messages_of(press(expert, confirmed))
    assert set(statuses().values()) == {"approved"}


def test_control_without_a_change_it_is_done_and_a_change_of_another_case_is_no_matter(expert: Client) -> None:
    form = ask(expert, "approve_many", cases("uno", "dos"))
    by_form("tres")
    assert "2 casos aprobados." in messages_of(press(expert, form))


@pytest.mark.parametrize(("action", "before", "after"), [("retire_many", "approved", "retired"), ("reopen_many", "retired", "proposed")])
def test_retiring_and_proposing_again_ask_again_too(expert: Client, action: str, before: str, after: str) -> None:
    chosen = cases("uno", "dos", status=before)
    form = ask(expert, action, chosen)
    save_case(case=noted("uno"), change=Change(None, NOW, "otra"))
    changed = statuses()
    again = press(expert, form)
    assert "Mientras mirabas cambió: uno." in told(again)
    assert statuses() == changed
    assert set(statuses().values()) != {after}
    press(expert, form | {"shown": fields_of_form(again, "step_form")["shown"]})
    assert statuses()["dos"] == after


def noted(key: str, notes: str = "otra") -> Case:
    case = Case.objects.get(key=key)
    case.notes = notes
    return case


def test_letting_go_asks_again_too(expert: Client) -> None:
    form = ask(expert, "let_go_many", cases("uno", "dos", held_out=True))
    save_case(case=noted("dos"), change=Change(None, NOW, "otra"))
    assert "Mientras mirabas cambió: dos." in told(press(expert, form))
    assert Case.objects.filter(held_out=True).count() == 2


def test_a_case_that_another_person_moved_out_of_the_list_is_named(expert: Client) -> None:
    """The list shows proposed ones; the one that somebody retired leaves it, and what is left is not what was confirmed."""
    chosen = cases("uno", "dos")
    where = "/admin/evals/case/?status__exact=proposed"
    given = {"action": "approve_many", "_selected_action": [case.pk for case in chosen]}
    page: Any = expert.post(where, given)
    form = fields_of_form(page, "step_form") | given | {"apply": "1"}
    retire_case(case=chosen[1], change=Change(None, NOW, WHY))
    assert f"Mientras mirabas cambió: {chosen[1]}." in told(expert.post(where, form))
    assert Case.objects.get(pk=chosen[0].pk).status == "proposed"


@pytest.mark.parametrize("mark", [None, "", "x", "1", "1.", "1.x", "1.1  2.2", "9" * 30 + ".1", "²." + "1"])
def test_without_a_mark_that_can_be_read_nothing_is_done(expert: Client, mark: str | None) -> None:
    form = ask(expert, "approve_many", cases("uno", "dos")) | {"shown": mark}
    again = press(expert, {name: value for name, value in form.items() if value is not None})
    assert "No se hizo nada todavía: no se sabe cómo estaban los casos cuando los miraste." in told(again)
    assert statuses()["uno"] == "proposed"
    assert "2 casos aprobados." in messages_of(press(expert, form | {"shown": fields_of_form(again, "step_form")["shown"]}))


def test_a_page_that_was_sent_back_for_its_reason_still_carries_what_it_showed(expert: Client) -> None:
    form = ask(expert, "retire_many", cases("uno", "dos"))
    refused = press(expert, form | {"reason": ""})
    assert fields_of_form(refused, "step_form")["shown"] == form["shown"]
    assert "Mientras mirabas" not in told(refused)


def test_the_whole_list_is_confirmed_as_it_was_in_few_queries(expert: Client) -> None:
    dataset = Dataset.objects.get()
    counted = []
    for first, last in ((0, 20), (20, 2_000)):
        Case.objects.bulk_create(
            Case(dataset=dataset, key=f"caso-{number:04}", category="x", text="x", expected_kind="refuse", status="proposed")
            for number in range(first, last)
        )
        chosen = cases("uno")
        form = ask(expert, "approve_many", chosen, select_across="1", index="0")
        for number in range(12):
            save_case(case=noted(f"caso-{number:04}", notes=f"otra {last}"), change=Change(None, NOW, "otra"))
        make_dataset([draft_row(f"nuevo-{first}")])
        with CaptureQueriesContext(connection) as captured:
            again = press(expert, form)
        counted.append(len(captured))
        assert "y 3 más. No se hizo nada todavía. Léelos y confirma otra vez." in told(again)
        assert not Case.objects.filter(key__startswith="caso-", status="approved").exists()
    assert counted[0] == counted[1] <= 20
    assert "1 caso aprobado." in messages_of(press(expert, form | {"shown": fields_of_form(again, "step_form")["shown"]}))
    assert Case.objects.get(key="uno").status == "approved"


def test_save_and_approve_on_the_page_of_a_case_sees_the_change_too(expert: Client) -> None:
    [case] = cases("uno")
    page: Any = expert.get(url_of(case))
    form = fields_of_form(page, "case_form") | {"_approve": "1"}
    by_form("uno")
    assert "Este caso cambió mientras lo editabas" in told(expert.post(url_of(case), form))
    assert Case.objects.get(key="uno").status == "proposed"
