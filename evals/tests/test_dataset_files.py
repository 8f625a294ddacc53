"""Spreadsheets through the commands and out of the admin: formats, the template, and what stays at home."""

import io
import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from evals.datasets.spreadsheet import read_cases, write_csv, write_template, write_xlsx
from evals.datasets.spreadsheet.columns import COLUMNS
from evals.datasets.spreadsheet.template import CHOICES, EXAMPLE, EXAMPLE_KEY, HELP
from evals.management.demo import SEEDS, seed_people
from evals.models import Case, Dataset, HeldOutOpening
from evals.tests.awkward_files import make_xlsx
from evals.tests.commands import run_command
from evals.tests.desk import draft_row, make_dataset

pytestmark = pytest.mark.django_db


def write(folder: Path, content: bytes, name: str = "casos.csv") -> str:
    file = folder / name
    file.write_bytes(content)
    return str(file)


# --- Commands ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["xlsx", "csv", "jsonl"])
@pytest.mark.parametrize("slug", ["kit", "reservas", "seguridad"])
def test_every_shipped_dataset_leaves_and_comes_back_without_a_change(slug: str, kind: str, tmp_path: Path) -> None:
    seed_people(with_passwords=False)
    run_command("dataset_import", slug, str(SEEDS / f"{slug}.jsonl"), "--create", "--as", "experta", "--approve")
    file = str(tmp_path / f"salida.{kind}")
    assert run_command("dataset_export", slug, file, "--include-held-out").code == 0
    count = Case.objects.count()
    assert run_command("dataset_import", slug, file).out == f"{slug}: 0 nuevos, 0 cambiados, {count} iguales.\n"
    assert not Case.history.filter(history_type="~").exists()


def test_dry_run_says_each_cell_and_saves_nothing(tmp_path: Path) -> None:
    make_dataset([draft_row("uno"), draft_row("dos", held_out=True, notes="canario-1")])
    rows = [draft_row("uno", notes="ojo"), draft_row("dos", held_out=True, notes="canario-2"), draft_row("tres")]
    done = run_command("dataset_import", "examen", write(tmp_path, write_csv(rows, held_out=0)), "--dry-run")
    assert done.out.splitlines() == [
        "nuevo · tres",
        "cambia · uno · notas: '' → 'ojo'",
        "cambia · dos · notas: reservado",
        "Con --dry-run no se guardó nada: 1 nuevos, 2 cambiados, 0 iguales.",
    ]
    assert "Separador: coma." in done.err
    assert set(Case.objects.values_list("key", "notes")) == {("uno", ""), ("dos", "canario-1")}


def test_dry_run_of_a_dataset_that_does_not_exist_yet_makes_none(tmp_path: Path) -> None:
    done = run_command("dataset_import", "nuevo", write(tmp_path, write_csv([draft_row("uno")], held_out=0)), "--dry-run", "--create")
    assert "1 nuevos" in done.out
    assert not Dataset.objects.exists()


def test_a_bad_cell_is_told_by_row_and_column_and_leaves_with_1(tmp_path: Path) -> None:
    make_dataset([draft_row("uno")])
    done = run_command("dataset_import", "examen", write(tmp_path, b"clave,hora de inicio\nuno,tarde\n"))
    assert done.code == 1
    assert "fila 2 · B «hora de inicio»: 'tarde' no es una hora. Escríbela de 0 a 23, como 19." in done.err


def test_the_format_is_the_one_asked_for_or_the_one_of_the_name(tmp_path: Path) -> None:
    make_dataset([draft_row("uno")])
    run_command("dataset_export", "examen", str(tmp_path / "a.csv"))
    run_command("dataset_export", "examen", str(tmp_path / "b.txt"), "--format", "xlsx")
    run_command("dataset_export", "examen", str(tmp_path / "c"))
    assert (tmp_path / "a.csv").read_bytes().startswith(b"\xef\xbb\xbfclave,")
    assert (tmp_path / "b.txt").read_bytes().startswith(b"PK")
    assert json.loads((tmp_path / "c").read_bytes())["key"] == "uno"


def test_a_text_that_no_cell_holds_leaves_with_1_and_writes_nothing(tmp_path: Path) -> None:
    make_dataset([draft_row("uno", output="x" * 40_000)])
    done = run_command("dataset_export", "examen", str(tmp_path / "a.xlsx"))
    assert (done.code, "no cabe en una celda" in done.err) == (1, True)
    assert not (tmp_path / "a.xlsx").exists()


def test_proposed_cases_leave_only_when_asked_for(tmp_path: Path) -> None:
    make_dataset([draft_row("uno"), draft_row("dos"), draft_row("tres")])
    Case.objects.filter(key="dos").update(status=Case.Status.PROPOSED)
    Case.objects.filter(key="tres").update(status=Case.Status.RETIRED)
    run_command("dataset_export", "examen", str(tmp_path / "a.jsonl"))
    done = run_command("dataset_export", "examen", str(tmp_path / "b.jsonl"), "--include-proposed")
    assert [len((tmp_path / name).read_bytes().splitlines()) for name in ("a.jsonl", "b.jsonl")] == [1, 2]
    assert done.err == "2 casos exportados; quedan fuera 1 retirados.\n"


@pytest.mark.parametrize("kind", ["xlsx", "csv", "jsonl"])
def test_held_out_cases_stay_at_home_counted_and_coming_back_retires_nothing(kind: str, tmp_path: Path) -> None:
    make_dataset([draft_row("uno"), draft_row("secreto", held_out=True, notes="canario-3")])
    file = tmp_path / f"a.{kind}"
    run_command("dataset_export", "examen", str(file))
    content = file.read_bytes()
    texts = (
        str([row for sheet in openpyxl.load_workbook(io.BytesIO(content)) for row in sheet.values]) if kind == "xlsx" else content.decode()
    )
    assert ("1 casos reservados no salen" in texts) or ('{"held_out_left_out": 1}' in texts)
    assert "canario-3" not in texts
    assert "secreto" not in texts
    assert run_command("dataset_import", "examen", str(file)).out == "examen: 0 nuevos, 0 cambiados, 1 iguales.\n"
    assert set(Case.objects.values_list("key", "status")) == {("uno", "approved"), ("secreto", "approved")}


# --- The template -----------------------------------------------------------------------------------------------------------


def test_the_template_has_lists_to_choose_from_help_for_each_column_and_an_example(tmp_path: Path) -> None:
    assert run_command("dataset_template", str(tmp_path / "p.xlsx")).code == 0
    book = openpyxl.load_workbook(tmp_path / "p.xlsx")
    cases, explained = book["Casos"], book["Ayuda"]
    assert [cell.value for cell in cases[1]] == list(COLUMNS)
    assert cases.freeze_panes == "B2"
    assert cases["A2"].value == EXAMPLE_KEY
    lists = {str(each.sqref).rstrip("0123456789"): each.formula1 for each in cases.data_validations.dataValidation}
    assert lists["F2:F"] == f'"{",".join(CHOICES["lo correcto"])}"'
    assert len(lists) == len(CHOICES)
    assert all(len(formula) <= 257 for formula in lists.values())
    assert {row[0].value for row in explained.iter_rows()} >= set(COLUMNS) == set(HELP)
    assert cases.column_dimensions["E"].width > cases.column_dimensions["B"].width


def filled_template(*rows: dict[str, str]) -> bytes:
    book = openpyxl.load_workbook(io.BytesIO(write_template()))
    for row in rows:
        book["Casos"].append([row.get(column) for column in COLUMNS])
    held = io.BytesIO()
    book.save(held)
    return held.getvalue()


def test_a_filled_template_imports_and_its_example_is_skipped_by_name() -> None:
    mine = {**EXAMPLE, "clave": "mio", "bloqueante": "sí"}
    read = read_cases(filled_template(mine), name="p.xlsx")
    assert read.problems == []
    assert [(row.line, row.spec.key, row.spec.blocking) for row in read.rows] == [(3, "mio", True)]
    assert "La fila 2 es el ejemplo de la plantilla y no se importó." in read.notes


def test_an_example_that_somebody_wrote_over_is_refused_by_row() -> None:
    content = make_xlsx(list({**EXAMPLE, "lo que escribe la persona": "otra cosa"}.values()), header=list(EXAMPLE))
    [problem] = read_cases(content, name="p.xlsx").problems
    assert (problem.line, problem.field) == (2, "A «clave»")
    assert "Escribe otra clave" in problem.message


def test_the_example_itself_is_a_sound_case() -> None:
    content = make_xlsx(list({**EXAMPLE, "clave": "mio"}.values()), header=list(EXAMPLE))
    [row] = read_cases(content, name="p.xlsx").rows
    assert (row.spec.expected.kind, [line.kind for line in row.spec.never_say]) == ("draft", ["phrase", "rule"])


# --- Out of the admin -------------------------------------------------------------------------------------------------------


@pytest.fixture
def expert(client: Client) -> Client:
    seed_people(with_passwords=False)
    client.force_login(User.objects.get(username="experta"))
    return client


def download(client: Client, dataset: Dataset, **asked: str) -> Any:
    return client.post(f"/admin/evals/dataset/{dataset.pk}/export/", asked)


@pytest.mark.parametrize(("kind", "writer"), [("xlsx", write_xlsx), ("csv", write_csv)])
def test_an_expert_downloads_the_dataset_without_its_held_out_cases(expert: Client, kind: str, writer: Any) -> None:
    dataset = make_dataset([draft_row("uno"), draft_row("secreto", held_out=True)])
    answer = download(expert, dataset, format=kind, held_out="on")
    assert answer["Content-Disposition"] == f'attachment; filename="examen.{kind}"'
    assert [row.spec.key for row in read_cases(answer.content, name=f"a.{kind}").rows] == ["uno"]
    assert b'name="held_out"' not in expert.get(f"/admin/evals/dataset/{dataset.pk}/export/").content


def test_control_who_may_read_them_takes_them_along(expert: Client) -> None:
    User.objects.get(username="experta").user_permissions.add(Permission.objects.get(codename="view_held_out_text"))
    dataset = make_dataset([draft_row("uno"), draft_row("secreto", held_out=True)])
    assert b"secreto" in download(expert, dataset, format="csv", held_out="on", reason="para la revisión anual").content
    opening = HeldOutOpening.objects.get()
    assert (opening.case.key, opening.opened_by.username, opening.reason) == ("secreto", "experta", "para la revisión anual")
    assert b"secreto" not in download(expert, dataset, format="csv").content


def test_without_a_reason_or_where_the_file_cannot_be_written_no_case_is_opened(expert: Client) -> None:
    User.objects.get(username="experta").user_permissions.add(Permission.objects.get(codename="view_held_out_text"))
    dataset = make_dataset([draft_row("uno", output="x" * 40_000), draft_row("secreto", held_out=True)])
    assert "escribe en una frase por qué" in download(expert, dataset, format="csv", held_out="on").content.decode()
    assert "no cabe en una celda" in download(expert, dataset, format="xlsx", held_out="on", reason="para la revisión").content.decode()
    assert not HeldOutOpening.objects.exists()


def test_a_proposed_held_out_case_that_leaves_counts_as_opened(tmp_path: Path) -> None:
    dataset = make_dataset([draft_row("secreto", held_out=True)])
    Case.objects.update(status=Case.Status.PROPOSED)
    User.objects.create_superuser("lectora")
    words = ["dataset_export", "examen", str(tmp_path / "a.csv"), "--include-held-out", "--as", "lectora", "--reason", "para la revisión"]
    run_command(*words)
    assert not HeldOutOpening.objects.exists()
    run_command(*words, "--include-proposed")
    assert HeldOutOpening.objects.get().case.dataset == dataset


def test_a_text_that_no_cell_holds_is_told_on_the_page(expert: Client) -> None:
    dataset = make_dataset([draft_row("uno", output="x" * 40_000)])
    assert "no cabe en una celda de Excel" in download(expert, dataset, format="xlsx").content.decode()


def test_the_template_is_downloaded_from_the_dataset_page(expert: Client) -> None:
    dataset = make_dataset([draft_row("uno")])
    page = expert.get(f"/admin/evals/dataset/{dataset.pk}/change/").content.decode()
    assert "/admin/evals/dataset/template/" in page
    answer = expert.get("/admin/evals/dataset/template/")
    assert openpyxl.load_workbook(io.BytesIO(answer.content)).sheetnames == ["Casos", "Ayuda"]


def test_nobody_without_a_login_or_the_permission_gets_a_file(client: Client) -> None:
    dataset = make_dataset([draft_row("uno")])
    addresses = ["/admin/evals/dataset/template/", *(f"/admin/evals/dataset/{dataset.pk}/{what}/" for what in ("export", "import"))]
    assert [client.get(address).status_code for address in addresses] == [302, 302, 302]
    client.force_login(User.objects.create_user("nadie", is_staff=True))
    assert [client.get(address).status_code for address in addresses] == [403, 403, 403]
