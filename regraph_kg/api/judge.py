"""The judge for programs: whether code is right, and its speedup over the serial code.

    problem = load_problem("density/")
    report = evaluate(problem, Path("mine.cpp"))
    print(report.outcome, report.speedup, report.speedup_interval)

Code runs in the judge's sandbox, never in this process. For several codes of one problem open a
judge: its serial code is then timed once.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Lock

from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.models.evaluation import Candidate, EvalReport, Grade, Rivalry
from regraph_kg.models.target import USUAL, Target
from regraph_kg.settings import Settings, read_settings
from regraph_kg.wiring.judges import open_judge
from regraph_kg.wiring.problems import find_problem
from regraph_kg.wiring.sources import code_of


def load_problem(name: str | Path, settings: Settings | None = None) -> Problem:
    """The problem in the folder `name`, or the one of that name that ships with regraph.

    `BadInput` says what of its declaration is wrong. Whether that is true, `regraph problem check`
    finds out.
    """
    return find_problem(settings or read_settings(), str(name))


class CodeJudge(AbstractContextManager["CodeJudge"]):
    """An open judge of this machine; threads may share one, and wait for each other."""

    def __init__(
        self, settings: Settings | None = None, tell: Callable[[str], None] | None = None
    ) -> None:
        """`tell` gets a few words on the current slow work."""
        self._judge = open_judge(settings or read_settings(), tell=tell or (lambda _: None))
        self._lock = Lock()

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every process of it; idempotent."""
        with self._lock:
            self._judge.close()

    def evaluate(
        self,
        problem: Problem,
        code: str | Path,
        *,
        target: Target = USUAL,
        grade: Grade = "screening",
    ) -> EvalReport:
        """Compile, verify and time `code` (a text, or a file); a failure is a report, too.

        Times are seconds a call; `speedup` is serial time / time, with its 95 % interval.
        `BadInput` where the problem is at fault, `Environment` where the machine lacks something.
        """
        candidate = Candidate(target, code_of(code))
        with self._lock:
            return self._judge.evaluate(candidate, problem, grade=grade)

    def compare(
        self, problem: Problem, code: str | Path, other: str | Path, *, target: Target = USUAL
    ) -> Rivalry:
        """Whether `code` is surely faster than `other`: as a full evaluation that has it as rival.

        `ratio` is time of other / time of code, with its 95 % interval. `BadInput` where one of
        them is not right.
        """
        candidate = Candidate(target, *(code_of(source) for source in (code, other)))
        with self._lock:
            return self._judge.evaluate(candidate, problem, grade="full").compared


def evaluate(
    problem: Problem | str | Path,
    code: str | Path,
    *,
    target: Target = USUAL,
    grade: Grade = "screening",
    settings: Settings | None = None,
) -> EvalReport:
    """Judge one code, as `CodeJudge.evaluate`; the judge is opened and closed again (seconds).

    `problem`: what `load_problem` gave, or takes. A full grade checks more inputs, and times in
    several fresh processes.
    """
    loaded = load_problem(problem, settings) if isinstance(problem, str | Path) else problem
    with CodeJudge(settings) as judge:
        return judge.evaluate(loaded, code, target=target, grade=grade)
