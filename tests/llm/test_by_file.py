"""Models by file: what a prompt becomes, how answers come, repeat, fail and break, who shares."""

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from regraph_kg.cli.doctor import _services
from regraph_kg.errors import AnswersPending, BadInput, ToolError
from regraph_kg.evaluation.doctor import rows
from regraph_kg.llm.by_file import BatchModel, BatchStatus, batch_status
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.prompt import DecisionKey, Prompt, PromptKey, Reply
from regraph_kg.settings import read_settings
from regraph_kg.wiring.open_model import any_model
from tests.llm.asking import OPTIONS

ROOT = Path(__file__).parents[2]
SCHEMA = {"type": "object", "properties": {"id": {"type": "string"}}}


def ask(user: str = "make it fast", attempt: int = 0, **fields: object) -> Prompt:
    key = DecisionKey(kind="relabel", subject=user, attempt=attempt)
    usual: dict[str, Any] = {"key": key, "system": "You write code.", "user": user, "seed": 7}
    return Prompt(**(usual | fields))


def open_model(folder: Path, model: str = "qwen", max_tokens: int = 300) -> BatchModel:
    return BatchModel(folder, model, replace(OPTIONS, max_tokens=max_tokens))


def end(model: BatchModel) -> str:
    """What a run with pending prompts ends with: one line."""
    with pytest.raises(AnswersPending) as caught:
        model.finish()
    assert caught.value.exit_code == 5
    assert "\n" not in str(caught.value)
    return str(caught.value)


def pending(folder: Path) -> list[dict[str, Any]]:
    path = folder / "pending.jsonl"
    lines = path.read_bytes().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def users(folder: Path) -> list[str]:
    return [line["body"]["messages"][1]["content"] for line in pending(folder)]


def asked(folder: Path, *prompts: Prompt) -> list[str]:
    """The ids of `prompts`, after a run that left them pending."""
    model = open_model(folder)
    for prompt in prompts:
        assert model.complete(prompt).finish == "pending"
    end(model)
    ids = {line["body"]["messages"][1]["content"]: line["custom_id"] for line in pending(folder)}
    return [ids[prompt.user] for prompt in prompts]


def put(folder: Path, *lines: object, name: str = "answers.jsonl") -> Path:
    path = folder / name
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def said(request: str, text: str, finish: str | None = "stop", status: int = 200) -> dict[str, Any]:
    """A line as batch endpoints put it out."""
    message = {"role": "assistant", "content": text, "refusal": None}
    body = {
        "object": "chat.completion",
        "model": "qwen-7b-2026",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14},
    }
    response = {"status_code": status, "request_id": "r", "body": body}
    return {"id": "batch_1", "custom_id": request, "response": response, "error": None}


# --- questions ---


def test_a_prompt_becomes_a_line_of_a_batch(tmp_path: Path) -> None:
    """Its id is of earlier releases, too: an answered prompt is never asked again."""
    model = open_model(tmp_path)
    assert model.complete(ask()) == Reply(text="", finish="pending", model=model.name)
    end(model)
    (line,) = pending(tmp_path)
    assert line == {
        "custom_id": "regraph-527d91f5437a9478ff64616687561d58a0ca6970",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {
            "model": "qwen",
            "messages": [
                {"role": "system", "content": "You write code."},
                {"role": "user", "content": "make it fast"},
            ],
            "temperature": 0.7,
            "seed": 7,
            "max_tokens": 300,
        },
    }


@pytest.mark.parametrize(
    "other",
    [ask("other"), ask(system="x"), ask(seed=8), ask(attempt=1), ask(answer_schema=SCHEMA)],
)
def test_each_part_of_a_question_makes_another_one(other: Prompt, tmp_path: Path) -> None:
    key = PromptKey(problem="matmul", target="openmp", path=("openmp/simd",))
    model = open_model(tmp_path)
    for prompt in (ask(), ask(), ask(key=key), other):  # whoever asks it is no part of it
        model.complete(prompt)
    end(model)
    assert len({line["custom_id"] for line in pending(tmp_path)}) == 2


def test_another_model_or_another_length_is_another_question(tmp_path: Path) -> None:
    for words in ((), ("llama",), ("qwen", 9)):
        model = open_model(tmp_path, *words)  # type: ignore[arg-type]
        model.complete(ask())
        end(model)
    assert len({line["custom_id"] for line in pending(tmp_path)}) == 3


def test_the_wiring_opens_a_folder_with_the_settings_of_a_model(tmp_path: Path) -> None:
    settings = read_settings(batch_model="qwen", model_max_tokens=77, model_temperature=0.5)
    model = any_model(settings, ModelSpec("batch", f"{tmp_path}/new/folder"))
    assert model.complete(ask()).finish == "pending"
    assert model.name == "batch:qwen temperature=0.5 max_tokens=77"
    model.close()
    with pytest.raises(AnswersPending):
        model.finish()
    assert pending(tmp_path / "new" / "folder")[0]["body"]["max_tokens"] == 77


# --- answers ---


def test_an_answer_by_file_is_the_reply_of_the_next_run(tmp_path: Path) -> None:
    one, cut, plain = ask("one"), ask("cut"), ask("plain")
    ids = asked(tmp_path, one, cut, plain)
    put(tmp_path, said(ids[0], "text", finish=None), said(ids[1], "te", finish="length"))
    put(tmp_path, {"custom_id": ids[2], "text": "by hand"}, name="answers-2.jsonl")
    model = open_model(tmp_path)
    assert model.complete(one) == Reply(
        text="text", finish="stop", prompt_tokens=11, output_tokens=3, model="qwen-7b-2026"
    )
    assert model.complete(cut).finish == "length"
    assert model.complete(plain) == Reply(text="by hand", finish="stop", model=model.name)
    model.finish()
    assert not (tmp_path / "pending.jsonl").exists()


def test_what_is_answered_leaves_the_pending_file_and_the_rest_stays(tmp_path: Path) -> None:
    ids = asked(tmp_path, ask("one"), ask("two"))
    put(tmp_path, said(ids[0], "1"), said("of-somebody-else", "2"))
    model = open_model(tmp_path)
    finishes = [model.complete(ask(user)).finish for user in ("one", "two", "three")]
    assert finishes == ["stop", "pending", "pending"]
    end(model)
    assert users(tmp_path) == ["two", "three"]


def test_answers_that_come_during_a_run_are_taken_by_the_next_one(tmp_path: Path) -> None:
    (request,) = asked(tmp_path, ask())
    model = open_model(tmp_path)
    model.complete(ask())
    (tmp_path / "answers.jsonl").write_text('{"custom')  # in the making
    end(model)
    assert len(pending(tmp_path)) == 1
    model.complete(ask())
    put(tmp_path, said(request, "x"))
    assert "meanwhile" in end(model)
    assert pending(tmp_path) == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"error": {"code": "x", "message": "rate limit\nexceeded"}}, "rate limit exceeded"),
        (
            {"response": {"status_code": 400, "body": {"error": {"message": "too long"}}}},
            "400: too long",
        ),
        ({"response": {"status_code": 500, "body": None}}, "500: None"),
        ({"response": {"status_code": 200, "body": {"choices": []}}}, "no chat completion"),
        ({}, "neither text nor response nor error"),
        ({"error": "\x1b[31m" + "x" * 999}, r"\x1b[31mxxx"),
    ],
)
def test_an_error_leaves_its_prompt_pending_and_is_told(
    line: dict[str, object], reason: str, tmp_path: Path
) -> None:
    (request,) = asked(tmp_path, ask())
    put(tmp_path, line | {"custom_id": request})
    model = open_model(tmp_path)
    assert model.complete(ask()).finish == "pending"
    message = end(model)
    assert reason in message
    assert len(message) < 600
    assert message.isprintable()
    put(tmp_path, said(request, "yes"), name="answers-0.jsonl")  # an answer counts beside it
    assert open_model(tmp_path).complete(ask()).text == "yes"


def test_equal_answers_count_once_and_different_ones_are_refused(tmp_path: Path) -> None:
    (request,) = asked(tmp_path, ask())
    first = put(tmp_path, "", said(request, "yes"))
    put(tmp_path, {"custom_id": request, "text": "yes"}, name="answers-2.jsonl")
    assert open_model(tmp_path).complete(ask()).prompt_tokens == 11
    other = put(tmp_path, said(request, "no"), name="answers-3.jsonl")
    with pytest.raises(BadInput) as caught:
        open_model(tmp_path)
    assert f"{other}:1: {request}" in str(caught.value)
    assert f"{first}:2" in str(caught.value)


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("{", "line"),
        ("[]", "line"),
        ({"text": "x"}, "custom_id"),
        ({"custom_id": 3, "text": "x"}, "custom_id"),
        ({"custom_id": "a", "text": ["x"]}, "text"),
        ({"custom_id": "a", "response": "x"}, "response"),
    ],
)
def test_a_broken_line_is_named_with_its_file(line: object, field: str, tmp_path: Path) -> None:
    path = put(tmp_path, said("a", "x"), line, name="answers-b.jsonl")
    with pytest.raises(BadInput) as caught:
        open_model(tmp_path)
    assert str(caught.value).startswith(f"{path}:2: {field}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content", [b'{"custom_id": "a", "text": "\xff"}\n', b"\0\0\0", b'{"custom_id": "a", "te']
)
def test_bytes_that_are_no_whole_text_are_a_broken_line(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").write_bytes(content)
    with pytest.raises(BadInput, match=r"answers\.jsonl:1: ") as caught:
        open_model(tmp_path)
    assert ("still being written" in str(caught.value)) is not content.endswith(b"\n")


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    with (tmp_path / "answers.jsonl").open("wb") as file:
        file.truncate(2**40)  # a hole: it takes no room
    with pytest.raises(BadInput, match=r"answers\.jsonl:1: longer than"):
        open_model(tmp_path)


def test_a_folder_in_place_of_answers_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").mkdir()
    with pytest.raises(BadInput, match=r"answers\.jsonl: Is a directory"):
        open_model(tmp_path)


def test_files_of_other_systems_are_read(tmp_path: Path) -> None:
    text = "one\u2028two\x85three\r\n```cpp\nint x;\n```"
    (request,) = asked(tmp_path, ask())
    line = json.dumps({"custom_id": request, "text": text}, ensure_ascii=False)
    (tmp_path / "answers.jsonl").write_bytes(f"\ufeff{line}\r\n\r\n".encode())
    assert open_model(tmp_path).complete(ask()).text == text.replace("\r", "")


def test_doctor_tells_how_far_answers_by_file_have_come(tmp_path: Path) -> None:
    folder = tmp_path / "prompts"

    def state() -> str:
        settings = read_settings(model=f"batch:{folder}")
        (row,) = rows(check for check in _services(settings) if check.part == "models")
        return row.state

    assert state() == "green"  # nothing was asked yet
    with pytest.raises(BadInput):
        batch_status(folder)
    ids = asked(folder, *(ask(f"{number}") for number in range(3)))
    put(folder, said(ids[0], "x"), {"custom_id": ids[1], "error": "rate limit"})
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert batch_status(folder) == BatchStatus(2, 1, "rate limit", answered=1)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert state() == "green"
    put(folder, "{")
    assert state() == "red"


# --- who shares a folder, and what becomes of it ---


def test_prompts_are_noted_once_each_by_many_threads_and_runs(tmp_path: Path) -> None:
    first, second = open_model(tmp_path), open_model(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(first.complete, [ask(f"{number % 50}") for number in range(400)]))
    second.complete(ask("0"))
    second.complete(ask("another"))
    end(first)
    end(second)
    assert sorted(users(tmp_path)) == sorted([*map(str, range(50)), "another"])


WRITER = """
import sys
from pathlib import Path
from regraph_kg.errors import AnswersPending
from tests.llm.test_by_file import ask, open_model
folder, first, count, rounds = Path(sys.argv[1]), *map(int, sys.argv[2:])
for _ in range(rounds):
    model = open_model(folder)
    for number in range(first, first + count):
        model.complete(ask(f"{number} " + "x" * 1000))
    print("noted", flush=True)
    try:
        model.finish()
    except AnswersPending:
        pass
"""


def start_writer(folder: Path, *numbers: int) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", WRITER, str(folder), *map(str, numbers)]
    return subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_processes_that_share_a_folder_lose_nothing(tmp_path: Path) -> None:
    writers = [start_writer(tmp_path, first, 100, 5) for first in (0, 50, 100)]
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    assert sorted(int(user.split()[0]) for user in users(tmp_path)) == list(range(200))


@pytest.mark.slow
def test_a_killed_run_leaves_whole_files(tmp_path: Path) -> None:
    """Killed somewhere in its rounds of noting and publishing."""
    asked(tmp_path, ask())
    for rounds in range(1, 4):
        writer = start_writer(tmp_path, 0, 200, 100)
        assert writer.stdout is not None
        for _ in range(rounds):
            writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
        writer.communicate(timeout=60)
        assert len(pending(tmp_path)) in (1, 201)
    names = {path.name for path in tmp_path.iterdir() if not path.match(".*.draft")}
    assert names <= {"pending.jsonl", ".lock"}


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """A disk on which no file may grow beyond `size` bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_is_full_while_publishing_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    asked(tmp_path, *(ask(f"old {number} " + "x" * 300) for number in range(3)))
    model = open_model(tmp_path)
    model.complete(ask())
    before = (tmp_path / "pending.jsonl").read_bytes()
    with room_for(1000), pytest.raises(ToolError, match="File too large"):
        model.finish()
    assert (tmp_path / "pending.jsonl").read_bytes() == before
    end(model)
    assert len(pending(tmp_path)) == 4


@pytest.mark.parametrize("below", ["", "batch"])
def test_a_folder_that_cannot_be_made_is_told_at_once(below: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ToolError, match="give another folder"):
        open_model(tmp_path / "file" / below)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_only_be_read_serves_its_answers(tmp_path: Path) -> None:
    (request,) = asked(tmp_path, ask())
    put(tmp_path, said(request, "x"))
    tmp_path.chmod(0o500)
    try:
        model = open_model(tmp_path)
        assert model.complete(ask()).text == "x"
        model.finish()
        model.complete(ask("another"))
        with pytest.raises(ToolError):
            model.finish()
    finally:
        tmp_path.chmod(0o700)


def test_a_foreign_line_in_the_pending_file_is_named(tmp_path: Path) -> None:
    asked(tmp_path, ask())
    with (tmp_path / "pending.jsonl").open("a") as file:
        file.write("hello\n")
    model = open_model(tmp_path)
    model.complete(ask("another"))
    with pytest.raises(BadInput, match=r"pending\.jsonl:2: "):
        model.finish()
