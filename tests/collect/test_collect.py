"""`regraph collect` with the real judge: answers by file and by script."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from regraph_kg.errors import BadInput
from regraph_kg.llm.scripted import ScriptedModel
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.prompt import DecisionKey
from regraph_kg.models.trajectory import Source, Trajectory
from regraph_kg.runs.collect import CollectChoice, Gathered, collect
from regraph_kg.settings import Settings
from tests import in_process
from tests.stories import outcome

ROOT = Path(__file__).parents[2]
SCALE = ROOT / "tests" / "evaluation" / "problems" / "scale"
PLAIN = """extern "C" void scale(const float* x, float* y, float a, int n) {
  %s
  for (int i = 0; i < n; ++i) y[i] = a * x[i]%s;
}
"""
THREADS = PLAIN % ("#pragma omp parallel for", "")
WRONG = PLAIN % ("#pragma omp simd", " + 1")
DONE = "NO FURTHER STEP: it is bound by memory."

pytestmark = pytest.mark.xdist_group("judge")


def answer(label: str, code: str) -> str:
    return f"TECHNIQUE: {label}\nREASONING: Cores.\nDETAIL: A pragma.\n```cpp\n{code}```\n"


def script(answers: Mapping[str, str]) -> ScriptedModel:
    """Answers by trajectory, try and repair: "0.1.0"."""
    return ScriptedModel(
        "a script",
        {
            DecisionKey(kind="collect", subject=f"scale.openmp {place}", attempt=0): text
            for place, text in answers.items()
        },
    )


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("collecting")


def choice(folder: Path) -> CollectChoice:
    return CollectChoice(
        problems=(str(SCALE),),
        target="openmp",
        model=ModelSpec.parse("batch:none"),
        output=folder / "out.jsonl",
        min_speedup=0,
        credit=Source(licence="MIT"),
    )


def gather(folder: Path, cache: Path, model: ScriptedModel) -> Gathered:
    settings = Settings(cache_dir=cache)
    return outcome(collect(settings, choice(folder), model))


def kept(path: Path) -> list[Trajectory]:
    return [Trajectory.model_validate_json(line) for line in path.read_text().splitlines()]


@pytest.mark.slow
def test_judged_steps_end_in_a_file_and_are_paid_for_once(tmp_path: Path, cache: Path) -> None:
    answers = script(
        {
            "0.1.0": answer("Vectorize", WRONG),
            "0.1.1": answer("Threads", THREADS),
            "0.2.0": answer("Threads again", THREADS),
            "0.3.0": DONE,
        }
    )
    gathered = gather(tmp_path, cache, answers)
    assert gathered.calls in (3, 4)  # Threads may be no gain on a busy machine
    (one,) = kept(tmp_path / "out.jsonl")
    assert [step.label for step in one.steps] == ["Threads"]
    assert [failure.label for failure in one.failures] == ["Vectorize"]
    (measured,) = one.steps[0].measurements
    assert measured.seconds is not None
    assert measured.before_seconds is not None
    assert measured.roofline is not None
    assert one.source.prompt_hash.startswith("collect-")
    assert (one.source.licence, one.source.model) == ("MIT", "a script")
    told = replace(choice(tmp_path), credit=Source(model="somebody", licence="BSD"))
    again = outcome(collect(Settings(cache_dir=cache), told, script({})))  # has no new answer
    assert again.calls == 0
    assert again.kept == [one.ref]
    (one,) = kept(tmp_path / "out.jsonl")
    assert (one.source.licence, one.source.model) == ("BSD", "somebody")


def test_a_file_that_is_not_its_own_is_left_alone(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "out.jsonl").write_text("mine")
    with pytest.raises(BadInput):
        gather(tmp_path, cache, script({}))
    assert (tmp_path / "out.jsonl").read_text() == "mine"


def regraph(cache: Path, folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    env = {"REGRAPH_CACHE_DIR": str(cache)}
    return in_process.regraph("collect", *words, folder=folder, env=env)


def respond(folder: Path, text: str) -> None:
    """Answer what is pending with the same text."""
    lines = (folder / "pending.jsonl").read_text().splitlines()
    with (folder / "answers.jsonl").open("a") as answers:
        for line in lines:
            said = {"custom_id": json.loads(line)["custom_id"], "text": text}
            answers.write(json.dumps(said) + "\n")


@pytest.mark.slow
def test_answers_by_file_round_by_round_and_a_kill_between(tmp_path: Path, cache: Path) -> None:
    words = [str(SCALE), "--model", "batch:prompts", "--min-speedup", "0"]
    first = regraph(cache, tmp_path, *words)
    assert first.returncode == 5, first.stderr
    assert "1 prompt pending" in first.stderr
    respond(tmp_path / "prompts", answer("Threads", THREADS))
    running = subprocess.Popen(
        [Path(sys.executable).parent / "regraph", "collect", *words],
        env={**os.environ, "REGRAPH_CACHE_DIR": str(cache)},
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    journal = tmp_path / "collected.jsonl.journal"
    deadline = time.monotonic() + 120
    while b"report:" not in journal.read_bytes() and time.monotonic() < deadline:
        time.sleep(0.02)
    running.send_signal(signal.SIGKILL)
    running.wait()
    second = regraph(cache, tmp_path, *words)
    assert second.returncode == 5, second.stderr
    respond(tmp_path / "prompts", DONE)
    last = regraph(cache, tmp_path, *words, "--by", "a person")
    assert last.returncode == 0, last.stderr
    (one,) = kept(tmp_path / "collected.jsonl")
    assert one.steps[0].label == "Threads"
    assert one.source.model == "a person"


@pytest.mark.parametrize(
    "words",
    [
        [],
        [str(SCALE), "--model", "what"],
        [str(SCALE), "--model", "recorded"],
        ["absent", "--model", "ollama:x"],
    ],
)
def test_what_does_not_go_together_is_one_line(
    tmp_path: Path, cache: Path, words: list[str]
) -> None:
    done = regraph(cache, tmp_path, *words)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
