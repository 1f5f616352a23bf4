"""Several problems, a command each: what a lost model leaves, and prompts in one folder.

Not covered: several hosts (tests/evaluation/hosts/test_ray_hosts.py has one search's judges), live
models.
"""

import json
import shlex
import shutil
from pathlib import Path

import pytest

from regraph_kg.errors import ModelError
from regraph_kg.llm.scripted import ScriptedModel
from regraph_kg.models.prompt import Prompt, Reply
from tests.search.lab import ONLY_SLOW, Lab


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
        code = ONLY_SLOW[tuple(line["path"]), line["attempt"]]
        line["text"] = f"```cpp\n{code}```\n"
    text = "".join(json.dumps(line) + "\n" for line in known)
    (corpus / "recorded" / f"{name}.openmp.jsonl").write_text(text)


@pytest.fixture
def two(grown: Lab) -> Lab:
    """A lab with the problems scale, which can be made faster, and twice, which cannot."""
    add_problem(grown, "twice")
    return grown


def test_a_lost_model_is_resumable_though_nothing_was_found(two: Lab) -> None:
    def lose(model: ScriptedModel, prompt: Prompt) -> Reply:
        raise ModelError("server gone")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ScriptedModel, "complete", lose)
        ended = two.run("optimize", "--budget", "5", "scale")
    assert ended.code == 4
    last = ended.err.splitlines()[-1]
    assert last.startswith("regraph: server gone; go on: regraph optimize scale --resume")
    again = two.run(*shlex.split(last.partition("go on: ")[2])[1:])
    assert again.code == 0


def test_searches_of_one_folder_leave_each_others_prompts_there(two: Lab) -> None:
    asked = Path("asked/pending.jsonl")
    rounds = []
    for name in ("scale", "twice"):
        ended = two.run("optimize", "--budget", "5", name, "--model", "batch:asked")
        assert ended.code == 5
        assert " pending in asked/pending.jsonl" in ended.err.splitlines()[-1]
        command = ended.err.splitlines()[-1].partition("go on: ")[2]
        assert shlex.split(command)[:3] == ["regraph", "optimize", name]
        rounds.append((command, asked.read_text()))
    assert rounds[0][1] in rounds[1][1]
    again = two.run(*shlex.split(rounds[0][0])[1:])
    assert again.code == 5
    assert sorted(asked.read_text().splitlines()) == sorted(rounds[1][1].splitlines())
