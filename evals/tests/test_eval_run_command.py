"""`eval_run` as the shell and CI see it: what it runs, what it leaves in files, and the code that it exits with."""

import json
import os
import pty
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.core.management import execute_from_command_line
from django.db import connection

from assistant.tests.loopback_provider import Call, LoopbackProvider, Reply
from evals.models import Case, DatasetVersion, Result, Run
from evals.selectors import baseline_run
from evals.services import freeze_version
from evals.tests.commands import point_at, run_command
from evals.tests.desk import REFUSAL, draft_output, draft_row, make_dataset, make_version, new_run
from evals.tests.processes import ROOT, Site, import_cases, site

pytestmark = pytest.mark.django_db(transaction=True)
WRONG = draft_output(startHour=20)
SHA = "a" * 40


@pytest.fixture(autouse=True)
def _outside_a_checkout(settings: Any, tmp_path: Path) -> None:
    """Where git cannot tell, --commit may name any commit."""
    settings.BASE_DIR = tmp_path


@pytest.fixture
def refusing(settings: Any) -> Iterator[LoopbackProvider]:
    with LoopbackProvider() as provider:
        point_at(settings, provider)
        yield provider


# --- Exit codes ---------------------------------------------------------------------------------------------------------


def test_a_pass_is_0_and_says_that_the_model_was_not_measured() -> None:
    make_version([draft_row("a", blocking=True)])
    code, out, _ = run_command("eval_run", "examen")
    assert code == 0
    assert out.startswith("Veredicto: PASS — el código pasa; el modelo no se midió\n")


def test_a_failed_blocking_case_is_1_and_names_it() -> None:
    make_version([draft_row("a", WRONG, blocking=True), draft_row("b")])
    code, out, _ = run_command("eval_run", "examen")
    assert code == 1
    assert out.startswith("Veredicto: FAIL\n")
    assert "Casos: a." in " ".join(out.split())


def test_no_policy_is_2_with_every_figure_printed() -> None:
    make_version([draft_row("a"), draft_row("b", WRONG)], policy=False)
    code, out, _ = run_command("eval_run", "examen")
    assert code == 2
    assert "INCONCLUSIVE" in out
    assert "política" in out
    assert "Casos correctos: 1/2" in out


def test_no_policy_does_not_hide_errors() -> None:
    make_version([draft_row("a"), draft_row("b", recordings=[])], policy=False)
    assert run_command("eval_run", "examen").code == 3


def test_a_missing_answer_is_3() -> None:
    make_version([draft_row("a"), draft_row("b", recordings=[])])
    code, out, _ = run_command("eval_run", "examen")
    assert code == 3
    assert "PASS" not in out
    assert "b: El caso no tiene grabación" in out


def test_a_run_cancelled_by_somebody_else_is_3_even_without_a_policy(settings: Any) -> None:
    make_version([draft_row("a"), draft_row("b")], policy=False)

    def cancel_and_refuse(call: Call) -> str:
        Run.objects.update(status=Run.Status.CANCELLED)
        connection.close()
        return REFUSAL

    with LoopbackProvider(cancel_and_refuse) as provider:
        point_at(settings, provider)
        code, out, _ = run_command("eval_run", "examen", "--model", "prueba", "--concurrency", "1")
    assert code == 3
    assert "sin veredicto" in out


def test_a_database_that_fails_is_3_and_says_how_to_go_on() -> None:
    """1 would tell CI that the assistant is bad."""
    make_version([draft_row("a")])
    with table_gone("evals_score"):
        code, _, err = run_command("eval_run", "examen")
    run = Run.objects.get()
    assert code == 3
    assert f"eval_resume {run.pk}" in err
    run.results.update(status="pending", lease_token="", lease_until=None)
    assert run_command("eval_resume", str(run.pk)).code == 0


@contextmanager
def table_gone(table: str) -> Iterator[None]:
    """Every statement on this table fails."""
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO guardada")
    yield
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE guardada RENAME TO {table}")


def test_a_budget_that_covers_no_call_is_4_and_resume_goes_on_with_another(refusing: LoopbackProvider) -> None:
    make_version([draft_row("a", blocking=True), draft_row("b")])
    code, out, err = run_command("eval_run", "examen", "--model", "prueba", "--max-cost", "0.000001")
    assert (code, refusing.calls) == (4, [])
    assert "sin presupuesto" in out
    run = Run.objects.get()
    assert f"eval_resume {run.pk} --max-cost" in err
    assert run_command("eval_resume", str(run.pk)).code == 4
    assert run_command("eval_resume", str(run.pk), "--max-cost", "5").code == 1
    assert len(refusing.calls) == 2


def test_a_budget_does_not_stop_what_costs_nothing() -> None:
    make_version([draft_row("a")])
    assert run_command("eval_run", "examen", "--max-cost", "0").code == 0


@pytest.mark.parametrize("held_out", [True, False])
def test_nothing_to_run_is_5(held_out: bool) -> None:
    dataset = make_dataset([draft_row("a", held_out=held_out)])
    if not held_out:
        Case.objects.update(status=Case.Status.PROPOSED)
    code, out, err = run_command("eval_run", dataset.slug)
    assert (code, out) == (5, "")
    assert err
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nadie"], "examen"),
        (["examen", "--target", "dentista"], "booking-assistant"),
        (["examen", "--prompt", "otra"], "base, con-nombres"),
        (["examen", "--model", "scripted:otro"], "base"),
        (["examen", "--model", "prueba"], "LLM_BASE_URL"),
        (["examen", "--model", "modelo-bonito:free"], "prohibido"),
        (["examen", "--version", "7"], "Existen: 1"),
        (["examen", "--version", "99999999999999999999"], "Existen: 1"),
        (["examen", "--version", "uno"], "draft"),
        (["examen", "--queue"], "CELERY_BROKER_URL"),
    ],
)
def test_what_cannot_run_is_2_and_says_what_exists(words: list[str], said: str, settings: Any) -> None:
    settings.LLM_BASE_URL = settings.CELERY_BROKER_URL = ""
    make_version([draft_row("a")])
    code, _, err = run_command("eval_run", *words)
    assert (code, said in err) == (2, True)
    assert not Run.objects.exists()


def test_a_refused_run_freezes_no_version() -> None:
    make_dataset([draft_row("a")])
    assert run_command("eval_run", "examen", "--prompt", "otra").code == 2
    assert not DatasetVersion.objects.exists()


def test_a_queued_run_promises_no_report(settings: Any, tmp_path: Path) -> None:
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    make_version([draft_row("a")])
    assert run_command("eval_run", "examen", "--queue", "--json", str(tmp_path / "informe.json")).code == 2
    assert not Run.objects.exists()


# --- Which version, which answers ---------------------------------------------------------------------------------------


@pytest.fixture
def two_versions() -> None:
    """Version 1 is signed and asks one case; version 2 is not, and asks two. A third case is only live."""
    make_version([draft_row("a")])
    freeze_version(dataset=make_dataset([draft_row("b")]), by=None)
    make_dataset([draft_row("c")])


@pytest.mark.parametrize(
    ("words", "version"),
    [
        ([], "v1 (firmada)"),
        (["--version", "1"], "v1 (firmada)"),
        (["--version", "2"], "v2 (sin firmar)"),
        (["--version", "draft"], "v3 (sin firmar)"),
    ],
)
def test_it_runs_the_latest_signed_version_unless_told_another(two_versions: None, words: list[str], version: str) -> None:
    code, out, _ = run_command("eval_run", "examen", *words)
    assert code == 0
    assert f"examen {version}" in out
    assert Run.objects.get().expected_results == int(version[1])


def test_without_a_signed_version_it_runs_the_cases_as_they_are() -> None:
    make_version([draft_row("a")], signed=False)
    make_dataset([draft_row("b")])
    assert "examen v2 (sin firmar)" in run_command("eval_run", "examen").out


def test_a_recording_set_is_chosen_by_name() -> None:
    sets = [{"text": draft_output(), "invalid": False}, {"text": WRONG, "set": "malo", "invalid": False}]
    make_version([draft_row("a", recordings=sets)])
    assert "Casos correctos: 1/1" in run_command("eval_run", "examen", "--model", "scripted").out
    worse = run_command("eval_run", "examen", "--model", "scripted:malo").out
    assert "Casos correctos: 0/1" in worse
    assert "juego malo" in worse


def test_it_says_which_cases_changed_between_repetitions(settings: Any) -> None:
    """The server changes its mind about one case only, after the first time."""
    make_version([draft_row("fija"), draft_row("cambia", input={"text": "a las 7 o a las 8"})])

    def answer(call: Call) -> str:
        return draft_output(startHour=19 + (call.number > 2)) if "a las 8" in call.text else draft_output()

    with LoopbackProvider(answer) as provider:
        point_at(settings, provider)
        out = run_command("eval_run", "examen", "--model", "prueba", "--repetitions", "3", "--concurrency", "1").out
        assert len(provider.calls) == 6
    assert "Cambian entre repeticiones (1): cambia" in out
    assert "3 repeticiones" in out


def test_an_answer_that_is_rejected_for_another_reason_has_changed(settings: Any) -> None:
    """As a small real model did at temperature 0.7: no JSON once, cut at the length limit twice."""
    make_version([draft_row("rota")])
    with LoopbackProvider(lambda call: "Claro" if call.number == 1 else "{}") as provider:
        point_at(settings, provider)
        out = run_command("eval_run", "examen", "--model", "prueba", "--repetitions", "3", "--concurrency", "1").out
    assert "Cambian entre repeticiones (1): rota" in out


def test_the_same_answer_in_every_repetition_is_no_change() -> None:
    make_version([draft_row("a")])
    assert "Cambian" not in run_command("eval_run", "examen", "--repetitions", "3").out


# --- Files --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    return {name: tmp_path / f"informe.{name}" for name in ("junit", "json", "markdown")}


def options_for(files: dict[str, Path]) -> list[str]:
    return [word for name, path in files.items() for word in (f"--{name}", str(path))]


def test_the_files_agree_with_the_text(files: dict[str, Path]) -> None:
    make_version([draft_row("bien"), draft_row("mal", WRONG, blocking=True), draft_row("muda", recordings=[])])
    code, out, _ = run_command("eval_run", "examen", *options_for(files))
    assert code == 1
    assert "Casos correctos: 1/2" in out
    document = json.loads(files["json"].read_text("utf-8"))
    assert document["verdict"]["decision"] == "FAIL"
    assert (document["metrics"]["correct"]["numerator"], document["metrics"]["correct"]["denominator"]) == (1, 2)
    assert {row["key"]: row["status"] for row in document["rows"]} == {"bien": "pasa", "mal": "falla", "muda": "error"}
    suite = ET.parse(files["junit"]).getroot()[0]  # noqa: S314 -- our own document
    assert [suite.get(count) for count in ("tests", "failures", "errors", "skipped")] == ["3", "1", "1", "0"]
    written = files["markdown"].read_text("utf-8")
    assert written.startswith("### ❌ examen: FAIL\n")
    assert "| Casos correctos | 1/2 | 50 %" in written


@pytest.mark.parametrize("option", ["--junit", "--json", "--markdown"])
def test_a_folder_that_does_not_exist_is_refused_before_anything_runs(option: str, tmp_path: Path) -> None:
    make_version([draft_row("a")])
    code, _, err = run_command("eval_run", "examen", option, str(tmp_path / "no-existe" / "informe"))
    assert (code, "No existe la carpeta" in err) == (2, True)
    assert not Run.objects.exists()


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    make_version([draft_row("a")])
    assert run_command("eval_run", "examen", "--json", str(tmp_path)).code == 2
    assert not Run.objects.exists()


def test_two_reports_do_not_share_a_file(tmp_path: Path) -> None:
    make_version([draft_row("a")])
    same = str(tmp_path / "informe")
    assert run_command("eval_run", "examen", "--json", same, "--junit", same).code == 2
    assert not Run.objects.exists()


def test_a_disk_that_fills_up_loses_the_file_and_not_the_verdict() -> None:
    make_version([draft_row("a")])
    code, out, err = run_command("eval_run", "examen", "--json", "/dev/full")
    assert code == 2
    assert out.startswith("Veredicto: PASS")
    assert "/dev/full" in err
    assert Run.objects.get().status == Run.Status.FINISHED


# --- Held-out cases -----------------------------------------------------------------------------------------------------

SECRET: dict[str, Any] = {
    "input": {"text": "SECRETO-PEDIDO vóley mañana a las 8"},
    "context": {"now": "2026-03-09T10:00", "occupied": [{"date": "2026-03-10", "sport": "voley", "hour": 20, "team": "SECRETO-EQUIPO"}]},
    "never_say": [{"kind": "phrase", "text": "SECRETO-FRASE"}],
    "category": "secreta-categoria",
    "notes": "SECRETO-NOTA",
}
TELLING = json.dumps({"action": "clarify", "question": "¿SECRETO-FRASE a las 8?"})


def run_release(files: dict[str, Path], *, held_out: bool) -> list[str]:
    """Everything that a release run shows: its text, its progress and its three files."""
    make_version([draft_row("abierta"), draft_row("clave-secreta", TELLING, blocking=True, held_out=held_out, **SECRET)])
    done = run_command("eval_run", "examen", "--purpose", "release", "--commit", SHA, *options_for(files))
    assert done.code == 1
    return [done.out, *(path.read_text("utf-8") for path in files.values())]


def test_nothing_of_a_held_out_case_is_in_any_output_but_a_number(files: dict[str, Path]) -> None:
    for shown in run_release(files, held_out=True):
        assert "secret" not in shown.lower()
        assert "reservado 1" in shown
    _, said, _ = run_command("eval_gate", "examen", "--commit", SHA)
    assert "secret" not in said.lower()


def test_an_open_case_is_shown_in_every_output(files: dict[str, Path]) -> None:
    """The control of the test above."""
    for shown in run_release(files, held_out=False):
        assert "clave-secreta" in shown.replace("\\", "")
        assert "SECRETO-FRASE" in shown.replace("\\", "")


# --- Failures of the provider -------------------------------------------------------------------------------------------


def failing(status: int) -> Reply:
    return Reply(status, b"Error: boom", (("Retry-After", "0"),))


def test_an_error_body_never_passes_for_an_answer(settings: Any, files: dict[str, Path]) -> None:
    """S02: the only thing the case asks is that there be no link, and the body of a 500 has none."""
    no_link = draft_row("a", expected={"kind": "none"}, never_say=[{"kind": "pattern", "text": "https?://"}], blocking=True)
    make_version([no_link])
    with LoopbackProvider(lambda call: failing(500)) as provider:
        point_at(settings, provider)
        code, out, _ = run_command("eval_run", "examen", "--model", "prueba", *options_for(files))
    assert code == 3
    assert "boom" not in out
    assert (Result.objects.get().status, Result.objects.get().error_cause) == ("error", "server-error")
    document = json.loads(files["json"].read_text("utf-8"))
    assert [(row["key"], row["status"]) for row in document["rows"]] == [("a", "error")]
    assert document["metrics"] == {}


@pytest.mark.parametrize("status", [400, 401])
def test_a_release_in_which_every_call_fails_publishes_no_score(status: int, settings: Any, files: dict[str, Path]) -> None:
    """S03: not a 0 %, not a pass, not a baseline; and the gate's code is not the one of bad quality."""
    version = make_version([draft_row("a"), draft_row("b"), draft_row("c")], needs_scripted=False, needs_real=True)
    with LoopbackProvider(lambda call: failing(status)) as provider:
        point_at(settings, provider)
        words = ("eval_run", "examen", "--model", "prueba", "--purpose", "release", "--commit", SHA)
        code, out, _ = run_command(*words, *options_for(files))
    assert code == 3
    assert "Falla del proveedor: 0 de 3 medidos" in out
    assert "%" not in out
    assert json.loads(files["json"].read_text("utf-8"))["metrics"] == {}
    gate = run_command("eval_gate", "examen", "--commit", SHA)
    assert (gate.code, "Falla del proveedor: 0 de 3 medidos" in gate.out) == (3, True)
    assert baseline_run(new_run(version, model="prueba", purpose="release")) is None


def test_a_failed_real_release_outweighs_an_earlier_scripted_pass(refusing: LoopbackProvider) -> None:
    """The policy asks for a scripted run only; the latest release run of the commit is judged whatever it is."""
    make_version([draft_row("a", blocking=True)])
    release = ("eval_run", "examen", "--purpose", "release", "--commit", SHA)
    assert run_command(*release).code == 0
    assert run_command("eval_gate", "examen", "--commit", SHA).code == 0
    assert run_command(*release, "--model", "prueba").code == 1
    assert run_command("eval_gate", "examen", "--commit", SHA).code == 1


# --- Progress, and real processes ---------------------------------------------------------------------------------------


def test_elsewhere_than_on_a_terminal_progress_is_plain_lines() -> None:
    make_version([draft_row(f"caso-{number:03}") for number in range(120)])
    first, *lines = run_command("eval_run", "examen").err.splitlines()
    assert first == f"Corrida {Run.objects.get().pk}: 0 de 120 resultados."
    done = [int(line.removesuffix("/120")) for line in lines]
    assert lines == [f"{count}/120" for count in done]
    tenths = [count * 10 // 120 for count in done]  # how many rows are stored together depends on the machine
    assert tenths == sorted(set(tenths))
    assert done[-1] == 120


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("eval-run")
    with site(folder) as here:
        import_cases(here, folder, 12)
        yield here


def test_on_a_terminal_progress_is_a_bar_and_the_report_is_apart(installed: Site) -> None:
    screen, slave = pty.openpty()
    words = [sys.executable, "manage.py", "eval_run", "examen"]
    done = subprocess.run(words, cwd=ROOT, env=installed.environment, stdout=subprocess.PIPE, stderr=slave, text=True, check=False)
    os.close(slave)
    drawn = os.read(screen, 10_000).decode()
    os.close(screen)
    assert done.returncode == 2  # no policy
    assert drawn == f"Corrida 1: 0 de 12 resultados.\r\n\r{'█' * 30} 12/12\r\n"
    assert done.stdout.startswith("Veredicto: INCONCLUSIVE\n")
    assert "█" not in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["eval_run"],
        ["eval_run", "examen", "--repetitions", "0"],
        ["eval_run", "examen", "--repetitions", "dos"],
        ["eval_run", "examen", "--temperature", "nan"],
        ["eval_run", "examen", "--max-cost", "-1"],
        ["eval_run", "examen", "--commit", ""],
        ["eval_run", "examen", "--purpose", "release", "--commit", "main"],
        ["eval_run", "examen", "--purpose", "jugar"],
        ["eval_run", "examen", "--no-existe"],
        ["eval_resume", "uno"],
        ["eval_gate", "examen", "--max-age-days", "99999999999"],
        ["eval_gate", "examen", "--commit", "abc123"],
    ],
)
def test_words_that_cannot_be_read_exit_with_2(words: list[str], capsys: Any) -> None:
    """Through the same door as the shell, where argparse itself leaves."""
    with pytest.raises(SystemExit) as leaving:
        execute_from_command_line(["manage.py", *words])
    assert leaving.value.code == 2
    assert f"{words[0]}: error:" in capsys.readouterr().err


def test_a_real_process_exits_with_the_same_codes(installed: Site) -> None:
    assert installed.manage("eval_run", "examen", "--repetitions", "dos", check=False).returncode == 2
    unknown = installed.manage("eval_run", "nadie", check=False)
    assert (unknown.returncode, "examen" in unknown.stderr) == (2, True)
