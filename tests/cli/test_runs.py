"""`regraph runs`: what came of searches, and their states."""

import fcntl
import json
import os
from pathlib import Path

import pytest

from tests.cli.taken_home import FOUND, make, searched
from tests.cli.test_apply import here
from tests.in_process import typed as regraph

__all__ = ["here"]


def test_runs_are_listed_with_what_came_of_them(here: Path) -> None:
    assert "no runs in runs/" in regraph("runs").out
    code, out, err = regraph("runs", "--runs", "absent", "--json")
    assert (code, out, "absent: no folder of runs" in err) == (2, "", True)
    problem = make(here)
    whole, nothing = searched(here, problem), searched(here, problem, None)
    torn = here / "runs" / "torn.jsonl"
    torn.write_bytes(b"\n".join(whole.read_bytes().splitlines()[:1]) + b'\n{"event"')
    (here / "runs" / "other.jsonl").write_text("{}\n")
    os.mkfifo(here / "runs" / "pipe.jsonl")
    (here / "runs" / "endless.jsonl").symlink_to("/dev/zero")
    code, out, err = regraph("runs", "--json")
    assert err.count("no regular file; give a trace") == 2
    listed = {load["run"]: load for load in json.loads(out)}
    assert (code, "other.jsonl:1: not a line of a trace" in err) == (0, True)
    assert listed[whole.stem]["speedup"] == pytest.approx(2.0138, abs=1e-3)
    interval = listed[whole.stem]["speedup_interval"]
    assert interval["low"] < 2 < interval["high"]
    states = {listed[path.stem]["state"] for path in (whole, nothing, torn)}
    assert states == {"done", "done: nothing surely faster", "interrupted: --resume goes on"}
    with torn.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        listed = {load["run"]: load for load in json.loads(regraph("runs", "--json").out)}
    assert listed["torn"]["state"] == "under way: 0 of 1 verdicts"


def test_a_run_is_shown_by_the_beginning_of_its_name(here: Path) -> None:
    problem = make(here)
    trace = searched(here, problem)
    code, out, _ = regraph("runs", trace.stem[:12])
    assert (code, "2.01x faster than the serial code" in out) == (0, True)
    assert regraph("runs", trace, "--code").out.strip() == FOUND.strip()
    nothing = searched(here, problem, None)
    assert regraph("runs", nothing, "--code")[:2] == (1, "")
    assert "2 begin so" in regraph("runs", trace.stem[:4]).err
