"""Answers that are not the step that was asked for: what a search makes of each kind.

An answer may decline (DOES NOT APPLY: it closes one action for one code, and is no try and no
failure), give the code back unchanged (it is not judged, teaches nothing, and is told so), or do
another technique. What markers see is in fit/test_applied.py, a harvest's part in test_harvest.py.
"""

from collections import Counter

import pytest

from regraph_kg import report
from regraph_kg.cpp.facts import facts_of
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.method import MethodSettings, SearchLimits
from regraph_kg.models.port import Port
from regraph_kg.models.prompt import PromptKey, Reply
from regraph_kg.models.run import StepRecord, Task
from regraph_kg.models.technique import Technique
from regraph_kg.search.driver import Driver
from regraph_kg.search.executor import Alone
from regraph_kg.search.final_answer import final_answer, summarise
from regraph_kg.search.fit.predicates import PREDICATES
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
from regraph_kg.search.prompts.examples import fill
from regraph_kg.search.run import begin
from regraph_kg.search.sample import BEFORE, CURRENT, SampleVerdict, Verdicts
from tests.search.toy import (
    SERIAL,
    TASK,
    Graph,
    Script,
    Toy,
    asked,
    code,
    fenced,
    header,
    names,
    run,
    searching,
)

NO = "DOES NOT APPLY: nothing here to tile"
WALKS = [name for name in METHODS if kind_of(name).walks]


def steps(toy: Toy, settings: MethodSettings, calls: int) -> list[StepRecord]:
    return [step for record in run(toy, settings, calls) for step in record.steps]


# --- declined ---

FORK: Graph = {"start": ["a", "b", "c"], "a": [], "b": ["a", "c"], "c": ["a", "b"]}


def choosing_nothing(method: str) -> MethodSettings:
    """A method's settings; what the model would choose itself is not asked for."""
    settings = kind_of(method).settings()
    if "free" not in type(settings).model_fields:
        return settings
    return settings.model_copy(update={"free": False})


def declining(technique: str) -> Toy:
    """A model that declines one technique, whatever the code; all else gains."""

    def answer(key: PromptKey) -> str:
        way = names(key)
        return NO if way[-1] == technique else fenced(code(0.1 * len(way), key))

    return Toy(FORK, answer)


@pytest.mark.parametrize("method", WALKS)
def test_a_declined_technique_is_closed_for_its_code_at_one_call(method: str) -> None:
    toy = declining("a")
    found = steps(toy, choosing_nothing(method), 30)
    said = [one for one in found if one.declined]
    assert said
    for one in said:
        assert (one.outcome, one.diagnosis) == (Outcome.DECLINED, "nothing here to tile")
        assert (one.code, one.speedup, one.gain, one.cost.calls, one.cost.evaluations) == (
            *(None, None, None),
            *(1, 0),
        )
        assert not one.tried
    places = Counter((one.path[:-1], one.technique) for one in said)
    assert set(places.values()) == {1}  # never asked for again at the same place
    assert not any("a > " in path for path, _, repair in asked(toy) if repair == 0)
    assert {repair for *_, repair in asked(toy)} == {0}
    assert [one for one in found if one.speedup]  # the search went on


@pytest.mark.parametrize("method", WALKS)
def test_a_model_that_declines_all_ends_the_search_when_nothing_is_left(method: str) -> None:
    toy = Toy(FORK, lambda key: NO)
    settings = choosing_nothing(method)
    head = header(30, settings=settings, limits=SearchLimits(calls=30, unreadable=2))
    ledger = Ledger(head.limits)
    records = list(searching(toy.world, head, ledger=ledger))
    assert sorted(path for path, *_ in asked(toy)) == ["a", "b", "c"]
    assert ledger.stopped is None
    answer = final_answer(TASK, records, toy.final)
    found = summarise(head, records, answer, ledger)
    assert (found.stopped, found.improved, found.iterations) == ("exhausted", False, 0)
    assert (found.cost.calls, found.cost.evaluations, found.unrecorded) == (3, 0, 0)
    assert (found.outcomes, found.failure) == ({"declined": 3}, None)


def test_only_where_a_technique_was_asked_for_may_it_be_declined() -> None:
    toy = Toy(FORK, lambda key: NO)
    (record,) = run(toy, StandardSettings(), 1)
    assert record.steps[0].outcome is Outcome.PARSE_FAILED
    assert "DOES NOT APPLY" not in toy.prompts[0].user


def test_a_repair_is_not_asked_whether_it_applies_and_cannot_say_so() -> None:
    def answer(key: PromptKey) -> str:
        return NO if key.repair else fenced(code("wrong_answer", key))

    toy = Toy({"start": ["a"]}, answer)
    (record,) = run(toy, McgsSettings(samples=1, free=False), 2)
    assert record.steps[0].outcome is Outcome.PARSE_FAILED
    assert ["DOES NOT APPLY" in prompt.user for prompt in toy.prompts] == [True, False]
    assert toy.prompts[0].user.endswith(f"{fill('decline')}\n\n{fill('answer')}")


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

    found = steps(Toy(CIRCLE, answer), kind_of(method).settings(), 20)
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


# --- another technique ---

FOR, SIMD = "openmp/parallel-for", "openmp/simd"
STRAYING: Graph = {"start": ["parallel-for", "simd"], "parallel-for": ["c"], "simd": ["b"]}
ONCE = McgsSettings(samples=1, repairs=0, free=False)


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
