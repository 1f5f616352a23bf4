"""Where one candidate is judged: shared memory laid out for a problem, and the worker in it.

A session has several seats for cuda, so that the next workers make their device contexts while one
is judged, and one for openmp, whose workers start quickly and would take its cores.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from regraph_kg.evaluation.arena import POISON, Arena, Call, Layout
from regraph_kg.evaluation.bench import Bench, InputSets, Reserved, reserve
from regraph_kg.evaluation.diagnose import mismatch
from regraph_kg.evaluation.nvml import GpuMonitor
from regraph_kg.evaluation.problem import Problem, Sizes, shape_text
from regraph_kg.evaluation.reference import References
from regraph_kg.evaluation.rules import Defences, Failure, Limits
from regraph_kg.evaluation.spawn import Program, Surroundings
from regraph_kg.evaluation.supervisor import Worker
from regraph_kg.evaluation.verify import Verification
from regraph_kg.models.evaluation import Outcome

Isolation = Literal["fresh", "shared"]
"""A process for each candidate, or one for many that passed: only for code that is trusted."""

_WITNESSES = 3
_HOST_ALIGNMENT, _DEVICE_ALIGNMENT = 64, 256


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for every session of a judge."""

    seed: int
    defences: Defences
    limits: Limits
    surroundings: Surroundings = field(default_factory=Surroundings)
    """Of its candidates' workers."""
    judge_cores: frozenset[int] | None = None
    """What the judge keeps to while it times."""
    isolation: Isolation = "fresh"
    monitor: GpuMonitor | None = None


class Plan:
    """What all seats of a problem have in common: the layout, the truths, the rules."""

    def __init__(
        self, problem: Problem, shapes: list[Sizes], references: References, rules: Rules
    ) -> None:
        self._problem, self._references, self._rules = problem, references, rules
        on_device = problem.metric == "device"
        self._layout = Layout(problem, _DEVICE_ALIGNMENT if on_device else _HOST_ALIGNMENT)
        self._calls: Mapping[str, Call] = {
            shape_text(sizes): self._layout.whole_call(sizes) for sizes in shapes
        }
        self._reserved: Reserved = reserve(self._layout, rules.defences)
        self._sets = InputSets(problem, len(self._reserved.inputs), rules.seed)

    def seat(self) -> "Seat":
        """Allocate one. Raises `ToolError` where the machine has too little memory."""
        rules = self._rules
        arena = self._layout.build()
        bench = Bench(arena, self._reserved, self._sets, rules.seed, rules.defences)
        verification = Verification(
            *(self._problem, arena, self._calls, self._references),
            *(rules.defences, rules.limits.call_seconds),
        )
        return Seat(arena, bench, verification, self._references, rules)


class Seat:
    """Memory, bench and, while there is one, the worker that uses them."""

    def __init__(
        self,
        arena: Arena,
        bench: Bench,
        verification: Verification,
        references: References,
        rules: Rules,
    ) -> None:
        self.arena, self.bench, self.verification = arena, bench, verification
        self._references, self._rules = references, rules
        self._worker: Worker | None = None
        self.serves: Program | None = None
        """What its worker was started for; None without a worker that can still serve."""
        self.is_taken = False

    @property
    def worker(self) -> Worker:
        """The worker in this seat."""
        assert self._worker
        return self._worker

    @property
    def is_free(self) -> bool:
        """Whether nobody uses the memory any more."""
        return self.serves is None and (self._worker is None or self._worker.is_gone)

    @property
    def is_settling(self) -> bool:
        """Whether a device context is being made or taken down here."""
        if self.serves is None:
            return self._worker is not None and not self._worker.is_gone
        return not self.worker.is_ready

    def staff(self, program: Program, threads: int, where: Surroundings) -> None:
        """Start a worker here for a program of this kind."""
        rules = self._rules
        self._worker = Worker(program, self.arena, rules.defences, rules.limits, threads, where)
        self.serves = program

    def vacate(self) -> None:
        """Begin to end the worker; the seat is free once that is gone."""
        if self._worker:
            self._worker.end()
        self.serves, self.is_taken = None, False

    def close(self) -> None:
        """End its worker, release its memory."""
        if self._worker:
            self._worker.kill()
        self.arena.close()

    def verify_timed(self) -> Failure | None:
        """After the timed calls, the worker stopped: inputs as they were, secret outputs right."""
        failure, defences = self.bench.harm(), self._rules.defences
        where = f"timed calls at shape {shape_text(self.arena.problem.sizes.time)}"
        if failure:
            return Failure(failure.outcome, f"{where}: {failure.diagnosis}")
        if not (defences.timed_verify and defences.comparison):
            return None
        for case, outputs in self.bench.witnesses(_WITNESSES):
            for name, truth in self._references.truths(case).items():
                text = mismatch(name, outputs[name], truth, POISON, defences.nan_compare)
                if text:
                    return Failure(Outcome.WRONG_ANSWER, f"{where}: {text}")
        return None

    def ghost(self, seconds: float) -> Failure | None:
        """One more call with launches swallowed: then no kernel can have computed the answer.

        However else that call ends, be it in a crash, is of no interest.
        """
        row, case, places = self.bench.unlike_last()
        truths = self._references.truths(case)
        if all(np.ptp(truth.values) == 0 for truth in truths.values()):
            return None  # a memset may well give it
        for place in places.values():
            self.arena.fill(place, POISON)
        outputs = list(places.values())
        if self.worker.upload(outputs) or self.worker.ghost(row, seconds):
            return None
        if self.worker.download(outputs):
            return None
        wrong = (
            mismatch(name, self.arena.view(places[name]), truth, POISON)
            for name, truth in truths.items()
        )
        if any(wrong):
            return None
        return Failure(
            Outcome.SUSPICIOUS,
            "the answer is right although its kernel launches were suppressed:"
            " it is not computed by kernels of its own on the GPU",
        )
