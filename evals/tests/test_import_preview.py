"""An import in the admin: what is shown is what is saved, all of it or nothing."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from evals.datasets.spreadsheet import write_csv, write_xlsx
from evals.datasets.spreadsheet.template import ADVICE
from evals.management.demo import EXPERTS, SEEDS, seed_people
from evals.models import Case, Dataset, PendingImport, Recording
from evals.selectors.imports import preview_import
from evals.services import Change, ReasonMissing, confirm_import, keep_file, open_held_out
from evals.tasks import forget_imports
from evals.tests.awkward_files import FILES, make_csv
from evals.tests.commands import run_command
from evals.tests.desk import draft_row, make_dataset, make_version
from evals.tests.rendered import fields_of_form, text_of
from evals.tests.test_admin_lists import SVG, XSS

pytestmark = pytest.mark.django_db
REASON = "lo revisamos con la dueña"


@pytest.fixture
def expert(client: Client) -> Client:
    """Somebody with the experts' permissions and no other."""
    seed_people(with_passwords=False)
    client.force_login(User.objects.get(username="experta"))
    return client


def row(key: str, **fields: Any) -> dict[str, Any]:
    return draft_row(key, **fields)


def empty_dataset(**fields: str) -> Dataset:
    owner, _ = User.objects.get_or_create(username="duena")
    return Dataset.objects.create(slug="examen", name="Examen", owner=owner, **fields)


def url(dataset: Dataset, *rest: object) -> str:
    return "/".join(["/admin/evals/dataset", str(dataset.pk), *map(str, rest), ""])


def upload(client: Client, dataset: Dataset, content: bytes, name: str = "casos.csv") -> Any:
    """The page of the preview."""
    return client.post(url(dataset, "import"), {"file": SimpleUploadedFile(name, content)}, follow=True)


def confirm(client: Client, page: Any, **changes: str) -> Any:
    return client.post(page.redirect_chain[-1][0], fields_of_form(page, "confirm_form") | {"reason": REASON} | changes, follow=True)


def state_of(dataset: Dataset) -> dict[str, str]:
    return dict(dataset.cases.values_list("key", "status"))


# --- Preview and confirm ----------------------------------------------------------------------------------------------------


def test_it_shows_what_is_added_what_changes_cell_by_cell_and_what_stays(expert: Client) -> None:
    dataset = make_dataset([row("uno"), row("dos"), row("tres")])
    page = upload(expert, dataset, write_csv([row("uno", notes="ojo"), row("dos"), row("cuatro")], held_out=0))
    said = text_of(page)
    assert "1 nuevo · 1 cambia · 1 igual" in said
    assert "uno fila 2 Columna Antes Después notas (nada) ojo" in said
    assert "cuatro fulbito mañana a las 7 de la noche Fulbito, martes 10/03, de 19 a 20 h" in said
    assert state_of(dataset) == {"uno": "approved", "dos": "approved", "tres": "approved"}
    assert not Case.objects.exclude(notes="").exists()


def test_confirming_saves_what_was_shown_with_its_reason_and_retires_nothing(expert: Client) -> None:
    dataset = make_dataset([row("uno"), row("dos"), row("tres")])
    page = confirm(expert, upload(expert, dataset, write_csv([row("uno", notes="ojo"), row("cuatro")], held_out=0)))
    assert "1 nuevos, 1 cambiados, 0 iguales" in text_of(page)
    assert state_of(dataset) == {"uno": "proposed", "dos": "approved", "tres": "approved", "cuatro": "proposed"}
    line = Case.objects.get(key="uno").history.first()
    assert (line.history_change_reason, line.history_user.username, line.notes) == (REASON, "experta", "ojo")
    assert not PendingImport.objects.exists()


def test_who_may_approve_can_approve_what_comes_in(expert: Client) -> None:
    dataset = make_dataset([row("uno")])
    confirm(expert, upload(expert, dataset, write_csv([row("uno", notes="ojo"), row("dos")], held_out=0)), approved="on")
    assert state_of(dataset) == {"uno": "approved", "dos": "approved"}


def test_what_was_proposed_and_changes_is_approved_with_it(expert: Client) -> None:
    dataset = make_dataset([row("uno")])
    Case.objects.update(status=Case.Status.PROPOSED)
    confirm(expert, upload(expert, dataset, write_csv([row("uno", notes="ojo")], held_out=0)), approved="on")
    assert state_of(dataset) == {"uno": "approved"}


def test_where_another_person_approves_the_box_is_not_there_and_posting_it_does_nothing(expert: Client) -> None:
    dataset = empty_dataset()
    Dataset.objects.update(second_person_approves=True)
    page = upload(expert, dataset, write_csv([row("uno")], held_out=0))
    assert "approved" not in fields_of_form(page, "confirm_form")
    confirm(expert, page, approved="on")
    assert state_of(dataset) == {"uno": "proposed"}


def test_a_reason_is_needed_and_the_preview_stays(expert: Client) -> None:
    dataset = empty_dataset()
    page = confirm(expert, upload(expert, dataset, write_csv([row("uno")], held_out=0)), reason="x")
    assert "escribe en una frase por qué" in text_of(page)
    assert "1 nuevo" in text_of(page)
    assert state_of(dataset) == {}


def test_when_the_dataset_changed_meanwhile_the_new_preview_is_shown_and_nothing_is_saved(expert: Client) -> None:
    dataset = make_dataset([row("uno")])
    page = upload(expert, dataset, write_csv([row("uno", notes="ojo")], held_out=0))
    Case.objects.update(notes="de otra persona")
    again = confirm(expert, page)
    assert "El dataset cambió mientras mirabas" in text_of(again)
    assert "notas de otra persona ojo" in text_of(again)
    assert Case.objects.get().notes == "de otra persona"
    done: Any = expert.post(page.redirect_chain[-1][0], fields_of_form(again, "confirm_form"), follow=True)
    assert "1 cambiados" in text_of(done)


def test_control_what_the_form_says_it_showed_is_compared(expert: Client) -> None:
    dataset = make_dataset([row("uno")])
    page = upload(expert, dataset, write_csv([row("uno", notes="ojo")], held_out=0))
    assert "cambió mientras" in text_of(confirm(expert, page, seen="otra cosa"))
    assert "1 cambiados" in text_of(confirm(expert, page))


def test_confirming_twice_imports_once(expert: Client) -> None:
    dataset = empty_dataset()
    page = upload(expert, dataset, write_csv([row("uno")], held_out=0))
    confirm(expert, page)
    assert "súbelo otra vez" in text_of(confirm(expert, page))
    assert Case.objects.get().history.count() == 1


def test_a_kept_file_is_for_who_brought_it_and_for_an_hour(expert: Client, admin_client: Client) -> None:
    dataset = empty_dataset()
    page = upload(expert, dataset, write_csv([row("uno")], held_out=0))
    address = page.redirect_chain[-1][0]
    assert admin_client.get(address).status_code == 302
    assert expert.get(address).status_code == 200
    PendingImport.objects.update(created_at=timezone.now() - timedelta(minutes=61))
    assert expert.get(address).status_code == 302
    upload(admin_client, dataset, b"clave\r\n")
    assert PendingImport.objects.count() == 1


def test_a_file_that_nobody_confirms_is_deleted_after_an_hour(expert: Client) -> None:
    upload(expert, empty_dataset(), write_csv([row("uno")], held_out=0))
    forget_imports()
    assert PendingImport.objects.exists()
    PendingImport.objects.update(created_at=timezone.now() - timedelta(minutes=61))
    forget_imports()
    assert not PendingImport.objects.exists()


def test_a_file_that_changed_on_the_way_is_not_imported(expert: Client) -> None:
    dataset = empty_dataset()
    page = upload(expert, dataset, write_csv([row("uno")], held_out=0))
    PendingImport.objects.update(content=write_csv([row("otro")], held_out=0))
    confirm(expert, page)
    assert state_of(dataset) == {}


def test_nothing_to_change_asks_for_nothing(expert: Client) -> None:
    page = upload(expert, make_dataset([row("uno")]), write_csv([row("uno")], held_out=0))
    assert "Nada que cambiar: 1 igual" in text_of(page)
    assert fields_of_form(page, "confirm_form") == {}


def test_a_case_of_a_signed_version_changes_with_the_reason_of_the_import(expert: Client) -> None:
    version = make_version([row("uno")])
    confirm(expert, upload(expert, version.dataset, write_csv([row("uno", notes="ojo")], held_out=0)))
    assert Case.objects.get().notes == "ojo"


def test_a_retired_case_that_the_file_changes_stays_retired_and_it_is_said(expert: Client) -> None:
    dataset = make_dataset([row("uno")])
    Case.objects.update(status=Case.Status.RETIRED)
    page = upload(expert, dataset, write_csv([row("uno", notes="ojo")], held_out=0))
    assert "1 de los que cambian está retirado, y así se queda." in text_of(page)
    confirm(expert, page, approved="on")
    assert state_of(dataset) == {"uno": "retired"}


def test_an_export_reaches_the_same_counts_by_preview_and_by_import() -> None:
    """Two pieces of code decide what is a change: they agree on every shipped dataset, and after changes."""
    for slug in ("kit", "reservas", "seguridad"):
        rows = [json.loads(line) for line in (SEEDS / f"{slug}.jsonl").read_text("utf-8").splitlines()]
        dataset = make_dataset(rows, slug=slug)
        changed = [*({**each, "notes": "otra"} for each in rows[:3]), *rows[3:], {**rows[0], "key": "nuevo"}]
        for content in (write_csv(rows, held_out=0), write_xlsx(rows, held_out=0)):
            preview = preview_import(dataset, content, name="a", by=None, now=timezone.now())
            assert (preview.read.problems, len(preview.added), len(preview.changed), preview.unchanged) == ([], 0, 0, len(rows))
        by, now = User.objects.get(username="duena"), timezone.now()
        kept = keep_file(dataset=dataset, content=write_csv(changed, held_out=0), name="a.csv", by=by, now=now)
        shown = preview_import(dataset, bytes(kept.content), name="a.csv", by=None, now=timezone.now())
        change = Change(by, now, REASON)
        summary = confirm_import(kept=kept, seen=shown.digest, change=change, approved=True)
        assert summary == (len(shown.added), len(shown.changed), shown.unchanged) == (1, 3, len(rows) - 3)


def test_a_service_call_without_a_reason_is_refused() -> None:
    dataset, now = empty_dataset(), timezone.now()
    by = User.objects.get(username="duena")
    kept = keep_file(dataset=dataset, content=write_csv([row("uno")], held_out=0), name="a", by=by, now=now)
    with pytest.raises(ReasonMissing):
        confirm_import(kept=kept, seen="", change=Change(by, now), approved=True)


def test_a_preview_and_an_import_take_as_many_queries_for_a_thousand_rows_as_for_twenty(expert: Client) -> None:
    counted = []
    for count in (20, 1_000):
        dataset = make_dataset([row(f"caso-{number}") for number in range(count)], slug=f"grande-{count}")
        content = write_csv([row(f"caso-{number}", notes="ojo") for number in range(count)], held_out=0)
        with CaptureQueriesContext(connection) as queries:
            page = upload(expert, dataset, content)
        counted.append(len(queries))
        assert f"{count:,} cambian" in text_of(page)
    assert counted[0] == counted[1] <= 30


# --- A sheet with few columns -----------------------------------------------------------------------------------------------

FOUR = "situación,lo que escribiría el cliente,respuesta correcta,lo que nunca debe decir\r\n"
MINIMAL = FOUR + (
    '2026-03-09 10:00,fulbito mañana a las 7 de la noche,"borrador: deporte=fulbito, fecha=2026-03-10, hora=19, horas=1",gratis\r\n'
    '"09/03/2026 10:00\n2026-03-10 voley 18",¿a qué hora abren?,De 7 a 22.,\r\n'
    ",y mañana?,pregunta,\r\n"
)


def test_a_draft_without_its_day_is_pointed_out_and_a_question_is_not(expert: Client) -> None:
    right = '"borrador: deporte=fulbito, fecha=2026-03-10, hora=19, horas=1"'
    content = FOUR + f",fulbito mañana a las 7,{right},\r\n2026-03-09 10:00,mañana a las 7 fulbito,{right},\r\n,y mañana?,pregunta,\r\n"
    said = text_of(upload(expert, empty_dataset(), content.encode()))
    assert "3 nuevos" in said
    assert "Filas que llenan un borrador sin decir qué día y qué hora es: 1. «Mañana» significará otra cosa en cada corrida" in said


def test_four_columns_are_enough_and_what_was_assumed_is_said(expert: Client) -> None:
    dataset = empty_dataset(target="responde-textos")
    page = upload(expert, dataset, MINIMAL.encode())
    said = text_of(page)
    for note in (
        "Filas sin clave: 3.",
        "Filas sin categoría: 3. Quedan en «por-clasificar».",
        "Filas sin estrato: 3. Quedan en «normal».",
        "Filas en que «lo correcto» no es un tipo: 1.",
    ):
        assert note in said
    confirm(expert, page)
    draft, text, question = dataset.cases.order_by("id")
    assert (draft.expected_kind, str(draft.expected_date), draft.expected_start_hour, draft.never_say) == (
        "draft", "2026-03-10", 19, [{"kind": "phrase", "text": "gratis"}],
    )  # fmt: skip
    assert (text.expected_kind, text.expected_text, text.occupied) == (
        "text",
        "De 7 a 22.",
        [{"date": "2026-03-10", "sport": "voley", "hour": 18}],
    )
    assert (question.expected_kind, question.now, question.category, question.stratum) == ("clarify", None, "por-clasificar", "happy")
    assert draft.key.startswith("fulbito-manana-a-las-7-de-la-noche-")


def test_the_same_sheet_again_changes_nothing_and_another_answer_is_a_change(expert: Client) -> None:
    dataset = empty_dataset(target="responde-textos")
    confirm(expert, upload(expert, dataset, MINIMAL.encode()))
    assert "Nada que cambiar: 3 iguales" in text_of(upload(expert, dataset, MINIMAL.encode()))
    assert "0 nuevos · 1 cambia · 2 iguales" in text_of(upload(expert, dataset, MINIMAL.replace("pregunta", "declina").encode()))


@pytest.mark.parametrize(
    ("situation", "right", "place", "said"),
    [
        (
            "2026-03-09",
            "pregunta",
            "A «situación»",
            "Falta la hora en que la persona escribe. Ponla junto a la fecha, así: 2026-03-09 10:00",
        ),
        ("el lunes", "pregunta", "A «situación»", "No se entiende la fecha y hora"),
        ("2026-03-09 10:00\n2026-03-10 fulbito 18\n2026-03-10 futbol 19", "pregunta", "A «situación»", "En horas ocupadas: Línea 3: "),
        ("2026-03-09 10:00\n\nmañana", "pregunta", "A «situación»", "En horas ocupadas: Línea 3: Escribe fecha, deporte, hora"),
        ("2026-03-09 10:00", "borrador: deporte=fulbito, fecha=10 de marzo, hora=19, horas=1", "C «lo correcto»", "En fecha: "),
        ("2026-03-09 10:00", "borrador: deporte=fulbito, hora=19, horas=1", "C «lo correcto»", "En fecha: "),
    ],
)
def test_a_fault_in_a_cell_that_says_several_things_is_told_in_that_cell(situation: str, right: str, place: str, said: str) -> None:
    content = FOUR + f'"{situation}",hola,"{right}",\r\n'
    [problem] = preview_import(empty_dataset(), content.encode(), name="a.csv", by=None, now=timezone.now()).read.problems
    assert (problem.line, problem.field) == (2, place)
    assert problem.message.startswith(said)


def test_the_help_and_the_guide_say_how_a_situation_is_written() -> None:
    guide = Path("docs/guia-del-experto.md").read_text("utf-8")
    for told in (" ".join(ADVICE), guide):
        assert "2026-03-09 10:00" in told
        assert "2026-03-10 fulbito 18 Los Halcones" in told
        assert "«hoy es», «hora» y «horas" in told


def test_the_same_text_twice_in_the_same_situation_is_refused_with_both_rows() -> None:
    content = FOUR + ",hola,pregunta,\r\n,hola,declina,\r\n"
    [problem] = preview_import(empty_dataset(), content.encode(), name="a.csv", by=None, now=timezone.now()).read.problems
    assert problem.line == 3
    assert "La fila 2 y la fila 3 son el mismo caso" in problem.message


def test_a_column_that_the_sheet_does_not_have_leaves_the_case_as_it_is(expert: Client) -> None:
    dataset = make_dataset([row("uno", notes="se queda", never_say=[{"kind": "phrase", "text": "gratis"}], blocking=True)])
    page = upload(expert, dataset, b"clave,hora de inicio\r\nuno,20\r\n")
    assert "hora de inicio 19 20" in text_of(page)
    confirm(expert, page)
    case = Case.objects.get()
    assert (case.expected_start_hour, case.notes, case.blocking, len(case.never_say)) == (20, "se queda", True, 1)
    assert Recording.objects.count() == 1


def test_a_blank_cell_of_a_column_that_it_has_empties_the_field(expert: Client) -> None:
    dataset = make_dataset([row("uno", notes="se va", blocking=True)])
    confirm(expert, upload(expert, dataset, b"clave,notas,bloqueante\r\nuno,,\r\n"))
    assert (Case.objects.get().notes, Case.objects.get().blocking) == ("", False)


def test_another_kind_of_answer_takes_the_details_of_the_old_one_along(expert: Client) -> None:
    dataset = make_dataset([row("uno")])
    confirm(expert, upload(expert, dataset, b"clave,lo correcto\r\nuno,pregunta\r\n"))
    assert (Case.objects.get().expected_kind, Case.objects.get().expected_sport) == ("clarify", "")


# --- Rows without a key -------------------------------------------------------------------------------------------------------

TWO = FOUR + "2026-03-09 10:00,una canchita de fulbito mañana en la noche xfa,pregunta,\r\n2026-03-09 10:00,¿tienen pelotas?,declina,\r\n"


def test_a_corrected_row_without_a_key_is_said_to_resemble_the_case_that_the_sheet_leaves_out(expert: Client) -> None:
    dataset = empty_dataset()
    confirm(expert, upload(expert, dataset, TWO.encode()))
    key = Case.objects.get(text__startswith="una canchita").key
    page = upload(expert, dataset, TWO.replace("xfa", "porfa").encode())
    said = f"La fila 2 no tiene clave y se parece a «{key}»: si es ese caso corregido, escribe su clave; si no, entra como caso nuevo."
    assert said in text_of(page)
    assert "La fila 3" not in text_of(page)
    assert "1 nuevo" in text_of(page)
    confirm(expert, page)
    assert dataset.cases.count() == 3
    assert "se parece" not in text_of(upload(expert, dataset, TWO.encode()))  # the same rows again are the same cases
    both = TWO + "2026-03-09 10:00,una canchita de fulbito mañana en la noche plis,pregunta,\r\n"
    corrected = dataset.cases.get(text__contains="porfa").key
    assert f"se parece a «{corrected}»" in text_of(upload(expert, dataset, both.encode()))  # and not to the one that the sheet brings


def test_the_command_says_so_too(tmp_path: Path) -> None:
    dataset = empty_dataset()
    for number, content in enumerate((TWO, TWO.replace("xfa", "porfa"))):
        (tmp_path / f"{number}.csv").write_text(content, "utf-8")
    assert "se parece" not in run_command("dataset_import", "examen", str(tmp_path / "0.csv")).err
    assert "La fila 2 no tiene clave y se parece a «una-canchita" in run_command("dataset_import", "examen", str(tmp_path / "1.csv")).err
    assert dataset.cases.count() == 3


def test_rows_with_a_key_other_words_and_held_out_cases_resemble_nothing(expert: Client) -> None:
    User.objects.get(username="experta").user_permissions.add(Permission.objects.get(codename="view_held_out_text"))
    dataset = empty_dataset()
    confirm(expert, upload(expert, dataset, TWO.encode()))
    keyed = b"clave," + TWO.replace("xfa", "porfa").replace("\r\n2026", "\r\nmia,2026", 1).replace("\r\n2026", "\r\notra,2026").encode()
    other = FOUR + "2026-03-09 10:00,¿cuánto cuesta el estacionamiento?,declina,\r\n"
    for content in (keyed, other.encode()):
        page = upload(expert, dataset, content)
        assert ("nuevo" in text_of(page), "se parece" in text_of(page)) == (True, False)
    Case.objects.update(held_out=True)
    assert "se parece" not in text_of(upload(expert, dataset, TWO.replace("xfa", "porfa").encode()))


def test_a_held_out_case_gets_no_key_made_of_its_words(expert: Client) -> None:
    dataset = empty_dataset()
    rows = TWO.replace("\r\n", ",\r\n").replace("decir,", "decir,reservado").replace("pregunta,,", "pregunta,,sí")
    said = text_of(upload(expert, dataset, rows.encode()))
    assert "Todos ven la clave de un caso reservado: escribe una que no cuente lo que dice." in said
    confirm(expert, upload(expert, dataset, TWO.encode()))
    Case.objects.update(held_out=True)
    User.objects.get(username="experta").user_permissions.add(Permission.objects.get(codename="view_held_out_text"))
    assert "Todos ven la clave" not in text_of(upload(expert, dataset, rows.encode()))  # it has its key already


def test_many_that_resemble_are_counted_and_the_first_named(expert: Client) -> None:
    dataset = empty_dataset()
    texts = [f"{letter * 4} {letter * 5} {letter * 6} quiere jugar fulbito" for letter in "abcdefghijklmnopqrstuvwx"]
    confirm(expert, upload(expert, dataset, (FOUR + "".join(f",{text},pregunta,\r\n" for text in texts)).encode()))
    said = text_of(upload(expert, dataset, (FOUR + "".join(f",{text} ya,pregunta,\r\n" for text in texts)).encode()))
    assert said.count("no tiene clave y se parece a") == 20
    assert "Filas sin clave que se parecen a casos que ya existen: 24." in said


# --- Answers that the dataset's target can give -------------------------------------------------------------------------------

CAN = "Escribe uno de estos: llena un borrador, pregunta, declina, cualquier cosa menos un borrador."
PHRASE = FOUR + "2026-03-09 10:00,¿a qué hora abren?,De 7 a 22.,\r\n"
TEXT_ROW = {"expected": {"kind": "text", "text": "De 7 a 22."}, "recordings": []}


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (PHRASE.encode(), "fila 2 · C «lo correcto»"),
        (write_xlsx([row("uno", **TEXT_ROW)], held_out=0), "fila 2 · F «lo correcto»"),
        (write_csv([row("uno", expected={"kind": "route", "route": "pagos"})], held_out=0), "fila 2 · F «lo correcto»"),
        (json.dumps(row("uno", expected={"kind": "labels", "labels": ["queja"]})).encode(), "línea 1 · expected.kind"),
        (b"- vars: {text: hola}\n  assert:\n    - {type: equals, value: De 7 a 22.}\n", "prueba 1 · assert"),
    ],
)
def test_a_kind_of_answer_that_the_target_cannot_give_is_refused_in_its_place(expert: Client, content: bytes, place: str) -> None:
    dataset = empty_dataset()
    [problem] = preview_import(dataset, content, name="a", by=None, now=timezone.now()).read.problems
    assert problem.message.endswith(CAN)
    said = text_of(upload(expert, dataset, content))
    assert place in said
    assert "y el sistema evaluado no responde así" in said
    elsewhere = Dataset.objects.create(slug="textos", name="Textos", target="responde-textos")
    assert (
        preview_import(elsewhere, content, name="a", by=None, now=timezone.now()).read.problems == []
    )  # the control: nobody knows what it can


@pytest.mark.parametrize("write", [write_csv, write_xlsx])
def test_a_case_that_has_such_an_answer_already_comes_back_as_it_is_and_can_be_mended(write: Any) -> None:
    dataset = make_dataset([row("uno", **TEXT_ROW)])
    same = preview_import(dataset, write([row("uno", **TEXT_ROW)], held_out=0), name="a", by=None, now=timezone.now())
    assert (same.read.problems, same.unchanged) == ([], 1)
    mended = preview_import(dataset, write([row("uno", notes="ojo", **TEXT_ROW)], held_out=0), name="a", by=None, now=timezone.now())
    assert (mended.read.problems, len(mended.changed)) == ([], 1)
    other = preview_import(
        dataset, write([row("uno", expected={"kind": "route", "route": "x"})], held_out=0), name="a", by=None, now=timezone.now()
    )
    assert len(other.read.problems) == 1


# --- Held-out cases ---------------------------------------------------------------------------------------------------------


def test_who_may_not_read_held_out_cases_neither_sees_nor_changes_them(expert: Client) -> None:
    dataset = make_dataset([row("secreto", held_out=True, notes="canario-7"), row("uno")])
    page = upload(expert, dataset, "clave,notas\r\nsecreto,mía\r\n".encode())
    assert "fila 2 · «secreto» Es un caso reservado" in text_of(page)
    assert b"canario-7" not in page.content
    assert Case.objects.get(key="secreto").notes == "canario-7"


def test_who_may_read_them_changes_only_what_they_opened_and_guesses_nothing(expert: Client) -> None:
    """A file with one guess in it would be told «igual» or «cambia», field by field, without an opening."""
    by = User.objects.get(username="experta")
    by.user_permissions.add(Permission.objects.get(codename="view_held_out_text"))
    dataset = make_dataset([row("secreto", held_out=True, notes="canario-7"), row("uno")])
    told = [text_of(upload(expert, dataset, f"clave,hora de inicio\r\nsecreto,{hour}\r\n".encode())) for hour in (18, 19, 20)]
    assert all("fila 2 · «secreto» Es un caso reservado y no lo tienes abierto." in page for page in told)
    assert not [page for page in told if "igual" in page or "cambia" in page.split("Importar")[-1]]
    content = "clave,notas\r\nsecreto,mía\r\n".encode()
    open_held_out(cases=Case.objects.filter(key="secreto"), change=Change(by, timezone.now(), "para corregirlo"))
    page = upload(expert, dataset, content)
    assert b"canario-7" in page.content
    confirm(expert, page)
    assert Case.objects.get(key="secreto").notes == "mía"


def test_what_was_held_out_between_the_preview_and_its_confirmation_is_not_changed(expert: Client) -> None:
    dataset = make_dataset([row("uno")])
    page = upload(expert, dataset, "clave,notas\r\nuno,mía\r\n".encode())
    Case.objects.update(held_out=True)
    assert "no lo tienes abierto" in text_of(confirm(expert, page))
    assert Case.objects.get().notes == ""


def test_a_new_held_out_case_is_counted_and_not_shown_to_who_may_not_read_it(expert: Client) -> None:
    page = upload(expert, empty_dataset(), write_csv([row("secreto", held_out=True, input={"text": "canario-8"})], held_out=0))
    assert "1 nuevo" in text_of(page)
    assert b"canario-8" not in page.content


# --- What may go wrong ------------------------------------------------------------------------------------------------------


def test_no_awkward_file_is_an_error_page_and_none_saves_anything(expert: Client) -> None:
    dataset = empty_dataset()
    for file in FILES:
        page = upload(expert, dataset, file.content, file.file)
        assert page.status_code == 200, file.name
        said = text_of(page)
        assert ("No se puede importar" in said) == bool(file.refused), file.name
        assert all(" ".join(words.split()) in said for words in file.refused), (file.name, said)
    assert state_of(dataset) == {}


def test_s13_two_rows_with_one_key_are_refused_with_both_numbers(expert: Client) -> None:
    [file] = [file for file in FILES if file.name == "S13: a key twice"]
    said = text_of(upload(expert, empty_dataset(), file.content))
    assert "fila 4 · A «clave» La fila 3 y la fila 4" in said


def test_s08_what_is_in_the_file_stays_text(expert: Client) -> None:
    bad = XSS.replace('"', '""')
    lines = make_csv(("malo", "2026-03-09", "10:00", f'"{bad}{SVG}"', "pregunta", "", "", "", "", f'"{bad}"'))
    page = upload(expert, make_dataset([row("uno", notes=SVG)]), lines.encode(), name=f"{SVG}.csv")
    assert page.status_code == 200
    assert "<img" not in page.content.decode().replace('<img src="/static', "")
    assert "<svg/onload" not in page.content.decode()
    good = make_csv(("bueno", "2026-03-09", "10:00", f'"{bad}{SVG}"', "pregunta", "", "", "", "", "clara"))
    page = upload(expert, Dataset.objects.get(), good.encode(), name=f"{SVG}.csv")
    assert XSS + SVG in text_of(page)
    assert "<svg/onload" not in page.content.decode()
    assert "<svg/onload" not in confirm(expert, page).content.decode()


@pytest.mark.parametrize("taken", ["add_case", "change_case"])
def test_it_takes_both_permissions(expert: Client, taken: str) -> None:
    dataset = empty_dataset()
    page = upload(expert, dataset, write_csv([row("uno")], held_out=0))
    User.objects.get(username="experta").groups.get(name=EXPERTS).permissions.remove(Permission.objects.get(codename=taken))
    assert expert.get(url(dataset, "import")).status_code == 403
    assert expert.get(page.redirect_chain[-1][0]).status_code == 403
    assert expert.post(page.redirect_chain[-1][0], {"reason": REASON}).status_code == 403
    assert "Importar casos" not in expert.get(url(dataset, "change")).content.decode()


def test_engineers_may_not_import(client: Client) -> None:
    seed_people(with_passwords=False)
    client.force_login(User.objects.get(username="desarrollo"))
    assert client.get(url(empty_dataset(), "import")).status_code == 403


def test_a_file_that_is_too_big_is_refused_by_size(expert: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evals.admin.spreadsheets.MAX_BYTES", 10)
    page = upload(expert, empty_dataset(), b"x" * 11)
    assert "Divídelo" in text_of(page)
    assert not PendingImport.objects.exists()
