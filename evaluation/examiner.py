"""Verifies the outputs of timed calls, once their worker stands still."""

import random
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from regraph_kg.evaluation.problem.declaration import shape_text
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.types import wide
from regraph_kg.evaluation.rules import Defences, Failure
from regraph_kg.evaluation.timing.batches import Bench, Pool, Witness
from regraph_kg.evaluation.verify.outputs import fault
from regraph_kg.evaluation.verify.reference import Case, References
from regraph_kg.evaluation.verify.timed_inputs import TimedInputs
from regraph_kg.evaluation.worker.supervisor import Worker
from regraph_kg.models.evaluation import Outcome

_CLEARLY = 2.0
_AUDIT_SECONDS = 0.03  # what a truth for one worker alone may cost on average, if not asked for
_TRUTHS_SECONDS = 0.5  # what truths that are not at hand may take of one series, beyond the first


class Examiner:
    def __init__(
        self, problem: Problem, references: References, pool: Pool, defences: Defences, seed: int
    ) -> None:
        self._problem, self._references, self._pool = problem, references, pool
        self._defences, self._rng = defences, random.Random(seed)

    def examine(self, bench: Bench, *, audit: bool = False, at_hand: bool = False) -> None:
        """Raise `Failure` for the first wrong witness; with an audit, or now and then with one.

        Of those whose truths are not at hand yet, one at random at least is examined; none if only
        what is `at_hand` is asked for. `bench` keeps what was not examined.
        """
        if not (self._defences.timed_verify and self._defences.comparison):
            return
        witnesses = self._rng.sample(bench.witnesses, len(bench.witnesses))
        witnesses.sort(key=self._is_unknown)
        if (bench.audit and not at_hand) and (
            audit or self._rng.random() * self._references.seconds < _AUDIT_SECONDS
        ):
            witnesses.append(bench.audit)
        left = 0.0 if at_hand else _TRUTHS_SECONDS
        for witness in witnesses:
            is_unknown = self._is_unknown(witness)
            if is_unknown and left <= 0 and witness is not bench.audit:
                continue
            text = self._mismatch(witness)
            left -= self._references.seconds if is_unknown else 0.0
            if witness is bench.audit and not self._pool.holds(witness.content.seed):
                self._references.forget(self._case(witness.content))
            if text:
                self.retire([witness.content, *bench.shown])
                where = f"timed calls at shape {shape_text(self._problem.sizes.time)}"
                if witness.content.version:
                    where += ", a few inputs changed in place since the call before"
                raise Failure(Outcome.WRONG_ANSWER, f"{where}: {text}")
            if witness is not bench.audit:
                bench.witnesses.remove(witness)

    def retire(self, contents: Iterable[TimedInputs]) -> None:
        """Retire inputs that a diagnosis reveals: the next candidate could know them."""
        for content in contents:
            self._pool.retire(content)
            self._references.retire(content)
            self._references.forget(self._case(content))

    @cached_property
    def needs_kernels(self) -> bool:
        """Whether the answer at the timing shape varies: a memset may well give a constant."""
        content = self._pool.content(0)
        truths = self._references.truths(self._case(content))
        if any(np.ptp(truth.values) != 0 for truth in truths.values()):
            return True
        changed = self._references.truths(self._case(content.next))
        return any(np.any(truth.values != changed[name].values) for name, truth in truths.items())

    def require_kernels(self, bench: Bench, worker: Worker, seconds: float) -> None:
        """One more call with launches swallowed: then no kernel can have computed the answer."""
        # without arrays to read every call has one answer, which memory of the last one still holds
        if not (self.needs_kernels and self._problem.inputs):
            return
        # One that launches none at all failed at its first timed call. A crash is of no interest.
        try:
            worker.ghost(bench.last(worker, self._pool.content(0)), seconds)
            witness = bench.witness(worker)
        except Failure:
            return
        if not self._mismatch(witness):
            raise Failure(
                Outcome.SUSPICIOUS,
                "the answer is right although its kernel launches were suppressed:"
                " it is not computed by kernels of its own on the GPU",
            )

    def shows_changes(self, content: TimedInputs) -> bool:
        """Whether the truths differ, by more than the tolerance, once a few elements changed."""
        before, after = (self._references.truths(self._case(c)) for c in (content, content.next))
        for name, one in before.items():
            off = np.abs(wide(one.values) - wide(after[name].values))
            allowed = one.tolerance + np.asarray(after[name].tolerance)
            if np.any(off > _CLEARLY * allowed):  # neither could pass for the other
                return True
        self._references.forget(self._case(content.next))
        return False

    def _is_unknown(self, witness: Witness) -> bool:
        return not self._references.knows(self._case(witness.content))

    def _mismatch(self, witness: Witness) -> str | None:
        truths = self._references.truths(self._case(witness.content))
        nan_fails = self._defences.nan_compare
        return fault(self._problem, witness.outputs, truths, witness.poison, nan_fails)

    def _case(self, content: TimedInputs) -> Case:
        return Case(self._problem.sizes.time, 0, content.seed, content.version, timed=True)
