"""Code that was only glanced at is screened before anything is built on it."""

from pathlib import Path

import pytest

from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome
from regraph_kg.models.run import SimulationRecord
from regraph_kg.runs.choice import usual_settings
from regraph_kg.search.harvest import harvest
from regraph_kg.search.run_record import RunRecord
from regraph_kg.search.trace import Trace
from tests.search.toy import (
    SEAL,
    TASK,
    Alone,
    Toy,
    hashed,
    header,
    judge,
    noisy_script,
    searching,
    traced,
)

FORK = {"start": ("a", "b"), "a": ("b", "c"), "b": ("a", "c"), "c": ("a",)}


class GlancingJudge:
    """Glances at a code the first time, screens it the second, and then finds half wrong."""

    def __init__(self) -> None:
        self.grades: dict[str, str] = {}

    def __call__(self, candidate: Candidate) -> EvalReport:
        report, text = judge(candidate), candidate.code
        self.grades[text] = "screening" if text in self.grades else "glance"
        if self.grades[text] == "screening" and hashed(text).random() < 0.5:
            wrong = {"outcome": Outcome.WRONG_ANSWER, "speedup": None, "diagnosis": "wrong at 7"}
            return report.model_copy(update=wrong)
        return report.model_copy(update={"grade": self.grades[text]})


def searched(
    method: str, folder: Path
) -> tuple[tuple[SimulationRecord, ...], GlancingJudge, RunRecord]:
    glancing = GlancingJudge()
    toy = Toy(FORK, noisy_script(3, failures=0.1), evaluate=glancing)
    head = header(40, settings=usual_settings(method))
    with Trace.create(folder, head, SEAL) as trace:
        traced(toy, trace, head)
    run = RunRecord.read(trace.path, SEAL)
    return run.records, glancing, run


@pytest.mark.parametrize("method", ["mcgs", "mcgs-paper", "regrapht"])
def test_what_falls_is_no_base_no_best_and_no_evidence(method: str, tmp_path: Path) -> None:
    records, glancing, run = searched(method, tmp_path)
    steps = [step for record in records for step in record.steps]
    fallen = [step for step in steps if step.fell]
    assert fallen, "the judge finds some wrong"
    assert all(step.cost.evaluations == 1 and not step.cost.calls for step in fallen)
    for step in fallen:
        after = steps[steps.index(step) + 1 :]
        assert not [one for one in after if step.path and one.path[:-1] == step.path]
    bases = {step.path[:-1] for step in steps if step.tried and len(step.path) > 1}
    for step in steps:
        if step.tried and step.path in bases and step.code and step.outcome is Outcome.PASSED:
            assert glancing.grades[step.code] == "screening"
    assert run.cost.evaluations == sum(step.cost.evaluations for step in steps)
    with_evidence = {
        step.code
        for way in harvest(run, TASK.serial).trajectories
        for step in way.steps
        if step.measurements
    }
    assert with_evidence <= {text for text, grade in glancing.grades.items() if grade != "glance"}
    assert not with_evidence & {step.code for step in fallen}


@pytest.mark.parametrize("method", ["mcgs", "regrapht"])
def test_a_search_with_glances_is_resumed_as_it_was(method: str, tmp_path: Path) -> None:
    records, _, run = searched(method, tmp_path)

    def nobody(candidate: Candidate) -> EvalReport:
        raise AssertionError(f"asked again for {candidate.code}")

    toy = Toy(FORK, lambda key: None, evaluate=nobody)
    with Trace.resume(run.path, run.header, SEAL) as trace:
        world = trace.world(toy.world)
        again = list(searching(world, run.header, executor=trace.executor(Alone(world))))
    assert tuple(again) == records
