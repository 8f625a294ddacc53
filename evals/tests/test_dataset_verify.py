"""Every hash is computed again; who changed a row behind the triggers is noticed, by the row."""

import pytest
from django.contrib.auth.models import User
from django.db import connection

from evals.models import Case, CaseRevision, Dataset, DatasetVersion, Signature
from evals.services import freeze_version
from evals.tests.commands import run_command
from evals.tests.desk import draft_row, make_version
from evals.tests.rendered import text_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def version():
    return make_version([draft_row("uno"), draft_row("dos", input={"text": "palabra-delatora"})])


def without_trigger(table, event="UPDATE"):
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER frozen_{event}_{table}" + (f" ON {table}" if connection.vendor == "postgresql" else ""))


def test_an_honest_dataset_verifies():
    done = run_command("dataset_verify")
    assert done == (0, "examen: 2 revisiones, 1 versión, 1 firma; todas las huellas coinciden.\n", "")


def test_words_changed_behind_the_trigger_are_noticed_and_not_repeated():
    revision = CaseRevision.objects.get(traits__key="dos")
    without_trigger("evals_caserevision")
    CaseRevision.objects.filter(pk=revision.pk).update(content={**revision.content, "input": {"text": "otra cosa"}})
    done = run_command("dataset_verify", "examen")
    assert done.code == 1
    assert f"revisión {revision.pk} " in done.out
    assert "2 no coinciden" in done.out
    assert "otra cosa" not in done.out


def test_a_trait_changed_behind_the_trigger_breaks_the_whole_hash_alone():
    revision = CaseRevision.objects.get(traits__key="uno")
    without_trigger("evals_caserevision")
    CaseRevision.objects.filter(pk=revision.pk).update(traits={**revision.traits, "blocking": True})
    done = run_command("dataset_verify", "examen")
    assert (done.code, "la huella completa" in done.out, "del contenido" in done.out) == (1, True, False)


def test_a_case_taken_out_of_a_version_is_noticed(version):
    version.revisions.through.objects.filter(caserevision__traits__key="dos").delete()
    done = run_command("dataset_verify", "examen")
    assert done.code == 1
    assert "examen v1: la huella es" in done.out
    assert "dice 2 casos y tiene 1" in done.out


@pytest.mark.parametrize(("model", "table"), [(DatasetVersion, "evals_datasetversion"), (Signature, "evals_signature")])
def test_a_hash_that_was_written_over_is_noticed(model, table):
    without_trigger(table)
    model.objects.update(content_hash="0" * 64)
    done = run_command("dataset_verify", "examen")
    assert done.code == 1
    assert "firma de examen v1" in done.out


def test_a_version_that_does_not_verify_is_signed_neither_by_command_nor_on_its_page(client, version):
    Case.objects.filter(key="uno").update(notes="otra")
    unsigned = freeze_version(dataset=version.dataset, by=None)
    without_trigger("evals_caserevision")
    revision = unsigned.revisions.get(traits__key="uno")
    CaseRevision.objects.filter(pk=revision.pk).update(content={**revision.content, "input": {"text": "palabra-cambiada"}})
    done = run_command("dataset_sign", "examen", "--version", "2", "--as", "duena", "--reason", "la revisé entera")
    assert done.code == 1
    client.force_login(User.objects.create_superuser("jefa"))
    Dataset.objects.update(owner=User.objects.get(username="jefa"))
    page = client.post(f"/admin/evals/datasetversion/{unsigned.pk}/sign/", {"reason": "la revisé entera"})
    assert page.status_code == 200
    for told in (done.err, text_of(page)):
        assert "La versión examen v2 no se firma" in told
        assert "palabra-cambiada" not in told
    assert not hasattr(DatasetVersion.objects.get(number=2), "signature")


def test_all_datasets_are_verified_unless_one_is_named():
    make_version([draft_row("tres")], slug="otro")
    assert [line.partition(":")[0] for line in run_command("dataset_verify").out.splitlines()] == ["examen", "otro"]
    assert run_command("dataset_verify", "ninguno").code == 2
