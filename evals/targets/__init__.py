"""The systems under test. A target answers one case with one model, and touches no database."""

from typing import Protocol

from django.conf import settings

from assistant.llm import Model, ModelNotConfigured
from assistant.llm.absent import AbsentModel
from evals.targets.booking import BookingAssistant
from evals.targets.config import TargetConfig
from evals.targets.quick import QuickRules, QuickThenAssistant
from evals.values import CaseSpec, Outcome

__all__ = ["TARGETS", "Target", "TargetConfig", "answers_of", "released_target", "stand_in"]


class Target(Protocol):
    """A system under test, configured. Its first variant is what production uses.

    A case whose right answer is of a kind outside `answers` never passes.
    """

    variants: tuple[str, ...]
    asks_model: bool
    answers: frozenset[str]

    def __init__(self, config: TargetConfig) -> None: ...

    def run(self, case: CaseSpec, model: Model) -> Outcome:
        """Raises ModelError when the provider gave no answer."""

    def prompt_hash(self) -> str:
        """SHA-256 (hex) of what decides the answers besides model and case: the words of the prompt, or the rules."""

    def system_prompt(self) -> str:
        """The instructions, as sent."""

    def prompt_characters(self, case: CaseSpec) -> int:
        """Length of everything that would be sent for this case."""


TARGETS: dict[str, type[Target]] = {
    "booking-assistant": BookingAssistant,
    "quick": QuickRules,
    "quick-booking-assistant": QuickThenAssistant,
}


def answers_of(name: str) -> frozenset[str]:
    """The kinds of right answer (`Expected.kind`) that this target can give; empty for one that is not known, of which nothing is."""
    return TARGETS[name].answers if name in TARGETS else frozenset()


def released_target(name: str) -> str:
    """What a release of this target measures: our assistant goes out with the rules before it where ASSISTANT_QUICK says so, only there."""
    ours = {False: "booking-assistant", True: "quick-booking-assistant"}
    return ours[settings.ASSISTANT_QUICK] if name in ours.values() else name


def stand_in(target: Target) -> Model | None:
    """What a target gets where nothing is replayed: None when it needs a model, else one that refuses to be asked."""
    return None if target.asks_model else AbsentModel(ModelNotConfigured("este sistema no usa modelo"))
