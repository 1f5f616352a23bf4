"""Answers by file: every way in which they come, repeat, fail and break."""

import json
from pathlib import Path

import pytest

from regraph_kg.errors import BadInput
from tests.llm.batch_folder import ask, asked, end, open_model, put, said


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"error": {"code": "x", "message": "rate limit\nexceeded"}}, "rate limit exceeded"),
        ({"error": "expired"}, "expired"),
        (
            {"response": {"status_code": 400, "body": {"error": {"message": "too long"}}}},
            "400: too long",
        ),
        ({"response": {"status_code": 500, "body": None}}, "500: None"),
        ({"response": {"status_code": 200, "body": {"choices": []}}}, "without choices"),
        ({"response": {"status_code": 200, "body": {}}}, "no chat completion: {}"),
        (said("", "", finish="content_filter"), "the answer ended with content_filter"),
        (
            {"response": {"status_code": 400}, "error": {"error": {"message": "bad", "code": 400}}},
            "the first: bad)",
        ),
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
    assert message.startswith("1 prompt pending")
    assert "(1 of them failed before, the first: " in message
    assert reason in message
    assert len(message) < 600
    assert message.isprintable()


@pytest.mark.parametrize("order", [1, -1])
def test_an_answer_counts_whatever_errors_stand_beside_it(order: int, tmp_path: Path) -> None:
    (request,) = asked(tmp_path, ask())
    put(tmp_path, *[{"custom_id": request, "error": "no"}, said(request, "yes")][::order])
    assert open_model(tmp_path).complete(ask()).text == "yes"


def test_equal_answers_count_once_and_different_ones_are_refused(tmp_path: Path) -> None:
    (request,) = asked(tmp_path, ask())
    first = put(tmp_path, "", said(request, "yes"))
    put(tmp_path, {"custom_id": request, "text": "yes"}, name="answers-2.jsonl")
    assert open_model(tmp_path).complete(ask()).prompt_tokens == 11
    other = put(tmp_path, said(request, "no"), name="answers-3.jsonl")
    with pytest.raises(BadInput) as caught:
        open_model(tmp_path)
    assert str(caught.value) == (
        f"{other}:1: {request} is answered otherwise than in {first}:2; remove one of the two"
    )


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "line: Invalid JSON: EOF while parsing an object at line 1 column 1"),
        ("[]", "line: Input should be an object"),
        ({"text": "x"}, "custom_id: Field required"),
        ({"custom_id": 3, "text": "x"}, "custom_id: Input should be a valid string"),
        ({"custom_id": "a", "text": ["x"]}, "text: Input should be a valid string"),
        ({"custom_id": "a", "response": "x"}, "response: Input should be"),
    ],
)
def test_a_broken_line_is_named_with_its_file(line: object, told: str, tmp_path: Path) -> None:
    path = put(tmp_path, said("a", "x"), line, name="answers-b.jsonl")
    with pytest.raises(BadInput) as caught:
        open_model(tmp_path)
    assert str(caught.value).startswith(f"{path}:2: {told}")
    assert "\n" not in str(caught.value)


def test_a_line_that_is_still_being_written_is_told_as_such(tmp_path: Path) -> None:
    path = put(tmp_path)
    path.write_bytes(b'{"custom_id": "a", "te')
    with pytest.raises(BadInput, match=r"answers\.jsonl:1: .* is it still being written\?$"):
        open_model(tmp_path)


@pytest.mark.parametrize("content", [b'{"custom_id": "a", "text": "\xff"}\n', b"\0\0\0"])
def test_bytes_that_are_no_text_are_a_broken_line(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").write_bytes(content)
    with pytest.raises(BadInput, match=r"answers\.jsonl:1: "):
        open_model(tmp_path)


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    with (tmp_path / "answers.jsonl").open("wb") as file:
        file.truncate(2**40)  # a hole: it takes no room
    with pytest.raises(BadInput, match=r"answers\.jsonl:1: longer than 32 MiB"):
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
    assert open_model(tmp_path).complete(ask()).text == text
    (tmp_path / "answers.jsonl").write_bytes("\ufeff".encode())
    assert open_model(tmp_path).complete(ask()).finish == "pending"


def test_answers_nobody_asked_for_are_told_and_stop_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (request,) = asked(tmp_path, ask())
    path = put(tmp_path, said(request, "x"), said("their\x1b[1m-7", "y"), said("theirs", "z"))
    model = open_model(tmp_path)
    assert model.complete(ask()).text == "x"
    model.finish()
    (warning,) = caplog.messages
    assert warning == (
        f"2 answers in {tmp_path} are to prompts that were never asked here,"
        rf" the first: their\x1b[1m-7 ({path}:2)"
    )


def test_answers_that_were_there_before_their_prompt_are_not_called_unknown(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (request,) = asked(tmp_path / "elsewhere", ask())
    put(tmp_path, said(request, "x"))
    model = open_model(tmp_path)
    assert model.complete(ask()).text == "x"
    model.finish()
    assert caplog.messages == []
