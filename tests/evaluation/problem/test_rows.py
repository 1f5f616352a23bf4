"""Rows that count are kept, and nothing behind them, before anything is compared."""

from pathlib import Path

import numpy as np
import pytest

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.evaluation.problem.rows import remarks, require_room, settled

PROBLEMS = Path(__file__).parents[2] / "adversarial" / "problem"


@pytest.fixture(scope="module")
def compact() -> Problem:
    return load_problem(PROBLEMS / "compact")


def outputs(*, root: list[float], place: list[int], said: int) -> dict[str, np.ndarray]:
    return {
        "root": np.array(root, np.float32),
        "place": np.array(place, np.int32),
        "return": np.array([said], np.int32),
    }


def test_what_lies_behind_the_rows_that_count_is_cleared(compact: Problem) -> None:
    given = outputs(root=[1, 3, 2, 9], place=[7, 5, 6, 1], said=3)
    made = settled(compact, given)
    assert made["place"].tolist() == [7, 5, 6, 0]
    assert made["root"].tolist() == [1, 3, 2, 0]
    assert given["place"].tolist() == [7, 5, 6, 1], "it is a copy"


@pytest.mark.parametrize(("said", "kept"), [(-1, 0), (0, 0), (5, 4), (2**31 - 1, 4)])
def test_no_more_rows_are_read_than_there_is_room_for(
    compact: Problem, said: int, kept: int
) -> None:
    made = settled(compact, outputs(root=[1, 2, 3, 4], place=[1, 2, 3, 4], said=said))
    assert np.count_nonzero(made["place"]) == kept


def test_trusted_code_that_counts_too_many_is_bad_input(compact: Problem) -> None:
    given = outputs(root=[1], place=[1], said=2)
    with pytest.raises(BadInput, match=r"serial.cpp says return = 2, but root has room for 1 rows"):
        require_room(compact, given, "serial.cpp")


def test_what_an_author_must_know_is_told_in_comments(compact: Problem) -> None:
    told = "as many rows count, from the first on, as the function returns"
    assert remarks(compact) == f"\n// root: {told}\n// place: {told}"
    filtered = load_problem(PROBLEMS / "filter")
    assert remarks(filtered).endswith(
        "// kept: as many rows count, from the first on, as found[0] says"
    )
    assert remarks(load_problem(PROBLEMS / "total")) == ""


def test_a_problem_with_rows_is_read_from_what_it_is_written_as(compact: Problem) -> None:
    text = compact.model_dump_json(by_alias=True)
    assert Problem.model_validate_json(text) == compact
