"""Code that comes back unchanged is not judged, teaches nothing, and is told so; mends are told."""

import pytest

from regraph_kg import report
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.port import Port
from regraph_kg.models.prompt import PromptKey, Reply
from regraph_kg.models.run import StepRecord, Task
from regraph_kg.models.technique import Technique
from regraph_kg.search.code.facts import facts_of
from regraph_kg.search.final_answer import final_answer, summarise
from regraph_kg.search.fit.predicates import PREDICATES
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods import METHODS, kind_of
from regraph_kg.search.methods.mcgs import McgsSettings
from regraph_kg.search.methods.samples import StandardSettings
from regraph_kg.search.sample import BEFORE, CURRENT, SampleVerdict, Verdicts
from tests.search.in_toy import run
from tests.search.toy import SERIAL, TASK, Graph, Toy, code, fenced, header, names, searching

SAME = fenced(SERIAL.replace("{ ", "{\n  // as before\n  "))
NO = "DOES NOT APPLY: it has no loop"
GRAPH: Graph = {"start": ["a", "b"], "a": ["b"], "b": ["a"]}
WALKS = [name for name in METHODS if kind_of(name).walks]


def steps(toy: Toy, settings: object, calls: int) -> list[StepRecord]:
    return [step for r in run(toy, settings, calls) for step in r.steps]  # type: ignore[arg-type]


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


def test_a_repair_prompt_says_that_nothing_was_changed() -> None:
    toy = Toy({"start": ["a"]}, lambda key: fenced(code(0.3)) if key.repair else SAME)
    (record,) = run(toy, McgsSettings(samples=1, free=False), 2)
    assert CURRENT in toy.prompts[1].user
    assert toy.prompts[1].user.count("x[i] *= 2") == 1, "not shown twice"
    assert (record.steps[0].outcome, record.steps[0].applied) == (Outcome.PASSED, "asked")


@pytest.mark.parametrize("method", WALKS)
def test_an_unchanged_step_teaches_nothing_of_its_technique(method: str) -> None:
    def answer(key: PromptKey) -> str:
        way = names(key)
        return SAME if way[-1:] == ["a"] else fenced(code(0.1 * len(way), key))

    found = steps(Toy(GRAPH, answer), kind_of(method).settings(), 20)
    same = [one for one in found if one.outcome is Outcome.UNCHANGED and one.technique]
    assert same
    assert not any(one.tried or one.code for one in same)
    assert [one for one in found if one.speedup], "the search went on"


def test_code_with_one_header_more_is_unchanged() -> None:
    verdicts = Verdicts(TASK, Ledger(header(2).limits))
    found = verdict(verdicts, fenced(f"#include <cmath>\n{SERIAL}"), SERIAL)
    assert (found.outcome, found.diagnosis) == (Outcome.UNCHANGED, CURRENT)


def verdict(
    verdicts: Verdicts, text: str, current: str, technique: Technique | None = None
) -> SampleVerdict:
    """What is said of an answer that needs no judge."""
    work = verdicts.judge(Reply(text=text, finish="stop"), current, technique)
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


LOOP = Technique(
    id="openmp/loop", name="Loop", target="openmp", definition="Do.", needs=("a-loop",)
)


def test_a_decline_that_the_code_contradicts_is_a_failure_that_says_so() -> None:
    technique = LOOP.model_copy(update={"needs": (loop_predicate(),)})
    found = verdict(verdicts(), NO, SERIAL, technique)
    assert found.outcome is Outcome.PARSE_FAILED
    assert found.failed
    assert found.diagnosis.startswith("you said that it does not apply; but this code has ")
    assert found.diagnosis.endswith(": write the code")


def test_a_decline_that_nothing_contradicts_is_believed() -> None:
    for technique, current in (
        (LOOP.model_copy(update={"needs": ()}), SERIAL),
        (LOOP.model_copy(update={"needs": (loop_predicate(),)}), "int work();"),
        (LOOP.model_copy(update={"needs": ("what-nobody-knows",)}), SERIAL),
    ):
        assert verdict(verdicts(), NO, current, technique).outcome is Outcome.DECLINED


def loop_predicate() -> str:
    return next(iter(one for one in PREDICATES if PREDICATES[one].holds(facts_of(SERIAL))))
