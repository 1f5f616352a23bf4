"""What the clients send, take for an answer, refuse, and tell."""

import json
import logging
from typing import Any

import pytest
from pydantic import SecretStr

from regraph_kg.errors import BadInput, ModelError
from regraph_kg.llm.openai_compatible import OpenAICompatibleModel
from tests.llm.asking import OPTIONS, Kind, message_of, open_model, prompt, question
from tests.llm.fake_ollama import FakeModel, FakeOllama

KEY = "sk-of-nobody"
BOTH = pytest.mark.parametrize("kind", ["ollama", "openai"])
MESSAGES = [
    {"role": "system", "content": "You write code."},
    {"role": "user", "content": "make it fast"},
]


def completion(finish: str | None = "stop", **message: object) -> str:
    choice = {"message": message, "finish_reason": finish}
    return "200 " + json.dumps({"choices": [choice]})


def models(*listed: object) -> str:
    return "200 " + json.dumps({"object": "list", "data": listed})


# --- what is sent ---


def test_a_request_leaves_nothing_to_the_servers_defaults(fake: FakeOllama) -> None:
    for kind in ("ollama", "openai"):
        open_model(kind, fake.url).complete(prompt(seed=2**31 + 5))  # type: ignore[arg-type]
    chats = [
        {
            "model": "tiny",
            "messages": MESSAGES,
            "stream": False,
            "think": False,
            "truncate": False,
            "shift": False,
            "keep_alive": "10m",
            "options": {"num_ctx": 4096, "num_predict": 300, "temperature": 0.7, "seed": 5},
        },
        {
            "model": "tiny",
            "messages": MESSAGES,
            "temperature": 0.7,
            "seed": 5,
            "max_tokens": 300,
            "chat_template_kwargs": {"enable_thinking": False},
        },
    ]
    assert fake.chats == chats


def test_a_schema_goes_along_at_temperature_zero(fake: FakeOllama) -> None:
    schema: dict[str, object] = {"type": "object", "properties": {"b": {"enum": ["x", 3000]}}}
    for kind in ("ollama", "openai"):
        open_model(kind, fake.url).complete(question(schema))  # type: ignore[arg-type]
    ollama, openai = fake.chats
    assert (ollama["format"], ollama["options"]["temperature"]) == (schema, 0)
    named = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    assert (openai["response_format"], openai["temperature"]) == (named, 0)


def test_windows_are_powers_of_two_and_no_larger_than_the_model_holds(fake: FakeOllama) -> None:
    fake.models["large"] = FakeModel(context=40_960)
    model = open_model("ollama", fake.url, "large")
    for size in (10, 12_000, 30_000):
        model.complete(prompt("x" * size))
    assert windows(fake) == [4096, 8192, 16_384, 16_384, 32_768]
    fake.chats.clear()
    assert "holds 40960 tokens" in message_of(model, prompt("x" * 45_000))
    assert windows(fake) == [16_384, 32_768, 40_960]


def windows(fake: FakeOllama) -> list[int]:
    return [chat["options"]["num_ctx"] for chat in fake.chats]


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    fake: FakeOllama, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    for kind in ("ollama", "openai"):
        assert open_model(kind, fake.url).complete(prompt()).text  # type: ignore[arg-type]


BEGUN = prompt(begun="```cpp\nint f() {\n", stop=("\n```",))


@pytest.mark.parametrize("owner", ["llamacpp", "somebody"])
def test_an_answer_is_begun_for_servers_that_go_on_from_it(fake: FakeOllama, owner: str) -> None:
    fake.faults = [models({"id": "tiny", "owned_by": owner}), completion(content="return 1; }")]
    goes_on = owner == "llamacpp"
    model = open_model("openai", fake.url)
    reply = model.complete(BEGUN)
    assert reply.text == ("```cpp\nint f() {\nreturn 1; }\n```" if goes_on else "return 1; }")
    fake.faults = [completion("length", content="return")]
    assert model.complete(BEGUN).text == ("```cpp\nint f() {\nreturn" if goes_on else "return")


@pytest.mark.parametrize("template", ["{{ $last }}", "{{ range .Messages }}{{ end }}"])
def test_ollama_goes_on_from_an_answer_that_is_begun_if_its_template_can(
    fake: FakeOllama, template: str
) -> None:
    fake.template = template
    reply = open_model("ollama", fake.url).complete(BEGUN)
    (chat,) = fake.chats
    goes_on = "$last" in template
    begun = [{"role": "assistant", "content": BEGUN.begun}]
    assert chat["messages"][2:] == (begun if goes_on else [])
    assert chat["options"].get("stop") == (["\n```"] if goes_on else None)
    assert reply.text.startswith(BEGUN.begun) is goes_on


# --- what is taken for an answer ---

THINKING = "<thinking>\n```cpp\nint x;\n```\n</thinking>code"
HARMONY = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>code"


@pytest.mark.parametrize(
    ("fault", "text", "finish"),
    [
        (completion(content="code"), "code", "stop"),
        (completion(content=[{"type": "text", "text": "co"}, {"text": "de"}]), "code", "stop"),
        (completion("eos", content="code"), "code", "stop"),
        (completion(content=""), "", "stop"),
        (completion("tool_calls", content=None), "", "stop"),
        (completion("length", content="co"), "co", "length"),
        (completion("content_filter", content="co"), "co", "length"),
        (completion(None, content="co co co"), "co co co", "length"),
        (completion(content="<think>hm</think>code"), "code", "stop"),
        (completion(content="hm</think>code"), "code", "stop"),
        (completion(content=THINKING), "code", "stop"),
        (completion(content=HARMONY), "code", "stop"),
        (completion(content="code", reasoning="hm"), "code", "stop"),
        (completion("end_turn", content="code"), "code", "stop"),
        (completion("MAX_TOKENS", content="co"), "co", "length"),
        (completion("model_length", content="co"), "co", "length"),
        *(
            (completion(content=said), "code", "stop")
            for said in (
                "<reasoning>hm</reasoning>code",
                "[THINK]hm[/THINK]code",
                "<Thought>hm</Thought>code<|im_end|>",
                "<seed:think>hm</seed:think>code</s>",
                "<|channel|>commentary<|message|>x<|end|>"
                "<|channel|>final <|constrain|>cpp<|message|>code",
            )
        ),
        (completion("length", content="[THINK] hm"), "", "length"),
        (completion("length", content="<think>hm ```cpp"), "", "length"),
        (completion("length", content=None, reasoning="hm"), "", "length"),
    ],
)
def test_answers_of_all_kinds_of_servers_are_taken(
    fault: str, text: str, finish: str, fake: FakeOllama
) -> None:
    """Without a thought, wherever the server left it; without counts, where it sends none."""
    model = open_model("openai", fake.url)
    fake.faults = [fault]
    reply = model.complete(prompt())
    assert (reply.text, reply.finish) == (text, finish)
    assert (reply.prompt_tokens, reply.output_tokens) == (0, 0)


def test_an_empty_answer_is_the_models_own(fake: FakeOllama) -> None:
    model = open_model("ollama", fake.url)
    fake.faults = ['200 {"done_reason": "stop", "message": {"role": "assistant", "content": ""}}']
    reply = model.complete(prompt())
    assert (reply.text, reply.finish) == ("", "stop")
    assert (reply.prompt_tokens, reply.output_tokens, reply.seconds) == (0, 0, 0.0)


@pytest.mark.parametrize("size", [100, 8 * 4096])
def test_a_count_that_may_be_of_the_whole_prompt_is_believed(size: int, fake: FakeOllama) -> None:
    """Blanks do not count: a tokenizer may put a whole indentation into one token."""
    model = open_model("openai", fake.url)
    usage = {"prompt_tokens": size // 8 + 1}
    body = json.loads(completion(content="a").removeprefix("200 ")) | {"usage": usage}
    fake.faults = [f"200 {json.dumps(body)}"]
    asked = prompt("x" * (size - len("Youwritecode.")) + " \n" * 20_000)
    assert model.complete(asked).prompt_tokens == size // 8 + 1


# --- what is refused, and told ---

THOUGHT = {"role": "assistant", "content": "", "thinking": "hm"}
OVERLONG = {"error": {"code": 400, "message": "the request exceeds the available context size"}}


@pytest.mark.parametrize(
    ("kind", "fault", "said"),
    [
        ("ollama", '404 {"error": "model gone"}', "ollama pull tiny"),
        ("ollama", '400 {"error": "too long"}', "which holds 5120 tokens (too long)"),
        ("ollama", f'200 {{"done": true, "message": {json.dumps(THOUGHT)}}}', "said nothing"),
        ("openai", '400 {"error": {"message": "context length is 5120"}}', "is 5120"),
        (
            "openai",
            '500 {"error": {"code": 500, "type": "exceed_context_size_error", "message": "no"}}',
            "refused the prompt",
        ),
        ("openai", f"200 {json.dumps(OVERLONG)}", "exceeds the available context size"),
        (
            "openai",
            f"200 error: {json.dumps(OVERLONG['error'])}\n\ndata: [DONE]\n\n",
            "exceeds the available context size",
        ),
        *(
            ("openai", f"200 {json.dumps(body)}", "in words")
            for body in (
                {"object": "error", "message": "in words", "code": 422},
                {"detail": "in words", "status_code": 400},
                {"errors": [{"message": "in words", "status": "413"}]},
                {"choices": [{"error": {"code": 400, "message": "in words"}, "message": {}}]},
                {"choices": [], "error": {"code": 404, "message": "in words"}},
            )
        ),
        ("openai", '200 {"error": {"code": 401, "message": "who?"}}', "REGRAPH_OPENAI_KEY"),
        ("openai", "413 too large", "refused the prompt"),
        ("openai", "422 no", "refused the prompt"),
        ("openai", '404 {"error": {"message": "gone"}}', "REGRAPH_OPENAI_URL"),
        ("openai", "307 elsewhere", "(307: elsewhere)"),
        ("openai", completion(content="", reasoning="hm"), "said nothing"),
        ("openai", completion(content="<think>hm</think>\n"), "said nothing"),
    ],
)
def test_a_refusal_is_told_in_one_line_and_not_asked_for_again(
    kind: Kind, fault: str, said: str, fake: FakeOllama
) -> None:
    model = open_model(kind, fake.url, max_tokens=4000)  # Ollama: the largest window at once
    fake.faults = [fault] * 9
    assert said in message_of(model)
    assert len(fake.chats) == 1


@pytest.mark.parametrize("body", [b'{"choices": [', b'{"choices": "caf\xe9"}', b"[]", b"[" * 99999])
def test_a_broken_answer_is_told_as_such(body: bytes, fake: FakeOllama) -> None:
    model = open_model("openai", fake.url)
    fake.faults = [b"200 " + body] * 99
    assert "broken" in message_of(model)
    assert len(fake.chats) > 1


@BOTH
def test_no_server_says_what_to_do(kind: Kind) -> None:
    setting = {"ollama": "REGRAPH_OLLAMA_URL", "openai": "REGRAPH_OPENAI_URL"}[kind]
    with pytest.raises(ModelError, match=f"at http://127.0.0.1:9.*{setting}") as caught:
        open_model(kind, "http://me:secret@127.0.0.1:9")
    assert "secret" not in str(caught.value)


@BOTH
@pytest.mark.parametrize("url", ["ftp://localhost", "http://", "http://[", "http://x:port"])
def test_a_malformed_url_is_bad_input(kind: Kind, url: str) -> None:
    with pytest.raises(BadInput, match="set REGRAPH_O"):
        open_model(kind, url)


def test_a_url_without_a_scheme_is_taken_as_http(fake: FakeOllama) -> None:
    url = f"{fake.url}/v1/".removeprefix("http://")
    assert OpenAICompatibleModel(url, SecretStr(""), "tiny", OPTIONS).complete(prompt()).text


@BOTH
def test_a_server_of_another_kind_is_told(kind: Kind, fake: FakeOllama) -> None:
    with pytest.raises(ModelError, match="set REGRAPH_O"):
        open_model(kind, f"{fake.url}/elsewhere")


@pytest.mark.parametrize("listed", ['200 {"data": null}', '200 {"data": []}'])
def test_a_server_without_models_says_so(listed: str, fake: FakeOllama) -> None:
    fake.faults = [listed]
    with pytest.raises(ModelError, match="has no model tiny"):
        open_model("openai", fake.url)


# --- names, keys, warnings ---

VLLM = {"id": "qwen", "owned_by": "vllm", "root": "org/qwen", "max_model_len": 4096, "created": 1}
LLAMA = {"id": "qwen", "owned_by": "llamacpp", "created": 1, "meta": {"n_params": 7, "size": 9}}


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        (VLLM, VLLM | {"created": 2, "max_model_len": 8192}, True),
        (VLLM, VLLM | {"root": "org/another"}, False),
        (LLAMA, LLAMA | {"created": 2}, True),
        (LLAMA, LLAMA | {"meta": {"n_params": 7, "size": 10}}, False),
    ],
)
def test_the_name_changes_with_the_model_and_not_with_its_server(
    before: object, after: object, same: bool, fake: FakeOllama
) -> None:
    fake.faults = [models(before), models({"id": "other"}, after)]
    names = [open_model("openai", fake.url, "qwen").name for _ in range(2)]
    assert (names[0] == names[1]) == same


def test_the_key_is_sent_and_nothing_of_another_account(
    fake: FakeOllama, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment may hold an account elsewhere, which is nothing to this server."""
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OLLAMA_API_KEY"):
        monkeypatch.setenv(name, "another-account")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    fake.key = KEY
    open_model("openai", fake.url, key=f"{KEY}\n").complete(prompt())
    fake.key = ""
    open_model("openai", fake.url).complete(prompt())
    assert [head["authorization"] for head in fake.heads] == [f"Bearer {KEY}"] * 2 + [
        "Bearer none"
    ] * 2
    assert "another-account" not in json.dumps(fake.heads)


def test_the_key_is_in_no_message_log_or_repr(
    fake: FakeOllama, caplog: pytest.LogCaptureFixture
) -> None:
    """Even where the server says it back."""
    caplog.set_level(logging.DEBUG)
    model = open_model("openai", fake.url, key=KEY)
    fake.faults = [f"500 who is {KEY}?"] * 99
    said = message_of(model)
    fake.key, fake.faults = "another", []
    refused = message_of(model)
    assert "who is ...?" in said
    assert "REGRAPH_OPENAI_KEY" in refused
    for text in (said, refused, caplog.text, repr(model)):
        assert KEY not in text


@pytest.mark.parametrize("key", ["schlüssel", "a\nb", "a\x00b"])
def test_a_key_that_no_header_can_carry_is_bad_input(key: str, fake: FakeOllama) -> None:
    with pytest.raises(BadInput, match="REGRAPH_OPENAI_KEY") as caught:
        open_model("openai", fake.url, key=key)
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "warned"),
    [("http://elsewhere.invalid", True), ("https://elsewhere.invalid", False)],
)
def test_a_key_that_goes_out_in_the_clear_is_warned_of(
    url: str, warned: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ModelError):
        open_model("openai", url, key=KEY)
    assert ("use https" in caplog.text) is warned
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("version", "warned"),
    [("0.11.9", True), ("0.9.0", True), ("0.12.0", False), ("1.0.0-rc1", False)],
)
def test_an_ollama_that_cuts_prompts_is_warned_of(
    version: str, warned: bool, fake: FakeOllama, caplog: pytest.LogCaptureFixture
) -> None:
    fake.version = version
    open_model("ollama", fake.url.replace("//", "//me:secret@")).complete(prompt())
    assert ("cuts overlong prompts" in caplog.text) is warned
    assert "secret" not in caplog.text


@pytest.mark.parametrize("name", ["tiny", "tiny:latest"])
def test_the_digest_is_found_with_and_without_a_tag(name: str, fake: FakeOllama) -> None:
    fake.models["tiny:latest"] = fake.models["tiny"]
    model: Any = open_model("ollama", fake.url, name)
    assert f"@{fake.digest('tiny')[:12]} " in model.name
