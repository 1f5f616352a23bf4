"""--dry-run: what a search would send and may cost, told without a call, an evaluation, a trace."""

import json

import pytest

from regraph_kg.cli.dry_run import first_prompts
from regraph_kg.llm.scripted import ScriptedModel
from regraph_kg.models.prompt import Prompt, PromptKey, Reply
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods import METHODS, kind_of
from regraph_kg.wiring.searches import DrySearch
from tests.search.lab import Lab
from tests.search.toy import TASK, Toy, code, fenced, header, searching

GRAPH = {"start": ["a", "b"], "a": ["b"], "b": ["a"]}


def answer(key: PromptKey) -> str:
    return fenced(code(0.1, key)) if key.ask == "code" else "Tile the loop."


def dry(method: str, **fields: object) -> tuple[DrySearch, Toy]:
    toy = Toy(GRAPH, answer)
    head = header(settings=kind_of(method).settings(), **fields)  # type: ignore[arg-type]
    return DrySearch(TASK, head, toy.world), toy


@pytest.mark.parametrize("method", tuple(METHODS))
def test_the_first_prompts_of_any_method_are_those_that_it_begins_with(method: str) -> None:
    search, toy = dry(method)
    prompts = first_prompts(search)
    assert toy.asked == toy.evaluated == []
    list(searching(toy.world, search.header))
    assert toy.prompts[0] == prompts[0]
    keys = {prompt.key.model_dump_json() for prompt in prompts}
    assert len(keys) == len(prompts)


def test_several_are_seen_where_the_method_begins_several() -> None:
    assert len(first_prompts(dry("standard")[0])) == 8
    assert len(first_prompts(dry("standard", budget=3)[0])) == 3


@pytest.mark.parametrize("method", tuple(METHODS))
def test_the_methods_said_to_think_are_those_that_do(method: str) -> None:
    toy, head = Toy(GRAPH, answer), header(settings=kind_of(method).settings())
    ledger = Ledger(head.limits)
    list(searching(toy.world, head, ledger=ledger))
    assert (ledger.spent.thoughts > 0) == kind_of(method).thinks
    assert ledger.spent.thoughts <= ledger.spent.calls


def test_it_asks_and_writes_nothing(grown: Lab) -> None:
    def never(_: ScriptedModel, prompt: Prompt) -> Reply:
        raise AssertionError(prompt.key)

    grown.patch.setattr(ScriptedModel, "complete", never)
    ended = grown.run("optimize", "scale", "--budget", "20", "--dry-run")
    assert (ended.code, grown.traces()) == (0, []), ended
    assert f"at most {20 * 4096} in answers" in ended.out


def test_json_holds_every_figure_and_the_first_prompt(grown: Lab) -> None:
    (told,) = json.loads(grown.run("optimize", "scale", "--dry-run", "--json").out)
    assert (told["calls"], told["thoughts"]) == (50, 0)
    prompt = Prompt.model_validate(told["first_prompt"])
    each = len((prompt.system + prompt.user).encode()) / 3
    assert told["prompt_tokens"] == pytest.approx(50 * each, rel=0.1)  # not all are as long
    assert told["output_tokens"] == 50 * 4096


def test_it_is_refused_for_what_the_search_would_be(lab: Lab) -> None:
    assert lab.run("optimize", "nope", "--dry-run").code == 2
    ended = lab.run("optimize", "scale", "--dry-run")
    assert ended.code == 2
    assert "run regraph ingest" in ended.err


def test_a_method_without_a_graph_needs_none_and_a_thinking_one_counts_thoughts(lab: Lab) -> None:
    lab.patch.setenv("REGRAPH_STORE", "bolt://127.0.0.1:1")  # nobody listens, nobody asks
    words = ("optimize", "scale", "--dry-run", "--budget", "7", "--method")
    assert lab.run(*words, "fsr").code == 0
    (told,) = json.loads(lab.run(*words, "rethink-mcts", "--json").out)
    assert (told["calls"], told["thoughts"]) == (7, 7)
    assert told["output_tokens"] == 14 * 4096


def test_limits_bound_what_is_estimated(grown: Lab) -> None:
    words = ("--dry-run", "--set", "limit.tokens=1000", "--budget", "9", "--json")
    (told,) = json.loads(grown.run("optimize", "scale", *words).out)
    assert told["prompt_tokens"] == told["output_tokens"] == 1000
