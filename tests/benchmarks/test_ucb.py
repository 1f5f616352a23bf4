"""The rival `ucb`: its arithmetic against tables computed by hand, and what its search learns."""

import math

import pytest

from benchmarks.rivals.prior import prior
from benchmarks.rivals.ucb import Ucb, UcbSettings
from benchmarks.rivals.ucb_select import gains
from benchmarks.rivals.ucb_tree import Tree
from regraph_kg.models.run import SimulationRecord
from regraph_kg.search.driver import Driver
from regraph_kg.search.executor import Alone
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.run import context
from tests.search.toy import TASK, Toy, header, says, successor

DEFAULT = UcbSettings()
LN2 = math.log(2)


@pytest.mark.parametrize(
    ("tried", "verified", "log2_effects", "expected"),
    [
        # P = (v+1)/(t+2)   q0 = P D/(v+1) + (1-P) f,  D = ln 2 * log2 effects, f = -0.3
        (0, 0, 0.0, 0.5 * 0 + 0.5 * -0.3),
        (2, 2, 4.0, 3 / 4 * (4 * LN2) / 3 + 1 / 4 * -0.3),
        (10, 0, 0.0, 11 / 12 * -0.3),
        (8, 3, -3.0, 4 / 10 * (-3 * LN2) / 4 + 6 / 10 * -0.3),
    ],
)
def test_the_prior_of_an_edge(
    tried: int, verified: int, log2_effects: float, expected: float
) -> None:
    seen = successor("a", tried=tried, verified=verified, log2_effects=log2_effects)
    assert prior(seen, DEFAULT) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([0.0], [0.7], [0.7]),
        ([0.0], [None], [-0.3]),
        ([0.0], [-0.4], [-0.4]),
        ([0.0], [-2.0], [-1.0]),  # clipped below
        ([0.0], [3.5], [3.0]),  # clipped above
        # a step is worth the best level reached at it or below it
        ([0.0, 0.5, 0.2], [0.5, 0.2, 1.1], [1.1, 0.6, 0.9]),
        ([0.0, 0.5], [0.5, 0.2], [0.5, -0.3]),
        # a failure at the end leaves the steps above it what they had
        ([0.0, 0.5, 0.8], [0.5, 0.8, None], [0.8, 0.3, -0.3]),
    ],
)
def test_the_gain_of_each_step(
    before: list[float], after: list[float | None], expected: list[float]
) -> None:
    assert gains(before, after, DEFAULT) == pytest.approx(expected)


def search(toy: Toy, calls: int, **settings: float) -> tuple[list[SimulationRecord], Tree]:
    tree, head = Tree(), header(calls)
    ledger, told = Ledger(head.limits), UcbSettings.model_validate(settings)
    method = Ucb(context(TASK, head, toy.world, ledger), told, tree)
    return list(Driver(method, Alone(toy.world), ledger).run()), tree


def test_the_first_iterations_by_hand() -> None:
    toy = Toy({"start": ["a"], "a": ["b"]}, says(a=0.5, a_b="wrong_answer"))
    records, tree = search(toy, 4, repairs=0, samples=1)
    # 1: a, +0.5. 2: enters a, b fails: a is worth 0.5 again, b -0.3. Then all is closed.
    assert [record.reward for record in records] == pytest.approx([0.5, -0.3])
    start, a = tree.states()
    assert (start.n, start.actions[0].n, start.actions[0].total) == (2, 2, pytest.approx(1.0))
    assert (a.n, a.actions[0].n, a.actions[0].total, a.actions[0].best) == (1, 1, -0.3, -0.3)
    edge = tree.edges["openmp/start", "openmp/a"]
    assert (edge.n, edge.total) == (2, pytest.approx(1.0))
    assert not start.open


def test_an_edge_met_twice_on_a_way_learns_its_last_gain_once() -> None:
    toy = Toy({"start": ["a"], "a": ["a"]}, says(a=0.5, a_a=0.6, a_a_a="crashed"))
    _, tree = search(toy, 4, samples=1, repairs=0)
    loop = tree.edges["openmp/a", "openmp/a"]
    # a a: +0.1; then a a a fails: -0.3, and not the 0.1 of its first occurrence
    assert (loop.n, loop.total) == (2, pytest.approx(0.1 - 0.3))


def test_a_rollout_buys_further_samples_below_the_new_one_and_stops_at_a_failure() -> None:
    graph = {"start": ["a"], "a": ["b"], "b": ["c"], "c": ["d"]}
    toy = Toy(graph, says(a=0.1, a_b=0.4, a_b_c="crashed", a_b_c_d=1.0))
    records, _ = search(toy, 3, rollout=3, repairs=0)
    assert [step.gain for step in records[0].steps] == pytest.approx([0.4, 0.3, -0.3])
