"""The graph that the method's published implementation saves, as trajectories.

It holds techniques as nodes, and on each edge examples of one step: the code before and after, and
why. The steps of one kernel follow each other where the code after one is the code before the next,
at the technique that the one leads to. Effects are not in it. Other programs' graphs of nodes and
edges are read likewise, as far as they have these fields, under these or some other usual names.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from regraph_kg.models.target import Target

SIGNS: dict[str, Target] = {"__global__": "cuda", "<<<": "cuda", "#pragma omp": "openmp"}


@dataclass(frozen=True, slots=True)
class Unread:
    """A part of a document that is no step, by its place, and the reason."""

    number: int
    reason: str


# a field under any of its names, the published graph's first
NODES, EDGES = ("node", "nodes", "vertices"), ("edge", "edges", "links")
KEY, LABEL = ("index", "id", "key"), ("name", "label", "method", "technique", "title")
SOURCE, TARGET = ("src", "source", "from"), ("tgt", "target", "to")
EXAMPLES = ("examples", "steps", "example")
PROBLEM = ("name", "kernel", "problem", "task_id")
BEFORE = ("before", "before_code", "code_before", "old")
AFTER = ("after", "after_code", "code_after", "code", "new")
MOST_STEPS = 100  # of a trajectory
WHY, WHAT = ("think", "reasoning", "reason"), ("detail", "details", "description")


def is_graph(found: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(found, dict) and not found.keys().isdisjoint(NODES) and "schema" not in found


def _of(part: Mapping[str, Any], names: tuple[str, ...], default: Any = None) -> Any:
    """The first field of these names that is not empty."""
    return next((part[name] for name in names if part.get(name) not in (None, "", [])), default)


@dataclass(eq=False, slots=True)
class _Example:
    """One step: an example of an edge."""

    number: int  # its place in the file, from 1
    place: str
    problem: str
    source: str
    target: str
    before: str
    step: dict[str, str]
    previous: "_Example | None" = field(default=None, repr=False)


def trajectories(graph: Mapping[str, Any]) -> Iterator[bytes | Unread]:
    """Each way through the graph that the examples of one kernel took, and what is left out."""
    examples = list[_Example]()
    for one in _examples(graph):
        if isinstance(one, Unread):
            yield one
        else:
            examples.append(one)
    kinds = {_kind(one.step["code"]) for one in examples}
    target = next((kind for kind in SIGNS.values() if kind in kinds), None)  # CUDA where some are
    if target is None:
        yield Unread(1, "a graph of nodes and edges: " + _lack(graph, examples))
        return
    for way in _ways(examples):
        first, last = way[0], way[-1]
        if len(way) > MOST_STEPS:
            yield Unread(last.number, f"{last.place}: more than {MOST_STEPS} steps lead to it")
            continue
        if first.previous is not None:
            yield Unread(last.number, f"{last.place}: its steps go round in a circle")
        elif _kind(first.before) == target:
            yield Unread(last.number, f"{first.place}: the step before it is not in the file")
        else:
            line = {"schema": 1, "target": target, "problem": first.problem}
            steps = [one.step for one in way]
            yield json.dumps(line | {"serial": first.before, "steps": steps}).encode()


def _ways(examples: list[_Example]) -> Iterator[list[_Example]]:
    """The steps of each kernel in their order, up to each one that nothing follows."""
    by_end: dict[tuple[str, str, str], _Example] = {}
    for one in examples:
        by_end.setdefault((one.problem, one.target, one.step["code"]), one)
    for one in examples:
        found = by_end.get((one.problem, one.source, one.before))
        one.previous = found if found is not one else None
    inner = {id(one.previous) for one in examples}
    told = set[int]()
    # first those with an end; what is then left goes round in a circle
    for last in sorted(examples, key=lambda one: id(one) in inner):
        if id(last) in told:
            continue
        way, seen = [last], {id(last)}
        # ways share their first steps, so that long ones would fill the memory
        while (before := way[-1].previous) and id(before) not in seen and len(way) <= MOST_STEPS:
            way.append(before)
            seen.add(id(before))
        told |= seen
        yield way[::-1]


def _examples(graph: Mapping[str, Any]) -> Iterator[_Example | Unread]:
    nodes = _of(graph, NODES, [])
    named = nodes.items() if isinstance(nodes, dict) else enumerate(_list(nodes))
    parts = ((key, node if isinstance(node, dict) else {"name": node}) for key, node in named)
    names = {str(_of(node, KEY, key)): str(_of(node, LABEL + KEY, key)) for key, node in parts}
    edges = [edge for edge in _list(_of(graph, EDGES, [])) if isinstance(edge, dict)]
    given = ((at, e, one) for at, e in enumerate(edges) for one in _list(_of(e, EXAMPLES, [])))
    for number, (at, edge, example) in enumerate(given, 1):
        one = example if isinstance(example, dict) else {}
        source, target = str(_of(edge, SOURCE, "")), str(_of(edge, TARGET, ""))
        texts = [_of(one, names, "") for names in (BEFORE, AFTER, WHY, WHAT)]
        before, code, why, what = (text if isinstance(text, str) else "" for text in texts)
        lacks = [f'"{name}"' for name, text in (("before", before), ("after", code)) if not text]
        # a node may be called by its name, but no number without a node is one
        if target not in names and (not target or target.isdecimal()):
            lacks.append('a node for "tgt"')
        place = f"edge {at} ({source} to {target}), example {number}"
        if lacks:
            yield Unread(number, f"{place}: lacks {' and '.join(lacks)}")
        else:
            step = {"label": names.get(target, target), "code": code, "reasoning": why}
            problem = str(_of(one, PROBLEM, "unnamed"))
            yield _Example(number, place, problem, source, target, before, step | {"detail": what})


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _kind(code: str) -> Target | None:
    return next((target for sign, target in SIGNS.items() if sign in code), None)


def _lack(graph: Mapping[str, Any], examples: list[_Example]) -> str:
    if examples:
        return "the codes of its steps are neither CUDA nor OpenMP"
    if not _of(graph, EDGES):
        return 'it lacks "edge", and with it the steps'
    return 'its edges lack "examples", each with "before" and "after"'
