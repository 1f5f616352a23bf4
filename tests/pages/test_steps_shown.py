"""A trace says of its run what the run itself said; a page shows its steps."""

from pathlib import Path

import pytest
from pydantic import TypeAdapter

from regraph_kg.errors import BadInput
from regraph_kg.models.run import RunSummary
from regraph_kg.pages.render import Node
from regraph_kg.runs.run_page import steps_shown
from regraph_kg.search.run_record import VALUES, RunRecord
from regraph_kg.search.trace import Trace
from tests.pages.traces import record, searched, step
from tests.search.recorded_run import still
from tests.search.toy import SEAL, SERIAL, Run, header


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    return searched(tmp_path_factory.mktemp("runs"))


def long_run(folder: Path, steps: int, code: str = "int x;") -> Path:
    """A run of so many steps in a row, of which every third fails."""
    with Trace.create(folder, header(budget=steps), SEAL, still) as trace:
        for number in range(steps):
            speedup = None if number % 3 == 2 else 1.0 + number / steps
            one = step(0, speedup, f"{code} // {number}", sample=number)
            trace.record(record(number, one))
        return trace.path


def tree(run: RunRecord) -> tuple[Node, ...]:
    return steps_shown(run, SERIAL)


def told(summary: RunSummary) -> dict[str, object]:
    """A summary without what is not in a trace: judging's seconds."""
    plain = summary.model_dump(exclude={"active_seconds"})
    return plain | {"cost": summary.cost.model_dump(exclude={"judge_seconds"})}


def test_a_record_sums_a_run_up_as_the_search_did(whole: tuple[Path, Run]) -> None:
    path, run = whole
    found = RunRecord.read(path, SEAL)
    assert told(found.summary()) == told(run.summary)
    assert found.answer is not None
    assert found.answer[0].path == run.answer.path
    assert (found.finished, found.torn, found.ours) == (True, False, True)


def test_each_step_stands_below_the_code_that_it_began_with(whole: tuple[Path, Run]) -> None:
    path, run = whole
    nodes = tree(RunRecord.read(path, SEAL))
    codes = {
        step.path: step.code for record in run.records for step in record.steps if step.speedup
    }
    by_code = {node.code: node for node in nodes}
    checked = 0
    for way, code in codes.items():
        parent = nodes[by_code[code or ""].parent or 0]
        assert parent.code == codes.get(way[:-1], SERIAL)
        checked += len(way) > 1
    assert checked > 3
    answer = [node.code for node in nodes if node.answer]
    assert answer[-1] == run.answer.code


def test_a_step_has_its_difference_and_what_the_model_said(whole: tuple[Path, Run]) -> None:
    nodes = tree(RunRecord.read(whole[0], SEAL))
    first = next(node for node in nodes[1:] if node.parent == 0 and node.speedup)
    assert f"-{SERIAL}" in first.diff.splitlines()
    assert f"+{first.code.strip()}" in first.diff.splitlines()
    assert first.turns[0].answer.startswith("I change this.\n```cpp\n")


@pytest.mark.parametrize("event", ["record", "reply", "report", "stop"])
def test_a_well_summed_line_that_no_search_writes_is_refused(
    tmp_path: Path, event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Trace.create(tmp_path, header(), SEAL, still) as trace, monkeypatch.context() as patch:
        patch.setitem(VALUES, event, TypeAdapter(dict[str, int]))
        trace._append(event, "{}", {"steps": 1})
    with pytest.raises(BadInput, match=r"\.jsonl:2: no search writes such a line"):
        RunRecord.read(trace.path, SEAL)
