"""The steps of a run that a page shows: the tree they stand in, and their texts from the trace.

A page holds some of a large run's steps: those on the way to the answer first, then what was once
the best, then the fastest, then the rest in their order; a step comes with all before it. Their
texts are fetched in the same order until the page has enough.
"""

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from regraph_kg import report
from regraph_kg.models.evaluation import EvalReport
from regraph_kg.models.prompt import Prompt, PromptKey
from regraph_kg.pages.views import Exchange, Node
from regraph_kg.runs.overview import Overview, TracedStep

MOST_CHARACTERS = 60_000
"""Of one text."""
MOST_FACT = 1_000
"""Characters of a fact."""
MOST_LINES = 2_000
"""Of codes that are compared line by line."""

Way = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PageShare:
    """What a run may take of a page, whose text is to stay within 10 MB."""

    nodes: int = 1_500
    """Of its tree."""
    dots: int = 2_000
    """In a plot."""
    characters: int = 6_000_000
    """Of codes, prompts and answers."""

    def of(self, runs: int) -> "PageShare":
        """The share of one of so many runs."""
        return PageShare(self.nodes // runs, self.dots // runs, self.characters // runs)


@dataclass(frozen=True, slots=True)
class ShownTree:
    """The nodes of a page, and what it leaves out, in words."""

    nodes: tuple[Node, ...]
    left_out: tuple[str, ...]


def steps_shown(
    overview: Overview, serial: str, prompts: Mapping[PromptKey, Prompt], share: PageShare
) -> ShownTree:
    """The tree of a run, as far as its share goes; `serial` may be "": not known."""
    parents = _parents(overview.steps)
    chosen = _chosen(overview, parents, share.nodes)
    nodes, numbers = [_root(serial)], {-1: 0}
    for number in sorted(chosen, key=lambda one: (len(overview.steps[one].path), one)):
        numbers[number] = len(nodes)
        nodes.append(_node(overview, number, parents[number], numbers))
    if overview.best is not None:
        for number in _way(overview.steps.index(overview.best), parents):
            nodes[numbers.get(number, 0)].answer = True
    steps = {numbers[one]: one for one in chosen}
    told = _tell(overview, steps, nodes, prompts, share.characters)
    left_out = []
    if len(chosen) < len(overview.steps):
        left_out.append(f"the tree shows {len(chosen)} of {len(overview.steps)} steps")
    if told < len(chosen):
        left_out.append(f"code and answers of {told} of these steps are in the page")
    return ShownTree(tuple(nodes), tuple(left_out))


def code_of(overview: Overview, step: TracedStep) -> str:
    """The code of a step as a page shows it."""
    return whole_code_of(overview, step)[:MOST_CHARACTERS]


def whole_code_of(overview: Overview, step: TracedStep) -> str:
    """The code of a step, from the trace."""
    with overview.path.open("rb") as file:
        told = _Lines(file).at(step.line)["steps"][step.index]
    return str(told["code"] or "")


def _parents(steps: Sequence[TracedStep]) -> dict[int, int]:
    """Of each step the one whose code it began with; -1 is the serial code."""
    places: dict[Way, int] = {}
    for number, step in enumerate(steps):
        if step.path and step.speedup is not None:
            places.setdefault(step.path, number)
    found = {}
    for number, step in enumerate(steps):
        before = step.path[:-1]
        while before and places.get(before, number) == number:
            before = before[:-1]
        found[number] = places[before] if before else -1
    return found


def _way(number: int, parents: Mapping[int, int]) -> list[int]:
    """A step and all before it, the serial code included."""
    way = [number]
    while way[-1] != -1:
        way.append(parents[way[-1]])
    return way


def _chosen(overview: Overview, parents: Mapping[int, int], most: int) -> list[int]:
    """Numbers of the steps that are shown, the most telling first."""
    numbers = {id(step): number for number, step in enumerate(overview.steps)}
    first = [] if overview.best is None else [numbers[id(overview.best)]]
    first += [numbers[id(step)] for step in reversed(overview.bests)]
    right = [number for number, step in enumerate(overview.steps) if step.speedup is not None]
    right.sort(key=lambda number: -(overview.steps[number].speedup or 0))
    chosen: dict[int, None] = {}
    for number in (*first, *right[: most // 2], *range(len(overview.steps))):
        way = [one for one in _way(number, parents)[:-1] if one not in chosen]
        if len(chosen) + len(way) <= most:
            chosen |= dict.fromkeys(way)
    return list(chosen)


def _root(serial: str) -> Node:
    return Node(0, None, "serial code", "given", True, 1.0, code=serial[:MOST_CHARACTERS])


def _node(overview: Overview, number: int, parent: int, numbers: Mapping[int, int]) -> Node:
    step = overview.steps[number]
    before = 1.0 if parent == -1 else overview.steps[parent].speedup
    gain = step.speedup / before if step.speedup and before else None
    did = {"in fact": step.did.partition("/")[2].replace("-", " ")} if step.did else {}
    return Node(
        len(numbers) - 1,
        numbers[parent],
        step.name,
        "right" if step.speedup is not None else report.ended(step.outcome),
        step.speedup is not None,
        step.speedup,
        gain,
        step.call,
        facts={"technique": step.technique or "the model's own choice", **did},
    )


def _tell(
    overview: Overview,
    steps: Mapping[int, int],
    nodes: Sequence[Node],
    prompts: Mapping[PromptKey, Prompt],
    characters: int,
) -> int:
    """Give nodes their texts, the first of `steps` first; how many came to have them.

    Differences have what codes and answers leave, half of `characters` at least.
    """
    told = 0
    spent = _weight(nodes[0].code)
    with overview.path.open("rb") as file:
        for one, number in steps.items():
            if spent >= characters // 2:
                break
            spent += _tell_one(_Lines(file), overview, overview.steps[number], nodes[one], prompts)
            told += 1
    for one in steps:
        node, before = nodes[one], nodes[nodes[one].parent or 0]
        if node.code and before.code and spent < characters:
            node.diff = _diff(before.code, node.code)
            spent += _weight(node.diff)
    return told


class _Lines:
    """Lines of a trace by where they begin."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def at(self, start: int) -> Any:
        """The value of the line there."""
        return json.loads(self.line(start))["value"]

    def line(self, start: int) -> bytes:
        """The line there."""
        self._file.seek(start)
        return self._file.readline()


def _tell_one(
    lines: _Lines,
    overview: Overview,
    step: TracedStep,
    node: Node,
    prompts: Mapping[PromptKey, Prompt],
) -> int:
    """Give a node its texts; how long they are."""
    told = lines.at(step.line)["steps"][step.index]
    node.code = (told["code"] or "")[:MOST_CHARACTERS]
    node.diagnosis = told["diagnosis"][:MOST_CHARACTERS]
    turns = []
    for start in overview.replies.get(step.place, ()):
        line = json.loads(lines.line(start))
        key = PromptKey.model_validate_json(line["key"])
        asked = prompts[key].user if key in prompts else ""
        answer = line["value"]["text"]
        turns.append(Exchange(asked[:MOST_CHARACTERS], answer[:MOST_CHARACTERS]))
    node.turns = tuple(turns)
    if step.code in overview.reports:
        judged = EvalReport.model_validate(lines.at(overview.reports[step.code]))
        node.facts |= measured(judged)
    again = overview.finals.get(step.code)
    if again is not None and again.speedup is not None:
        node.facts["measured again"] = report.times(again.speedup)
    texts = (node.code, node.diagnosis, *(one.prompt + one.answer for one in turns))
    return sum(map(_weight, texts))


def _weight(text: str) -> int:
    """Characters that a text takes in a page, at most."""
    return len(json.dumps(text)) + len("003c") * text.count("<")


def measured(judged: EvalReport) -> dict[str, str]:
    """How code was timed, in words."""
    facts = {}
    if judged.timing is not None:
        facts["time of a call"] = report.seconds(judged.timing.median)
    if judged.speedup_interval is not None:
        facts["95 % interval"] = report.interval(judged.speedup_interval)
    if judged.account is not None and judged.account.roof is not None:
        facts["roofline"] = report.roofline(judged.account)
    if judged.load:
        facts["not a quiet machine"] = judged.load[:MOST_FACT]
    return facts


def _diff(before: str, after: str) -> str:
    """A unified diff, without its head; "" where the two are alike."""
    old, new = (text.removesuffix("\n").split("\n") for text in (before, after))
    if max(len(old), len(new)) > MOST_LINES:
        return ""
    return "\n".join([*difflib.unified_diff(old, new, lineterm="")][2:])
