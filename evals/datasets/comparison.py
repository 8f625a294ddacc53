"""Two states of a dataset side by side: frozen versions, or the approved cases as they are now."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from evals.datasets.revisions import read_spec, revision_of, spec_of
from evals.models import Case, Dataset, DatasetVersion
from evals.values import CaseSpec

NOW = "ahora"
Side = DatasetVersion | None  # None: the approved cases as they are now
Kind = Literal["added", "retired", "changed"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Ids of the cases that differ, each in the order of their keys, and how many say the same. `held_out` are closed in either state."""

    dataset: Dataset
    before: Side
    after: Side
    added: tuple[int, ...]
    retired: tuple[int, ...]
    changed: tuple[int, ...]
    unchanged: int
    held_out: frozenset[int]

    @property
    def differing(self) -> list[tuple[Kind, int]]:
        """Every difference: changed ones first."""
        kinds: tuple[tuple[Kind, tuple[int, ...]], ...] = (("changed", self.changed), ("added", self.added), ("retired", self.retired))
        return [(kind, case_id) for kind, ids in kinds for case_id in ids]


class CaseChange(NamedTuple):
    """One case that differs; `before` or `after` is None where it was not there."""

    kind: Kind
    case_id: int
    before: CaseSpec | None
    after: CaseSpec | None

    @property
    def key(self) -> str:
        spec = self.after or self.before
        return spec.key if spec else ""


def compare_states(dataset: Dataset, before: Side, after: Side) -> Comparison:
    """What differs between two states of one dataset, by the full hash of each case."""
    old, new = _hashes(dataset, before), _hashes(dataset, after)
    order = {pk: place for place, pk in enumerate(dataset.cases.order_by("key").values_list("pk", flat=True))}

    def sort(ids: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted(ids, key=order.__getitem__))

    both = old.keys() & new.keys()
    changed = sort(pk for pk in both if old[pk] != new[pk])
    held_out = frozenset(dataset.cases.filter(held_out=True).values_list("pk", flat=True)) | _frozen_held_out(before, after)
    added, retired = sort(new.keys() - old.keys()), sort(old.keys() - new.keys())
    return Comparison(dataset, before, after, added, retired, changed, len(both) - len(changed), held_out)


def load_changes(comparison: Comparison, wanted: Iterable[tuple[Kind, int]]) -> list[CaseChange]:
    """Both states of some of the cases that differ."""
    pairs = list(wanted)
    ids = [pk for _, pk in pairs]
    old, new = _specs(comparison.dataset, comparison.before, ids), _specs(comparison.dataset, comparison.after, ids)
    return [CaseChange(kind, pk, old.get(pk), new.get(pk)) for kind, pk in pairs]


def say_side(side: Side) -> str:
    """`v4`, or `lo de ahora`."""
    return f"v{side.number}" if side else "lo de ahora"


def say_counts(comparison: Comparison) -> str:
    """`3 cambiados, 1 agregado, 0 retirados; 196 iguales`."""
    words = (("cambiado", comparison.changed), ("agregado", comparison.added), ("retirado", comparison.retired))
    parts = [f"{len(ids):,} {word}{'' if len(ids) == 1 else 's'}" for word, ids in words]
    return f"{', '.join(parts)}; {comparison.unchanged:,} igual{'' if comparison.unchanged == 1 else 'es'}"


def _hashes(dataset: Dataset, side: Side) -> dict[int, str]:
    if side:
        return dict(side.revisions.values_list("case_id", "full_hash"))
    return {case.pk: revision_of(case).full_hash for case in dataset.cases.filter(status=Case.Status.APPROVED).iterator()}


def _frozen_held_out(*sides: Side) -> frozenset[int]:
    return frozenset(pk for side in sides if side for pk in side.revisions.filter(traits__held_out=True).values_list("case_id", flat=True))


def _specs(dataset: Dataset, side: Side, ids: list[int]) -> dict[int, CaseSpec]:
    if side:
        return {revision.case_id: read_spec(revision) for revision in side.revisions.filter(case__in=ids)}
    return {case.pk: spec_of(case) for case in dataset.cases.filter(pk__in=ids, status=Case.Status.APPROVED)}
