"""A held-out case is let go by one step alone, with a person, a reason and an opening: by no file, form or line of history."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.utils import timezone

from evals.datasets.rows import parse_rows
from evals.datasets.spreadsheet import write_csv, write_xlsx
from evals.management.demo import SEEDS, seed_people
from evals.models import Case, Dataset, HeldOutOpening
from evals.services import Change, NotAReader, NothingToRevert, ReasonMissing, hold_out_share, import_rows, let_go, revert_case, save_case
from evals.tests.commands import run_command
from evals.tests.desk import draft_row, let_read_held_out, make_dataset, open_cases
from evals.tests.rendered import fields_of_form, text_of
from evals.tests.test_case_pages import act, messages_of, url_of
from evals.tests.test_case_pages import confirm as confirm_many
from evals.tests.test_import_preview import confirm, upload

pytestmark = pytest.mark.django_db
WHY = "Ya se publicó esa pregunta."
PROMPTFOO = "- vars: {text: hola}\n  assert:\n    - {type: not-contains, value: gratis}\n"


@pytest.fixture
def reader(client: Any) -> Any:
    """An expert who may open held-out cases, and has not opened any."""
    seed_people(with_passwords=False)
    client.force_login(let_read_held_out("experta"))
    return client


def change(username: str = "experta", reason: str = WHY) -> Change:
    return Change(User.objects.get(username=username), timezone.now(), reason)


def hold_out_all(dataset: Dataset) -> None:
    owner, _ = User.objects.get_or_create(username="duena")
    hold_out_share(dataset=dataset, share=1, change=Change(owner, timezone.now(), "para publicar"))


def held_out() -> dict[str, bool]:
    return dict(Case.objects.values_list("key", "held_out"))


# --- Files ------------------------------------------------------------------------------------------------------------------


def test_a_seed_file_from_before_lets_nothing_go_and_the_command_says_so(tmp_path: Path) -> None:
    file = str(SEEDS / "kit.jsonl")
    make_dataset([json.loads(line) for line in Path(file).read_text("utf-8").splitlines()], slug="kit")
    hold_out_all(Dataset.objects.get())
    for words in (["--dry-run"], []):
        done = run_command("dataset_import", "kit", file, *words)
        assert "0 nuevos, 0 cambiados, 14 iguales" in done.out
        assert "14 casos reservados que el archivo no marca lo siguen siendo: " in done.err
        assert " y 4 más. Para soltar uno usa «Dejar de reservar»" in done.err
    assert set(held_out().values()) == {True}


@pytest.mark.parametrize("kind", ["xlsx", "csv", "jsonl"])
def test_a_file_exported_before_changes_what_it_says_and_lets_nothing_go(reader: Any, kind: str) -> None:
    dataset = make_dataset([draft_row("uno"), draft_row("dos")])
    rows = [draft_row("uno", notes="ojo"), draft_row("dos")]
    content = {"xlsx": write_xlsx(rows, held_out=0), "csv": write_csv(rows, held_out=0)}.get(
        kind, "\n".join(map(json.dumps, rows)).encode()
    )
    hold_out_all(dataset)
    open_cases("experta", *dataset.cases.all())
    page = upload(reader, dataset, content, f"casos.{kind}")
    assert "0 nuevos · 1 cambia · 1 igual" in text_of(page)
    assert "2 casos reservados que el archivo no marca lo siguen siendo: uno, dos." in text_of(page)
    confirm(reader, page, approved="on")
    assert held_out() == {"uno": True, "dos": True}
    assert Case.objects.get(key="uno").notes == "ojo"
    assert HeldOutOpening.objects.count() == 2


def test_tests_of_promptfoo_let_nothing_go(reader: Any) -> None:
    dataset = make_dataset([draft_row("uno")])
    confirm(reader, upload(reader, dataset, PROMPTFOO.encode(), "pruebas.yaml"))
    hold_out_all(dataset)
    open_cases("experta", *dataset.cases.all())
    page = upload(reader, dataset, PROMPTFOO.replace("gratis", "regalo").encode(), "pruebas.yaml")
    assert "1 caso reservado que el archivo no marca lo sigue siendo: hola-" in text_of(page)
    confirm(reader, page)
    assert set(held_out().values()) == {True}
    assert Case.objects.get(text="hola").never_say == [{"kind": "phrase", "text": "regalo"}]


def test_who_may_not_read_them_is_told_which_rows_to_take_out_and_no_more(client: Any) -> None:
    seed_people(with_passwords=False)
    client.force_login(User.objects.get(username="experta"))
    dataset = make_dataset([draft_row("uno")])
    hold_out_all(dataset)
    said = text_of(upload(client, dataset, write_csv([draft_row("uno")], held_out=0)))
    assert "Es un caso reservado" in said
    assert "lo sigue siendo" not in said


def test_what_was_shown_is_not_what_a_case_held_out_meanwhile_would_do(reader: Any) -> None:
    dataset = make_dataset([draft_row("uno"), draft_row("dos")])
    page = upload(reader, dataset, write_csv([draft_row("uno", notes="ojo"), draft_row("dos")], held_out=0))
    hold_out_all(dataset)
    open_cases("experta", *dataset.cases.all())
    again = confirm(reader, page)
    assert "El dataset cambió mientras mirabas" in text_of(again)
    assert "lo siguen siendo: uno, dos" in text_of(again)
    assert Case.objects.get(key="uno").notes == ""


def test_a_file_may_still_hold_a_case_out(reader: Any) -> None:
    dataset = make_dataset([draft_row("uno")])
    page = upload(reader, dataset, write_csv([draft_row("uno", held_out=True)], held_out=0))
    assert "lo sigue" not in text_of(page)
    confirm(reader, page)
    assert held_out() == {"uno": True}


@pytest.mark.parametrize("by", [None, "experta"])
def test_the_service_keeps_them_for_whoever_brings_rows_without_a_preview(reader: Any, by: str | None) -> None:
    dataset = make_dataset([draft_row("uno")])
    hold_out_all(dataset)
    open_cases("experta", *dataset.cases.all())
    rows = parse_rows([json.dumps(draft_row("uno", notes="ojo"))])[0]
    assert import_rows(dataset=dataset, rows=rows, change=change(by) if by else Change(None, timezone.now())) == (0, 1, 0)
    assert (held_out(), Case.objects.get().notes) == ({"uno": True}, "ojo")


# --- History and form ---------------------------------------------------------------------------------------------------------


def test_going_back_to_before_brings_the_words_and_not_the_openness(reader: Any) -> None:
    dataset = make_dataset([draft_row("uno")])
    case = dataset.cases.get()
    case.notes = "otra"
    save_case(case=case, change=change())
    hold_out_all(dataset)
    first = case.history.earliest("history_id")
    case.refresh_from_db()
    open_cases("experta", case)
    url = url_of(case, f"history/{first.pk}/revert")
    assert "reservado" not in text_of(reader.get(url)).partition("Motivo")[0].partition("notas")[2]
    assert reader.post(url, {"reason": "Me equivoqué de caso."}).status_code == 302
    case.refresh_from_db()
    assert (case.notes, case.held_out) == ("", True)
    with pytest.raises(NothingToRevert):  # only the holding out is between them
        revert_case(case=case, line=first, change=change())


def test_the_box_of_a_held_out_case_is_no_box_to_untick(reader: Any) -> None:
    case = make_dataset([draft_row("uno")]).cases.get()
    page = reader.get(url_of(case))
    assert "disabled" not in box_of(page)
    form = fields_of_form(page, "case_form")
    assert reader.post(url_of(case), form | {"held_out": "on"}).status_code == 302  # it may be ticked
    open_cases("experta", case)
    page = reader.get(url_of(case))
    assert "checked" in box_of(page)
    assert "disabled" in box_of(page)
    assert "usa «Dejar de reservar»" in text_of(page)
    form = fields_of_form(page, "case_form")
    form.pop("held_out", None)
    assert reader.post(url_of(case), form | {"notes": "otra", "reason": WHY}).status_code == 302
    case.refresh_from_db()
    assert (case.notes, case.held_out) == ("otra", True)


def box_of(page: Any) -> str:
    return next(tag for tag in page.content.decode().split("<") if 'name="held_out"' in tag)


def test_a_service_that_saves_a_case_keeps_it() -> None:
    dataset = make_dataset([draft_row("uno")])
    hold_out_all(dataset)
    case = dataset.cases.get()
    case.held_out, case.notes = False, "otra"
    save_case(case=case, change=Change(None, timezone.now()))
    case.refresh_from_db()
    assert (case.notes, case.held_out) == ("otra", True)


def test_what_was_typed_into_a_case_that_closed_meanwhile_is_saved_once_it_is_opened_again(reader: Any) -> None:
    case = make_dataset([draft_row("uno", held_out=True)]).cases.get()
    open_cases("experta", case)
    form = fields_of_form(reader.get(url_of(case)), "case_form") | {"notes": "lo que escribí\r\nen dos líneas"}
    HeldOutOpening.objects.all().delete()
    asked = reader.post(url_of(case), form)
    assert "pasaron más de 8 horas" in text_of(asked)
    assert Case.objects.get().notes == ""
    again = fields_of_form(asked, "open_again_form")
    assert "fulbito" in again["text"]  # what they sent themselves
    assert reader.post(url_of(case), again | {"opening_reason": "x"}).status_code == 200
    assert not HeldOutOpening.objects.exists()
    assert reader.post(url_of(case), again | {"opening_reason": WHY}).status_code == 302
    assert Case.objects.get().notes.splitlines() == ["lo que escribí", "en dos líneas"]
    assert HeldOutOpening.objects.get().reason == WHY


def test_who_may_not_read_it_saves_nothing_over_it(reader: Any) -> None:
    case = make_dataset([draft_row("uno")]).cases.get()
    form = fields_of_form(reader.get(url_of(case)), "case_form")
    hold_out_all(case.dataset)
    User.objects.get(username="experta").user_permissions.clear()
    assert reader.post(url_of(case), form | {"notes": "x", "opening_reason": WHY}).status_code == 403
    assert Case.objects.get().notes == ""


@pytest.fixture
def typist(client: Any) -> Any:
    """An expert who edits cases and may not open held-out ones."""
    seed_people(with_passwords=False)
    expert = User.objects.get(username="experta")
    expert.groups.get().permissions.remove(Permission.objects.get(codename="view_held_out_text"))
    client.force_login(expert)
    return client


def test_who_may_not_read_it_gets_back_what_they_typed(typist: Any) -> None:
    case = make_dataset([draft_row("uno")]).cases.get()
    form = fields_of_form(typist.get(url_of(case)), "case_form")
    hold_out_all(case.dataset)
    mine = {"text": "fulbito <b>mañana</b>\r\na las 8", "expected_start_hour": "20", "notes": "lo mío", "reason": WHY, "blocking": "on"}
    page = typist.post(url_of(case), form | mine)
    assert page.status_code == 403
    said = text_of(page)
    assert "alguien reservó este caso" in said
    assert "lo tuyo no se guardó" in said
    for label, value in (("Notas", "lo mío"), ("Hora de inicio", "20:00"), ("Motivo del cambio", WHY), ("Fecha", "2026-03-10")):
        assert f"{label} {value}" in said
    assert "fulbito &lt;b&gt;mañana&lt;/b&gt;\r\na las 8" in page.content.decode()
    assert "Fecha y hora de la situación 2026-03-09 10:00" in said
    case.refresh_from_db()
    assert (case.notes, case.blocking, case.expected_start_hour) == ("", False, 19)


@pytest.mark.parametrize("posted", [{}, {"notes": "lo mío", "expected_sport": "<i>otro</i>", "dataset": "1", "key": "uno", "seen": "x"}])
def test_nothing_stored_comes_back_with_it(typist: Any, posted: dict[str, str]) -> None:
    secret = "secreto"
    dataset = make_dataset(
        [
            draft_row(
                "uno", held_out=True, input={"text": secret}, notes=secret, category=f"c-{secret}", tags=[f"t-{secret}"],
                context={"now": "2026-03-09T10:00", "member": secret}, known_limitation=secret,
                never_say=[{"kind": "phrase", "text": secret}],
            )
        ]
    )  # fmt: skip
    page = typist.post(url_of(dataset.cases.get()), posted)
    assert page.status_code == 403
    assert secret not in page.content.decode()
    assert "fulbito" not in text_of(page)
    assert "2026-03" not in text_of(page)
    assert ("lo mío" in text_of(page)) == bool(posted)
    assert "<i>" not in page.content.decode()


def test_who_may_not_edit_gets_nothing_back(typist: Any) -> None:
    case = make_dataset([draft_row("uno", held_out=True)]).cases.get()
    User.objects.get(username="experta").groups.clear()
    page = typist.post(url_of(case), {"notes": "lo mío"})
    assert page.status_code == 403
    assert "lo mío" not in text_of(page)


# --- Letting one go -----------------------------------------------------------------------------------------------------------


def test_it_takes_a_reason_and_leaves_history_and_an_opening(reader: Any) -> None:
    case = make_dataset([draft_row("uno", held_out=True)]).cases.get()
    url = url_of(case, "let-go")
    assert url in reader.get(url_of(case)).content.decode()
    assert "fulbito" not in text_of(reader.get(url))
    for reason in ("", "pues"):
        assert reader.post(url, {"reason": reason}).status_code == 200
    assert held_out() == {"uno": True}
    assert "1 caso ya no es reservado." in messages_of(reader.post(url, {"reason": WHY}))
    case.refresh_from_db()
    line = case.history.latest("history_id")
    assert (line.held_out, str(line.history_user), line.history_change_reason) == (False, "experta", WHY)
    opening = HeldOutOpening.objects.get()
    assert (opening.case, str(opening.opened_by), opening.reason, opening.where) == (case, "experta", WHY, "let-go")
    assert case.status == "approved"
    assert "let-go" not in reader.get(url_of(case)).content.decode()
    assert "1 no lo era" in messages_of(reader.post(url, {"reason": WHY}))
    assert case.history.count() == 2


def test_many_at_once_say_how_many_were_not(reader: Any) -> None:
    make_dataset([draft_row("uno", held_out=True), draft_row("dos", held_out=True), draft_row("tres")])
    cases = list(Case.objects.all())
    assert "Dejar de reservar: 3 casos" in text_of(act(reader, "let_go_many", cases))
    assert confirm_many(reader, "let_go_many", cases, reason="x").status_code == 200
    assert sum(held_out().values()) == 2
    said = messages_of(confirm_many(reader, "let_go_many", cases, reason=WHY))
    assert "2 casos ya no son reservados. 1 no lo era y quedó igual." in said
    assert sum(held_out().values()) == 0
    assert HeldOutOpening.objects.count() == 2


def test_who_may_not_read_them_lets_none_go(client: Any) -> None:
    seed_people(with_passwords=False)
    case = make_dataset([draft_row("uno", held_out=True)]).cases.get()
    for username in ("experta", "desarrollo"):
        client.force_login(User.objects.get(username=username))
        assert client.get(url_of(case, "let-go")).status_code == 403
        assert client.post(url_of(case, "let-go"), {"reason": WHY}).status_code == 403
        confirm_many(client, "let_go_many", [case], reason=WHY)
        with pytest.raises(NotAReader):
            let_go(cases=[case], change=change(username))
    with pytest.raises(NotAReader):
        let_go(cases=[case], change=Change(None, timezone.now(), WHY))
    assert held_out() == {"uno": True}


def test_reading_alone_is_not_enough_to_let_go(client: Any) -> None:
    seed_people(with_passwords=False)
    case = make_dataset([draft_row("uno", held_out=True)]).cases.get()
    User.objects.get(username="desarrollo").user_permissions.add(Permission.objects.get(codename="view_held_out_text"))
    client.force_login(User.objects.get(username="desarrollo"))
    assert client.post(url_of(case, "let-go"), {"reason": WHY}).status_code == 403
    assert held_out() == {"uno": True}


def test_control_the_service_asks_for_a_reason_first(reader: Any) -> None:
    case = make_dataset([draft_row("uno", held_out=True)]).cases.get()
    with pytest.raises(ReasonMissing, match="Dejar de reservar"):
        let_go(cases=[case], change=change(reason="x"))
    assert let_go(cases=[case], change=change()) == ["uno"]
    assert HeldOutOpening.objects.get().opened_at > timezone.now() - timedelta(minutes=1)
