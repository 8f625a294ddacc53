"""An import of 5,000 cases through the admin: upload, preview and confirm, from Excel and from CSV; what it takes and how much memory."""

import json
import re
import resource
import time

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402 -- models exist once Django is set up
from django.core.files.uploadedfile import SimpleUploadedFile  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import setup_test_environment  # noqa: E402

from bench import goals  # noqa: E402
from bench.goals import Goal  # noqa: E402
from evals.datasets.spreadsheet import write_csv, write_xlsx  # noqa: E402
from evals.management.demo import SEEDS  # noqa: E402
from evals.models import Dataset  # noqa: E402

CASES = 5_000
MOST_S = 30  # well below the minute after which proxies give up
MOST_MB = 300


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def make_rows(notes: str) -> list[dict[str, object]]:
    """The cases of `reservas`, again and again under other keys."""
    rows = [json.loads(line) for line in (SEEDS / "reservas.jsonl").read_text("utf-8").splitlines()]
    return [rows[number % len(rows)] | {"key": f"caso-{number:06}", "notes": notes} for number in range(CASES)]


def bring(browser: Client, dataset: Dataset, content: bytes, label: str) -> None:
    """One import, each step timed."""
    before, started = peak_mb(), time.perf_counter()
    page = browser.post(f"/admin/evals/dataset/{dataset.pk}/import/", {"file": SimpleUploadedFile("casos", content)}, follow=True)
    shown = time.perf_counter()
    found = re.search(r'name="seen" value="([0-9a-f]+)"', page.content.decode())
    if found is None:
        raise RuntimeError(f"{label}: nothing to confirm")
    answer = browser.post(page.redirect_chain[-1][0], {"seen": found[1], "reason": "medida del banco", "approved": "on"})
    if answer.status_code != 302:
        raise RuntimeError(f"{label}: not imported")
    preview_s, confirm_s, peak = shown - started, time.perf_counter() - shown, peak_mb()
    goals.show(
        f"{label:<58} preview {preview_s:5.2f} s   confirm {confirm_s:5.2f} s   peak {peak:4.0f} MB ({peak - before:+.0f})   n=1",
        Goal("preview", preview_s, MOST_S, "s"),
        Goal("confirm", confirm_s, MOST_S, "s"),
        Goal("peak", peak, MOST_MB, "MB"),
    )


def main() -> None:
    setup_test_environment(debug=False)
    browser = Client()
    browser.force_login(User.objects.create_superuser("banco-hojas"))
    dataset = Dataset.objects.create(slug="banco-hojas", name="Banco")
    for kind, write in (("xlsx", write_xlsx), ("csv", write_csv)):
        for what in ("new" if kind == "xlsx" else "changed", "changed again"):
            content = write(make_rows(f"{kind} {what}"), held_out=0)
            bring(browser, dataset, content, f"import of {CASES:,} cases, {kind}, {len(content) / 1e6:.1f} MB, all {what}")


if __name__ == "__main__":
    main()
