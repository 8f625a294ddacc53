from evals.models.datasets import Case, CaseRevision, Dataset, DatasetVersion, HeldOutOpening, Recording, Signature
from evals.models.gates import GatePolicy, ProductThreshold
from evals.models.imports import PendingImport
from evals.models.runs import Result, Run
from evals.models.scorings import Score, Scoring
from evals.models.spending import DaySpending

__all__ = [
    "Case",
    "CaseRevision",
    "Dataset",
    "DatasetVersion",
    "DaySpending",
    "GatePolicy",
    "HeldOutOpening",
    "PendingImport",
    "ProductThreshold",
    "Recording",
    "Result",
    "Run",
    "Score",
    "Scoring",
    "Signature",
]
