"""Compound names: which names say several techniques, and which only sound like it."""

from typing import Any

import pytest

from regraph_kg.ingest.cascade import Cascade
from regraph_kg.ingest.plan import plan
from regraph_kg.ingest.relabel.aliases import parts
from regraph_kg.models.target import Target
from regraph_kg.models.technique import Vocabulary
from regraph_kg.models.trajectory import Trajectory
from regraph_kg.settings import Settings
from regraph_kg.wiring.names import read_vocabulary
from tests.ingest.trajectories import lexical

VOCABULARY = Vocabulary(read_vocabulary(Settings()))
COMPOUNDS: tuple[tuple[str, Target, str, str], ...] = (
    ("Shared memory tiling + loop unrolling", "cuda", "shared-memory-tiling", "loop-unrolling"),
    ("Loop unrolling and shared memory tiling", "cuda", "loop-unrolling", "shared-memory-tiling"),
    ("loop unrolling with warp shuffle", "cuda", "loop-unrolling", "warp-shuffle"),
    ("Warp shuffle; loop unrolling", "cuda", "warp-shuffle", "loop-unrolling"),
    ("warp shuffle, followed by loop unrolling", "cuda", "warp-shuffle", "loop-unrolling"),
    ("Warp shuffle / loop unrolling", "cuda", "warp-shuffle", "loop-unrolling"),
    ("Loop tiling & vectorization", "openmp", "cache-tiling", "simd"),
    ("Parallel for plus reduction clause", "openmp", "parallel-for", "reduction-clause"),
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


@pytest.mark.parametrize(("label", "target", "first", "other"), COMPOUNDS)
def test_a_compound_is_its_first_technique_and_keeps_the_others(
    label: str, target: Target, first: str, other: str
) -> None:
    (found,) = lexical(VOCABULARY).relabel(trajectory(step(label), target=target)).steps
    assert (found.technique, found.also) == (f"{target}/{first}", (f"{target}/{other}",))
    assert found.stage == "compound"


@pytest.mark.parametrize("label", WHOLE)
def test_a_name_whose_parts_are_no_names_is_one_name(label: str) -> None:
    cascade = lexical(VOCABULARY)
    for target in ("openmp", "cuda"):
        (found,) = cascade.relabel(trajectory(step(label), target=target)).steps
        assert found.also == ()


def test_a_name_that_stands_in_the_vocabulary_is_that_name() -> None:
    named = trajectory(step("unroll and jam"), target="openmp")
    (found,) = lexical(VOCABULARY).relabel(named).steps
    assert (found.technique, found.stage, found.also) == ("openmp/loop-unrolling", "alias", ())


def test_parts_that_are_one_technique_leave_nothing_besides() -> None:
    (found,) = lexical(VOCABULARY).relabel(trajectory(step("Loop unrolling + unrolling"))).steps
    assert (found.technique, found.also) == ("cuda/loop-unrolling", ())


def test_by_names_alone_nothing_is_taken_apart() -> None:
    (found,) = Cascade(VOCABULARY).relabel(trajectory(step(COMPOUNDS[0][0]))).steps
    assert (found.stage, found.also) == ("new", ())


def test_what_a_sender_says_besides_stands_but_for_the_technique_itself() -> None:
    told = step("x", technique="cuda/warp-shuffle", also=["cuda/a", "cuda/warp-shuffle", "cuda/a"])
    (found,) = lexical(VOCABULARY).relabel(trajectory(told)).steps
    assert found.also == ("cuda/a",)


def test_a_compound_teaches_no_alias() -> None:
    one = trajectory(step(COMPOUNDS[0][0]))
    labels = lexical(VOCABULARY).relabel(one)
    assert plan(one, labels.steps, (), VOCABULARY.known, "2026").new == ()


def test_also_is_outside_the_identity_and_of_the_same_target() -> None:
    plain, told = trajectory(step("x")), trajectory(step("x", also=["cuda/a"]))
    assert plain.id == told.id
    with pytest.raises(ValueError, match="does not belong to target cuda"):
        trajectory(step("x", also=["openmp/a"]))


@pytest.mark.parametrize("label", ["a+b", "a, b", "a / b", "a and b", "a AND b", "a; b", "a & b"])
def test_parts_are_what_stands_between(label: str) -> None:
    assert parts(label) == ("a", "b")
