"""Compound names: which names say several techniques, and which only sound like it."""

from typing import Any

import pytest

from regraph_kg.ingest.cascade import Cascade
from regraph_kg.ingest.pipeline import plan
from regraph_kg.ingest.relabel.aliases import parts
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Vocabulary
from regraph_kg.models.trajectory import Trajectory
from regraph_kg.settings import Settings
from regraph_kg.wiring.names import read_vocabulary
from tests.ingest.trajectories import lexical

VOCABULARY = Vocabulary(read_vocabulary(Settings()))
COMPOUNDS: tuple[tuple[str, Target, str], ...] = (
    ("Shared memory tiling + loop unrolling", "cuda", "shared-memory-tiling"),
    ("Loop unrolling and shared memory tiling", "cuda", "loop-unrolling"),
    ("loop unrolling with warp shuffle", "cuda", "loop-unrolling"),
    ("Warp shuffle; loop unrolling", "cuda", "warp-shuffle"),
    ("warp shuffle, followed by loop unrolling", "cuda", "warp-shuffle"),
    ("Warp shuffle / loop unrolling", "cuda", "warp-shuffle"),
    ("Loop tiling & vectorization", "openmp", "cache-tiling"),
    ("Parallel for plus reduction clause", "openmp", "parallel-for"),
    ("Loop unrolling + unrolling", "cuda", "loop-unrolling"),
)
WHOLE = (
    *("compare and swap", "read-modify-write", "load/store vectorization", "divide and conquer"),
    *("tiling without unrolling", "tiling and no unrolling", "C++ vectorization", "multiply-add"),
    *("Loop unrolling and something", "Coalesced and vectorized loads", "gather + scatter"),
    *("and", "+", " & ", "Loop unrolling,", "with loop unrolling", "producer/consumer split"),
)


def step(label: str, **fields: Any) -> dict[str, Any]:
    return {"label": label, "code": "int y;"} | fields


def trajectory(*steps: dict[str, Any], target: Target = "cuda") -> Trajectory:
    told = {"schema": 1, "target": target, "problem": "p", "serial": "int x;", "steps": steps}
    return Trajectory.model_validate(told)


@pytest.mark.parametrize(("label", "target", "first"), COMPOUNDS)
def test_a_compound_is_its_first_technique(label: str, target: Target, first: str) -> None:
    (found,) = lexical(VOCABULARY).relabel(trajectory(step(label), target=target)).steps
    assert (found.technique, found.stage) == (f"{target}/{first}", "compound")


@pytest.mark.parametrize("label", WHOLE)
def test_a_name_whose_parts_are_no_names_is_one_name(label: str) -> None:
    cascade = lexical(VOCABULARY)
    for target in ("openmp", "cuda"):
        (found,) = cascade.relabel(trajectory(step(label), target=target)).steps
        assert found.stage != "compound"


def test_a_name_that_stands_in_the_vocabulary_is_that_name() -> None:
    named = trajectory(step("unroll and jam"), target="openmp")
    (found,) = lexical(VOCABULARY).relabel(named).steps
    assert (found.technique, found.stage) == ("openmp/loop-unrolling", "alias")


def test_by_names_alone_nothing_is_taken_apart() -> None:
    (found,) = Cascade(VOCABULARY).relabel(trajectory(step(COMPOUNDS[0][0]))).steps
    assert found.stage == "new"


def test_a_compound_teaches_no_alias() -> None:
    one = trajectory(step(COMPOUNDS[0][0]))
    labels = lexical(VOCABULARY).relabel(one)
    assert plan(one, labels.steps, (), VOCABULARY.known, "2026").new == ()


@pytest.mark.parametrize("label", ["a+b", "a, b", "a / b", "a and b", "a AND b", "a; b", "a & b"])
def test_parts_are_what_stands_between(label: str) -> None:
    assert parts(label) == ("a", "b")
