"""Servers that die, hang, break off or fail in mid-run, and calls that we end; both clients."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import tenacity
from pydantic import SecretStr

from regraph_kg.errors import AnswersPending, ModelError
from regraph_kg.llm.batch import BatchModel
from regraph_kg.llm.model import LanguageModel
from regraph_kg.llm.ollama import OllamaModel
from regraph_kg.llm.openai_compatible import Endpoint, OpenAICompatibleModel
from regraph_kg.llm.scripted import ScriptedModel
from regraph_kg.llm.server import OllamaServer
from regraph_kg.models.prompt import Prompt, PromptKey, Reply
from tests.llm.fake_ollama import FakeOllama


@pytest.fixture
def fake() -> Iterator[FakeOllama]:
    with FakeOllama() as server:
        yield server


@dataclass(frozen=True)
class Opener:
    kind: str

    def __call__(
        self,
        url: str,
        name: str = "tiny",
        *,
        timeout: float = 20,
        max_tokens: int = 300,
        patience: float = 3,
    ) -> LanguageModel:
        settings = {"timeout": timeout, "max_tokens": max_tokens, "patience": patience}
        if self.kind == "ollama":
            return OllamaModel(url, name, temperature=0.7, **settings)  # type: ignore[arg-type]
        endpoint = Endpoint(f"{url}/v1", SecretStr(""))
        return OpenAICompatibleModel(endpoint, name, temperature=0.7, **settings)  # type: ignore[arg-type]


@pytest.fixture(params=["ollama", "openai"])
def opened(request: pytest.FixtureRequest) -> Opener:
    return Opener(request.param)


def prompt(seed: int = 1) -> Prompt:
    key = PromptKey(problem="matmul", target="openmp", path=(), attempt=seed)
    return Prompt(key=key, system="You write code.", user="make it fast", seed=seed)


def message_of(model: LanguageModel) -> str:
    with pytest.raises(ModelError) as caught:
        model.complete(prompt())
    assert "\n" not in str(caught.value)
    return str(caught.value)


FAULTS = ["die", "half", '500 {"error": "model runner has unexpectedly stopped"}', "503 loading"]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_that_is_lost_for_a_moment_is_asked_again(
    fault: str, fake: FakeOllama, opened: Opener, caplog: pytest.LogCaptureFixture
) -> None:
    model = opened(fake.url)
    expected = model.complete(prompt())
    fake.chats.clear()
    fake.faults = [fault, fault]
    reply = model.complete(prompt())
    assert (reply.text, reply.finish) == (expected.text, expected.finish)
    assert len(fake.chats) == 3
    assert caplog.text.count("lost ") == 2


@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_that_stays_lost_is_given_up_when_patience_ends(
    fault: str, fake: FakeOllama, opened: Opener
) -> None:
    model = opened(fake.url, patience=0.2)
    fake.faults = [fault] * 99
    started = time.monotonic()
    assert fake.url in message_of(model)
    assert time.monotonic() - started < 2
    assert 2 < len(fake.chats) < 12


def test_a_server_that_came_back_is_lost_anew(fake: FakeOllama, opened: Opener) -> None:
    """Patience is of a call: one that needed some leaves all of it to the next."""
    model = opened(fake.url, patience=3)
    for _ in range(3):
        fake.faults = ["die"]
        model.complete(prompt())


def test_a_server_that_is_gone_says_how_to_go_on(opened: Opener, fake: FakeOllama) -> None:
    model = opened(fake.url, patience=0.05)
    fake.stop()
    said = message_of(model)
    assert f"answers at {fake.url}" in said
    assert "start it" in said


def test_a_server_that_hangs_is_left_after_the_timeout_and_not_asked_again(
    fake: FakeOllama, opened: Opener
) -> None:
    model = opened(fake.url, timeout=0.3)
    fake.faults = ["hang"] * 9
    assert "gave no answer within 0.3 s" in message_of(model)
    assert len(fake.chats) == 1


def test_a_server_that_hangs_in_mid_answer_is_left_after_the_timeout(
    fake: FakeOllama, opened: Opener
) -> None:
    model = opened(fake.url, timeout=0.3)
    fake.faults = ["half, hang"] * 9
    assert "gave no answer within 0.3 s" in message_of(model)
    assert len(fake.chats) == 1


@pytest.mark.parametrize("fault", ['400 {"error": "too long"}', '404 {"error": "no model"}'])
def test_a_refusal_is_not_asked_for_again(fault: str, fake: FakeOllama, opened: Opener) -> None:
    model = opened(fake.url, max_tokens=5000)  # Ollama: the largest window at once
    fake.faults = [fault] * 9
    message_of(model)
    assert len(fake.chats) == 1


def test_calls_of_many_threads_are_worked_on_at_once(opened: Opener) -> None:
    """No call is answered before all four have arrived."""
    with FakeOllama(parallel=4) as fake:
        model = opened(fake.url)
        one_by_one = [model.complete(prompt(seed)).text for seed in range(4)]
        fake.together = threading.Barrier(4)
        with ThreadPoolExecutor(4) as pool:
            replies = list(pool.map(model.complete, map(prompt, range(4))))
    assert [reply.text for reply in replies] == one_by_one


def test_closing_ends_the_calls_of_all_threads_at_once(opened: Opener) -> None:
    with FakeOllama(parallel=3) as fake:
        model = opened(fake.url)
        fake.faults = ["hang"] * 9
        with ThreadPoolExecutor(3) as pool:
            calls = [pool.submit(model.complete, prompt(seed)) for seed in range(3)]
            until(lambda: fake.working == 3)
            assert ended(model, calls) < 1
        until(lambda: fake.working == 0)


def test_closing_ends_the_wait_for_a_lost_server(fake: FakeOllama, opened: Opener) -> None:
    model = opened(fake.url, patience=600)
    fake.faults = ["die"] * 9
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(model.complete, prompt())
        until(lambda: bool(fake.chats))
        assert ended(model, [call]) < 1


def test_a_closed_model_answers_nothing_and_closes_again(fake: FakeOllama, opened: Opener) -> None:
    model = opened(fake.url)
    model.close()
    model.close()
    assert message_of(model).endswith("was closed on our side")
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
        assert str(call.exception()).endswith("was closed on our side")
    return seconds


def test_a_lost_server_is_waited_for_as_long_as_patience_lasts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By a clock of our own, on which calls take no time; the last wait would pass the limit."""
    clock = SteppedClock()
    monkeypatch.setattr(tenacity, "time", clock)
    server = OllamaServer("http://127.0.0.1:9", "tiny", timeout=1, patience=30.0)
    monkeypatch.setattr(server, "_closed", clock)

    def call() -> None:
        clock.now += 100 if not clock.waits else 0  # what the first call took does not count
        raise httpx.ConnectError("gone")

    with pytest.raises(httpx.ConnectError):
        server.patiently(call)
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


def test_recorded_answers_and_files_have_nothing_to_close(tmp_path: Path) -> None:
    scripted = ScriptedModel("recorded:0", {prompt().key: "yes"})
    batch = BatchModel(tmp_path, "qwen", temperature=0, max_tokens=9)
    for model, finish in ((scripted, "stop"), (batch, "pending")):
        model.close()
        assert model.complete(prompt()).finish == finish


def test_prompts_by_file_are_noted_once_each_by_many_threads(tmp_path: Path) -> None:
    model = BatchModel(tmp_path, "qwen", temperature=0, max_tokens=9)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(model.complete, [prompt(number % 50) for number in range(400)]))
    with pytest.raises(AnswersPending, match=r"^50 prompts pending"):
        model.finish()
    lines = (tmp_path / "pending.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["body"]["seed"] for line in lines) == list(range(50))
