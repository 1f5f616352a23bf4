"""Every way in which an Ollama server fails becomes one line.

What is tried again, and for how long, is in test_lost_servers.py.
"""

import logging
import threading
from collections.abc import Iterator

import pytest

from regraph_kg.errors import ModelError
from regraph_kg.llm.ollama import OllamaModel
from regraph_kg.models.prompt import Prompt, PromptKey
from tests.llm import real_ollama
from tests.llm.fake_ollama import FakeModel, FakeOllama

PROMPT = Prompt(
    key=PromptKey(problem="matmul", target="openmp", path=()),
    system="You write code.",
    user="make it fast",
    seed=1,
)


@pytest.fixture
def fake() -> Iterator[FakeOllama]:
    with FakeOllama() as server:
        yield server


def open_model(url: str, name: str = "tiny", *, max_tokens: int = 300) -> OllamaModel:
    return OllamaModel(url, name, timeout=5, temperature=0.7, max_tokens=max_tokens, patience=0.05)


def message_of(model: OllamaModel) -> str:
    with pytest.raises(ModelError) as caught:
        model.complete(PROMPT)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_no_server_says_how_to_start_one() -> None:
    with pytest.raises(ModelError) as caught:
        open_model("http://127.0.0.1:9")
    assert str(caught.value) == (
        "no Ollama answers at http://127.0.0.1:9: start it (ollama serve) or set REGRAPH_OLLAMA_URL"
    )


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ('404 {"error": "model gone"}', "has no model tiny: ollama pull tiny"),
        ('400 {"error": "too long"}', "does not fit tiny, which holds 5120 tokens (too long)"),
        ("200 <html>", "is not Ollama"),
        ('200 {"done": true}', "is not Ollama"),
        (
            '200 {"done_reason": "load", "message": {"role": "assistant", "content": ""}}',
            "tiny ended its answer with 'load', not by itself",
        ),
        (
            '200 {"done_reason": "stop", "message":'
            ' {"role": "assistant", "content": "", "thinking": "hm"}}',
            "tiny thought and said nothing",
        ),
    ],
)
def test_a_bad_answer_is_told_in_one_line_and_not_asked_for_again(
    fault: str, said: str, fake: FakeOllama
) -> None:
    fake.faults = [fault] * 9
    model = open_model(fake.url, max_tokens=4000)  # whose window is the largest at once
    assert said in message_of(model)
    assert len(fake.chats) == 1


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (
            '500 {"error": "model runner has\\nunexpectedly stopped"}',
            "failed on tiny (500: model runner has unexpectedly stopped): see its log",
        ),
        ("503 <html>overloaded</html>", "failed on tiny (503: <html>overloaded</html>)"),
        ("die", "went away in mid-answer"),
        ("half", "went away in mid-answer"),
    ],
)
def test_a_fault_that_stays_is_told_in_one_line(fault: str, said: str, fake: FakeOllama) -> None:
    fake.faults = [fault] * 99
    assert said in message_of(open_model(fake.url))


def test_an_empty_answer_is_the_models_own(fake: FakeOllama) -> None:
    model = open_model(fake.url)
    fake.faults = ['200 {"done_reason": "stop", "message": {"role": "assistant", "content": ""}}']
    reply = model.complete(PROMPT)
    assert (reply.text, reply.finish) == ("", "stop")
    assert (reply.prompt_tokens, reply.output_tokens, reply.seconds) == (0, 0, 0.0)


@pytest.mark.parametrize("version", ["0.11.9", "0.9.0"])
def test_a_server_that_cuts_prompts_is_warned_of_once(
    version: str, fake: FakeOllama, caplog: pytest.LogCaptureFixture
) -> None:
    fake.version = version
    model = open_model(fake.url.replace("//", "//me:secret@"))
    model.complete(PROMPT)
    model.complete(PROMPT)
    (warning,) = [record for record in caplog.records if version in record.message]
    assert warning.levelno == logging.WARNING
    assert "secret" not in warning.message


@pytest.mark.parametrize("version", ["0.12.0", "0.23.2", "1.0.0-rc1"])
def test_a_server_that_refuses_long_prompts_is_not_warned_of(
    version: str, fake: FakeOllama, caplog: pytest.LogCaptureFixture
) -> None:
    fake.version = version
    open_model(fake.url).complete(PROMPT)
    assert "cuts overlong prompts" not in caplog.text


def test_windows_are_powers_of_two_and_no_larger_than_the_model_holds(fake: FakeOllama) -> None:
    fake.models["large"] = FakeModel(context=40_960)
    model = open_model(fake.url, "large")
    for size in (10, 12_000, 30_000):
        model.complete(PROMPT.model_copy(update={"user": "x" * size}))
    windows = [chat["options"]["num_ctx"] for chat in fake.chats]
    assert windows == [4096, 8192, 16_384, 16_384, 32_768]
    with pytest.raises(ModelError, match="which holds 40960 tokens"):
        model.complete(PROMPT.model_copy(update={"user": "x" * 45_000}))
    assert [chat["options"]["num_ctx"] for chat in fake.chats[5:]] == [16_384, 32_768, 40_960]


def test_a_request_leaves_nothing_to_the_servers_defaults(fake: FakeOllama) -> None:
    open_model(fake.url).complete(PROMPT)
    (chat,) = fake.chats
    assert chat == {
        "model": "tiny",
        "messages": [
            {"role": "system", "content": "You write code."},
            {"role": "user", "content": "make it fast"},
        ],
        "stream": False,
        "think": False,
        "truncate": False,
        "shift": False,
        "keep_alive": "10m",
        "options": {"num_ctx": 4096, "num_predict": 300, "temperature": 0.7, "seed": 1},
    }


def test_a_schema_goes_along_at_temperature_zero(fake: FakeOllama) -> None:
    text = {"type": "string", "maxLength": 9000}
    schema = {"type": "object", "properties": {"maxLength": text, "b": {"enum": ["x", 3000]}}}
    open_model(fake.url).complete(PROMPT.model_copy(update={"answer_schema": schema}))
    (chat,) = fake.chats
    assert chat["format"]["properties"] == {
        "maxLength": {"type": "string", "maxLength": 1000},
        "b": {"enum": ["x", 3000]},
    }
    assert (chat["options"]["temperature"], chat["think"]) == (0, False)
    assert text["maxLength"] == 9000


@pytest.mark.parametrize("name", ["tiny", "tiny:latest"])
def test_the_digest_is_found_with_and_without_a_tag(name: str, fake: FakeOllama) -> None:
    fake.models["tiny:latest"] = fake.models["tiny"]
    assert f"@{fake.digest('tiny')[:12]} " in open_model(fake.url, name).name


@pytest.mark.parametrize("path", ["/elsewhere", "/api/tags?"])
def test_a_server_of_another_kind_is_told(path: str, fake: FakeOllama) -> None:
    with pytest.raises(ModelError, match="is not Ollama: set REGRAPH_OLLAMA_URL"):
        open_model(fake.url + path)


@pytest.mark.slow
def test_a_server_killed_in_mid_answer(tmp_path_factory: pytest.TempPathFactory) -> None:
    binary, folder = real_ollama.found(), tmp_path_factory.mktemp("ollama")
    if "://" in binary:
        pytest.skip("ollama: the server at REGRAPH_TEST_OLLAMA_URL is not ours to kill")
    with real_ollama.served(binary, folder) as (url, process):
        names = real_ollama.create_models(url, folder)
        model = open_model(url, names["babble"], max_tokens=4000)
        timer = threading.Timer(0.5, process.kill)
        timer.start()
        assert message_of(model).startswith(f"no Ollama answers at {url}")
        timer.join()
