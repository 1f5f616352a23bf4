"""The steps of a run on a page: their tree and their texts.

A page holds some of a large run's steps: those on the way to the answer first, then former
bests, then the fastest, then the rest in their order; a step comes with all before it. Their
texts come in the same order until the page has enough.
"""

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from regraph_kg.models.evaluation import EvalReport, code_hash
from regraph_kg.models.run import StepRecord
from regraph_kg.models.text import seconds, times
from regraph_kg.pages.views import Exchange, Node
from regraph_kg.search.run_record import RunRecord, TracedStep, place_of

MOST_CHARACTERS = 60_000
"""Characters of one text."""
MOST_FACT = 1_000
"""Characters of a fact."""
MOST_NAME = 200
"""Characters of a technique's name."""
MOST_LINES = 2_000
"""Lines of codes that are compared."""

Way = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PageShare:
    """A run's share of a page, whose text stays within 10 MB."""

    nodes: int = 1_500
    """Nodes of the tree."""
    dots: int = 2_000
    """Dots of a plot."""
    characters: int = 6_000_000
    """Characters of codes, prompts and answers."""

    def of(self, runs: int) -> "PageShare":
        """The share of one of `runs` runs."""
        return PageShare(self.nodes // runs, self.dots // runs, self.characters // runs)


@dataclass(frozen=True, slots=True)
class ShownTree:
    """The nodes of a page, and what it leaves out, in words."""

    nodes: tuple[Node, ...]
    left_out: tuple[str, ...]


def steps_shown(run: RunRecord, serial: str, share: PageShare) -> ShownTree:
    """The tree of a run within its share; `serial` "": not known."""
    parents = _parents(run.steps)
    chosen = _chosen(run, parents, share.nodes)
    root = Node(0, None, "serial code", "given", True, 1.0, code=serial[:MOST_CHARACTERS])
    nodes, numbers = [root], {-1: 0}
    for number in sorted(chosen, key=lambda step: (len(run.steps[step].step.path), step)):
        numbers[number] = len(nodes)
        nodes.append(_node(run, number, parents[number], numbers))
    if run.best is not None:
        best = next(number for number, traced in enumerate(run.steps) if traced.step is run.best)
        for number in _way(best, parents):
            nodes[numbers.get(number, 0)].answer = True
    told = [(nodes[numbers[step]], step, parents[step]) for step in chosen]
    texts = _tell(run, told, serial, share.characters)
    left_out = []
    if len(chosen) < len(run.steps):
        left_out.append(f"the tree shows {len(chosen)} of {len(run.steps)} steps")
    if texts < len(chosen):
        left_out.append(f"code and answers of {texts} of these steps are in the page")
    return ShownTree(tuple(nodes), tuple(left_out))


def step_name(step: StepRecord) -> str:
    """The technique in words, with the number of a later sample."""
    technique = step.technique or "".join(step.path[-1:])
    words = technique.partition("#")[0].partition("/")[2].replace("-", " ") or "answer"
    return f"{words[:MOST_NAME]} #{step.sample}" if step.sample else words[:MOST_NAME]


def _parents(steps: Sequence[TracedStep]) -> dict[int, int]:
    """Each step's parent, whose code it began with; -1 is the serial code."""
    places: dict[Way, int] = {}
    for number, traced in enumerate(steps):
        if traced.step.path and traced.step.speedup is not None:
            places.setdefault(traced.step.path, number)
    parents = {}
    for number, traced in enumerate(steps):
        before = traced.step.path[:-1]
        while before and places.get(before, number) == number:
            before = before[:-1]
        parents[number] = places[before] if before else -1
    return parents


def _way(number: int, parents: Mapping[int, int]) -> list[int]:
    """A step and its ancestors, the serial code included."""
    way = [number]
    while way[-1] != -1:
        way.append(parents[way[-1]])
    return way


def _chosen(run: RunRecord, parents: Mapping[int, int], most: int) -> list[int]:
    """Numbers of the steps to show, the most important first."""
    numbers = {id(traced.step): number for number, traced in enumerate(run.steps)}
    first = [] if run.best is None else [numbers[id(run.best)]]
    first += [numbers[id(best.step)] for best in reversed(run.bests)]
    speedups = [step.step.speedup for step in run.steps]
    right = [number for number, speedup in enumerate(speedups) if speedup is not None]
    right.sort(key=lambda number: -(speedups[number] or 0))
    chosen: dict[int, None] = {}
    for number in (*first, *right[: most // 2], *range(len(run.steps))):
        way = [step for step in _way(number, parents)[:-1] if step not in chosen]
        if len(chosen) + len(way) <= most:
            chosen |= dict.fromkeys(way)
    return list(chosen)


def _node(run: RunRecord, number: int, parent: int, numbers: Mapping[int, int]) -> Node:
    traced = run.steps[number]
    step = traced.step
    before = 1.0 if parent == -1 else run.steps[parent].step.speedup
    gain = step.speedup / before if step.speedup and before else None
    did = {"in fact": step.did.partition("/")[2].replace("-", " ")} if step.did else {}
    return Node(
        len(numbers) - 1,
        numbers[parent],
        step_name(step),
        "right" if step.speedup is not None or step.outcome is None else step.outcome.words,
        step.speedup is not None,
        step.speedup,
        gain,
        traced.call,
        facts={"technique": step.technique or "the model's own choice", **did},
    )


def _tell(
    run: RunRecord,
    chosen: Sequence[tuple[Node, int, int]],
    serial: str,
    characters: int,
) -> int:
    """Fill the texts of nodes, each with its step and its parent's; return how many were filled.

    It ends where they take `characters` in the page.
    """
    turns: dict[tuple[Way, int], list[Exchange]] = {}
    for key, reply in run.replies:
        prompt = run.prompts[key].user if key in run.prompts else ""
        exchange = Exchange(prompt[:MOST_CHARACTERS], reply.text[:MOST_CHARACTERS])
        turns.setdefault((key.path, key.attempt), []).append(exchange)
    spent = _weight(serial[:MOST_CHARACTERS])
    for count, (node, number, parent) in enumerate(chosen):
        if spent >= characters:
            return count
        step = run.steps[number].step
        before = serial if parent == -1 else run.steps[parent].step.code or ""
        node.turns = tuple(turns.get(place_of(step), ()))
        node.code = (step.code or "")[:MOST_CHARACTERS]
        node.diagnosis = step.diagnosis[:MOST_CHARACTERS]
        node.diff = _diff(before, node.code) if before and node.code else ""
        hash_ = code_hash(step.code or "")
        if hash_ in run.reports:
            node.facts |= measured(run.reports[hash_])
        again = run.finals.get(hash_)
        if again is not None and again.speedup is not None:
            node.facts["measured again"] = times(again.speedup)
        said = "".join(turn.prompt + turn.answer for turn in node.turns)
        spent += _weight(node.code + node.diagnosis + node.diff + said)
    return len(chosen)


def _weight(text: str) -> int:
    """Most characters that a text takes in a page, where "<" is an escape."""
    return len(json.dumps(text)) + len("003c") * text.count("<")


def measured(judged: EvalReport) -> dict[str, str]:
    """Facts of a measurement, in words."""
    facts = {}
    if judged.timing is not None:
        facts["time of a call"] = seconds(judged.timing.median)
    if judged.speedup_interval is not None:
        facts["95 % interval"] = judged.speedup_interval.as_times
    if judged.account is not None and judged.account.roof is not None:
        facts["roofline"] = str(judged.account)
    if judged.load:
        facts["not a quiet machine"] = judged.load[:MOST_FACT]
    return facts


def _diff(before: str, after: str) -> str:
    """A unified diff, without its head; "" where the two are alike."""
    old, new = (text.removesuffix("\n").split("\n") for text in (before, after))
    if max(len(old), len(new)) > MOST_LINES:
        return ""
    return "\n".join([*difflib.unified_diff(old, new, lineterm="")][2:])
