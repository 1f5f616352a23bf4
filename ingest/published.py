"""The graph that the method's published implementation saves, as trajectories.

It holds techniques as nodes, and on each edge examples of one step: the code before and after, and
why. The steps of one kernel follow each other where the code after one is the code before the next,
at the technique that the one leads to. Effects are not in it. Other programs' graphs of nodes and
edges are read likewise, as far as they have these fields, under these or some other usual names.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from regraph_kg.models.target import Target

SIGNS: dict[str, Target] = {"__global__": "cuda", "<<<": "cuda", "#pragma omp": "openmp"}


@dataclass(frozen=True, slots=True)
class Unread:
    """A part of a document that is no step, by its place, and the reason."""

    number: int
    reason: str


@dataclass(frozen=True, slots=True)
class Field:
    """A field under any of its names; the first is that of the published graph."""

    names: tuple[str, ...]

    def of(self, part: Mapping[str, Any], default: Any = None) -> Any:
        """Its value; `default` where it is missing or empty."""
        found = (part[name] for name in self.names if part.get(name) not in (None, "", [], {}))
        return next(found, default)


@dataclass(frozen=True, slots=True)
class _Graph:
    nodes: Field = Field(("node", "nodes", "vertices"))
    edges: Field = Field(("edge", "edges", "links"))

    def holds(self, found: Mapping[str, Any]) -> bool:
        """Whether an object is such a graph."""
        return bool(self.nodes.of(found)) and "schema" not in found and "steps" not in found


GRAPH = _Graph()
KEY, LABEL = Field(("index", "id", "key")), Field(("name", "label", "method", "technique", "title"))
SOURCE, TARGET = Field(("src", "source", "from")), Field(("tgt", "target", "to"))
EXAMPLES = Field(("examples", "steps", "example"))
PROBLEM = Field(("name", "kernel", "problem", "task_id"))
BEFORE = Field(("before", "before_code", "code_before", "old"))
AFTER = Field(("after", "after_code", "code_after", "code", "new"))
WHY, WHAT = Field(("think", "reasoning", "reason")), Field(("detail", "details", "description"))


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
    target = _target(examples)
    if target is None:
        yield Unread(1, "a graph of nodes and edges: " + _lack(graph, examples))
        return
    for way in _ways(examples):
        first, last = way[0], way[-1]
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
        while (before := way[-1].previous) is not None and id(before) not in seen:
            way.append(before)
            seen.add(id(before))
        told |= seen
        yield way[::-1]


def _examples(graph: Mapping[str, Any]) -> Iterator[_Example | Unread]:
    names = dict(_names(GRAPH.nodes.of(graph, [])))
    number = 0
    for at, edge in enumerate(GRAPH.edges.of(graph, [])):
        if not isinstance(edge, dict):
            continue
        source, target = str(SOURCE.of(edge, 0)), str(TARGET.of(edge, 0))
        given = EXAMPLES.of(edge, [])
        for count, one in enumerate(given if isinstance(given, list) else [given], 1):
            number += 1
            place = f"edge {at} ({source} -> {target}), example {count}"
            if not isinstance(one, dict):
                yield Unread(number, f"{place}: is no object")
                continue
            before, code = (each.of(one) for each in (BEFORE, AFTER))
            lacks = [
                f'"{each.names[0]}"'
                for each, text in ((BEFORE, before), (AFTER, code))
                if not isinstance(text, str)
            ]
            if target not in names and target.isdecimal():
                lacks.append("a node for its end")
            if lacks:
                yield Unread(number, f"{place}: lacks {' and '.join(lacks)}")
                continue
            step = {"label": names.get(target, target), "code": code}
            notes = {"reasoning": WHY.of(one, ""), "detail": WHAT.of(one, "")}
            step |= {name: note for name, note in notes.items() if isinstance(note, str)}
            problem = str(PROBLEM.of(one, "unnamed"))
            yield _Example(number, place, problem, source, target, before, step)


def _names(nodes: Any) -> Iterator[tuple[str, str]]:
    """The nodes' names by what edges call them."""
    pairs = nodes.items() if isinstance(nodes, dict) else enumerate(nodes)
    for place, node in pairs:
        inner = node if isinstance(node, dict) else {"name": node}
        key = str(KEY.of(inner, place))
        yield key, str(LABEL.of(inner, key))


def _kind(code: str) -> Target | None:
    return next((target for sign, target in SIGNS.items() if sign in code), None)


def _target(examples: list[_Example]) -> Target | None:
    """The target of the codes; CUDA where some are."""
    kinds = {_kind(one.step["code"]) for one in examples}
    return next((target for target in ("cuda", "openmp") if target in kinds), None)


def _lack(graph: Mapping[str, Any], examples: list[_Example]) -> str:
    if examples:
        return "the codes of its steps are neither CUDA nor OpenMP"
    if not GRAPH.edges.of(graph):
        return 'it lacks "edge", and with it the steps'
    return 'its edges lack "examples", each with "before" and "after"'
