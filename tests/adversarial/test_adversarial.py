"""Every adversarial candidate gets its outcome, and gets through where its defence is missing."""

import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile import HOST_FLAGS, Compiler
from regraph_kg.evaluation.device import find_gpu
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem import Problem, load_problem
from regraph_kg.evaluation.rules import Defences, Limits
from regraph_kg.evaluation.toolchain import find_cuda, find_gcc
from regraph_kg.models.base import Target
from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome
from tests.adversarial.harm import Scene, scene
from tests.adversarial.source import HERE, SEPARATION, Adversary, adversaries, honest
from tests.requirement import require

SOON = Limits(load_seconds=3, call_seconds=0.5)
OPENMP, CUDA = adversaries("openmp"), adversaries("cuda")
Judges = Callable[[Defences], Judge]

openmp = pytest.mark.parametrize("adversary", OPENMP, ids=lambda a: a.name)
cuda = pytest.mark.parametrize("adversary", CUDA, ids=lambda a: a.name)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("adversarial")


@pytest.fixture(scope="module")
def judges(cache: Path) -> Iterator[Judges]:
    """The judge with these defences: one each, kept open."""
    made: dict[Defences, Judge] = {}
    with ExitStack() as stack:

        def judge(defences: Defences) -> Judge:
            if defences not in made:
                opened = Judge(cache, limits=SOON, defences=defences, seed=1)
                made[defences] = stack.enter_context(opened)
            return made[defences]

        yield judge


@pytest.fixture
def bait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    monkeypatch.setenv("REGRAPH_TEST_SECRET", "in our environment")
    with scene(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def gpu() -> None:
    try:
        find_cuda()
    except ToolError as error:
        require("nvcc", str(error))
    try:
        find_gpu()
    except ToolError as error:
        require("gpu", str(error))


def problem(name: str) -> Problem:
    return load_problem(HERE / "problem" / name)


def verdict(report: EvalReport) -> str:
    """Its outcome; a verified candidate on a machine too busy for timing has passed."""
    stable = report.outcome is not Outcome.UNSTABLE_TIMING
    return report.outcome.value if stable else Outcome.PASSED.value


def judged(judge: Judge, target: Target, adversary: Adversary, bait: Scene) -> EvalReport:
    code = bait.source(adversary.path)
    return judge.evaluate(Candidate(target, code), problem(adversary.problem))


def assert_caught(judges: Judges, target: Target, adversary: Adversary, bait: Scene) -> None:
    report = judged(judges(Defences()), target, adversary, bait)
    assert verdict(report) in adversary.outcomes, report.diagnosis
    assert report.passed or report.diagnosis
    if adversary.harm:
        assert not bait.happened(adversary.harm, report, SOON.call_seconds)


def assert_gets_through(judges: Judges, target: Target, adversary: Adversary, bait: Scene) -> None:
    without = Defences(**dict.fromkeys(adversary.defences, False))
    report = judged(judges(without), target, adversary, bait)
    assert verdict(report) in adversary.without, report.diagnosis
    if adversary.harm:
        assert bait.happened(adversary.harm, report, SOON.call_seconds)


@openmp
def test_openmp_is_caught(judges: Judges, adversary: Adversary, bait: Scene) -> None:
    assert_caught(judges, "openmp", adversary, bait)


@pytest.mark.parametrize(
    "adversary", [a for a in OPENMP if a.defences != SEPARATION], ids=lambda a: a.name
)
def test_openmp_gets_through_without_its_defence(
    judges: Judges, adversary: Adversary, bait: Scene
) -> None:
    assert_gets_through(judges, "openmp", adversary, bait)


@pytest.mark.parametrize(
    "adversary", [a for a in OPENMP if a.defences == SEPARATION], ids=lambda a: a.name
)
def test_openmp_gets_past_a_judge_without_separation(
    cache: Path, adversary: Adversary, bait: Scene
) -> None:
    serial = (HERE / "problem" / adversary.problem / "serial.cpp").read_text(encoding="utf-8")
    code = bait.source(adversary.path)
    run = subprocess.run(
        [sys.executable, HERE / "naive.py", built(cache, serial), built(cache, code)],
        cwd=bait.folder,
        pass_fds=(bait.descriptor,),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert naive_verdict(run) in adversary.without
    if adversary.harm:
        assert bait.happened(adversary.harm, None, SOON.call_seconds)


def built(cache: Path, code: str) -> Path:
    library = Compiler(cache / "compiled", find_gcc(), SOON).host(code, (*HOST_FLAGS, "-fopenmp"))
    assert isinstance(library, Path)
    return library


def naive_verdict(run: subprocess.CompletedProcess[str]) -> str:
    """What one believes who reads stdout and the exit code."""
    said = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    if said:
        return str(said[0]["outcome"])
    return "passed" if run.returncode == 0 else "died"


@pytest.mark.parametrize(("path", "name"), honest("openmp"), ids=lambda value: Path(value).stem)
def test_honest_openmp_passes(judges: Judges, path: Path, name: str) -> None:
    candidate = Candidate("openmp", path.read_text(encoding="utf-8"))
    report = judges(Defences()).evaluate(candidate, problem(name))
    assert verdict(report) == "passed", report.diagnosis
    assert report.speedup is not None


@cuda
@pytest.mark.usefixtures("gpu")
def test_cuda_is_caught(judges: Judges, adversary: Adversary, bait: Scene) -> None:
    assert_caught(judges, "cuda", adversary, bait)


@cuda
@pytest.mark.usefixtures("gpu")
def test_cuda_gets_through_without_its_defence(
    judges: Judges, adversary: Adversary, bait: Scene
) -> None:
    assert_gets_through(judges, "cuda", adversary, bait)


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(("path", "name"), honest("cuda"), ids=lambda value: Path(value).stem)
def test_honest_cuda_passes(judges: Judges, path: Path, name: str) -> None:
    candidate = Candidate("cuda", path.read_text(encoding="utf-8"))
    report = judges(Defences()).evaluate(candidate, problem(name))
    assert verdict(report) == "passed", report.diagnosis
    assert report.speedup is not None


def test_every_defence_has_a_candidate_that_it_alone_stops() -> None:
    shown = {name for adversary in (*OPENMP, *CUDA) for name in adversary.defences}
    assert shown - set(SEPARATION) == {field.name for field in dataclasses.fields(Defences)}


@pytest.mark.parametrize("adversary", [*OPENMP, *CUDA], ids=lambda a: a.path.name)
def test_a_defence_makes_a_difference(adversary: Adversary) -> None:
    assert adversary.harm or not adversary.outcomes & adversary.without
