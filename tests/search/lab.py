"""A small corpus and graph on which the command can be run for real in seconds."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from benchmarks.bench import shared
from regraph_kg.backends.store import GraphStore
from regraph_kg.evaluation.evaluate import EVALUATOR
from regraph_kg.models.evaluation import Candidate, EvalReport, Interval, Outcome, code_hash
from regraph_kg.models.graph import MergePlan, Relabelled
from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import Step, Trajectory
from regraph_kg.search.trace import Trace
from regraph_kg.search.world import Evaluate, World
from regraph_kg.settings import Settings
from regraph_kg.wiring import judges, problems, searches
from regraph_kg.wiring.stores import open_store
from tests.in_process import Ended, typed
from tests.search.replayed import replay
from tests.search.toy import SEAL, header
from tests.stores import environment

ROOT = Path(__file__).parents[2]
TOML = """
schema = 1
name = "scale"
entry = "scale"
tolerance = "conditioned"
[sizes]
check = [{ n = 1 }, { n = 1000 }]
time = { n = 20000 }
[[args]]
name = "x"
type = "float32"
role = "in"
shape = ["n"]
values = ["normal"]
[[args]]
name = "y"
type = "float32"
role = "out"
shape = ["n"]
[[args]]
name = "n"
type = "int32"
role = "size"
size = "n"
"""
HEAD = 'extern "C" void scale(const float* x, float* y, int n) {\n'


def loop(body: str, rounds: int = 0) -> str:
    """scale with `rounds` idle additions an element: the more, the slower."""
    wait = f"volatile float v = x[i]; for (int k = 0; k < {rounds}; ++k) v = v + 0.0f;"
    return f"{HEAD}  for (int i = 0; i < n; ++i) {{ {wait} y[i] = {body}; }}\n}}\n"


SERIAL = loop("2 * v", 20)
FAST = f"{HEAD}  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}}\n"
FASTER = f"{HEAD}#pragma omp simd\n  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}}\n"
SLOW = loop("2 * v", 100)
WRONG = loop("3 * v")

STRIP, UNROLL = "openmp/strip", "openmp/unroll"

ANSWERS: Mapping[tuple[tuple[str, ...], int], str] = {
    ((STRIP,), 0): FAST,
    ((STRIP,), 1): WRONG,
    ((UNROLL,), 0): SLOW,
    ((STRIP, UNROLL), 0): FASTER,
    ((UNROLL, STRIP), 0): loop("2 * v", 5),
}
SPEEDUPS = {FAST: 10.0, FASTER: 12.0, loop("2 * v", 5): 4.0}
"""Speedups of the recorded verdicts; SLOW is slower, WRONG wrong."""
ONLY_SLOW = {key: SLOW + f"// {number}\n" for number, key in enumerate(ANSWERS)}


def write_corpus(
    folder: Path, answers: Mapping[tuple[tuple[str, ...], int], str] = ANSWERS
) -> None:
    """`folder`/problems/scale and its recorded answers."""
    problem, recorded = folder / "problems" / "scale", folder / "recorded"
    problem.mkdir(parents=True, exist_ok=True)
    recorded.mkdir(exist_ok=True)
    (problem / "problem.toml").write_text(TOML)
    (problem / "serial.cpp").write_text(SERIAL)
    lines = [
        {"path": path, "attempt": attempt, "text": f"So.\n```cpp\n{code}```\n"}
        for (path, attempt), code in answers.items()
    ]
    text = "".join(json.dumps(line | {"author": "test"}) + "\n" for line in lines)
    (recorded / "scale.openmp.jsonl").write_text(text)


def verdict(candidate: Candidate) -> EvalReport:
    """What a judge would say, without a compiler or a clock."""
    wrong = candidate.code == WRONG
    speedup = SPEEDUPS.get(candidate.code, 0.2)
    return EvalReport(
        problem="scale",
        target="openmp",
        metric="call",
        code_hash=code_hash(candidate.code),
        outcome=Outcome.WRONG_ANSWER if wrong else Outcome.PASSED,
        diagnosis="y[0]: expected 2, got 3" if wrong else "",
        device="lab device",
        toolchain="lab 1.0",
        evaluator=EVALUATOR,
        grade="full",
        speedup=None if wrong else speedup,
        speedup_interval=None if wrong else Interval(low=0.9 * speedup, high=1.1 * speedup),
    )


def write_verdicts(folder: Path) -> Path:
    """A trace that holds the verdict of every recorded answer, to be replayed."""
    nobody = cast(Any, None)
    with Trace.create(folder, header(problem="scale", device="lab device"), SEAL) as trace:
        world = trace.world(World(*[nobody] * 3, evaluate_final=verdict))
        for code in [*ANSWERS.values(), *ONLY_SLOW.values()]:
            candidate = Candidate("openmp", code)
            trace.append_result(Evaluate(candidate), verdict(candidate))
            world.evaluate_final(candidate)
        return trace.path


def technique(id_: str) -> Technique:
    name = id_.partition("/")[2]
    return Technique(id=id_, name=name, target="openmp", definition=f"Do {name}.")


def grow(store: GraphStore, *paths: Sequence[str], problem: str = "other") -> None:
    """Merge one trajectory of `problem` per path of technique ids."""
    plans = []
    for path in paths:
        steps = [
            Step(label=one, reasoning="It helps.", code=f"// {problem} {path} {number}\n{FAST}")
            for number, one in enumerate(path)
        ]
        trajectory = Trajectory.model_validate(
            {"schema": 1, "target": "openmp", "problem": problem, "serial": SERIAL, "steps": steps}
        )
        labels = tuple(Relabelled(one, one, "given") for one in path)
        new = tuple(technique(one) for one in dict.fromkeys(path))
        plans.append(MergePlan(trajectory, labels, new=new))
    store.merge(plans)


@dataclass(frozen=True)
class Lab:
    """A folder to work in, a store, and the command, whose judge replays `verdicts`."""

    folder: Path
    env: dict[str, str]
    store: GraphStore
    verdicts: str
    patch: pytest.MonkeyPatch

    def run(self, *words: str) -> Ended:
        """`regraph WORDS` in this process."""
        return typed(*words)

    def optimize(self, *words: str) -> Ended:
        """Optimize scale with 5 calls."""
        return self.run("optimize", "scale", "--budget", "5", *words)

    def start(self, *words: str, thinking: float = 0.5) -> subprocess.Popen[str]:
        """The same in a process of its own, `thinking` seconds an answer."""
        return self.begin("optimize", "scale", "--budget", "5", *words, thinking=thinking)

    def begin(self, *words: str, thinking: float = 0.5) -> subprocess.Popen[str]:
        """`regraph WORDS` in a process of its own, `thinking` seconds an answer."""
        module = [sys.executable, "-m", "tests.search.slow_regraph", str(thinking), self.verdicts]
        return subprocess.Popen(
            [*module, *words],
            cwd=self.folder,
            env=self.env | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def judge_live(self) -> None:
        """From here on this machine's judge is asked."""
        for module in (searches, shared):
            self.patch.setattr(module, "open_judges", judges.open_judges)
            self.patch.setattr(module, "good_problem", problems.good_problem)

    def traces(self) -> list[Path]:
        return sorted(self.folder.glob("runs/*.jsonl"))


@pytest.fixture
def lab(
    tmp_path: Path,
    shared_cache: Path,
    embedded_settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Lab]:
    env = environment(embedded_settings) | {
        "REGRAPH_CORPUS": str(tmp_path / "corpus"),
        "REGRAPH_CACHE_DIR": str(shared_cache),
    }
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    write_corpus(tmp_path / "corpus")
    verdicts = write_verdicts(tmp_path / "verdicts")
    replay(verdicts, monkeypatch.setattr)
    store = open_store(embedded_settings)
    yield Lab(tmp_path, env, store, str(verdicts), monkeypatch)
    store.close()


@pytest.fixture
def grown(lab: Lab) -> Lab:
    grow(lab.store, [STRIP, UNROLL], [UNROLL, STRIP])
    return lab


def wait_for(lab: Lab, text: bytes, times: int) -> None:
    """Until a running search has traced `text` so often."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if any(trace.read_bytes().count(text) >= times for trace in lab.traces()):
            return
        time.sleep(0.02)
    pytest.fail(f"never traced: {text!r}")
