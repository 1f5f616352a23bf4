"""`regraph optimize` with a real small model: a whole search, the same one again, Ctrl-C."""

import json
import re
import shlex
import signal
import subprocess
import time
from typing import Any

import httpx
import ollama
import pytest

from tests.small_model.conftest import COUNTER, Desk

pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("small-model")]

PROBLEM = "reduction"  # the serial code is short, and so are prompts and answers
WORDS = ("optimize", PROBLEM, "--set", "run.final=screening", "--json")
WINDOW = 8192
"""Tokens: what the client asks for with answers of up to 4,096; another one reloads the model."""


def trace(desk: Desk, runs: str) -> list[dict[str, Any]]:
    (file,) = (desk.folder / runs).glob("*.jsonl")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def values(lines: list[dict[str, Any]], event: str) -> list[dict[str, Any]]:
    return [line["value"] for line in lines if line["event"] == event]


def code_blocks(text: str) -> list[str]:
    return re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_a_search_judges_what_a_real_model_says_and_repeats_its_first_answer(desk: Desk) -> None:
    """No two answers of one search are alike, so that the same one again is no luck."""
    words = (*WORDS, "--method", "standard", "--set", "run.seed=1")
    done = desk.run(*words, "--budget", "3", "--runs", "first")
    assert done.returncode in (0, 1), done.stderr
    summary = json.loads(done.stdout)
    assert re.match(r"ollama:qwen2\.5-coder@[0-9a-f]{12} server=\d", summary["model"])
    assert summary["cost"]["calls"] == 3

    lines = trace(desk, "first")
    replies = values(lines, "reply")
    for reply in replies:
        assert reply["model"] == summary["model"]
        assert min(reply["prompt_tokens"], reply["output_tokens"], reply["seconds"]) > 0
    steps = [step for record in values(lines, "record") for step in record["steps"]]
    assert sum(step["cost"]["calls"] for step in steps) == 3
    assert all(step["outcome"] == "passed" or step["diagnosis"] for step in steps)
    assert len(values(lines, "report")) >= 1
    texts = [reply["text"] for reply in replies]
    assert len(set(texts)) == 3
    assert any(f"{PROBLEM}(" in code for text in texts for code in code_blocks(text))

    again = desk.run(*words, "--budget", "1", "--runs", "again")
    assert again.returncode in (0, 1), again.stderr
    assert [reply["text"] for reply in values(trace(desk, "again"), "reply")] == texts[:1]


def test_ctrl_c_in_mid_answer_ends_the_command_and_the_server_s_work(desk: Desk) -> None:
    """The whole answer would take minutes, and the server works on one at a time."""
    desk.environment.update(REGRAPH_MODEL_MAX_TOKENS="4096")
    ready(desk.url, seconds=60)
    running = desk.start(*WORDS, "--method", "standard", "--model", f"ollama:{COUNTER}")
    wait_for_answer(running, desk.url)
    began = time.monotonic()
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 4, said
    last = said.strip().splitlines()[-1]
    words = shlex.split(last.partition("go on: ")[2])
    assert words[:3] == ["regraph", "optimize", PROBLEM]
    assert "--resume" in words
    assert "Traceback" not in said
    ready(desk.url, seconds=30)
    assert time.monotonic() - began < 30
    assert values(trace(desk, "runs"), "reply") == []


def ready(url: str, *, seconds: float) -> None:
    """One token of the model, when it is its turn; raises where that takes longer."""
    with ollama.Client(url, timeout=seconds) as client:
        client.chat(
            COUNTER,
            [{"role": "user", "content": "hello"}],
            options={"num_ctx": WINDOW, "num_predict": 1, "seed": 1},
        )


def wait_for_answer(running: subprocess.Popen[str], url: str) -> None:
    """Until the server works on one: it has no time for others."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and running.poll() is None:
        try:
            ready(url, seconds=5)
        except httpx.ReadTimeout:
            return
    pytest.fail(f"no search has asked anything; exit code {running.poll()}")
