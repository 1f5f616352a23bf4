"""Greedy on the graph: the order in which states and successors are tried, by hand."""

import math

import pytest
from regraph_kg.search.methods.greedy_graph import GreedySettings
from regraph_kg.search.select import prior

from regraph_kg.models.prompt import PromptKey
from tests.search.in_toy import asked, run
from tests.search.toy import SERIAL, Graph, Toy, code, fenced, names, noisy_script, successor

PLAIN = GreedySettings(samples=2, repairs=0)
GRAPH: Graph = {"start": ["a", "b", "c"], "b": ["a", "c"], "a": [], "c": ["a"]}
SEEN = {
    "a": successor("a", tried=3, verified=1, log2_effects=-0.5),
    "b": successor("b", tried=6, verified=5, log2_effects=4.0),
}


def speedups(graph: Graph = GRAPH, **levels: float | str) -> Toy:
    """The model's code is as fast as the way that led to it says, whatever the samples."""

    def answer(key: PromptKey) -> str:
        level = levels["_".join(names(key))]
        return fenced(code(level if isinstance(level, str) else math.log(level), key))

    return Toy(graph, answer, successors=SEEN)


def test_the_priors_by_hand() -> None:
    # P = 2/5, D = -0.5 ln 2: 0.4 * -0.3466 / 2 - 0.6 * 0.3
    assert prior(SEEN["a"], PLAIN) == pytest.approx(-0.2493, abs=1e-4)
    # P = 6/8, D = 4 ln 2: 0.75 * 2.7726 / 6 - 0.25 * 0.3
    assert prior(SEEN["b"], PLAIN) == pytest.approx(0.2716, abs=1e-4)
    # never tried: P = 1/2
    assert prior(successor("c"), PLAIN) == pytest.approx(-0.15)


def test_the_order_of_tries_by_hand() -> None:
    toy = speedups(a=1.9, b=1.6, b_c="crashed", b_a=1.5, c=1.2, c_a=1.3)
    records = run(toy, PLAIN, 11)
    assert asked(toy) == [
        ("b", 0, 0),  # the serial code's best prior: 1.6
        ("b > c", 0, 0),  # that is the best now; of its successors c has the better prior: fails
        ("b > a", 0, 0),  # the least-tried one: 1.5, nothing follows a
        ("b > c", 1, 0),  # both tried once: the prior's order again
        ("b > a", 1, 0),  # b is closed after this
        ("c", 0, 0),  # the serial code is the next best; c and a are its least-tried: 1.2
        ("c > a", 0, 0),  # c is better than serial: 1.3
        ("c > a", 1, 0),
        ("a", 0, 0),  # the serial code's last untried one: 1.9, but nothing follows
        ("b", 1, 0),  # all were tried once: the prior's order; 1.6 once more
        ("b#1 > c", 0, 0),  # a second sample is a state of its own
    ]
    assert [r.reward for r in records] == pytest.approx(
        [1.6, 0, 1.5, 0, 1.5, 1.2, 1.3, 1.3, 1.9, 1.6, 0]
    )
    assert records[-1].best_path == ("openmp/a",)


def test_a_step_is_applied_to_the_code_of_its_state() -> None:
    toy = speedups(b=1.6, b_c=2.0, b_c_a=1.0)
    records = run(toy, PLAIN, 3)
    assert asked(toy) == [("b", 0, 0), ("b > c", 0, 0), ("b > c > a", 0, 0)]
    before = [SERIAL, *(r.steps[0].code or "" for r in records)]
    for prompt, text in zip(toy.prompts, before, strict=False):
        assert text.strip() in prompt.user
    assert "Technique: c" in toy.prompts[1].user
    assert "Because it helps." in toy.prompts[1].user  # the edge's example


def test_a_slower_state_is_extended_after_the_serial_code() -> None:
    toy = speedups({"start": ["a"], "a": ["b"]}, a=0.5, a_b=0.6)
    run(toy, PLAIN, 5)
    assert [path for path, _, _ in asked(toy)] == ["a", "a", "a > b", "a > b", "a#1 > b"]


def test_it_ends_when_everything_was_tried_so_often() -> None:
    toy = speedups({"start": ["a", "b"]}, a=0.5, b="crashed")
    records = run(toy, GreedySettings(samples=3, repairs=0), 99)
    assert sorted(asked(toy)) == [(path, k, 0) for path in "ab" for k in range(3)]
    assert len(records) == 6


def test_nothing_is_tried_below_the_depth() -> None:
    toy = Toy({"start": ["a"], "a": ["a"]}, lambda key: fenced(code(0.1 * len(key.path), key)))
    run(toy, GreedySettings(samples=1, depth=3), 99)
    assert [path for path, _, _ in asked(toy)] == ["a", "a > a", "a > a > a"]


def test_a_repaired_sample_is_one_try() -> None:
    def answer(key: PromptKey) -> str:
        return fenced(code(0.5 if key.repair else "crashed", key))

    toy = Toy({"start": ["a", "b"]}, answer)
    records = run(toy, GreedySettings(samples=1), 99)
    assert asked(toy) == [("a", 0, 0), ("a", 0, 1), ("b", 0, 0), ("b", 0, 1)]
    assert [r.reward for r in records] == pytest.approx([math.exp(0.5)] * 2)


def test_an_unrecorded_successor_is_closed_on_its_state() -> None:
    def answer(key: PromptKey) -> str | None:
        return None if names(key) in (["a"], ["b", "c"]) else fenced(code(-0.1, key))

    toy = Toy({"start": ["a", "b"], "b": ["c", "a"]}, answer)
    records = run(toy, PLAIN, 99)
    nothing = [r.path for r in records if r.reward is None]
    assert nothing == [("openmp/a",), ("openmp/b", "openmp/c"), ("openmp/b#1", "openmp/c")]
    assert asked(toy) == [
        ("b", 0, 0),
        ("b", 1, 0),
        ("b > a", 0, 0),
        ("b > a", 1, 0),
        ("b#1 > a", 0, 0),
        ("b#1 > a", 1, 0),
    ]


def test_what_is_under_way_counts_as_tried() -> None:
    toy = speedups(a=1.9, b=1.6, c=1.2, b_c=1.0)
    run(toy, PLAIN, 3, parallel=3)
    assert [path for path, _, _ in asked(toy)] == ["b", "c", "a"]


@pytest.mark.parametrize("parallel", [1, 4])
@pytest.mark.parametrize("seed", range(5))
def test_no_attempt_is_asked_twice_and_the_budget_holds(parallel: int, seed: int) -> None:
    toy = Toy(
        {"start": ["a", "b"], "a": ["a", "b"], "b": ["a", "start"]}, noisy_script(seed, holes=0.1)
    )
    records = run(toy, GreedySettings(), 40, parallel=parallel, seed=seed)
    assert len(set(asked(toy))) == len(asked(toy)) == records[-1].spent <= 40


def test_a_start_without_successors_buys_nothing() -> None:
    assert run(Toy({}, noisy_script(0)), PLAIN, 5) == []
