"""Every hash of a dataset, computed again from what it stands for. Triggers keep these rows; this notices who went around them."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from evals.datasets.revisions import BATCH, version_hash
from evals.models import CaseRevision, Dataset, DatasetVersion, Signature
from evals.values import canonical_hash


class Verified(NamedTuple):
    """How many rows were looked at, and a sentence for each whose hash is not that of what it says."""

    revisions: int
    versions: int
    signatures: int
    broken: list[str]


def verify_dataset(dataset: Dataset) -> Verified:
    """Revisions by content and whole, versions by their revisions, signatures by their version. Names rows, never what they say."""
    revisions = CaseRevision.objects.filter(case__dataset=dataset)
    versions = list(dataset.versions.order_by("number"))
    signatures = list(Signature.objects.filter(version__dataset=dataset).select_related("version__dataset"))
    broken = [
        *(fault for revision in revisions.iterator(chunk_size=BATCH) for fault in check_revision(revision)),
        *(fault for version in versions for fault in check_version(version)),
        *(fault for signature in signatures for fault in check_signature(signature)),
    ]
    return Verified(revisions.count(), len(versions), len(signatures), broken)


def verify_version(version: DatasetVersion) -> list[str]:
    """The same for what one version stands on."""
    return [
        *(fault for revision in version.revisions.iterator(chunk_size=BATCH) for fault in check_revision(revision)),
        *check_version(version),
        *(check_signature(version.signature) if hasattr(version, "signature") else ()),
    ]


def check_revision(revision: CaseRevision) -> Iterator[str]:
    found = {
        "del contenido": (revision.content_hash, canonical_hash(revision.content)),
        "completa": (revision.full_hash, canonical_hash({"content": revision.content, "traits": revision.traits})),
    }
    for name, (stored, computed) in found.items():
        if stored != computed:
            yield f"revisión {revision.pk} (caso {revision.case_id}): la huella {name} es {stored[:12]} y su texto da {computed[:12]}"


def check_version(version: DatasetVersion) -> Iterator[str]:
    hashes = list(version.revisions.values_list("full_hash", flat=True))
    if version.content_hash != (computed := version_hash(hashes)):
        yield f"versión {version}: la huella es {version.content_hash[:12]} y sus casos dan {computed[:12]}"
    if version.size != len(hashes):
        yield f"versión {version}: dice {version.size} casos y tiene {len(hashes)}"


def check_signature(signature: Signature) -> Iterable[str]:
    if signature.content_hash == signature.version.content_hash:
        return []
    return [f"firma de {signature.version}: firmó {signature.content_hash[:12]} y la versión dice {signature.version.content_hash[:12]}"]
