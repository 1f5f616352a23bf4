"""Figures that are no evidence: taken under load, told by others, of an older judge."""

from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome, code_hash
from regraph_kg.search.claims import claimed_codes, measured_again, stale
from regraph_kg.search.harvest import BUSY
from tests.search.test_harvest import paths, report, run, step, taught

# --- load ---


def test_what_was_timed_under_load_is_no_evidence() -> None:
    a, b = step("a", 8.0), step("a b", 9.0)
    busy = report(a.code or "", 8.0, load="2 compilers ran")
    found = taught(a, b, reports=[busy])
    (trajectory,) = found.trajectories
    assert [len(step.measurements) for step in trajectory.steps] == [0, 1]
    assert trajectory.steps[1].measurements[0].effect is None  # what came before was not timed
    assert found.left_out == {BUSY: 1}


def test_a_path_that_ends_under_load_ends_before() -> None:
    a, b = step("a", 8.0), step("a b", 9.0)
    found = taught(a, b, reports=[report(b.code or "", 9.0, load="load 5 of 2 cores")])
    assert paths(found) == ["a"]
    alone = taught(a, reports=[report(a.code or "", 8.0, load="load 5 of 2 cores")])
    assert (alone.trajectories, alone.left_out) == ((), {BUSY: 1})


def test_a_time_limit_met_under_load_is_no_failure() -> None:
    slow = step("b", None, outcome=Outcome.TIMED_OUT)
    wrong = step("c", None)
    loaded = [
        report(one.code or "", 1.0, outcome=one.outcome, load="load 5 of 2 cores")
        for one in (slow, wrong)
    ]
    found = taught(step("a"), slow, wrong, reports=loaded)
    assert [failure.technique for failure in found.trajectories[0].failures] == ["openmp/c"]
    assert found.left_out == {BUSY: 1}


# --- claims ---


def test_a_claim_is_worth_what_it_measures_here_whatever_it_says() -> None:
    """What is said to be right may be wrong, and the other way."""
    told = run(step("a", 9.0), step("a b", 9.0), step("c", None), ours=False)
    found = {"int a;": 2.0, "int a_b;": None, "int c;": 3.0}

    def judge(candidate: Candidate) -> EvalReport:
        speedup = found[candidate.code]
        if speedup is None:
            wrong = {"outcome": Outcome.WRONG_ANSWER, "diagnosis": "y[0]: 1, not 2"}
            return report(candidate.code, 1.0, device="here", **wrong)
        return report(candidate.code, speedup, device="here")

    here = measured_again(told, "here", judge)
    steps = [step for record in here.records for step in record.steps]
    assert [step.speedup for step in steps] == [2.0, None, 3.0]
    assert [step.diagnosis for step in steps] == ["", "y[0]: 1, not 2", ""]
    assert (here.id, here.header.device, here.ours) == (told.id, "here", True)
    assert {report.device for report in here.reports.values()} == {"here"}


def test_each_code_is_judged_once_and_what_nobody_can_judge_is_left_out() -> None:
    silent = step("c", None, outcome=Outcome.PARSE_FAILED, code=None)
    steps = (step("a"), step("b", code="int a;"), silent)
    asked: list[str] = []

    def judge(candidate: Candidate) -> EvalReport:
        asked.append(candidate.code)
        return report(candidate.code, 2.0)

    for ours, outcome in ((False, None), (True, Outcome.PARSE_FAILED)):
        told = run(*steps, ours=ours)
        here = measured_again(told, "here", judge)
        assert here.records[2].steps[0].outcome is outcome
        assert claimed_codes(told) == ("int a;",)
    assert asked == ["int a;"] * 2


def test_what_the_final_measurement_said_there_is_a_claim_too() -> None:
    final = report("int a;", 1.0, outcome=Outcome.WRONG_ANSWER)
    told = run(step("a"), finals={code_hash("int a;"): final}, ours=False)
    assert measured_again(told, "here", lambda _: report("int a;", 2.0)).finals == {}


def test_another_version_of_the_judge_is_named() -> None:
    told = run(step("a"), step("b"), reports=[report("int b;", 2.0, evaluator="2")])
    assert stale(told, "1") == "2"
    assert stale(run(step("a")), "1") is None


def test_a_run_with_load_keeps_its_path() -> None:
    busy = report("int a;", 2.0, load="load 5 of 2 cores")
    assert paths(taught(step("a"), step("a b"), reports=[busy])) == ["a b"]
