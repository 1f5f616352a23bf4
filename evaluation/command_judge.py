"""Judges a candidate by its project's own commands: build, test, then the bench in pairs.

The project is copied and built once. Each candidate begins with that state, gets its file, and is
built again, so that only what the file changes is compiled. Tests and each run of a bench begin
with a fresh copy of the build: files that code writes in one are not in another.
A pair is one run of the bench with the project as it stands and one with the candidate, with the
same secret seed; its ratio of times is one piece of evidence, once both have printed the same.
Weaker than the judge's own checks (`ProjectProblem.guarantee`).
Not covered: cuda (commands see no GPU); work that the bench leaves out unseen; how many files a
command makes in its copy; copies that a killed process leaves in the system's temporary folder.
"""

import contextlib
import math
import os
import re
import secrets
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.compile.own_folder import own_folder
from regraph_kg.evaluation.compile.sandboxed import Ran, compiler_confinement, run_project
from regraph_kg.evaluation.gpu.device import machine_facts, openmp_device, threads, turn
from regraph_kg.evaluation.problem.project import ProjectProblem, copy, digest_of, words
from regraph_kg.evaluation.rules import Failure, JudgeLimits
from regraph_kg.evaluation.timing.estimate import TimeEstimate, level
from regraph_kg.evaluation.timing.load import LoadWatch
from regraph_kg.models.evaluation import Candidate, EvalReport, Grade, Outcome, code_hash
from regraph_kg.models.target import TARGETS, Target
from regraph_kg.models.text import plain

_PATH = "/usr/local/bin:/usr/bin:/bin"
_SYSTEM = ("/usr/local/bin", "/usr/local/lib", "/usr/share", "/etc/localtime")
"""What build systems and interpreters read besides what compilers do."""
_REMOVAL_SECONDS = 300.0  # a candidate may have made millions of files
_SAID = 900  # characters of what a command said that a diagnosis tells
_LEAST_SECONDS = 2.0
_TICK = 1e-9  # seconds: clocks of programs count in nanoseconds
_SIGNALS = range(129, 129 + 64)
"""Exit codes by which make, shells and test runners tell that a signal ended a program."""
_TOLD = re.compile(r"^regraph-seconds[ \t]+([\d.]+(?:e-?\d+)?)[ \t]*$", re.MULTILINE)
_CENSORED_ABOVE = 3.0
"""Two first runs that take so many times as long as the best so far (else the project as it
stands) end the timing."""
_Pairs = list[tuple[float, float]]  # seconds of the unchanged project and of the candidate


class _PairRule(NamedTuple):
    """The count of timed pairs: until the ratio is known, or time is up."""

    least: int
    most: int
    reach: float  # half-width of the 95 % interval of the ratio's logarithm that is enough
    seconds: float


_RULES: dict[Grade, _PairRule] = {
    "screening": _PairRule(3, 7, 0.04, 30.0),
    "full": _PairRule(7, 21, 0.02, 180.0),
}


class TimedRun(NamedTuple):
    """One run of the bench: its seconds, and the words that it printed besides."""

    seconds: float
    result: tuple[str, ...]


class CommandJudge:
    """Keeps a session for each project; one thread at a time. Close it."""

    def __init__(self, limits: JudgeLimits, evaluator: str, tell: Callable[[str], None]) -> None:
        self._limits, self._evaluator, self._tell = limits, evaluator, tell
        self._sessions: dict[str, ProjectSession] = {}

    def close(self) -> None:
        """Remove all copies; idempotent."""
        while self._sessions:
            self._sessions.popitem()[1].close()

    def evaluate(
        self,
        candidate: Candidate,
        problem: ProjectProblem,
        grade: Grade,
        incumbent: float | None = None,
    ) -> EvalReport:
        """A report, whatever the candidate does. `BadInput`: the project itself is at fault."""
        problem.require(candidate.target)
        begun = time.perf_counter()
        with turn("cpu", self._tell):
            session = self._session(problem)
            watch = LoadWatch()
            failure = session.build(candidate.code) or session.test()
            pairs = failure or _timed(session, _RULES[grade], candidate.target, incumbent)
            load = watch.found()
        report = EvalReport(
            problem=problem.name,
            target=candidate.target,
            metric=problem.metric,
            code_hash=code_hash(candidate.code),
            outcome=Outcome.PASSED,
            device=openmp_device(),
            toolchain=problem.toolchain,
            evaluator=self._evaluator,
            grade=grade,
            stages={"total": time.perf_counter() - begun},
            facts=machine_facts() | {"sandbox": session.sandbox},
            guarantee=problem.guarantee,
        )
        if isinstance(pairs, Failure):
            fields = {"outcome": pairs.outcome, "diagnosis": pairs.diagnosis[:1500]}
            return report.model_copy(update=fields)
        return report.model_copy(update=_times(pairs, candidate.target) | {"load": load})

    def _session(self, problem: ProjectProblem) -> "ProjectSession":
        key = problem.model_dump_json()
        if key not in self._sessions:
            session = ProjectSession(problem, self._limits)
            try:
                session.open(self._tell)
            except BaseException:
                session.close()
                raise
            self._sessions[key] = session
        return self._sessions[key]


class ProjectSession:
    """One project for as long as a judge lives. Use `open`, then `build`, `test` and `pair`.

    Commands run in one folder `work`, always at the same path, as build systems write absolute
    paths into their products. Kept beside it, out of their reach: the unchanged project, built, and
    the candidate, built.
    """

    def __init__(self, problem: ProjectProblem, limits: JudgeLimits) -> None:
        self.problem, self._limits = problem, limits
        self._folders = ExitStack()
        self._root = self._folders.enter_context(own_folder())
        self._work = self._root / "work"
        self._unchanged, self._built = self._root / "unchanged", self._root / "built"
        environment = problem.environment_folder
        self._path = f"{environment}/bin:{_PATH}" if environment else _PATH
        self._readable = [*_SYSTEM, *problem.commands.readable]
        self._readable += _python(environment) if environment else []
        self.serial_seconds = self._process_seconds = 0.0
        """Seconds of the unchanged project's bench: by its clock, and as a process."""
        self.sandbox = ""

    def close(self) -> None:
        """Remove the copies; idempotent."""
        remove(self._root)
        self._folders.close()

    def open(self, tell: Callable[[str], None]) -> None:
        """Build, test and time the project as it stands. Raises `BadInput` where that fails."""
        if compiler_confinement().remedy:
            raise ToolError(
                "commands: this kernel gives them neither a root folder of their own nor landlock,"
                f" so that they could read your files; {compiler_confinement().remedy}"
            )
        problem = self.problem
        copy(Path(problem.folder), self._work, problem.commands.exclude)
        if digest_of(self._work, ()) != problem.tree:
            raise self._fault(f"{problem.folder} was changed while it was copied; begin again")
        tell("building and testing the project as it stands")
        self._right("build", self._run_build())
        if not self._keep(self._unchanged):
            raise self._fault("its build leaves pipes, sockets or devices; let it make files")
        self._right("tests", self._run_tests())
        tell("timing the project as it stands")
        seed = secrets.randbits(31)
        first, again = self._own_bench(seed), self._own_bench(seed)
        difference = first_difference(first.result, again.result, problem.commands.tolerance)
        if difference or not first.result:
            raise self._fault(
                f"the bench prints {difference or 'nothing'} when it is run again with the same"
                " REGRAPH_SEED: let it print its result, such as a sum, and no times"
            )
        if not self._heeds_seed(first.result, seed):
            raise self._fault(
                "the bench prints the same whatever REGRAPH_SEED is, so that code may know what to"
                " print without computing it: let the bench draw its inputs from REGRAPH_SEED"
            )
        self.serial_seconds = min(first.seconds, again.seconds)

    def build(self, code: str) -> Failure | None:
        """Put a candidate into the place of the problem's file, and build."""
        self._take(self._unchanged)
        file = self._work / self.problem.commands.file
        if file.parent.resolve() != self._work.resolve() / file.parent.relative_to(self._work):
            raise self._fault(
                f"a link leads to {self.problem.commands.file} after the build; let commands.file"
                " be a file that lies in the project itself"
            )
        file.unlink(missing_ok=True)
        file.write_bytes(code.encode("utf-8", "surrogatepass"))  # halves of pairs: models send them
        failure = self._run_build()
        if failure is None and not self._keep(self._built):
            return Failure(Outcome.SUSPICIOUS, "the build leaves files that cannot be copied")
        return failure

    def test(self) -> Failure | None:
        """Test the build, from which each run of the bench begins anew."""
        return self._run_tests()

    def pair(self, *, candidate_first: bool) -> Failure | tuple[float, float]:
        """Seconds of the project as it stands and of the candidate, which print the same."""
        seed = secrets.randbits(31)
        own = None if candidate_first else self._own_bench(seed)
        run = self._bench(candidate=True, seed=seed)
        if isinstance(run, Failure):
            return run
        own = own or self._own_bench(seed)
        difference = first_difference(own.result, run.result, self.problem.commands.tolerance)
        if difference:
            text = (
                f"the bench prints something else than that of the unchanged project: {difference}"
            )
            return Failure(Outcome.WRONG_ANSWER, text)
        return own.seconds, run.seconds

    def _bench(self, *, candidate: bool, seed: int) -> Failure | TimedRun:
        """One run of the bench, with the candidate or with the project as it stands."""
        commands, limit = self.problem.commands, self.problem.commands.bench_seconds
        if candidate:
            slower = self._limits.slower_than_serial * self._process_seconds
            limit = min(limit, max(_LEAST_SECONDS, slower))
        for _ in range(2):  # a busy machine may hold up one run
            self._take(self._built if candidate else self._unchanged)
            run = self._run([commands.bench], limit, seed)
            if run.code is not None or not candidate:
                break
        failure = _failure(run, "the bench", limit)
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

    def _own_bench(self, seed: int) -> TimedRun:
        """A run of the bench of the project as it stands. Raises `BadInput` where that fails."""
        run = self._bench(candidate=False, seed=seed)
        if isinstance(run, TimedRun):
            return run
        raise self._fault(f"the bench of the project as it stands fails: {run.diagnosis}")

    def _heeds_seed(self, base: Sequence[str], seed: int) -> bool:
        """Whether other seeds change its output; two are tried, as a small number may recur."""
        for other in (secrets.randbits(31) for _ in range(2)):
            result = self._own_bench(other).result
            # To print the seed itself is not to draw from it.
            if [w for w in result if w != str(other)] != [w for w in base if w != str(seed)]:
                return True
        return False

    def _run_build(self) -> Failure | None:
        commands = self.problem.commands
        if not commands.build:
            return None
        run = self._run(commands.build, commands.build_seconds)
        self.sandbox = ", ".join(run.layers) or self.sandbox
        if run.code == 0:
            return None
        said = plain(run.said).replace(f"{self._work}/", "").strip()
        # Compilers tell their errors first, and build systems go on for pages.
        start = max(0, said.find("error:") - _SAID // 3)
        text = said[start : start + _SAID] or f"it ended with exit code {run.code}"
        if run.code is None:
            text = f"the build takes more than {commands.build_seconds:g} s"
        return Failure(Outcome.COMPILE_FAILED, text)

    def _run_tests(self) -> Failure | None:
        commands = self.problem.commands
        run = self._run(commands.test, commands.test_seconds, secrets.randbits(31))
        failure = _failure(run, "the tests", commands.test_seconds)
        missing = [text for text in commands.passed if text not in run.said]
        if failure or not missing:
            return failure
        return Failure(
            Outcome.SUSPICIOUS,
            f"the tests ended with exit code 0, but did not print {missing[0]!r};"
            f" they printed: {plain(run.said).strip()[-_SAID:] or 'nothing'}",
        )

    def _run(self, commands: Sequence[str], seconds: float, seed: int = 0) -> Ran:
        """The commands in turn until one fails, all together in `seconds`.

        Raises `BadInput` where there is no such program.
        """
        home = str(self._work)
        environment = {"PATH": self._path, "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8"}
        environment |= {"USER": "regraph", "LOGNAME": "regraph"}  # there is no /etc/passwd to ask
        environment |= {"OMP_NUM_THREADS": str(threads()), **self.problem.commands.environment}
        environment["REGRAPH_SEED"] = str(seed)
        found = [self._found(words(command)) for command in commands]
        return run_project(found, self._root, self._readable, environment, seconds)

    def _found(self, command: list[str]) -> tuple[str, ...]:
        """A command with its program's place; one with a slash lies in the copy."""
        program = command[0]
        inside = str(self._work / program) if "/" in program else None
        place = inside or shutil.which(program, path=self._path)
        if not place:
            raise self._fault(
                f"commands: no program {program!r} in {self._path}; install it, or write"
                f" ./{program} for one of the project"
            )
        return (place, *command[1:])

    def _keep(self, state: Path) -> bool:
        """Keep the state of `work`; False where it holds files that cannot be copied."""
        remove(state)
        try:
            shutil.copytree(self._work, state, symlinks=True)
        except (OSError, RecursionError):  # no files, no rights to them, folders without end
            return False
        return True

    def _take(self, state: Path) -> None:
        remove(self._work)
        shutil.copytree(state, self._work, symlinks=True)

    def _right(self, step: str, failure: Failure | None) -> None:
        if failure:
            raise self._fault(f"the {step} of the project as it stands fails: {failure.diagnosis}")

    def _fault(self, text: str) -> BadInput:
        return BadInput(f"problem {self.problem.name}: {' '.join(text.split())}")


def _timed(
    session: ProjectSession, rule: _PairRule, target: Target, incumbent: float | None
) -> Failure | _Pairs:
    """Pairs of runs, each checked; one alone where the candidate is far slower."""
    pairs: _Pairs = []
    end = time.monotonic() + rule.seconds
    while len(pairs) <= rule.most:
        pair = session.pair(candidate_first=bool(len(pairs) % 2))
        if isinstance(pair, Failure):
            return pair
        pairs.append(pair)
        timed = pairs[1:]  # the first pair warms caches up
        if len(timed) == 1 and all(
            own > _CENSORED_ABOVE * (incumbent or serial) for serial, own in pairs
        ):
            break
        late = time.monotonic() > end
        if len(timed) >= rule.least and (late or _ratio(timed, target).reach <= rule.reach):
            break
    return pairs[1:]


def _ratio(pairs: _Pairs, target: Target) -> TimeEstimate:
    """The candidate's speedup."""
    return level([[serial / own] for serial, own in pairs], target, "call")


def _times(pairs: _Pairs, target: Target) -> dict[str, object]:
    """Times of a report, and its outcome where they mean nothing."""
    ratio = _ratio(pairs, target)
    serial, own = (
        level([[seconds] for seconds in side], target, "call").timing()
        for side in zip(*pairs, strict=True)
    )
    fields: dict[str, object] = {
        "timing": own,
        "baseline": serial,
        "speedup": ratio.seconds,
        "speedup_interval": ratio.timing().interval,
    }
    is_censored = len(pairs) == 1  # far slower: how much is not asked
    if not is_censored and ratio.reach > TARGETS[target].unstable:
        message = f"right, but the ratio of times is known to within {ratio.reach:.0%} only"
        fields |= {"outcome": Outcome.UNSTABLE_TIMING, "diagnosis": message}
    return fields


def _failure(run: Ran, step: str, limit: float) -> Failure | None:
    """The failure of commands that run the candidate; None where they succeed."""
    if run.code == 0:
        return None
    if run.code is None:
        return Failure(Outcome.TIMED_OUT, f"{step}: not over after {limit:.3g} s")
    said = plain(run.said).strip()[-_SAID:]
    if run.code < 0 or run.code in _SIGNALS:
        number = -run.code if run.code < 0 else run.code - _SIGNALS.start + 1
        return Failure(Outcome.CRASHED, f"{step}: ended by signal {number}: {said}")
    return Failure(Outcome.WRONG_ANSWER, f"{step}: ended with exit code {run.code}: {said}")


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


def remove(folder: Path) -> None:
    """Remove a folder that strangers wrote into, whatever rights and depth they gave it.

    Python's own means end at paths of 4096 bytes and at 1000 folders in each other.
    """
    for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):  # they follow no links there
        if folder.exists():
            with contextlib.suppress(subprocess.TimeoutExpired):
                subprocess.run(
                    [*command, "--", str(folder)],
                    check=False,
                    capture_output=True,
                    timeout=_REMOVAL_SECONDS,
                )
    if folder.exists():
        raise ToolError(f"{folder}: cannot be removed; remove it, and begin again")


def _python(environment: str) -> list[str]:
    """Paths that a virtual environment reads: itself, and the Python that it was made of."""
    python = Path(environment, "bin", "python")
    paths = [environment, str(python.resolve())]
    base = python.resolve().parents[1]
    if str(base) not in ("/", "/usr") and any((base / "lib").glob("python3*")):
        paths += [str(base / part) for part in ("bin", "lib", "include", "share")]
    while python.is_symlink():  # each link on the way is looked up in the confined root
        python = Path(os.path.normpath(python.parent / os.readlink(python)))
        paths.append(str(python))
    return paths
