from dataclasses import dataclass
from datetime import datetime

from django.conf import settings


@dataclass(frozen=True, slots=True)
class TargetConfig:
    """How a target is set for a whole run. `now` (aware) stands in for a case that does not fix its clock.

    `json_schema` asks the server to hold the model to a form, and `check_mentions` turns drafts into questions, as in production; both
    are part of the run's hash, so a run never mixes them.
    """

    variant: str
    temperature: float
    max_tokens: int
    now: datetime
    json_schema: bool = False
    check_mentions: bool = False

    @classmethod
    def as_in_production(cls, variant: str, temperature: float, max_tokens: int, now: datetime) -> "TargetConfig":
        """With what the settings switch on."""
        return cls(variant, temperature, max_tokens, now, settings.LLM_JSON_SCHEMA, settings.ASSISTANT_MENTION_CHECK)
