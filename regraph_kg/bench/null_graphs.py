"""The graph as a search is shown it: whole, or with a part of what it knows taken away.

A method that gains as much with a part taken away does not gain by that part. "names" keeps which
technique follows which, and says nothing else; "none" lets every technique follow every other one;
both list them in an order drawn at random. "shuffled-statistics" permutes the statistics of the
edges; "shuffled-structure" keeps each technique's statistics and its numbers of edges in and out,
and draws other edges, with as few of the graph's own as possible. Each is made of the techniques
that a walk over the whole graph could reach, 32 successors of each at most. Effects within the
examples' own texts stay.
"""

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from typing import Any

from regraph_kg.models.graph import Neighbourhood, Successor
from regraph_kg.models.run import GraphShown
from regraph_kg.models.technique import Technique
from regraph_kg.search.world import World

# Attempts to swap the ends of two edges, for each edge.
SWAPS = 100

_KNOWN = tuple(field.name for field in fields(Successor) if field.name != "technique")


@dataclass(frozen=True, slots=True)
class _Edge:
    """An edge as it is shown, and after which technique its examples were seen."""

    source: str
    seen_after: str
    successor: Successor

    @property
    def target(self) -> str:
        return self.successor.technique.id


def shown(world: World, graph: GraphShown, start: str, lot: str) -> World:
    """`world` with another graph; `start` is where walks begin, `lot` decides what is drawn."""
    if graph == "whole":
        return world
    rng = random.Random(f"{lot} {start}")

    @cache
    def edges() -> tuple[_Edge, ...]:
        return tuple(_reachable(world.neighbours, start))

    if graph == "shuffled-statistics":
        dealt = partial(_dealt_out, world.pooled, random.Random(f"{lot} {start} pooled"))
        return replace(world, neighbours=_read(lambda: _dealt(edges(), rng)), pooled=dealt)
    if graph == "shuffled-structure":
        return _rewired_world(world, cache(lambda: _rewired(edges(), rng)))
    named = _named(edges, rng) if graph == "names" else _every(edges, rng)
    return replace(
        world,
        neighbours=named,
        examples=lambda *_: (),
        nearest=lambda _: (),
        failures=lambda *_: (),
        pooled=lambda: tuple(_nothing(successor.technique) for successor in world.pooled()),
    )


def _reachable(neighbours: Callable[[str], Neighbourhood], start: str) -> Iterable[_Edge]:
    reached, waiting = {start}, [start]
    while waiting:
        source = waiting.pop(0)
        for successor in neighbours(source).successors:
            yield _Edge(source, source, successor)
            target = successor.technique.id
            if target not in reached:
                reached.add(target)
                waiting.append(target)


def _read(edges: Callable[[], Iterable[_Edge]]) -> Callable[[str], Neighbourhood]:
    """A neighbourhood reader like a store's, most examples first."""

    @cache
    def following() -> Mapping[str, tuple[Successor, ...]]:
        successors: dict[str, list[Successor]] = {}
        for edge in edges():
            successors.setdefault(edge.source, []).append(edge.successor)
        return {source: _ordered(several) for source, several in successors.items()}

    return lambda technique: Neighbourhood(technique, following().get(technique, ()))


def _ordered(successors: Iterable[Successor]) -> tuple[Successor, ...]:
    return tuple(
        sorted(successors, key=lambda successor: (-successor.examples, successor.technique.id))
    )


def _unknown(edge: _Edge) -> _Edge:
    """The edge without what is known of it."""
    return replace(edge, successor=_nothing(edge.successor.technique))


def _nothing(technique: Technique) -> Successor:
    return Successor(technique, 0, 0, 0, 0, "none")


def _named(
    edges: Callable[[], tuple[_Edge, ...]], rng: random.Random
) -> Callable[[str], Neighbourhood]:
    """A neighbourhood reader of bare edges."""

    @cache
    def following() -> Mapping[str, list[Successor]]:
        successors: dict[str, list[Successor]] = {}
        for edge in rng.sample(edges(), len(edges())):
            successors.setdefault(edge.source, []).append(_unknown(edge).successor)
        return successors

    return lambda technique: Neighbourhood(technique, tuple(following().get(technique, ())))


def _every(
    edges: Callable[[], tuple[_Edge, ...]], rng: random.Random
) -> Callable[[str], Neighbourhood]:
    """Every technique follows every other one."""

    @cache
    def techniques() -> list[Successor]:
        successors = {edge.target: _unknown(edge).successor for edge in edges()}
        return rng.sample(list(successors.values()), len(successors))

    def neighbours(technique: str) -> Neighbourhood:
        rest = (successor for successor in techniques() if successor.technique.id != technique)
        return Neighbourhood(technique, tuple(rest))

    return neighbours


def _dealt(edges: tuple[_Edge, ...], rng: random.Random) -> Iterable[_Edge]:
    """The same edges, each with what is known of one of them."""
    statistics: list[dict[str, Any]] = [
        {name: getattr(edge.successor, name) for name in _KNOWN} for edge in edges
    ]
    rng.shuffle(statistics)
    for edge, values in zip(edges, statistics, strict=True):
        yield replace(edge, successor=replace(edge.successor, **values))


def _dealt_out(
    pooled: Callable[[], tuple[Successor, ...]], rng: random.Random
) -> tuple[Successor, ...]:
    """The same techniques, each with what is known of one of them."""
    pool = pooled()
    return tuple(
        replace(statistics, technique=successor.technique)
        for successor, statistics in zip(pool, rng.sample(pool, len(pool)), strict=True)
    )


def _rewired(edges: tuple[_Edge, ...], rng: random.Random) -> tuple[_Edge, ...]:
    """The ends of edges swapped two by two, never into an edge that the graph has.

    No edge comes twice, none leads to its own source.
    """
    drawn = list(edges)
    graph = {(edge.source, edge.target) for edge in drawn}
    pairs = graph
    for _ in range(SWAPS * len(drawn) if len(drawn) > 1 else 0):
        i, j = rng.sample(range(len(drawn)), 2)
        first, second = drawn[i], drawn[j]
        new = {(first.source, second.target), (second.source, first.target)}
        loops = any(source == target for source, target in new)
        if loops or new & (pairs | graph) or first.source == second.source:
            continue
        pairs = pairs - {(first.source, first.target), (second.source, second.target)} | new
        drawn[i] = replace(second, source=first.source)
        drawn[j] = replace(first, source=second.source)
    return tuple(drawn)


def _rewired_world(world: World, edges: Callable[[], tuple[_Edge, ...]]) -> World:
    """A world of the new edges, whose examples and failures stay with their techniques."""

    @cache
    def seen_after() -> Mapping[tuple[str, str], str]:
        return {(edge.source, edge.target): edge.seen_after for edge in edges()}

    def before(source: str, target: str) -> str:
        return seen_after().get((source, target), source)

    return replace(
        world,
        neighbours=_read(edges),
        examples=lambda source, target, code="": world.examples(
            before(source, target), target, code
        ),
        failures=lambda source, target: world.failures(before(source, target), target),
    )
