"""From the live rows that experts edit to the frozen states that results point at."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from evals.datasets.rows import (
    LIMA,
    content_of,
    never_say_from,
    never_say_row,
    obeying_from,
    obeying_row,
    occupied_from,
    occupied_row,
    spec_from,
    traits_of,
)
from evals.models import Case, CaseRevision
from evals.values import Attack, CaseSpec, DraftFields, Expected, canonical_hash

BATCH = 500


def spec_of(case: Case) -> CaseSpec:
    """The exam question that a live row stands for."""
    return CaseSpec(
        key=case.key,
        category=case.category,
        stratum=case.stratum,  # type: ignore[arg-type]
        expected=_expected_of(case),
        text=case.text,
        messages=tuple(case.messages),
        now=case.now and case.now.astimezone(LIMA),
        occupied=tuple(occupied_from(hour) for hour in case.occupied),
        documents=tuple(case.documents),
        member=case.member,
        never_say=tuple(never_say_from(line) for line in case.never_say),
        attack=_attack_of(case),
        benign=case.benign,
        blocking=case.blocking,
        held_out=case.held_out,
        tags=tuple(case.tags),
        notes=case.notes,
        known_limitation=case.known_limitation,
    )


def _expected_of(case: Case) -> Expected:
    return Expected(
        case.expected_kind,  # type: ignore[arg-type]
        draft=_draft_of(case) if case.expected_kind == Case.Kind.DRAFT else None,
        text=case.expected_text,
        labels=tuple(case.expected_labels),
        route=case.expected_route,
        tools=tuple(case.expected_tools),
    )


def _draft_of(case: Case) -> DraftFields:
    return DraftFields(case.expected_sport, case.expected_date, case.expected_start_hour, case.expected_hours)  # type: ignore[arg-type]


def _attack_of(case: Case) -> Attack | None:
    if not case.attack_family:
        return None
    return Attack(case.attack_family, case.attack_channel, tuple(obeying_from(sign) for sign in case.obeying))  # type: ignore[arg-type]


def fields_of(spec: CaseSpec) -> dict[str, Any]:
    """The fields of Case that `spec_of` reads back."""
    expected, draft, attack = spec.expected, spec.expected.draft, spec.attack
    return {
        "key": spec.key,
        "category": spec.category,
        "stratum": spec.stratum,
        "text": spec.text,
        "messages": [dict(message) for message in spec.messages],
        "now": spec.now,
        "occupied": [occupied_row(hour) for hour in spec.occupied],
        "documents": list(spec.documents),
        "member": spec.member,
        "expected_kind": expected.kind,
        "expected_sport": draft.sport if draft else "",
        "expected_date": draft.date if draft else None,
        "expected_start_hour": draft.start_hour if draft else None,
        "expected_hours": draft.hours if draft else None,
        "expected_text": expected.text,
        "expected_labels": list(expected.labels),
        "expected_route": expected.route,
        "expected_tools": list(expected.tools),
        "never_say": [never_say_row(line) for line in spec.never_say],
        "attack_family": attack.family if attack else "",
        "attack_channel": attack.channel if attack else "",
        "obeying": [obeying_row(sign) for sign in attack.obeying] if attack else [],
        "benign": spec.benign,
        "blocking": spec.blocking,
        "held_out": spec.held_out,
        "tags": list(spec.tags),
        "notes": spec.notes,
        "known_limitation": spec.known_limitation,
    }


def keep_held_out(spec: CaseSpec, *, held_out: bool) -> CaseSpec:
    """What a file, a form or a line of history says of a case that is held out or not: none of them lets a held-out case go."""
    return replace(spec, held_out=True) if held_out and not spec.held_out else spec


def read_spec(revision: CaseRevision) -> CaseSpec:
    """The exam question as it was when the revision was made."""
    return spec_from(revision.content, revision.traits)


def revise_case(case: Case) -> CaseRevision:
    """The frozen state of a case as it is now: the row that already says the same, or a new one. Safe against a race."""
    fresh = revision_of(case)
    revision, _ = CaseRevision.objects.get_or_create(
        case=case,
        full_hash=fresh.full_hash,
        defaults={"content": fresh.content, "traits": fresh.traits, "content_hash": fresh.content_hash},
    )
    return revision


def revise_cases(cases: Iterable[Case]) -> list[CaseRevision]:
    """`revise_case` for many, in the order given: two or three queries for each BATCH of them."""
    fresh = [revision_of(case) for case in cases]
    batches = [fresh[start : start + BATCH] for start in range(0, len(fresh), BATCH)]
    return [revision for batch in batches for revision in _revise_batch(batch)]


def _revise_batch(fresh: Sequence[CaseRevision]) -> list[CaseRevision]:
    found = _stored(fresh)
    missing = [revision for revision in fresh if _identity(revision) not in found]
    if missing:
        CaseRevision.objects.bulk_create(missing, ignore_conflicts=True)  # a race leaves the other's row, which says the same
        found |= _stored(missing)
    return [found[_identity(revision)] for revision in fresh]


def _stored(wanted: Sequence[CaseRevision]) -> dict[tuple[int, str], CaseRevision]:
    rows = CaseRevision.objects.filter(
        case_id__in=[revision.case_id for revision in wanted], full_hash__in=[revision.full_hash for revision in wanted]
    )
    return {_identity(revision): revision for revision in rows}


def _identity(revision: CaseRevision) -> tuple[int, str]:
    return revision.case_id, revision.full_hash


def revision_of(case: Case) -> CaseRevision:
    """The frozen state of a case as it is now, not saved."""
    spec = spec_of(case)
    content, traits = content_of(spec), traits_of(spec)
    return CaseRevision(
        case=case,
        content=content,
        traits=traits,
        content_hash=canonical_hash(content),
        full_hash=canonical_hash({"content": content, "traits": traits}),
    )


def version_hash(full_hashes: Iterable[str]) -> str:
    """SHA-256 (hex) of a set of revisions, given by their full hashes; the order does not matter."""
    return canonical_hash(sorted(full_hashes))
