"""One evaluation under way: its parts, what was seen, and a stopwatch for its stages."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from regraph_kg.evaluation.session import Session
from regraph_kg.evaluation.verify.verify import ReportFlag
from regraph_kg.models.evaluation import Candidate, Grade


class Trial:
    """One evaluation under way: its parts and a stopwatch for its stages."""

    def __init__(
        self,
        session: Session,
        candidate: Candidate,
        grade: Grade,
        incumbent: float | None = None,
    ) -> None:
        self.session, self.candidate = session, candidate
        self.grade: Grade = grade
        self.incumbent = incumbent
        self.profile: dict[str, str] = {}
        self.flags: frozenset[ReportFlag] = frozenset()
        self.joules: float | None = None
        self.load = ""
        self.opening = 0.0
        """Seconds that opening the problem's session took for this one's sake."""
        self._start = time.perf_counter()
        self._stages: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self._stages[name] = self._stages.get(name, 0.0) + time.perf_counter() - start

    def facts(self) -> dict[str, str]:
        """What was seen besides times."""
        flagged = {"flagged": ", ".join(sorted(self.flags))} if self.flags else {}
        return self.profile | flagged

    def energy(self) -> dict[str, str]:
        """What the GPU used while it was this candidate's, whatever became of that."""
        return {} if self.joules is None else {"joules": f"{self.joules:.3f}"}

    def stages(self) -> dict[str, float]:
        """Seconds of each stage so far, and of the whole."""
        total = self.opening + time.perf_counter() - self._start
        opened = {"open": self.opening} if self.opening else {}
        return opened | self._stages | {"total": total}
