"""One project for as long as a judge lives: its copies, and what its commands say of a candidate.

Two copies are built once from the unchanged project. One stays as it is: the baseline. The other is
put back for each candidate, gets the candidate's file, and is built again, so that only what the
file changes is compiled. Tests and each run of a bench have a copy of the build of their own:
files that code writes in one copy are not in another.
"""

import math
import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.compile.sandboxed import Ran, compiler_confinement
from regraph_kg.evaluation.problem import tree
from regraph_kg.evaluation.problem.project import ProjectProblem
from regraph_kg.evaluation.project.copies import Copy, remove, scratch_folder
from regraph_kg.evaluation.rules import Failure, JudgeLimits
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.text import plain

_UNCHANGED, _BUILT = "unchanged", "built"
_SAID = 900
"""Characters of what a command said that a diagnosis tells."""
_LEAST_SECONDS = 2.0
_TICK = 1e-9
"""Seconds: what the clocks of programs count in."""
_SIGNALS = range(129, 129 + 64)
"""Exit codes by which make, shells and test runners tell that a signal ended a program."""
_TOLD = re.compile(r"^regraph-seconds[ \t]+([\d.]+(?:e-?\d+)?)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TimedRun:
    """One run of the bench: its seconds, and the words that it printed besides."""

    seconds: float
    result: tuple[str, ...]


class ProjectSession:
    """Use `open`, then `build`, `test` and `bench` in this order; close it."""

    def __init__(self, problem: ProjectProblem, limits: JudgeLimits) -> None:
        self.problem, self._limits = problem, limits
        self._root = scratch_folder()
        self._given = Copy(self._root / "given", problem)
        self._asked = Copy(self._root / "asked", problem)
        self.serial_seconds = self._process_seconds = 0.0
        """Of a run of the bench with the project as it stands: by its clock, and as a process."""
        self.sandbox = ""

    def close(self) -> None:
        """Remove the copies; idempotent."""
        remove(self._root)

    def open(self, tell: Callable[[str], None]) -> None:
        """Build, test and time the project as it stands. Raises `BadInput` where that fails."""
        if compiler_confinement().remedy:
            raise ToolError(
                "commands: this kernel gives them neither a root folder of their own nor landlock,"
                f" so that they could read your files; {compiler_confinement().remedy}"
            )
        problem = self.problem
        source = self._root / "source"
        tree.copy(Path(problem.folder), source, problem.commands.exclude)
        if tree.digest_of(source, ()) != problem.tree:
            raise self._fault(f"{problem.folder} was changed while it was copied; begin again")
        tell("building and testing the project as it stands")
        for copy in (self._given, self._asked):
            tree.copy(source, copy.work)
            self._right("build", self._built(copy))
            if not copy.keep(_UNCHANGED):
                raise self._fault("its build leaves pipes, sockets or devices; let it make files")
        self._right("tests", self._tested(self._given))
        remove(source)
        tell("timing the project as it stands")
        seed = secrets.randbits(31)
        first, again = self._own_bench(seed), self._own_bench(seed)
        difference = first_difference(first.result, again.result, problem.commands.tolerance)
        if difference or not first.result:
            raise self._fault(
                f"the bench prints {difference or 'nothing'} when it is run again with the same"
                " REGRAPH_SEED: let it print its result, such as a sum, and no times"
            )
        if problem.commands.result == "same" and not self._heeds_seed(first.result, seed):
            raise self._fault(
                "the bench prints the same whatever REGRAPH_SEED is, so that code may know what to"
                " print without computing it: let the bench draw its inputs from REGRAPH_SEED, or"
                ' write result = "fixed" into [commands], which proves less'
            )
        self.serial_seconds = min(first.seconds, again.seconds)

    def build(self, code: str) -> Failure | None:
        """Write a candidate into the copy and build."""
        self._asked.take(_UNCHANGED)
        self._asked.write(code)
        failure = self._built(self._asked)
        if failure is None and not self._asked.keep(_BUILT):
            return Failure(Outcome.SUSPICIOUS, "the build leaves files that cannot be copied")
        return failure

    def test(self) -> Failure | None:
        """Test the build."""
        return self._tested(self._asked)

    def bench(self, *, candidate: bool, seed: int) -> Failure | TimedRun:
        """One run of the bench, with the candidate or with the project as it stands."""
        commands, limit = self.problem.commands, self.problem.commands.bench_seconds
        copy, state = (self._asked, _BUILT) if candidate else (self._given, _UNCHANGED)
        if candidate:
            slower = self._limits.slower_than_serial * self._process_seconds
            limit = min(limit, max(_LEAST_SECONDS, slower))
        for _ in range(2):  # a busy machine may hold up one run
            copy.take(state)
            run = copy.run([commands.bench], limit, seed)
            if run.code is not None or not candidate:
                break
        # What the code printed would tell the next one what to print.
        secret = candidate and commands.result != "same"
        failure = _failure(run, "the bench", limit, said="" if secret else run.said)
        if failure:
            return failure
        if run.cut:
            text = "the bench prints too much to compare: let it print a sum and some elements"
            return Failure(Outcome.WRONG_ANSWER, text)
        if not candidate:
            self._process_seconds = run.seconds
        seconds = run.seconds
        if commands.clock == "printed":
            told = sorted(map(float, _TOLD.findall(run.said)))
            seconds = told[len(told) // 2] if told else 0.0
            if not _TICK <= seconds <= run.seconds:
                text = f"its regraph-seconds are {seconds:.3g}, its process took {run.seconds:.3g}"
                return Failure(Outcome.SUSPICIOUS if told else Outcome.WRONG_ANSWER, text)
        return TimedRun(seconds, tuple(_TOLD.sub("", run.said).split()))

    def pair(self, *, candidate_first: bool) -> Failure | tuple[float, float]:
        """Seconds of the project as it stands and of the candidate, which print the same."""
        seed = secrets.randbits(31)
        runs: dict[bool, TimedRun] = {}
        for candidate in (True, False) if candidate_first else (False, True):
            run = self.bench(candidate=candidate, seed=seed) if candidate else self._own_bench(seed)
            if isinstance(run, Failure):
                return run
            runs[candidate] = run
        commands = self.problem.commands
        difference = first_difference(runs[False].result, runs[True].result, commands.tolerance)
        if difference is None:
            return runs[False].seconds, runs[True].seconds
        text = "the bench prints something else than that of the unchanged project"
        if commands.result == "same":  # else it would tell what is to be printed the next time
            text += f": {difference}"
        return Failure(Outcome.WRONG_ANSWER, text)

    def _heeds_seed(self, base: Sequence[str], seed: int) -> bool:
        """Whether other seeds change its output; two are tried, as a small number may recur."""
        for other in (secrets.randbits(31) for _ in range(2)):
            result = self._own_bench(other).result
            # To print the seed itself is not to draw from it.
            if [w for w in result if w != str(other)] != [w for w in base if w != str(seed)]:
                return True
        return False

    def _own_bench(self, seed: int) -> TimedRun:
        """A run of the bench of the project as it stands. Raises `BadInput` where that fails."""
        run = self.bench(candidate=False, seed=seed)
        if isinstance(run, TimedRun):
            return run
        raise self._fault(f"the bench of the project as it stands fails: {run.diagnosis}")

    def _right(self, step: str, failure: Failure | None) -> None:
        if failure:
            raise self._fault(f"the {step} of the project as it stands fails: {failure.diagnosis}")

    def _fault(self, text: str) -> BadInput:
        return BadInput(f"problem {self.problem.name}: {' '.join(text.split())}")

    def _built(self, copy: Copy) -> Failure | None:
        commands = self.problem.commands
        if not commands.build:
            return None
        run = copy.run(commands.build, commands.build_seconds)
        self.sandbox = ", ".join(run.layers) or self.sandbox
        if run.code == 0:
            return None
        said = plain(run.said).replace(f"{copy.work}/", "").strip()
        # Compilers tell their errors first, and build systems go on for pages.
        start = max(0, said.find("error:") - _SAID // 3)
        text = said[start : start + _SAID] or f"it ended with exit code {run.code}"
        if run.code is None:
            text = f"the build takes more than {commands.build_seconds:g} s"
        return Failure(Outcome.COMPILE_FAILED, text)

    def _tested(self, copy: Copy) -> Failure | None:
        commands = self.problem.commands
        run = copy.run(commands.test, commands.test_seconds, secrets.randbits(31))
        failure = _failure(run, "the tests", commands.test_seconds, run.said)
        missing = [text for text in commands.passed if text not in run.said]
        if failure or not missing:
            return failure
        return Failure(
            Outcome.SUSPICIOUS,
            f"the tests ended with exit code 0, but did not print {missing[0]!r};"
            f" they printed: {plain(run.said).strip()[-_SAID:] or 'nothing'}",
        )


def _failure(run: Ran, step: str, limit: float, said: str) -> Failure | None:
    """The failure of commands that run the candidate; None where they succeed."""
    if run.code == 0:
        return None
    if run.code is None:
        return Failure(Outcome.TIMED_OUT, f"{step}: not over after {limit:.3g} s")
    words = f": {plain(said).strip()[-_SAID:]}" if said else ""
    if run.code < 0 or run.code in _SIGNALS:
        number = -run.code if run.code < 0 else run.code - _SIGNALS.start + 1
        return Failure(Outcome.CRASHED, f"{step}: ended by signal {number}{words}")
    return Failure(Outcome.WRONG_ANSWER, f"{step}: ended with exit code {run.code}{words}")


def first_difference(right: Sequence[str], words: Sequence[str], tolerance: float) -> str | None:
    """The first word that is not as the right one; numbers may be off by `tolerance`, relative."""
    for place, (word, expected) in enumerate(zip(words, right, strict=False), start=1):
        if word != expected and not _near(word, expected, tolerance):
            return f"as word {place} {word[:60]!r}, not {expected[:60]!r}"
    return None if len(words) == len(right) else f"{len(words)} words, not {len(right)}"


def _near(word: str, expected: str, tolerance: float) -> bool:
    """Whether a word is a number within the tolerance of an expected one that is not whole."""
    if not {*".eE"} & {*expected}:
        return False
    try:
        number, right = float(word), float(expected)
    except ValueError:
        return False
    # A number that is not finite is near nothing: infinity is within every share of itself.
    finite = math.isfinite(number) and math.isfinite(right)
    return finite and abs(number - right) <= tolerance * abs(right)
