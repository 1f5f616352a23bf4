"""What the OpenAI-compatible client sends, takes and tells, where servers differ from Ollama."""

import json
import logging
from collections.abc import Iterator

import pytest
from pydantic import SecretStr

from regraph_kg.errors import BadInput, ModelError
from regraph_kg.llm.ollama import OllamaModel
from regraph_kg.llm.openai_compatible import Endpoint, OpenAICompatibleModel
from regraph_kg.models.prompt import Prompt, PromptKey
from tests.llm.fake_ollama import FakeOllama

PROMPT = Prompt(
    key=PromptKey(problem="matmul", target="openmp", path=()),
    system="You write code.",
    user="make it fast",
    seed=2**31 + 5,
)
KEY = "sk-of-nobody"


@pytest.fixture
def fake() -> Iterator[FakeOllama]:
    with FakeOllama() as server:
        yield server


def open_model(url: str, name: str = "tiny", *, key: str = "") -> OpenAICompatibleModel:
    return OpenAICompatibleModel(
        Endpoint(url, SecretStr(key)),
        name,
        timeout=5,
        temperature=0.7,
        max_tokens=300,
        patience=0.05,
    )


def opened(fake: FakeOllama, **options: str) -> OpenAICompatibleModel:
    return open_model(f"{fake.url}/v1", **options)  # type: ignore[arg-type]


def message_of(model: OpenAICompatibleModel, prompt: Prompt = PROMPT) -> str:
    with pytest.raises(ModelError) as caught:
        model.complete(prompt)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def completion(finish: str | None = "stop", **message: object) -> str:
    choice = {"message": message, "finish_reason": finish}
    return "200 " + json.dumps({"choices": [choice]})


def models(*listed: object) -> str:
    return "200 " + json.dumps({"object": "list", "data": listed})


def test_a_request_leaves_nothing_to_the_servers_defaults(fake: FakeOllama) -> None:
    opened(fake).complete(PROMPT)
    (chat,) = fake.chats
    assert chat == {
        "model": "tiny",
        "messages": [
            {"role": "system", "content": "You write code."},
            {"role": "user", "content": "make it fast"},
        ],
        "temperature": 0.7,
        "seed": 5,
        "max_tokens": 300,
        "chat_template_kwargs": {"enable_thinking": False},
    }


def test_a_schema_goes_along_at_temperature_zero(fake: FakeOllama) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 9000}}}
    opened(fake).complete(PROMPT.model_copy(update={"answer_schema": schema}))
    (chat,) = fake.chats
    bounded = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 1000}}}
    assert chat["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": bounded},
    }
    assert chat["temperature"] == 0


OLDER = '500 {"error": {"message": "response_format.type: expected text or json_object"}}'


def test_a_server_that_refuses_the_form_of_a_schema_is_asked_in_the_older_one(
    fake: FakeOllama,
) -> None:
    """Once: it stays with what was understood, and waits for nothing."""
    schema: dict[str, object] = {"type": "object", "properties": {}}
    asked, model = PROMPT.model_copy(update={"answer_schema": schema}), opened(fake)
    fake.faults = [OLDER, completion(content="{}"), completion(content="{}")]
    assert [model.complete(asked).text for _ in range(2)] == ["{}", "{}"]
    assert [chat["response_format"]["type"] for chat in fake.chats] == [
        "json_schema",
        "json_object",
        "json_object",
    ]
    assert fake.chats[-1]["response_format"] == {"type": "json_object", "schema": schema}


def test_a_server_that_refuses_every_form_of_a_schema_says_so(fake: FakeOllama) -> None:
    asked, model = PROMPT.model_copy(update={"answer_schema": {"type": "object"}}), opened(fake)
    fake.faults = ["400 unknown response_format"] * 9
    assert "refused the prompt for tiny" in message_of(model, asked)
    assert len(fake.chats) == 2


def test_the_key_is_sent_and_nothing_of_another_account(
    fake: FakeOllama, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment may hold an account elsewhere, which is nothing to this server."""
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "another-account")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    fake.key = KEY
    opened(fake, key=f"{KEY}\n").complete(PROMPT)
    fake.key = ""
    opened(fake).complete(PROMPT)
    assert [head["authorization"] for head in fake.heads] == [f"Bearer {KEY}"] * 2 + [
        "Bearer none"
    ] * 2
    assert "another-account" not in json.dumps(fake.heads)


def test_the_key_is_in_no_message_log_or_repr(
    fake: FakeOllama, caplog: pytest.LogCaptureFixture
) -> None:
    """Even where the server says it back."""
    caplog.set_level(logging.DEBUG)
    model = opened(fake, key=KEY)
    fake.faults = [f"500 who is {KEY}?"] * 99
    said = message_of(model)
    fake.key, fake.faults = "another", []
    refused = message_of(model)
    assert "who is ...?" in said
    assert refused.endswith("lets nobody in with this key: set REGRAPH_OPENAI_KEY")
    for text in (said, refused, caplog.text, repr(model), repr(Endpoint("x", SecretStr(KEY)))):
        assert KEY not in text


@pytest.mark.parametrize("key", ["schlüssel", "a\nb", "a\x00b"])
def test_a_key_that_no_header_can_carry_is_bad_input(key: str, fake: FakeOllama) -> None:
    with pytest.raises(BadInput, match=r"is no plain text: set REGRAPH_OPENAI_KEY$") as caught:
        opened(fake, key=key)
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (
            '400 {"error": {"message": "This model\'s maximum context length is 5120 tokens."}}',
            "refused the prompt for tiny, with 300 tokens for the answer (400: ",
        ),
        (
            '500 {"error": {"code": 500, "type": "exceed_context_size_error", "message": "no"}}',
            "refused the prompt for tiny",
        ),
        ("413 too large", "refused the prompt for tiny"),
        ("422 no", "refused the prompt for tiny"),
        ('404 {"error": {"message": "gone"}}', "has no model tiny, or is no OpenAI-compatible"),
        ("200 <html>", "is no OpenAI-compatible server: set REGRAPH_OPENAI_URL"),
        ("200 {}", "is no OpenAI-compatible server: set REGRAPH_OPENAI_URL"),
        ("307 elsewhere", "failed on tiny (307: elsewhere): see its log"),
        ('200 {"choices": []}', "tiny answered without a choice"),
        (completion("content_filter", content="x"), "ended its answer with 'content_filter'"),
        (completion("tool_calls", content=None), "ended its answer with 'tool_calls'"),
        (completion(content="", reasoning="hm"), "thought and said nothing"),
        (completion(content=None, reasoning_content="hm"), "thought and said nothing"),
        (completion(content="<think>hm</think>\n"), "thought and said nothing"),
    ],
)
def test_a_bad_answer_is_told_in_one_line_and_not_asked_for_again(
    fault: str, said: str, fake: FakeOllama
) -> None:
    model = opened(fake)
    fake.faults = [fault] * 9
    assert said in message_of(model)
    assert len(fake.chats) == 1


@pytest.mark.parametrize(
    ("fault", "text", "finish"),
    [
        (completion(content="code"), "code", "stop"),
        (completion(content=""), "", "stop"),
        (completion(content=None), "", "stop"),
        (completion("length", content="co"), "co", "length"),
        (completion(None, content="co co co"), "co co co", "length"),
        (completion(content="<think>hm</think>code"), "code", "stop"),
        (completion(content="hm</think>code"), "code", "stop"),
        (completion(content="code", reasoning="hm"), "code", "stop"),
        (completion("length", content="<think>hm ```cpp"), "", "length"),
        (completion("length", content=None, reasoning="hm"), "", "length"),
    ],
)
def test_answers_of_all_kinds_of_servers_are_taken(
    fault: str, text: str, finish: str, fake: FakeOllama
) -> None:
    """Without a thought, wherever the server left it; without counts, where it sends none."""
    model = opened(fake)
    fake.faults = [fault]
    reply = model.complete(PROMPT)
    assert (reply.text, reply.finish) == (text, finish)
    assert (reply.prompt_tokens, reply.output_tokens) == (0, 0)
    assert reply.seconds > 0


VLLM = {"id": "qwen", "owned_by": "vllm", "root": "org/qwen", "max_model_len": 4096, "created": 1}
LLAMA = {"id": "qwen", "owned_by": "llamacpp", "created": 1, "meta": {"n_params": 7, "size": 9}}


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        (VLLM, VLLM | {"created": 2, "max_model_len": 8192}, True),
        (VLLM, VLLM | {"root": "org/another"}, False),
        (LLAMA, LLAMA | {"created": 2}, True),
        (LLAMA, LLAMA | {"meta": {"n_params": 7, "size": 10}}, False),
        (VLLM, LLAMA, False),
    ],
)
def test_the_name_changes_with_the_model_and_not_with_its_server(
    before: object, after: object, same: bool, fake: FakeOllama
) -> None:
    fake.faults = [models(before), models({"id": "other"}, after)]
    names = [opened(fake, name="qwen").name for _ in range(2)]
    assert (names[0] == names[1]) == same


@pytest.mark.parametrize("listed", ['200 {"data": null}', '200 {"data": []}'])
def test_a_server_without_models_says_so(listed: str, fake: FakeOllama) -> None:
    fake.faults = [listed]
    with pytest.raises(ModelError, match=r"has no model tiny \(there: none\)"):
        opened(fake)


@pytest.mark.parametrize("size", [100, 8 * 4096])
def test_a_count_that_may_be_of_the_whole_prompt_is_believed(size: int, fake: FakeOllama) -> None:
    """Blanks do not count: a tokenizer may put a whole indentation into one token."""
    fake.models["tiny"] = fake.models["babble"]
    user = "x" * (size - len("Youwritecode."))
    blanks = PROMPT.model_copy(update={"user": user + " \n" * 20_000})
    model = opened(fake)
    fake.faults = [
        '200 {"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}],'
        f' "usage": {{"prompt_tokens": {size // 8 + 1}}}}}'
    ]
    assert model.complete(blanks).prompt_tokens == size // 8 + 1


@pytest.mark.parametrize("url", ["ftp://localhost/v1", "http://", "http://[", "http://x:port/v1"])
def test_a_malformed_url_is_bad_input(url: str) -> None:
    with pytest.raises(BadInput, match="is not a http:// URL: set REGRAPH_OPENAI_URL"):
        open_model(url)


def test_no_server_says_what_to_do() -> None:
    with pytest.raises(ModelError) as caught:
        open_model("http://me:secret@127.0.0.1:9/v1")
    assert str(caught.value) == (
        "no server answers at http://127.0.0.1:9/v1: start it or set REGRAPH_OPENAI_URL"
    )


def test_a_url_without_v1_is_told(fake: FakeOllama) -> None:
    with pytest.raises(ModelError, match="set REGRAPH_OPENAI_URL, which usually ends in /v1"):
        open_model(fake.url)


def test_a_url_without_a_scheme_is_taken_as_http(fake: FakeOllama) -> None:
    assert open_model(f"{fake.url}/v1/".removeprefix("http://")).complete(PROMPT).text


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    fake: FakeOllama, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert opened(fake).complete(PROMPT).text


BEGUN = PROMPT.model_copy(update={"begun": "```cpp\nint f() {\n", "stop": ("\n```",)})


@pytest.mark.parametrize("owner", ["llamacpp", "somebody"])
def test_an_answer_is_begun_for_servers_that_go_on_from_it(fake: FakeOllama, owner: str) -> None:
    fake.faults = [models({"id": "tiny", "owned_by": owner}), completion(content="return 1; }")]
    goes_on = owner == "llamacpp"
    reply = opened(fake).complete(BEGUN)
    assert reply.text == ("```cpp\nint f() {\nreturn 1; }\n```" if goes_on else "return 1; }")


def test_a_cut_answer_that_was_begun_gets_no_end(fake: FakeOllama) -> None:
    fake.faults = [models(LLAMA | {"id": "tiny"}), completion("length", content="return")]
    reply = opened(fake).complete(BEGUN)
    assert (reply.text, reply.finish) == ("```cpp\nint f() {\nreturn", "length")


def test_ollama_goes_on_from_an_answer_that_is_begun(fake: FakeOllama) -> None:
    settings = {"timeout": 5, "temperature": 0.7, "max_tokens": 300, "patience": 0.05}
    reply = OllamaModel(fake.url, "tiny", **settings).complete(BEGUN)  # type: ignore[arg-type]
    (chat,) = fake.chats
    assert chat["messages"][-1] == {"role": "assistant", "content": BEGUN.begun}
    assert chat["options"]["stop"] == ["\n```"]
    assert reply.text.startswith(BEGUN.begun)
    assert reply.text.endswith("\n```")


def test_a_model_whose_template_ends_every_message_begins_by_itself(fake: FakeOllama) -> None:
    fake.template = "{{ range .Messages }}{{ .Content }}{{ end }}"
    settings = {"timeout": 5, "temperature": 0.7, "max_tokens": 300, "patience": 0.05}
    reply = OllamaModel(fake.url, "tiny", **settings).complete(BEGUN)  # type: ignore[arg-type]
    (chat,) = fake.chats
    assert [one["role"] for one in chat["messages"]] == ["system", "user"]
    assert "stop" not in chat["options"]
    assert not reply.text.startswith(BEGUN.begun)
