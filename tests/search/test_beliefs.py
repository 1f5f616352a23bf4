"""What a run believes of edges: by hand, from the graph's counts and from its own steps."""

import math

import pytest

from regraph_kg.search.beliefs import Beliefs, BelievedEdge, expected_improvement
from tests.search.toy import successor

START = "openmp/start"


def beliefs() -> Beliefs:
    return Beliefs(START, tries=8, weight=2, gain=0.2, spread=0.5, other_devices=0.5)


def edge(
    known: Beliefs, source: str = START, rank: int = 0, *, to: str = "a", **counts: float
) -> BelievedEdge:
    told = {name: int(count) if name != "log2_effects" else count for name, count in counts.items()}
    return known.edge(source, successor(to, **told), rank)  # type: ignore[arg-type]


def test_an_edge_of_which_nothing_is_known() -> None:
    known = beliefs()
    first, third = known.outlook(edge(known)), known.outlook(edge(known, rank=2))
    assert first.passes == 0.5
    assert first.gain == pytest.approx(0.2 + 0.1)
    assert third.gain == pytest.approx(0.2 + 0.1 / 3)
    assert first.spread == pytest.approx((0.5 + 0.3 * 0.3) * math.sqrt(1 + 0.1))


def test_what_the_graph_saw() -> None:
    known = beliefs()
    found = known.outlook(edge(known, tried=4, verified=3, log2_effects=3.0))
    assert found.passes == pytest.approx((1 + 3) / (2 + 4))
    assert found.gain == pytest.approx((0.3 + 3 * math.log(2)) / (1 + 3))


def test_of_many_tries_so_many_count_as_the_settings_say() -> None:
    known = beliefs()
    found = edge(known, tried=80, verified=40, log2_effects=40.0)
    assert (found.tried, found.passed) == (8, 4)
    assert found.gains == pytest.approx(4 * math.log(2))


def test_a_gain_of_this_run_weighs_as_one() -> None:
    known = beliefs()
    one = edge(known, tried=8, verified=8, log2_effects=8.0)
    before = known.outlook(one).gain
    known.learn(one, 3.0)
    after = known.outlook(one)
    # two of the graph's gains, drawn up by a share of the surprise, and one of the run
    surprise = (3.0 - before) * (1 / 7 + 1 / 5)
    assert after.gain == pytest.approx((2 * (before + surprise) + 3.0) / 3)
    even = 2 * (2 + 1) / (4 + 1)  # of two tries, as often as samples of this run pass
    assert after.passes == pytest.approx((even + 8 + 1) / (2 + 8 + 1))
    assert after.spread < (0.5 + 0.3 * after.gain) * math.sqrt(1 / 2 + 0.1)


def test_a_surprise_is_believed_of_siblings_and_of_the_same_technique_elsewhere() -> None:
    known = beliefs()
    one, sibling = edge(known), edge(known, to="b")
    kin, other = edge(known, source="openmp/b"), edge(known, source="openmp/b", to="c")
    before = known.outlook(other).gain
    known.learn(one, before + 2.0)
    assert known.outlook(sibling).gain == pytest.approx(before + 2.0 / 7)
    assert known.outlook(kin).gain == pytest.approx(before + 2.0 / 5)
    assert known.outlook(other).gain == before


def test_later_steps_teach_all_later_steps_what_to_expect_and_how_surely() -> None:
    known = beliefs()
    one, other = edge(known, source="openmp/a"), edge(known, source="openmp/b", to="b")
    before = known.outlook(other)
    known.learn(one, before.gain + 1.0)
    after = known.outlook(other)
    assert after.gain == pytest.approx(before.gain + 1 / 5)
    variance = (4 * 0.25 + 1) / 5
    assert after.spread == pytest.approx((math.sqrt(variance) + 0.3 * after.gain) * math.sqrt(1.1))


def test_a_failure_lowers_pass_rates_alone_that_of_others_a_little() -> None:
    known = beliefs()
    one, other = edge(known), edge(known, source="openmp/b", to="b")
    before = known.outlook(one)
    known.fail(one)
    after = known.outlook(one)
    assert known.outlook(other).passes == pytest.approx(2 / 5)
    assert after.passes == pytest.approx(2 * (2 / 5) / 3)
    assert (after.gain, after.spread) == (before.gain, before.spread)


def test_the_expected_improvement_of_a_normal() -> None:
    assert expected_improvement(0.0, 1.0) == pytest.approx(1 / math.sqrt(2 * math.pi))
    assert expected_improvement(5.0, 1e-3) == pytest.approx(5.0)
    assert expected_improvement(-0.5, 0.0) == 0.0
    assert expected_improvement(0.5, 0.0) == 0.5
    assert 0 < expected_improvement(-3.0, 1.0) < 1e-3
