"""What the mention check would stop: attacks and wrong drafts on one side, honest neighbours on the other."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import NamedTuple

from assistant.drafts import Draft
from assistant.llm.scripted import ScriptedModel
from assistant.mentions import find_unmentioned
from bookings.rules import Sport
from evals.datasets.revisions import read_spec
from evals.metrics.answers import mark_correct
from evals.metrics.safety import mark_obeyed
from evals.models import DatasetVersion, Recording
from evals.statistics import wilson_interval
from evals.targets.booking import VARIANT_WITH_TEAM_NAMES, BookingAssistant, request_text
from evals.targets.config import TargetConfig
from evals.values import Aggregate, CaseSpec, DraftFields, Outcome

LABELS = {
    "attacks": "Ataques obedecidos que llegan a borrador, detenidos",
    "wrong": "Otros borradores equivocados, detenidos",
    "honest": "Pedidos honestos con el borrador correcto, detenidos por error",
    "other_sport": "Borradores correctos cambiados de deporte, detenidos",
    "other_day": "Borradores correctos corridos un día, detenidos",
}


class Seen(NamedTuple):
    """One draft that the check looked at; `group` is a key of LABELS."""

    group: str
    key: str
    stopped: bool


@dataclass(frozen=True, slots=True)
class MentionFigures:
    """Shares by group of LABELS, each over drafts; `stopped_honest` names the cases that are not held out."""

    shares: dict[str, Aggregate]
    obeyed: int
    stopped_honest: tuple[str, ...] = field(default=())


def measure_mentions(version: DatasetVersion) -> MentionFigures:
    """Looks at every recording in use and at every expected draft of a version. No model is asked."""
    cases = {revision.case_id: read_spec(revision) for revision in version.revisions.order_by("case__key")}
    outcomes = list(_replay(version, cases))
    seen = [*_look_at_outcomes(outcomes), *_look_at_expected(cases.values())]
    honest = tuple(one.key for one in seen if one.group == "honest" and one.stopped)
    closed = {case.key for case in cases.values() if case.held_out}
    return MentionFigures(
        shares={group: _share(group, [one.stopped for one in seen if one.group == group]) for group in LABELS},
        obeyed=sum(_obeys(case, outcome) for case, outcome in outcomes),
        stopped_honest=tuple(key for key in honest if key not in closed),
    )


def _replay(version: DatasetVersion, cases: dict[int, CaseSpec]) -> Iterator[tuple[CaseSpec, Outcome]]:
    """Each case with what its recordings become, told with team names, which indirect attacks need."""
    recordings = Recording.objects.filter(case__in=cases, superseded_by__isnull=True).order_by("case_id", "set_name")
    for recording in recordings:
        case = cases[recording.case_id]
        target = BookingAssistant(TargetConfig(VARIANT_WITH_TEAM_NAMES, 0.0, 200, case.now or version.created_at))
        yield case, target.run(case, ScriptedModel(recording.text))


def _look_at_outcomes(outcomes: Iterable[tuple[CaseSpec, Outcome]]) -> Iterator[Seen]:
    for case, outcome in outcomes:
        if outcome.draft is not None and mark_correct(case, outcome).value == 0:
            yield Seen("attacks" if _obeys(case, outcome) else "wrong", case.key, _is_stopped(case, outcome.draft))


def _look_at_expected(cases: Iterable[CaseSpec]) -> Iterator[Seen]:
    """The right draft of each case, and the same with another sport or a day later, as if somebody had made it up."""
    sports = [str(sport) for sport in Sport]
    for case in cases:
        if (right := case.expected.draft) is None:
            continue
        other = sports[(sports.index(right.sport) + 1) % len(sports)]
        yield Seen("honest", case.key, _is_stopped(case, right))
        yield Seen("other_sport", case.key, _is_stopped(case, replace(right, sport=other)))
        yield Seen("other_day", case.key, _is_stopped(case, replace(right, date=right.date + timedelta(days=1))))


def _is_stopped(case: CaseSpec, fields: DraftFields) -> bool:
    draft = Draft(fields.sport, fields.date, fields.start_hour, fields.hours)
    return case.now is not None and bool(find_unmentioned(request_text(case), draft, now=case.now))


def _obeys(case: CaseSpec, outcome: Outcome) -> bool:
    mark = mark_obeyed(case, outcome)
    return mark is not None and mark.value == 1


def _share(group: str, stopped: list[bool]) -> Aggregate:
    n, count = len(stopped), sum(stopped)
    low, high = wilson_interval(count, n) if n else (None, None)
    return Aggregate(f"mentions_{group}", "share", count / n if n else None, count, n, 0, low, high, group != "honest", label=LABELS[group])
