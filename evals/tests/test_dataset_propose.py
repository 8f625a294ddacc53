"""`dataset_propose`: cases that wait for a person, and what keeps them out of a version until then."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from assistant.models import ModelCall
from assistant.tests.loopback_provider import Call, LoopbackProvider, Reply, completion
from evals.models import Case, Dataset
from evals.services import freeze_version
from evals.tests.commands import Done, point_at, run_command
from evals.tests.desk import draft_row, make_dataset

pytestmark = pytest.mark.django_db

HELLO = "Hola! ¿Me reservas fulbito mañana a las 7 de la noche, por favor?"
DOCUMENT = "El complejo abre de 7 a 22 h.\nSe reserva hasta con 14 días de anticipación."


def invented(*elements: Any) -> str:
    return json.dumps(list(elements), ensure_ascii=False)


@pytest.fixture
def dataset() -> Dataset:
    return make_dataset([draft_row("clara", input={"text": HELLO})])


@contextmanager
def model(settings: Any, answer: Callable[[Call], Any]) -> Iterator[LoopbackProvider]:
    with LoopbackProvider(answer=answer) as provider:
        point_at(settings, provider)
        yield provider


def propose(*words: str) -> Done:
    return run_command("dataset_propose", "examen", *words)


def test_rewritten_cases_wait_for_a_person_and_stay_out_of_a_version(dataset: Dataset) -> None:
    done = propose("--rewrite", "sin-tildes,emoji")
    assert (done.code, done.out) == (0, "examen: 2 propuestos, 0 descartados.\n")
    proposed = dataset.cases.filter(status=Case.Status.PROPOSED)
    assert set(proposed.values_list("key", flat=True)) == {"clara-sin-tildes-0", "clara-emoji-0"}
    assert all("sintetico" in case.tags for case in proposed)
    assert {case.history.get().history_change_reason for case in proposed} == {"Reescritos: sin-tildes,emoji"}
    assert freeze_version(dataset=dataset, by=None).size == 1
    proposed.update(status=Case.Status.APPROVED)  # the control: what is approved does enter
    assert freeze_version(dataset=dataset, by=None).size == 3


def test_proposing_again_adds_nothing_and_touches_nobody(dataset: Dataset) -> None:
    propose("--rewrite", "todos")
    dataset.cases.filter(key="clara-emoji-0").update(status=Case.Status.RETIRED, text="ya nadie lo usa")
    before = list(dataset.cases.order_by("id").values_list("key", "status", "text"))
    again = propose("--rewrite", "todos")
    assert again.code == 5
    assert "0 propuestos" in again.out
    assert list(dataset.cases.order_by("id").values_list("key", "status", "text")) == before


def test_it_proposes_no_more_than_a_person_can_read_and_goes_on_where_it_stopped(dataset: Dataset) -> None:
    assert propose("--rewrite", "todos", "--count", "4").out.startswith("examen: 4 propuestos")
    assert propose("--rewrite", "todos", "--count", "4").out.startswith("examen: 3 propuestos")
    assert dataset.cases.filter(status=Case.Status.PROPOSED).count() == 7


def test_a_model_invents_from_the_systems_own_instructions(dataset: Dataset, settings: Any) -> None:
    answer = invented({"text": "una pichanga pe", "kind": "clarify"}, {"text": "venden pollo?", "kind": "refuse"}, {"text": "x"})
    with model(settings, lambda call: answer) as provider:
        done = propose("--model", "prueba", "--count", "3")
    (call,) = provider.calls
    assert "Conviertes el pedido de un vecino" in call.text
    assert "Inventa 3 pedidos distintos" in call.text
    assert (done.code, done.out) == (0, "examen: 2 propuestos, 1 descartados.\n")
    assert "Descartado: no dice text y kind como se pidió" in done.err
    assert set(dataset.cases.filter(status=Case.Status.PROPOSED).values_list("expected_kind", flat=True)) == {"clarify", "refuse"}
    assert ModelCall.objects.get().reference == f"dataset:{dataset.pk}"


def test_a_model_asks_about_documents(dataset: Dataset, settings: Any, tmp_path: Path) -> None:
    (tmp_path / "horario.txt").write_text(DOCUMENT, encoding="utf-8")
    found = {"question": "¿Con cuánta anticipación?", "answer": "14 días.", "quote": "hasta con 14 días"}
    with model(settings, lambda call: invented(found)):
        done = propose("--model", "prueba", "--documents", str(tmp_path / "horario.txt"))
    assert (done.code, done.out) == (0, "examen: 1 propuestos, 0 descartados.\n")
    assert dataset.cases.get(status=Case.Status.PROPOSED).documents == [DOCUMENT]


def test_a_cut_answer_is_not_read(dataset: Dataset, settings: Any) -> None:
    def cut(call: Call) -> Reply:
        return Reply(
            body=json.dumps(completion(invented({"text": "una pichanga", "kind": "clarify"}), call, finish_reason="length")).encode()
        )

    with model(settings, cut):
        done = propose("--model", "prueba")
    assert done.code == 5
    assert "la respuesta llegó cortada" in done.err
    assert dataset.cases.count() == 1


def test_a_failing_provider_and_an_empty_budget_have_their_own_exit(dataset: Dataset, settings: Any) -> None:
    with model(settings, lambda call: Reply(status=401)) as provider:
        assert propose("--model", "prueba").code == 3
        settings.EVALS_DAILY_BUDGET_USD = 0
        assert propose("--model", "prueba").code == 4
    assert len(provider.calls) == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "Elige uno"),
        (("--rewrite", "todos", "--model", "prueba"), "Elige uno"),
        (("--rewrite", "latin"), "No se conoce «latin»"),
        (("--rewrite", "emoji", "--documents", "a.txt"), "--documents necesita --model"),
        (("--model", "prueba", "--count", "21"), "--count llega hasta 20"),
        (("--model", "gemini-exp:free"), "prohibido"),
    ],
)
def test_a_wrong_use_is_told(dataset: Dataset, settings: Any, words: tuple[str, ...], sentence: str) -> None:
    settings.LLM_BASE_URL = "http://127.0.0.1:9/v1"
    done = propose(*words)
    assert done.code == 2
    assert sentence in done.err
    assert dataset.cases.count() == 1


def test_a_document_that_is_no_text_is_told(dataset: Dataset, settings: Any, tmp_path: Path) -> None:
    (tmp_path / "foto.bin").write_bytes(b"\xff\xfe\x00")
    with model(settings, lambda call: "[]") as provider:
        assert propose("--model", "prueba", "--documents", str(tmp_path / "foto.bin")).code == 2
        assert propose("--model", "prueba", "--documents", str(tmp_path / "nada.txt")).code == 2
    assert provider.calls == []
