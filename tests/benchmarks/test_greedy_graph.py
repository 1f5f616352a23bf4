"""The rival `greedy-graph`: the order in which states and successors are tried, by hand."""

import math

import pytest

from benchmarks.rivals.greedy_graph import Greedy, GreedySettings
from regraph_kg.models.prompt import PromptKey
from regraph_kg.models.run import SimulationRecord
from regraph_kg.search.driver import Driver
from regraph_kg.search.executor import Alone
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.run import context
from tests.search.in_toy import asked
from tests.search.toy import TASK, Graph, Toy, code, fenced, header, names, successor

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


def search(toy: Toy, calls: int, parallel: int = 1) -> list[SimulationRecord]:
    head = header(calls)
    ledger = Ledger(head.limits)
    method = Greedy(context(TASK, head, toy.world, ledger), PLAIN)
    return list(Driver(method, Alone(toy.world), ledger, parallel).run())


def test_the_order_of_tries_by_hand() -> None:
    toy = speedups(a=1.9, b=1.6, b_c="crashed", b_a=1.5, c=1.2, c_a=1.3)
    records = search(toy, 11)
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


def test_a_slower_state_is_extended_after_the_serial_code() -> None:
    toy = speedups({"start": ["a"], "a": ["b"]}, a=0.5, a_b=0.6)
    search(toy, 5)
    assert [path for path, _, _ in asked(toy)] == ["a", "a", "a > b", "a > b", "a#1 > b"]


def test_what_is_under_way_counts_as_tried() -> None:
    toy = speedups(a=1.9, b=1.6, c=1.2, b_c=1.0)
    search(toy, 3, parallel=3)
    assert [path for path, _, _ in asked(toy)] == ["b", "c", "a"]
