"""Results of benches that are kept in docs/results/."""

import json
from pathlib import Path

import pytest

from benchmarks.keep import by_line, together

KEPT = (
    Path(__file__).parents[2]
    / "docs"
    / "results"
    / "small-steps-held-out-cuda-qwen2.5-coder-1.5b.json"
)


def test_lanes_of_one_bench_are_one_bench_with_a_line_a_run() -> None:
    bench = json.loads(KEPT.read_text())
    lanes = [
        bench | {"arms": [arm], "runs": [run for run in bench["runs"] if run["arm"] == arm]}
        for arm in bench["arms"]
    ]
    lanes[-1] |= {"graph": {}}  # plain prompting reads none
    joined = together(lanes)
    assert joined["graph"] == bench["graph"]
    assert joined["arms"] == bench["arms"]
    assert len(joined["runs"]) == len(bench["runs"])
    assert joined["searches"]["cuda"] == len(lanes) * bench["searches"]["cuda"]
    assert json.loads(by_line(joined)) == joined
    assert sum(line.startswith('{"problem"') for line in by_line(joined).splitlines()) == len(
        bench["runs"]
    )


def test_lanes_of_other_benches_are_refused() -> None:
    bench = json.loads(KEPT.read_text())
    with pytest.raises(SystemExit):
        together([bench, bench | {"calls": bench["calls"] + 1}])
