"""Models that are of no use, and graphs: each search ends as an honest negative that says why.

Not covered: servers that die, hang or send half a stream (tests/llm/test_lost_servers.py).
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from regraph_kg.llm.scripted import ScriptedModel
from regraph_kg.models.prompt import Prompt, PromptKey, Reply
from regraph_kg.search.methods import METHODS
from tests.search.lab import FAST, SERIAL, SLOW, STRIP, WRONG, Lab, grow


def fenced(code: str) -> str:
    return f"So.\n```cpp\n{code}```\n"


def answering(lab: Lab, answer: Callable[[Prompt], str]) -> None:
    """The lab's model says this to every prompt."""

    def complete(_: ScriptedModel, prompt: Prompt) -> Reply:
        text = answer(prompt)
        return Reply(text=text, finish="stop", prompt_tokens=10, output_tokens=5, model="bad")

    lab.patch.setattr(ScriptedModel, "complete", complete)


@pytest.mark.parametrize("method", tuple(METHODS))
def test_no_method_stumbles_over_a_model_that_only_talks(grown: Lab, method: str) -> None:
    answering(grown, lambda _: "I would use OpenMP.")
    ended = grown.optimize("--method", method, "--json")
    summary = json.loads(ended.out)
    assert (ended.code, summary["improved"], summary["best_code"]) == (1, False, SERIAL)
    assert summary["cost"]["calls"] == 5
    assert set(summary["outcomes"]) == {"parse_failed"}
    assert grown.optimize("--resume", str(grown.traces()[0])).code == 1


def test_a_model_that_never_answers_in_form_is_not_asked_for_the_rest(grown: Lab) -> None:
    answering(grown, lambda _: "I would use OpenMP.")
    ended = grown.optimize("--set", "limit.unreadable=3")
    assert ended.code == 1
    assert "3 of 5, 3 calls of the model, in " in ended.out
    assert "no code was found in one answer after another: try another --model" in ended.out


def test_a_run_that_goes_on_asks_whom_its_trace_names(grown: Lab) -> None:
    assert grown.optimize().code == 0
    grown.patch.setenv("REGRAPH_MODEL", "ollama:nobody")
    assert grown.optimize("--resume", str(grown.traces()[0])).code == 0


@pytest.mark.parametrize(
    "method",
    [
        "mcgs",
        *(pytest.param(name, marks=pytest.mark.slow) for name in METHODS if name != "mcgs"),
    ],
)
def test_no_method_stumbles_over_a_model_that_echoes_its_prompt(lab: Lab, method: str) -> None:
    """The prompt holds the serial code in a block, and may hold others: the judge decides."""
    grow(lab.store, [STRIP])
    answering(lab, lambda prompt: f"{prompt.system}\n\n{prompt.user}")
    words = (
        "optimize",
        "scale",
        "--budget",
        "2",
        "--method",
        method,
        "--set",
        "run.final=screening",
    )
    ended = lab.run(*words, "--json")
    assert ended.code in (0, 1), ended  # a busy machine may take the serial code for faster
    assert json.loads(ended.out)["cost"]["calls"] in (1, 2), "unchanged code closes a technique"


def test_code_that_is_judged_and_fails_says_how(lab: Lab) -> None:
    """A real compiler and judge: the entry defined twice, wrong, crashing, declared only, in C."""
    lab.judge_live()
    head = SERIAL.partition("{")[0]
    answers = [
        fenced(FAST + SLOW),
        fenced(WRONG),
        fenced(f"{head}{{ y[-1000000000l] = 1; }}\n"),
        fenced(f"{head.rstrip()};\n"),
        fenced(FAST.replace('extern "C" ', "static ")),
    ]

    def answer(prompt: Prompt) -> str:
        assert isinstance(prompt.key, PromptKey)
        return answers[prompt.key.attempt]

    answering(lab, answer)
    words = ("optimize", "scale", "--budget", "5", "--method", "standard")
    ended = lab.run(*words, "--output", "best.cpp")
    assert ended.code == 1, ended
    (answers,) = [line for line in ended.out.splitlines() if line.startswith("  answers")]
    assert answers == "  answers     3 did not compile, 1 crashed, 1 wrong"
    assert "failures    mostly did not compile, 2 times: cannot load it" in ended.out
    assert Path("best.cpp").read_text() == SERIAL


def test_a_graph_without_the_target_is_bad_input(grown: Lab) -> None:
    recorded = grown.folder / "corpus/recorded"
    (recorded / "scale.cuda.jsonl").write_text("")
    ended = grown.optimize("--target", "cuda")
    assert (ended.code, grown.traces()) == (2, [])
    assert "the graph holds no cuda technique to begin with" in ended.err


def test_a_graph_whose_techniques_lead_nowhere_ends_the_search_early(lab: Lab) -> None:
    grow(lab.store, [STRIP])
    answering(lab, lambda _: fenced(FAST))
    ended = lab.optimize("--set", "samples=1", "--set", "free=no")
    assert ended.code == 0
    assert "1 of 5, 1 call of the model, in 1 iteration\n" in ended.out
    assert "stopped     nothing is left to try" in ended.out
