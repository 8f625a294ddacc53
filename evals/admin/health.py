"""The health of a dataset: its page, and one line for each dataset on the admin's front page."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from django.contrib import admin
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Max, OuterRef, Q, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone

from evals.admin.access import may_read_held_out
from evals.datasets.health import Check, DatasetFacts, HealthReport, Level, check_health
from evals.models import Case, Dataset, DatasetVersion, HeldOutOpening, Recording, Signature
from evals.selectors import health_of_version, live_facts
from evals.values import canonical_hash

SHOWN_KEYS = 30
SHOWN_VERSIONS = 6
SHOWN_DATASETS = 12
MOST_CASES = 2_000  # that a view of the front page may look at; a bigger dataset is judged when somebody opens its page
KEEP_S = 24 * 3600
STATE = ("approved", "held_out", "last_edit", "last_recording", "last_signature", "last_opening", "owner_id")
TONES = {Level.GOOD: "pass", Level.CARE: "inconclusive", Level.LACKING: "fail"}


# --- The page of one dataset ------------------------------------------------------------------------------------------------------


class Card(NamedTuple):
    """A check as the page shows it: which keys may be named, how many more there are, and how many are held out."""

    check: Check
    tone: str
    keys: Sequence[str]
    more: int
    held_out: int
    alike: Sequence[tuple[str, str]]


def health_url(page: admin.ModelAdmin) -> URLPattern:
    """`…/dataset/<pk>/health/`, for `get_urls` of the dataset's admin."""

    def view(request: HttpRequest, pk: int) -> HttpResponse:
        return show_health(page, request, pk)

    return path("<int:pk>/health/", page.admin_site.admin_view(view), name="evals_dataset_health")


def show_health(page: admin.ModelAdmin, request: HttpRequest, pk: int) -> HttpResponse:
    """The approved cases as they are now, or with `?version=N` a frozen version."""
    dataset = get_object_or_404(Dataset, pk=pk)
    if not page.has_view_permission(request, dataset):
        raise PermissionDenied
    version = _find_version(dataset, request.GET.get("version", ""))
    now = timezone.now()
    report = health_of_version(version, now=now) if version else _judge_now(dataset, now)
    closed = frozenset() if may_read_held_out(request) else report.held_out
    context = page.admin_site.each_context(request) | {
        "title": f"Salud de {version or dataset}",
        "opts": page.opts,
        "original": dataset,
        "version": version,
        "versions": dataset.versions.order_by("-number")[:SHOWN_VERSIONS],
        "level": report.level.value,
        "tone": TONES[report.level],
        "summary": summarise(report).words,
        "cards": [_card(check, closed) for level in reversed(Level) for check in report.of_level(level)],
    }
    return TemplateResponse(request, "admin/evals/dataset/health.html", context)


def _find_version(dataset: Dataset, asked: str) -> DatasetVersion | None:
    if not asked:
        return None
    version = dataset.versions.filter(number=asked).first() if asked.isdecimal() and len(asked) < 9 else None
    if version is None:
        raise Http404(f"{dataset} no tiene esa versión")
    return version


def _card(check: Check, closed: frozenset[str]) -> Card:
    keys = [key for key in check.keys if key not in closed]
    alike = [(pair.key, pair.like) for pair in check.alike if not {*pair} & closed]
    return Card(
        check,
        TONES[check.level],
        keys[:SHOWN_KEYS],
        max(0, len(keys) - SHOWN_KEYS),
        len(check.keys) - len(keys),
        alike[:SHOWN_KEYS],
    )


# --- A line for each dataset --------------------------------------------------------------------------------------------------------


class Summary(NamedTuple):
    """A report in one line. `level` and `tone` are empty when nobody has looked yet."""

    level: str
    tone: str
    words: str


class Line(NamedTuple):
    """What the front page says of one dataset."""

    dataset: Dataset
    summary: Summary


NOT_LOOKED_YET = Summary("", "none", "Es grande: abre su página para revisarlo.")


def health_lines(*, now: datetime) -> list[Line]:
    """One for each of the first datasets. What is known is remembered until something of it changes; the rest is read at once."""
    datasets = list(_with_state()[:SHOWN_DATASETS])
    known: dict[int, Summary] = {}
    for dataset in datasets:
        summary = cache.get(_cache_key(dataset, now))
        if summary is not None:
            known[dataset.pk] = Summary(*summary)
    known |= _judge([dataset for dataset in datasets if dataset.pk not in known], now)
    return [Line(dataset, known.get(dataset.pk, NOT_LOOKED_YET)) for dataset in datasets]


def summarise(report: HealthReport) -> Summary:
    """`Falta: Tamaño, Bloqueantes. Atención: Reservados.`"""
    parts = [(level, report.of_level(level)) for level in (Level.LACKING, Level.CARE)]
    words = " ".join(f"{level.capitalize()}: {', '.join(check.title for check in checks)}." for level, checks in parts if checks)
    return Summary(report.level.value, TONES[report.level], words or "Todo bien.")


def _judge(datasets: Sequence[Dataset], now: datetime) -> dict[int, Summary]:
    """Those that fit into MOST_CASES together, the smallest first."""
    chosen, left = [], MOST_CASES
    for dataset in sorted(datasets, key=lambda each: each.approved):  # type: ignore[attr-defined]
        left -= dataset.approved  # type: ignore[attr-defined]
        if left >= 0:
            chosen.append(dataset)
    facts = live_facts(chosen, now=now) if chosen else {}
    return {dataset.pk: summarise(_remember(dataset, facts[dataset.pk], now)) for dataset in chosen}


def _judge_now(dataset: Dataset, now: datetime) -> HealthReport:
    stated = _with_state().get(pk=dataset.pk)
    return _remember(stated, live_facts([stated], now=now)[dataset.pk], now)


def _remember(dataset: Dataset, facts: DatasetFacts, now: datetime) -> HealthReport:
    """The report; its summary, which names no case, is kept for the front page."""
    report = check_health(facts)
    cache.set(_cache_key(dataset, now), tuple(summarise(report)), KEEP_S)
    return report


def _with_state() -> QuerySet[Dataset]:
    """Datasets with what changes whenever their health may have changed."""
    recordings = Recording.objects.filter(case__dataset=OuterRef("pk")).order_by("-pk")
    signatures = Signature.objects.filter(version__dataset=OuterRef("pk")).order_by("-pk")
    openings = HeldOutOpening.objects.filter(case__dataset=OuterRef("pk")).order_by("-pk")
    return Dataset.objects.annotate(
        approved=Count("cases", filter=Q(cases__status=Case.Status.APPROVED)),
        held_out=Count("cases", filter=Q(cases__held_out=True)),
        last_edit=Max("cases__updated_at"),
        last_recording=Subquery(recordings.values("pk")[:1]),
        last_signature=Subquery(signatures.values("pk")[:1]),
        last_opening=Subquery(openings.values("pk")[:1]),
    ).order_by("slug")


def _cache_key(dataset: Dataset, now: datetime) -> str:
    state = [str(getattr(dataset, name)) for name in STATE]
    return f"dataset-health:{dataset.pk}:{canonical_hash([*state, timezone.localdate(now).isoformat()])}"
