"""Made-up problems that have much or little in common: learning.py's simulated world.

Nothing is compiled or timed. A step along an edge has a log gain and a chance to fail that are
partly the edge's own and partly the problem's; a technique gains nothing the second time. Not
covered: gains that hang on what was done before, other than the same technique.
"""

import hashlib
import itertools
import math
import random
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache

from benchmarks.taught import Graph, Problem
from regraph_kg.backends.evidence import Pair
from regraph_kg.backends.statistics import RowCounts, RowKey, Share
from regraph_kg.models.evaluation import Candidate, EvalReport, Interval, Outcome, Timing, code_hash
from regraph_kg.models.graph import EFFECT_SCALE
from regraph_kg.models.prompt import Prompt, PromptKey, Reply
from regraph_kg.models.run import Task
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import Step, Trajectory

TECHNIQUES, SUCCESSORS = 12, 5
TRIES = 1_000
"""Behind what is simply known."""
DEVICE = "simulated"
SERIAL = 'extern "C" void work(float* x, int n) { for (int i = 0; i < n; ++i) x[i] *= 2; }'
SIGNATURE = 'extern "C" void work(float* x, int n)'
START = "openmp/start"
_NAMES = [f"openmp/technique-{number}" for number in range(TECHNIQUES)]


def drawn(*about: object) -> random.Random:
    """Randomness that depends on `about` alone."""
    return random.Random(hashlib.sha256(repr(about).encode()).hexdigest())


@dataclass(frozen=True)
class Made:
    """A made-up problem: what each edge gains, and how often a step along it fails."""

    name: str
    seed: int
    similar: float

    @property
    def problem(self) -> Problem:
        """As a search is told."""
        task = Task(self.name, "openmp", SERIAL, "work", SIGNATURE)
        return Problem(task, DEVICE, self.answer, self.judge)

    def gain(self, edge: Pair) -> float:
        """Log gain; its variance is the same however similar problems are."""
        return _gain(self.name, self.seed, self.similar, edge)

    def failing(self, edge: Pair) -> float:
        """Chance that an answer is wrong."""
        return _failing(self.name, self.seed, self.similar, edge)

    def answer(self, prompt: Prompt) -> Reply:
        """What the model says: code that holds its own verdict."""
        key = prompt.key
        assert isinstance(key, PromptKey)
        lot = drawn(self.seed, self.name, key)
        way = [START, *(element.partition("#")[0] for element in key.path)]
        edges = [Pair(*both) for both in itertools.pairwise(way)]
        gains = {edge.target: self.gain(edge) for edge in reversed(edges)}
        said = "wrong"
        if lot.random() >= self.failing(edges[-1]):
            wobble = drawn(self.seed, self.name, key.path, key.attempt).gauss(0, 0.05)
            said = f"{sum(gains.values()) + wobble:.6f}"
        held = f"{said} {' '.join(key.path)} {key.attempt} {key.repair}"
        text = f'```cpp\n{SIGNATURE} {{ const char* held = "{held}"; }}\n```'
        return Reply(text=text, finish="stop", model="recorded")

    def judge(self, candidate: Candidate) -> EvalReport:
        """The verdict that the code holds."""
        said = candidate.code.partition('held = "')[2].split()[0]
        speedup = None if said == "wrong" else math.exp(float(said))
        return verdict(self.name, candidate, speedup)


@cache
def _gain(name: str, seed: int, similar: float, edge: Pair) -> float:
    common = drawn(seed, "gain", edge).gauss(0, 1)
    own = drawn(seed, "gain", edge, name).gauss(0, 1)
    return 0.1 + 0.35 * (math.sqrt(similar) * common + math.sqrt(1 - similar) * own)


@cache
def _failing(name: str, seed: int, similar: float, edge: Pair) -> float:
    shared = drawn(seed, "shared", edge).random() < similar
    return drawn(seed, "fails", edge, *(() if shared else (name,))).uniform(0.1, 0.8)


def verdict(problem: str, candidate: Candidate, speedup: float | None) -> EvalReport:
    """The report of a code that is so many times as fast as the serial one; None: it is wrong."""
    report = EvalReport(
        problem=problem,
        target="openmp",
        metric="call",
        code_hash=code_hash(candidate.code),
        outcome=Outcome.WRONG_ANSWER,
        diagnosis="x[0] is wrong",
        device=DEVICE,
        toolchain="none",
        evaluator="simulated",
        grade="screening",
    )
    if speedup is None:
        return report
    timed = {
        "outcome": Outcome.PASSED,
        "diagnosis": "",
        "speedup": speedup,
        "timing": _timing(1 / speedup),
        "baseline": _timing(1.0),
    }
    return report.model_copy(update=timed)


def _timing(seconds: float) -> Timing:
    return Timing(samples=(seconds,), median=seconds, interval=Interval(low=seconds, high=seconds))


def graph(seed: int) -> Graph:
    """A graph of examples that were never measured."""
    techniques = {name: Technique(id=name, name=name, target="openmp") for name in _NAMES}
    return Graph(techniques).told(examples(seed))


def examples(seed: int) -> list[Trajectory]:
    """A shortest way along each edge of a random graph."""
    known = [
        (source, target)
        for source in (START, *_NAMES)
        for target in drawn(seed, "graph", source).sample(_NAMES, SUCCESSORS)
    ]
    ways: dict[str, list[str]] = {START: []}
    for source, target in known * TECHNIQUES:  # until nothing new can be reached
        if source in ways:
            ways.setdefault(target, [*ways[source], target])
    return [_example([*ways[source], target]) for source, target in known if source in ways]


def _example(way: list[str]) -> Trajectory:
    steps = tuple(Step(label=one, technique=one, code=f"// {way} {one}") for one in way)
    return Trajectory(schema=1, target="openmp", problem="given", serial=SERIAL, steps=steps)


def known(graph: Graph, made: Made) -> Graph:
    """The same graph, told how each edge comes out on this very problem, tried `TRIES` times.

    An answer that fails is mended once, by another one that may fail.
    """
    found: Share = {}
    for pair in graph.rows:
        passed = round(TRIES * (1 - made.failing(pair) ** 2))
        log2_effects = round(EFFECT_SCALE * passed * made.gain(pair) / math.log(2))
        counts = {"tried": TRIES, "verified": passed, "sum_log2_effect": log2_effects}
        found[pair, RowKey(DEVICE)] = RowCounts(Counter(counts))
    return replace(graph, shares=(*graph.shares, ("known", found)))
