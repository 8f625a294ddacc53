from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class TargetConfig:
    """How a target is set for a whole run. `now` (aware) stands in for a case that does not fix its clock.

    `json_schema` asks the server to hold the model to a form; it is part of the prompt's hash, so a run never mixes both.
    """

    variant: str
    temperature: float
    max_tokens: int
    now: datetime
    json_schema: bool = False
