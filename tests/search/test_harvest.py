"""What a finished run teaches, and what it must not."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from regraph_kg.backends.evidence import Evidence, Pair
from regraph_kg.backends.statistics import NextRows, RowKey, add, contribution
from regraph_kg.errors import BadInput
from regraph_kg.ingest.pipeline import plan
from regraph_kg.models.evaluation import EvalReport, Interval, Outcome, Timing, code_hash
from regraph_kg.models.graph import Relabelled
from regraph_kg.models.prompt import PromptKey, Reply
from regraph_kg.models.run import Cost, SimulationRecord, StepRecord
from regraph_kg.models.trajectory import Trajectory
from regraph_kg.search.harvest import UNASKED, Harvest, harvest, reasonings, refuse
from regraph_kg.search.methods import METHODS, kind_of
from regraph_kg.search.run_record import RunRecord
from regraph_kg.search.trace import Trace
from tests.search.toy import SEAL, SERIAL, Toy, header, noisy_script, technique, traced

HEADER = header(model="small@sha256:1", excluded="toy", device="cpu")
START = "openmp/start"


def timing(median: float) -> Timing:
    return Timing(samples=(median,), median=median, interval=Interval(low=median, high=median))


def report(code: str, speedup: float, serial: float = 8.0, **fields: object) -> EvalReport:
    usual: dict[str, object] = {
        "problem": "toy",
        "target": "openmp",
        "metric": "call",
        "code_hash": code_hash(code),
        "outcome": Outcome.PASSED,
        "device": "cpu",
        "toolchain": "g++",
        "evaluator": "1",
        "grade": "screening",
        "timing": timing(serial / speedup),
        "baseline": timing(serial),
        "speedup": speedup,
        "speedup_interval": {"low": 0.9 * speedup, "high": 1.1 * speedup},
    }
    return EvalReport.model_validate(usual | fields)


def step(path: str, speedup: float | None = 2.0, **fields: object) -> StepRecord:
    """The step at the end of `path`, "a b#1" for openmp/a and sample 1 of openmp/b; None failed."""
    elements = tuple(f"openmp/{name}" for name in path.split())
    usual: dict[str, object] = {
        "path": elements,
        "technique": elements[-1].partition("#")[0],
        "sample": int(elements[-1].partition("#")[2] or 0),
        "outcome": Outcome.PASSED if speedup else Outcome.WRONG_ANSWER,
        "speedup": speedup,
        "gain": None,
        "cost": Cost(calls=1),
        "code": f"int {path.replace(' ', '_').replace('#', '_')};",
        "diagnosis": "" if speedup else f"wrong at {path}",
    }
    return StepRecord.model_validate(usual | fields)


def said(texts: dict[str, str]) -> tuple[tuple[PromptKey, Reply], ...]:
    """Answers for steps, by their paths."""
    return tuple(
        (
            PromptKey(problem="toy", target="openmp", path=step(path).path),
            Reply(text=text, finish="stop"),
        )
        for path, text in texts.items()
    )


def records(*steps: StepRecord) -> list[SimulationRecord]:
    """A record a step; what was not recorded has no reward."""
    return [
        SimulationRecord(
            iteration=number,
            path=one.path,
            steps=(one,),
            reward=None if one.outcome is None else 0.0,
            spent=number + 1,
            best_speedup=1.0,
        )
        for number, one in enumerate(steps)
    ]


def run(*steps: StepRecord, reports: Sequence[EvalReport] = (), **fields: object) -> RunRecord:
    codes = [(step.code or "", step.speedup or 1) for step in steps]
    known = {code_hash(code): report(code, speedup) for code, speedup in codes}
    usual: dict[str, object] = {
        "id": "run 1",
        "header": HEADER,
        "records": tuple(records(*steps)),
        "reports": known | {report.code_hash: report for report in reports},
        "finals": {},
        "ended": True,
        "times": tuple(float(number) for number in range(len(steps))),
    }
    return RunRecord(**usual | fields)  # type: ignore[arg-type]


def taught(*steps: StepRecord, **fields: object) -> Harvest:
    return harvest(run(*steps, **fields), SERIAL)  # type: ignore[arg-type]


def paths(found: Harvest) -> list[str]:
    return [
        " ".join((step.technique or "?").partition("/")[2] for step in trajectory.steps)
        for trajectory in found.trajectories
    ]


def statistics(found: Harvest) -> NextRows:
    """The NEXT rows of a graph that holds this harvest alone."""
    rows: NextRows = {}
    for trajectory in found.trajectories:
        add(rows, contribution(Evidence.of(_plan(trajectory))))
    return rows


def _plan(trajectory: Trajectory):  # type: ignore[no-untyped-def]
    labels = [Relabelled(s.label, s.technique or "", "given") for s in trajectory.steps]
    failed = [Relabelled(f.label, f.technique or "", "given") for f in trajectory.failures]
    # a failure makes no technique: those of this graph are known
    known = {one.technique: technique(one.technique.partition("/")[2]) for one in failed}
    return plan(trajectory, labels, failed, known, "")


def tries(found: Harvest) -> dict[str, tuple[int, int]]:
    """Transition -> (tried, verified)."""
    return {
        f"{pair.source.partition('/')[2]} {pair.target.partition('/')[2]}": (
            tally["tried"],
            tally["verified"],
        )
        for (pair, _), tally in statistics(found).items()
        if tally["tried"]
    }


def test_every_verified_leaf_is_one_trajectory() -> None:
    found = taught(
        step("a"),
        step("a b"),
        step("a c", None),
        step("a b d"),
        step("a e"),
        step("f"),
        step("g", 0.5),
    )
    assert paths(found) == ["f", "g", "a e", "a b d"]


def test_a_step_that_several_paths_share_counts_once() -> None:
    found = taught(step("a"), step("a b"), step("a c"), step("a b d"), step("a b e"))
    assert paths(found) == ["a c", "a b d", "a b e"]
    one = (1, 1)
    assert tries(found) == {"start a": one, "a b": one, "a c": one, "b d": one, "b e": one}
    assert (found.steps, found.failures) == (5, 0)


def test_failures_go_with_the_path_that_they_follow_and_count_once() -> None:
    found = taught(
        step("a"), step("b", None), step("a b"), step("a c"), step("a d", None), step("a b e", None)
    )
    first, second = found.trajectories
    assert [(failure.after_step, failure.technique) for failure in first.failures] == [
        (0, "openmp/b"),
        (1, "openmp/d"),
        (2, "openmp/e"),
    ]
    assert second.failures == ()
    failed = first.failures[1]
    assert (failed.outcome, failed.diagnosis) == (Outcome.WRONG_ANSWER, "wrong at a d")
    assert (failed.code, failed.device) == ("int a_d;", "cpu")
    assert tries(found)["a d"] == (1, 0)


def test_every_try_counts_also_where_answers_are_equal() -> None:
    same: dict[str, Any] = {"code": "int same;"}
    found = taught(
        step("a", **same),
        step("a#1", **same),
        step("b", None, **same),
        step("b#1", None, **same, diagnosis="wrong at b"),
        step("c", None, outcome=Outcome.PARSE_FAILED, code=None, diagnosis="no code"),
        step("c#1", None, outcome=Outcome.PARSE_FAILED, code=None, diagnosis="no code"),
    )
    assert tries(found) == {"start a": (2, 2), "start b": (2, 0), "start c": (2, 0)}


def test_a_step_says_what_was_measured_and_what_it_gained() -> None:
    reports = [report("int a;", 2.0, serial=8.0), report("int a_b;", 6.0, serial=9.0)]
    found = taught(step("a"), step("a b", 6.0, cost=Cost(calls=2)), reports=reports)
    (trajectory,) = found.trajectories
    first, second = (step.measurements[0] for step in trajectory.steps)
    assert (first.seconds, first.before_seconds, first.serial_seconds) == (4.0, 8.0, 8.0)
    assert (second.seconds, second.before_seconds, second.serial_seconds) == (1.5, 4.5, 9.0)
    assert (first.effect, second.effect, second.speedup) == (2.0, 3.0, 6.0)
    assert (first.device, first.toolchain, first.evaluator) == ("cpu", "g++", "1")
    place = Pair("openmp/a", "openmp/b"), RowKey("cpu", HEADER.model)
    rows = statistics(found)
    tally = rows[place]
    assert math.isclose(2**20 * math.log2(3), tally["sum_log2_effect"], rel_tol=1e-6)


def test_a_trajectory_says_from_which_run_and_model_it_is() -> None:
    (one,) = taught(step("a"), replies=said({"a": "Because."})).trajectories
    assert (one.source.model, one.source.run) == ("small@sha256:1", "run 1")
    assert (one.source.learned, one.source.learner) == (True, "small@sha256:1")
    assert (one.source.created, one.source.prompt_hash) == (HEADER.created, HEADER.prompts)
    assert (one.problem, one.target, one.serial) == ("toy", "openmp", SERIAL)
    assert (one.steps[0].label, one.steps[0].reasoning) == ("a", "Because.")
    assert one.steps[0].measurements[0].run == "run 1"


def test_what_a_transform_made_is_learned_as_its_step_and_not_as_the_models() -> None:
    made = {"transform": "openmp/a/one"}
    found = taught(step("a", **made), step("a#1", None, **made), step("a b"))
    (trajectory,) = found.trajectories
    assert [one.transform for one in trajectory.steps] == ["openmp/a/one", ""]
    assert [one.transform for one in trajectory.failures] == ["openmp/a/one"]
    counts = {
        (pair.target, key.learner): n["tried"] for (pair, key), n in statistics(found).items()
    }
    assert counts == {("openmp/a", "transforms"): 2, ("openmp/b", HEADER.model): 1}


def test_a_step_that_was_timed_badly_is_a_way_and_no_evidence() -> None:
    shaky = step("a", outcome=Outcome.UNSTABLE_TIMING)
    found = taught(shaky, step("a b", 4.0), step("c", outcome=Outcome.UNSTABLE_TIMING))
    assert paths(found) == ["a b"]
    assert tries(found) == {"a b": (1, 1)}
    assert found.trajectories[0].steps[1].measurements[0].effect is None


@pytest.mark.parametrize(("applied", "why"), list(UNASKED.items()))
def test_a_step_that_did_something_else_counts_for_no_transition(applied: str, why: str) -> None:
    found = taught(step("a"), step("b", applied=applied), step("b c"), step("a d", applied=applied))
    assert paths(found) == ["a"]
    assert tries(found) == {"start a": (1, 1)}
    assert found.left_out == {why: 2, "came after a step that was left out": 1}


def test_a_step_that_is_known_to_have_done_another_technique_counts_for_that_one() -> None:
    strayed: dict[str, Any] = {"applied": "other", "did": "openmp/b"}
    found = taught(
        step("a", **strayed),
        step("a c"),
        step("a c d", applied="other", did="openmp/e"),
        step("a f", None),
        replies=said({"a": "I do a.", "a c": "I do c."}),
    )
    assert paths(found) == ["b c e"]
    assert tries(found) == {"start b": (1, 1), "b c": (1, 1), "c e": (1, 1), "b f": (1, 0)}
    assert found.left_out == {}
    (one,) = found.trajectories
    # what the model said of its step is of the one that it was asked for
    assert [(given.label, given.reasoning) for given in one.steps] == [
        ("b", ""),
        ("c", "I do c."),
        ("e", ""),
    ]


def test_the_same_technique_reached_on_two_ways_is_two_tries_also_where_the_code_is_equal() -> None:
    same: dict[str, Any] = {"code": "int same;"}
    strayed = step("a", **same, applied="other", did="openmp/b")
    found = taught(step("b", **same), strayed)
    assert tries(found) == {"start b": (2, 2)}
    measured = [trajectory.steps[0].measurements[0].run for trajectory in found.trajectories]
    assert measured == ["run 1", "run 1 openmp/a"]  # else the store takes them for one


def test_what_the_final_measurement_disproved_is_a_failure() -> None:
    final = report("int a;", 1.0, outcome=Outcome.WRONG_ANSWER, diagnosis="sometimes", grade="full")
    found = taught(step("a"), step("a b"), step("c"), finals={final.code_hash: final})
    assert paths(found) == ["c"]
    assert tries(found) == {"start a": (1, 0), "start c": (1, 1)}
    assert found.trajectories[0].failures[0].diagnosis == "sometimes"


def test_steps_that_name_no_technique_teach_nothing() -> None:
    found = taught(step("a", technique=None), step("b", None))
    assert found == Harvest((), {"names no technique": 1})


def test_an_answer_that_was_not_recorded_is_no_try() -> None:
    assert tries(taught(step("a"), step("b", None, outcome=None, code=None))) == {"start a": (1, 1)}


def test_a_child_that_was_recorded_before_its_parent_is_placed() -> None:
    assert paths(taught(step("a b"), step("a"))) == ["a b"]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"model": "recorded:1"}, "recorded answers never enter"),
        ({"model": "recorded"}, "recorded answers never enter"),
        ({"excluded": None}, "read its own problem's examples"),
        ({"excluded": "another"}, "read its own problem's examples"),
    ],
)
def test_a_run_that_would_make_the_graph_untrue_is_refused(
    fields: dict[str, object], why: str
) -> None:
    head = HEADER.model_copy(update=fields)
    with pytest.raises(BadInput, match=why) as caught:
        refuse(run(step("a"), header=head))
    assert "\n" not in str(caught.value)


def test_only_what_this_installation_wrote_with_this_judge_teaches_unless_it_is_trusted() -> None:
    theirs = replace(run(step("a")), ours=False)
    with pytest.raises(BadInput):
        refuse(theirs)
    refuse(theirs, trust=True)
    with pytest.raises(BadInput):
        refuse(run(step("a")), judge="newer")


def test_a_run_that_has_not_ended_is_refused() -> None:
    """Its leaves may grow: the shared steps would count again."""
    with pytest.raises(BadInput, match="has not ended: finish it with regraph optimize --resume"):
        refuse(run(step("a"), ended=False))


def test_other_serial_code_is_refused() -> None:
    with pytest.raises(BadInput, match="other serial code"):
        harvest(run(step("a")), SERIAL + " ")


@pytest.mark.parametrize("method", [name for name in METHODS if kind_of(name).walks])
def test_a_whole_run_counts_every_sample_once(method: str, tmp_path: Path) -> None:
    """On a graph with cycles: as many tries per transition as the records hold samples."""
    graph = {"start": ["a", "b"], "a": ["b", "a"], "b": ["a", "c"], "c": []}
    settings = kind_of(method).settings()
    if "free" in type(settings).model_fields:
        settings = settings.model_copy(update={"free": False})  # is of no transition
    head = header(60, excluded="toy", model="small@1", settings=settings)
    with Trace.create(tmp_path, head, SEAL) as trace:
        done = traced(Toy(graph, noisy_script(1)), trace, head)
    found = RunRecord.read(trace.path)
    assert (found.header, found.records, found.ended) == (head, done.records, True)
    expected: dict[str, tuple[int, int]] = {}
    for record in done.records:
        for step in record.steps:
            ends = [START, *step.path][-2:]
            names = [end.partition("/")[2].partition("#")[0] for end in ends]
            tried, verified = expected.get(" ".join(names), (0, 0))
            passed = step.outcome is Outcome.PASSED
            expected[" ".join(names)] = (tried + 1, verified + passed)
    harvested = harvest(found, SERIAL)
    assert tries(harvested) == expected
    assert harvested.left_out == {}
    assert len(harvested.trajectories) > 3


def test_a_run_is_the_same_run_wherever_its_file_lies(tmp_path: Path) -> None:
    with Trace.create(tmp_path, HEADER, SEAL) as trace:
        content = trace.path.read_bytes()
    (tmp_path / "renamed.jsonl").write_bytes(content)
    assert RunRecord.read(tmp_path / "renamed.jsonl") == RunRecord.read(trace.path)
    assert not RunRecord.read(trace.path).ended


@pytest.mark.parametrize(("other", "before"), [("int a;", 1.8), ("int b;", 4.5)])
def test_a_step_that_was_timed_in_turn_with_the_one_before_says_what_it_gained_then(
    other: str, before: float
) -> None:
    rivalry = {
        "code_hash": code_hash(other),
        "ratio": 1.2,
        "interval": {"low": 1.1, "high": 1.3},
        "verdict": "faster",
    }
    reports = [report("int a;", 2.0), report("int a_b;", 6.0, serial=9.0, rivalry=rivalry)]
    (trajectory,) = taught(step("a"), step("a b", 6.0), reports=reports).trajectories
    second = trajectory.steps[1].measurements[0]
    assert second.before_seconds == pytest.approx(before)


def test_reasoning_is_what_stands_beside_the_code_of_the_answer_that_a_step_is_of() -> None:
    head = header(3)
    one = StepRecord(
        path=("openmp/a", "openmp/b#1"),
        technique="openmp/b",
        sample=1,
        outcome=Outcome.PASSED,
        speedup=2.0,
        gain=None,
        cost=Cost(calls=2),
        code="#include <x>\nint a;",
    )
    key = PromptKey(
        problem=head.problem,
        target=head.target,
        path=(*one.path[:-1], "openmp/b"),
        attempt=1,
    )
    text = "First\n I split.\n```cpp\nint a;\n```\nDone."
    other = key.model_copy(update={"attempt": 0})
    reply = Reply(text=text, finish="stop")
    replies = ((other, Reply(text="```\nint a;\n```", finish="stop")), (key, reply))
    found = run(one, one.model_copy(update={"code": None}), header=head, replies=replies)
    assert reasonings(found) == {code_hash("#include <x>\nint a;"): "First I split. Done."}
    assert reasonings(run(one, header=head)) == {}
