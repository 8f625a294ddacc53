"""The database itself refuses to change what results point at."""

from datetime import UTC, datetime

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, transaction

from evals.datasets.rows import parse_rows
from evals.models import (
    Case,
    CaseRevision,
    Dataset,
    DatasetVersion,
    GatePolicy,
    HeldOutOpening,
    ProductThreshold,
    Recording,
    Result,
    Run,
    Scoring,
    Signature,
)
from evals.services import Change, freeze_version, import_rows, sign_version
from evals.tests.desk import let_approve
from evals.tests.test_dataset_rows import SMALL, lines, with_

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 9, 15, 0, tzinfo=UTC)

# model or table, a column that may be written in peace elsewhere, a value for it
FROZEN = [
    (CaseRevision, "content_hash", "x"),
    (DatasetVersion, "size", 9),
    (DatasetVersion.revisions.through, "caserevision_id", None),
    (Signature, "reason", "otra"),
    (HeldOutOpening, "reason", "otra"),
    (Recording, "text", "otra"),
    (Result, "outcome_kind", "refuse"),
    (Scoring, "decision", "FAIL"),
    (Case.history.model, "notes", "otra"),
    (Dataset.history.model, "name", "otro"),
    (apps.get_model("evals", "HistoricalDataset_delegates"), "user_id", None),
    (GatePolicy.history.model, "needs_real", True),
    (ProductThreshold.history.model, "value", 0.5),
]


@pytest.fixture(autouse=True)
def facts():
    """A row in each frozen table, and a second revision for the join table to point at."""
    policy = GatePolicy.objects.create(dataset=Dataset.objects.create(slug="otro", name="Otro"))
    ProductThreshold.objects.create(policy=policy, metric="correct", op=">=", value=0.9, justification="x")
    owner = let_approve("experta")
    dataset = Dataset.objects.create(slug="reservas", name="Reservas", owner=owner)
    dataset.delegates.add(owner)
    rows, _ = parse_rows(lines(with_(SMALL, recordings=[{"text": "{}"}])))
    import_rows(dataset=dataset, rows=rows, change=Change(owner, NOW), approved=True)
    version = freeze_version(dataset=dataset, by=None)
    sign_version(version=version, by=owner, reason="la primera", now=NOW)
    Case.objects.update(notes="otra")
    HeldOutOpening.objects.create(case=Case.objects.get(), opened_by=owner, opened_at=NOW, reason="una")
    freeze_version(dataset=dataset, by=None)
    run = Run.objects.create(
        version=version, target="t", model_kind="scripted", model_name="m", prompt_variant="base", prompt_hash="h",
        temperature=0, max_tokens=1, expected_results=1, created_at=NOW,
    )  # fmt: skip
    Result.objects.create(run=run, revision=version.revisions.get(), status="done", outcome_kind="draft", outcome={}, finished_at=NOW)
    Scoring.objects.create(run=run, metrics_hash="h", created_at=NOW, closed_at=NOW, decision="PASS", verdict={"a": 1}, aggregates={"b": 2})


def new_value(value):
    return CaseRevision.objects.latest("id").pk if value is None else value


def update_by_sql(model, column, value):
    row = model.objects.order_by("pk").first()
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {model._meta.db_table} SET {column} = %s WHERE {model._meta.pk.column} = %s", [value, row.pk])  # noqa: S608
    return row


@pytest.mark.parametrize(("model", "column", "value"), FROZEN)
def test_neither_the_orm_nor_sql_changes_a_frozen_row(model, column, value):
    before = list(model.objects.order_by("pk").values())
    for update in (lambda: model.objects.update(**{column: new_value(value)}), lambda: update_by_sql(model, column, new_value(value))):
        with pytest.raises(IntegrityError, match="frozen"), transaction.atomic():
            update()
    assert list(model.objects.order_by("pk").values()) == before


@pytest.mark.parametrize(("model", "column", "value"), FROZEN)
def test_control_without_the_trigger_the_same_update_succeeds(model, column, value):
    table = model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER frozen_UPDATE_{table}" + (f" ON {table}" if connection.vendor == "postgresql" else ""))
    row = update_by_sql(model, column, new_value(value))
    assert model.objects.values_list(column, flat=True).get(pk=row.pk) == new_value(value)


@pytest.mark.parametrize("change", [{"verdict": None}, {"aggregates": {"b": 3}}, {"verdict": {"a": 2}}])
def test_a_stored_verdict_and_its_figures_are_frozen_together(change):
    with pytest.raises(IntegrityError, match="verdict"), transaction.atomic():
        Scoring.objects.update(**change)


def test_the_health_that_a_signature_keeps_is_frozen_with_it():
    with pytest.raises(IntegrityError, match="signature is frozen"), transaction.atomic():
        Signature.objects.update(health={"level": "bien"})
    assert Signature.objects.exclude(health=None).exists()


def test_a_scoring_may_stop_being_the_current_one():
    Scoring.objects.update(is_current=False)
    assert not Scoring.objects.get().is_current


def test_a_signed_version_takes_no_more_cases_and_an_unsigned_one_does():
    signed, unsigned = DatasetVersion.objects.order_by("number")
    extra = unsigned.revisions.get()
    with pytest.raises(IntegrityError, match="signed"), transaction.atomic():
        signed.revisions.add(extra)
    unsigned.revisions.add(signed.revisions.get())
    assert (signed.revisions.count(), unsigned.revisions.count()) == (1, 2)


def test_a_result_that_is_not_done_may_still_change():
    done = Result.objects.get()
    pending = Result.objects.create(run=done.run, revision=done.revision, repetition=2)
    Result.objects.filter(pk=pending.pk).update(status="error", error_cause="timeout")
    assert Result.objects.get(pk=pending.pk).status == "error"


@pytest.mark.parametrize("model", [Case, CaseRevision, DatasetVersion])
def test_what_results_stand_on_is_not_deleted(model):
    with pytest.raises(IntegrityError), transaction.atomic():
        model.objects.order_by("id").first().delete()
