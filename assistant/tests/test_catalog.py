"""What a call costs, and which models are never called."""

import pytest

from assistant.llm import ForbiddenModel, ModelKind, Usage
from assistant.llm.catalog import PRICES, Cost, check_allowed, cost_micro_usd, price_of

FORBIDDEN = [
    "llama-3.3-70b-instruct:free",
    "meta/llama-3.3-70b-instruct:free",
    "llama-3.3-70b-instruct:FREE",
    "llama-3.3-70b-instruct-free",
    "llama-3.3-70b-instruct_Free",
    "llama-3.3-70b-instruct/free",
    "llama-3.3-70b-instruct.free",
    "llama-3.3-70b-instruct free",
    "llama-3.3-70b-instruct@free",
    "free/llama-3.3-70b-instruct",
    "vendor/free",
    "gpt4free",
    "qwen-free-tier",
    "qwen:freetier",
    "gpt-4o-trial",
    "gpt-4o:Trial",
    "gpt-4o-free-2024-08-06",
    "modelo-gratis",
    "llama：free",
    "llama:fr\u200bee",
    "  llama:free  ",
    "gemini-2.0-flash-exp",
    "google/gemini-2.0-flash-exp",
]

ALLOWED = [
    "gpt-4o-mini",
    "openai/gpt-4o-mini",
    "freeform-7b",
    "freewilly2",
    "carefree-7b",
    "industrial-13b",
    "qwen2.5-3b-instruct-q4_k_m",
    "scripted",
]


@pytest.mark.parametrize("name", FORBIDDEN)
def test_it_refuses_free_and_trial_variants_however_they_are_spelled(name: str) -> None:
    with pytest.raises(ForbiddenModel, match="prohibido"):
        check_allowed(name)


@pytest.mark.parametrize("name", ALLOWED)
def test_it_lets_other_names_pass(name: str) -> None:
    check_allowed(name)


def test_every_model_with_a_price_is_allowed() -> None:
    for name in PRICES:
        check_allowed(name)


@pytest.mark.parametrize(
    ("name", "input_tokens", "output_tokens", "micro_usd"),
    [
        ("gpt-4o-mini", 1_000_000, 0, 150_000),
        ("gpt-4o-mini", 0, 1_000_000, 600_000),
        ("gpt-4o-mini", 400, 60, 96),  # 60 + 36
        ("gpt-4o-mini", 1, 0, 1),  # 0.15, rounded up
        ("gpt-4o-mini", 0, 0, 0),
        ("gpt-4.1-nano", 333, 77, 65),  # 33.3 + 30.8 = 64.1
        ("gemini-2.5-flash", 10, 10, 28),  # exact: 3 + 25
    ],
)
def test_it_charges_the_list_price_in_whole_micro_dollars_rounded_up(
    name: str, input_tokens: int, output_tokens: int, micro_usd: int
) -> None:
    assert cost_micro_usd(name, Usage(input_tokens, output_tokens, measured=True)) == Cost(micro_usd, price_known=True)


@pytest.mark.parametrize(
    "name",
    [
        "gpt-4o-mini",
        "openai/gpt-4o-mini",
        "router/openai/gpt-4o-mini",
        "GPT-4o-mini",
        "gpt-4o-mini-2024-07-18",
        "openai/gpt-4o-mini-2024-07-18",
        "gpt-4o-mini-20240718",
        "gpt-4o-mini@20240718",
        "gpt-4o-mini-07-2024",
        "gpt-4o-mini-2407",
        "gpt-4o-mini-001",
        "gpt-4o-mini-latest",
    ],
)
def test_a_vendor_prefix_or_a_date_does_not_change_the_price(name: str) -> None:
    assert price_of(name) == PRICES["gpt-4o-mini"]


@pytest.mark.parametrize(
    "name", ["gpt-4o-mini-audio", "gpt-4o-realtime", "gpt-4", "ft:gpt-4o-mini:club", "qwen2.5-3b-instruct", "", "2024-07-18"]
)
def test_an_unknown_model_is_charged_as_the_dearest_known_and_marked(name: str) -> None:
    assert cost_micro_usd(name, Usage(1_000_000, 1_000_000, measured=True)) == Cost(15_000_000 + 75_000_000, price_known=False)


def test_no_known_price_is_dearer_than_the_one_for_unknown_models() -> None:
    one_each = Usage(1_000_000, 1_000_000, measured=True)
    assert max(cost_micro_usd(name, one_each).micro_usd for name in PRICES) <= cost_micro_usd("unknown", one_each).micro_usd


@pytest.mark.parametrize(("name", "kind"), [("scripted", "real"), ("scripted:base", "real"), ("anything", "scripted")])
def test_scripted_models_cost_nothing_and_that_is_known(name: str, kind: ModelKind) -> None:
    assert cost_micro_usd(name, Usage(1_000, 1_000, measured=False), kind=kind) == Cost(0, price_known=True)


def test_a_real_model_whose_name_only_begins_like_a_scripted_one_is_charged() -> None:
    assert not cost_micro_usd("scriptedly-7b", Usage(1_000, 1_000, measured=True)).price_known
