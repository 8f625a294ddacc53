"""The systems under test. A target answers one case with one model, and touches no database."""

from typing import Protocol

from assistant.llm import Model
from evals.targets.booking import BookingAssistant
from evals.targets.config import TargetConfig
from evals.values import CaseSpec, Outcome

__all__ = ["TARGETS", "Target", "TargetConfig"]


class Target(Protocol):
    """A system under test, configured."""

    variants: tuple[str, ...]

    def __init__(self, config: TargetConfig) -> None: ...

    def run(self, case: CaseSpec, model: Model) -> Outcome:
        """Raises ModelError when the provider gave no answer."""

    def prompt_hash(self) -> str:
        """SHA-256 (hex) of the words of the prompt."""

    def system_prompt(self) -> str:
        """The instructions, as sent."""

    def prompt_characters(self, case: CaseSpec) -> int:
        """Length of everything that would be sent for this case."""


TARGETS: dict[str, type[Target]] = {"booking-assistant": BookingAssistant}
