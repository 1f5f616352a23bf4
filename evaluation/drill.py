"""A fire drill: the exploits that ship with the package, judged on this machine.

Each is judged as any candidate is, and honest code beside them; what came of it is compared with
what the exploit's header demands (evaluation/exploits/README.md).

Not covered: the exploits of tests/adversarial that need bait (a port, a folder, a naive judge).
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from regraph_kg.evaluation.doctor import Check, Finding, Scope
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem import load_problem
from regraph_kg.evaluation.rules import Limits
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
            part = f"exploits ({target})"
            paths = _sources(folder / target, target)
            if not paths:
                table.append(Check(part, "exploits", partial(_none, folder / target)))
            table += [Check(part, path.stem, partial(bench.judge, path)) for path in paths]
            honest = _sources(folder / "honest" / target, target)
            table += [
                Check(part, f"honest {path.stem}", partial(bench.judge, path)) for path in honest
            ]
            if target == "openmp" and not honest:
                table.append(Check(part, "honest code", bench.judge_serial))
        yield tuple(table)


def header(code: str) -> dict[str, str]:
    """The declarations in an exploit's first comment lines: tries, outcome, harm, problem, ..."""
    return dict(re.findall(r"^// (\w+): (.+?)\s*$", code, re.MULTILINE))


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

    def judge(self, path: Path) -> Finding:
        """Whether a file gets the outcome that its header demands; "passed" where it has none."""
        code = path.read_text(encoding="utf-8")
        fields = header(code)
        report = self._report(code, fields.get("problem", "smooth"))
        return self._compared(
            fields.get("outcome", "passed").split(" | "), report, fields.get("harm")
        )

    def judge_serial(self) -> Finding:
        """Whether a problem's own serial code passes."""
        problem = load_problem(self._folder / "problem" / "smooth")
        return self._compared(["passed"], self._report(problem.serial_code, "smooth"))

    def close(self) -> None:
        """End the judge's processes."""
        if self._judge:
            self._judge.close()

    def _report(self, code: str, problem: str) -> EvalReport:
        if self._judge is None:
            self._judge = Judge(self._cache, limits=_LIMITS[self._target])
        judged = load_problem(self._folder / "problem" / problem)
        return self._judge.evaluate(Candidate(self._target, code), judged)

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
