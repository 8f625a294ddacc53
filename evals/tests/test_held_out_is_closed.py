"""The words of a held-out case reach no page, report, command or log of whoever has not opened it. A canary is in each of its texts."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern
from django.utils import timezone

import evals
from evals.admin.access import AboutCase
from evals.management.demo import SEEDS, seed_people
from evals.models import Case, Dataset, Run
from evals.services import Change, freeze_version, save_case, sign_version
from evals.tests.commands import run_command
from evals.tests.desk import draft_row, finished_run, let_read_held_out, make_version, open_cases
from evals.tests.rendered import text_of

pytestmark = pytest.mark.django_db
CANARY = "canario"
SHA = "abcdef1234567890abcdef1234567890abcdef12"
SECRET: dict[str, Any] = {
    "input": {"text": f"pide {CANARY}-texto"},
    "context": {
        "now": "2026-03-09T10:00",
        "member": f"Rosa {CANARY}-socia",
        "documents": [f"{CANARY}-documento"],
        "occupied": [{"date": "2026-03-10", "sport": "voley", "hour": 20, "team": f"{CANARY}-equipo"}],
    },
    "never_say": [{"kind": "phrase", "text": f"{CANARY}-frase"}],
    "attack": {"family": "override", "channel": "direct", "obeying": [{"kind": "phrase", "text": f"{CANARY}-obedecido"}]},
    "notes": f"{CANARY}-nota",
    "blocking": True,
    "held_out": True,
}
ANSWERS = {"reason": "para la prueba", "format": "csv", "proposed": "on"}
TELLING = json.dumps({"action": "clarify", "question": f"¿{CANARY}-salida?"})
COMMANDS: dict[str, list[tuple[str, ...]]] = {
    "assistant_measure_mentions": [("examen",)],
    "audit_trail": [("--run", "{run}"), ("--run", "{run}", "--json"), ("--dataset", "examen", "--version", "1")],
    "dataset_diff": [("examen", "1", "2"), ("examen", "1", "ahora")],
    "dataset_export": [("examen", "-"), ("examen", "-", "--format", "csv", "--include-proposed"), ("examen", "-", "--include-held-out")],
    "dataset_freeze": [("examen",)],
    "dataset_health": [("examen",), ("examen", "--json"), ("examen", "--version", "1")],
    "dataset_hold_out": [("examen", "--share", "1", "--reason", "para publicar")],
    "dataset_import": [
        ("examen", "{file}", "--dry-run"),
        ("examen", "{file}"),
        ("examen", "{file}", "--as", "experta", "--reason", "para la prueba"),
    ],
    "dataset_propose": [("examen", "--rewrite", "todos", "--count", "3")],
    "dataset_sensitivity": [("examen",), ("examen", "--json")],
    "dataset_sign": [("examen", "--version", "1", "--as", "duena", "--reason", "otra vez")],
    "dataset_template": [("{file}.xlsx",)],
    "dataset_verify": [(), ("examen",)],
    "eval_gate": [("examen", "--commit", SHA)],
    "eval_resume": [("{run}",)],
    "eval_run": [("examen", "--purpose", "release", "--json", "{out}", "--junit", "{out}2", "--markdown", "{out}3")],
    "seed_demo": [()],
}


@pytest.fixture
def run() -> Run:
    """A release run of an open case and a held-out one, which has a history, two versions, an old state and a correction."""
    seed_people(with_passwords=False)
    version = make_version([draft_row("abierta"), draft_row("oculta", TELLING, **SECRET)])
    finished = finished_run(version, purpose="release", commit=SHA)
    case, owner = Case.objects.get(key="oculta"), User.objects.get(username="duena")
    case.notes = f"{CANARY}-otra"
    save_case(case=case, change=Change(None, timezone.now(), f"por el {CANARY}-motivo"))
    sign_version(version=freeze_version(dataset=version.dataset, by=None), by=owner, reason="la segunda", now=timezone.now())
    return finished


@pytest.fixture(params=["experta", "desarrollo"])
def reader(request: Any, client: Client, run: Run) -> Client:
    client.force_login(User.objects.get(username=request.param))
    return client


# --- Pages --------------------------------------------------------------------------------------------------------------------


def desk_urls() -> list[str]:
    """Every address of the desk's admin, with every row that it could be about."""
    found = ["/admin/", "/admin/evals/"]
    for model, page in admin.site._registry.items():
        if model._meta.app_label == "evals":
            for pattern in page.get_urls():
                found += addresses_of(f"/admin/evals/{model._meta.model_name}/", pattern, model)
    return found


def addresses_of(prefix: str, pattern: URLPattern, model: Any) -> list[str]:
    ids = {
        "case": list(Case.objects.values_list("pk", flat=True)),
        "line": list(Case.history.values_list("pk", flat=True)),
        "": list(model.objects.values_list("pk", flat=True)),
    }
    routes = [prefix + str(pattern.pattern)]
    for name in re.findall(r"<\w+:(\w+)>", routes[0]):
        routes = [re.sub(rf"<\w+:{name}>", str(pk), route) for route in routes for pk in ids.get(name, ids[""])]
    return routes


def pages_with_canary(client: Client) -> list[str]:
    """The addresses, read and posted to, on whose page it is; the filters of each list are followed too."""
    seen, waiting, told = set(), desk_urls(), []
    while waiting:
        url = waiting.pop()
        if url in seen or "logout" in url:
            continue
        seen.add(url)
        page = client.get(url, follow=True)
        posted = client.post(url, ANSWERS, follow=True) if re.search(r"preview|revert|correct|compare|export", url) else page
        if any(CANARY in shown.content.decode("utf-8", "replace").lower() for shown in (page, posted)):
            told.append(url)
        if "?" not in url and page.status_code == 200:
            links = re.findall(r'href="(\?[^"]+)"', page.content.decode("utf-8", "replace"))
            waiting += [url + link.replace("&amp;", "&") for link in links if not link.startswith("?o=")]
    return told


def test_no_page_of_the_desk_tells_it_to_who_has_no_permission(reader: Client, caplog: Any) -> None:
    assert pages_with_canary(reader) == []
    assert CANARY not in caplog.text.lower()


def test_the_permission_alone_opens_nothing(client: Client, run: Run) -> None:
    client.force_login(let_read_held_out("experta"))
    assert pages_with_canary(client) == []


def test_control_who_opened_the_case_reads_it_on_many_pages(client: Client, run: Run) -> None:
    open_cases("experta", Case.objects.get(key="oculta"))
    client.force_login(User.objects.get(username="experta"))
    told = " ".join(pages_with_canary(client))
    for page in ("case", "caserevision", "recording", "result"):
        assert re.search(rf"/admin/evals/{page}/( |$)", told) or page == "caserevision", page
        assert f"/admin/evals/{page}/" in told
    assert re.search(r"/case/\d+/history/", told)


@pytest.mark.parametrize("permitted", [False, True])
@pytest.mark.parametrize(
    ("page", "query"),
    [("case", f"q={CANARY}"), ("case", "q=pide"), ("recording", f"q={CANARY}"), ("case", "correcto=draft"), ("case", "ataque=override"),
     ("case", f"text__contains={CANARY}"), ("recording", f"text__startswith={TELLING[:5]}"), ("recording", f"note__contains={CANARY}"),
     ("caserevision", f"content__input__text__contains={CANARY}"), ("caserevision", f"case__text__contains={CANARY}"),
     ("result", "salio=clarify"), ("result", f"outcome__raw__contains={CANARY}"), ("result", "outcome_kind=clarify"),
     ("run", f"results__outcome__raw__contains={CANARY}"), ("dataset", f"cases__text__contains={CANARY}"),
     ("heldoutopening", f"case__text__contains={CANARY}")],
)  # fmt: skip
def test_no_search_finds_it_by_what_it_says(client: Client, run: Run, permitted: bool, page: str, query: str) -> None:
    if permitted:
        let_read_held_out("experta")
    client.force_login(User.objects.get(username="experta"))
    answer: Any = client.get(f"/admin/evals/{page}/?{query}")
    assert answer.status_code in {200, 302, 400}
    if answer.status_code == 200:
        assert "oculta" not in text_of(answer)


def test_control_who_opened_it_finds_it(client: Client, run: Run) -> None:
    open_cases("experta", Case.objects.get(key="oculta"))
    client.force_login(User.objects.get(username="experta"))
    for query in (f"case/?q={CANARY}", f"recording/?q={CANARY}", "result/?salio=clarify", "case/?ataque=override"):
        answer: Any = client.get(f"/admin/evals/{query}")
        assert "oculta" in text_of(answer), query


def test_each_page_about_a_case_can_be_closed() -> None:
    """A model that points at a case, a recording or a result and has a page must say whose case it is."""
    telling = [apps.get_model("evals", name) for name in ("caserevision", "recording", "result")]
    assert all(isinstance(admin.site._registry[model], AboutCase) for model in telling)


# --- Commands, reports, logs ------------------------------------------------------------------------------------------------------


def test_no_command_and_no_report_tells_it(run: Run, tmp_path: Path, caplog: Any, capsysbinary: Any, settings: Any) -> None:
    settings.BASE_DIR = tmp_path  # no checkout: the commit is what is asked for
    Dataset.objects.update(owner=User.objects.get(username="experta"))
    file = tmp_path / "casos.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in (draft_row("abierta"), draft_row("oculta", TELLING, held_out=True))))
    given = {"file": str(file), "run": str(run.pk), "out": str(tmp_path / "informe")}
    for name, calls in COMMANDS.items():
        for words in calls:
            done = run_command(name, *(word.format(**given) for word in words))
            assert CANARY not in f"{done.out}{done.err}".lower(), (name, words)
    assert CANARY.encode() not in capsysbinary.readouterr().out.lower()
    assert CANARY not in caplog.text.lower()
    written = [path.read_text("utf-8").lower() for path in tmp_path.glob("informe*")]
    assert len(written) == 3
    assert not [text for text in written if CANARY in text]


def test_control_an_open_case_is_told_by_commands_and_reports(run: Run, capsysbinary: Any) -> None:
    Case.objects.update(held_out=False)
    run_command("dataset_export", "examen", "-")
    assert CANARY.encode() in capsysbinary.readouterr().out.lower()


def test_each_command_of_the_desk_is_looked_at() -> None:
    folder = Path(evals.__file__).parent / "management" / "commands"
    assert {path.stem for path in folder.glob("*.py") if path.stem != "__init__"} <= set(COMMANDS), "write its calls in COMMANDS"


# --- Files of the repository ------------------------------------------------------------------------------------------------------


def test_no_dataset_of_the_repository_holds_a_held_out_case() -> None:
    files = sorted(SEEDS.glob("*.jsonl"))
    assert len(files) >= 3
    for file in files:
        rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        assert not [row["key"] for row in rows if row.get("held_out")], file
