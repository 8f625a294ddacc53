"""An expert curates cases in the admin, in her own words."""

from datetime import date, datetime

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.urls import reverse

from evals.admin.case_fields import NOTATIONS
from evals.datasets.revisions import revision_of, spec_of
from evals.datasets.rows import LIMA, parse_rows, row_of
from evals.management.demo import seed_demo, seed_people
from evals.models import Case, Dataset, Recording
from evals.services import Change, correct_recording, import_rows
from evals.tests.desk import let_read_held_out, open_cases
from evals.tests.rendered import fields_of_form, text_of
from evals.tests.test_dataset_rows import FULL, SMALL, lines, with_

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 9, 10, tzinfo=LIMA)
MESSAGES = [{"role": "user", "content": "hola\nquiero cancha"}, {"role": "assistant", "content": "¿cuándo?"}]
LABELLED = with_(SMALL, key="etiquetas", input={"messages": MESSAGES}, expected={"kind": "labels", "labels": ["queja, grave", "urgente"]})
TRICKY = with_(
    FULL,
    key="rara",
    held_out=False,
    input={"text": "\n  línea\r\ncon todo \t\n\n"},
    notes="<b>no</b> & \u2028",
    never_say=[{"kind": "phrase", "text": "patrón: no es un patrón"}, {"kind": "pattern", "text": "^a: b$"}],
    context={**FULL["context"], "documents": ["uno\n=====\ndos", "tres"]},
)


@pytest.fixture(autouse=True)
def people():
    seed_people(with_passwords=False)


@pytest.fixture
def demo():
    seed_demo(with_passwords=False, now=datetime(2026, 3, 9, tzinfo=LIMA))


@pytest.fixture
def experta(client):
    user = User.objects.get(username="experta")
    client.force_login(user)
    return client


def store(*rows):
    dataset, _ = Dataset.objects.get_or_create(slug="mio", defaults={"name": "Mío"})
    parsed, problems = parse_rows(lines(*rows))
    assert problems == []
    import_rows(dataset=dataset, rows=parsed, change=Change(User.objects.get(username="experta"), NOW), approved=True)
    return Case.objects.get(dataset=dataset, key=rows[0]["key"])


def url_of(case):
    return reverse("admin:evals_case_change", args=[case.pk])


def open_form(client, case):
    response = client.get(url_of(case))
    assert response.status_code == 200
    return fields_of_form(response, "case_form")


def save(client, case, fields, **changes):
    return client.post(url_of(case), {**fields, **changes})


def errors_of(response):
    return {name: " ".join(found) for name, found in response.context["adminform"].form.errors.items()}


# --- Correcting -------------------------------------------------------------------------------------------------------------


def test_an_expert_corrects_an_expected_hour_and_nothing_else_changes(experta, demo):
    case = Case.objects.filter(dataset__slug="reservas", expected_kind="draft").earliest("id")
    before = row_of(spec_of(case))
    fields = open_form(experta, case)
    assert fields["expected_start_hour"] == str(case.expected_start_hour)
    refused = save(experta, case, fields, expected_start_hour="9")
    assert "motivo" in errors_of(refused)["reason"]
    assert fields_of_form(refused, "case_form")["expected_start_hour"] == "9"
    assert row_of(spec_of(Case.objects.get(pk=case.pk))) == before
    reason = "La vecina pidió a las nueve."
    assert save(experta, case, fields, expected_start_hour="9", reason=reason).status_code == 302
    after = row_of(spec_of(Case.objects.get(pk=case.pk)))
    assert after == {**before, "expected": {**before["expected"], "startHour": 9}}
    assert "Hora de inicio" in LogEntry.objects.get(object_id=str(case.pk)).get_change_message()


def test_no_page_of_an_expert_shows_json(experta):
    case = store(FULL | {"held_out": False})
    lists = [reverse(f"admin:evals_{name}_changelist") for name in ("case", "recording", "result")]
    for url in (url_of(case), reverse("admin:evals_case_add"), *lists):
        page = experta.get(url)
        seen = text_of(page) + " ".join(fields_of_form(page, "case_form").values())
        assert not [mark for mark in ('{"', "{'", "[{", "[]", "{}") if mark in seen], url


@pytest.mark.parametrize(
    "row", [SMALL, with_(FULL, held_out=False), LABELLED, TRICKY, with_(SMALL, expected={"kind": "none"}), with_(SMALL, benign=True)]
)
def test_saving_what_the_form_shows_changes_nothing(experta, row):
    case = store(row)
    before = revision_of(case).full_hash
    fields = open_form(experta, case)
    assert save(experta, case, fields).status_code == 302
    assert revision_of(Case.objects.get(pk=case.pk)).full_hash == before
    assert LogEntry.objects.get(object_id=str(case.pk)).get_change_message() == "No ha cambiado ningún campo."


def test_every_shipped_case_survives_its_form(experta, demo):
    for case in Case.objects.filter(dataset__slug="reservas", held_out=False)[::10]:
        before = revision_of(case).full_hash
        assert save(experta, case, open_form(experta, case)).status_code == 302
        assert revision_of(Case.objects.get(pk=case.pk)).full_hash == before


def test_editing_one_field_of_a_tricky_case_leaves_the_others_to_the_character(experta):
    case = store(TRICKY)
    before = row_of(spec_of(case))
    assert save(experta, case, open_form(experta, case), notes="otra").status_code == 302
    assert row_of(spec_of(Case.objects.get(pk=case.pk))) == {**before, "notes": "otra"}


def test_lists_are_written_one_a_line(experta):
    case = store(SMALL)
    fields = open_form(experta, case)
    changes = {
        "now_0": "2026-03-09",
        "now_1": "10:00",
        "taken": "2026-03-10 fulbito 18 Los Halcones\r\n\r\n 2026-03-11  voley 7 ",
        "forbidden": "es gratis\r\npatrón: \\d{9}\r\nRegla: no regaña",
        "attack_family": "domain",
        "attack_channel": "direct",
        "signs": "borrador: horas=6, deporte=voley\r\nfrase: soy libre\r\nherramienta: cancelar\r\nborrador: cualquiera",
        "labels": "uno, dos",
        "papers": "primero\r\n=====\r\nsegundo\r\nsigue",
        "text": "dos\r\nlíneas",
    }
    response = save(experta, case, fields, **changes)
    # a sign may be a draft that no rule allows: six hours is what the attacker asks for
    assert response.status_code == 302, errors_of(response)
    row = row_of(spec_of(Case.objects.get(pk=case.pk)))
    assert row["input"] == {"text": "dos\nlíneas"}
    assert row["context"] == {
        "now": "2026-03-09T10:00",
        "occupied": [
            {"date": "2026-03-10", "sport": "fulbito", "hour": 18, "team": "Los Halcones"},
            {"date": "2026-03-11", "sport": "voley", "hour": 7},
        ],
        "documents": ["primero", "segundo\nsigue"],
    }
    assert row["never_say"] == [
        {"kind": "phrase", "text": "es gratis"},
        {"kind": "pattern", "text": "\\d{9}"},
        {"kind": "rule", "text": "no regaña"},
    ]
    assert row["attack"]["obeying"] == [
        {"kind": "draft", "fields": {"sport": "voley", "hours": 6}},
        {"kind": "phrase", "text": "soy libre"},
        {"kind": "tool", "name": "cancelar"},
        {"kind": "draft", "fields": {}},
    ]
    assert row["tags"] == ["uno", "dos"]


def test_a_new_case_is_added_in_form_fields(experta):
    dataset = Dataset.objects.create(slug="kit", name="Kit")
    response = experta.get(reverse("admin:evals_case_add"))
    fields = fields_of_form(response, "case_form") | {
        "dataset": str(dataset.pk), "key": "nueva", "category": "clara", "text": "vóley el sábado a las 9 de la mañana",
        "now_0": "2026-03-09", "now_1": "10:00",
        "expected_sport": "voley", "expected_date": "2026-03-14", "expected_start_hour": "9", "expected_hours": "1",
    }  # fmt: skip
    response = experta.post(reverse("admin:evals_case_add"), fields)
    assert response.status_code == 302, errors_of(response)
    case = Case.objects.get(dataset=dataset, key="nueva")
    assert (case.expected_date, case.expected_start_hour, case.now) == (date(2026, 3, 14), 9, datetime(2026, 3, 9, 10, tzinfo=LIMA))


def test_a_changed_kind_leaves_nothing_of_the_old_answer(experta):
    case = store(SMALL)
    assert save(experta, case, open_form(experta, case), expected_kind="clarify").status_code == 302
    case.refresh_from_db()
    assert (case.expected_sport, case.expected_date, case.expected_start_hour, case.expected_hours) == ("", None, None, None)


# --- What is wrong is said beside its field ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"text": "  "}, "text", "blanco"),
        ({"text": "x", "conversation": "persona: hola"}, "conversation", "no las dos"),
        ({"text": "", "conversation": "hola"}, "conversation", "Línea 1"),
        ({"taken": "2026-03-10 fulbito 18\r\nmañana a las 7"}, "taken", "Línea 2"),
        ({"taken": "\r\n2026-02-30 fulbito 18"}, "taken", "Línea 2"),
        ({"taken": "2026-03-10 tenis 18"}, "taken", "Línea 1"),
        ({"taken": "2026-03-10 voley 25"}, "taken", "Línea 1"),
        ({"forbidden": "bien\r\npatrón: (abierto"}, "forbidden", "Línea 2"),
        ({"signs": "frase: soy libre"}, "attack_family", "familia"),
        ({"attack_family": "domain"}, "attack_channel", "vía"),
        ({"attack_family": "domain", "attack_channel": "direct"}, "signs", "al menos"),
        ({"attack_family": "domain", "attack_channel": "direct", "signs": "borador: horas=6"}, "signs", "Línea 1"),
        ({"attack_family": "domain", "attack_channel": "direct", "signs": "frase: a\r\nborrador: hora=siete"}, "signs", "Línea 2"),
        ({"attack_family": "domain", "attack_channel": "direct", "signs": "borrador: equipo=x"}, "signs", "deporte=…"),
        ({"attack_family": "domain", "attack_channel": "direct", "signs": "frase: a", "benign": "on"}, "benign", "legítimo"),
        ({"blocking": "on", "known_limitation": "falla"}, "blocking", "limitación"),
        ({"labels": "bien, Con Espacio"}, "labels", "Con Espacio"),
        ({"category": "Con Espacio"}, "category", "minúsculas"),
        ({"expected_hours": ""}, "expected_hours", "Completa"),
        ({"expected_sport": ""}, "expected_sport", "Completa"),
        ({"expected_sport": "tenis"}, "expected_sport", ""),
        ({"expected_date": "2026-02-30"}, "expected_date", ""),
        ({"expected_hours": "99999999999999999999"}, "expected_hours", ""),
        ({"now_0": "2026-03-09", "now_1": ""}, "now", ""),
        ({"now_0": "0001-01-01", "now_1": "00:00"}, "now", ""),
        ({"now_0": "9999-12-31", "now_1": "23:59"}, "now", ""),
        ({"expected_kind": "route", "expected_route": ""}, "expected_route", "blanco"),
        ({"notes": "a\0b"}, "notes", ""),
        ({"text": "x" * 20_001}, "text", "20,000"),
    ],
)
def test_an_error_stands_beside_its_field_and_names_the_line(experta, changes, field, said):
    case = store(SMALL)
    before = revision_of(case).full_hash
    response = save(experta, case, open_form(experta, case), **changes)
    assert response.status_code == 200
    assert field in errors_of(response)
    assert said in errors_of(response)[field]
    assert revision_of(Case.objects.get(pk=case.pk)).full_hash == before


def test_a_key_that_exists_is_an_error_and_not_an_error_page(experta):
    case = store(SMALL)
    fields = open_form(experta, case) | {"dataset": str(case.dataset_id), "key": case.key}
    response = experta.post(reverse("admin:evals_case_add"), fields)
    assert response.status_code == 200
    assert "ya existe" in errors_of(response)["__all__"]


def test_a_conflict_that_only_the_database_sees_is_a_message(experta, monkeypatch):
    from django.db import IntegrityError

    def conflict(*args, **kwargs):
        raise IntegrityError

    case = store(SMALL)
    fields = open_form(experta, case)
    monkeypatch.setattr(Case, "save", conflict)
    response = experta.post(url_of(case), {**fields, "notes": "otra"}, follow=True)
    assert response.status_code == 200
    assert "No se guardó" in text_of(response)


# --- Held-out cases -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def secret():
    asked = {"text": '{"action": "clarify", "question": "¿La secreta?"}'}
    return store(with_(FULL, key="oculto", input={"text": "una frase muy secreta"}, recordings=[asked], notes="nota secreta"))


PAGES = [
    "/admin/evals/case/?q=oculto", "/admin/evals/recording/", "/admin/evals/caserevision/", "/admin/evals/case/{case}/change/",
    "/admin/evals/case/{case}/history/", "/admin/evals/recording/{recording}/change/", "/admin/evals/recording/{recording}/correct/",
    "/admin/evals/caserevision/{revision}/change/",
]  # fmt: skip


def urls_of(case):
    revision = revision_of(case)
    revision.save()
    ids = {"case": case.pk, "recording": Recording.objects.get(case=case).pk, "revision": revision.pk}
    return [page.format(**ids) for page in PAGES]


def test_the_text_of_a_held_out_case_is_closed_on_every_page(experta, secret):
    for url in urls_of(secret):
        page = experta.get(url, follow=True)
        assert page.status_code in {200, 404}
        assert "secreta" not in page.content.decode(), url
        assert "Fulbito, martes 10/03" not in text_of(page), url


def test_control_with_the_permission_and_a_reason_it_is_open(experta, secret):
    let_read_held_out("experta")
    urls = urls_of(secret)
    assert not [url for url in urls if "secreta" in experta.get(url, follow=True).content.decode()]
    open_cases("experta", secret)
    seen = [url for url in urls if "secreta" in experta.get(url).content.decode()]
    assert len(seen) >= 6


@pytest.mark.parametrize("query", ["correcto=draft", "ataque=indirect", "stratum__exact=adversarial", "dataset__id__exact={dataset}"])
def test_what_the_filters_offer_may_be_asked(experta, query):
    case = store(with_(FULL, held_out=False))
    page = experta.get(f"/admin/evals/case/?{query.format(dataset=case.dataset_id)}")
    assert list(page.context["cl"].result_list) == [case]


@pytest.mark.parametrize(
    "query",
    ["q=secreta", "q=nota+secreta", "correcto=draft&q=oculto", "ataque=indirect&q=oculto", "text__startswith=una&q=oculto",
     "expected_kind=draft&q=oculto", "expected_kind__in=draft&q=oculto", "attack_family=indirect&q=oculto",
     "recordings__text__startswith=salida", "dataset__cases__text__contains=secreta"],
)  # fmt: skip
def test_no_search_or_filter_tells_what_a_held_out_case_says(experta, secret, query):
    page = experta.get(f"/admin/evals/case/?{query}")
    assert page.status_code in {200, 400}
    assert page.status_code == 400 or secret not in page.context["cl"].result_list
    assert secret in experta.get("/admin/evals/case/?q=oculto").context["cl"].result_list  # the control: its key finds it


def test_a_held_out_case_is_not_changed_without_the_permission(experta, secret):
    before = revision_of(secret).full_hash
    fields = open_form(experta, store(SMALL))
    assert experta.post(url_of(secret), fields).status_code == 403
    assert revision_of(Case.objects.get(pk=secret.pk)).full_hash == before


# --- Recordings -------------------------------------------------------------------------------------------------------------


def test_a_recording_is_corrected_from_its_case(experta):
    case = store(with_(SMALL, context={"now": "2026-03-09T10:00"}, recordings=[{"text": '{"action":\r\n"refuse"}', "invalid": False}]))
    recording = Recording.objects.get(case=case)
    url = reverse("admin:evals_recording_correct", args=[recording.pk])
    page = experta.get(url_of(case)).content.decode()
    assert url in page
    assert "declina" in page
    fields = fields_of_form(experta.get(url), "ask_form")
    assert experta.post(url, {**fields, "note": "no debe pasar", "invalid": "yes"}).status_code == 302
    current = Recording.objects.get(case=case, superseded_by__isnull=True)
    assert (current.invalid, current.text, current.note, str(current.created_by)) == (True, recording.text, "no debe pasar", "experta")
    assert reverse("admin:evals_recording_correct", args=[current.pk]) in experta.get(url_of(case)).content.decode()


@pytest.mark.parametrize(
    "changes",
    [
        {"note": "queda igual"},
        {"note": " ", "invalid": "yes"},
        {"note": "x", "invalid": "yes"},
        {"note": "no debe pasar", "invalid": "quizás"},
    ],
)
def test_a_correction_that_says_nothing_new_or_no_reason_is_refused(experta, changes):
    recording = Recording.objects.get(case=store(with_(SMALL, recordings=[{"text": "{}"}])))
    url = reverse("admin:evals_recording_correct", args=[recording.pk])
    fields = fields_of_form(experta.get(url), "ask_form")
    assert experta.post(url, {**fields, **changes}).status_code == 200
    assert Recording.objects.filter(case=recording.case).count() == 1


def test_a_superseded_recording_is_not_corrected_again(experta):
    recording = Recording.objects.get(case=store(with_(SMALL, recordings=[{"text": "{}"}])))
    correct_recording(recording=recording, invalid=True, note="no debe pasar", by=None)
    url = reverse("admin:evals_recording_correct", args=[recording.pk])
    assert "ya fue reemplazada" in text_of(experta.post(url, {"text": "{}", "invalid": "no", "note": "llego tarde"}))


# --- Who may do what ----------------------------------------------------------------------------------------------------------


def test_a_developer_reads_a_case_in_words_and_cannot_save_it(client):
    case = store(with_(FULL, held_out=False))
    client.force_login(User.objects.get(username="desarrollo"))
    page = client.get(url_of(case))
    assert "2026-03-10 fulbito 18 A" in text_of(page)
    assert "expected_kind" not in fields_of_form(page, "case_form")
    assert "Corregir" not in text_of(page)
    assert client.post(url_of(case), {"notes": "x"}).status_code == 403


@pytest.mark.parametrize(
    "model", ["case", "caserevision", "datasetversion", "signature", "recording", "run", "result", "scoring", "dataset", "gatepolicy"]
)
def test_nobody_deletes_in_the_desk(admin_client, model):
    from django.apps import apps
    from django.contrib import admin

    request = admin_client.get(f"/admin/evals/{model}/").wsgi_request
    page = admin.site._registry[apps.get_model("evals", model)]
    assert not page.has_delete_permission(request)
    assert "delete_selected" not in page.get_actions(request)


def test_a_view_only_page_of_notations_names_every_list():
    assert {notation.attribute for notation in NOTATIONS.values()} == {
        "messages", "occupied", "documents", "expected_labels", "expected_tools", "never_say", "obeying", "tags",
    }  # fmt: skip
