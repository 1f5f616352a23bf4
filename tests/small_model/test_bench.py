"""`python -m benchmarks.bench` with a real small model on two problems."""

import pytest

from benchmarks.bench.results import read
from tests.small_model.conftest import BENCH, MODEL, Desk

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("small-model")]

WORDS = ("reduction", "prefix-sum", "--budget", "2", "--final", "screening")
ARMS = ("--arm", "mcgs", "--arm", "standard")


def test_two_arms_search_two_problems(desk: Desk) -> None:
    assert desk.run("ingest", "--starter").returncode == 0
    done = desk.run(*WORDS, *ARMS, command=BENCH)
    assert done.returncode == 0, done.stderr
    found = read(desk.folder / "bench")
    places = {(run.problem, run.arm) for run in found.runs}
    assert places == {(name, arm) for name in WORDS[:2] for arm in ("mcgs", "standard")}
    for run in found.runs:
        assert run.model.startswith(f"ollama:{MODEL}@")
        assert run.cost.calls == len(run.answers) or run.stopped == "exhausted"
        assert (run.cost.output_tokens > 0) == (len(run.answers) > 0)
        assert run.answers or run.arm == "mcgs"
