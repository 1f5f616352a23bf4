"""Several problems in one command: one after another, and they fail one by one.

Not covered: several hosts (tests/evaluation/hosts/test_ray_hosts.py has one search's judges), live
models.
"""

import json
import shlex
import shutil
import signal
from pathlib import Path

import pytest

from regraph_kg.errors import ModelError
from regraph_kg.llm.scripted import ScriptedModel
from regraph_kg.models.prompt import Prompt, Reply
from regraph_kg.search.run_record import read_header
from tests.search.lab import FASTER, ONLY_SLOW, SERIAL, Lab, wait_for

WORDS = ("--budget", "5")


def add_problem(lab: Lab, name: str, *, slow: bool = True, answers: bool = True) -> None:
    """A copy of the problem scale under another name; `slow`: no answer to it is any faster."""
    corpus = lab.folder / "corpus"
    shutil.copytree(corpus / "problems" / "scale", corpus / "problems" / name)
    toml = corpus / "problems" / name / "problem.toml"
    toml.write_text(toml.read_text().replace('name = "scale"', f'name = "{name}"'))
    if not answers:
        return
    recorded = (corpus / "recorded/scale.openmp.jsonl").read_text()
    known = [json.loads(line) for line in recorded.splitlines()]
    for line in known if slow else ():
        code = ONLY_SLOW[tuple(line["path"]), line["attempt"], line["repair"]]
        line["text"] = f"```cpp\n{code}```\n"
    text = "".join(json.dumps(line) + "\n" for line in known)
    (corpus / "recorded" / f"{name}.openmp.jsonl").write_text(text)


@pytest.fixture
def two(grown: Lab) -> Lab:
    """A lab with the problems scale, which can be made faster, and twice, which cannot."""
    add_problem(grown, "twice")
    return grown


def test_each_gets_a_search_a_trace_and_its_result(two: Lab) -> None:
    ended = two.run(*optimize(two, "scale", "twice", "--output", "best"))
    assert ended.code == 0, ended
    heads = [line for line in ended.out.splitlines() if "(openmp): " in line]
    assert heads[0].startswith("scale (openmp): 12x faster than")
    assert heads[1].startswith("twice (openmp): no improvement")
    assert Path("best/scale.cpp").read_text() == FASTER
    assert Path("best/twice.cpp").read_text() == SERIAL
    assert len(two.traces()) == 2
    assert "scale (openmp): mcgs, at most 5 calls" in ended.err
    assert "the graph is read without twice's own examples" in ended.err


def optimize(lab: Lab, *words: str) -> list[str]:
    """The command with the lab's verdicts."""
    return ["optimize", *words, *WORDS, "--set", f"run.judge={lab.verdicts}"]


def test_a_search_among_others_is_the_search_that_it_is_alone(two: Lab) -> None:
    together = two.run(*optimize(two, "scale", "twice", "--json", "--runs", "together"))
    for load in json.loads(together.out):
        alone = two.run(*optimize(two, load["problem"], "--json", "--runs", "alone"))
        same = json.loads(alone.out)
        for summary in (same, load["summary"]):
            del summary["active_seconds"]
        assert load["summary"] == same
        assert load["error"] is load["go_on"] is None
        assert read_header(Path(load["trace"])).problem == load["problem"]
        assert Path(load["code"]).read_text() == same["best_code"]


def test_the_search_that_fails_leaves_the_others_alone(two: Lab) -> None:
    add_problem(two, "silent", answers=False)
    ended = two.run(*optimize(two, "nope", "silent", "scale"))
    assert ended.code == 0
    assert ended.out.startswith("scale (openmp): 12x")
    assert "nope: problem nope: neither a folder nor in" in ended.err
    assert "silent: no recorded answers for silent.openmp" in ended.err
    assert [read_header(path).problem for path in two.traces()] == ["scale"]


def test_none_improved_is_an_honest_negative_that_says_why(two: Lab) -> None:
    add_problem(two, "thrice")
    ended = two.run(*optimize(two, "twice", "thrice"))
    assert ended.code == 1
    assert ended.out.count("no improvement found") == 2


def test_the_second_of_two_problems_of_one_name_does_not_replace_the_firsts_code(two: Lab) -> None:
    shutil.copytree(two.folder / "corpus/problems/scale", two.folder / "copy")
    ended = two.run(*optimize(two, "scale", "./copy", "--output", "best"))
    assert (ended.code, Path("best/scale.cpp").read_text()) == (0, FASTER)
    assert "./copy: best/scale.cpp: another problem" in ended.err


def test_a_model_lost_in_one_search_is_resumable_though_nothing_was_found(two: Lab) -> None:
    answer = ScriptedModel.complete

    def lose(model: ScriptedModel, prompt: Prompt) -> Reply:
        if "scale" in prompt.key.model_dump_json():
            raise ModelError("server gone")
        return answer(model, prompt)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ScriptedModel, "complete", lose)
        ended = two.run(*optimize(two, "scale", "twice"))
    assert ended.code == 4
    last = ended.err.splitlines()[-1]
    assert last.startswith("regraph: server gone; go on: regraph optimize scale --resume")
    again = two.run(*shlex.split(last.partition("go on: ")[2])[1:])
    assert again.code == 0


@pytest.mark.slow
def test_ctrl_c_ends_all_and_the_printed_command_goes_on(two: Lab) -> None:
    running = two.begin(*optimize(two, "scale", "twice", "--output", "best"))
    wait_for(two, b'"event":"record"', 1)
    running.send_signal(signal.SIGINT)
    out, said = running.communicate(timeout=60)
    assert running.returncode == 4, said
    assert out == ""
    assert "not begun: twice" in said
    assert "Traceback" not in said
    commands = [shlex.split(line) for line in said.splitlines() if line.startswith("regraph opt")]
    assert [words[2] for words in commands] == ["scale"]
    assert two.run(*commands[0][1:]).code == 0
    assert Path("best/scale.cpp").read_text() == FASTER


def test_answers_that_come_by_file_are_waited_for_together(two: Lab) -> None:
    ended = two.run(*optimize(two, "scale", "twice", "--model", "batch:asked"))
    assert ended.code == 5
    assert "prompts pending in asked/pending.jsonl" in ended.err.splitlines()[-1]
    asked = Path("asked/pending.jsonl").read_text()
    commands = [line for line in ended.err.splitlines() if line.startswith("regraph optimize")]
    assert [shlex.split(command)[2] for command in commands] == ["scale", "twice"]
    again = two.run(*shlex.split(commands[0])[1:])
    assert again.code == 5
    assert Path("asked/pending.jsonl").read_text() == asked  # the same prompts wait
