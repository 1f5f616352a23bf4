"""`regraph problem check`, and that a search looks before it sends a prompt."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from regraph_kg.cli.progress import telling
from tests.in_process import regraph

Run = Callable[..., "CompletedProcess[str]"]


@pytest.fixture
def run(cache: Path, tmp_path: Path) -> Run:
    def run(*args: str) -> "CompletedProcess[str]":
        env = {"REGRAPH_CACHE_DIR": str(cache), "REGRAPH_CORPUS": str(tmp_path / "corpus")}
        env["REGRAPH_DATA_DIR"] = str(tmp_path / "data")
        return regraph(*args, folder=tmp_path, env=env)

    return run


def test_findings_are_lines_and_errors_exit_2(
    run: Run, problem_folder: Callable[..., Path], tmp_path: Path
) -> None:
    folder = problem_folder(serial=("float a", "double a"))
    done = run("problem", "check", str(folder), "nowhere")
    assert done.returncode == 2
    lines = done.stdout.splitlines()
    assert lines[0].startswith("scale: 1 error (looked at in ")
    assert lines[1].startswith("  error  signature: ")
    assert "scale(const float*, float*, double, int)" in lines[1]
    assert lines[2] == "nowhere: 1 error (looked at in 0.0 s)"
    assert "neither a folder nor in" in lines[3]
    assert "scale: compiling the serial code" in done.stderr
    known = run("problem", "check", str(folder), "--json")
    assert known.stderr == ""
    (plain,) = json.loads(known.stdout)
    assert plain["findings"][0]["about"] == "signature"


@pytest.mark.nightly
def test_all_problems_of_the_corpus_are_looked_at_unless_some_are_named(
    run: Run, problem_folder: Callable[..., Path], tmp_path: Path
) -> None:
    assert run("problem", "check").returncode == 2
    (tmp_path / "corpus" / "problems").mkdir(parents=True)
    problem_folder().rename(tmp_path / "corpus" / "problems" / "mine")
    done = run("problem", "check")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("scale: ")  # a note on its time depends on the machine


def test_a_search_looks_at_the_problem_before_it_sends_a_prompt(
    run: Run, problem_folder: Callable[..., Path], tmp_path: Path
) -> None:
    folder = problem_folder(serial=("y[i] =", "y[i] = q +"))
    words = ("--method", "standard", "--model", f"batch:{tmp_path / 'prompts'}")  # needs no graph
    done = run("optimize", str(folder), *words)
    assert done.returncode == 2
    assert "scale: serial.cpp: does not compile: serial.cpp:" in done.stderr
    assert not list((tmp_path / "prompts").glob("*.jsonl"))


def test_what_takes_long_is_one_live_line_on_a_terminal_and_lines_elsewhere(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for terminal in (False, True):
        monkeypatch.setenv("TTY_COMPATIBLE", "1" if terminal else "0")
        monkeypatch.setenv("TERM", "xterm")
        threads = threading.active_count()
        with telling() as tell:
            tell("heat: [truths]")
            assert threading.active_count() == threads, "nothing wakes up beside a measurement"
            tell("")
            tell("heat: baseline")
        said = capsys.readouterr()
        assert said.out == ""
        assert ("\x1b[2K" in said.err) is terminal, "a live line is wiped"
        assert "heat: [truths]" in said.err
        assert "heat: baseline" in said.err
