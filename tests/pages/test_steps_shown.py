"""A trace says of its run what the run itself said; a page shows its steps."""

import fcntl
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from regraph_kg import locks
from regraph_kg.errors import BadInput
from regraph_kg.models.run import RunSummary
from regraph_kg.runs.steps_shown import PageShare, steps_shown
from regraph_kg.search.run_record import RunRecord
from regraph_kg.search.trace import Trace
from regraph_kg.search.trace_lines import VALUES, Event
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
    shown = steps_shown(RunRecord.read(path, SEAL), SERIAL, {}, PageShare())
    codes = {
        step.path: step.code for record in run.records for step in record.steps if step.speedup
    }
    by_code = {node.code: node for node in shown.nodes}
    checked = 0
    for way, code in codes.items():
        parent = shown.nodes[by_code[code or ""].parent or 0]
        assert parent.code == codes.get(way[:-1], SERIAL)
        checked += len(way) > 1
    assert checked > 3
    answer = [node.code for node in shown.nodes if node.answer]
    assert answer[-1] == run.answer.code


def test_a_step_has_its_difference_and_what_the_model_said(whole: tuple[Path, Run]) -> None:
    shown = steps_shown(RunRecord.read(whole[0], SEAL), SERIAL, {}, PageShare())
    first = next(node for node in shown.nodes if node.parent == 0 and node.right)
    assert f"-{SERIAL}" in first.diff.splitlines()
    assert f"+{first.code.strip()}" in first.diff.splitlines()
    assert first.turns[0].answer.startswith("I change this.\n```cpp\n")


@pytest.mark.parametrize("cut", [1, 40])
def test_half_a_line_at_the_end_is_left_out(
    whole: tuple[Path, Run], tmp_path: Path, cut: int
) -> None:
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(whole[0].read_bytes()[:-cut])
    found = RunRecord.read(torn, SEAL)
    assert (found.torn, found.finished) == (True, False)


def test_a_strangers_trace_is_told_from_ours(whole: tuple[Path, Run]) -> None:
    assert not RunRecord.read(whole[0], bytes(32)).ours


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", r"trace\.jsonl:1: not a line of a trace; give a trace as"),
        (b"int main() {}\n", r"trace\.jsonl:1: not a line of a trace; give a trace as"),
    ],
    ids=["empty", "code"],
)
def test_what_is_no_trace_is_refused_in_a_line(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=said):
        RunRecord.read(path, SEAL)


def test_a_changed_trace_is_refused_with_its_line(whole: tuple[Path, Run], tmp_path: Path) -> None:
    lines = whole[0].read_bytes().splitlines(keepends=True)
    lines[4] = lines[4].replace(b'"at":0', b'"at":9')
    path = tmp_path / "changed.jsonl"
    path.write_bytes(b"".join(lines))
    with pytest.raises(BadInput, match=r"changed\.jsonl:5: the trace was changed here"):
        RunRecord.read(path, SEAL)


@pytest.mark.parametrize("event", ["record", "reply", "report", "stop"])
def test_a_well_summed_line_that_no_search_writes_is_refused(
    tmp_path: Path, event: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Trace.create(tmp_path, header(), SEAL, still) as trace, monkeypatch.context() as patch:
        patch.setitem(VALUES, event, TypeAdapter(dict[str, int]))
        trace._append(event, "{}", {"steps": 1})
    with pytest.raises(BadInput, match=r"\.jsonl:2: no search writes such a line"):
        RunRecord.read(trace.path, SEAL)


def test_a_trace_that_a_search_writes_is_known_as_that(whole: tuple[Path, Run]) -> None:
    assert not locks.is_held(whole[0])
    with whole[0].open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert locks.is_held(whole[0])


def test_of_a_large_run_the_best_steps_are_shown_with_all_before_them(tmp_path: Path) -> None:
    found = RunRecord.read(long_run(tmp_path, 500), SEAL)
    shown = steps_shown(found, SERIAL, {}, PageShare(nodes=200, characters=10_000))
    assert len(shown.nodes) == 201
    assert max(node.speedup or 0 for node in shown.nodes) == found.bests[-1].step.speedup
    assert shown.left_out[0] == "the tree shows 200 of 500 steps"
    texts = sum(len(node.code) + len(node.diff) for node in shown.nodes)
    assert 2_000 < texts < 10_000
