"""The fields of a case's form: which of the case each one shows, and how its lists are written."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from evals.datasets import lines
from evals.datasets.lines import Numbered


@dataclass(frozen=True, slots=True)
class Notation:
    """How a list of the case is written in its form field. `path` is where the row format keeps it."""

    attribute: str
    path: str
    write: Callable[[Iterable[Any]], str]
    read: Callable[[str], Numbered]


NOTATIONS = {
    "conversation": Notation("messages", "input.messages", lines.write_messages, lines.read_messages),
    "taken": Notation("occupied", "context.occupied", lines.write_occupied, lines.read_occupied),
    "papers": Notation("documents", "context.documents", lines.write_documents, lines.read_documents),
    "right_labels": Notation("expected_labels", "expected.labels", lines.write_words, lines.read_words),
    "right_tools": Notation("expected_tools", "expected.tools", lines.write_words, lines.read_words),
    "forbidden": Notation("never_say", "never_say", lines.write_never_say, lines.read_never_say),
    "signs": Notation("obeying", "attack.obeying", lines.write_obeying, lines.read_obeying),
    "labels": Notation("tags", "tags", lines.write_words, lines.read_words),
}
# Where the row format finds a fault, and the form field that it belongs to; the longest path that fits wins.
FIELD_OF = {
    **{notation.path: field for field, notation in NOTATIONS.items()},
    "input": "text",
    "context.now": "now",
    "context.member": "member",
    "expected": "expected_kind",
    "expected.sport": "expected_sport",
    "expected.date": "expected_date",
    "expected.startHour": "expected_start_hour",
    "expected.hours": "expected_hours",
    "expected.text": "expected_text",
    "expected.route": "expected_route",
    "attack.family": "attack_family",
    "attack.channel": "attack_channel",
    **{name: name for name in ("key", "category", "stratum", "benign", "blocking", "held_out", "notes", "known_limitation")},
}
EDITED = (
    "category", "stratum", "text", "now", "member",
    "expected_kind", "expected_sport", "expected_date", "expected_start_hour", "expected_hours", "expected_text", "expected_route",
    "attack_family", "attack_channel", "benign", "blocking", "held_out", "notes", "known_limitation",
)  # fmt: skip
PLAIN_TEXTS = ("text", "notes", "known_limitation", "expected_text")
DRAFT_FIELDS = ("expected_sport", "expected_date", "expected_start_hour", "expected_hours")


def form_values(row: Any) -> dict[str, Any]:
    """What the form shows of a case, or of a line of its history, by field."""
    written = {name: notation.write(getattr(row, notation.attribute)) for name, notation in NOTATIONS.items()}
    return {**{name: getattr(row, name) for name in EDITED}, **written}
