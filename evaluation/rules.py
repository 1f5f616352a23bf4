"""Rules of the judge: Defences, Limits, and Failure, the one way a candidate fails."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from regraph_kg.models.evaluation import Outcome


@dataclass(eq=False)
class Failure(Exception):
    """A candidate's failure: raised by what runs its code, returned by what compiles it."""

    outcome: Outcome
    diagnosis: str


@contextmanager
def placed(where: str) -> Iterator[None]:
    """Tell the place of a candidate's failure in it, if it is given."""
    try:
        yield
    except Failure as failure:
        failure.diagnosis = ": ".join(filter(None, (where, failure.diagnosis)))
        raise


@dataclass(slots=True)
class Budget:
    """Seconds that all commands to a candidate's workers may take together."""

    # one that dawdles in each of them would hold the judge for minutes

    seconds: float
    spent: float = 0.0

    @property
    def left(self) -> float:
        return self.seconds - self.spent


@dataclass(frozen=True, slots=True)
class Defences:
    """One switch a defence, all on. Only tests switch one off, to show that it matters."""

    source_rules: bool = True  # no source reaches for files, or defines names of the judge's
    compiler_sandbox: bool = True  # compilers see their own headers and libraries, and one folder
    clean_env: bool = True  # the worker sees an allowlist of environment variables, not ours
    memory_limit: bool = True  # RLIMIT_AS for openmp workers
    hidden_memory: bool = True  # other processes cannot read the judge's memory and environment
    sandbox: bool = True  # seccomp and no capabilities: only the system calls of calls.py
    landlock: bool = True  # only system libraries and devices can be opened, where it is there
    namespaces: bool = True  # a network, IPC and host name of its own, where the kernel allows it
    own_root: bool = True  # openmp: a root with system libraries only, where the kernel allows it
    sealed: bool = True  # what the harness calls cannot be redirected, if the kernel seals memory
    deadline: bool = True  # calls end at their deadline. Off: only at ten times it.
    kill_group: bool = True  # the whole process group dies at the end. Off: only the worker.
    output_cap: bool = True
    """More than the cap on stdout or stderr ends the worker. Off: read and thrown away."""
    handshake: bool = True
    """A call has happened when the harness says so. Off: exit code 0 is believed as well."""
    guards: bool = True  # inaccessible pages and canaries around every array
    poison: bool = True
    """Outputs are overwritten before each call, allocations while verifying. Off: outputs start as
    zeros, then stay as they are; allocations are as the system gives them."""
    input_compare: bool = True  # inputs are compared byte for byte after the calls
    comparison: bool = True  # outputs are compared with the reference's
    nan_compare: bool = True  # `!(|d| <= tol)`. Off: `|d| > tol`, which a NaN passes.
    shapes: bool = True  # several shapes, one of them secret. Off: the last declared one only.
    repeats: bool = True  # runs are repeated and compared. Off: every case runs once.
    further: bool = True  # more shapes, values and teams for code that has passed all else
    sensitivity: bool = True  # other inputs must give other outputs where the references differ
    freeze: bool = True
    """A worker stands still but for the commands it is given. Off: it always runs, and its
    threads get 200 ms more after each call that is verified."""
    fresh_inputs: bool = True  # no worker has seen a timed call's inputs. Off: always the same.
    one_by_one: bool = True
    """Some calls are timed alone. Off: what a call of a batch does for others counts as theirs."""
    sealed_inputs: bool = True
    """Metric "device": each timed call's inputs lie there masked until just before it. Off: they
    are unmasked before the judge's clock runs."""
    digests: bool = True  # metric "device": what is verified lay there when its batch was over
    small_changes: bool = True  # now and then a few elements change in place, which must show
    timed_verify: bool = True  # outputs of secret timed calls are kept, and verified afterwards
    steps: bool = True
    """The judge sees calls begin and end, and a count that was moved. Off: it times batches."""
    judge_clock: bool = True  # times are those of the judge's clock. Off: the worker's own word.
    standstill: bool = True
    """What runs while it should stand still, or works outside timed spans, is suspicious."""
    thread_limit: bool = True  # a worker may have so many threads and no more
    device_sync: bool = True  # cuda: a call ends with a device-wide synchronisation, which is timed
    device_errors: bool = True  # cuda: the runtime's last error is looked at after each call
    device_guards: bool = True  # cuda: canaries around the candidate's device allocations
    device_state: bool = True
    """cuda: persisting L2 is reset before each timed call, device limits are compared after."""
    ghost: bool = True  # cuda: with its launches suppressed a candidate must not have the answer
    floor: bool = True  # a time in which the declared bytes cannot have moved is suspicious


@dataclass(frozen=True, slots=True)
class JudgeLimits:
    """Bounds on what a candidate may use. Seconds of wall clock, bytes."""

    compile_seconds: float = 60.0  # all compilers and linkers of one candidate together
    object_bytes: int = 64 * 2**20  # size of a compiled candidate
    load_seconds: float = 10.0  # from start to loaded candidate; a CUDA context gets a minute more
    call_seconds: float = 5.0  # one call at a check shape
    calls_seconds: float = 20.0
    """All calls at check shapes together; of cases that come after the timing, again so much."""
    verdict_seconds: float = 30.0
    verdict_calls: float = 40.0
    """All loads and calls of a candidate together may take that, and so many serial calls."""
    least_call_seconds: float = 2.0
    slower_than_serial: float = 10.0
    """A timed call may take this many times the serial one, and never less than that before."""
    memory_bytes: int = 4 * 2**30  # address space beyond the shared arrays (openmp)
    sanitizer_seconds: float = 15.0  # of compute-sanitizer; 0: it is not asked
    threads: int = 256  # threads of a worker beyond those that OpenMP gets
    output_bytes: int = 2**20  # what a worker may write to stdout and stderr
