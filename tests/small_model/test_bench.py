"""`regraph bench` with a real small model on two problems, and its answers judged again."""

import pytest

from regraph_kg.bench.results import read
from tests.small_model.conftest import MODEL, Desk

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("small-model")]

WORDS = ("bench", "reduction", "prefix-sum", "--budget", "2", "--final", "screening")
ARMS = ("--arm", "mcgs", "--arm", "standard")
NOBODY = "http://127.0.0.1:1"


def test_two_arms_search_two_problems_and_the_same_answers_are_judged_again(desk: Desk) -> None:
    """The second judging asks nobody, and no answer of a real model is like another."""
    assert desk.run("ingest", "--starter").returncode == 0
    done = desk.run(*WORDS, *ARMS)
    assert done.returncode == 0, done.stderr
    found = read(desk.folder / "bench")
    places = {(run.problem, run.arm) for run in found.runs}
    assert places == {(name, arm) for name in WORDS[1:3] for arm in ("mcgs", "standard")}
    for run in found.runs:
        assert run.model.startswith(f"ollama:{MODEL}@")
        assert run.cost.calls == len(run.answers) + run.by_rule or run.stopped == "exhausted"
        assert (run.cost.output_tokens > 0) == (len(run.answers) > 0)
        assert run.answers or run.arm == "mcgs"

    desk.environment.update(REGRAPH_OLLAMA_URL=NOBODY)
    again = desk.run("bench", "--rejudge", "bench", "--into", "again", "--final", "screening")
    assert again.returncode == 0, again.stderr
    timed = {"faster", "not faster"}  # which of the two hangs on the clock, and so what follows it
    for was, run in zip(found.runs, read(desk.folder / "again").runs, strict=True):
        assert was.place == run.place
        if was.by_rule:  # steps by rule are timed anew as well
            continue
        for before, after in zip(was.answers, run.answers, strict=False):
            if {before.kind, after.kind} & timed:
                assert {before.kind, after.kind} <= timed
                break
            assert before.kind == after.kind
        else:
            assert (len(run.answers), run.unrecorded) == (len(was.answers), 0)
