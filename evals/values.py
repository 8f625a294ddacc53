"""Read this first: the frozen values that travel through the desk. No Django here.

A `CaseSpec` is asked to a target, which gives an `Outcome`; metrics turn both into `Mark`s; marks are folded into
`Aggregate`s; the gate turns aggregates and a `Policy` into a `Verdict`.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Literal, NamedTuple

from bookings.values import OccupiedHour as Occupied

ModelKind = Literal["scripted", "real", "rules"]  # rules: no model at all
Channel = Literal["direct", "indirect"]


class Decision(StrEnum):
    """May this version go out? INCONCLUSIVE is never a yes."""

    PASS = "PASS"  # noqa: S105 -- a verdict
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"


# --- What is asked ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DraftFields:
    """The four facts of a booking draft; who books is not one of them."""

    sport: str
    date: date
    start_hour: int
    hours: int

    def as_row(self) -> dict[str, Any]:
        """The fields as the dataset file spells them."""
        return {"sport": self.sport, "date": self.date.isoformat(), "startHour": self.start_hour, "hours": self.hours}


def draft_from_row(row: Mapping[str, Any]) -> DraftFields:
    """Reads what `DraftFields.as_row` wrote."""
    return DraftFields(row["sport"], date.fromisoformat(row["date"]), row["startHour"], row["hours"])


@dataclass(frozen=True, slots=True)
class Expected:
    """What is right. `kind` says which of the other fields counts."""

    kind: Literal["draft", "clarify", "refuse", "none", "text", "labels", "route", "tools"]
    draft: DraftFields | None = None
    text: str = ""
    labels: tuple[str, ...] = ()
    route: str = ""
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NeverSay:
    """What must never reach a person: a phrase, a pattern, or a rule that only a judge can decide."""

    kind: Literal["phrase", "pattern", "rule"]
    text: str


@dataclass(frozen=True, slots=True)
class ObeyingSign:
    """One sign that the model did what an attacker asked: draft fields, a phrase, or a tool call."""

    kind: Literal["draft", "phrase", "tool"]
    fields: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True, slots=True)
class Attack:
    """An attack case: its family, its way in, and what obeying it would look like (any one sign is enough)."""

    family: str
    channel: Channel
    obeying: tuple[ObeyingSign, ...]


@dataclass(frozen=True, slots=True)
class CaseSpec:
    """One exam question, frozen. `now` is aware, in Lima, or None where the clock does not matter."""

    key: str
    category: str
    stratum: Literal["happy", "edge", "adversarial"]
    expected: Expected
    text: str = ""
    messages: tuple[Mapping[str, Any], ...] = ()
    now: datetime | None = None
    occupied: tuple[Occupied, ...] = ()
    documents: tuple[str, ...] = ()
    member: str = ""
    never_say: tuple[NeverSay, ...] = ()
    attack: Attack | None = None
    benign: bool = False
    blocking: bool = False
    held_out: bool = False
    tags: tuple[str, ...] = ()
    notes: str = ""
    known_limitation: str = ""

    @property
    def checks_effect(self) -> bool:
        """True when confirming the draft must create exactly the expected booking, for the session's member."""
        return self.expected.kind == "draft" and bool(self.member)


def canonical_json(value: Any) -> str:
    """JSON with one spelling per value: sorted keys, no spaces, UTF-8 text as it is."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical_hash(value: Any) -> str:
    """SHA-256 (hex) of the canonical JSON of `value`."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def storable_text(text: str) -> str:
    """`text` with NUL and lone surrogates written as escapes: a model may send them, PostgreSQL stores neither."""
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()


# --- What came out ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Spending:
    """Tokens, milliseconds and micro-USD of one answer. `measured` is False when tokens were estimated."""

    input_tokens: int = 0
    output_tokens: int = 0
    measured: bool = False
    latency_ms: float = 0.0
    provider_ms: float = 0.0
    cost_micro_usd: int = 0
    price_known: bool = True
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class EffectCheck:
    """What confirming the draft did in the database: the bookings that appeared, or why none did."""

    correct: bool
    rows: tuple[Mapping[str, Any], ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the system under test did with one case.

    `said` is the free text that reached a person, `raw` the model's words; `marked_invalid` is the human mark of the
    replayed recording; `saw_indirect` tells whether text written by strangers (team names) was in the prompt.
    """

    kind: str
    draft: DraftFields | None = None
    said: str = ""
    reason: str = ""
    raw: str = ""
    finish_reason: str = ""
    tools: tuple[str, ...] = ()
    spending: Spending = Spending()
    trace: Mapping[str, Any] = field(default_factory=dict)
    marked_invalid: bool | None = None
    saw_indirect: bool = False
    effect: EffectCheck | None = None

    def as_row(self) -> dict[str, Any]:
        """JSON-ready; `Outcome.from_row` reads it back."""
        row = asdict(self)
        row["draft"] = self.draft and self.draft.as_row()
        row["raw"] = storable_text(self.raw)
        return row

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Outcome":
        """Reads what `as_row` wrote."""
        parts = dict(row)
        parts["draft"] = row["draft"] and draft_from_row(row["draft"])
        parts["spending"] = Spending(**row["spending"])
        parts["effect"] = row["effect"] and EffectCheck(**{**row["effect"], "rows": tuple(row["effect"]["rows"])})
        parts["tools"] = tuple(row["tools"])
        return cls(**parts)


# --- What we think of it ------------------------------------------------------------------------------------------------


class Mark(NamedTuple):
    """One opinion on one outcome. `value` None: the metric applies but cannot say, and `reason` tells why."""

    value: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A metric over a run. `value` is None when nothing was measured; `missing` counts rows that could not be scored.

    Shares (`unit` "share") carry numerator, denominator and a Wilson 95 % interval; the rest (`count`, `ms`, `tokens`,
    `micro_usd`) carry a value and the n (`denominator`) behind it. `label` is the name that people read; `weight` is how many
    points of the denominator one row is worth (4 where a row has four fields).
    """

    metric: str
    unit: Literal["share", "count", "ms", "tokens", "micro_usd"]
    value: float | None
    numerator: float | None = None
    denominator: int = 0
    missing: int = 0
    low: float | None = None
    high: float | None = None
    higher_is_better: bool = True
    note: str = ""
    label: str = ""
    weight: int = 1

    def as_row(self) -> dict[str, Any]:
        """JSON-ready; `Aggregate(**row)` reads it back."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Threshold:
    """A product threshold: `metric op value`, with the written reason why. `max-drop` compares with the baseline, in the metric's unit."""

    metric: str
    op: Literal[">=", "<=", "max-drop"]
    value: float
    justification: str


@dataclass(frozen=True, slots=True)
class Policy:
    """What a release must satisfy besides the invariants, which are always demanded."""

    thresholds: tuple[Threshold, ...] = ()
    release_kinds: tuple[ModelKind, ...] = ("scripted",)
    max_known_limitations: int = 0

    def as_row(self) -> dict[str, Any]:
        """JSON-ready; `policy_from_row` reads it back."""
        return asdict(self)


def policy_from_row(row: Mapping[str, Any] | None) -> Policy | None:
    """Reads what `Policy.as_row` wrote; no row, no policy."""
    if row is None:
        return None
    thresholds = tuple(Threshold(**threshold) for threshold in row["thresholds"])
    return Policy(thresholds, tuple(row["release_kinds"]), row["max_known_limitations"])


@dataclass(frozen=True, slots=True)
class GateFacts:
    """What the gate must know of a run besides its aggregates. Counts are results; the tuples hold case keys.

    `against` names, by metric, the cases that count against a safety threshold.
    """

    model_kind: ModelKind
    expected: int
    measured: int
    errors_by_cause: Mapping[str, int] = field(default_factory=dict)
    blocking_failed: tuple[str, ...] = ()
    invalid_accepted: tuple[str, ...] = ()
    limitations: tuple[str, ...] = ()
    limitations_passing: tuple[str, ...] = ()
    against: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class Reason(NamedTuple):
    """One sentence of a verdict, in Spanish: what it decides (PASS is a note), the metric and the case keys it rests on."""

    decision: Decision
    text: str
    metric: str = ""
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The gate's answer, with its reasons: what fails first, then what is missing, then notes."""

    decision: Decision
    reasons: tuple[Reason, ...] = ()

    def as_row(self) -> dict[str, Any]:
        """JSON-ready; `verdict_from_row` reads it back."""
        return {"decision": self.decision.value, "reasons": [reason._asdict() for reason in self.reasons]}


def verdict_from_row(row: Mapping[str, Any] | None) -> Verdict | None:
    """Reads what `Verdict.as_row` wrote; no row, no verdict yet."""
    if row is None:
        return None
    reasons = (Reason(Decision(reason["decision"]), reason["text"], reason["metric"], tuple(reason["keys"])) for reason in row["reasons"])
    return Verdict(Decision(row["decision"]), tuple(reasons))
