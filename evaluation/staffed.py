"""A worker of its own for some cases of a problem, beside the slots that are timed."""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from regraph_kg.evaluation.problem.problem import Problem, shape_text
from regraph_kg.evaluation.slots import SessionRules, alignment
from regraph_kg.evaluation.verify.reference import Case, References
from regraph_kg.evaluation.verify.verify import CallTimes, Verification
from regraph_kg.evaluation.worker.shared_memory import Layout
from regraph_kg.evaluation.worker.spawn import Program, Surroundings
from regraph_kg.evaluation.worker.supervisor import Worker

CALL_SECONDS = 1.0  # one call of the serial code, or one whose threads are held up
_COPIED_BYTES = 8 * 2**20  # arrays of the calls between two stops of a worker


@dataclass(frozen=True, slots=True)
class Staffing:
    """Starts workers for cases of one problem."""

    problem: Problem
    references: References
    rules: SessionRules

    @contextmanager
    def staffed(
        self,
        program: Program,
        cases: Sequence[Case],
        threads: int,
        where: Surroundings | None = None,
        copies: int = 1,
    ) -> Iterator[tuple[Worker, Verification]]:
        """A worker with memory for these cases, for several calls of each if they are small."""
        layout, rules = Layout(self.problem, alignment(self.problem)), self.rules
        calls = {}
        for text, sizes in {shape_text(case.sizes): case.sizes for case in cases}.items():
            room = _COPIED_BYTES // max(self.problem.nbytes(sizes), 1)
            count = max(1, min(copies, room))
            calls[text, True] = [layout.call(sizes) for _ in range(count)]
        shared = layout.build()
        try:
            with Worker(program, shared, rules.defences, rules.limits, threads, where) as worker:
                verification = Verification(
                    *(self.problem, shared, calls, self.references),
                    *(rules.defences, CallTimes(CALL_SECONDS, rules.limits.calls_seconds)),
                )
                # Half of these workers are like timed ones: nothing that was allocated is poisoned.
                # What is wrong with the worker, the first call will tell.
                if secrets.randbits(1) and not worker.start:
                    worker.settle()
                yield worker, verification
        finally:
            shared.close()
