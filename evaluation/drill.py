"""A fire drill: the exploits that ship with the package, judged on this machine.

Each is judged as any candidate is, and honest code beside them; what came of it is compared with
what the exploit's header demands (evaluation/exploits/README.md). All of a target share one judge,
problem by problem, so that each problem is opened once; they are compiled beside other checks.

Not covered: the exploits of tests/adversarial that need bait (a port, a folder, a naive judge).
"""

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from regraph_kg.evaluation.doctor import Check, Finding, Scope
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.machine import Machine
from regraph_kg.evaluation.problem import Problem, load_problem
from regraph_kg.evaluation.rules import Defences, Limits
from regraph_kg.evaluation.seat import Rules
from regraph_kg.models.base import Target
from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome

EXPLOITS = Path(__file__).with_name("exploits")
"""openmp/*.cpp, cuda/*.cu, their problem/ and, where there is some, honest/ code."""
_LIMITS: dict[Target, Limits] = {
    "openmp": Limits(load_seconds=3, call_seconds=0.5),
    "cuda": Limits(call_seconds=1.5),
}
"""Short for the sake of exploits that hang."""
_SUFFIX: dict[Target, str] = {"openmp": "cpp", "cuda": "cu"}
_USUAL = "smooth"
"""Problem of exploits that name none."""
_SLOW, _FAST = 5.0, 3.0
"""Harm "slow": verified for more than so many calls' time. "fast": a speedup above this."""


@contextmanager
def exploits(scope: Scope, folder: Path = EXPLOITS) -> Iterator[tuple[Check, ...]]:
    """A check for each exploit of `folder`, and one for honest code; their judges end with it."""
    with ExitStack() as stack:
        table: list[Check] = []
        for target in () if scope.quick else scope.targets:
            bench = _Bench(target, scope.cache, folder)
            stack.callback(bench.close)
            table += _table(bench, target, folder)
        yield tuple(table)


def _table(bench: "_Bench", target: Target, folder: Path) -> Iterator[Check]:
    """The checks of a target, those of one problem together: a baseline ages meanwhile."""
    part = f"exploits ({target})"
    paths = _sources(folder / target, target)
    if not paths:
        yield Check(part, "exploits", partial(_none, folder / target))
    honest = _sources(folder / "honest" / target, target)
    named = [(path, path.stem) for path in sorted(paths, key=_problem_of)]
    for path, name in (*named, *((path, f"honest {path.stem}") for path in honest)):
        ahead = partial(bench.compile, path)
        yield Check(part, name, partial(bench.judge, path), alone=True, ahead=ahead)
    if target == "openmp" and not honest:
        yield Check(part, "honest code", bench.judge_serial, alone=True)


def header(code: str) -> dict[str, str]:
    """The declarations in an exploit's first comment lines: tries, outcome, harm, problem, ..."""
    return dict(re.findall(r"^// (\w+): (.+?)\s*$", code, re.MULTILINE))


def _problem_of(path: Path) -> str:
    return header(path.read_text(encoding="utf-8")).get("problem", _USUAL)


def _sources(folder: Path, target: Target) -> list[Path]:
    return sorted(folder.glob(f"*.{_SUFFIX[target]}"))


def _none(folder: Path) -> Finding:
    return Finding(
        "red",
        f"{folder}: no exploits there",
        "its files are not whole: install it again",
        expected="some",
    )


class _Bench:
    """One judge for all candidates of a target, made when first asked."""

    def __init__(self, target: Target, cache: Path, folder: Path) -> None:
        self._target, self._cache, self._folder = target, cache, folder
        self._judge: Judge | None = None
        self._machine: Machine | None = None
        self._lock = threading.Lock()

    def judge(self, path: Path) -> Finding:
        """Whether a file gets the outcome that its header demands; "passed" where it has none."""
        code = path.read_text(encoding="utf-8")
        fields = header(code)
        report = self._report(code, _problem_of(path))
        return self._compared(
            fields.get("outcome", "passed").split(" | "), report, fields.get("harm")
        )

    def judge_serial(self) -> Finding:
        """Whether a problem's own serial code passes."""
        return self._compared(["passed"], self._report(self._problem(_USUAL).serial_code, _USUAL))

    def compile(self, path: Path) -> None:
        """Into the cache, from any thread, what judging this file will need compiled."""
        with self._lock:
            if self._machine is None:
                made = Machine(self._cache, Rules(0, Defences(), _LIMITS[self._target]), 0)
                made.toolchain(self._target)  # asks the GPU's driver once, not in every thread
                self._machine = made
        problem = self._problem(_problem_of(path))
        self._machine.programs(problem)
        self._machine.program(Candidate(self._target, path.read_text(encoding="utf-8")), problem)

    def close(self) -> None:
        """End the judge's processes."""
        for used in (self._judge, self._machine):
            if used:
                used.close()

    def _report(self, code: str, problem: str) -> EvalReport:
        if self._judge is None:
            self._judge = Judge(self._cache, limits=_LIMITS[self._target])
        return self._judge.evaluate(Candidate(self._target, code), self._problem(problem))

    def _problem(self, name: str) -> Problem:
        return load_problem(self._folder / "problem" / name)

    def _compared(
        self, expected: Sequence[str], report: EvalReport, harm: str | None = None
    ) -> Finding:
        busy = report.outcome is Outcome.UNSTABLE_TIMING  # verified; a busy machine is no exploit
        got = (Outcome.PASSED if busy else report.outcome).value
        done = self._harmed(harm, report)
        text = " or ".join(expected) + (f", not {harm}" if harm else "")
        if got in expected and not done:
            return Finding("green", got, expected=text)
        if expected == ["passed"] and not done:
            remedy = f"false alarm, please report it: {report.diagnosis[:200]}"
            return Finding("red", got, remedy, expected=text)
        remedy = (
            "judge no code that you distrust here: see the sandbox rows, docker/worker.Dockerfile"
        )
        return Finding("red", f"{got}, {harm}" if done else got, remedy, expected=text)

    def _harmed(self, harm: str | None, report: EvalReport) -> bool:
        """Whether the harm can be seen in the report."""
        if harm == "fast":
            return (report.speedup or 0) > _FAST
        allowed = _SLOW * _LIMITS[self._target].call_seconds
        return harm == "slow" and report.stages.get("verify", 0) > allowed
