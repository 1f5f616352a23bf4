"""Any method on any small graph, with any settings, any model, and calls that end in any order: it
ends, keeps to its budget, answers only what the judge passed, and has nothing judged twice.

Graphs have cycles, self-loops, dead ends and transitions that always fail; models fail, repeat
themselves, talk, and have holes. Not covered: the trace (test_trace.py), and threads that really
run at once: one executor here, that ends what it began in a random order.
"""

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regraph_kg.cpp.tokens import normalized
from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome
from regraph_kg.models.method import MethodSettings, SearchLimits
from regraph_kg.models.prompt import PromptKey
from regraph_kg.models.run import RunHeader, SimulationRecord
from regraph_kg.search.driver import Driver, Finished
from regraph_kg.search.executor import result
from regraph_kg.search.final_answer import final_answer
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods import METHODS, kind_of
from regraph_kg.search.run import begin
from regraph_kg.search.world import Effect, ModelRequest, World
from tests.search.toy import (
    SERIAL,
    TASK,
    Graph,
    Script,
    Toy,
    code,
    fenced,
    hashed,
    header,
    judge,
    names,
)

NODES = ("t0", "t1", "t2", "t3", "t4")
CALLS = 40
ANY = settings(
    max_examples=100,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
VALUES: Mapping[str, st.SearchStrategy[object]] = {
    "samples": st.integers(1, 3),
    "epsilon": st.sampled_from([0.0, 0.3, 1.0]),
    "depth": st.integers(1, 5),
    "exploration": st.sampled_from([0.0, 0.5, 5.0]),
    "steps": st.integers(1, 5),
    "attempts": st.none() | st.integers(1, 6),
    "patience": st.integers(1, 4),
}
"""What settings may be; a setting that is not named here keeps its default."""


@dataclass(frozen=True)
class Model:
    """How a model answers, by chance that hangs on nothing but the prompt's key."""

    seed: int
    failures: float
    holes: float
    known: int  # attempts from here on are not recorded
    repeats: float  # how often its code is one of few
    broken: frozenset[tuple[str, str]]  # transitions at which it always fails

    def __call__(self, key: PromptKey) -> str | None:
        rng = hashed(self.seed, key.model_dump_json())
        if rng.random() < self.holes or key.attempt >= self.known:
            return None
        way = ["start", *names(key)]
        if tuple(way[-2:]) in self.broken:
            return fenced(code("crashed", key))
        if rng.random() < self.failures:
            return self._failure(rng)
        levels: list[float | str] = [-1.5, -0.2, 0.0, 0.3, 0.31, 1.2, 5.0, "unstable_timing:0.4"]
        tag = "" if rng.random() < self.repeats else rng.random()
        return fenced(code(rng.choice(levels), tag))

    def _failure(self, rng: random.Random) -> str:
        wrong = code("wrong_answer", rng.randrange(3))
        two = fenced(code(0.1)) + fenced(code(0.2))
        return rng.choice([fenced(wrong), "I would use OpenMP.", "", fenced("int x;"), two])


@dataclass(frozen=True)
class Run:
    """A whole search, and what it was."""

    graph: Graph
    model: Script
    head: RunHeader
    order: int


class AnyOrder:
    """Ends what it began in a random order, and sees that no call is one too many."""

    def __init__(self, world: World, ledger: Ledger, seed: int) -> None:
        self._world, self._ledger = world, ledger
        self._rng = random.Random(seed)
        self._begun: list[Effect] = []

    def start(self, effect: Effect) -> None:
        self._begun.append(effect)
        calls = sum(map(asks_for_code, self._begun))
        assert self._ledger.spent.calls + calls <= self._ledger.limits.verdicts

    def finish(self) -> Finished:
        effect = self._begun.pop(self._rng.randrange(len(self._begun)))
        return Finished(effect, result(self._world, effect))


def asks_for_code(effect: Effect) -> bool:
    return isinstance(effect, ModelRequest)


def judged(candidate: Candidate) -> EvalReport:
    """The toy's verdict; the serial code, if a model answers that, is as fast as itself."""
    same = normalized(candidate.code) == normalized(SERIAL)
    return judge(Candidate(candidate.target, code(0.0)) if same else candidate)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    following = st.lists(st.sampled_from(NODES), unique=True)
    return {source: draw(following) for source in ("start", *NODES)}


@st.composite
def models(draw: st.DrawFn) -> Model:
    edges = st.tuples(st.sampled_from(("start", *NODES)), st.sampled_from(NODES))
    return Model(
        seed=draw(st.integers(0, 10**6)),
        failures=draw(st.sampled_from([0.0, 0.3, 0.7, 1.0])),
        holes=draw(st.sampled_from([0.0, 0.0, 0.1, 0.5])),
        known=draw(st.sampled_from([CALLS, CALLS, 5, 1, 0])),
        repeats=draw(st.sampled_from([0.0, 0.5, 1.0])),
        broken=draw(st.frozensets(edges, max_size=8)),
    )


@st.composite
def runs(draw: st.DrawFn, method: str) -> Run:
    kind = kind_of(method).settings
    chosen: dict[str, object] = {
        name: draw(VALUES[name]) for name in kind.model_fields if name in VALUES
    }
    told: MethodSettings = kind.model_validate(chosen)
    limits = SearchLimits(
        verdicts=draw(st.integers(1, CALLS)),
    )
    head = header(
        settings=told,
        limits=limits,
        parallel=draw(st.sampled_from([1, 3, 8])),
        seed=draw(st.integers(0, 99)),
    )
    return Run(draw(graphs()), draw(models()), head, draw(st.integers(0, 99)))


def finished(run: Run, toy: Toy) -> tuple[list[SimulationRecord], Ledger]:
    """The records of the whole search, and its account; its end is one for good."""
    ledger = Ledger(run.head.limits)
    method = begin(TASK, run.head, toy.world, ledger)
    executor = AnyOrder(toy.world, ledger, run.order)
    records = []
    for record in Driver(method, executor, ledger, run.head.parallel).run():
        records.append(record)
        assert len(records) <= 1000, "it does not end"
    if ledger.left > 0:
        assert method.iteration() is None
    return records, ledger


@pytest.mark.slow
@pytest.mark.parametrize("method", tuple(METHODS))
@ANY
@given(data=st.data())
def test_any_search_ends_within_its_budget_and_answers_what_passed(
    method: str, data: st.DataObject
) -> None:
    run = data.draw(runs(method))
    toy = Toy(run.graph, run.model, judged)
    records, ledger = finished(run, toy)
    check_account(run, toy, records, ledger)
    check_verdicts(toy, records)
    answer = final_answer(TASK, records, toy.final)
    passed = {s.code for r in records for s in r.steps if s.outcome is Outcome.PASSED}
    assert answer.code == SERIAL or answer.code in passed
    assert (answer.code == SERIAL) == (answer.report is None)


def check_account(run: Run, toy: Toy, records: list[SimulationRecord], ledger: Ledger) -> None:
    """What was spent is what was asked and judged, and it is in the records, once."""
    spent, limits = ledger.spent, run.head.limits
    costs = [step.cost for record in records for step in record.steps]
    assert spent.calls == len(toy.asked) <= limits.verdicts
    assert spent.calls == sum(cost.calls for cost in costs)
    assert spent.evaluations == len(toy.evaluated) == sum(cost.evaluations for cost in costs)
    assert [record.spent for record in records] == sorted(record.spent for record in records)
    assert len(set(toy.asked)) == len(toy.asked)


def check_verdicts(toy: Toy, records: list[SimulationRecord]) -> None:
    """Nothing is judged twice but what was timed unstably; a speedup is one that was judged."""
    times = Counter(map(normalized, toy.evaluated))
    for text in toy.evaluated:
        unstable = judged(Candidate("openmp", text)).outcome is Outcome.UNSTABLE_TIMING
        assert times[normalized(text)] == (2 if unstable else 1)
    for step in (step for record in records for step in record.steps):
        if step.speedup is not None:
            assert step.code is not None
            assert normalized(step.code) in times
            assert step.outcome in (Outcome.PASSED, Outcome.UNSTABLE_TIMING)


@pytest.mark.slow
@pytest.mark.parametrize("method", tuple(METHODS))
@settings(ANY, max_examples=20)
@given(data=st.data())
def test_a_search_whose_calls_end_in_the_same_order_is_the_same_search(
    method: str, data: st.DataObject
) -> None:
    run = data.draw(runs(method))
    one, two = (Toy(run.graph, run.model, judged) for _ in range(2))
    assert finished(run, one)[0] == finished(run, two)[0]
    assert [prompt.seed for prompt in one.prompts] == [prompt.seed for prompt in two.prompts]
