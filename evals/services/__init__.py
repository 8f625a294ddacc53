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
from evals.services.runs import (
    NothingToRun,
    NotRunnable,
    RunConfig,
    cancel_run,
    interrupt_run,
    rescore_run,
    resume_run,
    start_run,
)

__all__ = [
    "AlreadySigned",
    "AlreadySuperseded",
    "ImportSummary",
    "NotRunnable",
    "NotTheOwner",
    "NothingToCorrect",
    "NothingToFreeze",
    "NothingToRun",
    "ReasonMissing",
    "RunConfig",
    "cancel_run",
    "correct_recording",
    "freeze_version",
    "import_rows",
    "interrupt_run",
    "rescore_run",
    "resume_run",
    "sign_version",
    "start_run",
]
