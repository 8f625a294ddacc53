"""What was written in a dataset since a moment: who, when, why, and what, with nothing of a held-out case."""

from collections.abc import Iterator
from datetime import datetime
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from django.db.models import Count, Max, QuerySet

from evals.datasets.differences import changed_fields
from evals.datasets.revisions import spec_of
from evals.figures import say_count
from evals.models import Case, Dataset, GatePolicy, HeldOutOpening, ProductThreshold, Recording, Signature
from evals.reports.trail import Change
from evals.reports.wording import clean
from evals.selectors.kept_rows import dataset_lines, say_row
from evals.words import MARK_WORDS

VALUE_AT_MOST = 120
NOT_WRITTEN = "no quedó escrito quién"


def changes_since(dataset: Dataset, since: datetime) -> list[Change]:
    """Cases, recordings, dataset, policy, thresholds, versions, signatures and openings, oldest first. Held-out cases tell who and when."""
    found = [
        *_case_changes(dataset, since),
        *_row_changes(dataset_lines(Dataset.history.filter(id=dataset.pk)), since, "el dataset"),
        *_row_changes(GatePolicy.history.filter(dataset=dataset).select_related("history_user"), since, "la política"),
        *_row_changes(_thresholds_of(dataset), since, "un umbral"),
        *_recording_changes(dataset, since),
        *_version_changes(dataset, since),
        *_openings(dataset, since),
    ]
    return sorted(found, key=lambda change: change.at)


class _Told(NamedTuple):
    """A line of a case's history. `detail` has the values too, and is told where one case alone changed so; a closed case has no key."""

    at: datetime
    by: str
    what: str
    why: str
    key: str = ""
    detail: str = ""


def _case_changes(dataset: Dataset, since: datetime) -> Iterator[Change]:
    """One for each person, moment, reason and kind of change, with the cases that it touched."""
    touched = Case.history.filter(dataset=dataset, history_date__gt=since).values("id")
    lines = Case.history.filter(id__in=touched).select_related("history_user").order_by("id", "history_id")
    closed, told = _closed_cases(dataset), []
    for case_id, of_case in groupby(lines, key=lambda line: line.id):
        pairs = pairwise([None, *of_case])
        told += [_tell(before, line, closed=case_id in closed) for before, line in pairs if line.history_date > since]
    told.sort(key=lambda each: each[:4])
    for (at, by, what, why), group in groupby(told, key=lambda each: each[:4]):
        cases = list(group)
        keys = tuple(each.key for each in cases if each.key)
        said = cases[0].detail if len(cases) == 1 and cases[0].detail else what
        yield Change(at, by, said, why, keys, len(cases) - len(keys))


def _closed_cases(dataset: Dataset) -> set[int]:
    """Ids of the cases that are held out, or were once."""
    now = dataset.cases.filter(held_out=True).values_list("pk", flat=True)
    return {*now, *Case.history.filter(dataset=dataset, held_out=True).values_list("id", flat=True)}


def _tell(before: Any, line: Any, *, closed: bool) -> _Told:
    """A closed case keeps key, fields and reason; that it was held out, or let go, is told, with its reason where that is all."""
    at, by, why = line.history_date, str(line.history_user or ""), line.history_change_reason or ""
    changes = changed_fields(spec_of(before), spec_of(line)) if before is not None else []
    fields = [change.field for change in changes]
    if closed and fields == ["reservado"]:
        return _Told(at, by, "reservó casos" if line.held_out else "soltó casos reservados", why)
    if closed:
        return _Told(at, by, "cambió casos y los reservó" if line.held_out and "reservado" in fields else "cambió casos", "")
    if before is None:
        return _Told(at, by, f"creó casos, como {line.get_status_display()}", why, line.key)
    status = [] if before.status == line.status else [f"pasan a {line.get_status_display()}"]
    names = [*status, *(change.field for change in changes)] or ["nada que se vea"]
    values = [*status, *(_say_values(*change) for change in changes)]
    detail = f"cambió casos ({'; '.join(values)})" if changes else ""
    return _Told(at, by, f"cambió casos ({', '.join(names)})", why, line.key, detail)


def _say_values(field: str, before: str, after: str) -> str:
    """`hora de inicio: 19:00 → 20:00`, each value cut where it is long."""
    return f"{field}: {clean(before, VALUE_AT_MOST) or 'nada'} → {clean(after, VALUE_AT_MOST) or 'nada'}"


def _thresholds_of(dataset: Dataset) -> QuerySet[Any]:
    policies = GatePolicy.history.filter(dataset=dataset).values("id")
    return ProductThreshold.history.filter(policy__in=policies).select_related("history_user")


def _row_changes(lines: QuerySet[Any], since: datetime, name: str) -> Iterator[Change]:
    """Old → new of each field, for rows that hold no secret. What one form wrote at once, as row and delegates, is one change."""
    for _, of_row in groupby(lines.order_by("id", "history_id"), key=lambda line: line.id):
        before = None
        for (at, by, why, _), group in groupby(of_row, key=_written_together):
            line = list(group)[-1]
            if at > since:
                yield Change(at, str(by or ""), _say_act(before, line, name), why or "")
            before = line


def _written_together(line: Any) -> tuple[Any, ...]:
    return line.history_date, line.history_user, line.history_change_reason, line.history_type == "-"


def _say_act(before: Any, line: Any, name: str) -> str:
    new = say_row(line)
    if before is None or line.history_type == "-":
        values = [f"{field}: {clean(value, VALUE_AT_MOST)}" for field, value in new.items() if value]
        return f"{'creó' if before is None else 'quitó'} {name} ({'; '.join(values)})"
    old = say_row(before)
    values = [_say_values(field, old[field], new[field]) for field in old if old[field] != new[field]]
    which = f"el umbral «{before.instance}»" if line.instance_type is ProductThreshold else name
    return f"cambió {which} ({'; '.join(values) or 'nada que se vea'})"


def _recording_changes(dataset: Dataset, since: datetime) -> Iterator[Change]:
    """What one person wrote in one minute, of the same kind and with the same note, together, at the moment of the last."""
    rows = Recording.objects.filter(case__dataset=dataset, created_at__gt=since).select_related("case", "created_by", "supersedes")
    closed = _closed_cases(dataset)
    told = [_tell_recording(row, closed=row.case_id in closed) for row in rows.order_by("created_at", "pk")]
    for (_, by, what, note), group in groupby(told, key=lambda each: (each.at.replace(second=0, microsecond=0), *each[1:4])):
        cases = list(group)
        keys = tuple(each.key for each in cases if each.key)
        yield Change(cases[-1].at, by, what, note, keys, len(cases) - len(keys))


def _tell_recording(row: Recording, *, closed: bool) -> _Told:
    at, by = row.created_at, str(row.created_by or "")
    if closed:
        return _Told(at, by, "escribió grabaciones", "")
    if row.supersedes is None:
        return _Told(at, by, f"agregó grabaciones (juego {row.set_name})", row.note, row.case.key)
    marks = (MARK_WORDS[row.supersedes.invalid], MARK_WORDS[row.invalid])
    parts = ["otro texto"] if row.text != row.supersedes.text else []
    parts += [f"inválida: {marks[0]} → {marks[1]}"] if marks[0] != marks[1] else []
    return _Told(at, by, f"corrigió grabaciones (juego {row.set_name}; {', '.join(parts) or 'otra nota'})", row.note, row.case.key)


def _version_changes(dataset: Dataset, since: datetime) -> Iterator[Change]:
    for version in dataset.versions.filter(created_at__gt=since).select_related("created_by"):
        what = f"congeló v{version.number}, {say_count(version.size, 'caso', 'casos')}, huella {version.content_hash[:12]}"
        yield Change(version.created_at, str(version.created_by or NOT_WRITTEN), what)
    for signature in Signature.objects.filter(version__dataset=dataset, signed_at__gt=since).select_related("version", "signed_by"):
        yield Change(signature.signed_at, str(signature.signed_by), f"firmó v{signature.version.number}", signature.reason)


def _openings(dataset: Dataset, since: datetime) -> Iterator[Change]:
    """Openings of one person at one moment together."""
    rows = HeldOutOpening.objects.filter(case__dataset=dataset, opened_at__gt=since)
    grouped = rows.values_list("opened_at", "opened_by__username", "reason").annotate(n=Count("id"), last=Max("id")).order_by("last")
    for at, by, reason, count, _ in grouped:
        yield Change(at, by, "abrió casos reservados", reason, held_out=count)
