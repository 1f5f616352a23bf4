"""What both clients promise, against a server of our own and a real Ollama."""

import json
import os
import re
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress

import httpx
import pytest

from regraph_kg.errors import ModelError
from regraph_kg.llm.model import LanguageModel
from tests.llm.asking import CHOICE, prompt, question
from tests.llm.conftest import Opener, Served
from tests.llm.tiny_model import CONTEXT


def test_the_name_tells_model_digest_server_and_options(server: Served, own_way: Opener) -> None:
    tags = httpx.get(f"{server.url}/api/tags").json()["models"]
    digest = next(m["digest"] for m in tags if m["name"] == f"{server.names['tiny']}:latest")
    version = httpx.get(f"{server.url}/api/version").json()["version"]
    assert own_way("tiny").name == (
        f"ollama:{server.names['tiny']}@{digest[:12]}"
        f" server={version} temperature=0.7 max_tokens=64"
    )
    pattern = rf"openai:{server.names['tiny']}@[0-9a-f]{{12}} temperature=0\.7 max_tokens=64"
    assert re.fullmatch(pattern, Opener(server, "openai")("tiny").name)


def test_a_seed_fixes_the_answer_and_another_seed_changes_it(opened: Opener) -> None:
    model = opened("babble")
    first, again, other = (model.complete(prompt(seed=seed)).text for seed in (1, 1, 2))
    assert first == again != other
    # Ollama takes -1 for a random seed
    assert model.complete(prompt(seed=-1)).text == model.complete(prompt(seed=-1)).text


def test_an_answer_that_ends_by_itself_is_whole_and_counted(opened: Opener) -> None:
    model = opened("tiny", max_tokens=1000)
    reply = model.complete(prompt())
    assert reply.finish == "stop"
    assert 0 < reply.output_tokens < 1000
    assert reply.prompt_tokens >= len("You write code.make it fast")
    assert 0 < reply.seconds < 60
    assert reply.model == model.name


def test_an_answer_cut_at_max_tokens_says_so(opened: Opener) -> None:
    reply = opened("babble", max_tokens=50).complete(prompt())
    assert (reply.finish, reply.output_tokens) == ("length", 50)


def test_an_answer_ends_at_the_window_instead_of_sliding_past_it(own_way: Opener) -> None:
    reply = own_way("babble", max_tokens=800).complete(prompt("x" * (CONTEXT - 220)))
    assert reply.finish == "length"
    assert reply.output_tokens < 220


def test_a_prompt_arrives_whole_or_is_refused(own_way: Opener) -> None:
    """One token a byte, where a third was expected: refused at 4,096, taken at 5,120."""
    assert own_way("tiny").complete(prompt("x" * 4500)).prompt_tokens >= 4500
    with pytest.raises(ModelError, match="which holds 5120 tokens"):
        own_way("tiny").complete(prompt("x" * 6000))


def test_a_thinking_model_is_told_to_answer_instead(own_way: Opener) -> None:
    model = own_way("thinker")
    assert any(model.complete(prompt(seed=seed)).text for seed in range(4))
    obeys(own_way("thinker", max_tokens=400))


@pytest.mark.parametrize("name", ["tiny", "babble"])
def test_an_answer_that_ends_by_itself_obeys_its_schema(name: str, opened: Opener) -> None:
    obeys(opened(name, max_tokens=400))


def obeys(model: LanguageModel) -> None:
    for number in range(2):
        reply = model.complete(question(CHOICE, f"which is {number}?"))
        assert reply.finish == "stop", reply
        answer = json.loads(reply.text)
        assert sorted(answer) == ["choice", "name"]
        assert answer["choice"] in ("cuda/tiling", "cuda/unrolling", "new")
        assert len(answer["name"]) <= 20


def test_an_answer_to_a_schema_that_is_cut_says_so(opened: Opener) -> None:
    reply = opened("tiny", max_tokens=8).complete(question(CHOICE))
    assert reply.finish == "length"
    with pytest.raises(json.JSONDecodeError):
        json.loads(reply.text)


def test_answers_to_a_schema_are_drawn_at_temperature_zero(opened: Opener) -> None:
    """So that a decision does not hang on its seed."""
    model = opened("babble", max_tokens=400)
    asked = question(CHOICE)
    answers = {model.complete(asked.model_copy(update={"seed": seed})).text for seed in (1, 2)}
    assert len(answers) == 1


def test_an_answer_that_repeats_itself_is_cut_by_the_server_and_says_so(
    opened: Opener,
) -> None:
    model = opened("babble", max_tokens=400, temperature=0)
    reply = model.complete(prompt())
    assert reply.finish == "length"
    assert 0 < len(reply.text) < 200


def test_an_unknown_model_is_told_with_a_remedy(server: Served, own_way: Opener) -> None:
    with pytest.raises(ModelError, match="ollama pull no-such-model"):
        own_way("no-such-model")
    with pytest.raises(ModelError, match="tiny:latest"):
        Opener(server, "openai")("no-such-model")


def test_a_prompt_cut_to_a_fraction_is_found_out_where_it_cannot_be_refused(
    server: Served, caplog: pytest.LogCaptureFixture
) -> None:
    """/v1 of Ollama answers 200 to a cut prompt; the client warns of that."""
    model = Opener(server, "openai")("tiny")
    model.complete(prompt())
    with pytest.raises(ModelError, match=r"of a prompt of \d+ bytes"):
        model.complete(prompt("x" * 40_000))
    assert caplog.text.count("--model ollama:") == 1


def test_a_thought_is_no_answer(server: Served) -> None:
    """/v1 of Ollama lets a model think: it is cut while thinking, or says nothing after it."""
    model = Opener(server, "openai")("thinker", max_tokens=40)
    for seed in range(4):
        with suppress(ModelError):
            reply = model.complete(prompt(seed=seed))
            assert (reply.finish, reply.text) == ("length", "")


def test_calls_at_once_get_the_answers_of_calls_one_by_one(opened: Opener) -> None:
    model = opened("babble", max_tokens=30)
    asked = [prompt(seed=seed) for seed in range(6)]
    one_by_one = [model.complete(one).text for one in asked]
    with ThreadPoolExecutor(6) as pool:
        assert [reply.text for reply in pool.map(model.complete, asked)] == one_by_one


@pytest.mark.timing
def test_closing_ends_a_call_in_another_thread_and_frees_the_server(
    opened: Opener,
) -> None:
    model = opened("babble", max_tokens=15_000)
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(model.complete, prompt())
        assert not wait([call], timeout=0.3).done
        started = time.perf_counter()
        model.close()
        with pytest.raises(ModelError, match="closed on our side"):
            call.result(timeout=5)
        assert time.perf_counter() - started < 1
    opened("babble", max_tokens=1).complete(prompt())
    assert time.perf_counter() - started < 2


@pytest.mark.timing
def test_ctrl_c_frees_the_server_at_once(opened: Opener) -> None:
    """The whole answer would take several seconds, and a server answers one request at a time."""
    model = opened("babble", max_tokens=15_000)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.complete(prompt())
    started = time.perf_counter()
    opened("babble", max_tokens=1).complete(prompt())
    assert time.perf_counter() - started < 2


def test_silence_beyond_the_timeout_ends_the_wait(opened: Opener) -> None:
    with pytest.raises(ModelError, match=r"within 0\.2 s"):
        opened("babble", timeout=0.2, max_tokens=2000).complete(prompt())


def test_what_the_client_asks_for_is_no_servers_default(server: Served) -> None:
    """The reasons for `truncate: false` and `think: false`."""

    def answer(model: str, content: str, **options: float) -> dict[str, object]:
        body = {
            "model": server.names[model],
            "messages": [{"role": "user", "content": content}],
            "stream": False,
            "options": options,
        }
        response = httpx.post(f"{server.url}/api/chat", json=body, timeout=60)
        assert response.status_code == 200
        said: dict[str, object] = response.json()
        return said

    cut = answer("babble", "x" * 5000, num_ctx=4096, num_predict=1, temperature=0, seed=1)
    assert int(str(cut["prompt_eval_count"])) <= 4096
    thought = answer("thinker", "hello hello", num_predict=20, temperature=0.7, seed=3)["message"]
    assert isinstance(thought, dict)
    assert (thought["content"], bool(thought["thinking"])) == ("", True)
