"""The beginning of a search: at a port of the serial code, where one works."""

import math
from dataclasses import replace

import pytest

from regraph_kg.models.evaluation import RIGHT_BUT_SLOW, Candidate, EvalReport
from regraph_kg.models.method import SearchLimits
from regraph_kg.models.port import Port
from regraph_kg.models.run import Task
from regraph_kg.search.final_answer import finalists
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.run import search, started, started_from
from tests.search.toy import HEAD, SERIAL, TASK, Alone, Toy, code, fenced, header, judge

PARTS = {
    name: Port(entry="work", head="", start=f"// {name}\n", tail=code(said), signature="")
    for name, said in (("fast", "0.7"), ("wrong", "wrong_answer"), ("slow", "timed_out"))
}


def begun(task: Task, diagnosis: str = "") -> tuple[Task, int, int]:
    """The task as it is gone on with; how many codes were judged, and how many steps that is."""
    codes = list[str]()

    def evaluate(candidate: Candidate, *_: object) -> EvalReport:
        codes.append(candidate.code)
        return judge(candidate).model_copy(update={"diagnosis": diagnosis})

    world = replace(Toy({}, lambda _: None).world, evaluate=evaluate)
    chosen, first = started(task, Alone(world), Ledger(SearchLimits(verdicts=4)))
    return chosen, len(codes), 0 if first is None else len(first.steps)


def test_without_ports_a_search_begins_at_the_serial_code() -> None:
    assert begun(TASK) == (TASK, 0, 0)
    assert TASK.start == SERIAL


def test_the_first_port_that_works_is_the_start() -> None:
    task = replace(TASK, ports=(PARTS["wrong"], PARTS["fast"]))
    chosen, judged, steps = begun(task)
    assert (chosen.port, judged, steps) == (PARTS["fast"], 2, 2)
    assert chosen.start == PARTS["fast"].whole(PARTS["fast"].start)


def test_where_no_port_works_the_serial_code_is_the_start() -> None:
    chosen, judged, _ = begun(replace(TASK, ports=(PARTS["wrong"],)))
    assert (chosen.port, judged, chosen.start) == (None, 1, SERIAL)


def test_a_part_of_the_serial_code_itself_needs_no_judge() -> None:
    own = Port(entry="other", head="", start=SERIAL, tail="", signature=HEAD, function="work")
    chosen, judged, steps = begun(replace(TASK, ports=(own,)))
    assert (chosen.port, judged, steps) == (own, 0, 0)
    assert chosen.entries == ("work", "work")


@pytest.mark.parametrize(("diagnosis", "right"), [("", False), (f"slow; {RIGHT_BUT_SLOW}", True)])
def test_a_port_that_is_right_and_too_slow_to_be_timed_is_a_start(
    diagnosis: str, right: bool
) -> None:
    chosen, _, _ = begun(replace(TASK, ports=(PARTS["slow"],)), diagnosis)
    assert (chosen.port is not None) is right


def test_the_start_of_a_search_is_found_again_by_its_verdicts() -> None:
    task = replace(TASK, ports=(PARTS["wrong"], PARTS["fast"]))
    chosen, _, _ = begun(task)
    assert started_from(task, lambda file: judge(Candidate("openmp", file))) == chosen
    assert started_from(task, lambda _: None) == task


def test_a_search_records_its_start_before_its_iterations() -> None:
    task = replace(TASK, ports=(PARTS["fast"],))
    world = Toy({"start": ["a"]}, lambda _: fenced(code("1.1"))).world
    records = list(search(task, header(budget=2), world, Alone(world)))
    first = records[0]
    assert (first.path, first.reward, first.spent) == ((), None, 0)
    assert first.best_speedup == pytest.approx(math.exp(0.7))
    best = finalists(records)
    assert [step.path for step in best] == [("openmp/a",), ()]
