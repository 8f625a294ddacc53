from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class TargetConfig:
    """How a target is set for a whole run. `now` (aware) stands in for a case that does not fix its clock."""

    variant: str
    temperature: float
    max_tokens: int
    now: datetime
