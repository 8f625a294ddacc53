"""Live cases become frozen versions; the owner signs them; recordings are corrected by appending."""

import json
from datetime import UTC, date, datetime

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evals.datasets.revisions import fields_of, read_spec, revise_case, revise_cases, spec_of, version_hash
from evals.datasets.rows import RecordingSpec, parse_rows
from evals.datasets.selection import current_recording_ids, latest_version, recording_sets
from evals.models import Case, CaseRevision, Dataset, DatasetVersion, Recording, Signature
from evals.services import (
    AlreadySigned,
    AlreadySuperseded,
    Change,
    NothingToCorrect,
    NothingToFreeze,
    NotTheOwner,
    ReasonMissing,
    VersionBroken,
    correct_recording,
    freeze_version,
    import_rows,
    sign_version,
)
from evals.tests.desk import let_approve, let_read_held_out
from evals.tests.test_dataset_rows import FULL, SMALL, lines, with_
from evals.tests.test_dataset_verify import without_trigger

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 9, 15, 0, tzinfo=UTC)


@pytest.fixture
def owner():
    return let_read_held_out(let_approve("experta").username)


@pytest.fixture
def dataset(owner):
    return Dataset.objects.create(slug="reservas", name="Reservas", owner=owner)


def load(dataset, *rows):
    parsed, problems = parse_rows(lines(*rows))
    assert problems == []
    return import_rows(
        dataset=dataset, rows=parsed, change=Change(dataset.owner or User.objects.get(username="experta"), NOW), approved=True
    )


def many(count):
    return [with_(SMALL, key=f"caso-{number}") for number in range(count)]


# --- Revisions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", [SMALL, FULL, with_(SMALL, expected={"kind": "labels", "labels": ["queja"]})])
def test_a_stored_case_and_its_revision_say_what_the_row_said(dataset, row):
    load(dataset, row)
    spec = parse_rows(lines(row))[0][0].spec
    case = Case.objects.get()
    revision = CaseRevision.objects.get(pk=revise_case(case).pk)
    assert spec_of(case) == read_spec(revision) == spec
    assert spec_of(Case(dataset=dataset, **fields_of(spec))) == spec
    assert revision.key == row["key"]


def test_the_same_content_gives_the_same_revision(dataset):
    load(dataset, FULL)
    case = Case.objects.get()
    first = revise_case(case)
    case.notes = "otra nota"
    second = revise_case(case)
    case.notes = FULL["notes"]
    assert revise_case(case).pk == first.pk
    assert second.pk != first.pk
    assert second.content_hash == first.content_hash  # notes pair no results
    case.expected_hours = 2
    assert revise_case(case).content_hash != first.content_hash
    assert CaseRevision.objects.count() == 3


def test_revising_in_bulk_gives_the_same_rows_in_the_order_given(dataset):
    load(dataset, *many(3))
    cases = list(Case.objects.order_by("-id"))
    alone = revise_case(cases[1])
    assert [revision.case_id for revision in revise_cases(cases)] == [case.pk for case in cases]
    assert revise_cases(cases)[1].pk == alone.pk
    assert CaseRevision.objects.count() == 3


def test_the_version_hash_knows_the_set_and_not_its_order(dataset):
    load(dataset, *many(3))
    one, two, three = (revision.full_hash for revision in revise_cases(Case.objects.all()))
    assert version_hash([one, two]) == version_hash([two, one])
    assert version_hash([one, two]) != version_hash([one, three])


# --- Freezing -----------------------------------------------------------------------------------------------------------


def test_it_freezes_the_approved_cases(dataset):
    load(dataset, *many(3))
    Case.objects.filter(key="caso-1").update(status=Case.Status.PROPOSED)
    version = freeze_version(dataset=dataset, by=None)
    assert (version.number, version.size) == (1, 2)
    assert sorted(revision.key for revision in version.revisions.all()) == ["caso-0", "caso-2"]
    assert version.content_hash == version_hash(version.revisions.values_list("full_hash", flat=True))


def test_freezing_the_same_set_again_gives_the_same_version(dataset):
    load(dataset, *many(2))
    first = freeze_version(dataset=dataset, by=None)
    Case.objects.filter(key="caso-1").update(notes="x")
    second = freeze_version(dataset=dataset, by=None)
    assert (second.number, freeze_version(dataset=dataset, by=None).pk) == (2, second.pk)
    Case.objects.filter(key="caso-1").update(notes="")
    third = freeze_version(dataset=dataset, by=None)
    assert (third.number, third.content_hash) == (3, first.content_hash)  # the latest differs, so the old state gets a new number


def test_freezing_without_approved_cases_is_refused(dataset):
    load(dataset, SMALL)
    Case.objects.update(status=Case.Status.RETIRED)
    with pytest.raises(NothingToFreeze, match="reservas"):
        freeze_version(dataset=dataset, by=None)


def test_freezing_two_thousand_cases_takes_few_queries(dataset):
    load(dataset, *many(2_000))
    with CaptureQueriesContext(connection) as captured:
        assert freeze_version(dataset=dataset, by=None).size == 2_000
    assert len(captured) <= 40
    with CaptureQueriesContext(connection) as captured:
        freeze_version(dataset=dataset, by=None)
    assert len(captured) <= 12


# --- Signing ------------------------------------------------------------------------------------------------------------


def test_the_owner_signs_a_version(dataset, owner):
    load(dataset, SMALL)
    version = freeze_version(dataset=dataset, by=None)
    sign_version(version=version, by=owner, reason="  Lo revisé con la administradora.  ", now=NOW)
    stored = Signature.objects.get()
    assert (stored.version, stored.signed_by, stored.signed_at) == (version, owner, NOW)
    assert (stored.reason, stored.content_hash) == ("Lo revisé con la administradora.", version.content_hash)


def test_nobody_else_signs(dataset):
    load(dataset, SMALL)
    version = freeze_version(dataset=dataset, by=None)
    boss = User.objects.create_superuser("admin")
    with pytest.raises(NotTheOwner, match="experta"):
        sign_version(version=version, by=boss, reason="urge firmarla", now=NOW)
    Dataset.objects.update(owner=None)
    with pytest.raises(NotTheOwner, match="no tiene"):
        sign_version(version=DatasetVersion.objects.get(), by=boss, reason="urge firmarla", now=NOW)
    assert not Signature.objects.exists()


def test_a_delegate_signs_and_the_refusal_names_who_may(dataset, owner):
    load(dataset, SMALL)
    delegate, other = User.objects.create_user("delegada"), User.objects.create_user("otra")
    dataset.delegates.add(delegate)
    version = freeze_version(dataset=dataset, by=None)
    with pytest.raises(NotTheOwner, match="firma su dueño, experta, o delegada"):
        sign_version(version=version, by=other, reason="urge firmarla", now=NOW)
    assert sign_version(version=version, by=delegate, reason="la dueña viaja", now=NOW).signed_by == delegate


def test_a_signature_keeps_the_health_of_its_version_as_it_stood(dataset, owner):
    load(dataset, *many(3))
    version = freeze_version(dataset=dataset, by=None)
    sign_version(version=version, by=owner, reason="la primera", now=NOW)
    load(dataset, *[with_(SMALL, key=f"otro-{number}", blocking=True) for number in range(40)])
    health = Signature.objects.get().health
    assert health is not None
    kept = {check["name"]: check for check in health["checks"]}
    assert kept["size"]["count"] == 3
    assert (kept["blocking"]["level"], kept["owner"]["level"]) == ("falta", "bien")
    assert health["level"] == "falta"


def test_who_may_sign_is_history(dataset, owner):
    dataset.delegates.add(owner)
    assert [str(row.user) for row in dataset.history.latest("history_id").delegates.all()] == ["experta"]
    assert not dataset.history.earliest("history_id").delegates.exists()


def test_a_signature_needs_a_reason_and_happens_once(dataset, owner):
    load(dataset, SMALL)
    version = freeze_version(dataset=dataset, by=None)
    for reason in (" \n", "x", "  siete l "):
        with pytest.raises(ReasonMissing, match=r"Firmar una versión necesita un motivo: .* 8 letras"):
            sign_version(version=version, by=owner, reason=reason, now=NOW)
    sign_version(version=version, by=owner, reason="la primera", now=NOW)
    with pytest.raises(AlreadySigned):
        sign_version(version=version, by=owner, reason="otra vez la misma", now=NOW)
    assert Signature.objects.get().reason == "la primera"


def _write_over_a_revision(version):
    without_trigger("evals_caserevision")
    revision = version.revisions.get()
    CaseRevision.objects.filter(pk=revision.pk).update(content={**revision.content, "input": {"text": "otra cosa"}})
    return f"revisión {revision.pk} "


def _take_a_case_out(version):
    version.revisions.through.objects.all().delete()
    return "versión reservas v1"


def _write_over_the_hash(version):
    without_trigger("evals_datasetversion")
    DatasetVersion.objects.update(content_hash="0" * 64)
    return "versión reservas v1: la huella es 000000000000"


@pytest.mark.parametrize("tamper", [_write_over_a_revision, _take_a_case_out, _write_over_the_hash])
def test_a_version_whose_rows_do_not_give_its_hash_is_not_signed(dataset, owner, tamper):
    load(dataset, SMALL)
    row = tamper(freeze_version(dataset=dataset, by=None))
    with pytest.raises(VersionBroken, match=f"no se firma.*{row}.*dataset_verify reservas") as refusal:
        sign_version(version=DatasetVersion.objects.get(), by=owner, reason="la revisé entera", now=NOW)
    assert "otra cosa" not in str(refusal.value)
    assert not Signature.objects.exists()


def test_the_latest_version_can_be_narrowed_to_signed_ones(dataset, owner):
    assert latest_version(dataset) is None
    load(dataset, SMALL)
    first = freeze_version(dataset=dataset, by=None)
    sign_version(version=first, by=owner, reason="la primera", now=NOW)
    Case.objects.update(expected_date=date(2026, 3, 11))
    second = freeze_version(dataset=dataset, by=None)
    assert (latest_version(dataset), latest_version(dataset, signed=True), latest_version(dataset, signed=False)) == (second, first, second)


# --- Recordings ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def recording(dataset):
    load(dataset, with_(SMALL, recordings=[{"text": "{}", "origin": {"model": "m", "prompt_hash": "h", "date": "2026-03-01"}}]))
    return Recording.objects.get()


def test_a_correction_is_a_new_recording(recording, owner):
    correction = correct_recording(recording=recording, text='{"action":"refuse"}', invalid=False, note="la copié mal", by=owner)
    recording.refresh_from_db()
    assert (recording.text, recording.invalid) == ("{}", None)
    assert (correction.supersedes, correction.created_by, correction.note) == (recording, owner, "la copié mal")
    assert (correction.text, correction.invalid, correction.origin) == ('{"action":"refuse"}', False, "hand")
    assert current_recording_ids(recording.case.dataset, set_name="base") == {recording.case_id: correction.pk}


def test_correcting_the_mark_alone_keeps_text_and_origin(recording, owner):
    correction = correct_recording(recording=recording, invalid=True, note="no debe pasar", by=owner)
    assert (correction.text, correction.invalid, correction.origin["model"]) == ("{}", True, "m")


def test_only_the_current_recording_is_corrected(recording, owner):
    correct_recording(recording=recording, invalid=True, note="no debe pasar", by=owner)
    with pytest.raises(AlreadySuperseded):
        correct_recording(recording=recording, invalid=False, note="sí puede pasar", by=owner)
    assert Recording.objects.count() == 2


def test_a_correction_changes_something_and_says_why(recording, owner):
    with pytest.raises(NothingToCorrect):
        correct_recording(recording=recording, text="{}", note="queda igual", by=owner)
    for note in (" ", "x"):
        with pytest.raises(ReasonMissing):
            correct_recording(recording=recording, invalid=True, note=note, by=owner)
    assert Recording.objects.count() == 1


def test_current_recordings_take_one_query_and_only_the_set_asked_for(dataset):
    both = [{"text": "a"}, {"set": "mala", "text": "b"}]
    load(dataset, *[with_(row, recordings=both) for row in many(20)])
    with CaptureQueriesContext(connection) as captured:
        found = current_recording_ids(dataset, set_name="mala")
    assert len(captured) == 1
    assert {recording.text for recording in Recording.objects.filter(pk__in=found.values())} == {"b"}
    assert len(found) == 20
    assert recording_sets(dataset) == ["base", "mala"]


# --- Importing into a dataset ---------------------------------------------------------------------------------------------


def writes(captured):
    return [query["sql"] for query in captured if query["sql"].split()[0] in {"INSERT", "UPDATE", "DELETE"}]


def test_it_counts_what_it_added_changed_and_left(dataset):
    assert load(dataset, *many(3)) == (3, 0, 0)
    changed = with_(SMALL, key="caso-1", expected={"kind": "clarify"})
    assert load(dataset, with_(SMALL, key="nuevo"), changed, with_(SMALL, key="caso-2")) == (1, 1, 1)
    assert sorted(dataset.cases.values_list("key", "expected_kind")) == [
        ("caso-0", "draft"),
        ("caso-1", "clarify"),
        ("caso-2", "draft"),
        ("nuevo", "draft"),
    ]
    assert Case.objects.get(key="caso-1").expected_date is None


def test_the_same_file_twice_writes_nothing(dataset):
    rows = [with_(FULL, held_out=False), *many(5), with_(SMALL, recordings=[{"text": "a", "invalid": None}])]
    load(dataset, *rows)
    with CaptureQueriesContext(connection) as captured:
        assert load(dataset, *rows) == (0, 0, 7)
    assert writes(captured) == []
    with CaptureQueriesContext(connection) as captured:
        load(dataset, with_(SMALL, notes="x"))
    assert len(writes(captured)) == 2  # the control: one change is seen, and so is its line of history


@pytest.mark.parametrize(
    "change", [{"text": "b"}, {"invalid": True}, {"note": "n"}, {"origin": {"model": "m", "prompt_hash": "h", "date": "2026-01-01"}}]
)
def test_a_changed_recording_supersedes_the_current_one(dataset, owner, change):
    before = {"text": "a", "invalid": False}
    load(dataset, with_(SMALL, recordings=[before]))
    first = Recording.objects.get()
    after = {**before, **change}
    parsed, _ = parse_rows(lines(with_(SMALL, recordings=[after])))
    assert import_rows(dataset=dataset, rows=parsed, change=Change(owner, NOW)) == (0, 1, 0)
    current = Recording.objects.get(superseded_by__isnull=True)
    assert (current.supersedes, current.created_by) == (first, owner)
    expected = RecordingSpec(after["text"], "base", after["invalid"], after.get("origin", "hand"), after.get("note", ""))
    assert RecordingSpec(current.text, current.set_name, current.invalid, current.origin, current.note) == expected
    assert load(dataset, with_(SMALL, recordings=[after])) == (0, 0, 1)
    assert load(dataset, with_(SMALL, recordings=[before])) == (0, 1, 0)
    assert Recording.objects.count() == 3


def test_an_import_neither_retires_nor_approves(dataset):
    load(dataset, *many(3))
    Case.objects.filter(key="caso-0").update(status=Case.Status.RETIRED)
    Case.objects.filter(key="caso-1").update(status=Case.Status.PROPOSED)
    parsed, _ = parse_rows(lines(with_(SMALL, key="caso-0", notes="x"), with_(SMALL, key="caso-1", notes="y")))
    assert import_rows(dataset=dataset, rows=parsed, change=Change(None, NOW)).changed == 2
    assert list(dataset.cases.order_by("key").values_list("status", flat=True)) == ["retired", "proposed", "approved"]


def test_datasets_do_not_mix(dataset):
    other = Dataset.objects.create(slug="otro", name="Otro")
    load(other, with_(SMALL, recordings=[{"text": "ajena"}]))
    load(dataset, with_(SMALL, recordings=[{"text": "propia"}]))
    assert list(Recording.objects.order_by("id").values_list("case__dataset__slug", "supersedes")) == [("otro", None), ("reservas", None)]


def test_two_thousand_rows_import_in_few_queries(dataset):
    rows = [with_(row, recordings=[{"text": json.dumps(row)}]) for row in many(2_000)]
    with CaptureQueriesContext(connection) as captured:
        assert load(dataset, *rows) == (2_000, 0, 0)
    assert len(captured) <= 180  # SQLite takes 999 values in one INSERT: 60 for cases, 80 for their lines of history
    with CaptureQueriesContext(connection) as captured:
        assert load(dataset, *rows) == (0, 0, 2_000)
    assert len(captured) <= 6


def test_the_page_offers_no_neighbour_as_owner_or_delegate(dataset, owner, admin_client):
    User.objects.create_user("vecina")
    User.objects.filter(pk=owner.pk).update(is_staff=True)
    form = admin_client.get(f"/admin/evals/dataset/{dataset.pk}/change/").context["adminform"].form
    for name in ("owner", "delegates"):
        assert sorted(str(user) for user in form.fields[name].queryset) == ["admin", "experta"]
