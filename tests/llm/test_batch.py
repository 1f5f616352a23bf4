"""Models by file: what a prompt becomes, and how a run ends and goes on."""

from pathlib import Path

import pytest

from regraph_kg.errors import AnswersPending
from regraph_kg.evaluation.doctor import Scope
from regraph_kg.llm.batch import BatchStatus, status
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.prompt import Prompt, PromptKey, Reply
from regraph_kg.settings import read_settings
from regraph_kg.wiring.answers import any_model
from regraph_kg.wiring.doctor import examination
from tests.llm.batch_folder import SCHEMA, ask, asked, end, open_model, pending, put, said


def test_a_prompt_becomes_a_line_of_a_batch(tmp_path: Path) -> None:
    model = open_model(tmp_path)
    reply = model.complete(ask())
    assert reply == Reply(text="", finish="pending", model=model.name)
    assert end(model) == (
        f"1 prompt pending in {tmp_path}/pending.jsonl; answer them into"
        f" {tmp_path}/answers.jsonl and run the same command again"
    )
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


def test_waiting_for_answers_has_its_own_exit_code_and_says_what_to_do_then(tmp_path: Path) -> None:
    model = open_model(tmp_path)
    model.complete(ask())
    with pytest.raises(AnswersPending, match=r"answers\.jsonl and go on$") as caught:
        model.finish("go on")
    assert caught.value.exit_code == 5


def test_an_answer_by_file_is_the_reply_of_the_next_run(tmp_path: Path) -> None:
    one, cut, plain = ask("one"), ask("cut"), ask("plain")
    ids = asked(tmp_path, one, cut, plain)
    put(tmp_path, said(ids[0], "text"), said(ids[1], "te", finish="length"))
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
    put(tmp_path, said(ids[0], "1"))
    model = open_model(tmp_path)
    assert [model.complete(ask(user)).finish for user in ("one", "two", "three")] == [
        "stop",
        "pending",
        "pending",
    ]
    assert end(model).startswith("2 prompts pending")
    users = [line["body"]["messages"][1]["content"] for line in pending(tmp_path)]
    assert users == ["two", "three"]


def test_the_same_question_is_asked_once_whoever_asks_it(tmp_path: Path) -> None:
    key = PromptKey(problem="matmul", target="openmp", path=("openmp/simd",))
    asked(tmp_path, ask(), ask(), ask(key=key))
    assert len(pending(tmp_path)) == 1


@pytest.mark.parametrize(
    "other",
    [
        ask("other"),
        ask(system="other"),
        ask(seed=8),
        ask(attempt=1),
        ask(answer_schema=SCHEMA),
    ],
)
def test_each_part_of_a_question_makes_another_one(other: Prompt, tmp_path: Path) -> None:
    model = open_model(tmp_path)
    for prompt in (ask(), other):
        model.complete(prompt)
    end(model)
    assert len({line["custom_id"] for line in pending(tmp_path)}) == 2


def test_another_model_or_another_length_is_another_question(tmp_path: Path) -> None:
    for model in (
        open_model(tmp_path),
        open_model(tmp_path, "llama"),
        open_model(tmp_path, "qwen", 9),
    ):
        model.complete(ask())
        end(model)
    assert len({line["custom_id"] for line in pending(tmp_path)}) == 3


def test_answers_that_come_during_a_run_are_taken_by_the_next_one(tmp_path: Path) -> None:
    (request,) = asked(tmp_path, ask())
    model = open_model(tmp_path)
    model.complete(ask())
    put(tmp_path, said(request, "x"))
    assert end(model) == f"answers came into {tmp_path} meanwhile: run the same command again"
    assert pending(tmp_path) == []


def test_a_file_in_the_making_does_not_cost_the_prompts_of_a_run(tmp_path: Path) -> None:
    model = open_model(tmp_path)
    model.complete(ask())
    (tmp_path / "answers.jsonl").write_text('{"custom')
    end(model)
    assert len(pending(tmp_path)) == 1


def test_the_wiring_opens_a_folder_with_the_settings_of_a_model(tmp_path: Path) -> None:
    settings = read_settings(batch_model="qwen", model_max_tokens=77, model_temperature=0.5)
    model = any_model(settings, ModelSpec("batch", f"{tmp_path}/new/folder"))
    assert model.complete(ask()).finish == "pending"
    assert model.name == "batch:qwen temperature=0.5 max_tokens=77"
    with pytest.raises(AnswersPending):
        model.finish()
    (line,) = pending(tmp_path / "new" / "folder")
    assert (line["body"]["model"], line["body"]["max_tokens"]) == ("qwen", 77)


def test_status_counts_what_waits_failed_came_and_is_unknown(tmp_path: Path) -> None:
    ids = asked(tmp_path, *(ask(f"{number}") for number in range(4)))
    failed = {"custom_id": ids[1], "error": "rate limit"}
    put(tmp_path, said(ids[0], "x"), failed, said("theirs", "z"))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert status(tmp_path) == BatchStatus(3, 1, "rate limit", answered=1, unknown=1)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_doctor_tells_how_far_answers_by_file_have_come(tmp_path: Path) -> None:
    def told() -> tuple[str, str]:
        settings = read_settings(model=f"batch:{tmp_path / 'prompts'}")
        with examination(settings, Scope(tmp_path, "openmp", quick=True)) as checks:
            ((row,),) = (list(check.rows()) for check in checks if check.name.startswith("model "))
        return row.state, row.found

    assert told() == ("green", "answers come by file; no prompt has been written yet")
    asked(tmp_path / "prompts", ask("0"), ask("1"))
    assert told() == ("green", "by file: 2 prompts wait, 0 are answered")
    put(tmp_path / "prompts", "{")
    state, detail = told()
    assert state == "red"
    assert "answers.jsonl:1: line: Invalid JSON" in detail
