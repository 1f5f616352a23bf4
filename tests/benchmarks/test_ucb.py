"""The rival `ucb`: its arithmetic against tables computed by hand, and what its search learns."""

import math
import random
from dataclasses import replace

import pytest

from benchmarks.rivals.prior import prior
from benchmarks.rivals.ucb import Ucb, UcbSettings
from benchmarks.rivals.ucb_select import (
    best_child,
    edge_value,
    gains,
    rollout_action,
    select,
    takes_new_sample,
    upper_bound,
    value,
)
from benchmarks.rivals.ucb_tree import Action, Edge, State, Tree
from regraph_kg.models.graph import EFFECT_SCALE
from regraph_kg.models.run import SimulationRecord
from regraph_kg.search.driver import Driver
from regraph_kg.search.executor import Alone
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.run import context
from tests.search.toy import (
    TASK,
    Toy,
    header,
    says,
    successor,
    technique,
)

DEFAULT = UcbSettings()
LN2 = math.log(2)


def action(name: str = "a", **fields: object) -> Action:
    edge = fields.pop("edge", None) or Edge(prior=0.0)
    samples = dict(enumerate(fields.pop("samples", ())))  # type: ignore[call-overload]
    usual = {"samples": samples, "taken": len(samples)}
    return Action(technique(name), edge, **(usual | fields))  # type: ignore[arg-type]


def state(*actions: Action, x: float = 0.0, n: int = 0, open: bool = True) -> State:
    return State("openmp/start", (), "code", x, actions=actions, n=n, open=open)


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


def test_statistics_of_other_devices_count_half_in_the_prior() -> None:
    there = successor("a", tried=4, verified=4, log2_effects=8.0, statistics="other-devices")
    here = successor("a", tried=2, verified=2, log2_effects=4.0)
    assert prior(there, DEFAULT) == pytest.approx(prior(here, DEFAULT))


def test_a_try_here_does_not_silence_the_other_devices() -> None:
    both = replace(
        successor("a", tried=1, verified=0),
        tried_elsewhere=4,
        verified_elsewhere=4,
        sum_log2_elsewhere=8 * EFFECT_SCALE,
    )
    as_if = successor("a", tried=3, verified=2, log2_effects=4.0)
    assert prior(both, DEFAULT) == pytest.approx(prior(as_if, DEFAULT))


@pytest.mark.parametrize(
    ("prior_", "n", "total", "expected"),
    [(-0.15, 0, 0.0, -0.15), (0.4, 2, 1.2, (1.2 + 2 * 0.4) / 4), (1.0, 8, 0.0, 2 / 10)],
)
def test_the_value_of_an_edge(prior_: float, n: int, total: float, expected: float) -> None:
    assert edge_value(Edge(prior_, n, total), DEFAULT) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("n", "total", "best", "expected"),
    [
        # q_e = 0.5 throughout;  q = (W + 2 * 0.5)/(n + 2);  Q = q/2 + max(q, M)/2
        (0, 0.0, -math.inf, 0.5),
        (1, -0.3, -0.3, 0.7 / 3),
        (2, 1.0, 1.3, 0.5 * 0.5 + 0.5 * 1.3),
        (3, 3.0, 0.2, 4 / 5),  # the best gain lies below the mean: the mean counts alone
    ],
)
def test_the_value_of_an_action(n: int, total: float, best: float, expected: float) -> None:
    one = action(edge=Edge(prior=0.5), n=n, total=total, best=best)
    assert value(one, DEFAULT) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("parent_n", "n", "bonus"),
    [(0, 0, 0.0), (3, 0, math.sqrt(math.log(4))), (7, 3, math.sqrt(math.log(8) / 4))],
)
def test_the_upper_bound(parent_n: int, n: int, bonus: float) -> None:
    one = action(n=n, edge=Edge(prior=0.0))
    assert upper_bound(state(one, n=parent_n), one, DEFAULT) == pytest.approx(0.5 * bonus)


@pytest.mark.parametrize(
    ("parent_o", "o", "bonus"),
    [
        (0, 0, math.sqrt(math.log(4))),
        (2, 0, math.sqrt(math.log(6))),
        (2, 1, math.sqrt(math.log(7) / 2)),
    ],
)
def test_what_is_under_way_counts_as_a_visit_without_a_gain(
    parent_o: int, o: int, bonus: float
) -> None:
    one, other = action(under_way=o, edge=Edge(0.0)), action("b", under_way=parent_o)
    assert upper_bound(state(one, other, n=3), one, DEFAULT) == pytest.approx(0.5 * bonus)


@pytest.mark.parametrize(
    ("samples", "n", "open_child", "expected"),
    [
        (0, 0, False, True),
        (1, 1, True, True),  # 1 < 1 + sqrt(1)/2
        (2, 2, True, False),  # 2 > 1 + sqrt(2)/2
        (2, 4, True, False),  # 2 = 1 + sqrt(4)/2
        (2, 5, True, True),
        (2, 2, False, True),  # nothing to enter
        (3, 99, True, False),  # m = 3
    ],
)
def test_the_sample_rule(samples: int, n: int, open_child: bool, expected: bool) -> None:
    taken: list[State | None] = [None] * samples
    if open_child:
        taken[-1] = state()
    assert takes_new_sample(action(n=n, samples=taken), 3) is expected


def test_the_best_open_child_is_the_fastest_and_then_the_first() -> None:
    closed, slow, first, second = (
        state(x=9, open=False),
        state(x=1),
        state(x=2),
        state(x=2),
    )
    assert best_child(action(samples=[None, closed, slow, first, second])) is first


def test_selection_goes_down_to_the_next_new_sample() -> None:
    leaf = state(action("c", edge=Edge(0.1)), action("d", edge=Edge(0.9)), x=0.5)
    full = action("b", edge=Edge(2.0), samples=[None, None, leaf], n=3)
    way = select(state(action("a", edge=Edge(0.2)), full, n=3), DEFAULT)
    assert [step.action.technique.name for step in way] == ["b", "d"]
    assert way[0].child is leaf
    assert way[1].child is None


def test_a_rollout_step_is_greedy_with_a_price_on_visits() -> None:
    settings = UcbSettings(epsilon=0, visit_penalty=0.1)
    worn, fresh = Edge(0.5, n=8, total=4.0), Edge(0.0)
    here = state(action("fresh", edge=fresh), action("worn", edge=worn))
    assert value(here.actions[1], settings) == pytest.approx(0.5)
    # 0.5 - 0.1 * 8 = -0.3 < 0
    assert rollout_action(here, settings, random.Random(0)).technique.name == "fresh"


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
