"""The desk's pages: as many queries for 1,200 rows as for 20, what they show of a run, and text that stays text."""

import re

import pytest
from django.contrib.auth.models import Permission, User
from django.contrib.messages import get_messages
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from evals.datasets.rows import parse_rows
from evals.management.demo import seed_people
from evals.models import (
    Case,
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
from evals.services import Change, freeze_version, import_rows
from evals.tests.desk import REFUSAL, draft_output, draft_row, finished_run, make_version, new_run
from evals.tests.rendered import fields_of_form, text_of
from evals.tests.test_dataset_rows import lines

pytestmark = pytest.mark.django_db
XSS = '"><img src=x onerror=alert(1)>'
SVG = "<svg/onload=alert(1)>"

LISTS = [
    "case",
    "caserevision",
    "dataset",
    "datasetversion",
    "signature",
    "recording",
    "run",
    "result",
    "scoring",
    "gatepolicy",
    "heldoutopening",
]
MOST_QUERIES = 15


def queries_of(client, url):
    with CaptureQueriesContext(connection) as captured:
        response = client.get(url)
    assert response.status_code == 200, url
    return len(captured)


def grow(count):
    """A dataset with `count` cases and results, and as many recordings, revisions and scores."""
    return finished_run(make_version([draft_row(f"caso-{number}") for number in range(count)], slug=f"grande-{count}"))


def multiply(count, run):
    """Datasets, versions, signatures, policies, runs and scorings in number."""
    owner = User.objects.get(username="duena")
    datasets = Dataset.objects.bulk_create(Dataset(slug=f"d{count}-{number}", name="x", owner=owner) for number in range(count))
    GatePolicy.objects.bulk_create(GatePolicy(dataset=dataset) for dataset in datasets)
    versions = DatasetVersion.objects.bulk_create(DatasetVersion(dataset=each, number=1, content_hash="h", size=1) for each in datasets)
    Signature.objects.bulk_create(
        Signature(version=version, signed_by=owner, signed_at=run.created_at, reason="x", content_hash="h") for version in versions
    )
    case = Case.objects.earliest("id")
    HeldOutOpening.objects.bulk_create(
        HeldOutOpening(case=case, opened_by=owner, opened_at=run.created_at, reason="x") for _ in range(count)
    )
    copies = Run.objects.bulk_create(Run(**facts_of(run)) for _ in range(count))
    Scoring.objects.bulk_create(Scoring(run=copy, metrics_hash="h", created_at=run.created_at) for copy in copies)


def facts_of(run):
    return {field.attname: getattr(run, field.attname) for field in Run._meta.concrete_fields if field.name != "id"}


def test_pages_take_as_many_queries_for_more_rows_than_a_query_names_as_for_twenty(admin_client):
    """SQLite takes 999 values at once: what asks for rows by their keys asks twice beyond that."""
    lists = [f"/admin/evals/{model}/" for model in LISTS] + ["/admin/evals/result/?nota=mal", "/admin/evals/case/?q=caso"]
    counted: dict[int, list[int]] = {}
    for count in (20, 1_200):
        run = grow(count)
        multiply(count, run)
        urls = lists + pages_of(run.version.dataset)
        for url in urls if not counted else ():  # what Django looks up once and remembers
            admin_client.get(url)
        counted[count] = [queries_of(admin_client, url) for url in urls]
    assert counted[1_200] == counted[20]
    assert max(counted[1_200]) <= MOST_QUERIES


def pages_of(dataset):
    run = Run.objects.filter(version__dataset=dataset).earliest("id")
    return [
        f"/admin/evals/dataset/{dataset.pk}/change/",
        f"/admin/evals/datasetversion/{dataset.versions.get().pk}/change/",
        f"/admin/evals/dataset/{dataset.pk}/compare/?a=1&b=ahora",
        f"/admin/evals/dataset/{dataset.pk}/freeze/",
        f"/admin/evals/case/{dataset.cases.earliest('id').pk}/change/",
        f"/admin/evals/case/{dataset.cases.earliest('id').pk}/history/",
        f"/admin/evals/run/{run.pk}/change/",
        f"/admin/evals/result/{run.results.earliest('id').pk}/change/",
        f"/admin/evals/scoring/{Scoring.objects.get(run=run).pk}/change/",
    ]


# --- A run and its results ----------------------------------------------------------------------------------------------------


@pytest.fixture
def failed():
    """One right draft, one blocking case that was refused, and one that waits."""
    version = make_version([draft_row("bien"), draft_row("mal", REFUSAL, blocking=True), draft_row("antes", draft_output(startHour=20))])
    return finished_run(version)


def test_the_page_of_a_run_says_its_verdict_why_and_the_figures(admin_client, failed):
    page = admin_client.get(f"/admin/evals/run/{failed.pk}/change/")
    seen = text_of(page)
    assert 'class="verdict verdict-fail"' in page.content.decode()
    assert "FAIL" in seen
    assert f'href="/admin/evals/result/?run={failed.pk}&amp;q=mal">mal</a>' in page.content.decode()
    assert seen.index("mal Se esperaba") < seen.index("antes Se esperaba")  # the blocking one first
    assert "1/3" in seen
    assert "Casos correctos" in seen
    assert "examen v1 (firmada)" in seen
    assert f"/admin/evals/result/?run={failed.pk}&amp;nota=mal" in page.content.decode()


def test_links_carry_numbers_as_the_address_does_and_not_as_people_write_them(admin_client, failed):
    dataset = Dataset.objects.create(pk=12_345, slug="grande", name="x")
    version = DatasetVersion.objects.create(pk=12_345, dataset=dataset, number=1, content_hash="h", size=0)
    run = Run.objects.create(pk=12_345, **facts_of(failed) | {"version_id": version.pk})
    Scoring.objects.create(run=run, metrics_hash="h", created_at=run.created_at)
    for url, link in (
        ("dataset/12345/change/", "case/?dataset__id__exact=12345"),
        ("datasetversion/12345/change/", "caserevision/?versions__id__exact=12345"),
        ("run/12345/change/", "result/?run=12345"),
    ):
        page = admin_client.get(f"/admin/evals/{url}").content.decode()
        assert f'href="/admin/evals/{link}"' in page
        assert admin_client.get(f"/admin/evals/{link}").status_code == 200


def test_a_run_that_has_not_finished_has_a_page_without_verdict(admin_client):
    run = new_run(make_version([draft_row("a"), draft_row("b")]))
    seen = text_of(admin_client.get(f"/admin/evals/run/{run.pk}/change/"))
    assert "sin veredicto" in seen
    assert "Sin correr 2" in seen


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ("", ["antes", "bien", "mal"]),
        ("nota=mal", ["antes", "mal"]),
        ("nota=bien", ["bien"]),
        ("nota=sin", []),
        ("salio=refuse", ["mal"]),
        ("status__exact=error", []),
        ("q=ante", ["antes"]),
        ("run=0", []),
        ("run=x", ["antes", "bien", "mal"]),
    ],
)
def test_results_are_filtered(admin_client, failed, query, keys):
    page = admin_client.get(f"/admin/evals/result/?{query}")
    assert sorted(result.revision.key for result in page.context["cl"].result_list) == keys


def test_the_list_of_results_puts_what_was_expected_beside_what_came_out(admin_client, failed):
    seen = text_of(admin_client.get(f"/admin/evals/result/?run={failed.pk}&q=antes"))
    assert "Fulbito, martes 10/03, de 19 a 20 h Fulbito, martes 10/03, de 20 a 21 h" in seen


def test_the_page_of_a_result_shows_the_case_the_output_and_each_grade(admin_client, failed):
    result = failed.results.get(revision__traits__key="antes")
    seen = text_of(admin_client.get(f"/admin/evals/result/{result.pk}/change/"))
    for words in ("fulbito mañana a las 7 de la noche", '"startHour": 20', "Hora de inicio correcta", "USD 0.00", "tal como llegó"):
        assert words in seen


def test_an_error_has_a_page_that_tells_its_cause(admin_client):
    run = new_run(make_version([draft_row("a")]))
    Result.objects.update(status="error", error_cause="timeout", error_detail="el proveedor no respondió en 20 s")
    assert "el proveedor no respondió en 20 s" in text_of(admin_client.get(f"/admin/evals/result/{run.results.get().pk}/change/"))


def test_results_of_held_out_cases_are_for_those_who_may_read_them(client):
    seed_people(with_passwords=False)
    user = User.objects.get(username="experta")
    client.force_login(user)
    run = finished_run(make_version([draft_row("visible"), draft_row("oculto", REFUSAL, held_out=True, blocking=True)]), purpose="release")
    hidden = run.results.get(revision__traits__key="oculto")
    assert [result.revision.key for result in client.get("/admin/evals/result/").context["cl"].result_list] == ["visible"]
    assert client.get(f"/admin/evals/result/{hidden.pk}/change/").status_code == 302
    page = client.get(f"/admin/evals/run/{run.pk}/change/")
    assert "oculto" not in page.content.decode()
    assert "1 reservado" in text_of(page)
    user.user_permissions.add(Permission.objects.get(codename="view_held_out_text"))
    assert len(client.get("/admin/evals/result/").context["cl"].result_list) == 2


# --- Datasets -----------------------------------------------------------------------------------------------------------------


def act(client, action, dataset):
    response = client.post("/admin/evals/dataset/", {"action": action, "_selected_action": [dataset.pk]})
    return " ".join(str(message) for message in get_messages(response.wsgi_request))


def test_the_dataset_page_counts_what_is_not_signed(admin_client):
    dataset = make_version([draft_row("a"), draft_row("b"), draft_row("c")]).dataset
    url = f"/admin/evals/dataset/{dataset.pk}/change/"
    assert "Todo lo aprobado está firmado en v1" in text_of(admin_client.get(url))
    Case.objects.filter(key="a").update(notes="x")
    Case.objects.filter(key="b").update(status=Case.Status.RETIRED)
    import_rows(dataset=dataset, rows=parse_rows(lines(draft_row("d")))[0], change=Change(dataset.owner, timezone.now()), approved=True)
    assert "3 cambios sin firmar desde v1" in text_of(admin_client.get(url))
    Case.objects.filter(key="a").update(notes="")
    assert "2 cambios sin firmar desde v1" in text_of(admin_client.get(url))


def test_a_version_is_frozen_from_the_list(admin_client):
    dataset = make_version([draft_row("a")]).dataset
    Case.objects.update(notes="x")
    assert "v2: 1 casos" in act(admin_client, "freeze", dataset)
    Case.objects.update(status=Case.Status.RETIRED)
    assert "ningún caso aprobado" in act(admin_client, "freeze", dataset)


def test_a_scripted_run_is_started_from_the_list_on_the_cases_as_they_are(admin_client):
    dataset = make_version([draft_row("a")]).dataset
    Case.objects.update(notes="x")
    assert "está en cola" in act(admin_client, "run_scripted", dataset)
    run = Run.objects.get()
    assert (run.version.number, run.status, run.model_kind, str(run.created_by)) == (2, "queued", "scripted", "admin")


def test_where_no_recording_is_base_each_set_gets_its_scripted_run(admin_client):
    sets = [{"set": name, "text": draft_output(), "invalid": False} for name in ("obedece", "resiste")]
    page = act(admin_client, "run_scripted", make_version([draft_row("a", recordings=sets)]).dataset)
    assert "(juego obedece) está en cola" in page
    assert "(juego resiste) está en cola" in page
    assert list(Run.objects.order_by("pk").values_list("recording_set", flat=True)) == ["obedece", "resiste"]


def test_an_expert_may_freeze_and_not_run(client):
    seed_people(with_passwords=False)
    client.force_login(User.objects.get(username="experta"))
    dataset = make_version([draft_row("a")]).dataset
    page = client.get("/admin/evals/dataset/").content.decode()
    assert 'value="freeze"' in page
    assert 'value="run_scripted"' not in page
    act(client, "run_scripted", dataset)
    assert not Run.objects.exists()


def test_only_the_owner_signs_on_the_page_and_with_a_reason(client):
    seed_people(with_passwords=False)
    experta = User.objects.get(username="experta")
    dataset = make_version([draft_row("a")], signed=False).dataset
    url = f"/admin/evals/datasetversion/{dataset.versions.get().pk}/"
    client.force_login(experta)
    assert "no puede firmar" in text_of(client.post(f"{url}sign/", {"reason": "la revisé"}))
    Dataset.objects.update(owner=experta)
    assert f"{url}sign/" in client.get(f"{url}change/").content.decode()
    assert client.post(f"{url}sign/", {"reason": "  "}).status_code == 200
    assert not Signature.objects.exists()
    assert client.post(f"{url}sign/", {"reason": "la revisé"}).status_code == 302
    assert Signature.objects.get().signed_by == experta
    assert "ya está firmada" in text_of(client.post(f"{url}sign/", {"reason": "otra vez"}))
    client.force_login(User.objects.get(username="desarrollo"))
    assert client.post(f"{url}sign/", {"reason": "yo también"}).status_code == 403


def test_an_expert_does_not_make_herself_the_owner(client):
    seed_people(with_passwords=False)
    experta = User.objects.get(username="experta")
    client.force_login(experta)
    dataset = make_version([draft_row("a")]).dataset
    url = f"/admin/evals/dataset/{dataset.pk}/change/"
    fields = fields_of_form(client.get(url), "dataset_form")
    assert client.post(url, {**fields, "name": "Nuevo", "owner": str(experta.pk)}).status_code == 302
    dataset.refresh_from_db()
    assert (dataset.name, str(dataset.owner)) == ("Nuevo", "duena")


# --- Policies -----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def policy():
    return GatePolicy.objects.create(dataset=Dataset.objects.create(slug="x", name="x"))


def post_threshold(client, policy, **changes):
    url = f"/admin/evals/gatepolicy/{policy.pk}/change/"
    fields = fields_of_form(client.get(url), "gatepolicy_form")
    row = {"metric": "correct", "op": ">=", "value": "0.9", "justification": "Un error cuesta una llamada."} | changes
    inline = {f"thresholds-0-{name}": value for name, value in row.items()}
    return client.post(url, {**fields, **inline, "thresholds-TOTAL_FORMS": "1"})


def test_a_threshold_is_written_with_its_justification(admin_client, policy):
    assert post_threshold(admin_client, policy).status_code == 302
    threshold = ProductThreshold.objects.get()
    assert (threshold.metric, threshold.op, threshold.value) == ("correct", ">=", 0.9)


@pytest.mark.parametrize(
    "changes",
    [
        {"justification": " \n"},
        {"justification": "x"},
        {"metric": "inventada"},
        {"value": "95"},
        {"value": "-0.1"},
        {"value": "nan"},
        {"op": "=="},
        {"value": ""},
    ],
)
def test_a_threshold_that_cannot_be_judged_is_refused(admin_client, policy, changes):
    assert post_threshold(admin_client, policy, **changes).status_code == 200
    assert not ProductThreshold.objects.exists()


def test_latency_is_a_metric_with_a_limit_in_milliseconds(admin_client, policy):
    assert post_threshold(admin_client, policy, metric="latency_p95_ms", op="<=", value="8000").status_code == 302


def test_a_policy_needs_some_kind_of_run(admin_client, policy):
    url = f"/admin/evals/gatepolicy/{policy.pk}/change/"
    fields = fields_of_form(admin_client.get(url), "gatepolicy_form")
    del fields["needs_scripted"]
    page = admin_client.post(url, fields)
    assert page.status_code == 200
    assert "al menos un tipo de corrida" in text_of(page)


# --- What strangers wrote stays text (S08) --------------------------------------------------------------------------------------


def test_markup_in_a_case_is_shown_as_text_on_every_page(admin_client):
    row = draft_row(
        "xss",
        f'{{"action":"clarify","question":"{SVG}"}}',
        input={"text": SVG},
        context={
            "now": "2026-03-09T10:00",
            "occupied": [{"date": "2026-03-10", "sport": "fulbito", "hour": 18, "team": XSS}],
            "member": XSS,
        },
        notes=XSS,
        never_say=[{"kind": "phrase", "text": XSS}],
        known_limitation=SVG,
    )
    run = finished_run(make_version([row]))
    case, recording, result = Case.objects.get(), Recording.objects.get(), run.results.get()
    Dataset.objects.update(name=SVG, description=XSS)
    urls = [
        "/admin/evals/case/", f"/admin/evals/case/?q={SVG}", f"/admin/evals/case/{case.pk}/change/",
        f"/admin/evals/case/{case.pk}/history/", f"/admin/evals/case/{case.pk}/delete/", "/admin/evals/recording/",
        f"/admin/evals/recording/{recording.pk}/change/",
        f"/admin/evals/recording/{recording.pk}/correct/", "/admin/evals/caserevision/",
        f"/admin/evals/caserevision/{result.revision_id}/change/", f"/admin/evals/run/{run.pk}/change/", "/admin/evals/result/",
        f"/admin/evals/result/{result.pk}/change/", "/admin/evals/dataset/", f"/admin/evals/dataset/{case.dataset_id}/change/",
    ]  # fmt: skip
    pages = {url: admin_client.get(url).content.decode() for url in urls}
    fields = fields_of_form(admin_client.get(urls[2]), "case_form")
    pages["saved"] = admin_client.post(urls[2], {**fields, "notes": SVG}, follow=True).content.decode()
    pages["refused"] = admin_client.post(urls[2], {**fields, "taken": XSS, "category": SVG}).content.decode()
    for url, page in pages.items():
        assert not re.search(r"<(img src=x|svg/onload)", page), url
    assert sum("&lt;svg/onload=alert(1)&gt;" in page for page in pages.values()) >= 8  # the control: they do show it


def test_no_page_carries_inline_scripts_or_styles(admin_client, failed):
    urls = [f"/admin/evals/{model}/" for model in LISTS] + pages_of(failed.version.dataset)
    for url in urls:
        response = admin_client.get(url)
        page = response.content.decode()
        assert "style-src 'self'" in response["Content-Security-Policy"]
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)(?![^>]*application/json)", page), url


def test_freezing_what_is_signed_gives_the_signed_version(admin_client):
    version = make_version([draft_row("a")])
    assert freeze_version(dataset=version.dataset, by=None) == version
    assert "v1" in act(admin_client, "freeze", version.dataset)
