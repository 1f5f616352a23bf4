"""--dry-run: what a search begins with, told without a call, an evaluation, a trace."""

import json

import pytest

from regraph_kg.llm.scripted import ScriptedModel
from regraph_kg.models.prompt import Prompt, Reply
from regraph_kg.search.methods import METHODS
from tests.search.lab import Lab


@pytest.mark.parametrize("method", tuple(METHODS))
def test_the_prompt_shown_is_the_one_that_a_search_asks_first(grown: Lab, method: str) -> None:
    asked: list[Prompt] = []

    def noted(_: ScriptedModel, prompt: Prompt) -> Reply:
        asked.append(prompt)
        return Reply(text="no code", finish="stop", model="noted")

    grown.patch.setattr(ScriptedModel, "complete", noted)
    words = ("--method", method, "--budget", "20")
    ended = grown.run("optimize", "scale", *words, "--dry-run", "--json")
    assert (ended.code, grown.traces(), asked) == (0, [], []), ended
    told = json.loads(ended.out)
    assert told["calls"] == 20
    grown.optimize(*words)
    assert Prompt.model_validate(told["first_prompt"]) == asked[0]
    assert 0 < told["prompt_tokens"] < len(asked[0].system + asked[0].user)


def test_the_first_prompt_is_shown_in_full(grown: Lab) -> None:
    shown = grown.run("optimize", "scale", "--dry-run").out.partition("--- user\n")[2]
    assert 'extern "C" void scale' in shown
    assert "strip" in shown


def test_it_is_refused_for_what_the_search_would_be(lab: Lab) -> None:
    assert lab.run("optimize", "nope", "--dry-run").code == 2
    ended = lab.run("optimize", "scale", "--dry-run")
    assert ended.code == 2
    assert "run regraph ingest" in ended.err


def test_a_method_without_a_graph_needs_no_store(lab: Lab) -> None:
    lab.patch.setenv("REGRAPH_STORE", "bolt://127.0.0.1:1")  # nobody listens, nobody asks
    assert lab.run("optimize", "scale", "--dry-run", "--method", "standard").code == 0


def test_a_target_that_is_not_here_can_be_looked_at(grown: Lab) -> None:
    grown.patch.setenv("PATH", "/nowhere")
    ended = grown.run("optimize", "scale", "--dry-run", "--target", "cuda", "--method", "cot")
    assert ended.code == 0, ended
    assert "scale (cuda)" in ended.out
