"""One project for as long as a judge lives: its copies, and the times of the project as it stands.

Two copies are built once from the unchanged project. One stays as it is: the baseline. The other is
put back for each candidate, gets the candidate's file, and is built again, so that only what the
file changes is compiled. Tests and each run of a bench have a copy of the build of their own:
files that code writes in one copy are not in another.
"""

import secrets
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.compile.diagnostics import trimmed
from regraph_kg.evaluation.compile.sandboxed import Ran, compiler_confinement
from regraph_kg.evaluation.problem import tree
from regraph_kg.evaluation.problem.project import ProjectProblem
from regraph_kg.evaluation.project.commands import Copy, Printed, first_difference, printed
from regraph_kg.evaluation.project.scratch import ScratchFolder
from regraph_kg.evaluation.rules import Failure, JudgeLimits
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.text import plain

_UNCHANGED, _BUILT = "unchanged", "built"
_SAID = 900
"""Characters of what a command said last that a diagnosis tells."""
_LEAST_SECONDS = 2.0
_TICK = 1e-9
"""Seconds: what the clocks of programs count in."""
_SIGNALS = range(129, 129 + 64)
"""Exit codes by which make, shells and test runners tell that a signal ended a program."""


class ProjectSession:
    """Use `open`, then `build`, `test` and `bench` in this order; close it."""

    def __init__(self, problem: ProjectProblem, limits: JudgeLimits) -> None:
        self.problem, self._limits = problem, limits
        self._scratch = ScratchFolder()
        root = self._scratch.root
        self._source = root / "source"
        self._given, self._asked = Copy(root / "given", problem), Copy(root / "asked", problem)
        self.serial_seconds = 0.0
        """Of a run of the bench with the project as it stands, as its clock tells."""
        self._process_seconds = 0.0
        """Of such a run's whole process."""
        self.sandbox = ""

    def close(self) -> None:
        """Remove the copies; idempotent."""
        self._scratch.close()

    def open(self, tell: Callable[[str], None]) -> None:
        """Build, test and time the project as it stands. Raises `BadInput` where that fails."""
        if compiler_confinement().remedy:
            raise ToolError(
                "commands: this kernel gives them neither a root folder of their own nor landlock,"
                f" so that they could read your files; {compiler_confinement().remedy}"
            )
        problem = self.problem
        tell("copying the project")
        tree.copy(Path(problem.folder), self._source, problem.commands.exclude)
        if tree.digest_of(self._source, ()) != problem.tree:
            raise BadInput(
                f"problem {problem.name}: {problem.folder} was changed while it was copied;"
                " begin again"
            )
        for copy, name in ((self._given, "once"), (self._asked, "once more")):
            tell(f"building the project as it stands, {name}")
            tree.copy(self._source, copy.work)
            self._trusted("build", self._build(copy))
            if not copy.keep(_UNCHANGED):
                raise BadInput(
                    f"problem {problem.name}: its build leaves pipes, sockets or devices, which"
                    " cannot be copied; let it make files only"
                )
        tell("testing the project as it stands")
        self._trusted("tests", self._tested(self._given))
        shutil.rmtree(self._source)
        tell("timing the project as it stands")
        self.serial_seconds = self._first_bench()

    def build(self, code: str) -> Failure | None:
        """Write a candidate into the copy and build."""
        self._asked.take(_UNCHANGED)
        self._asked.drop(_BUILT)
        self._asked.write(self.problem.with_code(code))
        failure = self._build(self._asked, code)
        if failure is None and not self._asked.keep(_BUILT):
            return Failure(Outcome.SUSPICIOUS, "the build leaves files that cannot be copied")
        return failure

    def test(self) -> Failure | None:
        """Test the build."""
        return self._tested(self._asked)

    def bench(self, *, candidate: bool, seed: int) -> Failure | tuple[float, Printed]:
        """Seconds of one run of the bench, and what it printed."""
        commands = self.problem.commands
        limit = commands.bench_seconds
        if candidate:
            slower = self._limits.slower_than_serial * self._process_seconds
            limit = min(limit, max(_LEAST_SECONDS, slower))
        run = self._run_bench(limit, seed, candidate=candidate)
        if candidate and run.code is None:  # a busy machine may hold up one run
            run = self._run_bench(limit, seed, candidate=candidate)
        # What the code printed would tell the next one what to print.
        secret = candidate and commands.result != "same"
        failure = self._run_failure(replace(run, said="") if secret else run, "the bench", limit)
        if failure is None and run.cut and commands.result != "none":
            text = "the bench prints too much to compare: let it print a sum and some elements"
            failure = Failure(Outcome.WRONG_ANSWER, text)
        if failure:
            return failure
        if not candidate:
            self._process_seconds = run.seconds
        output = printed(run.said)
        if commands.clock == "process":
            return run.seconds, output
        if not output.seconds:
            text = "the bench printed no line 'regraph-seconds NUMBER' with a number above 0"
            return Failure(Outcome.WRONG_ANSWER, text)
        seconds = sorted(output.seconds)[len(output.seconds) // 2]
        if not _TICK <= seconds <= run.seconds:
            return Failure(
                Outcome.SUSPICIOUS,
                f"the bench says {seconds:.3g} s, its whole process took {run.seconds:.3g} s, and"
                f" clocks tell {_TICK:g} s at least",
            )
        return seconds, output

    def _run_bench(self, limit: float, seed: int, *, candidate: bool) -> Ran:
        copy = self._asked if candidate else self._given
        copy.take(_BUILT if candidate else _UNCHANGED)
        return copy.run([self.problem.commands.bench], limit, seed)

    def differs(self, candidate: Printed, serial: Printed) -> Failure | None:
        """Failure where a candidate's bench prints another result than the unchanged project's."""
        commands = self.problem.commands
        if commands.result == "none":
            return None
        difference = first_difference(serial, candidate, commands.tolerance)
        if difference is None:
            return None
        text = "the bench prints something else than that of the unchanged project"
        if commands.result == "same":  # else it would tell what is to be printed the next time
            text += f": {difference}"
        return Failure(Outcome.WRONG_ANSWER, text)

    def _first_bench(self) -> float:
        """Seconds of the project as it stands; its output must be fit for comparison."""
        seed = secrets.randbits(31)
        runs = [self._trusted_bench(seed) for _ in range(2)]
        if self.problem.commands.result != "none":
            self._comparable(runs[0][1], runs[1][1])
        if self.problem.commands.result == "same" and not self._heeds_seed(runs[0][1], seed):
            raise BadInput(
                f"problem {self.problem.name}: the bench prints the same whatever REGRAPH_SEED is,"
                " so that code may know what to print without computing it: let the bench draw its"
                ' inputs from REGRAPH_SEED, or write result = "fixed" into [commands], which'
                " proves less"
            )
        return min(seconds for seconds, _ in runs)

    def _comparable(self, first: Printed, again: Printed) -> None:
        """Raise `BadInput` where two runs with one seed print different results."""
        difference = first_difference(first, again, self.problem.commands.tolerance)
        if difference:
            raise BadInput(
                f"problem {self.problem.name}: the bench of the project as it stands prints"
                f" other things each time, with the same REGRAPH_SEED ({difference}): let it print"
                ' results only, not times, or write result = "none" into [commands]'
            )
        if not first.result:
            raise BadInput(
                f"problem {self.problem.name}: the bench prints nothing that could be compared:"
                ' let it print its result, such as a sum, or write result = "none"'
            )

    def _heeds_seed(self, base: Printed, seed: int) -> bool:
        """Whether other seeds change its output; several are tried, as a small number may recur.

        To print the seed itself is not to draw from it.
        """
        for other in (secrets.randbits(31) for _ in range(2)):
            words = self._trusted_bench(other)[1].result
            if [w for w in words if w != str(other)] != [w for w in base.result if w != str(seed)]:
                return True
        return False

    def _trusted_bench(self, seed: int) -> tuple[float, Printed]:
        """A run of the bench of the project as it stands. Raises `BadInput` where that fails."""
        result = self.bench(candidate=False, seed=seed)
        if isinstance(result, Failure):
            raise self._bad_project("bench", result)
        return result

    def _trusted(self, step: str, failure: Failure | None) -> None:
        if failure:
            raise self._bad_project(step, failure)

    def _bad_project(self, step: str, failure: Failure) -> BadInput:
        message = " ".join(failure.diagnosis.split())
        return BadInput(
            f"problem {self.problem.name}: the {step} of the project as it stands fails: {message}"
        )

    def _build(self, copy: Copy, code: str = "") -> Failure | None:
        commands = self.problem.commands
        if not commands.build:
            return None
        result = copy.run(commands.build, commands.build_seconds)
        self.sandbox = ", ".join(result.layers) or self.sandbox
        if result.code == 0:
            return None
        if result.code is None:
            text = f"the build takes more than {commands.build_seconds:g} s"
            return Failure(Outcome.COMPILE_FAILED, text)
        text = self._errors(result.said, code)
        return Failure(Outcome.COMPILE_FAILED, text or f"it ended with exit code {result.code}")

    def _tested(self, copy: Copy) -> Failure | None:
        commands = self.problem.commands
        result = copy.run(commands.test, commands.test_seconds, secrets.randbits(31))
        failure = self._run_failure(result, "the tests", commands.test_seconds)
        if failure:
            return failure
        missing = [text for text in commands.passed if text not in result.said]
        if not missing:
            return None
        return Failure(
            Outcome.SUSPICIOUS,
            f"the tests ended with exit code 0, but did not print {missing[0]!r};"
            f" they printed: {_tail(result.said) or 'nothing'}",
        )

    def _run_failure(self, result: Ran, step: str, limit: float) -> Failure | None:
        """The failure of commands that run the candidate; None where they succeed."""
        if result.code == 0:
            return None
        if result.code is None:
            return Failure(Outcome.TIMED_OUT, f"{step}: not over after {limit:.3g} s")
        words = f": {_tail(result.said)}" if result.said else ""
        if result.code < 0 or result.code in _SIGNALS:
            number = -result.code if result.code < 0 else result.code - _SIGNALS.start + 1
            return Failure(Outcome.CRASHED, f"{step}: ended by signal {number}{words}")
        return Failure(Outcome.WRONG_ANSWER, f"{step}: ended with exit code {result.code}{words}")

    def _errors(self, output: str, code: str) -> str:
        """A compiler's errors in the candidate's file, else the last words."""
        file = Path(self.problem.commands.file)
        if self.problem.is_python or file.name not in output or not code:
            return _tail(output)
        lines = []
        for line in plain(output).splitlines():
            place, name, message = line.partition(f"{file.name}:")
            lines.append(f"candidate.cpp:{message}" if name and " " not in place else line)
        content = self.problem.with_code(code)
        return trimmed("\n".join(lines), content).replace("candidate.cpp", file.name)


def _tail(output: str) -> str:
    """The last words of a command."""
    text = plain(output).strip()
    return text if len(text) <= _SAID else f"..{text[-_SAID:]}"
