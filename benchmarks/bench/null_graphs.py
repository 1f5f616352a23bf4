"""The graph as a search is shown it: whole, or with a part of what it knows taken away.

A method that gains as much with a part taken away does not gain by that part. "none" lets every
technique follow every other one, in an order drawn at random. "shuffled-statistics" permutes what
is known of the edges, "shuffled-transforms" which technique carries out what: the same rewrites
are there, under other techniques' names. The first two are made of the techniques that a walk over
the whole graph could reach, 32 successors of each at most.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from regraph_kg.models.graph import Neighbourhood, Successor, Tries
from regraph_kg.models.run import GraphShown
from regraph_kg.models.technique import Technique
from regraph_kg.search.world import World


def shown(world: World, graph: GraphShown, start: str, lot: str) -> World:
    """`world` with another graph; `start` is where walks begin, `lot` decides what is drawn."""
    if graph == "whole":
        return world
    rng = random.Random(f"{lot} {start}")
    if graph == "shuffled-transforms":
        return replace(world, transforms=cache(lambda: _redealt(world.transforms(), rng)))
    if graph == "shuffled-statistics":
        dealt = cache(lambda: _dealt(_reachable(world.neighbours, start), rng))
        return replace(
            world,
            neighbours=lambda technique: Neighbourhood(technique, dealt().get(technique, ())),
            pooled=lambda: _shuffled(world.pooled(), random.Random(f"{lot} {start} pooled")),
        )

    @cache
    def techniques() -> tuple[Successor, ...]:
        found = {one.technique.id: one for one in _all(_reachable(world.neighbours, start))}
        bare = [_nothing(one.technique) for one in found.values()]
        return tuple(rng.sample(bare, len(bare)))

    def every(technique: str) -> Neighbourhood:
        others = tuple(one for one in techniques() if one.technique.id != technique)
        return Neighbourhood(technique, others)

    return replace(
        world,
        neighbours=every,
        pooled=lambda: tuple(_nothing(successor.technique) for successor in world.pooled()),
    )


_Graph = dict[str, tuple[Successor, ...]]  # successors by the technique they follow


def _reachable(neighbours: Callable[[str], Neighbourhood], start: str) -> _Graph:
    found, waiting = _Graph(), [start]
    while waiting:
        source = waiting.pop(0)
        found[source] = neighbours(source).successors
        waiting += [
            one.technique.id
            for one in found[source]
            if one.technique.id not in found and one.technique.id not in waiting
        ]
    return found


def _all(graph: _Graph) -> Iterator[Successor]:
    for successors in graph.values():
        yield from successors


def _redealt(
    transforms: Mapping[str, tuple[str, ...]], rng: random.Random
) -> dict[str, tuple[str, ...]]:
    """The same transforms, each technique with those of another one (none keeps its own)."""
    names = sorted(transforms)
    order = rng.sample(names, len(names))  # one cycle through all, so nobody is its own successor
    return {
        name: transforms[after] for name, after in zip(order, [*order[1:], *order[:1]], strict=True)
    }


def _nothing(technique: Technique) -> Successor:
    """A successor of which nothing is known."""
    return Successor(technique, 0, Tries(), "none")


def _dealt(graph: _Graph, rng: random.Random) -> _Graph:
    """The same edges, each with what is known of one of them; most examples first."""
    dealt = iter(_shuffled([*_all(graph)], rng))
    # a store lists the best known first, so the order must follow what was dealt
    return {
        source: tuple(
            sorted(
                (next(dealt) for _ in successors), key=lambda one: (-one.examples, one.technique.id)
            )
        )
        for source, successors in graph.items()
    }


def _shuffled(known: Sequence[Successor], rng: random.Random) -> tuple[Successor, ...]:
    """The same techniques, each with what is known of one of them."""
    return tuple(
        replace(statistics, technique=one.technique)
        for one, statistics in zip(known, rng.sample(known, len(known)), strict=True)
    )
