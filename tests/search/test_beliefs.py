"""What is foretold of a step by the graph's counts, and what a run believes after its own steps."""

import math
from dataclasses import replace

import pytest

from regraph_kg.models.graph import EFFECT_SCALE, Successor, Tries
from regraph_kg.search.beliefs import (
    SHRUNK,
    UNKNOWN_GAIN,
    Beliefs,
    BelievedEdge,
    Foretelling,
    Foretold,
    expected_improvement,
)
from tests.search.toy import successor

START = "openmp/start"
MANY = {"tried": 34, "verified": 30, "log2_effects": 30 * math.log2(2.3)}
FEW = {"tried": 2, "verified": 2, "log2_effects": 2 * math.log2(9.57)}


def known(name: str, **counts: float) -> Successor:
    told = {key: int(count) if key != "log2_effects" else count for key, count in counts.items()}
    return successor(name, **told)  # type: ignore[arg-type]


def promises(*followers: Successor) -> dict[str, float]:
    told = Foretelling(followers, followers)
    return {one.technique.name: told.of(one.technique.id).promise for one in followers}


def test_two_large_gains_do_not_lead_thirty_smaller_ones() -> None:
    told = promises(known("few", **FEW), known("many", **MANY))
    assert told["many"] > told["few"] > 0


@pytest.mark.parametrize("tries", [1, 2, 4])
def test_a_million_in_one_try_does_not_lead(tries: int) -> None:
    # a count holds no effect above the target's doublings
    odd = known("odd", tried=tries, verified=tries, log2_effects=4.0 * tries)
    told = promises(odd, known("many", **MANY))
    assert told["many"] > told["odd"]


def test_many_good_tries_lead_as_many_bad_ones() -> None:
    poor = {"tried": 34, "verified": 10, "log2_effects": 10 * math.log2(2.3)}
    slow = {"tried": 34, "verified": 34, "log2_effects": -10.0}
    told = promises(known("slow", **slow), known("poor", **poor), known("many", **MANY))
    assert told["many"] > told["poor"] > told["slow"]


def test_tries_elsewhere_count_half() -> None:
    here = known("a", **MANY)
    there = replace(here, statistics="other-devices")
    near, far = (Foretelling((), (one,)).of("openmp/a") for one in (here, there))
    assert near.tried == 2 * far.tried
    assert near.gain > far.gain > UNKNOWN_GAIN


def test_codes_alike_tell_more_than_others() -> None:
    plain = known("a", **MANY), known("b", **MANY)
    alike = replace(plain[1], alike=Tries(6, 6, 12 * EFFECT_SCALE))
    told = Foretelling(plain, (plain[0], alike))
    assert told.of("openmp/b").gain > told.of("openmp/a").gain
    assert told.of("openmp/b").chosen == 1.0 > told.of("openmp/a").chosen


def test_what_was_seen_after_other_techniques_alone_is_foretold_and_seldom_chosen() -> None:
    follows, other, unknown = known("a", **MANY), known("b", **MANY), known("c")
    told = Foretelling((follows, other, unknown), (follows,))
    assert told.of("openmp/c").gain < told.of("openmp/b").gain
    assert told.of("openmp/b").promise < told.of("openmp/a").promise
    assert told.of("openmp/a").tried == 34
    assert told.of("openmp/b").tried == 0


def test_an_empty_graph_foretells_the_same_of_all() -> None:
    told = Foretelling((), ())
    assert told.of("openmp/a") == told.of("openmp/b")
    assert told.of("openmp/a").gain == pytest.approx(UNKNOWN_GAIN)
    assert told.of("openmp/a").passes == pytest.approx(0.5)


def test_means_are_drawn_by_the_same_number_of_tries() -> None:
    told = Foretold(0.5, 0.0).drawn_to((SHRUNK, SHRUNK, 2 * SHRUNK), 2 * SHRUNK)
    assert (told.passes, told.gain) == (0.75, 1.0)


def edge(source: str = START, *, to: str = "a", tried: float = 0.0) -> BelievedEdge:
    return BelievedEdge(source, f"openmp/{to}", Foretold(0.9, 0.5, tried=tried))


def test_a_gain_of_this_run_weighs_as_what_was_foretold() -> None:
    beliefs, one = Beliefs(), edge(tried=8)
    before = beliefs.outlook(one)
    beliefs.learn(one, 3.0)
    after = beliefs.outlook(one)
    surprise = (3.0 - before.gain) * (1 / 6 + 1 / 6)
    assert after.gain == pytest.approx((before.gain + surprise + 3.0) / 2)
    even = 2 * (2 + 1) / (4 + 1)  # of two tries, as often as samples of this run pass
    assert after.passes == pytest.approx((even + 8 * 0.9 + 1) / (2 + 8 + 1))


def test_a_surprise_is_believed_of_siblings_and_of_the_same_technique_elsewhere() -> None:
    beliefs = Beliefs()
    one, sibling = edge(), edge(to="b")
    kin, other = edge("openmp/b"), edge("openmp/b", to="c")
    before = beliefs.outlook(other).gain
    beliefs.learn(one, before + 2.0)
    assert beliefs.outlook(sibling).gain == pytest.approx(before + 2.0 / 6)
    assert beliefs.outlook(kin).gain == pytest.approx(before + 2.0 / 6)
    assert beliefs.outlook(other).gain == before


def test_a_failure_lowers_pass_rates_alone_that_of_others_a_little() -> None:
    beliefs, one, other = Beliefs(), edge(), edge("openmp/b", to="b")
    before = beliefs.outlook(one)
    beliefs.fail(one)
    after = beliefs.outlook(one)
    assert beliefs.outlook(other).passes == pytest.approx(2 / 5)
    assert after.passes == pytest.approx(2 * (2 / 5) / 3)
    assert (after.gain, after.spread) == (before.gain, before.spread)


def replayed(name: str, *tries: int, gain: float, **counts: float) -> Successor:
    """A technique whose transforms were replayed so often, on codes alike, and so often right."""
    tried, right = tries
    ruled = Tries(tried, right, round(right * math.log2(gain) * EFFECT_SCALE))
    return replace(known(name, **counts), ruled=ruled, ruled_alike=ruled)


def test_what_a_transform_gained_on_four_codes_alike_leads_two_lucky_tries() -> None:
    ruled, lucky = replayed("ruled", 4, 4, gain=2.5, tried=4, verified=4), known("lucky", **FEW)
    told = Foretelling((ruled, lucky), (ruled, lucky))
    assert told.of("openmp/ruled").promise < told.of("openmp/lucky").promise
    assert told.of("openmp/ruled", ruled=True).promise > told.of("openmp/lucky").promise


def test_a_transform_that_was_wrong_or_gained_nothing_comes_behind_one_that_was_not_replayed() -> (
    None
):
    successors = (
        known("new", **MANY),
        replayed("wrong", 6, 1, gain=2.3, **MANY),
        replayed("idle", 6, 6, gain=1.0, **MANY),
    )
    told = Foretelling(successors, successors)
    new, wrong, idle = (told.of(one.technique.id, ruled=True).promise for one in successors)
    assert new > max(wrong, idle)


def test_how_often_the_asked_model_passed_tells_more_than_others() -> None:
    poor = replace(known("a", **MANY), own=Tries(6, 1, 0))
    told = Foretelling((poor,), (poor,))
    assert told.of("openmp/a").passes < Foretelling((), (known("a", **MANY),)).of("openmp/a").passes
    assert told.of("openmp/a").gain > UNKNOWN_GAIN


def test_a_transforms_failure_says_nothing_of_the_model() -> None:
    beliefs, model = Beliefs(), edge()
    rule = replace(edge(to="b"), ruled=True)
    before = beliefs.outlook(model).passes
    beliefs.fail(rule)
    assert beliefs.outlook(model).passes == before
    assert beliefs.outlook(replace(edge(), ruled=True)).passes < 0.9


def test_the_expected_improvement_of_a_normal() -> None:
    assert expected_improvement(0.0, 1.0) == pytest.approx(1 / math.sqrt(2 * math.pi))
    assert expected_improvement(5.0, 1e-3) == pytest.approx(5.0)
    assert 0 < expected_improvement(-3.0, 1.0) < 1e-3
