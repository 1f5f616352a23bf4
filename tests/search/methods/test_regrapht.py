"""Random walks: where they go, where they end, and what they ask."""

import math
from collections import Counter

import pytest

from regraph_kg.models.prompt import PromptKey
from regraph_kg.search.methods.mcgs import ReGraphTSettings
from tests.search.toy import SERIAL, Graph, Toy, asked, code, fenced, names, noisy_script, run

ANY = ReGraphTSettings()


def speedups(graph: Graph, **levels: float | str) -> Toy:
    """The model's code is as fast as the way that led to it says."""

    def answer(key: PromptKey) -> str:
        level = levels["_".join(names(key))]
        return fenced(code(level if isinstance(level, str) else math.log(level), key))

    return Toy(graph, answer)


def test_a_walk_goes_on_from_the_code_it_has_and_earns_its_fastest() -> None:
    toy = speedups({"start": ["a"], "a": ["b"], "b": ["c"]}, a=2.0, a_b=3.0, a_b_c=1.5)
    (record,) = run(toy, ANY, 3)
    assert asked(toy) == [("a", 0), ("a > b", 0), ("a > b > c", 0)]
    assert record.reward == pytest.approx(3.0)
    assert record.path == ("openmp/a",)
    assert SERIAL in toy.prompts[0].user
    assert record.steps[0].code is not None
    assert record.steps[0].code.strip() in toy.prompts[1].user
    assert "Do b to the loops." in toy.prompts[1].user


def test_a_walk_ends_at_the_first_failure_at_the_cap_and_where_no_successor_is() -> None:
    failing = speedups({"start": ["a"], "a": ["b"], "b": ["c"]}, a=2.0, a_b="crashed")
    assert [len(r.steps) for r in run(failing, ANY, 6)] == [2, 2, 2]
    endless = Toy({"start": ["a"], "a": ["a"]}, lambda key: fenced(code(0.1, key)))
    records = run(endless, ReGraphTSettings(steps=5), 15)
    assert [len(r.steps) for r in records] == [5, 5, 5]
    ending = speedups({"start": ["a"], "a": ["b"]}, a=2.0, a_b=3.0)
    assert [len(r.steps) for r in run(ending, ANY, 6)] == [2, 2, 2]


def test_every_step_is_a_new_sample_numbered_on_its_path() -> None:
    toy = Toy({"start": ["a"], "a": ["b"]}, noisy_script(2, failures=0))
    run(toy, ANY, 6)
    assert asked(toy) == [
        ("a", 0),
        ("a > b", 0),
        ("a", 1),
        ("a#1 > b", 0),
        ("a", 2),
        ("a#2 > b", 0),
    ]


def test_every_successor_is_as_likely_as_the_others() -> None:
    toy = Toy({"start": ["a", "b", "c"]}, lambda key: fenced(code(5 * (names(key) == ["a"]), key)))
    run(toy, ANY, 300)
    taken = Counter(path for path, _ in asked(toy))
    # 100 each; a standard deviation is 8
    assert all(abs(count - 100) < 35 for count in taken.values()), taken


@pytest.mark.parametrize("parallel", [1, 4])
def test_so_many_attempts_and_no_more(parallel: int) -> None:
    toy = Toy({"start": ["a"], "a": ["b"]}, noisy_script(2, failures=0))
    settings = ReGraphTSettings(attempts=5)
    records = run(toy, settings, 99, parallel=parallel)
    assert [len(r.steps) for r in records] == [2] * 5
    assert records[-1].spent == 10


def test_an_unrecorded_step_closes_the_successor_on_its_path_only() -> None:
    def answer(key: PromptKey) -> str | None:
        known = names(key) in (["b"], ["b", "a"]) and key.attempt == 0
        return fenced(code(0.5, key)) if known else None

    toy = Toy({"start": ["a", "b"], "b": ["a"]}, answer)
    records = run(toy, ReGraphTSettings(attempts=3), 10)
    assert sorted(asked(toy)) == [("b", 0), ("b > a", 0)]
    assert records[-1].spent == 2
    # a (no answer), b with a below it, b again (no answer): then the start is closed
    assert sorted(r.reward is None for r in records) == [False, True, True]


def test_the_budget_cuts_a_walk_between_two_steps() -> None:
    (record,) = run(speedups({"start": ["a"], "a": ["b"]}, a=2.0), ANY, 1)
    assert [step.path for step in record.steps] == [("openmp/a",)]


def test_a_walk_that_bought_nothing_is_no_attempt() -> None:
    def answer(key: PromptKey) -> str | None:
        return fenced(code(0.5, key)) if names(key) == ["b"] else None

    toy = Toy({"start": ["a", "b", "c", "d"]}, answer)
    records = run(toy, ReGraphTSettings(attempts=2), 10)
    assert asked(toy) == [("b", 0), ("b", 1)]
    assert sum(r.reward is not None for r in records) == 2
