"""A slot: one worker, one candidate, and shared memory laid out for the problem.

Nothing of it is used again: a worker, its memory and its draw of inputs come and go together, so
that no candidate finds another's data. (With shared isolation, for trusted code, a worker
serves many.) A session has several slots for cuda, so that the next workers make their device
contexts while one is judged.
"""

import os
import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from regraph_kg.evaluation.gpu.nvml import GpuMonitor
from regraph_kg.evaluation.problem.problem import Problem, Sizes, shape_text
from regraph_kg.evaluation.problem.types import wide
from regraph_kg.evaluation.rules import Defences, Failure, JudgeLimits
from regraph_kg.evaluation.timing.batches import Bench, Witness, reserve
from regraph_kg.evaluation.timing.known import Pool
from regraph_kg.evaluation.verify.covering import unaligned_shape
from regraph_kg.evaluation.verify.diagnose import Expected, ExpectedOutput
from regraph_kg.evaluation.verify.large_outputs import Arranged, Product
from regraph_kg.evaluation.verify.outputs import fault
from regraph_kg.evaluation.verify.reference import Case, References
from regraph_kg.evaluation.verify.timed_inputs import Contents, TimedInputs
from regraph_kg.evaluation.verify.verify import CallTimes, Verification
from regraph_kg.evaluation.worker.sealing import Sealing
from regraph_kg.evaluation.worker.shared_memory import Call, Layout, SharedMemory
from regraph_kg.evaluation.worker.spawn import Program, Surroundings
from regraph_kg.evaluation.worker.supervisor import Worker
from regraph_kg.models.evaluation import Outcome

Isolation = Literal["fresh", "shared"]
"""A process for each candidate, or one for many that passed: only for code that is trusted."""

_HOST_ALIGNMENT, _DEVICE_ALIGNMENT = 64, 256
_CLEARLY = 2.0
_AUDIT_SECONDS = 0.03  # what a truth for one worker alone may cost on average, if not asked for
_TRUTHS_SECONDS = 0.5  # what truths that are not at hand may take of one series, beyond the first


@dataclass(frozen=True, slots=True)
class SessionRules:
    """Rules of every session of a judge."""

    seed: int
    defences: Defences
    limits: JudgeLimits
    surroundings: Surroundings = field(default_factory=Surroundings)
    """What surrounds its candidates' workers."""
    judge_cores: frozenset[int] | None = None  # what the judge keeps to while it times
    isolation: Isolation = "fresh"
    monitor: GpuMonitor | None = None

    @property
    def cores(self) -> frozenset[int]:
        """Cores on which load disturbs: the judge's and its workers', else all that are ours."""
        own = (self.judge_cores or frozenset()) | (self.surroundings.cores or frozenset())
        return own or frozenset(os.sched_getaffinity(0))


def alignment(problem: Problem) -> int:
    """Bytes of which an array's start is a multiple."""
    return _DEVICE_ALIGNMENT if problem.metric == "device" else _HOST_ALIGNMENT


class Plan:
    """Common parts of a problem's slots: the layout, the contents, the truths, the rules.

    `rng` gives each slot a secret of its own.
    """

    def __init__(
        self, problem: Problem, shapes: list[Sizes], references: References, rules: SessionRules
    ) -> None:
        self._problem, self._references, self._rules = problem, references, rules
        self._rng = random.Random(rules.seed)
        self._layout = Layout(problem, alignment(problem))
        self._calls: dict[tuple[str, bool], list[Call]] = {
            (shape_text(sizes), True): [self._layout.call(sizes)] for sizes in shapes
        }
        odd = unaligned_shape(problem, shapes)
        self._calls[shape_text(odd), False] = [self._layout.call(odd, aligned=False)]
        self._timed = reserve(self._layout, problem)
        self.pool = Pool(self._rng.getrandbits(128))

    def slot(
        self, contents: Contents, program: Program, threads: int, where: Surroundings
    ) -> "Slot":
        """Allocate one, and start its worker. Raises `ToolError` where memory is too short."""
        rules = self._rules
        shared = self._layout.build()
        try:
            worker = Worker(program, shared, rules.defences, rules.limits, threads, where)
        except BaseException:
            shared.close()
            raise
        verification = Verification(
            *(self._problem, shared, self._calls, self._references),
            *(rules.defences, CallTimes(rules.limits.call_seconds, rules.limits.calls_seconds)),
        )
        return Slot(worker, self.bench(shared, contents), verification, program)

    def bench(self, shared: SharedMemory, contents: Contents) -> Bench:
        """A draw of inputs for one candidate."""
        seed, rules = self._rng.getrandbits(128), self._rules
        sealing = Sealing(shared)
        return Bench(sealing, self._timed, contents, self.pool, seed, rules.defences)


@dataclass(slots=True)
class Slot:
    """A worker, its memory and its prepared calls."""

    worker: Worker
    bench: Bench
    verification: Verification
    serves: Program  # what the worker was started for

    @property
    def is_settling(self) -> bool:
        """Whether a device context is being made here."""
        return not (self.worker.is_ready or self.worker.is_gone)

    def dismiss(self) -> None:
        """End the worker after its last call, and free its arrays: the witnesses are copies."""
        self.worker.end()
        self.verification.shared.release()

    def end(self) -> None:
        """Begin to end the worker, and release the memory: it keeps what it has mapped."""
        self.worker.end()
        self.verification.shared.close()


class Examiner:
    """Verifies the outputs of timed calls, once their worker has stopped."""

    def __init__(
        self, problem: Problem, references: References, pool: Pool, rules: SessionRules
    ) -> None:
        self._problem, self._references, self._pool = problem, references, pool
        self._defences = rules.defences
        self._rng = random.Random(rules.seed + 1)

    def examine(self, bench: Bench, *, audit: bool) -> Failure | None:
        """The first witness that is wrong; with an audit, or now and then with one.

        Of those whose truths are not at hand yet, one at random at least is examined.
        """
        if not (self._defences.timed_verify and self._defences.comparison):
            return None
        witnesses = self._rng.sample(bench.witnesses, len(bench.witnesses))
        witnesses.sort(key=self._is_unknown)
        if bench.audit and (
            audit or self._rng.random() * self._references.seconds < _AUDIT_SECONDS
        ):
            witnesses.append(bench.audit)
        left = _TRUTHS_SECONDS
        for witness in witnesses:
            is_unknown = self._is_unknown(witness)
            if is_unknown and left <= 0 and witness is not bench.audit:
                continue
            failure = self._wrong(witness)
            left -= self._references.seconds if is_unknown else 0.0
            if witness is bench.audit and not self._pool.holds(witness.content.seed):
                self._references.forget(self._case(witness.content))
            if failure:
                self.retire([witness.content, *bench.shown])
                return failure
        return None

    def retire(self, contents: Iterable[TimedInputs]) -> None:
        """Retire inputs that a diagnosis reveals: the next candidate could know them."""
        for content in contents:
            self._pool.retire(content)
            self._references.retire(content)
            self._references.forget(self._case(content))

    @property
    def needs_kernels(self) -> bool:
        """Whether the answer at the timing shape varies: a memset may well give a constant.

        One number varies with the inputs.
        """
        content = self._pool.content(0)
        truths = self._references.truths(self._case(content))
        if any(np.ptp(truth.values) != 0 for truth in truths.values()):
            return True
        changed = self._references.truths(self._case(content.next))
        return any(np.any(truth.values != changed[name].values) for name, truth in truths.items())

    def ghost(self, bench: Bench, worker: Worker, seconds: float) -> Failure | None:
        """One more call with launches swallowed: then no kernel can have computed the answer.

        A candidate that launches none at all failed at its first timed call (timing.py).
        However else that call ends, be it in a crash, is of no interest.
        """
        if not self.needs_kernels:
            return None
        row = bench.last(worker, self._pool.content(0))
        if isinstance(row, Failure) or worker.ghost(row, seconds):
            return None
        witness = bench.last_witness(worker)
        if isinstance(witness, Failure) or self._mismatch(witness):
            return None
        return Failure(
            Outcome.SUSPICIOUS,
            "the answer is right although its kernel launches were suppressed:"
            " it is not computed by kernels of its own on the GPU",
        )

    def shows_changes(self, content: TimedInputs) -> bool:
        """Whether the truths differ, by more than the tolerance, once a few elements changed."""
        before, after = (
            self._references.truths(self._case(each)) for each in (content, content.next)
        )
        if any(_differs(before[name], after[name]) for name in before):
            return True
        self._references.forget(self._case(content.next))
        return False

    def _is_unknown(self, witness: Witness) -> bool:
        return not self._references.knows(self._case(witness.content))

    def _wrong(self, witness: Witness) -> Failure | None:
        text = self._mismatch(witness)
        if not text:
            return None
        suffix = (
            ", a few inputs changed in place since the call before"
            if (witness.content.version)
            else ""
        )
        where = f"timed calls at shape {shape_text(self._problem.sizes.time)}{suffix}"
        return Failure(Outcome.WRONG_ANSWER, f"{where}: {text}")

    def _mismatch(self, witness: Witness) -> str | None:
        truths = self._references.truths(self._case(witness.content))
        nan_fails = self._defences.nan_compare
        return fault(self._problem, witness.outputs, truths, witness.poison, nan_fails)

    def _case(self, content: TimedInputs) -> Case:
        return Case(self._problem.sizes.time, 0, content.seed, content.version, timed=True)


def _differs(first: Expected, second: Expected) -> bool:
    """Whether some element could not pass for the other's."""
    if isinstance(first, ExpectedOutput) and isinstance(second, ExpectedOutput):
        off = np.abs(wide(first.values) - wide(second.values))
        return bool(np.any(off > _CLEARLY * (first.tolerance + np.asarray(second.tolerance))))
    if isinstance(first, Product) and isinstance(second, Product):
        off = np.abs(first.values - second.values)
        return bool(np.any(off > _CLEARLY * (first.allowed + second.allowed)))
    assert isinstance(first, Arranged)
    assert isinstance(second, Arranged)
    return first.digest != second.digest
