"""A weakness wraps the assistant from outside. Where a guard can be taken out of the code itself, both do the same with every recording."""

from collections.abc import Iterator
from typing import Any

import pytest

import assistant.drafts
from bookings.rules import check_booking_rules
from evals.datasets.rows import parse_rows
from evals.management.demo import SEEDS
from evals.sensitivity import WEAKNESSES, Replay
from evals.sensitivity.replays import honest
from evals.tests.examples import MONDAY_AT_TEN

BY_NAME = {weakness.name: weakness for weakness in WEAKNESSES}


def recordings() -> Iterator[Replay]:
    for slug in ("kit", "reservas", "seguridad"):
        with (SEEDS / f"{slug}.jsonl").open("rb") as lines:
            rows, _ = parse_rows(lines)
        for row in rows:
            yield from (Replay(row.spec, each.text, each.invalid, row.spec.now or MONDAY_AT_TEN) for each in row.recordings)


def without_rule(code):
    return lambda request, now: [broken for broken in check_booking_rules(request, now) if broken != code]


def ignore_extra_keys(found: Any, allowed: set[str]) -> None:
    if allowed - found:
        raise assistant.drafts._Refused(assistant.drafts.Reason.MISSING_KEYS)


@pytest.mark.parametrize(
    ("name", "guard", "removed"),
    [
        ("deporte-sin-revisar", "check_booking_rules", without_rule("UNKNOWN_SPORT")),
        ("sin-minimo-de-horas", "check_booking_rules", without_rule("TOO_FEW_HOURS")),
        ("sin-maximo-de-horas", "check_booking_rules", without_rule("TOO_MANY_HOURS")),
        ("sin-limite-de-dias", "check_booking_rules", without_rule("TOO_FAR_AHEAD")),
        ("claves-extra", "_check_keys", ignore_extra_keys),
        ("claves-repetidas", "_read_pairs", dict),
        ("pregunta-sin-revisar", "find_unsafe", lambda question: ""),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_wrapper_does_what_the_code_would_do_without_the_guard(name, guard, removed, monkeypatch):
    replays = list(recordings())
    wrapped = [BY_NAME[name].answer(replay, honest(replay)) for replay in replays]
    untouched = [honest(replay)(replay.text) for replay in replays]
    monkeypatch.setattr(assistant.drafts, guard, removed)
    unguarded = [honest(replay)(replay.text) for replay in replays]
    assert [seen(outcome) for outcome in wrapped] == [seen(outcome) for outcome in unguarded]
    assert [seen(outcome) for outcome in untouched] != [seen(outcome) for outcome in unguarded]  # some recording shows it


def seen(outcome):
    return outcome.kind, outcome.draft, outcome.said
