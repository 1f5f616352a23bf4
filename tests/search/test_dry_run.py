"""--dry-run: what a search would send and may cost, told without a call, an evaluation, a trace."""

import json
from pathlib import Path

import pytest

from regraph_kg.cli import dry_run
from regraph_kg.cli.dry_run import first_prompts, look_back
from regraph_kg.llm.scripted import ScriptedModel
from regraph_kg.models.evaluation import Candidate, EvalReport
from regraph_kg.models.prompt import Prompt, PromptKey, Reply
from regraph_kg.models.run import RunHeader
from regraph_kg.search.effects import Evaluate, ModelRequest
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods import METHODS, kind_of
from regraph_kg.search.trace import Trace
from regraph_kg.wiring.searches import DrySearch
from tests.search.test_choice import chosen
from tests.search.test_optimize import Lab, grown, lab
from tests.search.toy import SEAL, TASK, Toy, code, fenced, header, judge, read, searching

__all__ = ["grown", "lab"]  # fixtures

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
    assert "scale (openmp)\n  method      mcgs\n" in ended.out
    assert "20 at most" in ended.out
    assert f"at most {20 * 4096} in answers" in ended.out
    assert "nothing is known: no earlier trace" in ended.out
    assert "--- user" not in ended.out


def test_the_first_prompt_is_shown_in_full_on_request(grown: Lab) -> None:
    ended = grown.run("optimize", "scale", "--dry-run", "--set", "run.prompt=yes")
    shown = ended.out.partition("--- user\n")[2]
    assert 'extern "C" void scale' in shown
    assert "strip" in shown
    assert shown.endswith("---\n")


def test_json_holds_every_figure_and_the_first_prompt(grown: Lab) -> None:
    (told,) = json.loads(grown.run("optimize", "scale", "--dry-run", "--json").out)
    assert (told["calls"], told["thoughts"]) == (50, 0)
    prompt = Prompt.model_validate(told["first_prompt"])
    each = len((prompt.system + prompt.user).encode()) / 3
    assert told["prompt_tokens"] == pytest.approx(50 * each, rel=0.1)  # not all are as long
    assert told["output_tokens"] == 50 * 4096
    assert told["minutes"] is told["known"] is None


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


def test_a_target_that_is_not_here_can_be_looked_at(grown: Lab) -> None:
    grown.patch.setenv("PATH", "/nowhere")
    ended = grown.run("optimize", "scale", "--dry-run", "--target", "cuda", "--method", "cot")
    assert ended.code == 0, ended
    assert "scale (cuda)" in ended.out


def test_limits_bound_what_is_estimated(grown: Lab) -> None:
    words = ("--dry-run", "--set", "limit.tokens=1000", "--budget", "9", "--json")
    (told,) = json.loads(grown.run("optimize", "scale", *words).out)
    assert told["prompt_tokens"] == told["output_tokens"] == 1000


def test_several_problems_are_told_together(grown: Lab) -> None:
    folder = grown.folder / "corpus/problems"
    (folder / "twice").mkdir()
    toml = (folder / "scale/problem.toml").read_text()
    (folder / "twice/problem.toml").write_text(toml.replace('name = "scale"', 'name = "twice"'))
    (folder / "twice/serial.cpp").write_text((folder / "scale/serial.cpp").read_text())
    ended = grown.run("optimize", "scale", "twice", "--dry-run", "--budget", "4")
    assert ended.code == 0
    assert "scale (openmp)" in ended.out
    assert "twice (openmp)" in ended.out
    assert "together\n  calls       8 at most\n" in ended.out


# What earlier traces tell


def write_trace(folder: Path, *seconds: float, judged: float = 0.5, **fields: object) -> RunHeader:
    """A trace whose calls took so many seconds and 100 tokens each."""
    head = header(**{"model": "ollama:tiny@abc server=1", "problem": "scale", **fields})  # type: ignore[arg-type]
    with Trace.create(folder, head, SEAL) as trace:
        for number, one in enumerate(seconds):
            key = PromptKey(problem="scale", target="openmp", path=(), attempt=number)
            reply = Reply(text="x", finish="stop", output_tokens=100, seconds=one)
            trace.append_result(ModelRequest(Prompt(key=key, system="", user="")), reply)
            trace.append_result(Evaluate(Candidate("openmp", code(0))), report(judged))
    return head


def report(seconds: float) -> EvalReport:
    found = judge(Candidate("openmp", code(0)))
    return found.model_copy(update={"stages": {"total": seconds}})


def test_medians_of_this_problems_traces_go_before_others(tmp_path: Path) -> None:
    write_trace(tmp_path, 1.0, 2.0, 9.0, judged=0.25)
    write_trace(tmp_path, 70.0, problem="other")
    known = look_back(tmp_path, chosen(), "scale")
    assert known is not None
    assert (known.traces, known.same_problem) == (1, True)
    assert (known.call_seconds, known.evaluation_seconds, known.output_tokens) == (2.0, 0.25, 100)
    of_another = look_back(tmp_path, chosen(), "third")
    assert of_another is not None
    assert (of_another.traces, of_another.same_problem) == (2, False)


@pytest.mark.parametrize(
    "fields", [{"model": "ollama:tiny2@abc"}, {"model": "recorded:abc"}, {"target": "cuda"}]
)
def test_traces_of_another_model_or_target_tell_nothing(
    tmp_path: Path, fields: dict[str, object]
) -> None:
    write_trace(tmp_path, 1.0, **fields)
    assert look_back(tmp_path, chosen(), "scale") is None


def test_what_is_no_trace_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "notes.jsonl").write_text("hello\n")
    (tmp_path / "empty.jsonl").write_text("")
    write_trace(tmp_path)  # it has no call
    assert look_back(tmp_path, chosen(), "scale") is None
    assert look_back(tmp_path / "none", chosen(), "scale") is None


@pytest.mark.parametrize(
    ("typed", "seconds"),
    [
        ({"budget": 10}, 10 * (2.0 + 0.5)),
        ({"budget": 10, "parallel": 4}, 10 * 2.0 / 4),
        ({"budget": 10, "parallel": 40}, 10 * 0.5),  # the judge is what takes longest
        ({"budget": 10, "sets": ["limit.evaluations=2"]}, 10 * 2.0 + 2 * 0.5),
        ({"budget": 10, "sets": ["limit.seconds=7"]}, 7.0),
    ],
)
def test_time_is_that_of_calls_in_their_slots_and_of_the_judge(
    tmp_path: Path, typed: dict[str, object], seconds: float
) -> None:
    write_trace(tmp_path, 2.0)
    choice = chosen(**typed)
    known = look_back(tmp_path, choice, "scale")
    assert known is not None
    assert dry_run.duration(choice, choice.limits.calls, known) == pytest.approx(seconds)


def test_the_time_is_told_after_a_search_with_the_same_model(grown: Lab) -> None:
    assert grown.optimize().code == 0
    (trace,) = grown.traces()
    finals = [line for line in read(trace) if line.event == "final"]
    assert finals
    (told,) = json.loads(grown.run("optimize", "scale", "--dry-run", "--json").out)
    assert told["known"]["traces"] == 1
    assert told["minutes"] == 0.0  # recorded answers and verdicts take no time
    ended = grown.run("optimize", "scale", "--dry-run")
    assert "if it goes as in 1 earlier trace of this problem" in ended.out
    assert len(grown.traces()) == 1
