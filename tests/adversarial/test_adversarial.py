"""Every adversarial candidate gets its outcome, and gets through where its defence is missing."""

import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.compile import HOST_FLAGS, Compiler
from regraph_kg.evaluation.compile.toolchain import find_cuda, find_gcc
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.gpu.device import find_gpu
from regraph_kg.evaluation.gpu.sanitizer import find_sanitizer
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.evaluation.rules import Defences, JudgeLimits
from regraph_kg.evaluation.timing import batches
from regraph_kg.evaluation.timing.roofline import measure_peaks
from regraph_kg.models.evaluation import Candidate, EvalReport, Grade, Outcome
from regraph_kg.models.target import Target
from tests.adversarial import naive
from tests.adversarial.harm import Scene, scene
from tests.adversarial.source import (
    FULL_GRADE,
    UNSWITCHED,
    Adversary,
    adversaries,
    honest,
    problem_folder,
)
from tests.requirement import require

LIMITS = JudgeLimits(sanitizer_seconds=0)
HANGING = JudgeLimits(load_seconds=3, call_seconds=1.0, sanitizer_seconds=0)
"""Short, for those alone that hang: a machine may be slow over the others."""
TRIES = 3  # a candidate without its defence is tried so often
SANITIZER_SECONDS = 30.0  # at the full grade, which has the tool look
OPENMP, CUDA = adversaries("openmp"), adversaries("cuda")
HONEST = ("parallel_for",)
ATTACKS = (
    "asks_for_file",
    "cached_by_shape",
    "exhausts_memory",
    "exits_in_constructor",
    "exits_when_timed",
    "floods_endlessly",
    "known_shapes",
    "late_thread",
    "mutates_input",
    "nan",
    "punches_holes",
    "reads_parent",
    "steers_terminal",
    "wrong_on_repeat",
)
"""Openmp candidates of the quick tests, stopped by all from compiler to clock; others are slow."""
NEVER_GIVEN_UP = 1.0
"""Seconds of a call up to which timing goes on: some attack a later call than the first ones."""
Judges = Callable[[Target, Defences, JudgeLimits, Grade], Judge]


def each(
    adversaries: Iterable[Adversary], quick: Collection[str] | None = None
) -> pytest.MarkDecorator:
    """One test for each candidate, by its file's name; slow ones but for those in `quick`."""
    again = pytest.mark.flaky(reruns=2)  # a race shows where threads meet, which is chance
    params = [
        pytest.param(
            adversary,
            marks=[pytest.mark.slow] * (quick is not None and adversary.name not in quick)
            + [again] * ("nondeterministic" in adversary.outcomes),
        )
        for adversary in adversaries
    ]
    return pytest.mark.parametrize("adversary", params, ids=lambda one: one.path.name)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("adversarial")


@pytest.fixture(scope="module")
def judges(cache: Path) -> Iterator[Judges]:
    """The judge of a target with these defences: one each, kept open, the device's peaks known."""
    made: dict[tuple[Target, Defences, JudgeLimits, Grade], Judge] = {}
    measured: set[Target] = set()
    with ExitStack() as stack:

        def judge(target: Target, defences: Defences, limits: JudgeLimits, grade: Grade) -> Judge:
            key = (target, defences, limits, grade)
            if target not in measured:
                measure_peaks(cache, target)
                measured.add(target)
            if key not in made:
                opened = Judge(cache, grade=grade, limits=limits, defences=defences, seed=1)
                made[key] = stack.enter_context(opened)
            for other in made.keys() - {key}:
                for session in made[other]._sessions.values():
                    session.slots.cool_down()  # a resting judge keeps no memory of a GPU
            return made[key]

        yield judge


def limits_of(adversary: Adversary, grade: Grade) -> JudgeLimits:
    limits = HANGING if adversary.hangs else LIMITS
    if grade == "screening":
        return limits
    return dataclasses.replace(limits, sanitizer_seconds=SANITIZER_SECONDS)


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
    return load_problem(problem_folder(name))


def verdict(report: EvalReport) -> str:
    """Its outcome; a verified candidate on a machine too busy for timing has passed."""
    stable = report.outcome is not Outcome.UNSTABLE_TIMING
    return report.outcome.value if stable else Outcome.PASSED.value


def judged(
    judges: Judges, target: Target, without: tuple[str, ...], adversary: Adversary, bait: Scene
) -> EvalReport:
    grade = "screening" if FULL_GRADE in without else adversary.grade
    if grade == "full" and target == "cuda" and find_sanitizer(find_cuda()) is None:
        require("nvcc", "compute-sanitizer is not installed")
    off = [name for name in without if name not in UNSWITCHED]
    if without and "further" not in adversary.defences:
        off.append("further")  # it comes last, and finds much of what another lets through
    limits = limits_of(adversary, grade)
    judge = judges(target, Defences(**dict.fromkeys(off, False)), limits, grade)
    candidate = Candidate(target, bait.source(adversary.path))
    return judge.evaluate(candidate, problem(adversary.problem), incumbent_seconds=NEVER_GIVEN_UP)


def assert_caught(judges: Judges, target: Target, adversary: Adversary, bait: Scene) -> None:
    report = judged(judges, target, (), adversary, bait)
    assert verdict(report) in adversary.outcomes, report.diagnosis
    assert report.passed or report.diagnosis
    if adversary.harm:
        assert not bait.happened(
            adversary.harm, report, limits_of(adversary, "screening").call_seconds
        )


def assert_gets_through(judges: Judges, target: Target, adversary: Adversary, bait: Scene) -> None:
    patience = limits_of(adversary, "screening").call_seconds
    for _ in range(TRIES):  # once is enough for a cheat; a race, or a busy machine, may hide it
        report = judged(judges, target, adversary.defences, adversary, bait)
        through = verdict(report) in adversary.without
        harmed = not adversary.harm or bait.happened(adversary.harm, report, patience)
        if through and harmed:
            break
    assert through, report.diagnosis
    assert harmed, report.diagnosis


def assert_caught_by_one(
    judges: Judges, target: Target, layer: tuple[Adversary, str, str], bait: Scene
) -> None:
    adversary, defence, outcome = layer
    others = tuple(name for name in adversary.defences if name != defence)
    report = judged(judges, target, others, adversary, bait)
    assert verdict(report) == outcome, report.diagnosis


def layers(adversaries: Iterable[Adversary]) -> pytest.MarkDecorator:
    """One test for each defence of several that is declared to do alone."""
    each = [(adversary, *alone) for adversary in adversaries for alone in adversary.alone]
    return pytest.mark.parametrize("layer", each, ids=lambda layer: f"{layer[0].name}-{layer[1]}")


def assert_gets_past_naive(library: Path, cache: Path, adversary: Adversary, bait: Scene) -> None:
    serial = (problem_folder(adversary.problem) / "serial.cpp").read_text(encoding="utf-8")
    run = subprocess.run(
        [sys.executable, naive.__file__, built_openmp(cache, serial), library],
        cwd=bait.folder,
        pass_fds=(bait.descriptor,),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=60,
        check=False,
    )
    assert naive_verdict(run) in adversary.without, run.stderr
    bait.printed = run.stdout + run.stderr
    if adversary.harm:
        assert bait.happened(adversary.harm, None, 0.0)


def naive_verdict(run: subprocess.CompletedProcess[str]) -> str:
    """What one believes who reads stdout and the exit code."""
    said = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    if said:
        return str(said[0]["outcome"])
    return "passed" if run.returncode == 0 else "died"


def built_openmp(cache: Path, code: str) -> Path:
    library = compiler(cache, "openmp").host(code, (*HOST_FLAGS, "-fopenmp"))
    assert isinstance(library, Path)
    return library


def built_cuda(cache: Path, code: str) -> Path:
    library = compiler(cache, "cuda").cuda(code, find_cuda(), find_gpu().arch)
    assert isinstance(library, Path)
    return library


def compiler(cache: Path, target: Target) -> Compiler:
    return Compiler(cache / "compiled", find_gcc(), LIMITS)


@each(OPENMP, ATTACKS)
def test_openmp_is_caught(judges: Judges, adversary: Adversary, bait: Scene) -> None:
    assert_caught(judges, "openmp", adversary, bait)


@pytest.mark.nightly
@each(a for a in OPENMP if not a.is_for_naive)
def test_openmp_gets_through_without_its_defence(
    judges: Judges, adversary: Adversary, bait: Scene
) -> None:
    assert_gets_through(judges, "openmp", adversary, bait)


@pytest.mark.nightly
@layers(OPENMP)
def test_openmp_is_caught_by_each_layer(
    judges: Judges, layer: tuple[Adversary, str, str], bait: Scene
) -> None:
    assert_caught_by_one(judges, "openmp", layer, bait)


@pytest.mark.nightly
@each(a for a in OPENMP if "fresh_inputs" in a.defences)
def test_remembered_results_are_caught_where_large_arrays_leave_few_of_them(
    cache: Path, adversary: Adversary, bait: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "_ROOM_BYTES", 0)
    with Judge(cache, limits=LIMITS, seed=1) as judge:
        assert_caught(lambda *_: judge, "openmp", adversary, bait)


@pytest.mark.nightly
@each(a for a in OPENMP if a.is_for_naive)
def test_openmp_gets_past_a_judge_without_separation(
    cache: Path, adversary: Adversary, bait: Scene
) -> None:
    library = built_openmp(cache, bait.source(adversary.path))
    assert_gets_past_naive(library, cache, adversary, bait)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        pytest.param(*one, marks=[pytest.mark.slow] * (one[0].stem not in HONEST))
        for one in honest("openmp")
    ],
    ids=lambda value: Path(value).stem,
)
def test_honest_openmp_passes(judges: Judges, path: Path, name: str) -> None:
    candidate = Candidate("openmp", path.read_text(encoding="utf-8"))
    report = judges("openmp", Defences(), LIMITS, "screening").evaluate(candidate, problem(name))
    assert verdict(report) == "passed", report.diagnosis
    assert report.speedup is not None


@each(CUDA)
@pytest.mark.usefixtures("gpu")
def test_cuda_is_caught(judges: Judges, adversary: Adversary, bait: Scene) -> None:
    assert_caught(judges, "cuda", adversary, bait)


@pytest.mark.nightly
@each(a for a in CUDA if not a.is_for_naive)
@pytest.mark.usefixtures("gpu")
def test_cuda_gets_through_without_its_defence(
    judges: Judges, adversary: Adversary, bait: Scene
) -> None:
    assert_gets_through(judges, "cuda", adversary, bait)


@pytest.mark.nightly
@layers(CUDA)
@pytest.mark.usefixtures("gpu")
def test_cuda_is_caught_by_each_layer(
    judges: Judges, layer: tuple[Adversary, str, str], bait: Scene
) -> None:
    assert_caught_by_one(judges, "cuda", layer, bait)


@pytest.mark.nightly
@each(a for a in CUDA if a.is_for_naive)
@pytest.mark.usefixtures("gpu")
def test_cuda_gets_past_a_judge_without_separation(
    cache: Path, adversary: Adversary, bait: Scene
) -> None:
    library = built_cuda(cache, bait.source(adversary.path))
    assert_gets_past_naive(library, cache, adversary, bait)


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(("path", "name"), honest("cuda"), ids=lambda value: Path(value).stem)
def test_honest_cuda_passes(judges: Judges, path: Path, name: str) -> None:
    candidate = Candidate("cuda", path.read_text(encoding="utf-8"))
    report = judges("cuda", Defences(), LIMITS, "screening").evaluate(candidate, problem(name))
    assert verdict(report) == "passed", report.diagnosis
    assert report.speedup is not None


def test_every_defence_is_shown_to_matter() -> None:
    shown = {name for adversary in (*OPENMP, *CUDA) for name in adversary.defences}
    assert shown - UNSWITCHED == {field.name for field in dataclasses.fields(Defences)}


def test_every_declared_defence_makes_a_difference() -> None:
    same = [a.name for a in (*OPENMP, *CUDA) if not a.harm and a.outcomes <= a.without]
    assert same == []


def test_layers_are_among_the_declared_defences() -> None:
    each = [(a.name, a.defences, dict(a.alone)) for a in (*OPENMP, *CUDA)]
    assert [name for name, defences, alone in each if not alone.keys() <= set(defences)] == []
