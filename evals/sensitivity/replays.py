"""What is replayed: a case with one recording, and the honest assistant's answer to it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from assistant.llm.scripted import ScriptedModel
from evals.datasets.revisions import spec_of
from evals.datasets.selection import recording_sets
from evals.models import Case, Dataset, Recording
from evals.targets.booking import BookingAssistant
from evals.targets.config import TargetConfig
from evals.values import CaseSpec, Outcome

BOOKING_TARGETS = ("booking-assistant",)
BASE_SET = "base"


@dataclass(frozen=True, slots=True)
class Replay:
    """A recording of a case. `now` (aware) is the case's clock, or what stands in for it; `invalid` is the human mark."""

    case: CaseSpec
    text: str
    invalid: bool | None
    now: datetime


Ask = Callable[[str], Outcome]


def replays_of(dataset: Dataset, *, set_name: str, now: datetime) -> list[Replay]:
    """The recordings in force of the approved cases that are not held out. Without a set: `base`, or every set where there is none."""
    sets = recording_sets(dataset)
    wanted = [set_name] if set_name else [BASE_SET] if BASE_SET in sets else sets
    recordings = Recording.objects.filter(case__dataset=dataset, case__status=Case.Status.APPROVED, case__held_out=False)
    chosen = recordings.filter(set_name__in=wanted, superseded_by__isnull=True).select_related("case").order_by("case_id", "set_name")
    return [Replay(spec_of(each.case), each.text, each.invalid, each.case.now or now) for each in chosen]


def honest(replay: Replay) -> Ask:
    """The assistant as it is: what it makes of a text that a model wrote for this case. Asks the same text once."""
    target = BookingAssistant(TargetConfig(BookingAssistant.variants[0], 0.0, 200, replay.now))
    known: dict[str, Outcome] = {}

    def ask(text: str) -> Outcome:
        if text not in known:
            known[text] = replace(target.run(replay.case, ScriptedModel(text)), raw=replay.text, marked_invalid=replay.invalid)
        return known[text]

    return ask
