"""Answers that are not the step that was asked for: what a search makes of each kind.

An answer may give the code back unchanged (it is not judged, and teaches nothing), or do another
technique. What markers see is in fit/test_applied.py, a harvest's part in test_harvest.py.
"""

import pytest

from regraph_kg import report
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.method import MethodSettings
from regraph_kg.models.port import Port
from regraph_kg.models.prompt import PromptKey, Reply
from regraph_kg.models.run import StepRecord, Task
from regraph_kg.search.driver import Driver
from regraph_kg.search.final_answer import final_answer, summarise
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods import METHODS, kind_of
from regraph_kg.search.methods.mcgs import (
    ExpectedImprovement,
    Mcgs,
    McgsSettings,
    PaperSettings,
    ReGraphTSettings,
)
from regraph_kg.search.methods.samples import StandardSettings
from regraph_kg.search.run import begin
from regraph_kg.search.sample import BEFORE, CURRENT, SampleVerdict, Verdicts
from tests.search.toy import (
    SERIAL,
    TASK,
    Alone,
    Graph,
    Script,
    Toy,
    code,
    fenced,
    header,
    names,
    run,
    searching,
)

WALKS = [name for name in METHODS if kind_of(name).walks]


def steps(toy: Toy, settings: MethodSettings, calls: int) -> list[StepRecord]:
    return [step for record in run(toy, settings, calls) for step in record.steps]


# --- unchanged ---

SAME = fenced(SERIAL.replace("{ ", "{\n  // as before\n  "))
CIRCLE: Graph = {"start": ["a", "b"], "a": ["b"], "b": ["a"]}


def test_the_serial_code_again_is_not_judged_and_is_a_failure() -> None:
    toy = Toy({}, lambda key: SAME)
    head = header(2, settings=StandardSettings())
    ledger = Ledger(head.limits)
    records = list(searching(toy.world, head, ledger=ledger))
    for record in records:
        (one,) = record.steps
        assert (one.outcome, one.code, one.speedup, one.applied) == (
            *(Outcome.UNCHANGED, None, None),
            "nothing",
        )
        assert (one.cost.calls, one.cost.evaluations, record.reward) == (1, 0, 0.0)
        assert one.tried, "it was the model's free choice"
    found = summarise(head, records, final_answer(TASK, records, toy.final), ledger)
    assert found.failure is not None
    assert (found.failure.outcome, found.failure.diagnosis) == (Outcome.UNCHANGED, CURRENT)
    assert "2 gave the code back unchanged" in report.run_table(found, {}, walks=False)


@pytest.mark.parametrize("method", WALKS)
def test_an_unchanged_step_teaches_nothing_of_its_technique(method: str) -> None:
    def answer(key: PromptKey) -> str:
        way = names(key)
        return SAME if way[-1:] == ["a"] else fenced(code(0.1 * len(way), key))

    found = steps(Toy(CIRCLE, answer), kind_of(method).settings(), 20)
    same = [one for one in found if one.outcome is Outcome.UNCHANGED and one.technique]
    assert same
    assert not any(one.tried or one.code for one in same)
    assert [one for one in found if one.speedup], "the search went on"


def test_code_with_one_header_more_is_unchanged() -> None:
    verdicts = Verdicts(TASK, Ledger(header(2).limits))
    found = verdict(verdicts, fenced(f"#include <cmath>\n{SERIAL}"), SERIAL)
    assert (found.outcome, found.diagnosis) == (Outcome.UNCHANGED, CURRENT)


def verdict(verdicts: Verdicts, text: str, current: str) -> SampleVerdict:
    """What is said of an answer that needs no judge."""
    work = verdicts.judge(Reply(text=text, finish="stop"), current)
    with pytest.raises(StopIteration) as end:
        next(work)
    found: SampleVerdict = end.value.value[0]
    return found


def verdicts(task: Task = TASK) -> Verdicts:
    return Verdicts(task, Ledger(header(9).limits))


def test_the_code_that_all_began_with_is_told_from_the_current_one() -> None:
    fast = code(0.5)
    assert verdict(verdicts(), fenced(fast), fast).diagnosis == CURRENT
    assert verdict(verdicts(), SAME, fast).diagnosis == BEFORE


def test_of_a_port_the_part_alone_is_the_current_code() -> None:
    part = "void launch(float* x, int n) { k<<<1, 1>>>(x); }\n"
    port = Port(
        "work", "#include <cuda_runtime.h>\n", part, f"{SERIAL}\n", "void launch(float* x, int n)"
    )
    task = Task("toy", "cuda", SERIAL, "work", TASK.signature, ports=(port,), port=port)
    for answer in (part, port.whole(part), part.replace(" {", "\n{")):
        found = verdict(verdicts(task), fenced(answer), task.start)
        assert (found.outcome, found.diagnosis) == (Outcome.UNCHANGED, CURRENT)
    found = verdict(verdicts(task), SAME, task.start)
    assert (found.outcome, found.diagnosis) == (Outcome.UNCHANGED, BEFORE)


# --- another technique ---

FOR, SIMD = "openmp/parallel-for", "openmp/simd"
STRAYING: Graph = {"start": ["parallel-for", "simd"], "parallel-for": ["c"], "simd": ["b"]}
ONCE = McgsSettings(samples=1, free=False)


def marked(level: float | str, pragma: str, tag: object = "") -> str:
    return fenced(f"#pragma omp {pragma}\n{code(level, tag)}")


def answering(**answers: str) -> Script:
    """A model that answers by the path's last names, with "_" for "-".

    answering(parallel_for=..., parallel_for_b=...).
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


def ways(found: list[StepRecord]) -> list[str]:
    return [" ".join(one.removeprefix("openmp/") for one in step.path) for step in found]


def test_what_was_done_learns_and_leads_on() -> None:
    toy, head = Toy(STRAYING, answering(**STRAYS)), header(4, settings=ONCE)
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
    toy = Toy(STRAYING, answering(**STRAYS))
    steps(toy, ReGraphTSettings(), 9)
    walked = {tuple(names(key)) for key in toy.asked}
    assert ("parallel-for", "b") in walked
    assert ("parallel-for", "c") not in walked


def test_the_papers_search_counts_a_step_as_what_it_was_asked_for() -> None:
    answers = STRAYS | {"parallel_for_c": marked(0.9, "simd", "c")}
    found = steps(Toy(STRAYING, answering(**answers)), PaperSettings(), 4)
    assert ways(found)[:2] == ["parallel-for", "parallel-for c"]
    assert found[0].did == SIMD
