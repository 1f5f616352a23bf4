"""What each control keeps of a graph, and what it takes away."""

from collections import Counter
from dataclasses import replace

import pytest

from regraph_kg.bench.null_graphs import shown
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
    def whole(source: str, target: str) -> tuple[str, ...]:
        return (f"{source}>{target}",)

    world = Toy(GRAPH, lambda _: None, successors=KNOWN).world
    return replace(world, failures=whole)  # type: ignore[arg-type]


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


def degrees(found: dict[Edge, Successor]) -> tuple[Counter[str], Counter[str]]:
    return Counter(source for source, _ in found), Counter(target for _, target in found)


def known(one: Successor) -> tuple[int, int, int]:
    return one.tried, one.verified, one.sum_log2_effect


def test_the_whole_graph_is_the_graph_itself() -> None:
    world = toy()
    assert shown(world, "whole", START, "0") is world


def test_names_keep_what_follows_what_and_nothing_else() -> None:
    world = shown(toy(), "names", START, "0")
    found = edges(world)
    assert found.keys() == edges(toy()).keys()
    assert {known(one) for one in found.values()} == {(0, 0, 0)}
    assert {one.statistics for one in found.values()} == {"none"}
    assert world.examples(START, "openmp/a") == ()
    assert world.nearest("code") == ()
    assert world.failures(START, "openmp/a") == ()


@pytest.mark.parametrize("graph", ["names", "none"])
def test_where_nothing_is_known_the_order_is_drawn(graph: GraphShown) -> None:
    worlds = [shown(toy(), graph, START, str(lot)) for lot in range(20)]
    first = {world.neighbours("openmp/b").successors[0].technique.id for world in worlds}
    assert {"openmp/a", "openmp/e"} <= first


def test_without_a_graph_every_technique_follows_every_other_one() -> None:
    world = shown(toy(), "none", START, "0")
    for name in ("start", *NAMES):
        followers = {one.technique.id for one in world.neighbours(f"openmp/{name}").successors}
        assert followers == {f"openmp/{other}" for other in NAMES if other != name}


def test_shuffled_statistics_are_the_same_ones_on_other_edges() -> None:
    was, found = edges(toy()), edges(shown(toy(), "shuffled-statistics", START, "1"))
    assert found.keys() == was.keys()
    assert Counter(map(known, found.values())) == Counter(map(known, was.values()))
    assert any(known(found[edge]) != known(was[edge]) for edge in was)
    world = shown(toy(), "shuffled-statistics", START, "1")
    assert world.failures(START, "openmp/a") == (f"{START}>openmp/a",)  # type: ignore[comparison-overlap]


@pytest.mark.parametrize("seed", range(20))
def test_a_shuffled_structure_keeps_degrees_and_what_is_known_of_techniques(seed: int) -> None:
    was, world = edges(toy()), shown(toy(), "shuffled-structure", START, str(seed))
    found = {
        (source, one.technique.id): one
        for source in ("openmp/start", *(f"openmp/{name}" for name in NAMES))
        for one in world.neighbours(source).successors
    }
    assert degrees(found) == degrees(was)
    assert len(found) == len(was)
    assert all(source != target for source, target in found)
    for (_, target), one in found.items():
        assert known(one) == known(KNOWN[target.removeprefix("openmp/")])


def test_an_edge_of_a_shuffled_structure_tells_what_was_seen_before_its_technique() -> None:
    was = edges(toy())
    for seed in range(20):
        world = shown(toy(), "shuffled-structure", START, str(seed))
        seen = set()
        for source in ("openmp/start", *(f"openmp/{name}" for name in NAMES)):
            for one in world.neighbours(source).successors:
                (example,) = world.examples(source, one.technique.id)
                assert example.target == one.technique.id
                assert (example.source, example.target) in was
                assert world.failures(source, one.technique.id) == (
                    f"{example.source}>{example.target}",  # type: ignore[comparison-overlap]
                )
                seen.add((example.source, example.target))
        assert seen == was.keys()  # each edge's examples stand at one edge


def test_a_shuffled_structure_shares_few_edges_with_the_graph() -> None:
    was = edges(toy()).keys()
    for seed in range(20):
        found = edges(shown(toy(), "shuffled-structure", START, str(seed))).keys()
        assert len(found & was) <= len(was) / 3


def test_structures_that_are_drawn_are_others() -> None:
    was = edges(toy()).keys()
    drawn = [
        edges(shown(toy(), "shuffled-structure", START, str(seed))).keys() for seed in range(20)
    ]
    assert sum(one != was for one in drawn) >= 18
    assert len({frozenset(one) for one in drawn}) >= 4


@pytest.mark.parametrize("graph", ["shuffled-statistics", "shuffled-structure"])
def test_the_same_seed_draws_the_same_graph(graph: GraphShown) -> None:
    one, other = (edges(shown(toy(), graph, START, "7")) for _ in range(2))
    assert one == other


@pytest.mark.parametrize("graph", ["names", "none", "shuffled-statistics", "shuffled-structure"])
def test_a_graph_without_an_edge_stays_one(graph: GraphShown) -> None:
    world = shown(Toy({}, lambda _: None).world, graph, START, "0")
    assert world.neighbours(START).successors == ()


def test_what_is_known_of_techniques_is_taken_away_as_what_is_known_of_edges() -> None:
    pooled = tuple(KNOWN.values())
    world = replace(toy(), pooled=lambda: pooled)
    for graph in ("names", "none"):
        found = shown(world, graph, START, "0").pooled()  # type: ignore[arg-type]
        assert [one.technique for one in found] == [one.technique for one in pooled]
        assert {(known(one), one.examples) for one in found} == {((0, 0, 0), 0)}
    dealt = shown(world, "shuffled-statistics", START, "0").pooled()
    assert [one.technique for one in dealt] == [one.technique for one in pooled]
    assert sorted(map(known, dealt)) == sorted(map(known, pooled))
    assert dealt != pooled
    assert shown(world, "shuffled-structure", START, "0").pooled() == pooled
