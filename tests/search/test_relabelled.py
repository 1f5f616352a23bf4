"""Steps that did another technique than they were asked for: who says so, and what they teach.

What the markers see is in fit/test_applied.py, what a harvest makes of it in test_harvest.py.
"""

import pytest

from regraph_kg.models.method import MethodSettings, SearchLimits
from regraph_kg.models.prompt import PromptKey
from regraph_kg.models.run import RunHeader, SimulationRecord, StepRecord
from regraph_kg.search.driver import Driver
from regraph_kg.search.executor import Alone
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods.mcgs import (
    ExpectedImprovement,
    Mcgs,
    McgsSettings,
    PaperSettings,
    ReGraphTSettings,
)
from regraph_kg.search.run import begin
from tests.search.toy import (
    TASK,
    Graph,
    Script,
    Toy,
    code,
    fenced,
    header,
    names,
)
from tests.search.toy import searching as searched

FOR, SIMD = "openmp/parallel-for", "openmp/simd"
GRAPH: Graph = {"start": ["parallel-for", "simd"], "parallel-for": ["c"], "simd": ["b"]}
ONCE = McgsSettings(samples=1, repairs=0, free=False)


def marked(level: float | str, pragma: str, tag: object = "") -> str:
    return fenced(f"#pragma omp {pragma}\n{code(level, tag)}")


def says(**answers: str) -> Script:
    """A model that answers by the path's last names, with "_" for "-".

    says(parallel_for=..., parallel_for_b=...).
    """

    def answer(key: PromptKey) -> str | None:
        return answers.get("_".join(names(key)).replace("-", "_"))

    return answer


STRAYS = {
    "parallel_for": marked(0.5, "simd"),
    "simd": marked(0.2, "simd", "too"),
    "parallel_for_b": marked(0.9, "simd", "b"),
    "simd_b": fenced(code("crashed")),
}
"""Asked for parallel-for, the model does simd; b leaves no marks."""


def run(toy: Toy, head: RunHeader) -> tuple[list[SimulationRecord], Ledger]:
    ledger = Ledger(head.limits)
    return list(searched(toy.world, head, ledger=ledger)), ledger


def steps(toy: Toy, settings: MethodSettings = ONCE, **fields: object) -> list[StepRecord]:
    """The steps of a search of four calls, in their order."""
    records, _ = run(toy, header(settings=settings, **{"limits": SearchLimits(calls=4)} | fields))
    return [step for record in records for step in record.steps]


def ways(found: list[StepRecord]) -> list[str]:
    return [" ".join(one.removeprefix("openmp/") for one in step.path) for step in found]


# What it teaches


def test_what_was_done_learns_and_leads_on() -> None:
    toy, head = Toy(GRAPH, says(**STRAYS)), header(4, settings=ONCE)
    ledger = Ledger(head.limits)
    method = begin(TASK, head, toy.world, ledger)
    assert isinstance(method, Mcgs)
    found = [step for r in Driver(method, Alone(toy.world), ledger).run() for step in r.steps]
    assert sorted(ways(found)) == ["parallel-for", "parallel-for b", "simd", "simd b"]
    strayed = found[ways(found).index("parallel-for")]
    assert (strayed.applied, strayed.did) == ("other", SIMD)
    rule = method.rule
    assert isinstance(rule, ExpectedImprovement)
    start, *states = rule.states.values()
    tried = {action.leads: action for action in start.actions}
    edges = {name: rule._edge(start.technique, name) for name in (FOR, SIMD)}
    assert (tried[FOR].failed, edges[FOR].sampled) == (1, 0)
    assert (edges[SIMD].verified, edges[SIMD].total) == (2, pytest.approx(0.5 + 0.2))
    assert {state.technique for state in states if len(state.path) == 1} == {SIMD}


def test_a_random_walk_goes_on_from_what_was_done() -> None:
    toy = Toy(GRAPH, says(**STRAYS))
    steps(toy, ReGraphTSettings(), limits=SearchLimits(calls=9))
    asked = {tuple(names(key)) for key in toy.asked}
    assert ("parallel-for", "b") in asked
    assert ("parallel-for", "c") not in asked


def test_the_papers_search_counts_a_step_as_what_it_was_asked_for() -> None:
    answers = STRAYS | {"parallel_for_c": marked(0.9, "simd", "c")}
    found = steps(Toy(GRAPH, says(**answers)), PaperSettings())
    assert ways(found)[:2] == ["parallel-for", "parallel-for c"]
    assert found[0].did == SIMD
