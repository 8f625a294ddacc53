"""The one write path of the desk: admin, commands, API and tasks come through here."""

from evals.services.datasets import (
    AlreadySigned,
    AlreadySuperseded,
    ImportSummary,
    NothingToCorrect,
    NothingToFreeze,
    NotTheOwner,
    ReasonMissing,
    correct_recording,
    freeze_version,
    import_rows,
    sign_version,
)

__all__ = [
    "AlreadySigned",
    "AlreadySuperseded",
    "ImportSummary",
    "NotTheOwner",
    "NothingToCorrect",
    "NothingToFreeze",
    "ReasonMissing",
    "correct_recording",
    "freeze_version",
    "import_rows",
    "sign_version",
]
