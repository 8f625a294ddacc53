from evals.models.datasets import Case, CaseRevision, Dataset, DatasetVersion, Recording, Signature
from evals.models.gates import GatePolicy, ProductThreshold
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
    "ProductThreshold",
    "Recording",
    "Result",
    "Run",
    "Score",
    "Scoring",
    "Signature",
]
