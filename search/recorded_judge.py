"""The verdicts of an earlier trace, replayed: no compiler, no GPU, no clock."""

import hashlib
from pathlib import Path

from regraph_kg.errors import ToolError
from regraph_kg.models.evaluation import Candidate, EvalReport, Grade, code_hash
from regraph_kg.models.target import Target
from regraph_kg.search.run_record import RunRecord


class RecordedJudge:
    """A judge that repeats the trace's verdicts (evaluation/evaluator.py), for any problem.

    Code that was evaluated more than once gets its last report: a function of the code alone.
    """

    def __init__(self, path: Path) -> None:
        self._run = RunRecord.read(path)
        # the digest tells runs on other verdicts apart, whatever their file is called
        self.name = f"recorded:{hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"
        self.known = frozenset(self._run.reports)
        """Hashes of the codes that a search with it may ask about."""

    def evaluate(
        self,
        candidate: Candidate,
        problem: object = None,
        *,
        grade: Grade | None = None,
        incumbent_seconds: float | None = None,
    ) -> EvalReport:
        """The search's verdict, with a `grade` the last one's; `ToolError` for other code."""
        key = code_hash(candidate.code)
        # a search asks without a grade; only the final measurement names one
        report = (self._run.reports if grade is None else self._run.finals).get(key)
        if report is None:
            raise ToolError(
                f"{self._run.path}: no verdict for code {key}; evaluate it: leave out run.judge"
            )
        return report

    def device(self, target: Target) -> str:
        """The device of the trace."""
        return self._run.header.device

    def toolchain(self, target: Target) -> str:
        """The toolchain of the trace."""
        return self._run.header.toolchain

    def hardware(self, target: Target) -> str:
        """The same, as prompts say it."""
        return self._run.header.machine
