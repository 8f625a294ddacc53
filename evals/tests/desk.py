"""What tests of the desk build: small datasets, versions and runs."""

import json
import threading
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth.models import Permission, User
from django.utils import timezone

from evals.datasets.rows import parse_rows
from evals.models import Case, Dataset, DatasetVersion, GatePolicy, Run, Scoring
from evals.runner import Surroundings, work
from evals.selectors import stored_aggregates
from evals.services import Change, RunConfig, freeze_version, import_rows, open_held_out, sign_version, start_run
from evals.values import Aggregate, Outcome, Verdict, verdict_from_row

NOW = datetime(2026, 3, 9, 10, 0, tzinfo=ZoneInfo("America/Lima"))
DRAFT = {"sport": "fulbito", "date": "2026-03-10", "startHour": 19, "hours": 1}
REFUSAL = '{"action":"refuse"}'


def draft_output(**fields: Any) -> str:
    """A model's draft: fulbito tomorrow at 19 h, with changes."""
    return json.dumps({"action": "draft", **DRAFT, **fields})


def draft_row(key: str, output: str | None = None, *, invalid: bool | None = False, **fields: Any) -> dict[str, Any]:
    """A case that expects fulbito tomorrow at 19 h, with one recording (the right draft unless given)."""
    return {
        "key": key,
        "category": "clara",
        "stratum": "happy",
        "input": {"text": "fulbito mañana a las 7 de la noche"},
        "context": {"now": "2026-03-09T10:00"},
        "expected": {"kind": "draft", **DRAFT},
        "recordings": [{"text": draft_output() if output is None else output, "invalid": invalid}],
    } | fields


def make_dataset(rows: Iterable[dict[str, Any]], *, slug: str = "examen", policy: bool = True, **policy_fields: Any) -> Dataset:
    """A dataset with an owner, these rows, and unless `policy` is false a policy whose one threshold every figure meets."""
    owner = let_approve("duena")
    dataset, _ = Dataset.objects.get_or_create(slug=slug, defaults={"name": slug, "owner": owner})
    parsed, problems = parse_rows(json.dumps(row) for row in rows)
    assert not problems, problems
    import_rows(dataset=dataset, rows=parsed, change=Change(owner, timezone.now(), "para la prueba"), approved=True)
    if policy:
        made, _ = GatePolicy.objects.get_or_create(dataset=dataset, defaults=policy_fields)
        made.thresholds.get_or_create(metric="correct", op=">=", value=0, justification="En la prueba cualquier cifra vale.")
    return dataset


def make_version(rows: Iterable[dict[str, Any]], *, signed: bool = True, **dataset: Any) -> DatasetVersion:
    """A frozen version of a new dataset, signed by its owner unless told otherwise."""
    owned = make_dataset(rows, **dataset)
    version = freeze_version(dataset=owned, by=owned.owner)
    if signed:
        assert owned.owner is not None
        sign_version(version=version, by=owned.owner, reason="para la prueba", now=timezone.now())
    return version


def let_approve(username: str) -> User:
    """A person, new or known, with the permission to approve cases."""
    user, _ = User.objects.get_or_create(username=username)
    user.user_permissions.add(Permission.objects.get(codename="approve_case"))
    return User.objects.get(username=username)


def let_read_held_out(username: str) -> User:
    """Gives a person the permission to open held-out cases."""
    User.objects.get(username=username).user_permissions.add(Permission.objects.get(codename="view_held_out_text"))
    return User.objects.get(username=username)


def open_cases(username: str, *cases: Case) -> None:
    """A person who may opens held-out cases, with a reason."""
    open_held_out(cases=cases, change=Change(let_read_held_out(username), timezone.now(), "para la prueba"))


def aggregates_in(run: Run) -> dict[str, Aggregate]:
    """The stored figures of the run's current scoring."""
    return stored_aggregates(Scoring.objects.get(run=run, is_current=True))


def verdict_in(run: Run) -> Verdict:
    """The stored verdict of the run's current scoring."""
    verdict = verdict_from_row(Scoring.objects.get(run=run, is_current=True).verdict)
    assert verdict is not None
    return verdict


def outcome_in(run: Run, key: str) -> Outcome:
    """The stored outcome of a case's first repetition."""
    row = run.results.get(revision__traits__key=key, repetition=1).outcome
    assert row is not None
    return Outcome.from_row(row)


def spent_by(run: Run) -> int:
    """Micro-USD of all stored answers."""
    return sum(cost or 0 for cost in run.results.values_list("cost_micro_usd", flat=True))


class SteppingClock:
    """Stands still until told, so that a pause of half a minute takes no time."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now

    def step(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def surroundings(stop: threading.Event | None = None, clock: Callable[[], datetime] = timezone.now) -> Surroundings:
    """The real clock, and nobody who stops the helper, unless given."""
    return Surroundings(clock=clock, stop=stop or threading.Event())


def new_run(version: DatasetVersion, **config: Any) -> Run:
    """A run that nobody has begun."""
    return start_run(version=version, config=RunConfig(**config), by=None, now=timezone.now())


def finished_run(version: DatasetVersion, **config: Any) -> Run:
    """A run, worked on in this thread until it closes."""
    return work(new_run(version, **config).pk, surroundings())
