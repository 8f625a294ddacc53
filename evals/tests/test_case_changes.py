"""One way to write a case: who, when and why stay in its history, and a signed case is not changed without a reason."""

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import Permission, User
from django.db.models import ProtectedError

from evals.datasets.rows import parse_rows
from evals.models import Case, Dataset
from evals.services import (
    AnswerNotWritten,
    Change,
    NotAnApprover,
    NothingToRevert,
    OwnWork,
    ReasonMissing,
    WrongStep,
    approve_case,
    freeze_version,
    import_rows,
    move_cases,
    reopen_case,
    retire_case,
    revert_case,
    save_case,
    sign_version,
)
from evals.tests.test_dataset_rows import SMALL, lines, with_

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 9, 15, 0, tzinfo=UTC)
LATER = datetime(2026, 3, 10, 15, 0, tzinfo=UTC)
WHY = "El precio subió el lunes."


@pytest.fixture
def experta():
    return approver("experta")


@pytest.fixture
def dataset(experta):
    return Dataset.objects.create(slug="reservas", name="Reservas", owner=experta)


def approver(name):
    user = User.objects.create_user(name)
    user.user_permissions.add(Permission.objects.get(codename="approve_case"))
    return user


def load(dataset, *rows, by=None, reason="", approved=True):
    """Approved unless told otherwise; what a program brings is approved behind its back."""
    parsed, problems = parse_rows(lines(*rows))
    assert problems == []
    import_rows(dataset=dataset, rows=parsed, change=Change(by, NOW, reason), approved=approved and by is not None)
    if approved and by is None:
        dataset.cases.update(status="approved")
    return dataset.cases.get(key=rows[0]["key"])


def sign(dataset):
    sign_version(version=freeze_version(dataset=dataset, by=None), by=dataset.owner, reason="la revisé", now=NOW)


def history(case):
    """The lines of a case, oldest first: kind, who, when, why."""
    found = case.history.order_by("history_id").select_related("history_user")
    return [(line.history_type, str(line.history_user), line.history_date, line.history_change_reason) for line in found]


# --- What a case says -------------------------------------------------------------------------------------------------------


def test_a_new_case_begins_as_proposed_with_its_author(dataset, experta):
    case = Case(dataset=dataset, key="nueva", category="clara", text="hola", expected_kind="refuse")
    save_case(case=case, change=Change(experta, NOW))
    case.refresh_from_db()
    assert (case.status, case.author, case.answer_written_at) == ("proposed", experta, NOW)
    assert history(case) == [("+", "experta", NOW, "")]


def test_an_edit_leaves_who_when_and_why_and_the_state_before_it(dataset, experta):
    case = load(dataset, SMALL)
    case.notes = "otra"
    save_case(case=case, change=Change(experta, LATER, WHY))
    assert history(case) == [("+", "None", NOW, ""), ("~", "experta", LATER, WHY)]
    assert list(case.history.order_by("history_id").values_list("notes", flat=True)) == ["", "otra"]
    assert case.author == experta


def test_saving_what_is_there_writes_no_line(dataset, experta):
    case = load(dataset, SMALL)
    save_case(case=case, change=Change(experta, LATER))
    assert len(history(case)) == 1


def test_a_case_of_a_signed_version_is_not_changed_without_a_reason(dataset, experta):
    case = load(dataset, SMALL)
    sign(dataset)
    case.notes = "otra"
    for reason in ("", "   ", "pues"):
        with pytest.raises(ReasonMissing, match="versión firmada"):
            save_case(case=case, change=Change(experta, LATER, reason))
    assert Case.objects.get().notes == ""
    save_case(case=case, change=Change(experta, LATER, WHY))
    assert Case.objects.get().notes == "otra"


def test_a_case_that_was_signed_once_still_asks_after_it_left_the_exam(dataset, experta):
    case = load(dataset, SMALL, with_(SMALL, key="otra"))
    sign(dataset)
    retire_case(case=case, change=Change(experta, NOW, WHY))
    sign(dataset)
    case.refresh_from_db()
    case.notes = "otra"
    with pytest.raises(ReasonMissing):
        save_case(case=case, change=Change(experta, LATER))


def test_control_a_case_that_nobody_signed_is_changed_without_a_reason(dataset, experta):
    case = load(dataset, SMALL)
    freeze_version(dataset=dataset, by=None)
    case.notes = "otra"
    save_case(case=case, change=Change(experta, LATER))
    assert Case.objects.get().notes == "otra"


def test_who_wrote_a_line_of_history_is_not_deleted(dataset, experta):
    otro = User.objects.create_user("otro")
    case = load(dataset, SMALL)
    case.notes = "otra"
    save_case(case=case, change=Change(otro, LATER))
    case.notes = "más"
    save_case(case=case, change=Change(experta, LATER))
    with pytest.raises(ProtectedError):
        otro.delete()


# --- Back to an earlier state -------------------------------------------------------------------------------------------------


def test_a_case_goes_back_to_any_state_with_a_reason_and_that_is_history_too(dataset, experta):
    case = load(dataset, SMALL)
    for notes in ("dos", "tres"):
        case.notes = notes
        save_case(case=case, change=Change(experta, NOW))
    first = case.history.earliest("history_id")
    with pytest.raises(ReasonMissing):
        revert_case(case=case, line=first, change=Change(experta, LATER, ""))
    revert_case(case=case, line=first, change=Change(experta, LATER, WHY))
    assert list(case.history.order_by("history_id").values_list("notes", flat=True)) == ["", "dos", "tres", ""]
    assert history(case)[-1][3] == f"Vuelve al 09/03/2026 10:00. {WHY}"
    with pytest.raises(NothingToRevert):
        revert_case(case=case, line=first, change=Change(experta, LATER, WHY))


# --- Proposed, approved, retired ------------------------------------------------------------------------------------------------


def test_a_case_goes_from_proposed_to_approved_to_retired_and_back(dataset, experta):
    case = load(dataset, SMALL, by=experta, approved=False)
    steps = [(approve_case, "approved"), (reopen_case, "proposed"), (approve_case, "approved"), (retire_case, "retired"),
             (reopen_case, "proposed"), (retire_case, "retired")]  # fmt: skip
    for step, status in steps:
        assert step(case=case, change=Change(experta, NOW, WHY)).status == status
    assert list(case.history.order_by("history_id").values_list("status", flat=True)) == ["proposed", *(status for _, status in steps)]
    assert {line[1:] for line in history(case)[1:]} == {("experta", NOW, WHY)}


@pytest.mark.parametrize(
    ("status", "step"),
    [("proposed", reopen_case), ("approved", approve_case), ("retired", retire_case), ("retired", approve_case)],
)
def test_a_step_that_does_not_begin_there_is_refused_with_a_sentence(dataset, experta, status, step):
    case = load(dataset, SMALL, by=experta)
    Case.objects.update(status=status)
    with pytest.raises(WrongStep, match="«clara-1» está"):
        step(case=case, change=Change(experta, NOW, WHY))
    assert Case.objects.get().status == status


@pytest.mark.parametrize("step", [retire_case, reopen_case])
def test_to_leave_the_exam_a_case_needs_a_reason(dataset, experta, step):
    case = load(dataset, SMALL, by=experta)
    with pytest.raises(ReasonMissing):
        step(case=case, change=Change(experta, NOW))
    assert Case.objects.get().status == "approved"


def test_approving_takes_a_person_with_the_permission(dataset, experta):
    case = load(dataset, SMALL, by=experta, approved=False)
    for by in (None, User.objects.create_user("otra")):
        with pytest.raises(NotAnApprover):
            approve_case(case=case, change=Change(by, NOW))
    assert approve_case(case=case, change=Change(experta, NOW)).status == "approved"


def test_the_author_does_not_approve_their_own_where_the_dataset_says_so(dataset, experta):
    Dataset.objects.update(second_person_approves=True)
    case = load(dataset, SMALL, by=experta)
    assert case.status == "proposed"
    with pytest.raises(OwnWork):
        approve_case(case=case, change=Change(experta, NOW))
    assert approve_case(case=case, change=Change(approver("otra"), NOW)).status == "approved"


def test_control_without_the_rule_the_author_approves(dataset, experta):
    case = load(dataset, SMALL, by=experta, approved=False)
    assert approve_case(case=case, change=Change(experta, NOW)).status == "approved"


def test_the_author_is_who_changed_it_last(dataset, experta):
    Dataset.objects.update(second_person_approves=True)
    otra = approver("otra")
    case = load(dataset, SMALL, by=experta)
    case.notes = "de otra"
    save_case(case=case, change=Change(otra, NOW))
    with pytest.raises(OwnWork):
        approve_case(case=case, change=Change(otra, NOW))
    assert approve_case(case=case, change=Change(experta, NOW)).status == "approved"


def test_nobody_approves_an_answer_that_no_person_has_saved(dataset, experta):
    case = load(dataset, SMALL, by=None, approved=False)
    with pytest.raises(AnswerNotWritten):
        approve_case(case=case, change=Change(experta, NOW))
    save_case(case=case, change=Change(experta, NOW))
    assert approve_case(case=case, change=Change(experta, NOW)).status == "approved"


@pytest.mark.parametrize(
    ("may_approve", "rule", "after"), [(True, False, "approved"), (False, False, "proposed"), (True, True, "proposed")]
)
def test_changing_an_approved_case_is_approving_it_again(dataset, may_approve, rule, after):
    case = load(dataset, SMALL)
    Dataset.objects.update(second_person_approves=rule)
    by = approver("otra") if may_approve else User.objects.create_user("otra")
    case = Case.objects.get()
    case.notes = "otra"
    assert save_case(case=case, change=Change(by, NOW)).status == after
    assert Case.objects.get().status == after


def test_many_cases_take_a_step_and_each_refusal_says_why(dataset, experta):
    load(dataset, SMALL, with_(SMALL, key="dos"), with_(SMALL, key="tres"), by=experta, approved=False)
    Case.objects.filter(key="dos").update(status="retired")
    moved = move_cases(cases=dataset.cases.order_by("key"), to=Case.Status.APPROVED, change=Change(experta, NOW, WHY))
    assert moved.moved == ["clara-1", "tres"]
    assert [key for key, _ in moved.refused] == ["dos"]
    assert "retirado" in moved.refused[0][1]
    assert Case.objects.get(key="tres").history.latest("history_id").history_change_reason == WHY


def test_two_thousand_cases_take_a_step_in_few_queries(dataset, experta, django_assert_max_num_queries):
    Case.objects.bulk_create(
        Case(
            dataset=dataset, key=f"caso-{number}", category="x", text="x", expected_kind="refuse", status="proposed", answer_written_at=NOW
        )
        for number in range(2_000)
    )
    with django_assert_max_num_queries(120):  # SQLite takes 999 values in one INSERT: 80 of them are lines of history
        assert len(move_cases(cases=dataset.cases.all(), to=Case.Status.APPROVED, change=Change(experta, NOW)).moved) == 2_000
    assert set(dataset.cases.values_list("status", flat=True)) == {"approved"}
    assert Case.history.filter(status="approved", history_user=experta, history_date=NOW).count() == 2_000


# --- Files ----------------------------------------------------------------------------------------------------------------------


def test_an_import_writes_a_line_for_each_case_that_it_adds_or_changes(dataset, experta):
    case = load(dataset, SMALL, with_(SMALL, key="igual"))
    load(dataset, with_(SMALL, notes="otra"), with_(SMALL, key="igual"), by=experta, reason=WHY)
    assert history(case) == [("+", "None", NOW, ""), ("~", "experta", NOW, WHY)]
    assert len(history(Case.objects.get(key="igual"))) == 1
    case.refresh_from_db()
    assert (case.notes, case.author) == ("otra", experta)


def test_a_file_that_changes_signed_cases_needs_a_reason_and_changes_nothing_without_it(dataset, experta):
    case = load(dataset, SMALL)
    sign(dataset)
    with pytest.raises(ReasonMissing):
        load(dataset, with_(SMALL, notes="otra"), with_(SMALL, key="nueva"), by=experta)
    assert list(Case.objects.values_list("key", "notes")) == [("clara-1", "")]
    load(dataset, with_(SMALL, key="nueva"), by=experta)  # adding asks for none
    load(dataset, with_(SMALL, notes="otra"), by=experta, reason=WHY)
    case.refresh_from_db()
    assert case.notes == "otra"


def test_a_file_with_a_person_behind_it_counts_as_written_and_one_of_a_program_does_not(dataset, experta):
    assert load(dataset, SMALL, by=None).answer_written_at is None
    assert load(dataset, SMALL, by=experta).answer_written_at == NOW
    assert len(history(Case.objects.get())) == 1


@pytest.mark.parametrize(("approved", "after"), [(True, "approved"), (False, "proposed")])
def test_what_a_file_changes_waits_for_approval_when_asked_to(dataset, experta, approved, after):
    load(dataset, SMALL)
    assert load(dataset, with_(SMALL, notes="otra"), by=experta, approved=approved).status == after


@pytest.mark.parametrize("by", [None, "nadie"])
def test_an_import_approves_nothing_for_who_may_not(dataset, by):
    """The service says it, so that no caller can forget; and it approves nothing unless told to."""
    rows, change = parse_rows(lines(SMALL))[0], Change(User.objects.create_user(by) if by else None, NOW)
    with pytest.raises(NotAnApprover, match="casos de «reservas»"):
        import_rows(dataset=dataset, rows=rows, change=change, approved=True)
    assert not dataset.cases.exists()
    import_rows(dataset=dataset, rows=rows, change=change)
    assert dataset.cases.get().status == "proposed"
