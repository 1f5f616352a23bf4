"""What each control keeps of a graph, and what it takes away."""

from collections import Counter
from dataclasses import astuple, replace

import pytest

from benchmarks.bench.null_graphs import shown
from regraph_kg.models.graph import Successor
from regraph_kg.models.run import GraphShown
from regraph_kg.search.world import World
from tests.search.toy import Toy, successor

NAMES = ("a", "b", "c", "d", "e", "f")
GRAPH = {"start": ["a", "b", "c"], "a": ["b", "d"], "b": ["e", "a"], "c": ["f"], "d": ["c", "e"]}
KNOWN = {
    name: successor(name, tried=tried + 1, verified=tried, log2_effects=tried / 2)
    for tried, name in enumerate(NAMES)
}
START = "openmp/start"
Edge = tuple[str, str]


def toy() -> World:
    return Toy(GRAPH, lambda _: None, successors=KNOWN).world


def edges(world: World) -> dict[Edge, Successor]:
    """Every edge that a walk can reach."""
    found: dict[Edge, Successor] = {}
    waiting, seen = [START], {START}
    while waiting:
        source = waiting.pop()
        for one in world.neighbours(source).successors:
            found[source, one.technique.id] = one
            if one.technique.id not in seen:
                seen.add(one.technique.id)
                waiting.append(one.technique.id)
    return found


def known(one: Successor) -> tuple[int, ...]:
    return astuple(one.here)


def test_the_whole_graph_is_the_graph_itself() -> None:
    world = toy()
    assert shown(world, "whole", START, "0") is world


def test_where_nothing_is_known_the_order_is_drawn() -> None:
    worlds = [shown(toy(), "none", START, str(lot)) for lot in range(20)]
    first = {world.neighbours("openmp/b").successors[0].technique.id for world in worlds}
    assert {"openmp/a", "openmp/e"} <= first


def test_without_a_graph_every_technique_follows_every_other_one() -> None:
    world = shown(toy(), "none", START, "0")
    for name in ("start", *NAMES):
        followers = {one.technique.id for one in world.neighbours(f"openmp/{name}").successors}
        assert followers == {f"openmp/{other}" for other in NAMES if other != name}
    assert {known(one) for one in edges(world).values()} == {(0, 0, 0)}


def test_shuffled_statistics_are_the_same_ones_on_other_edges() -> None:
    was, found = edges(toy()), edges(shown(toy(), "shuffled-statistics", START, "1"))
    assert found.keys() == was.keys()
    assert Counter(map(known, found.values())) == Counter(map(known, was.values()))
    assert any(known(found[edge]) != known(was[edge]) for edge in was)


def test_the_same_seed_deals_the_same() -> None:
    one, other = (edges(shown(toy(), "shuffled-statistics", START, "7")) for _ in range(2))
    assert one == other


@pytest.mark.parametrize("graph", ["none", "shuffled-statistics"])
def test_a_graph_without_an_edge_stays_one(graph: GraphShown) -> None:
    world = shown(Toy({}, lambda _: None).world, graph, START, "0")
    assert world.neighbours(START).successors == ()


def test_what_is_known_of_techniques_is_taken_away_as_what_is_known_of_edges() -> None:
    pooled = tuple(KNOWN.values())
    world = replace(toy(), pooled=lambda: pooled)
    found = shown(world, "none", START, "0").pooled()
    assert [one.technique for one in found] == [one.technique for one in pooled]
    assert {(known(one), one.examples) for one in found} == {((0, 0, 0), 0)}
    dealt = shown(world, "shuffled-statistics", START, "0").pooled()
    assert [one.technique for one in dealt] == [one.technique for one in pooled]
    assert sorted(map(known, dealt)) == sorted(map(known, pooled))
    assert dealt != pooled


def test_shuffled_transforms_are_the_same_ones_under_other_techniques() -> None:
    own = {f"openmp/{name}": (f"rewrites {name}",) for name in NAMES}
    world = replace(toy(), transforms=lambda: own)
    dealt = shown(world, "shuffled-transforms", START, "0").transforms()
    assert sorted(dealt.values()) == sorted(own.values())
    assert not any(dealt[name] == own[name] for name in own)
