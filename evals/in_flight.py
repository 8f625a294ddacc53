"""Rows in flight: claimed and not yet stored, with the calls that they have bought."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from assistant.ledger import RecordedModel, record_calls
from assistant.llm import Model
from assistant.models import ModelCall
from evals.daily_budget import settle_calls
from evals.models import Recording
from evals.values import CaseSpec, Outcome


@dataclass(frozen=True, slots=True)
class Claimed:
    """A row in flight: claimed under `token`, with what asking it may cost at most reserved at `claimed_at`.

    `is_probe`: it tries whether an outage is over. `asked_before`: an outage put it off, at `put_off_at`.
    """

    result_id: int
    token: str
    case: CaseSpec
    model: Model | None
    recording: Recording | None
    reserved_micro_usd: int = 0
    claimed_at: datetime | None = None
    is_probe: bool = False
    asked_before: bool = False
    put_off_at: datetime | None = None

    @property
    def calls(self) -> list[ModelCall]:
        """What asking it has bought so far: nothing when it replays a recording."""
        return self.model.calls if isinstance(self.model, RecordedModel) else []

    @property
    def spent_micro_usd(self) -> int:
        return sum(call.cost_micro_usd for call in self.calls)

    def mark_of(self, answer: Outcome) -> bool | None:
        """The human mark of the recording whose words the answer is; what the rules answered of themselves bears none."""
        return self.recording.invalid if self.recording and not answer.trace.get("quick") else None


def settle_rows(run_id: int, rows: Iterable[Claimed]) -> None:
    """Stores what these rows have bought in the ledger, and settles what the day had reserved for them.

    Also for a row whose lease was lost: its answer is dropped, its call was made.
    """
    calls: list[ModelCall] = []
    reserved: defaultdict[datetime, int] = defaultdict(int)
    actual: defaultdict[datetime, int] = defaultdict(int)
    for row in rows:
        if row.claimed_at is not None:
            reserved[row.claimed_at] += row.reserved_micro_usd
            actual[row.claimed_at] += row.spent_micro_usd
        calls += row.calls
    if calls:
        record_calls(calls, reference=f"run:{run_id}")
    for moment in sorted(reserved):
        settle_calls(reserved=reserved[moment], actual=actual[moment], at=moment)
