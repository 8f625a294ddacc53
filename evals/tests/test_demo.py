"""What `make demo` does, step by step and through real processes: a PASS, a FAIL once an answer goes bad, and nothing undone."""

import json
from collections.abc import Iterator

import pytest

from evals.tests.processes import Site, site

pytestmark = pytest.mark.django_db  # none of our own: the database belongs to the processes
DEMO = ("eval_run", "reservas", "--model", "scripted")

SPOIL = """
from evals.models import Recording
from evals.services import correct_recording
recording = Recording.objects.filter(case__dataset__slug="reservas", case__blocking=True, case__expected_kind="draft").earliest("id")
correct_recording(recording=recording, text='{"action":"refuse"}', note="la prueba la estropea", by=None)
print(recording.case.key)
"""
EDIT = """
from django.contrib.auth.models import User
from evals.models import Case, ProductThreshold
case = Case.objects.filter(dataset__slug="reservas", expected_kind="draft").earliest("id")
case.expected_start_hour = 7
case.save()
ProductThreshold.objects.filter(metric="correct").update(value=0.5)
person = User.objects.get(username="experta")
person.set_password("una clave propia")
person.save()
"""
READ = """
import json
from django.contrib.auth.models import User
from evals.models import Case, Dataset, DatasetVersion, ProductThreshold, Recording
person = User.objects.get(username="experta")
print(json.dumps({
    "hour": Case.objects.filter(dataset__slug="reservas", expected_kind="draft").earliest("id").expected_start_hour,
    "thresholds": sorted(ProductThreshold.objects.filter(metric="correct").values_list("value", flat=True)),
    "password": [person.check_password(word) for word in ("una clave propia", "experta-demo")],
    "rows": [model.objects.count() for model in (Case, Recording, Dataset, DatasetVersion, User)],
}))
"""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A laptop after `manage.py migrate` and `manage.py seed_demo`."""
    with site(tmp_path_factory.mktemp("demo"), DEBUG="1") as here:
        here.manage("seed_demo")
        yield here


def run_shell(here: Site, script: str) -> str:
    return here.manage("shell", "--verbosity", "0", "-c", script).stdout.strip()


def test_it_passes_and_fails_by_name_once_a_blocking_answer_goes_bad(demo: Site) -> None:
    done = demo.manage(*DEMO, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("Veredicto: PASS — el código pasa; el modelo no se midió\n")
    key = run_shell(demo, SPOIL)
    spoiled = demo.manage(*DEMO, check=False)
    assert spoiled.returncode == 1
    assert spoiled.stdout.startswith("Veredicto: FAIL\n")
    assert f"Casos: {key}." in " ".join(spoiled.stdout.split())
    assert demo.rows("SELECT decision FROM evals_scoring ORDER BY id") == [("PASS",), ("FAIL",)]


def test_a_second_time_it_makes_nothing_and_keeps_what_a_person_edited(demo: Site) -> None:
    before = json.loads(run_shell(demo, EDIT + READ))
    assert (before["hour"], before["thresholds"], before["password"]) == (7, [0.5, 0.5], [True, False])
    assert demo.manage("seed_demo").stdout == ""
    assert json.loads(run_shell(demo, READ)) == before
