"""`regraph ingest --disclose`, and what the other commands make of a graph without code."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from regraph_kg.models.trajectory import Trajectory
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store
from tests.ingest.test_commands import Desk, desk
from tests.ingest.trajectories import measured, row, trajectory
from tests.recount import wrong_counts
from tests.stores import wipe

__all__ = ["desk"]


def told(**fields: Any) -> dict[str, Any]:
    """A line with a secret in its code."""
    one = row(1, "Tiled kernel", serial="int kept;\nint x;") | fields
    one["steps"][0] |= {"code": "int kept;\nint y;", "reasoning": "because"}
    one["steps"][0]["measurements"] = [measured(0.5)]
    return one


def test_what_is_printed_of_an_example_says_why_there_is_no_code(
    desk: Desk, embedded_settings: Settings
) -> None:
    file = desk.write("file.jsonl", told())
    done = desk.run("ingest", file, "--disclose", "statistics")
    assert (done.code, done.out.splitlines()[0][:24]) == (0, "trajectories: 1 added, 0"), done
    assert "warning" not in done.err
    said = desk.run("examples", "cuda/start", "cuda/shared-memory-tiling").out
    for one in ("'(withheld)'", "2x by this step", "only statistics of it were disclosed"):
        assert one in said
    assert "kept" not in said
    assert "because" not in said
    (found,) = desk.run("examples", "cuda/start", "cuda/shared-memory-tiling", "--json").json()
    assert (found["disclosed"], found["before"], found["after"]) == ("statistics", "", "")
    with closing(open_store(embedded_settings)) as store:
        assert wrong_counts(store) == []


def test_the_setting_is_the_default_and_the_option_goes_before_it(
    desk: Desk, embedded_settings: Settings
) -> None:
    file = desk.write("file.jsonl", told())
    desk.patch.setenv("REGRAPH_DISCLOSE", "statistics")
    assert desk.run("ingest", file).code == 0
    assert "kept" not in desk.run("graph", "export").out
    done = desk.run("ingest", file, "--disclose", "code")
    assert "1 of those known stay as they were disclosed before" in done.out
    wipe(embedded_settings)
    desk.run("ingest", file, "--disclose", "code")
    assert "kept" in desk.run("graph", "export").out
    assert desk.run("ingest", file, "--disclose", "some").code == 2


def test_a_list_of_rejected_lines_holds_none_of_them(desk: Desk) -> None:
    unknown = told(ref="r") | {"steps": [{"label": "A kept trick", "code": "int kept;"}]}
    file = desk.write("file.jsonl", told(), unknown, '{"kept": 1, "kept": 2}'[:12], told(serial=5))
    done = desk.run("ingest", file, "--disclose", "statistics")
    assert done.code == 0
    rejected = Path(f"{file}.rejected.jsonl").read_text()
    assert [sorted(json.loads(line)) for line in rejected.splitlines()] == [["line", "reason"]] * 3
    assert "kept" not in rejected + done.err
    assert "step 1: its name is of no technique that is known" in rejected


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"content": None}, "content says not of what"),
        ({"serial": "int x;"}, "has serial"),
        ({"steps": [{"label": "(withheld)", "technique": "cuda/a", "code": "x"}]}, "steps.0.code"),
        ({"steps": [{"label": "Mine", "technique": "cuda/a"}]}, "steps.0 with a label"),
        ({"steps": [{"label": "(withheld)"}]}, "steps.0 with a label, or without technique"),
        ({"disclosed": "code"}, "serial: missing or empty"),
        ({"disclosed": "code", "serial": "x", "steps": [{"label": "a", "code": "x"}]}, "content"),
    ],
)
def test_a_trajectory_holds_what_it_discloses_and_no_more(
    fields: dict[str, Any], said: str
) -> None:
    usual = {"schema": 1, "target": "cuda", "problem": "p", "disclosed": "statistics"}
    steps = [{"label": "(withheld)", "technique": "cuda/a"}]
    usual |= {"content": trajectory(1).id, "steps": steps}
    Trajectory.model_validate(usual)
    with pytest.raises(ValidationError, match=said):
        Trajectory.model_validate(usual | fields)


def test_marks_of_equal_texts_are_equal_only_within_the_same_content() -> None:
    one, other = trajectory(1), trajectory(2)
    assert one.mark("a") == trajectory(1, problem=one.problem).mark("a") != one.mark("b")
    assert one.mark("a") != other.mark("a")
