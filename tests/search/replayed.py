"""Verdicts of an earlier trace in place of a judge: searches of the tests need no compiler."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.bench import shared
from regraph_kg.cli import running
from regraph_kg.errors import ToolError
from regraph_kg.models.evaluation import Candidate, EvalReport, Grade, code_hash
from regraph_kg.models.target import Target
from regraph_kg.search.run_record import RunRecord
from regraph_kg.wiring import searches
from regraph_kg.wiring.problems import find_problem


class RecordedJudge:
    """A judge that repeats a trace's verdicts (evaluation/evaluator.py), for any problem.

    Code that was evaluated more than once gets its last report: a function of the code alone.
    """

    def __init__(self, path: Path) -> None:
        self._run = RunRecord.read(path)

    def evaluate(
        self,
        candidate: Candidate,
        problem: object = None,
        *,
        grade: Grade | None = None,
        incumbent_seconds: float | None = None,
    ) -> EvalReport:
        """The search's verdict, at the full grade the last one's; `ToolError` for other code."""
        key = code_hash(candidate.code)
        report = (self._run.finals if grade == "full" else self._run.reports).get(key)
        if report is None:
            raise ToolError(f"{self._run.path}: no verdict for code {key}")
        return report

    def device(self, target: Target) -> str:
        """The device of the trace."""
        return self._run.header.device

    def toolchain(self, target: Target) -> str:
        """The toolchain of the trace."""
        return self._run.header.toolchain


def replay(trace: Path, setattr_: Callable[[object, str, object], None] = setattr) -> None:
    """Have the verdicts of `trace` replayed in this process; `setattr_`: that of a MonkeyPatch."""
    judge = RecordedJudge(trace)

    @contextmanager
    def several(*_: object) -> Iterator[tuple[RecordedJudge, int]]:
        yield judge, 1

    for module in (searches, shared):
        setattr_(module, "open_judges", several)
        # replays need no check, which would compile
        setattr_(module, "good_problem", find_problem)
    setattr_(running, "require_good", lambda *_: None)
