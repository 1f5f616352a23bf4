"""What llama-cpp-python's server does otherwise than others, and what becomes of it in our client.

Not here: what it does as others do (test_contract.py), nor llama.cpp's own `llama-server`.
"""

from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import httpx
import pytest

from regraph_kg.errors import ModelError
from regraph_kg.llm.completion import LONGEST_STRING
from tests.llm import real_llama_cpp
from tests.llm.asking import CHOICE, prompt, question
from tests.llm.conftest import Opener, Served
from tests.llm.tiny_model import CONTEXT

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("llama-cpp")]


def raw(server: Served, model: str, **more: object) -> httpx.Response:
    body = {"model": model, "messages": [{"role": "user", "content": "hello"}], "max_tokens": 5}
    return httpx.post(f"{server.url}/v1/chat/completions", json=body | more, timeout=60)


@pytest.fixture
def opened(llama_cpp: Served) -> Opener:
    return Opener(llama_cpp, "openai")


def test_a_prompt_larger_than_its_window_is_refused_and_an_answer_ends_there(
    opened: Opener,
) -> None:
    with pytest.raises(ModelError, match=f"maximum context length is {CONTEXT} tokens"):
        opened("tiny").complete(prompt("x" * 6000))
    reply = opened("babble", max_tokens=800).complete(prompt("x" * (CONTEXT - 220)))
    assert reply.finish == "length"
    assert reply.prompt_tokens + reply.output_tokens == CONTEXT


def test_an_unknown_model_would_be_answered_by_the_first_one(
    opened: Opener, llama_cpp: Served
) -> None:
    """The reason why the client looks for the model before it asks."""
    assert raw(llama_cpp, "no-such-model").status_code == 200
    with pytest.raises(ModelError, match="no model no-such-model"):
        opened("no-such-model")


def test_the_usual_form_of_a_schema_is_an_error_and_the_older_one_is_asked_without_a_wait(
    opened: Opener, llama_cpp: Served, caplog: pytest.LogCaptureFixture
) -> None:
    usual = {"type": "json_schema", "json_schema": {"name": "answer", "schema": CHOICE}}
    refused = raw(llama_cpp, "tiny", response_format=usual)
    assert (refused.status_code, "response_format" in refused.text) == (500, True)
    opened("tiny", max_tokens=400).complete(question(CHOICE))
    assert "trying again" not in caplog.text


@pytest.mark.parametrize(
    "text", [{"type": "string", "maxLength": LONGEST_STRING + 1}, {"enum": ['a "tile"']}]
)
def test_a_schema_that_it_cannot_parse_ends_the_server(
    text: dict[str, object], tmp_path: Path
) -> None:
    """The reason for the client's bound. No text in a schema of ours holds a quote."""
    schema = {"type": "object", "properties": {"text": text}, "required": ["text"]}
    with real_llama_cpp.served(real_llama_cpp.found(), tmp_path) as url:
        server = Served(url, {})
        with pytest.raises(httpx.RemoteProtocolError):
            raw(server, "tiny", response_format={"type": "json_object", "schema": schema})
        with pytest.raises(httpx.ConnectError):
            raw(server, "tiny")


def test_closing_ends_a_call_here_and_not_the_servers_work(
    opened: Opener, llama_cpp: Served
) -> None:
    """The whole answer takes 8 s; nothing else is answered before it is there."""
    model = opened("babble", max_tokens=2000)
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(model.complete, prompt())
        assert not wait([call], timeout=0.5).done
        model.close()
        with pytest.raises(ModelError, match="closed on our side"):
            call.result(timeout=5)
    with pytest.raises(httpx.ReadTimeout):
        httpx.get(f"{llama_cpp.url}/v1/models", timeout=0.5)
    assert opened("babble", max_tokens=1).complete(prompt()).output_tokens == 1
