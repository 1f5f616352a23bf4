"""A small world that is real enough to search: a dict for a graph, a script for a model, and a
judge that reads a code's log speedup off the code itself. Everything counts its calls."""

import hashlib
import itertools
import math
import random
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from regraph_kg.evaluation.evaluate import EVALUATOR
from regraph_kg.models.evaluation import (
    Candidate,
    EvalReport,
    Grade,
    Interval,
    Outcome,
    code_hash,
)
from regraph_kg.models.graph import EFFECT_SCALE, Example, Neighbourhood, Successor, Tries
from regraph_kg.models.method import MethodSettings, Prompting, SearchLimits
from regraph_kg.models.prompt import Prompt, PromptKey, Reply
from regraph_kg.models.run import RunHeader, RunSummary, SimulationRecord, Task
from regraph_kg.models.technique import Technique
from regraph_kg.search.context import Iteration, Method
from regraph_kg.search.driver import Driver, Executor, Finished
from regraph_kg.search.executor import result
from regraph_kg.search.final_answer import Answer, final_answer, summarise
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods.mcgs import ExpectedImprovement, Mcgs, McgsSettings
from regraph_kg.search.run import begin
from regraph_kg.search.run_record import TraceLine, TraceReader
from regraph_kg.search.trace import Trace
from regraph_kg.search.world import Effect, Effects, World

HEAD = 'extern "C" void work(float* x, int n) {'
SERIAL = HEAD + " for (int i = 0; i < n; ++i) x[i] *= 2; }"
TASK = Task(
    problem="toy",
    target="openmp",
    serial=SERIAL,
    entry="work",
    signature='extern "C" void work(float* x, int n)',
)

SEAL = bytes(range(32))  # the installation's key that traces of tests are written with

Graph = Mapping[str, Sequence[str]]
"""Short technique name -> names of its successors; "start" is the start."""
Script = Callable[[PromptKey], str | None]  # what the model answers; None: nothing is recorded


LEAVES = {"parallel-for": ("new worksharing_loop",), "simd": ("new directives.simd",)}


def technique(name: str) -> Technique:
    return Technique(
        id=f"openmp/{name}",
        name=name,
        target="openmp",
        definition=f"Do {name} to the loops.",
        leaves=LEAVES.get(name, ()),
    )


def successor(
    name: str,
    *,
    tried: int = 0,
    verified: int = 0,
    log2_effects: float = 0.0,
    statistics: str = "device",
) -> Successor:
    return Successor(
        technique=technique(name),
        examples=max(tried, 1),
        here=Tries(tried, verified, round(EFFECT_SCALE * log2_effects)),
        statistics=statistics,  # type: ignore[arg-type]
    )


def example(source: str, target: str) -> Example:
    return Example(
        id=f"{source}>{target}",
        source=source,
        target=target,
        problem="other",
        before=f"{HEAD}\nint a;\nint b;\nint c;\n",
        after=f"{HEAD}\nint a;\nint bb;\nint c;\n",
        reasoning="Because it helps.",
        detail="",
        original_label=target,
        relabel_stage="given",
        trajectory="t",
        step=1,
        verified=True,
        outcome="passed",
        speedup=2.0,
        effect=2.0,
        device="toy",
        toolchain="toy",
        model="toy",
        licence="Apache-2.0",
        created="",
    )


def code(log_speedup: float | str, tag: object = "") -> str:
    """Code that the toy judge finds exp(log_speedup) times faster, or failing as the text says."""
    return f'extern "C" void work(float* x, int n) {{ said("x={log_speedup} {tag} "); }}'


def fenced(text: str) -> str:
    return f"I change this.\n```cpp\n{text}\n```\n"


def names(key: PromptKey) -> list[str]:
    """The path of a prompt as short names, samples dropped."""
    return [part.removeprefix("openmp/").partition("#")[0] for part in key.path]


def judge(candidate: Candidate) -> EvalReport:
    """The verdict that the code asks for: `x=0.7`, `x=wrong_answer`, `x=unstable_timing:0.7`."""
    said = candidate.code.partition("x=")[2].split()[0]
    outcome, _, value = said.rpartition(":")
    report = EvalReport(
        problem="toy",
        target=candidate.target,
        metric="call",
        code_hash=code_hash(candidate.code),
        outcome=Outcome.PASSED,
        device="toy device",
        toolchain="toy 1.0",
        evaluator=EVALUATOR,
        grade="screening",
        stages={"total": 0.25},
    )
    if not outcome and said in set(Outcome):
        return report.model_copy(update={"outcome": Outcome(said), "diagnosis": f"it {said}"})
    speedup = math.exp(float(value))
    timed = {
        "outcome": Outcome(outcome) if outcome else Outcome.PASSED,
        "speedup": speedup,
        "speedup_interval": Interval(low=speedup * 0.9, high=speedup * 1.1),
    }
    return report.model_copy(update=timed)


class Toy:
    """A world over `graph` and `script`; `asked` holds the key of every prompt."""

    def __init__(
        self,
        graph: Graph,
        script: Script,
        evaluate: Callable[[Candidate], EvalReport] = judge,
        successors: Mapping[str, Successor] | None = None,
    ) -> None:
        self.asked: list[PromptKey] = []
        self.prompts: list[Prompt] = []
        self.evaluated: list[str] = []
        self.incumbents: list[float | None] = []
        """What the judge was told of the best so far, with each candidate."""
        self.grades: list[Grade] = []  # that it was asked for
        self.reads: Counter[str] = Counter()
        self._graph, self._script, self._evaluate = graph, script, evaluate
        self._successors = successors or {}

    @property
    def world(self) -> World:
        return World(
            neighbours=self.neighbours,
            complete=self.complete,
            evaluate=self.evaluate,
            evaluate_final=self.final,
        )

    def neighbours(self, name: str) -> Neighbourhood:
        self.reads[name] += 1
        following = self._graph.get(name.removeprefix("openmp/"), ())
        return Neighbourhood(
            name, tuple(self._successors.get(one, successor(one)) for one in following)
        )

    def complete(self, prompt: Prompt) -> Reply:
        text = self._script(prompt.key)
        if text is None:
            return Reply(text="", finish="unrecorded", model="toy")
        self.asked.append(prompt.key)
        self.prompts.append(prompt)
        return Reply(
            text=text, finish="stop", prompt_tokens=10, output_tokens=5, seconds=0.5, model="toy"
        )

    def evaluate(
        self,
        candidate: Candidate,
        incumbent: float | None = None,
        grade: Grade = "screening",
    ) -> EvalReport:
        self.grades.append(grade)
        self.evaluated.append(candidate.code)
        self.incumbents.append(incumbent)
        return self._evaluate(candidate)

    def final(self, candidate: Candidate) -> EvalReport:
        return self._evaluate(candidate).model_copy(update={"grade": "full"})


def hashed(*parts: object) -> random.Random:
    """Randomness that depends on `parts` alone."""
    return random.Random(hashlib.sha256(repr(parts).encode()).hexdigest())


def says(**levels: float | str) -> Script:
    """A model that answers by the path's last names: says(a=0.5, a_b="crashed")."""

    def answer(key: PromptKey) -> str | None:
        level = levels.get("_".join(names(key)))
        return None if level is None else fenced(code(level, key.attempt))

    return answer


def ended(work: Effects[Iteration], reply: Reply) -> Iteration:
    """The iteration that `reply` ends."""
    with pytest.raises(StopIteration) as end:
        work.send(reply)
    found: Iteration = end.value.value
    return found


def noisy_script(seed: int, failures: float = 0.3, holes: float = 0.0) -> Script:
    """A model whose steps have a gain per transition, some noise, and fail now and then."""

    def answer(key: PromptKey) -> str | None:
        rng = hashed(seed, key.path, key.attempt)
        if rng.random() < holes:
            return None
        if rng.random() < failures:
            return rng.choice([fenced(code("wrong_answer", key.path)), "no code", fenced("int x;")])
        way = ["start", *names(key)]
        gains = [hashed(seed, *pair).uniform(-0.3, 0.9) for pair in itertools.pairwise(way)]
        level = sum(gains) + rng.gauss(0, 0.05)
        return fenced(code(round(level, 6), (key.path, key.attempt)))

    return answer


USUAL = McgsSettings(free=False)  # the scripts of the toy world know nothing of free choices


def header(budget: int = 30, seed: int = 0, **fields: object) -> RunHeader:
    """The header of a run over `TASK`."""
    usual: dict[str, object] = {
        "version": "0",
        "created": "2026-11-21T10:00:00Z",
        "problem": "toy",
        "serial": code_hash(SERIAL),
        "target": "openmp",
        "settings": USUAL,
        "prompting": Prompting(prefill=False),
        "limits": SearchLimits(verdicts=budget),
        "parallel": 1,
        "final": "full",
        "seed": seed,
        "model": "toy",
        "device": "toy device",
        "toolchain": "toy 1.0",
        "prompts": "1",
        "excluded": None,
    }
    return RunHeader.model_validate(usual | fields)


@dataclass(frozen=True)
class Run:
    """A finished run: all that must come out equal after a kill and a resume."""

    records: tuple[SimulationRecord, ...]
    states: list[tuple[object, ...]]
    answer: Answer
    summary: RunSummary


def rows(method: Method) -> list[tuple[object, ...]]:
    """What MCGS knows at its end: a row for each state and for each of its actions."""
    if not isinstance(method, Mcgs) or not isinstance(method.rule, ExpectedImprovement):
        return []
    return [
        (state.path, state.technique, state.level, state.code, *map(asdict, state.actions))
        for state in method.rule.states.values()
    ]


def traced(toy: Toy, trace: Trace, head: RunHeader) -> Run:
    """A whole run under `trace`, as the command does it."""
    world, records, ledger = trace.world(toy.world), [], Ledger(head.limits)
    method = begin(TASK, head, world, ledger)
    executor = trace.executor(Alone(world))
    for record in Driver(method, executor, ledger, head.parallel).run():
        trace.record(record)
        records.append(record)
    trace.stop(ledger.ended)
    answer = final_answer(TASK, records, world.evaluate_final)
    summary = summarise(head, records, answer, ledger)
    timeless = summary.model_copy(update={"active_seconds": 0.0})
    return Run(tuple(records), rows(method), answer, timeless)


class Alone:
    """Does one effect after the other, in the order of their beginning, when asked to finish."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._begun: deque[Effect] = deque()

    def start(self, effect: Effect) -> None:
        """Queue it."""
        self._begun.append(effect)

    def finish(self) -> Finished:
        """Do the first."""
        effect = self._begun.popleft()
        return Finished(effect, result(self._world, effect))


def searching(
    world: World,
    head: RunHeader,
    *,
    executor: Executor | None = None,
    ledger: Ledger | None = None,
) -> Iterator[SimulationRecord]:
    """A search as `head` says."""
    ledger = Ledger(head.limits) if ledger is None else ledger
    method = begin(TASK, head, world, ledger)
    return Driver(method, executor or Alone(world), ledger, head.parallel).run()


def run(
    toy: Toy, settings: MethodSettings, calls: int, *, seed: int = 0, parallel: int = 1
) -> list[SimulationRecord]:
    """One method's whole search in the toy world: its records."""
    head = header(calls, seed, settings=settings, parallel=parallel)
    return list(searching(toy.world, head))


def asked(toy: Toy) -> list[tuple[str, int]]:
    """Every prompt that was answered: its path ("a#1 > b") and attempt."""
    return [
        (" > ".join(one.removeprefix("openmp/") for one in key.path), key.attempt)
        for key in toy.asked
    ]


def read(path: Path) -> tuple[TraceLine, ...]:
    """Every whole line of a trace."""
    return tuple(TraceReader(path))
