"""Steps that did another technique than they were asked for: who says so, and what they teach.

What the markers see is in fit/test_applied.py, what a harvest makes of it in test_harvest.py.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from regraph_kg.models.method import MethodSettings, Prompting, SearchLimits
from regraph_kg.models.prompt import Prompt, PromptKey, Reply
from regraph_kg.models.run import RunHeader, SimulationRecord, StepRecord
from regraph_kg.search.driver import Driver
from regraph_kg.search.executor import Alone
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods.mcgs import Mcgs, McgsSettings, PaperSettings, ReGraphTSettings
from regraph_kg.search.run import begin
from regraph_kg.search.trace import Trace
from regraph_kg.search.trace_lines import read
from tests.search.recorded_run import still
from tests.search.test_many_searches import AnyOrder, judged
from tests.search.toy import SEAL, TASK, Graph, Script, Toy, code, fenced, header, names, traced
from tests.search.toy import searching as searched

FOR, SIMD = "openmp/parallel-for", "openmp/simd"
GRAPH: Graph = {"start": ["parallel-for", "simd"], "parallel-for": ["c"], "simd": ["b"]}
ONCE = McgsSettings(samples=1, repairs=0, free=False)
ASKED = '{"applied": "asked", "technique": ""}'
NOTHING = '{"applied": "nothing", "technique": ""}'
MODEL = Prompting(verdict="model")


def other(name: str = "") -> str:
    return json.dumps({"applied": "other", "technique": name})


def marked(level: float | str, pragma: str, tag: object = "") -> str:
    return fenced(f"#pragma omp {pragma}\n{code(level, tag)}")


def says(verdict: str | None = None, **answers: str) -> Script:
    """A model that answers by the path's last names, with "_" for "-"; `verdict` to all verdicts.

    says(parallel_for=..., parallel_for_b=...).
    """

    def answer(key: PromptKey) -> str | None:
        if key.ask == "verdict":
            return verdict
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
    start, *states = method.states.values()
    tried = {action.edge.target: action for action in start.actions}
    assert (tried[FOR].failed, tried[FOR].edge.sampled) == (1, 0)
    assert (tried[SIMD].edge.verified, tried[SIMD].edge.total) == (2, pytest.approx(0.5 + 0.2))
    assert {state.technique for state in states if len(state.path) == 1} == {SIMD}


def test_what_has_no_name_teaches_no_edge_and_goes_on_as_what_was_asked_for() -> None:
    toy = Toy(GRAPH, says(parallel_for=fenced(code(0.5)), parallel_for_c=fenced(code(0.6))))
    assert "parallel-for c" in ways(steps(toy))


def test_nothing_is_built_on_a_step_that_did_nothing() -> None:
    same = fenced(f"// x=0.1 \n{TASK.serial}")
    toy = Toy(GRAPH, says(parallel_for=same, simd=marked(0.2, "simd"), simd_b=fenced(code(0.3))))
    found = steps(toy)
    assert sorted(ways(found)) == ["parallel-for", "simd", "simd b"]
    assert {step.applied for step in found if step.technique == FOR} == {"nothing"}


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


# Who says it


@pytest.mark.parametrize(
    ("answer", "verdict", "applied", "did"),
    [
        (marked(0.5, "parallel for"), ASKED, "asked", None),
        (marked(0.5, "parallel for"), other("simd"), "other", SIMD),
        (marked(0.5, "parallel for"), other(), "other", None),
        (marked(0.5, "parallel for"), NOTHING, "nothing", None),
        # certain: none of the marks of what was asked for; the model may only name what it was
        (fenced(code(0.5)), ASKED, "other", None),
        (fenced(code(0.5)), NOTHING, "other", None),
        (fenced(code(0.5)), other("simd"), "other", SIMD),
        # no verdict: the markers' word
        (marked(0.5, "parallel for"), "It did.", "asked", None),
        (marked(0.5, "parallel for"), "", "asked", None),
        (marked(0.5, "parallel for"), other("parallel-for"), "asked", None),
        (marked(0.5, "parallel for"), other("magic"), "asked", None),
        (
            marked(0.5, "parallel for"),
            '{"applied": "nothing", "technique": "simd"}',
            "asked",
            None,
        ),
        (marked(0.5, "parallel for"), f"```json\n{other('simd')}\n```", "asked", None),
        (marked(0.5, "parallel for"), None, "asked", None),  # not recorded
        (fenced(code(0.5)), "x" * 100_000, "other", None),
    ],
)
def test_the_model_tells_what_the_markers_do_not(
    answer: str, verdict: str | None, applied: str, did: str | None
) -> None:
    toy = Toy(GRAPH, says(verdict, parallel_for=answer))
    (step, *_) = steps(toy, prompting=MODEL)
    assert (step.applied, step.did) == (applied, did)
    asked = [key for key in toy.asked if key.ask == "verdict"]
    assert [key.path for key in asked][:1] == ([] if verdict is None else [(FOR,)])


def test_a_cut_verdict_is_none() -> None:
    toy = Toy(GRAPH, says(other("simd"), parallel_for=marked(0.5, "parallel for")))

    def cut(prompt: Prompt) -> Reply:
        reply = toy.complete(prompt)
        verdict = isinstance(prompt.key, PromptKey) and prompt.key.ask == "verdict"
        return reply.model_copy(update={"finish": "length"}) if verdict else reply

    head = header(1, settings=ONCE, prompting=MODEL)
    (record,) = searched(replace(toy.world, complete=cut), head)
    assert record.steps[0].applied == "asked"


@pytest.mark.parametrize("answer", [marked(0.5, "simd"), fenced(TASK.serial)])
def test_what_the_markers_know_is_not_asked(answer: str) -> None:
    """What it was, by a telltale; or that it was nothing."""
    toy = Toy(GRAPH, says(ASKED, parallel_for=answer), judged)
    steps(toy, prompting=MODEL)
    assert {key.ask for key in toy.asked if key.path == (FOR,)} == {"code"}


def test_nobody_is_asked_about_a_wrong_answer_or_without_the_setting() -> None:
    crashed = Toy(GRAPH, says(ASKED, parallel_for=fenced(code("crashed"))))
    steps(crashed, prompting=MODEL)
    default = Toy(GRAPH, says(ASKED, parallel_for=marked(0.5, "parallel for")))
    steps(default)
    for toy in (crashed, default):
        assert {key.ask for key in toy.asked} == {"code"}


def test_the_question_names_the_step_its_change_and_the_other_successors() -> None:
    graph = {"start": ["parallel-for", "simd", "b"]}
    toy = Toy(graph, says(ASKED, parallel_for=marked(0.5, "parallel for")))
    steps(toy, prompting=MODEL)
    (prompt,) = (one for one in toy.prompts if one.key.ask == "verdict")  # type: ignore[union-attr]
    assert "along this technique: parallel-for" in prompt.user
    assert "Names of techniques: simd; b\n" in prompt.user
    assert "+#pragma omp parallel for" in prompt.user
    assert prompt.answer_schema is not None
    assert prompt.seed != toy.prompts[0].seed
    alone = Toy(
        {"start": ["parallel-for"]}, says(NOTHING, parallel_for=marked(1.0, "parallel for"))
    )
    assert steps(alone, prompting=MODEL)[0].applied == "nothing"
    assert "Names of techniques" not in alone.prompts[1].user


def test_of_a_repaired_sample_the_last_answer_is_asked_about() -> None:
    def answer(key: PromptKey) -> str:
        if key.ask == "verdict":
            return ASKED
        return marked(0.5, "parallel for") if key.repair else fenced(code("crashed"))

    toy = Toy({"start": ["parallel-for"]}, answer)
    steps(toy, McgsSettings(samples=1, free=False), prompting=MODEL)
    assert [(key.ask, key.repair) for key in toy.asked] == [
        ("code", 0),
        ("code", 1),
        ("verdict", 1),
    ]


# What it costs


def test_a_verdict_is_a_thought_and_no_unit_of_the_budget() -> None:
    toy = Toy(GRAPH, says(ASKED, **STRAYS))
    records, ledger = run(toy, header(4, settings=ONCE, prompting=MODEL))
    # of parallel-for the markers know, simd_b crashed: two are asked about, the last call too
    assert (ledger.spent.calls, ledger.spent.thoughts) == (4, 2)
    assert ledger.spent.prompt_tokens == 6 * 10
    assert sum(step.cost.calls for record in records for step in record.steps) == 4


def test_the_last_call_of_the_budget_is_asked_about() -> None:
    toy = Toy(GRAPH, says(NOTHING, parallel_for=marked(0.5, "parallel for")))
    records, ledger = run(toy, header(1, settings=ONCE, prompting=MODEL))
    assert (ledger.spent.calls, ledger.spent.thoughts) == (1, 1)
    assert records[0].steps[0].applied == "nothing"


@pytest.mark.parametrize(
    "limits",
    [SearchLimits(calls=9, tokens=15), SearchLimits(calls=9, seconds=1)],
    ids=["tokens", "seconds"],
)
def test_no_verdict_is_asked_for_when_no_tokens_or_seconds_are_left(limits: SearchLimits) -> None:
    class Clock(Alone):
        """An effect takes a second."""

        passed = 0.0

        def seconds(self) -> float:
            self.passed += 1
            return self.passed

    toy = Toy(GRAPH, says(NOTHING, parallel_for=marked(0.5, "parallel for")))
    head = header(settings=ONCE, limits=limits, prompting=MODEL)
    ledger = Ledger(limits)
    (record,) = searched(toy.world, head, executor=Clock(toy.world), ledger=ledger)
    assert (ledger.spent.thoughts, record.steps[0].applied) == (0, "asked")


# Resumed, and several at once


def chancy(key: PromptKey) -> str | None:
    """Right, wrong, strayed; verdicts of all kinds."""
    number = sum(map(ord, key.model_dump_json()))
    if key.ask == "verdict":
        return [ASKED, other("simd"), other("parallel-for"), NOTHING, "no", None][number % 6]
    level = ("crashed", 0.1, 0.5, 0.3)[number % 4]
    return marked(level, ("simd", "parallel for", "barrier")[number % 3], number)


WIDE: Graph = {
    "start": ["parallel-for", "simd"],
    "parallel-for": ["b", "simd"],
    "simd": ["b", "parallel-for"],
    "b": ["simd", "parallel-for"],
}


def test_killed_anywhere_between_reply_and_verdict_it_ends_the_same(tmp_path: Path) -> None:
    head = header(15, prompting=MODEL, parallel=4)
    with Trace.create(tmp_path, head, SEAL, still) as trace:
        finished = traced(Toy(WIDE, chancy), trace, head)
    events = [(line.event, '"ask":"verdict"' in line.key) for line in read(trace.path)]
    assert events.count(("reply", True)) > 5
    applied = {(step.applied, step.did) for record in finished.records for step in record.steps}
    assert {("other", SIMD), ("other", FOR), ("asked", None), ("nothing", None)} <= applied
    assert finished.summary.relabelled > 2
    content = trace.path.read_bytes()
    part, cut = tmp_path / "part.jsonl", content.index(b"\n") + 1
    while cut < len(content):
        part.write_bytes(content[:cut])
        with Trace.resume(part, head, SEAL, still) as again:
            assert traced(Toy(WIDE, chancy), again, head) == finished
        assert part.read_bytes() == content
        cut = content.index(b"\n", cut) + 1


@pytest.mark.parametrize("order", range(5))
def test_in_any_order_no_call_is_one_too_many_and_no_question_is_asked_twice(order: int) -> None:
    toy, head = Toy(WIDE, chancy), header(30, prompting=MODEL, parallel=8)
    ledger = Ledger(head.limits)
    list(searched(toy.world, head, executor=AnyOrder(toy.world, ledger, order), ledger=ledger))
    assert len(set(toy.asked)) == len(toy.asked) == ledger.spent.calls + ledger.spent.thoughts
    assert ledger.spent.calls == 30
