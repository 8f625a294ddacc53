"""The desk's pages with 10,000 cases, 200 signed versions and 500 lines of history: milliseconds and queries, through the test client."""

import json
import statistics
import time
from datetime import timedelta

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402 -- models exist once Django is set up
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import CaptureQueriesContext, setup_test_environment  # noqa: E402
from django.utils import timezone  # noqa: E402

from bench import goals  # noqa: E402
from bench.desk import SEED  # noqa: E402
from bench.goals import Goal  # noqa: E402
from evals.datasets.rows import parse_rows  # noqa: E402
from evals.models import Case, Dataset, DatasetVersion, HeldOutOpening, Signature  # noqa: E402
from evals.services import Change, RunConfig, freeze_version, import_rows, save_case, start_run  # noqa: E402

CASES, VERSIONS, LINES, OPENINGS = 10_000, 200, 500, 200
ASKED = 11
MOST_MS, MOST_QUERIES = 300, 15


def fill_desk(owner: User) -> Dataset:
    """A dataset of that size, a run over it that nobody has worked on, and openings."""
    now = timezone.now()
    change = Change(owner, now, "para medir")
    dataset = Dataset.objects.create(slug="banco", name="Banco", owner=owner)
    seeds = [json.loads(line) for line in SEED.read_text("utf-8").splitlines()]
    lines = [json.dumps(seeds[number % len(seeds)] | {"key": f"caso-{number:06}"}) for number in range(CASES)]
    import_rows(dataset=dataset, rows=parse_rows(lines)[0], change=change, approved=True)
    version = freeze_version(dataset=dataset, by=owner)
    start_run(version=version, config=RunConfig(), by=owner, now=now)
    copies = [DatasetVersion(dataset=dataset, number=number, content_hash="h", size=CASES) for number in range(2, VERSIONS + 1)]
    signed = [version, *DatasetVersion.objects.bulk_create(copies)]
    common = {"signed_by": owner, "signed_at": now, "reason": "para medir", "content_hash": "h"}
    Signature.objects.bulk_create(Signature(version=each, **common) for each in signed)
    _fill_history(dataset.cases.earliest("id"), owner)
    return dataset


def _fill_history(case: Case, owner: User) -> None:
    for number in range(LINES):
        case.notes = f"cambio {number}"
        save_case(case=case, change=Change(owner, timezone.now() + timedelta(seconds=number), f"para medir {number}"))
    HeldOutOpening.objects.bulk_create(
        HeldOutOpening(case=case, opened_by=owner, opened_at=timezone.now(), reason="para medir") for _ in range(OPENINGS)
    )


def lists(dataset: Dataset) -> dict[str, str]:
    """Each list, searched and filtered, and a history: a number of queries and a time are demanded of them."""
    case, run = dataset.cases.earliest("id").pk, dataset.versions.get(number=1).runs.get()
    found = {
        "cases": "case/", "cases of one dataset": f"case/?dataset__id__exact={dataset.pk}", "cases, searched": "case/?q=cancha",
        "cases, last page": f"case/?p={CASES // 50}", "cases by right answer": "case/?correcto=refuse",
        "revisions": "caserevision/", "recordings": "recording/", "results of a run": f"result/?run={run.pk}",
        "versions": "datasetversion/", "signatures": "signature/", "openings": "heldoutopening/", "datasets": "dataset/", "runs": "run/",
        "history of a case": f"case/{case}/history/",
    }  # fmt: skip
    return {name: f"/admin/evals/{address}" for name, address in found.items()}


def single(dataset: Dataset) -> dict[str, str]:
    """Pages of one row: a time is demanded of them."""
    case, run = dataset.cases.earliest("id").pk, dataset.versions.get(number=1).runs.get()
    return {"a case": f"/admin/evals/case/{case}/change/", "a run that waits": f"/admin/evals/run/{run.pk}/change/"}


def heavy(dataset: Dataset) -> dict[str, str]:
    """Pages that read every case: nothing is demanded of them."""
    first = dataset.versions.get(number=1).pk
    return {
        "a dataset, counting what is not signed": f"/admin/evals/dataset/{dataset.pk}/change/",
        "a version against the cases as they are": f"/admin/evals/dataset/{dataset.pk}/compare/?a=1&b=ahora",
        "the trail of a version": f"/admin/evals/datasetversion/{first}/trail/",
    }


def measure(client: Client, address: str) -> tuple[list[float], int]:
    """Milliseconds of each request but the first, which loads templates, and the queries of that one more."""
    spent = []
    for _ in range(ASKED):
        started = time.perf_counter()
        if client.get(address).status_code != 200:
            raise RuntimeError(f"{address} does not answer 200")
        spent.append((time.perf_counter() - started) * 1000)
    with CaptureQueriesContext(connection) as captured:
        client.get(address)
    return spent[1:], len(captured)


def show(name: str, spent: list[float], queries: int, *goals_of_it: Goal) -> None:
    line = f"{name:<58} median {statistics.median(spent):6.0f} ms   {queries:>3} queries   n={len(spent)}"
    goals.show(line, *goals_of_it)


def main() -> None:
    setup_test_environment(debug=False)
    owner = User.objects.create_superuser("banco")
    client = Client()
    client.force_login(owner)
    dataset = fill_desk(owner)
    print(f"{CASES:,} cases, {VERSIONS} versions, {LINES} lines of history of one case", flush=True)
    for name, address in lists(dataset).items():
        spent, queries = measure(client, address)
        show(name, spent, queries, Goal("median", statistics.median(spent), MOST_MS, "ms"), Goal("of", queries, MOST_QUERIES, "queries"))
    for name, address in single(dataset).items():
        spent, queries = measure(client, address)
        show(name, spent, queries, Goal("median", statistics.median(spent), MOST_MS, "ms"))
    for name, address in heavy(dataset).items():
        show(name, *measure(client, address))


if __name__ == "__main__":
    main()
