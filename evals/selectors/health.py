"""The facts behind a dataset's health, read in a number of queries that grows with neither datasets nor cases."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from evals.datasets.health import CaseFacts, DatasetFacts, HealthReport, Stored, check_health
from evals.datasets.revisions import read_spec, spec_of
from evals.models import Case, Dataset, DatasetVersion, Recording, Signature
from evals.selectors.held_out import count_openings, held_out_of_version


def health_of(dataset: Dataset, *, now: datetime) -> HealthReport:
    """The health of the approved cases as they are now: what would be frozen and signed next."""
    return check_health(live_facts([dataset], now=now)[dataset.pk])


def health_of_version(version: DatasetVersion, *, now: datetime) -> HealthReport:
    """The health of a version's frozen cases, with the recordings in force today."""
    return check_health(_version_facts(version, now=now))


def health_report(version: DatasetVersion, *, now: datetime) -> dict[str, Any]:
    """`health_of_version`, JSON-ready, to be stored with a signature: it names no held-out case and no personal datum."""
    return health_of_version(version, now=now).as_row()


def live_facts(datasets: Sequence[Dataset], *, now: datetime) -> dict[int, DatasetFacts]:
    """The facts of several datasets at once, by dataset id."""
    stored = _stored(Recording.objects.filter(case__dataset__in=datasets, case__status=Case.Status.APPROVED))
    signed = _latest_signatures(datasets)
    cases: dict[int, list[CaseFacts]] = defaultdict(list)
    for case in Case.objects.filter(dataset__in=datasets, status=Case.Status.APPROVED).order_by("id"):
        facts = CaseFacts(spec_of(case), stored.get(case.pk, ()), _reviewed_at(case, signed.get(case.dataset_id)))
        cases[case.dataset_id].append(facts)
    openings = count_openings(datasets)
    return {
        dataset.pk: DatasetFacts(tuple(cases[dataset.pk]), dataset.owner_id is not None, now, openings.get(dataset.pk, 0))
        for dataset in datasets
    }


def _stored(recordings: QuerySet[Recording]) -> Mapping[int, tuple[Stored, ...]]:
    """Those in force, by case id."""
    found: dict[int, tuple[Stored, ...]] = defaultdict(tuple)
    rows = recordings.filter(superseded_by__isnull=True).order_by("set_name")
    for case_id, set_name, text in rows.values_list("case_id", "set_name", "text"):
        found[case_id] += (Stored(set_name, text),)
    return found


def _latest_signatures(datasets: Sequence[Dataset]) -> dict[int, Signature]:
    """The signature on the newest signed version of each dataset, by dataset id."""
    newer = Signature.objects.filter(version__dataset=OuterRef("version__dataset"), version__number__gt=OuterRef("version__number"))
    latest = Signature.objects.filter(~Exists(newer), version__dataset__in=datasets).select_related("version")
    return {signature.version.dataset_id: signature for signature in latest}


def _reviewed_at(case: Case, signature: Signature | None) -> datetime:
    """When it was last edited, or signed: a version that was frozen after the last edit holds the case as it is."""
    if signature is None or signature.version.created_at < case.updated_at:
        return case.updated_at
    return max(case.updated_at, signature.signed_at)


def _version_facts(version: DatasetVersion, *, now: datetime) -> DatasetFacts:
    signature = _latest_signatures([version.dataset]).get(version.dataset_id)
    signed = set(signature.version.revisions.values_list("pk", flat=True)) if signature else set()
    stored = _stored(Recording.objects.filter(case__revisions__versions=version))
    cases = []
    for revision in version.revisions.order_by("case_id"):
        is_signed = signature is not None and revision.pk in signed
        reviewed_at = max(revision.created_at, signature.signed_at) if signature and is_signed else revision.created_at
        cases.append(CaseFacts(read_spec(revision), stored.get(revision.case_id, ()), reviewed_at))
    openings = held_out_of_version(version, until=now).openings
    return DatasetFacts(tuple(cases), version.dataset.owner_id is not None, now, openings)
