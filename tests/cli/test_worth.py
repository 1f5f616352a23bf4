"""`regraph graph report`: edges of runs' traces, or why there are none."""

import json
from pathlib import Path

from tests.cli.taken_home import make, searched
from tests.cli.test_apply import here
from tests.in_process import typed as regraph

__all__ = ["here"]


def test_edges_of_traces_are_told_and_what_is_no_trace_is_passed_over(here: Path) -> None:
    code, _, err = regraph("graph", "report")
    assert (code, "0 runs and no step that the graph proposed" in err) == (2, True)
    assert "absent: no such folder" in regraph("graph", "report", "absent").err
    searched(here, make(here))
    (here / "runs" / "notes.jsonl").write_text("mine\n")
    code, out, err = regraph("graph", "report", "runs")
    assert code == 0, err
    assert "all edges" in out
    edges = json.loads(regraph("graph", "report", "--json").out)
    assert [edge["source"] for edge in edges][:2] == ["", "openmp/start"]
    assert edges[0]["told"]["asked"] == 1
