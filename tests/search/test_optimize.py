"""`regraph optimize` as it is typed: real graph store, recorded answers, verdicts replayed."""

import json
import os
import resource
import shlex
import signal
from pathlib import Path

import pytest

from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import start_embedded
from tests.search.lab import (
    FASTER,
    ONLY_SLOW,
    SERIAL,
    SPEEDUPS,
    STRIP,
    Lab,
    grow,
    wait_for,
    write_corpus,
)
from tests.stores import find_embedded

ROOT = Path(__file__).parents[2]


def test_it_finds_faster_code_and_shows_the_way_there(grown: Lab) -> None:
    ended = grown.optimize("--output", "best.cpp")
    assert ended.code == 0, ended
    assert "start > strip > unroll" in ended.out
    assert "left out" in ended.out
    (trace,) = grown.traces()
    assert str(trace.relative_to(grown.folder)) in ended.out
    assert "12x faster than the serial code (95 %: 10.8x to 13.2x)" in ended.out
    assert Path("best.cpp").read_text() == FASTER
    assert "Browser" not in ended.out  # none opens an embedded store
    assert grown.run("examples", "openmp/start", "openmp/strip").code == 0
    assert "without scale's own examples" in ended.err


def test_json_is_all_that_is_printed_and_holds_the_verified_speedup(grown: Lab) -> None:
    ended = grown.optimize("--json")
    summary = json.loads(ended.out)
    assert summary["improved"] is True
    assert (summary["speedup"], summary["device"]) == (12.0, "lab device")
    assert summary["speedup_interval"] == pytest.approx({"low": 10.8, "high": 13.2})
    assert summary["cost"]["calls"] == 5
    assert summary["best_code"] == grown.traces()[0].with_suffix(".cpp").read_text()


def test_slow_answers_end_as_an_honest_negative_with_the_serial_code(grown: Lab) -> None:
    write_corpus(grown.folder / "corpus", ONLY_SLOW)
    ended = grown.optimize("--output", "best.cpp")
    assert ended.code == 1
    assert "no improvement found; the serial code is the answer" in ended.out
    assert "Neo4j Browser" not in ended.out
    assert Path("best.cpp").read_text() == SERIAL


def test_its_own_examples_are_left_out_unless_asked_for(lab: Lab) -> None:
    grow(lab.store, [STRIP], problem="scale")
    ended = lab.optimize()
    assert ended.code == 2
    assert "without scale's own examples" in ended.err
    ended = lab.optimize("--set", "run.include_own=yes")
    assert ended.code == 0
    assert "left out" not in ended.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--budget", "0"), "--budget 0: it should be greater"),
        (("--model", "gpt"), "model 'gpt'"),
        (("--resume", "none.jsonl"), "none.jsonl: No such file"),
    ],
)
def test_bad_options_are_one_line(grown: Lab, words: tuple[str, ...], said: str) -> None:
    ended = grown.optimize(*words)
    assert ended.code == 2
    assert said in ended.err
    assert ended.err.count("\n") == 1


def test_an_unknown_problem_is_bad_input_and_names_those_there_are(grown: Lab) -> None:
    ended = grown.run("optimize", "nope")
    assert (ended.code, grown.traces()) == (2, [])
    assert "known: scale" in ended.err


def test_the_standard_method_needs_no_graph_and_says_what_is_not_recorded(lab: Lab) -> None:
    lab.patch.setenv("REGRAPH_STORE", "bolt://127.0.0.1:1")  # nobody listens, nobody asks
    ended = lab.optimize("--method", "standard")
    assert ended.code == 1
    assert "nobody had an answer" in ended.out


@pytest.mark.slow
def test_the_live_judge_is_asked(grown: Lab) -> None:
    grown.judge_live()
    ended = grown.optimize("--json")
    found = json.loads(ended.out)
    assert ended.code == (0 if found["improved"] else 1)  # a busy machine may be sure of nothing
    # a busy machine may know no time of some code, which then is no state to go on from
    assert 0 < found["cost"]["calls"] <= 5
    assert found["cost"]["judge_seconds"] > 0


def test_a_finished_run_is_printed_again_and_another_one_is_refused(grown: Lab) -> None:
    first = grown.optimize("--json", "--set", "run.seed=3")
    trace = str(grown.traces()[0])
    words = ("optimize", "scale", "--resume", trace)
    again = grown.run(*words, "--json")
    assert (again.code, again.out) == (first.code, first.out)  # its seconds, too
    other = grown.run(*words, "--set", "run.seed=4")
    assert other.code == 2
    assert "seed was 3, now it is 4" in other.err


def test_ctrl_c_keeps_the_best_and_the_printed_command_goes_on(grown: Lab) -> None:
    running = grown.start()
    wait_for(grown, b'"event":"record"', 3)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 4, said
    last = said.strip().splitlines()[-1]
    assert "best so far" in last
    (trace,) = grown.traces()
    assert trace.with_suffix(".cpp").read_text() in SPEEDUPS
    command = shlex.split(last.partition("go on: ")[2])
    ended = grown.run(*command[1:])
    assert ended.code == 0
    assert "5 of 5" in ended.out


def test_a_full_disk_is_said_with_the_command_that_goes_on(grown: Lab) -> None:
    grown.optimize()
    (whole,) = grown.traces()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (whole.stat().st_size // 2, hard))
    try:
        ended = grown.optimize("--runs", "full")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert ended.code == 3
    last = ended.err.strip().splitlines()[-1]
    assert "while tracing; make room" in last
    command = shlex.split(last.partition("go on: ")[2])
    assert grown.run(*command[1:]).code == 0


def kill_store(settings: Settings) -> None:
    state = find_embedded(settings)
    assert state is not None
    os.kill(state.pid, signal.SIGKILL)


@pytest.mark.slow
def test_a_store_that_stays_away_ends_the_search_resumably(
    grown: Lab, embedded_settings: Settings
) -> None:
    address = start_embedded(embedded_settings).address
    by_address = {  # then nobody starts it again
        "REGRAPH_STORE": address.uri,
        "REGRAPH_STORE_USER": address.user,
        "REGRAPH_STORE_PASSWORD": address.password,
        "REGRAPH_STORE_DATABASE": address.database or "",
    }
    grown.env.update(by_address)
    running = grown.start("--set", "prompt.prefill=no")
    wait_for(grown, b'"event":"reply"', 1)
    kill_store(embedded_settings)
    _, said = running.communicate(timeout=120)
    assert running.returncode == 4, said
    last = said.strip().splitlines()[-1]
    assert "not reachable" in last
    assert address.password not in said
    command = shlex.split(last.partition("go on: ")[2])
    ended = grown.run(*command[1:])  # in this process the store is the embedded one
    assert ended.code == 0, ended
