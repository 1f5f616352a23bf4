"""Servers that die, hang, break off or fail in mid-run, and calls that we end; both clients."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

import httpx
import pytest

from regraph_kg.errors import ModelError
from regraph_kg.llm.connection import Connection, Refused, ServerKind
from regraph_kg.llm.model import AskOptions, LanguageModel
from regraph_kg.models.prompt import Reply
from tests.llm import real_ollama
from tests.llm.asking import Kind, message_of, open_model, prompt
from tests.llm.fake_ollama import FakeOllama

pytestmark = pytest.mark.parametrize("kind", ["ollama", "openai"])

FAULTS = [
    "die",
    "half",
    '500 {"error": "model runner has unexpectedly stopped"}',
    "503 loading",
    "429 later",
    "200 <html>",  # a page of what stands before the server
    "200 {}",
    '200 {"error": {"message": "overloaded"}}',
    '200 {"error": {"code": 503, "message": "overloaded"}}',
    '200 {"error": "overloaded"}',
    '200 {"error": {"code": "busy", "message": "overloaded"}}',
]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_that_is_lost_for_a_moment_is_asked_again(
    fault: str, fake: FakeOllama, kind: Kind, caplog: pytest.LogCaptureFixture
) -> None:
    model = open_model(kind, fake.url, patience=3)
    expected = model.complete(prompt())
    fake.chats.clear()
    fake.faults = [fault, fault]
    reply = model.complete(prompt())
    assert (reply.text, reply.finish) == (expected.text, expected.finish)
    assert len(fake.chats) == 3
    assert caplog.text.count("lost ") == 2


@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_that_stays_lost_is_given_up_when_patience_ends(
    fault: str, fake: FakeOllama, kind: Kind
) -> None:
    model = open_model(kind, fake.url, patience=0.2)
    fake.faults = [fault] * 99
    started = time.monotonic()
    assert fake.url in message_of(model)
    assert time.monotonic() - started < 2
    assert 1 < len(fake.chats) < 12, "a busy machine asks seldom"


def test_a_wait_that_the_server_asks_for_is_kept(fake: FakeOllama, kind: Kind) -> None:
    model = open_model(kind, fake.url, patience=3)
    fake.retry_after, fake.faults = "0.6", ["429 later"]
    started = time.monotonic()
    model.complete(prompt())
    assert time.monotonic() - started > 0.6
    fake.chats.clear()
    fake.retry_after, fake.faults = "600", ["429 later"] * 9  # longer than our patience
    message_of(model)
    assert len(fake.chats) == 1


def test_a_server_that_came_back_is_lost_anew(fake: FakeOllama, kind: Kind) -> None:
    """Patience is of a call: one that needed some leaves all of it to the next."""
    model = open_model(kind, fake.url, patience=3)
    for _ in range(3):
        fake.faults = ["die"]
        model.complete(prompt())


def test_a_server_that_is_gone_says_how_to_go_on(fake: FakeOllama, kind: Kind) -> None:
    model = open_model(kind, fake.url)
    fake.stop()
    said = message_of(model)
    assert f"answers at {fake.url}" in said
    assert "start it" in said


@pytest.mark.parametrize("fault", ["hang", "half, hang"])
def test_a_server_that_hangs_is_left_after_the_timeout_and_not_asked_again(
    fault: str, fake: FakeOllama, kind: Kind
) -> None:
    model = open_model(kind, fake.url, timeout=0.3, patience=3)
    fake.faults = [fault] * 9
    assert "within 0.3 s" in message_of(model)
    assert len(fake.chats) == 1


def test_calls_of_many_threads_are_worked_on_at_once(kind: Kind) -> None:
    """No call is answered before all four have arrived."""
    with FakeOllama(parallel=4) as fake:
        model = open_model(kind, fake.url)
        one_by_one = [model.complete(prompt(seed=seed)).text for seed in range(4)]
        fake.together = threading.Barrier(4)
        with ThreadPoolExecutor(4) as pool:
            replies = list(pool.map(lambda seed: model.complete(prompt(seed=seed)), range(4)))
    assert [reply.text for reply in replies] == one_by_one


def test_closing_ends_the_calls_of_all_threads_at_once(kind: Kind) -> None:
    with FakeOllama(parallel=3) as fake:
        model = open_model(kind, fake.url, timeout=20)
        fake.faults = ["hang"] * 9
        with ThreadPoolExecutor(3) as pool:
            calls = [pool.submit(model.complete, prompt(seed=seed)) for seed in range(3)]
            until(lambda: fake.working == 3)
            assert ended(model, calls) < 1
        until(lambda: fake.working == 0)


def test_closing_ends_the_wait_for_a_lost_server_and_all_later_calls(
    fake: FakeOllama, kind: Kind
) -> None:
    model = open_model(kind, fake.url, patience=600)
    fake.faults = ["die"] * 9
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(model.complete, prompt())
        until(lambda: bool(fake.chats))
        assert ended(model, [call]) < 1
    fake.chats.clear()
    model.close()
    assert "closed on our side" in message_of(model)
    assert fake.chats == []


def until(happened: Callable[[], bool]) -> None:
    """Wait for what another thread does."""
    deadline = time.monotonic() + 20
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def ended(model: LanguageModel, calls: Sequence[Future[Reply]]) -> float:
    """Seconds from closing the model to the end of its calls, each of which is told as ours."""
    started = time.monotonic()
    model.close()
    wait(calls)
    seconds = time.monotonic() - started
    for call in calls:
        assert isinstance(call.exception(), ModelError)
        assert "closed on our side" in str(call.exception())
    return seconds


def test_a_lost_server_is_waited_for_as_long_as_patience_lasts(
    monkeypatch: pytest.MonkeyPatch, kind: Kind
) -> None:
    """By a clock of our own, on which calls take no time; the last wait would pass the limit."""
    clock = SteppedClock()
    monkeypatch.setattr("regraph_kg.llm.connection.time", clock)
    options = AskOptions(0.7, 9, timeout=1, patience=30.0)
    connection = Connection(ServerKind(kind, "start it", "URL"), "http://127.0.0.1:9", options)
    monkeypatch.setattr(connection, "_closed", clock)

    def call() -> None:
        clock.now += 100 if not clock.waits else 0  # what the first call took does not count
        raise httpx.ConnectError("gone") if kind == "ollama" else Refused(503, "")

    with pytest.raises((httpx.ConnectError, Refused)):
        connection.patiently(call)
    assert clock.waits == [0.5, 1, 2, 4, 5, 5, 5, 5]


class SteppedClock:
    """Clock and event in one: waiting moves it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def is_set(self) -> bool:
        return False

    def wait(self, timeout: float) -> None:
        self.waits.append(timeout)
        self.now += timeout


@pytest.mark.nightly
@pytest.mark.xdist_group("ollama")
def test_a_server_killed_in_mid_answer(
    tmp_path_factory: pytest.TempPathFactory, kind: Kind
) -> None:
    binary, folder = real_ollama.found(), tmp_path_factory.mktemp("ollama")
    if "://" in binary:
        pytest.skip("ollama: the server at REGRAPH_TEST_OLLAMA_URL is not ours to kill")
    with real_ollama.served(binary, folder) as (url, process):
        names = real_ollama.create_models(url, folder)
        model = open_model(kind, url, names["babble"], max_tokens=4000)
        timer = threading.Timer(0.5, process.kill)
        timer.start()
        assert url in message_of(model)
        timer.join()
