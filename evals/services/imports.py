"""Writes of a file that was previewed: kept for its owner, then imported as it was shown, or not at all."""

import hashlib
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from evals.models import Dataset, PendingImport
from evals.models.imports import KEPT_FOR, forget_files
from evals.services.changes import Change, demand_reason
from evals.services.datasets import ImportSummary, import_rows


class ImportExpired(Exception):  # noqa: N818 -- an answer of the domain, not a fault
    """The file is no longer kept."""

    def __init__(self) -> None:
        super().__init__("Ese archivo ya se importó, se reemplazó o pasó más de una hora: súbelo otra vez.")


class PreviewChanged(Exception):  # noqa: N818 -- an answer of the domain, not a fault
    """The file would not do what was shown."""

    def __init__(self) -> None:
        super().__init__("El dataset cambió mientras mirabas, y no se guardó nada. Esto es lo que el archivo haría ahora.")


def may_import(person: User) -> bool:
    """Importing adds and changes cases."""
    return person.has_perms(["evals.add_case", "evals.change_case"])


@transaction.atomic
def keep_file(*, dataset: Dataset, content: bytes, name: str, by: User, now: datetime) -> PendingImport:
    """Keeps a file until its owner confirms it; what is an hour old, and their earlier file for this dataset, go."""
    forget_files(now=now)
    PendingImport.objects.filter(dataset=dataset, brought_by=by).delete()
    return PendingImport.objects.create(
        dataset=dataset, brought_by=by, file_name=name[:200], content=content, content_hash=_hash_of(content), created_at=now
    )


def find_kept(*, pk: int, dataset: Dataset, by: User, now: datetime) -> PendingImport:
    """The file of this person for this dataset. Raises ImportExpired."""
    kept = PendingImport.objects.filter(pk=pk, dataset=dataset, brought_by=by, created_at__gte=now - KEPT_FOR).first()
    if kept is None or _hash_of(kept.content) != kept.content_hash:
        raise ImportExpired
    return kept


@transaction.atomic
def confirm_import(*, kept: PendingImport, seen: str, change: Change, approved: bool) -> ImportSummary:
    """Imports a kept file as the preview with the digest `seen` said. Raises ImportExpired, PreviewChanged or ReasonMissing."""
    demand_reason(change.reason, "Importar necesita un motivo")
    dataset = Dataset.objects.select_for_update().get(pk=kept.dataset_id)
    if not PendingImport.objects.select_for_update().filter(pk=kept.pk).exists():
        raise ImportExpired
    from evals.selectors.imports import preview_import  # late: it loads what reads Excel, and most services read no file

    preview = preview_import(dataset, bytes(kept.content), name=kept.file_name, by=change.by, now=change.now)
    if preview.read.problems or preview.digest != seen:
        raise PreviewChanged
    summary = import_rows(dataset=dataset, rows=preview.read.rows, change=change, approved=approved)
    kept.delete()
    return summary


def _hash_of(content: bytes | memoryview) -> str:
    return hashlib.sha256(content).hexdigest()
