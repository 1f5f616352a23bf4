"""Lines become trajectories or rejections, never exceptions, whatever their bytes."""

import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from regraph_kg.ingest.read import Accepted, Rejected, read, split
from regraph_kg.models.trajectory import Trajectory
from tests.ingest.trajectories import measured, row

GOOD = json.dumps(row()).encode()
IN_QUOTES = {"label": "T", "code": "c", "measurements": [measured(0.5) | {"seconds": "0.5"}]}


def outcomes(data: bytes) -> list[Accepted | Rejected]:
    return list(read(split(io.BytesIO(data))))


def reason(data: bytes | dict[str, Any]) -> str:
    """Why the only line of a file is rejected."""
    (one,) = outcomes(data if isinstance(data, bytes) else json.dumps(data).encode())
    assert isinstance(one, Rejected), one
    return one.reason


def numbers(data: bytes) -> list[tuple[int, bool]]:
    """Line number, and whether it was accepted."""
    return [(outcome.line.number, isinstance(outcome, Accepted)) for outcome in outcomes(data)]


@pytest.mark.parametrize(
    "data",
    [GOOD, GOOD + b"\n", GOOD + b"\r\n", b"\xef\xbb\xbf" + GOOD, b"\n\n  " + GOOD + b"\n\n"],
    ids=["no newline", "LF", "CRLF", "BOM", "blank lines"],
)
def test_line_ends_marks_and_blank_lines_do_not_matter(data: bytes) -> None:
    (one,) = outcomes(data)
    assert isinstance(one, Accepted)
    assert one.trajectory == Trajectory.model_validate(row())


def test_crlf_inside_code_does_not_change_the_identity() -> None:
    lf, crlf = (
        outcomes(json.dumps(row(serial=f"int x;{end}int y;")).encode())[0] for end in ("\n", "\r\n")
    )
    assert isinstance(lf, Accepted)
    assert isinstance(crlf, Accepted)
    assert lf.trajectory.id == crlf.trajectory.id


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (GOOD[:-3], "broken JSON: EOF while parsing"),
        (b"hello", "broken JSON: expected value"),
        (b"[" * 100_000, "broken JSON: recursion limit"),
        (b"5", "should be an object"),
        (b"null", "should be an object"),
        (GOOD[:30] + b"\0" + GOOD[30:], "NUL byte at byte 31"),
        (GOOD[:30] + b"\xff" + GOOD[30:], "not UTF-8 at byte 31"),
        (GOOD.replace(b"int x", b"\\u0000"), "serial: String should match"),
        (GOOD.replace(b"int x", b"\\ud800"), "broken JSON"),
        (b"", "the file is empty"),
        (b"\r\n\n", "the file is empty"),
    ],
)
def test_broken_bytes_are_rejected_with_the_reason(data: bytes, said: str) -> None:
    assert said in reason(data)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"schema": None}, "unknown schema version None"),
        ({"schema": 2}, "unknown schema version 2; this program reads 1"),
        ({"schema": "1"}, "unknown schema version '1'"),
        ({"schema": 2, "serial": 5}, "unknown schema version 2"),
        ({"serial": 5}, "serial: Input should be a valid string"),
        ({"serial": ""}, "serial: String should have at least 1 character"),
        ({"target": "hip"}, "target: Input should be 'cuda' or 'openmp'"),
        ({"serail": "typo"}, "serail: Extra inputs"),
        ({"steps": []}, "steps: Tuple should have at least 1 item"),
        ({"steps": [{"label": "Tiling"}]}, "steps.0.code: Field required"),
        ({"steps": [{"label": "T", "code": "c", "technique": "cuda/Bad Id"}]}, "technique"),
        ({"steps": [{"label": "T", "code": "c", "technique": "openmp/simd"}]}, "to target cuda"),
        ({"steps": [{"label": "T", "code": "c", "technique": "cuda/start"}]}, "initial state"),
        ({"failures": [{"after_step": 9, "label": "T", "outcome": "crashed"}]}, "after_step is 9"),
        ({"failures": [{"after_step": 0, "label": "T", "outcome": "sad"}]}, "failures.0.outcome"),
        ({"steps": [IN_QUOTES]}, "steps.0.measurements.0.seconds"),
    ],
)
def test_a_field_that_is_wrong_is_named(fields: dict[str, Any], said: str) -> None:
    assert said in reason(row(**fields))


def test_bad_lines_stop_nothing_and_keep_their_numbers() -> None:
    data = b"\n".join([GOOD, b"{", b"", b"\xff", GOOD])
    assert numbers(data) == [(1, True), (2, False), (4, False), (5, True)]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (GOOD[:-1] + b', "serial": "int y;"}', 'key "serial" stands there twice'),
        (GOOD.replace(b'"code"', b'"label": "T", "code"'), 'key "label" stands there'),
        (GOOD[:-1] + b', "steps": [{"a": 1, "a": 1}]}', 'key "a" stands there twice'),
    ],
)
def test_an_object_that_has_a_key_twice_is_refused(data: bytes, said: str) -> None:
    assert reason(data).startswith(said)


def test_a_line_of_50_mb_is_skipped_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    with path.open("wb") as file:
        file.write(b"{")
        file.seek(50_000_000)  # a hole: the machine need not write 50 MB
        file.write(b"}\n" + GOOD + b"\n")
    tracemalloc.start()
    try:
        with path.open("rb") as file:
            long, good = read(split(file))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(long, Rejected)
    assert long.reason == "longer than 8,388,608 bytes: 50,000,002"
    assert isinstance(good, Accepted)
    assert good.line.number == 2
    assert peak < 40_000_000


def test_a_reason_is_one_short_line_whatever_the_line_says() -> None:
    hostile = {**row(1), "a\x1b[2J\n" + "k" * 1_000_000: 1}
    (found,) = read(split(io.BytesIO(json.dumps(hostile).encode())))
    assert isinstance(found, Rejected)
    assert len(found.reason) < 400
    assert found.reason.isprintable()
    assert found.reason.endswith("Extra inputs are not permitted")


@pytest.mark.timeout(20)
def test_a_key_twice_among_many_is_found_at_once() -> None:
    data = b"{" + b"".join(b'"x_%d":1,' % n for n in range(300_000)) + b'"x_299999":1}'
    (found,) = read(split(io.BytesIO(data)))
    assert isinstance(found, Rejected)
    assert 'key "x_299999" stands there twice' in found.reason


def test_files_that_were_put_together_may_have_marks_and_blank_lines_anywhere() -> None:
    one = b"\xef\xbb\xbf" + json.dumps(row(1)).encode() + b"\n"
    assert all(isinstance(found, Accepted) for found in read(split(io.BytesIO(one + one))))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ({"task_id": "T/1", "prompt": "Write.", "files": []}, "task_id, prompt, files"),
        ([{"method": "T", "detail": "", "code": "c"}], "should be an object"),
    ],
)
def test_what_is_no_trajectory_is_told_by_what_it_holds(line: object, told: str) -> None:
    assert told in reason(json.dumps(line).encode())
