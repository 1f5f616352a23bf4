"""The paper's preset (3.1): what a walk asks, earns and backs up."""

import math
from collections.abc import Iterator

import pytest

from regraph_kg.models.prompt import PromptKey
from regraph_kg.models.run import SimulationRecord
from regraph_kg.search.driver import Driver
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods.mcgs import Mcgs, PaperBound, PaperSettings, paper_reward
from regraph_kg.search.run import context
from tests.search.toy import TASK, Alone, Graph, Toy, code, fenced, header, names, noisy_script

GREEDY = PaperSettings(epsilon=0)
Walks = Iterator[SimulationRecord]


def begun(toy: Toy, budget: int, settings: PaperSettings = GREEDY) -> tuple[PaperBound, Walks]:
    """The rule of a search, and the search's records as it goes on."""
    head = header(budget, settings=settings)
    ledger = Ledger(head.limits)
    made = context(TASK, head, toy.world, ledger)
    rule = PaperBound(made, settings)
    return rule, Driver(Mcgs(made, rule), Alone(toy.world), ledger).run()


def run(
    toy: Toy, budget: int, settings: PaperSettings = GREEDY
) -> tuple[list[SimulationRecord], PaperBound]:
    rule, walks = begun(toy, budget, settings)
    return list(walks), rule


def speedups(**levels: float | str) -> Toy:
    """start -> a, b; a -> b; b -> a: the model's code is as fast as its last technique says."""
    graph: Graph = {"start": ["a", "b"], "a": ["b"], "b": ["a"]}

    def answer(key: PromptKey) -> str:
        level = levels["_".join(names(key))]
        return fenced(code(level if isinstance(level, str) else math.log(level), key))

    return Toy(graph, answer)


def table(counters: PaperBound) -> dict[str, tuple[int, float]]:
    return {
        name.removeprefix("openmp/"): (visits, pytest.approx(counters.total[name]))
        for name, visits in counters.visits.items()
        if visits
    }


def test_the_first_walks_by_hand() -> None:
    toy = speedups(a=2.0, a_b="crashed", b=0.5, b_a=0.25, b_a_b="crashed", a_b_a=9.0)
    records, counters = run(toy, 7)
    # 1: start -> a (expanded, 2.0), rolls on to b: fails. Reward 2.0 to start and a.
    # 2: b is unvisited: start -> b (expanded, 0.5 - 1), rolls on to a: 0.25 - 1, to b: fails.
    # 3: all visited. P-UCB at the start (N = 2): a = 2 + sqrt(2 ln 2), b = -0.5 + sqrt(2 ln 2).
    #    a; there b is visited: selection goes on to b, which fails: -1 to start, a and b.
    assert [r.reward for r in records] == pytest.approx([2.0, -0.5, -1.0])
    assert [len(r.steps) for r in records] == [2, 3, 2]
    assert table(counters) == {"start": (3, 0.5), "a": (2, 1.0), "b": (2, -1.5)}


def test_a_failure_under_a_good_prefix_earns_minus_one() -> None:
    toy = speedups(a=5.0, b=4.0, a_b=4.5, b_a=4.5, a_b_a="crashed", b_a_b="crashed")
    records, _ = run(toy, 40)
    failed_early = [
        r for r in records if r.steps[-1].speedup is None and len(r.steps) == 3 and r.reward == -1
    ]
    assert failed_early  # selection itself went to the failing step, and its prefix did not pay


def test_the_budget_cuts_a_walk_and_what_it_earned_is_backed_up() -> None:
    toy = Toy({"start": ["a"], "a": ["b"], "b": ["c"]}, lambda key: fenced(code(0.5, key)))
    records, counters = run(toy, 1)
    assert [len(r.steps) for r in records] == [1]
    assert counters.mean("openmp/a") == pytest.approx(math.exp(0.5))


def test_an_unrecorded_step_closes_the_successor_on_its_path_only() -> None:
    def answer(key: PromptKey) -> str | None:
        return fenced(code(0.5, key)) if names(key) == ["b"] and key.attempt == 0 else None

    toy = Toy({"start": ["a", "b"], "b": ["a"]}, answer)
    records, counters = run(toy, 10)
    assert counters.visits["openmp/a"] == 0
    assert [r.spent for r in records][-1] == 1  # and then the start is closed
    assert [r.reward is None for r in records] == [True, False, True]


def test_the_rollout_policy_prefers_the_mean_and_pays_for_traversals() -> None:
    toy = Toy({"start": ["c"], "c": ["a", "b"]}, lambda key: fenced(code(0.1, key)))
    counters, walks = begun(toy, 2, PaperSettings(epsilon=0, visit_penalty=0.2, steps=2))
    counters.visits.update({"openmp/a": 2, "openmp/b": 1})
    counters.total.update({"openmp/a": 3.0, "openmp/b": 1.4})
    counters.traversals["openmp/c", "openmp/a"] = 1
    (record,) = walks
    # a: 1.5 - 0.2 = 1.3 < b: 1.4
    assert record.steps[1].technique == "openmp/b"


@pytest.mark.slow
def test_a_rollout_takes_any_step_with_probability_epsilon() -> None:
    graph = {"start": ["a"], "a": ["a", "b", "c", "d"]}
    toy = Toy(graph, lambda key: fenced(code(0.1, key)))
    settings = PaperSettings(epsilon=0.4, steps=2, visit_penalty=0.0)
    counters, walks = begun(toy, 2000, settings)
    for _ in walks:
        counters.visits.clear()  # so that the next walk expands, and rolls on, too
    rolled = {name: counters.traversals["openmp/a", f"openmp/{name}"] for name in "abcd"}
    assert rolled["a"] == pytest.approx(1000 * 0.7, rel=0.1)
    assert rolled["d"] == pytest.approx(1000 * 0.1, rel=0.3)


@pytest.mark.parametrize(
    ("mean", "visits", "parent", "expected"),
    [
        (5.0, 1, 1, 5.0),
        (2.0, 2, 8, 2 + math.sqrt(math.log(8))),
        (-1.0, 4, 3, -1 + 0.5 * math.sqrt(2 * math.log(3))),
    ],
)
def test_the_papers_bound(mean: float, visits: int, parent: int, expected: float) -> None:
    rule, _ = begun(Toy({"start": ["a"]}, noisy_script(0)), 1)
    rule.visits["a"], rule.total["a"] = visits, mean * visits
    assert rule.bound("a", parent) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("reached", "expected"), [(None, -1.0), (0.25, -0.75), (0.999, -0.001), (1.0, 1.0), (7.5, 7.5)]
)
def test_the_papers_reward(reached: float | None, expected: float) -> None:
    assert paper_reward(reached) == pytest.approx(expected)
