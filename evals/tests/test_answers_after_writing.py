"""The exam is written before the student is seen: no output of a run is on a case until a person has saved what is right."""

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile

from evals.models import Case, Recording
from evals.tests.desk import draft_output, draft_row, finished_run, let_read_held_out, make_version, open_cases
from evals.tests.rendered import fields_of_form, text_of

pytestmark = pytest.mark.django_db
ASKED = '{"action":"clarify","question":"¿Le sirve la losa violeta?"}'
ANSWER = "losa violeta"


@pytest.fixture
def run():
    """A run over three cases; nobody has saved what is right for the first, as when a program imported it."""
    rows = [draft_row("uno", ASKED), draft_row("dos", draft_output()), draft_row("tres", ASKED, held_out=True)]
    finished = finished_run(make_version(rows), purpose="release")
    Case.objects.filter(key="uno").update(answer_written_at=None)
    return finished


def url_of(key, page="change"):
    return f"/admin/evals/case/{Case.objects.get(key=key).pk}/{page}/"


def save(client, key, **changes):
    return client.post(url_of(key), fields_of_form(client.get(url_of(key)), "case_form") | changes)


def test_before_the_first_save_no_output_is_in_the_page(experta, run):
    page = experta.get(url_of("uno"))
    assert ANSWER not in page.content.decode()
    assert "clarify" not in fields_of_form(page, "case_form").values()
    assert "Se muestra cuando una persona haya guardado lo correcto" in text_of(page)
    assert f"/recording/{Recording.objects.get(case__key='uno').pk}/" not in page.content.decode()


def test_nor_in_a_refused_save_the_history_or_the_preview(experta, run):
    fields = fields_of_form(experta.get(url_of("uno")), "case_form")
    refused = experta.post(url_of("uno"), fields | {"category": "Con Espacio"})
    assert refused.status_code == 200
    for page in (refused, experta.get(url_of("uno", "history")), experta.post(url_of("uno", "preview"), fields)):
        assert page.status_code == 200
        assert ANSWER not in page.content.decode()


def test_after_the_first_save_each_answer_stands_beside_the_form_with_its_grade(experta, run):
    assert save(experta, "uno").status_code == 302  # to save what is there is to say that it is right
    page = experta.get(url_of("uno"))
    assert ANSWER in text_of(page)
    assert "incorrecto pregunta: ¿Le sirve la losa violeta?" in text_of(page)
    assert f'href="/admin/evals/result/{run.results.get(revision__case__key="uno").pk}/change/"' in page.content.decode()
    assert "correcto Fulbito, martes 10/03, de 19 a 20 h" in text_of(experta.get(url_of("dos")))


def test_control_without_the_rule_the_answer_would_be_there(experta, run, monkeypatch):
    for module in ("case_results", "cases"):
        monkeypatch.setattr(f"evals.admin.{module}.was_written", lambda case: True)
    assert ANSWER in experta.get(url_of("uno")).content.decode()


def test_an_answer_to_an_older_question_says_so(experta, run):
    assert "entonces el caso decía otra cosa" not in text_of(experta.get(url_of("dos")))
    assert save(experta, "dos", expected_start_hour="20", reason="Era a las ocho.").status_code == 302
    assert "entonces el caso decía otra cosa" in text_of(experta.get(url_of("dos")))


def test_answers_to_a_held_out_case_are_for_those_who_may_read_it(experta, run):
    assert ANSWER not in experta.get(url_of("tres")).content.decode()
    let_read_held_out("experta")
    assert ANSWER not in experta.get(url_of("tres")).content.decode()
    open_cases("experta", Case.objects.get(key="tres"))
    assert ANSWER in experta.get(url_of("tres")).content.decode()


def test_a_case_that_is_open_again_does_not_tell_what_was_answered_while_it_was_held_out(experta, run):
    Case.objects.filter(key="tres").update(held_out=False)
    assert ANSWER not in text_of(experta.get(url_of("tres"))).partition("Grabaciones vigentes")[0]


def test_a_refused_form_shows_the_answers_again(experta, run):
    """Without a date the case that the form carries cannot be compared; what is stored can."""
    fields = fields_of_form(experta.get(url_of("dos")), "case_form")
    refused = experta.post(url_of("dos"), fields | {"category": "", "expected_date": ""})
    assert refused.status_code == 200
    assert "Lo que respondieron las corridas" in text_of(refused)


# --- Other pages of the admin -----------------------------------------------------------------------------------------------


def pages_with_outputs(run):
    result, recording = run.results.get(revision__case__key="uno"), Recording.objects.get(case__key="uno")
    lists = [f"/admin/evals/result/?run={run.pk}", "/admin/evals/result/", "/admin/evals/recording/", "/admin/evals/recording/?q=uno"]
    return [*lists, *(f"/admin/evals/{page}/change/" for page in (f"run/{run.pk}", f"result/{result.pk}", f"recording/{recording.pk}"))]


def test_lists_and_pages_hide_what_came_out_until_what_is_right_is_saved(experta, run):
    waits = "se ve cuando una persona haya guardado lo correcto del caso"
    for url in pages_with_outputs(run):
        page = experta.get(url)
        assert page.status_code == 200, url
        assert ANSWER not in page.content.decode(), url
        assert waits in text_of(page).lower(), url
    assert save(experta, "uno").status_code == 302
    for url in pages_with_outputs(run):
        page = experta.get(url)
        assert ANSWER in page.content.decode(), url
        assert waits not in text_of(page).lower(), url


def test_filters_and_search_do_not_find_it_either(experta, run):
    found = {url: text_of(experta.get(url)) for url in ("/admin/evals/result/?salio=clarify", "/admin/evals/recording/?q=violeta")}
    assert [url for url, text in found.items() if "0 result" not in text and "0 grabaci" not in text] == []
    assert save(experta, "uno").status_code == 302
    for url in found:
        assert "uno" in text_of(experta.get(url)), url


def test_an_output_that_waits_is_not_corrected_before_what_is_right(experta, run):
    recording = Recording.objects.get(case__key="uno")
    url = f"/admin/evals/recording/{recording.pk}/correct/"
    page = experta.get(url, follow=True)
    assert page.redirect_chain[0][0] == url_of("uno")
    assert "Primero guarda lo correcto de «uno»" in text_of(page)
    assert ANSWER not in page.content.decode()
    assert save(experta, "uno").status_code == 302
    assert experta.get(url).status_code == 200


def test_who_wrote_a_recording_by_hand_reads_and_corrects_their_own(experta, run):
    case = Case.objects.get(key="uno")
    own = Recording.objects.create(case=case, set_name="mia", text=ASKED, origin="hand", created_by=User.objects.get(username="experta"))
    bought = {"model": "m", "prompt_hash": "h", "date": "2026-03-01"}
    other = Recording.objects.create(case=case, set_name="comprada", text=ASKED, origin=bought, created_by=own.created_by)
    for recording, shown in ((own, True), (other, False)):
        assert (ANSWER in experta.get(f"/admin/evals/recording/{recording.pk}/change/").content.decode()) is shown
        assert experta.get(f"/admin/evals/recording/{recording.pk}/correct/").status_code == (200 if shown else 302)
    assert text_of(experta.get("/admin/evals/recording/?q=violeta")).count(ANSWER) == 1


# --- Files ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_an_exported_file_has_it_only_then_and_brings_nothing_back_before(experta, run, kind):
    Case.objects.update(status=Case.Status.PROPOSED)
    url = f"/admin/evals/dataset/{run.version.dataset_id}/"
    asked = {"format": kind, "proposed": "on"}
    before = experta.post(f"{url}export/", asked).content
    assert ANSWER not in before.decode()
    assert "startHour" in before.decode()  # the recording of another case leaves
    file = SimpleUploadedFile(f"casos.{kind}", before)
    assert "Nada que cambiar: 2 iguales" in text_of(experta.post(f"{url}import/", {"file": file}, follow=True))
    assert save(experta, "uno").status_code == 302
    assert ANSWER in experta.post(f"{url}export/", asked).content.decode()


def test_an_import_s_preview_does_not_tell_the_output_that_it_would_replace(experta, run):
    url = f"/admin/evals/dataset/{run.version.dataset_id}/import/"
    file = SimpleUploadedFile("casos.csv", "clave,grabación base: salida\nuno,otra\ndos,otra\n".encode())
    page = experta.post(url, {"file": file}, follow=True)
    assert "grabación base: salida se ve cuando una persona haya guardado lo correcto del caso otra" in text_of(page)
    assert ANSWER not in page.content.decode()
    assert "startHour" in page.content.decode()  # what the other case's recording says
