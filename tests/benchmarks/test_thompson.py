"""The rival `thompson`: the posterior against a table computed by hand, and what a search does."""

import math
from collections.abc import Mapping

import pytest

from benchmarks.rivals.thompson import Belief, Posterior, Thompson, ThompsonSettings
from regraph_kg.models.graph import Successor
from regraph_kg.models.method import Prompting, SearchLimits
from regraph_kg.models.prompt import PromptKey
from regraph_kg.models.run import SimulationRecord
from regraph_kg.search.driver import Driver
from regraph_kg.search.executor import Alone
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.run import context
from tests.search.in_toy import asked
from tests.search.toy import (
    TASK,
    Graph,
    Script,
    Toy,
    code,
    fenced,
    header,
    names,
    successor,
)

SURE = 1e9
"""A k0 at which every draw is the prior mean."""
FORK: Graph = {"start": ["a", "b"], "a": ["b"], "b": ["a"]}


def search(
    toy: Toy, settings: ThompsonSettings, calls: int, *, parallel: int = 1, seed: int = 0
) -> tuple[list[SimulationRecord], Mapping[tuple[str, str], Belief]]:
    """The records of a whole search, and what it came to believe of edges, by short names."""
    head = header(seed=seed, limits=SearchLimits(calls=calls), prompting=Prompting())
    ledger = Ledger(head.limits)
    method = Thompson(context(TASK, head, toy.world, ledger), settings)
    records = list(Driver(method, Alone(toy.world), ledger, parallel).run())
    beliefs = {
        (source.removeprefix("openmp/"), target.removeprefix("openmp/")): belief
        for (source, target), belief in method.beliefs.items()
    }
    return records, beliefs


def says(**levels: float | str) -> Script:
    """A model that answers by the path's names: says(a=0.5, a_b="crashed")."""

    def answer(key: PromptKey) -> str | None:
        level = levels.get("_".join(names(key)))
        return None if level is None else fenced(code(level, (key.path, key.attempt)))

    return answer


@pytest.mark.parametrize(
    ("prior", "weight", "gains", "expected"),
    [
        # a0 = 2, b0 = 0.25
        (0.1, 2.0, [], Posterior(0.1, 2.0, 2.0, 0.25)),
        # m = 0.7, S = 0: q = (0.2 + 0.7) / 3, b = 0.25 + 2 * 1 * 0.36 / (2 * 3)
        (0.1, 2.0, [0.7], Posterior(0.3, 3.0, 2.5, 0.37)),
        # m = 0.1 = q0, S = 0.16 + 0.16: b = 0.25 + 0.32 / 2
        (0.1, 2.0, [0.5, -0.3], Posterior(0.1, 4.0, 3.0, 0.41)),
        # m = 0.5, S = 0.25 + 0.25 + 1: q = (-0.1 + 1.5) / 4, b = 0.25 + 0.75 + 3 * 0.36 / 8
        (-0.1, 1.0, [1.0, 1.0, -0.5], Posterior(0.35, 4.0, 3.5, 1.135)),
    ],
)
def test_the_posterior_of_an_edge(
    prior: float, weight: float, gains: list[float], expected: Posterior
) -> None:
    belief = Belief(prior)
    for gain in gains:
        belief.learn(gain)
    found = belief.posterior(weight)
    assert (found.mean, found.weight, found.shape, found.scale) == pytest.approx(
        (expected.mean, expected.weight, expected.shape, expected.scale)
    )


def test_the_best_sum_of_level_and_gain_comes_first() -> None:
    graph = {"start": ["a", "b"], "b": ["c"]}
    successors: dict[str, Successor] = {"b": successor("b", tried=2, verified=2, log2_effects=4)}
    toy = Toy(graph, says(a=0.2, b=1.0, b_c="crashed"), successors=successors)
    settings = ThompsonSettings(prior_weight=SURE, samples=1, repairs=0)
    search(toy, settings, 10)
    # q0 of b is 3/4 * 4 ln 2 / 3 - 0.3/4 = 0.62, of a and c -0.15: 0.62, then 1 - 0.15, then -0.15
    assert [path for path, _, _ in asked(toy)] == ["b", "b > c", "a"]


def test_a_sample_teaches_its_edge_the_clipped_gain_of_its_own_step() -> None:
    graph = {"start": ["a"], "a": ["b"], "b": ["c"], "c": ["d"]}
    toy = Toy(graph, says(a=0.5, a_b=5.0, a_b_c=1.0, a_b_c_d="crashed"))
    records, beliefs = search(toy, ThompsonSettings(samples=1, repairs=0, failure_gain=-0.4), 9)
    gains = [step.gain for record in records for step in record.steps]
    assert gains == pytest.approx([0.5, 3.0, -1.0, -0.4])
    assert [record.reward for record in records] == gains
    assert [belief.mean for belief in beliefs.values()] == pytest.approx(gains)
    assert {belief.n for belief in beliefs.values()} == {1}


def test_a_search_finds_the_better_of_two_branches() -> None:
    good = [math.log(2) * number for number in range(9)]
    levels: dict[str, float | str] = {"_".join("b" * n): good[n] for n in range(1, 9)}
    toy = Toy({"start": ["a", "b"], "b": ["b"]}, says(a=0.05, **levels))
    records, _ = search(toy, ThompsonSettings(), 25)
    assert records[-1].best_speedup == pytest.approx(2**8)
