"""The one file that speaks to the provider, against a server on loopback that does everything a provider can do wrong."""

import gc
import logging
import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from assistant.llm import (
    ForbiddenModel,
    ModelAddressRefused,
    ModelBadResponse,
    ModelError,
    ModelNotConfigured,
    ModelRateLimited,
    ModelRequest,
    ModelServerError,
    ModelTimeout,
    Usage,
)
from assistant.llm.provider import Attempt, ProviderConfig, ProviderModel, provider_from_settings
from assistant.tests.loopback_provider import Answer, Call, LoopbackProvider, Reply, completion, json_reply
from assistant.tests.provider_faults import FAULTS, NO_CONNECTION, status
from kallpa.outbound import OutboundClient, OutboundPolicy, shared_client
from kallpa.tests.processes import wait_until

KEY = "canary-key-5b21"
PROMPT = "canary prompt, 999 888 777"
REQUEST = ModelRequest(({"role": "system", "content": "Responde."}, {"role": "user", "content": PROMPT}), temperature=0.2, max_tokens=50)
SECRETS = ("canary", "999 888 777")


class Waits(list[float]):
    """A sleep that only takes note."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


opened: list[OutboundClient] = []


@pytest.fixture(autouse=True)
def close_clients() -> Iterator[None]:
    yield
    while opened:
        opened.pop().close()


def client_for(base_url: str) -> OutboundClient:
    """A client that may call this server, closed when the test ends."""
    opened.append(OutboundClient(OutboundPolicy(frozenset({urlsplit(base_url).netloc}), allow_loopback=True, allow_http=True)))
    return opened[-1]


def model_at(
    base_url: str, *, timeout_s: float = 5.0, name: str = "gpt-4o-mini", max_bytes: int = 1_048_576, **options: Any
) -> ProviderModel:
    config = ProviderConfig(base_url, KEY, timeout_s=timeout_s, max_bytes=max_bytes)
    return ProviderModel(name, config, client_for(base_url), **({"jitter": lambda: 0.0} | options))


def log_everything(caplog: pytest.LogCaptureFixture) -> None:
    for name in ("", "httpx", "httpcore", "httpcore.connection", "httpcore.http11"):
        caplog.set_level(logging.DEBUG, logger=name)


def everything_held_by(error: BaseException) -> str:
    """The error, what it came from, and the local variables of every frame outside this file, as an error page shows them."""
    shown, todo = [], [error]
    while todo:
        one = todo.pop()
        shown.append(repr(one) + str(vars(one)))
        todo += [linked for linked in (one.__cause__, one.__context__) if linked]
        traceback = one.__traceback__
        while traceback:
            if traceback.tb_frame.f_code.co_filename != __file__:
                shown.append(repr(traceback.tb_frame.f_locals))
            traceback = traceback.tb_next
    return "\n".join(shown)


# --- The everyday call --------------------------------------------------------------------------------------------------


def test_it_asks_in_the_openai_compatible_form_and_returns_what_the_server_said() -> None:
    with LoopbackProvider(answer=lambda call: "hola vecino") as provider:
        response = model_at(provider.base_url).complete(REQUEST)
    call = provider.calls[0]
    assert call.path == "/v1/chat/completions"
    assert call.headers["authorization"] == f"Bearer {KEY}"
    assert call.payload == {
        "model": "gpt-4o-mini",
        "messages": [{"role": "system", "content": "Responde."}, {"role": "user", "content": PROMPT}],
        "temperature": 0.2,
        "max_tokens": 50,
        "stream": False,
    }
    assert (response.text, response.finish_reason, response.attempts, response.model) == ("hola vecino", "stop", 1, "gpt-4o-mini")
    assert response.usage == Usage(6, 2, measured=True)  # the loopback server counts words
    assert response.provider_ms > 0


@pytest.mark.parametrize("base", ["{}", "{}/", "{}//"])
def test_slashes_at_the_end_of_the_base_url_do_not_matter(base: str) -> None:
    with LoopbackProvider() as provider:
        model_at(base.format(provider.base_url)).complete(REQUEST)
    assert provider.calls[0].path == "/v1/chat/completions"


def test_without_a_key_there_is_no_authorization_header() -> None:
    with LoopbackProvider() as provider:
        ProviderModel("local", ProviderConfig(provider.base_url), client_for(provider.base_url)).complete(REQUEST)
    assert "authorization" not in provider.calls[0].headers


@pytest.mark.parametrize(
    "usage",
    [
        {},
        {"prompt_tokens": 5},
        {"prompt_tokens": "5", "completion_tokens": 1},
        {"prompt_tokens": True, "completion_tokens": 1},
        {"prompt_tokens": 5.0, "completion_tokens": 1},
        {"prompt_tokens": -1, "completion_tokens": 1},
        {"prompt_tokens": 10**30, "completion_tokens": 1},
        {"prompt_tokens": None, "completion_tokens": None},
        [5, 1],
    ],
)
def test_usage_that_is_no_count_is_estimated_and_says_so(usage: Any) -> None:
    def answer(call: Call) -> Reply:
        return json_reply(completion("12345678", call) | {"usage": usage})

    with LoopbackProvider(answer=answer) as provider:
        response = model_at(provider.base_url).complete(REQUEST)
    assert response.usage == Usage(9, 2, measured=False)  # 9 + 26 characters in, 8 out


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("length", "length"),
        ("content_filter", "content_filter"),
        (None, "unknown"),
        (7, "unknown"),
        ("x" * 500, "unknown"),
        ("a\0", "unknown"),
    ],
)
def test_the_finish_reason_passes_through(sent: Any, read: str) -> None:
    def answer(call: Call) -> Reply:
        return json_reply({"choices": [{"message": {"content": '{"action":"dra'}, "finish_reason": sent}]})

    with LoopbackProvider(answer=answer) as provider:
        response = model_at(provider.base_url).complete(REQUEST)
    assert (response.text, response.finish_reason) == ('{"action":"dra', read)


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/JSON", "application/json ;charset=UTF-8"])
def test_parameters_and_case_of_the_content_type_do_not_matter(content_type: str) -> None:
    def answer(call: Call) -> Reply:
        return Reply(200, json_reply(completion("hola", call)).body, (("Content-Type", content_type),))

    with LoopbackProvider(answer=answer) as provider:
        assert model_at(provider.base_url).complete(REQUEST).text == "hola"


def test_an_empty_text_is_an_answer_and_not_a_failure() -> None:
    with LoopbackProvider(answer=lambda call: "") as provider:
        assert model_at(provider.base_url).complete(REQUEST).text == ""


# --- Faults -------------------------------------------------------------------------------------------------------------

# Long enough for a server under load to answer, short enough for the suite where the fault is silence itself.
SILENT = {name for name, fault in FAULTS.items() if fault.error is ModelTimeout and name != "408"}
LOUD_S, SILENT_S = 25.0, 0.8
NOISE_S = 15.0  # what a crowded machine may add; a silent server stays silent for a minute or for ever


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_ends_in_its_named_error_in_time_and_tells_no_secret(name: str, caplog: pytest.LogCaptureFixture) -> None:
    log_everything(caplog)
    fault, timeout_s = FAULTS[name], SILENT_S if name in SILENT else LOUD_S
    with LoopbackProvider(answer=fault.answer) as provider:
        model = model_at(provider.base_url, timeout_s=timeout_s, sleep=Waits())
        started = time.monotonic()
        with pytest.raises(ModelError) as caught:
            model.complete(REQUEST)
        elapsed = time.monotonic() - started
        wait_until(lambda: len(provider.calls) >= (fault.calls or 0), seconds=30)  # a crowded server may read it late
        calls = len(provider.calls)
    assert type(caught.value) is fault.error
    assert elapsed <= timeout_s + NOISE_S
    assert calls == fault.calls
    assert caught.value.attempts == calls
    assert not any(secret in everything_held_by(caught.value) + caplog.text for secret in SECRETS)


@pytest.mark.parametrize("name", NO_CONNECTION)
def test_without_a_connection_the_error_is_named_too(name: str, caplog: pytest.LogCaptureFixture) -> None:
    log_everything(caplog)
    open_fault, error = NO_CONNECTION[name]
    with open_fault() as base_url:
        started = time.monotonic()
        with pytest.raises(ModelError) as caught:
            model_at(base_url, timeout_s=SILENT_S if error is ModelTimeout else LOUD_S, sleep=Waits()).complete(REQUEST)
        elapsed = time.monotonic() - started
    assert type(caught.value) is error
    assert elapsed <= SILENT_S + NOISE_S
    assert caught.value.attempts == (1 if error is ModelTimeout else 4)
    assert not any(secret in everything_held_by(caught.value) + caplog.text for secret in SECRETS)


@pytest.mark.parametrize("private", [True, False])
def test_even_an_error_that_nobody_foresaw_does_not_show_the_key(monkeypatch: pytest.MonkeyPatch, private: bool) -> None:
    """With the control: were the headers an ordinary dict, the search for secrets would find the key."""
    monkeypatch.setattr("assistant.llm.provider.BY_OUTBOUND_ERROR", {})
    if not private:
        monkeypatch.setattr("assistant.llm.provider._PrivateHeaders", dict)
    with LoopbackProvider(answer=FAULTS["cut body"].answer) as provider, pytest.raises(KeyError) as caught:
        model_at(provider.base_url).complete(REQUEST)
    assert (KEY in everything_held_by(caught.value)) is not private


def test_faults_do_not_fill_the_memory() -> None:
    with LoopbackProvider(answer=FAULTS["gzip bomb"].answer) as bomb, LoopbackProvider(answer=FAULTS["50 MB body"].answer) as big:
        models = [model_at(bomb.base_url), model_at(big.base_url)]
        gc.collect()
        tracemalloc.start()
        try:
            for model in models * 3:
                with pytest.raises(ModelError):
                    model.complete(REQUEST)
            assert tracemalloc.get_traced_memory()[1] < 20_000_000
        finally:
            tracemalloc.stop()


def test_a_body_over_the_limit_is_too_large_and_one_under_it_is_read() -> None:
    with LoopbackProvider(answer=lambda call: "a" * 5_000) as provider:
        assert len(model_at(provider.base_url, max_bytes=6_000).complete(REQUEST).text) == 5_000
        with pytest.raises(ModelError, match="demasiado grande"):
            model_at(provider.base_url, max_bytes=5_000).complete(REQUEST)


# --- Asking again -------------------------------------------------------------------------------------------------------


def in_turn(*answers: Answer) -> Answer:
    """Each answer once, and the last one ever after."""

    def answer(call: Call) -> Any:
        return answers[min(call.number, len(answers)) - 1](call)

    return answer


def fine(call: Call) -> str:
    return "listo"


def test_it_recovers_when_a_later_attempt_works() -> None:
    with LoopbackProvider(answer=in_turn(status(503), status(429), fine)) as provider:
        response = model_at(provider.base_url, sleep=Waits()).complete(REQUEST)
    assert (response.text, response.attempts, len(provider.calls)) == ("listo", 3, 3)


def test_the_pauses_double_and_carry_jitter() -> None:
    def pauses(jitter: float) -> list[float]:
        waits = Waits()
        with LoopbackProvider(answer=status(500)) as provider, pytest.raises(ModelServerError):
            model_at(provider.base_url, sleep=waits, jitter=lambda: jitter, timeout_s=60).complete(REQUEST)
        return list(waits)

    assert pauses(0.0) == [0.25, 0.5, 1.0]
    assert pauses(1.0) == [0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    ("header", "jitter", "low", "high"),
    [("3", 0.0, 3, 3), ("3", 1.0, 3.3, 3.3), ("2.5", 0.0, 2.5, 2.5), ("0", 0.0, 0, 0), ("3600", 0.0, 30, 30), ("3600", 1.0, 33, 33)],
)
def test_retry_after_is_honoured_within_a_tenth_and_capped(header: str, jitter: float, low: float, high: float) -> None:
    waits = Waits()
    with LoopbackProvider(answer=in_turn(status(429, Retry_After=header), fine)) as provider:
        model_at(provider.base_url, sleep=waits, jitter=lambda: jitter, timeout_s=60).complete(REQUEST)
    assert waits == [pytest.approx(low)] == [pytest.approx(high)]


def test_retry_after_can_be_a_date() -> None:
    waits = Waits()
    with LoopbackProvider(answer=in_turn(FAULTS["429, retry after a date"].answer, fine)) as provider:
        model_at(provider.base_url, sleep=waits, timeout_s=60).complete(REQUEST)
    assert 0 <= waits[0] <= 1  # dates have no fractions of a second


@pytest.mark.parametrize(
    "header",
    [
        "",
        "soon",
        "-5",
        "1e3",
        "²",
        "9" * 400,
        "Wed, 99 Oct 2026 07:28:00 GMT",
        "Wed, 21 Oct 99999999999 07:28:00 GMT",
        "1 Jan 2026 10:00:00 +9999",
    ],
)
def test_a_retry_after_that_makes_no_sense_leaves_the_usual_pause(header: str) -> None:
    waits = Waits()
    answer = in_turn(status(429, Retry_After=header.encode().decode("latin-1")), fine)
    with LoopbackProvider(answer=answer) as provider:
        model_at(provider.base_url, sleep=waits).complete(REQUEST)
    assert waits == [0.25]


def test_a_retry_after_date_in_the_past_means_now() -> None:
    waits = Waits()
    with LoopbackProvider(answer=in_turn(status(429, Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"), fine)) as provider:
        model_at(provider.base_url, sleep=waits).complete(REQUEST)
    assert waits == [0.0]


def test_a_pause_that_does_not_fit_in_the_deadline_is_not_begun() -> None:
    waits = Waits()
    with LoopbackProvider(answer=status(429, Retry_After="20")) as provider, pytest.raises(ModelRateLimited) as caught:
        model_at(provider.base_url, timeout_s=19, sleep=waits).complete(REQUEST)
    assert waits == []
    assert caught.value.attempts == len(provider.calls) == 1


class DeadlineClock:
    """The clock of deadlines: it stands still until somebody says that time has passed."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def pass_time(self, seconds: float) -> None:
        self.now += seconds

    def after(self, seconds: float, answer: Answer) -> Answer:
        """The same answer, that many seconds later."""

        def answer_late(call: Call) -> Any:
            self.pass_time(seconds)
            return answer(call)

        return answer_late


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> DeadlineClock:
    stopped = DeadlineClock()
    monkeypatch.setattr("kallpa.outbound.time", stopped)
    return stopped


def test_one_deadline_covers_all_attempts_and_the_pauses_between_them(clock: DeadlineClock) -> None:
    with LoopbackProvider(answer=clock.after(10, status(503))) as provider, pytest.raises(ModelServerError) as caught:
        model_at(provider.base_url, timeout_s=20.7, sleep=clock.pass_time).complete(REQUEST)
    assert caught.value.attempts == len(provider.calls) == 2
    assert clock.now == 20.25  # 10, a pause of 0.25, 10; the next pause of 0.5 does not fit


def test_the_last_attempt_is_cut_by_what_is_left_of_the_deadline(clock: DeadlineClock) -> None:
    silence = FAULTS["hang before headers"].answer
    with LoopbackProvider(answer=in_turn(clock.after(49.3, status(503)), silence)) as provider:
        started = time.monotonic()
        with pytest.raises(ModelTimeout) as caught:
            model_at(provider.base_url, timeout_s=50, sleep=clock.pass_time).complete(REQUEST)
        assert 0.4 <= time.monotonic() - started <= 0.45 + NOISE_S  # of 50 seconds 0.45 were left
        wait_until(lambda: len(provider.calls) == 2, seconds=30)
    assert caught.value.attempts == len(provider.calls) == 2


def test_each_attempt_is_reported() -> None:
    seen: list[Attempt] = []
    with LoopbackProvider(answer=in_turn(status(503), status(429, Retry_After="1"), fine)) as provider:
        model_at(provider.base_url, sleep=Waits(), on_attempt=seen.append).complete(REQUEST)
    assert [(attempt.number, attempt.outcome, attempt.wait_s) for attempt in seen] == [
        (1, "server-error", 0.25),
        (2, "rate-limited", 1.0),
        (3, "ok", None),
    ]
    assert all(attempt.ms > 0 for attempt in seen)


def test_an_attempt_that_ends_the_call_is_reported_too() -> None:
    seen: list[Attempt] = []
    with LoopbackProvider(answer=status(401)) as provider, pytest.raises(ModelError):
        model_at(provider.base_url, on_attempt=seen.append).complete(REQUEST)
    assert [(attempt.number, attempt.outcome, attempt.wait_s) for attempt in seen] == [(1, "auth", None)]


def test_an_error_is_not_remembered() -> None:
    with LoopbackProvider(answer=in_turn(FAULTS["200 with an error body"].answer, fine)) as provider:
        model = model_at(provider.base_url)
        with pytest.raises(ModelBadResponse):
            model.complete(REQUEST)
        assert model.complete(REQUEST).text == "listo"


# --- Forbidden, misconfigured -------------------------------------------------------------------------------------------


def test_a_forbidden_model_is_refused_on_every_call_and_nothing_is_sent() -> None:
    with LoopbackProvider() as provider:
        model = model_at(provider.base_url)
        model.complete(REQUEST)
        model.name = "gpt-4o-mini:free"
        for _ in range(2):
            with pytest.raises(ForbiddenModel):
                model.complete(REQUEST)
    assert [call.payload["model"] for call in provider.calls] == ["gpt-4o-mini"]


def test_an_address_that_is_not_allowed_is_refused_without_retries() -> None:
    with LoopbackProvider() as provider:
        config = ProviderConfig(provider.base_url, KEY)
        with pytest.raises(ModelAddressRefused) as caught:
            ProviderModel("m", config, OutboundClient(OutboundPolicy(frozenset({"other.test"}), allow_http=True))).complete(REQUEST)
    assert (provider.calls, caught.value.attempts) == ([], 1)


@pytest.fixture
def configure(settings: Any) -> Callable[..., None]:
    def apply(provider: LoopbackProvider, **changes: Any) -> None:
        values = {
            "LLM_BASE_URL": provider.base_url,
            "LLM_MODEL": "gpt-4o-mini",
            "LLM_API_KEY": KEY,
            "LLM_TIMEOUT_S": 3.0,
            "OUTBOUND_ALLOWED_HOSTS": [provider.host],
            "OUTBOUND_ALLOW_LOOPBACK": True,
        }
        for name, value in (values | changes).items():
            setattr(settings, name, value)

    return apply


def test_the_settings_make_the_model(configure: Callable[..., None]) -> None:
    with LoopbackProvider() as provider:
        configure(provider)
        assert provider_from_settings().complete(REQUEST).model == "gpt-4o-mini"
        assert provider_from_settings("gpt-4.1").complete(REQUEST).model == "gpt-4.1"
        shared_client().close()
    assert [call.payload["model"] for call in provider.calls] == ["gpt-4o-mini", "gpt-4.1"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"LLM_BASE_URL": ""}, "LLM_BASE_URL"),
        ({"LLM_MODEL": ""}, "LLM_MODEL"),
        ({"LLM_API_KEY": f"{KEY}\n"}, "LLM_API_KEY"),
        ({"LLM_API_KEY": f"{KEY}ñ"}, "LLM_API_KEY"),
        ({"OUTBOUND_ALLOWED_HOSTS": ["https://host/v1"]}, "OUTBOUND_ALLOWED_HOSTS"),
    ],
)
def test_a_setting_that_is_missing_or_wrong_is_named_and_the_key_is_not_shown(
    configure: Callable[..., None], changes: dict[str, Any], says: str
) -> None:
    with LoopbackProvider() as provider:
        configure(provider, **changes)
        with pytest.raises(ModelNotConfigured, match=says) as caught:
            provider_from_settings()
    assert KEY not in str(caught.value)
    assert caught.value.cause == "not-configured"


def test_a_forbidden_model_is_refused_from_the_settings(configure: Callable[..., None]) -> None:
    with LoopbackProvider() as provider:
        configure(provider, LLM_MODEL="llama-3.3-70b:free")
        with pytest.raises(ForbiddenModel):
            provider_from_settings()
    assert provider.calls == []


def test_neither_the_configuration_nor_the_model_shows_the_key() -> None:
    model = model_at("http://127.0.0.1:9/v1")
    assert KEY not in repr(model) + repr(vars(model)) + str(ProviderConfig("http://h/v1", KEY))
