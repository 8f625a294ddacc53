"""What past runs answered to a case. It is shown once a person has saved what is right, and never before."""

from collections.abc import Container
from typing import NamedTuple

from django.db.models import OuterRef, Subquery

from evals.admin.words import say_answer
from evals.datasets.revisions import revision_of
from evals.models import Case, Result, Score

LATEST = 8
WAITS = "se ve cuando una persona haya guardado lo correcto del caso"
GRADE_WORDS = {1.0: "correcto", None: "sin nota"}


class PastAnswer(NamedTuple):
    """One answer of a run: where it is, who gave it, how it was graded, and whether the case asked something else then."""

    result_id: int
    run: str
    answer: str
    grade: str
    asked_otherwise: bool


def was_written(case: Case) -> bool:
    """True once a person has saved what is right. Until then no output of the case is shown, recorded ones neither."""
    return case.answer_written_at is not None


def past_answers(case: Case, *, open_cases: Container[int]) -> list[PastAnswer]:
    """The newest answers to a case, newest first; none while nobody has saved its right answer, or has opened what is held out."""
    if not was_written(case):
        return []
    grade = Score.objects.filter(result=OuterRef("pk"), metric="correct", scoring__is_current=True).values("value")[:1]
    found = Result.objects.filter(revision__case=case, status__in=(Result.Status.DONE, Result.Status.ERROR))
    if case.pk not in open_cases:
        found = found.filter(revision__traits__held_out__isnull=True, revision__case__held_out=False)
    asked = revision_of(Case.objects.get(pk=case.pk)).content_hash  # as stored: a refused form leaves the other half filled
    rows = found.select_related("run", "revision").annotate(grade=Subquery(grade)).order_by("-run_id", "repetition")[:LATEST]
    return [_past_answer(result, asked) for result in rows]


def _past_answer(result: Result, asked: str) -> PastAnswer:
    run = result.run
    return PastAnswer(
        result.pk,
        f"corrida {run.pk}, {run.get_model_kind_display()}, {run.model_name}",
        say_answer(result),
        "error" if result.status == Result.Status.ERROR else GRADE_WORDS.get(result.grade, "incorrecto"),  # type: ignore[attr-defined]
        result.revision.content_hash != asked,
    )
