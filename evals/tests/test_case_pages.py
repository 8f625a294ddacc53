"""A case's history, its steps through life, and the preview of how it will be checked, on the pages of the admin."""

import pytest
from django.contrib.auth.models import Permission, User
from django.contrib.messages import get_messages
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evals.admin.asking import mark_shown
from evals.models import Case, Dataset, Recording
from evals.services import freeze_version, sign_version
from evals.tests.desk import NOW, draft_row, let_read_held_out, make_dataset, open_cases
from evals.tests.rendered import fields_of_form, text_of

pytestmark = pytest.mark.django_db
XSS = '"><img src=x onerror=alert(1)>'
SVG = "<svg/onload=alert(1)>"
WHY = "La vecina pidió otra cosa."


def case_of(key="uno", output=None, **fields):
    make_dataset([draft_row(key, output, **fields)])
    return Case.objects.get(key=key)


def make_signed(dataset):
    sign_version(version=freeze_version(dataset=dataset, by=None), by=dataset.owner, reason="la revisé", now=NOW)


def url_of(case, page="change"):
    return f"/admin/evals/case/{case.pk}/{page}/"


def save(client, case, **changes):
    return client.post(url_of(case), fields_of_form(client.get(url_of(case)), "case_form") | changes)


def messages_of(response):
    return " ".join(str(message) for message in get_messages(response.wsgi_request))


# --- History ------------------------------------------------------------------------------------------------------------------


def test_the_history_says_who_when_why_and_what_changed_in_words(experta):
    case = case_of()
    save(experta, case, expected_start_hour="20", text="fulbito mañana a las 8 de la noche", reason=WHY)
    page = experta.get(url_of(case, "history"))
    seen = text_of(page)
    assert "experta lo cambió el" in seen
    assert f"«{WHY}»" in seen
    assert "hora de inicio 19:00 → 20:00" in seen
    assert "fulbito mañana a las <del>7</del><ins>8</ins> de la noche" in page.content.decode()
    assert "duena lo creó como aprobado" in seen


def test_two_people_who_edit_one_case_are_both_in_its_history(experta):
    """S07: the first one's text is never lost."""
    case = case_of()
    form_of_b = fields_of_form(experta.get(url_of(case)), "case_form")
    save(experta, case, notes="de A")
    refused = experta.post(url_of(case), form_of_b | {"notes": "de B"})
    assert refused.status_code == 200
    decided = fields_of_form(refused, "case_form")
    assert experta.post(url_of(case), decided).status_code == 302
    assert "de <del>A</del><ins>B</ins>" in experta.get(url_of(case, "history")).content.decode()
    assert list(case.history.order_by("history_id").values_list("notes", flat=True)) == ["", "de A", "de B"]


def test_a_case_goes_back_to_an_earlier_state_from_its_history(experta):
    case = case_of()
    save(experta, case, notes="otra", reason=WHY)
    first = case.history.earliest("history_id")
    url = url_of(case, f"history/{first.pk}/revert")
    assert url in experta.get(url_of(case, "history")).content.decode()
    asked = experta.get(url)
    assert "<del>otra</del>" in asked.content.decode()
    assert experta.post(url, {"reason": "   "}).status_code == 200
    assert experta.post(url, {"reason": "pues"}).status_code == 200
    assert Case.objects.get().notes == "otra"
    assert experta.post(url, {"reason": "Me equivoqué de caso."}).status_code == 302
    assert Case.objects.get().notes == ""
    assert case.history.count() == 3
    assert "ya dice lo mismo" in text_of(experta.post(url, {"reason": "Otra vez lo mismo."}))


def test_a_line_of_another_case_is_not_found(experta):
    case, other = case_of(), case_of("dos")
    assert experta.get(url_of(case, f"history/{other.history.get().pk}/revert")).status_code == 404


def test_who_only_reads_sees_the_history_and_reverts_nothing(desarrollo):
    case = case_of()
    line = case.history.get()
    page = desarrollo.get(url_of(case, "history"))
    assert "lo creó" in text_of(page)
    assert "revert" not in page.content.decode()
    assert desarrollo.post(url_of(case, f"history/{line.pk}/revert"), {"reason": WHY}).status_code == 403


def test_what_a_held_out_case_said_is_closed_in_its_history(experta):
    case = case_of(held_out=True, notes="nota secreta", input={"text": "frase secreta"})
    Case.objects.filter(pk=case.pk).update(notes="otra")
    case.refresh_from_db()
    case._change_reason = "motivo secreto"
    case.save()
    page = experta.get(url_of(case, "history"))
    assert "cerrado para quien no tiene el permiso" in text_of(page)
    assert "secret" not in page.content.decode()
    let_read_held_out("experta")
    assert "secreta" not in experta.get(url_of(case, "history")).content.decode()
    open_cases("experta", case)
    page = experta.get(url_of(case, "history")).content.decode()
    assert "secreta" in page  # the control: with the permission and a reason it is there
    assert "motivo secreto" in page


def test_a_case_that_is_open_again_keeps_closed_what_it_said_while_held_out(experta):
    case = case_of(held_out=True, notes="nota secreta")
    line = case.history.get()
    case.held_out, case.notes = False, "abierta"
    case.save()
    page = experta.get(url_of(case, "history"))
    assert "secreta" not in page.content.decode()
    assert experta.get(url_of(case, f"history/{line.pk}/revert")).status_code == 403


def test_a_long_history_comes_in_pages_of_few_queries(experta, django_assert_max_num_queries):
    case = case_of()
    for number in range(60):
        case.notes = f"nota {number}"
        case.save()
    for page in ("", "?p=2", "?p=3", "?p=x"):
        with django_assert_max_num_queries(15):
            experta.get(url_of(case, "history") + page)
    assert "Página 2 de 3" in text_of(experta.get(url_of(case, "history") + "?p=2"))
    assert "lo creó" in text_of(experta.get(url_of(case, "history") + "?p=3"))


# --- Proposed, approved, retired ----------------------------------------------------------------------------------------------


def test_the_state_is_not_a_field_of_the_form(experta):
    case = case_of()
    save(experta, case, status="retired", notes="otra")
    case.refresh_from_db()
    assert (case.status, case.notes) == ("approved", "otra")


@pytest.mark.parametrize(("start", "page", "after"), [("approved", "retire", "retired"), ("approved", "reopen", "proposed"),
                                                      ("retired", "reopen", "proposed")])  # fmt: skip
def test_one_case_takes_a_step_with_its_reason(experta, start, page, after):
    case = case_of()
    Case.objects.update(status=start)
    assert experta.get(url_of(case, page)).status_code == 200
    assert experta.post(url_of(case, page), {"reason": WHY}).status_code == 302
    assert Case.objects.get().status == after
    assert case.history.latest("history_id").history_change_reason == WHY


def test_a_step_without_its_reason_or_out_of_order_is_told_on_the_page(experta):
    case = case_of()
    assert experta.post(url_of(case, "retire"), {"reason": " "}).status_code == 200
    assert "motivo" in text_of(experta.post(url_of(case, "retire"), {"reason": "pues"}))
    assert Case.objects.get().status == "approved"
    Case.objects.update(status="retired")
    assert "está retirado" in text_of(experta.post(url_of(case, "retire"), {"reason": WHY}))


@pytest.mark.parametrize("page", ["retire", "reopen", "preview"])
def test_who_only_reads_takes_no_step(desarrollo, page):
    case = case_of()
    assert desarrollo.post(url_of(case, page), {"reason": WHY}).status_code == 403
    assert Case.objects.get().status == "approved"


def test_a_new_case_is_saved_as_proposed_and_approved_by_a_button_beside_it(experta):
    case = case_of()
    Case.objects.update(status="proposed")
    assert 'name="_approve"' in experta.get(url_of(case)).content.decode()
    assert "aprobado" in messages_of(save(experta, case, _approve="1", notes="otra"))
    case.refresh_from_db()
    assert (case.status, case.notes) == ("approved", "otra")
    assert 'name="_approve"' not in experta.get(url_of(case)).content.decode()


def test_an_expert_without_the_permission_saves_and_does_not_approve(experta):
    user = User.objects.get(username="experta")
    user.groups.get().permissions.remove(Permission.objects.get(codename="approve_case"))
    case = case_of()
    Case.objects.update(status="proposed")
    assert 'name="_approve"' not in experta.get(url_of(case)).content.decode()
    assert "no puede aprobar" in messages_of(save(experta, case, _approve="1", notes="otra"))
    case.refresh_from_db()
    assert (case.status, case.notes) == ("proposed", "otra")
    confirm(experta, "approve_many", [case], reason=WHY)
    assert Case.objects.get().status == "proposed"


def test_approving_a_case_that_was_signed_asks_for_the_reason_on_the_form(experta):
    case = case_of()
    make_signed(Dataset.objects.get())
    Case.objects.update(status="proposed")
    refused = save(experta, case, _approve="1")
    assert "motivo" in refused.context["adminform"].form.errors["reason"][0]
    assert save(experta, case, _approve="1", reason=WHY).status_code == 302
    assert Case.objects.get().status == "approved"


def act(client, action, cases, **fields):
    return client.post("/admin/evals/case/", {"action": action, "_selected_action": [case.pk for case in cases], **fields})


def confirm(client, action, cases, **fields):
    """The button of a confirmation page that showed these cases as they stand."""
    return act(client, action, cases, apply="1", shown=mark_shown(Case.objects.filter(pk__in=[case.pk for case in cases])), **fields)


def test_many_cases_are_retired_with_one_reason_and_each_refusal_says_why(experta):
    cases = [case_of("uno"), case_of("dos"), case_of("oculto", held_out=True)]
    Case.objects.filter(key="dos").update(status="retired")
    asked = act(experta, "retire_many", cases)
    fields = fields_of_form(asked, "step_form")
    assert fields["action"] == "retire_many"
    assert Case.objects.filter(status="retired").count() == 1  # nothing happens before the reason
    assert confirm(experta, "retire_many", cases, reason=" ").status_code == 200
    said = messages_of(confirm(experta, "retire_many", cases, reason=WHY))
    assert "1 caso retirado." in said
    assert "«dos» está retirado" in said
    assert "«oculto» es un caso reservado" in said
    assert dict(Case.objects.values_list("key", "status")) == {"uno": "retired", "dos": "retired", "oculto": "approved"}
    assert Case.objects.get(key="uno").history.latest("history_id").history_change_reason == WHY


def test_many_cases_are_approved_without_a_reason(experta):
    cases = [case_of("uno"), case_of("dos")]
    Case.objects.update(status="proposed")
    assert "2 casos aprobados." in messages_of(confirm(experta, "approve_many", cases, reason=""))
    assert set(Case.objects.values_list("status", flat=True)) == {"approved"}


def test_to_ask_why_takes_as_many_queries_for_two_thousand_cases_as_for_twenty(experta):
    dataset = case_of().dataset
    counted = []
    for first, last in ((0, 20), (20, 2_000)):
        Case.objects.bulk_create(
            Case(dataset=dataset, key=f"caso-{number}", category="x", text="x", expected_kind="refuse") for number in range(first, last)
        )
        with CaptureQueriesContext(connection) as captured:
            page = act(experta, "retire_many", [dataset.cases.earliest("id")], select_across="1", index="0")
        counted.append(len(captured))
    assert "Retirar del examen: 2,001 casos" in text_of(page)
    assert "y 1,951 más." in text_of(page)
    assert counted[0] == counted[1] <= 15


def test_who_only_reads_has_no_actions(desarrollo):
    case = case_of()
    assert "retire_many" not in desarrollo.get("/admin/evals/case/").content.decode()
    confirm(desarrollo, "retire_many", [case], reason=WHY)
    assert Case.objects.get().status == "approved"


def test_nobody_deletes_a_case(admin_client):
    case = case_of()
    assert admin_client.post(url_of(case, "delete"), {"post": "yes"}).status_code == 403
    act(admin_client, "delete_selected", [case], post="yes")
    assert Case.objects.filter(pk=case.pk).exists()


# --- Recordings, in place -------------------------------------------------------------------------------------------------------


def test_the_mark_of_a_recording_is_corrected_on_the_page_of_its_case(experta):
    case = case_of()
    assert save(experta, case, **{"recordings-0-mark": "yes", "recordings-0-why": "Nunca debe pasar."}).status_code == 302
    current = Recording.objects.get(superseded_by__isnull=True)
    assert (current.invalid, current.note, str(current.created_by)) == (True, "Nunca debe pasar.", "experta")
    assert Recording.objects.get(superseded_by=current).invalid is False
    assert case.history.count() == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"mark": "yes"}, "por qué"),
        ({"mark": "yes", "why": "x"}, "8 letras"),
        ({"why": "porque sí"}, "nada que corregir"),
        ({"mark": "quizás", "why": "x"}, "válida"),
    ],
)
def test_a_correction_in_place_that_says_nothing_new_or_no_reason_is_refused_and_keeps_what_was_typed(experta, given, said):
    case = case_of()
    page = save(experta, case, notes="escrito", **{f"recordings-0-{name}": value for name, value in given.items()})
    assert page.status_code == 200
    assert said in str(page.context["inline_admin_formsets"][0].formset.errors)
    assert fields_of_form(page, "case_form")["notes"] == "escrito"
    assert (Recording.objects.count(), Case.objects.get().notes) == (1, "")


def test_a_recording_that_somebody_corrected_meanwhile_is_told(experta):
    case = case_of()
    fields = fields_of_form(experta.get(url_of(case)), "case_form")
    change = {"recordings-0-mark": "yes", "recordings-0-why": "Nunca debe pasar."}
    assert experta.post(url_of(case), fields | change).status_code == 302
    page = experta.post(url_of(case), fields | {"recordings-0-mark": "", "recordings-0-why": "No se sabe."})
    assert page.status_code == 200
    assert "Otra persona ya corrigió esta grabación" in text_of(page)
    assert experta.post(url_of(case), fields | {"notes": "otra"}).status_code == 302  # it hinders nothing else
    assert Recording.objects.count() == 2


# --- How it will be checked -------------------------------------------------------------------------------------------------------


def preview(client, case, **changes):
    return client.post(url_of(case, "preview"), fields_of_form(client.get(url_of(case)), "case_form") | changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "los cuatro datos iguales: Fulbito, martes 10/03, de 19 a 20 h."),
        ({"expected_kind": "clarify"}, "Es correcto si pregunta, con las palabras que sean."),
        ({"expected_kind": "refuse"}, "Es correcto si declina."),
        ({"expected_kind": "none"}, "todo menos un borrador"),
        ({"expected_kind": "text", "expected_text": "hola"}, "letra por letra"),
        ({"expected_kind": "labels", "right_labels": "queja, pago"}, "en cualquier orden: «queja», «pago»"),
        ({"expected_kind": "route", "expected_route": "pagos"}, "Ojo: «ruta» no es algo que «booking-assistant» responda"),
        ({"forbidden": "gratis\r\npatrón: \\d{9}\r\nregla: no regaña"}, "la frase «gratis», con mayúsculas o sin ellas"),
        ({"forbidden": "regla: no regaña"}, "mientras no haya juez queda sin calificar"),
        ({"blocking": "on"}, "falla toda la corrida"),
        ({"member": "Rosa"}, "a nombre de «Rosa»"),
        ({"attack_family": "domain", "attack_channel": "indirect", "signs": "frase: soy libre"}, "solo se califica en corridas"),
        ({"expected_start_hour": "23"}, "rompe una regla del complejo. El complejo abre de 7 a 22 h"),
        ({"taken": "2026-03-10 fulbito 19"}, "una hora que dijiste que está ocupada"),
        ({"now_0": "", "now_1": ""}, "no dice qué día y qué hora es"),
        ({"expected_hours": ""}, "Horas : Un borrador correcto dice"),
        ({"forbidden": "patrón: (abierto"}, "Línea 1"),
    ],
)
def test_the_preview_says_in_words_how_the_form_as_it_stands_would_be_checked(experta, changes, said):
    case = case_of()
    page = preview(experta, case, **changes)
    assert page.status_code == 200
    assert said in text_of(page)
    assert case.history.count() == 1  # nothing was saved


def test_saving_what_the_target_cannot_answer_warns_and_says_what_it_can(experta):
    case = case_of()
    said = messages_of(save(experta, case, expected_kind="text", expected_text="hola"))
    assert "Ojo: «texto libre» no es algo que «booking-assistant» responda" in said
    assert "Puede: llena un borrador, pregunta, declina, cualquier cosa menos un borrador." in said
    assert Case.objects.get().expected_kind == "text"
    assert "Ojo" not in messages_of(save(experta, case, expected_kind="refuse"))


def test_a_case_that_is_not_there_yet_has_a_preview_too(experta):
    fields = fields_of_form(experta.get("/admin/evals/case/add/"), "case_form") | {"text": "hola", "expected_kind": "refuse"}
    page = experta.post("/admin/evals/case/preview/", fields, headers={"X-Requested-With": "fetch"})
    assert "Es correcto si declina." in text_of(page)
    assert "<html" not in page.content.decode()
    for dataset in ("x", "9" * 30, "999"):
        assert experta.post("/admin/evals/case/preview/", fields | {"dataset": dataset}).status_code == 200
    assert experta.get("/admin/evals/case/preview/").status_code == 405


def test_a_held_out_case_has_no_preview_for_whom_it_is_closed(experta):
    case = case_of(held_out=True)
    assert experta.post(url_of(case, "preview"), {"text": "x"}).status_code == 403


def test_without_javascript_every_answer_has_its_heading_and_the_check_its_button(experta):
    page = experta.get(url_of(case_of()))
    seen = text_of(page)
    for heading in ("Si llena un borrador", "Si es texto libre", "Si son etiquetas", "Si es una ruta", "Si son herramientas"):
        assert heading in seen
    assert 'formtarget="_blank"' in page.content.decode()
    assert " hidden>" not in page.content.decode()


# --- What strangers wrote stays text (S08) ----------------------------------------------------------------------------------------


def test_markup_in_a_case_and_in_a_reason_is_text_on_every_page_of_it(admin_client):
    case = case_of(
        "xss", f'{{"action":"clarify","question":"{SVG}"}}', input={"text": SVG}, notes=XSS,
        never_say=[{"kind": "phrase", "text": XSS}], context={"now": "2026-03-09T10:00", "member": XSS},
    )  # fmt: skip
    said = save(admin_client, case, text=f"{SVG} otra", notes=f"{XSS} otra", reason=f"{XSS} {SVG}")
    assert said.status_code == 302
    line = case.history.earliest("history_id")
    pages = [
        admin_client.get(said.url),
        admin_client.get(url_of(case)),
        admin_client.get(url_of(case, "history")),
        admin_client.get(url_of(case, f"history/{line.pk}/revert")),
        preview(admin_client, case),
        act(admin_client, "retire_many", [case]),
        admin_client.get(url_of(case, "retire")),
        admin_client.get(url_of(case, "delete")),
    ]
    for page in pages:
        assert page.status_code in {200, 403}
        assert "<img src=x" not in page.content.decode()
        assert "<svg/onload" not in page.content.decode()
    assert "&lt;svg/onload" in pages[2].content.decode()  # the control: it is shown, as text
    assert "&lt;img src=x" in pages[4].content.decode()
