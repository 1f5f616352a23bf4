"""Judges a candidate by its project's own commands: build, test, then the bench in pairs.

The project is copied and built once. Each candidate begins with that state, gets its file, and is
built again, so that only what the file changes is compiled. Tests and each run of a bench begin
with a fresh copy of the build: files that code writes in one are not in another.
A pair is one run of the bench with the project as it stands and one with the candidate, with the
same secret seed; its ratio of times is one piece of evidence, once both have printed the same.
Weaker than the judge's own checks (`ProjectProblem.guarantee`); a glance is a screening.
Not covered: cuda (commands see no GPU); work that the bench leaves out unseen; how many files a
command makes in its copy; copies that a killed process leaves in the system's temporary folder.
"""

import contextlib
import math
import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.compile.own_folder import own_folder
from regraph_kg.evaluation.compile.sandboxed import Ran, run_project
from regraph_kg.evaluation.gpu.device import machine_facts, openmp_device, threads, turn
from regraph_kg.evaluation.problem.project import ProjectProblem, copy, digest_of, words
from regraph_kg.evaluation.rules import Failure, JudgeLimits
from regraph_kg.evaluation.timing.estimate import TimeEstimate, level
from regraph_kg.evaluation.timing.load import LoadWatch
from regraph_kg.models.evaluation import Candidate, EvalReport, Grade, Outcome, code_hash
from regraph_kg.models.target import TARGETS
from regraph_kg.models.text import plain

_PATH = "/usr/local/bin:/usr/bin:/bin"
_SYSTEM = ("/usr/local/bin", "/usr/local/lib", "/usr/share", "/etc/localtime")
"""What build systems and interpreters read besides what compilers do."""
_REMOVAL_SECONDS = 300.0  # a candidate may have made millions of files
_SAID = 900  # characters of what a command said: a repair prompt holds them beside the code
_MOST_DIAGNOSIS = 1500  # characters, as of every diagnosis
_LEAST_SECONDS = 2.0  # a candidate's run gets so many at least: a short one may be held up
_TRIES = 2  # runs of a candidate that is not over in time: a busy machine may hold up one
_SIGNALS = range(129, 129 + 64)
"""Exit codes by which make, shells and test runners tell that a signal ended a program."""
_CENSORED_ABOVE = 3.0
"""Two first runs that take so many times as long as the best so far (else the project as it
stands) end the timing: no search builds on such code."""
_Pairs = list[tuple[float, float]]  # seconds of the unchanged project and of the candidate


class _PairRule(NamedTuple):
    """The count of timed pairs: until the ratio is known, or time is up."""

    least: int
    most: int
    reach: float  # half-width of the 95 % interval of the ratio's logarithm that is enough
    seconds: float


# A screening tells 10 % apart, a full verdict 5 %; benches of some seconds end by the clock.
_SCREENING, _FULL = _PairRule(3, 7, 0.04, 30.0), _PairRule(7, 21, 0.02, 180.0)


class CommandJudge:
    """Keeps a session for each project; one thread at a time. Close it."""

    def __init__(self, limits: JudgeLimits, evaluator: str, tell: Callable[[str], None]) -> None:
        self._limits, self._evaluator, self._tell = limits, evaluator, tell
        self._sessions: dict[str, ProjectSession] = {}
        self._copies = contextlib.ExitStack()

    def close(self) -> None:
        """Remove all copies; idempotent."""
        self._sessions.clear()
        self._copies.close()

    def evaluate(
        self,
        candidate: Candidate,
        problem: ProjectProblem,
        grade: Grade,
        incumbent: float | None = None,
    ) -> EvalReport:
        """A report, whatever the candidate does. `BadInput`: the project itself is at fault."""
        problem.require(candidate.target)
        begun, is_full = time.perf_counter(), grade == "full"
        with turn("cpu", self._tell):
            key = problem.model_dump_json()
            if key not in self._sessions:
                opened = open_project(problem, self._limits, self._tell)
                self._sessions[key] = self._copies.enter_context(opened)
            session, watch = self._sessions[key], LoadWatch()
            found: dict[str, object]
            try:
                session.build(candidate.code)
                session.test()
                pairs = session.timed(_FULL if is_full else _SCREENING, incumbent)
                found = _times(pairs) | {"load": watch.found()}
            except Failure as failed:
                diagnosis = failed.diagnosis[:_MOST_DIAGNOSIS]
                found = {"outcome": failed.outcome, "diagnosis": diagnosis}
        return EvalReport(
            problem=problem.name,
            target=candidate.target,
            metric=problem.metric,
            code_hash=code_hash(candidate.code),
            outcome=Outcome.PASSED,
            device=openmp_device(),
            toolchain=problem.toolchain,
            evaluator=self._evaluator,
            grade="full" if is_full else "screening",
            stages={"total": time.perf_counter() - begun},
            facts=machine_facts() | {"sandbox": session.sandbox},
            guarantee=problem.guarantee,
        ).model_copy(update=found)


@contextlib.contextmanager
def open_project(
    problem: ProjectProblem, limits: JudgeLimits, tell: Callable[[str], None]
) -> "Iterator[ProjectSession]":
    """A project built, tested and timed as it stands. Raises `BadInput` where that fails."""
    with own_folder() as root:
        session = ProjectSession(problem, limits, root)
        try:
            session.begin(tell)
            yield session
        finally:
            remove(root)


class ProjectSession:
    """One project for as long as a judge lives (`open_project`): `build`, `test`, then `timed`.

    Commands run in one folder `work`, always at the same path, as build systems write absolute
    paths into their products. Kept beside it, out of their reach: the unchanged project, built, and
    the candidate, built. `build`, `test` and `timed` raise `Failure`.
    """

    def __init__(self, problem: ProjectProblem, limits: JudgeLimits, root: Path) -> None:
        self.problem, self._limits, self._root = problem, limits, root
        self._work = root / "work"
        self._unchanged, self._built = root / "unchanged", root / "built"
        environment = problem.environment_folder
        self._path = f"{environment}/bin:{_PATH}" if environment else _PATH
        self._readable = [*_SYSTEM, *problem.commands.readable]
        self._readable += _python(environment) if environment else []
        self.serial_seconds = 0.0  # of the last run of the unchanged project's bench
        self.sandbox = ""

    def begin(self, tell: Callable[[str], None]) -> None:
        """Build, test and time the project as it stands. Raises `BadInput` where that fails."""
        problem = self.problem
        copy(Path(problem.folder), self._work, problem.commands.exclude)
        if digest_of(self._work, ()) != problem.tree:
            raise self._fault(f"{problem.folder} was changed while it was copied; begin again")
        tell("building and testing the project as it stands")
        with self._as_it_stands("build"):
            self._run_build()
        if not self._keep(self._unchanged):
            raise self._fault("its build leaves pipes, sockets or devices; let it make files")
        with self._as_it_stands("tests"):
            self.test()
        tell("timing the project as it stands")
        seed, *others = (secrets.randbits(31) for _ in range(3))
        first, again = self._own_bench(seed), self._own_bench(seed)
        difference = self._difference(first, again)
        if difference or not first.said.split():
            raise self._fault(
                f"the bench prints {difference or 'nothing'} when it is run again with the same"
                " REGRAPH_SEED: let it print its result, such as a sum, and no times"
            )
        # Two other seeds are tried, as a small number may recur; to print the seed itself is not
        # to draw from it.
        said = {self._own_bench(s).said.replace(str(s), "") for s in others}
        if said == {first.said.replace(str(seed), "")}:
            raise self._fault(
                "the bench prints the same whatever REGRAPH_SEED is, so that code may know what to"
                " print without computing it: let the bench draw its inputs from REGRAPH_SEED"
            )

    def build(self, code: str) -> None:
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
        self._run_build()
        if not self._keep(self._built):
            raise Failure(Outcome.SUSPICIOUS, "the build leaves files that nobody can copy")

    def test(self) -> None:
        commands = self.problem.commands
        run = self._run(commands.test, commands.test_seconds, secrets.randbits(31))
        _require(run, "the tests", commands.test_seconds)
        missing = [text for text in commands.passed if text not in run.said]
        if missing:
            raise Failure(
                Outcome.SUSPICIOUS,
                f"the tests ended with exit code 0, but did not print {missing[0]!r};"
                f" they printed: {plain(run.said).strip()[-_SAID:] or 'nothing'}",
            )

    def timed(self, rule: _PairRule, incumbent: float | None) -> _Pairs:
        """Pairs of runs, each checked; one alone where the candidate is far slower."""
        pairs: _Pairs = []
        end = time.monotonic() + rule.seconds
        while len(pairs) <= rule.most:
            pairs.append(self._pair(candidate_first=bool(len(pairs) % 2)))
            counted = pairs[1:]  # the first pair warms caches up
            slow = [own > _CENSORED_ABOVE * (incumbent or serial) for serial, own in pairs]
            if len(counted) == 1 and all(slow):
                break
            late = time.monotonic() > end
            if len(counted) >= rule.least and (late or _ratio(counted).reach <= rule.reach):
                break
        return pairs[1:]

    def _pair(self, *, candidate_first: bool) -> tuple[float, float]:
        """Seconds of the project as it stands and of the candidate, which print the same."""
        seed = secrets.randbits(31)
        before = None if candidate_first else self._own_bench(seed)
        run = self._bench(seed, candidate=True)
        own = before or self._own_bench(seed)
        if difference := self._difference(own, run):
            what = "the bench prints something else than that of the unchanged project"
            raise Failure(Outcome.WRONG_ANSWER, f"{what}: {difference}")
        return own.seconds, run.seconds

    def _difference(self, right: Ran, other: Ran) -> str | None:
        tolerance = self.problem.commands.tolerance
        return first_difference(right.said.split(), other.said.split(), tolerance)

    def _own_bench(self, seed: int) -> Ran:
        """A run of the bench of the project as it stands."""
        with self._as_it_stands("bench"):
            run = self._bench(seed, candidate=False)
        self.serial_seconds = run.seconds
        return run

    def _bench(self, seed: int, *, candidate: bool) -> Ran:
        """One run of the bench, with the candidate or with the project as it stands."""
        commands, limit = self.problem.commands, self.problem.commands.bench_seconds
        if candidate:
            slower = self._limits.slower_than_serial * self.serial_seconds
            limit = min(limit, max(_LEAST_SECONDS, slower))
        for _ in range(_TRIES if candidate else 1):
            self._take(self._built if candidate else self._unchanged)
            run = self._run([commands.bench], limit, seed)
            if run.code is not None:
                break
        _require(run, "the bench", limit)
        if run.cut:
            text = "the bench prints too much to compare: let it print a sum and some elements"
            raise Failure(Outcome.WRONG_ANSWER, text)
        return run

    def _run_build(self) -> None:
        commands = self.problem.commands
        if not commands.build:
            return
        run = self._run(commands.build, commands.build_seconds)
        self.sandbox = ", ".join(run.layers) or self.sandbox
        if run.code == 0:
            return
        said = plain(run.said).replace(f"{self._work}/", "").strip()
        # Compilers tell their errors first, and build systems go on for pages.
        start = max(0, said.find("error:") - _SAID // 3)
        text = said[start : start + _SAID] or f"it ended with exit code {run.code}"
        if run.code is None:
            text = f"the build takes more than {commands.build_seconds:g} s"
        raise Failure(Outcome.COMPILE_FAILED, text)

    def _run(self, commands: Sequence[str], seconds: float, seed: int = 0) -> Ran:
        """The commands in turn until one fails, in `seconds`. `BadInput` where there is none."""
        home = str(self._work)
        environment = {"PATH": self._path, "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8"}
        environment |= {"USER": "regraph", "LOGNAME": "regraph"}  # there is no /etc/passwd to ask
        environment |= {"OMP_NUM_THREADS": str(threads()), **self.problem.commands.environment}
        environment["REGRAPH_SEED"] = str(seed)
        found = list[tuple[str, ...]]()
        for command in commands:
            program, *rest = words(command)
            inside = str(self._work / program) if "/" in program else None  # it lies in the copy
            place = inside or shutil.which(program, path=self._path)
            if not place:
                raise self._fault(
                    f"commands: no program {program!r} in {self._path}; install it, or write"
                    f" ./{program} for one of the project"
                )
            found.append((place, *rest))
        return run_project(found, self._root, self._readable, environment, seconds)

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

    @contextlib.contextmanager
    def _as_it_stands(self, step: str) -> Iterator[None]:
        """A failure in it is the project's, and a fault of the problem."""
        try:
            yield
        except Failure as failed:
            text = f"the {step} of the project as it stands fails: {failed.diagnosis}"
            raise self._fault(text) from None

    def _fault(self, text: str) -> BadInput:
        return BadInput(f"problem {self.problem.name}: {' '.join(text.split())}")


def _ratio(pairs: _Pairs) -> TimeEstimate:
    return level([[serial / own] for serial, own in pairs], "openmp", "call")


def _times(pairs: _Pairs) -> dict[str, object]:
    """Times of a report, and its outcome where they mean nothing."""
    ratio = _ratio(pairs)
    serial, own = (
        level([[seconds] for seconds in side], "openmp", "call").timing()
        for side in zip(*pairs, strict=True)
    )
    fields: dict[str, object] = {
        "timing": own,
        "baseline": serial,
        "speedup": ratio.seconds,
        "speedup_interval": ratio.timing().interval,
    }
    is_censored = len(pairs) == 1  # far slower: how much is not asked
    if not is_censored and ratio.reach > TARGETS["openmp"].unstable:
        message = f"right, but the ratio of times is known to within {ratio.reach:.0%} only"
        fields |= {"outcome": Outcome.UNSTABLE_TIMING, "diagnosis": message}
    return fields


def _require(run: Ran, step: str, limit: float) -> None:
    """Raise `Failure` where commands that run the candidate do not succeed."""
    if run.code == 0:
        return
    if run.code is None:
        raise Failure(Outcome.TIMED_OUT, f"{step}: not over after {limit:.3g} s")
    said = plain(run.said).strip()[-_SAID:]
    if run.code < 0 or run.code in _SIGNALS:
        number = -run.code if run.code < 0 else run.code - _SIGNALS.start + 1
        raise Failure(Outcome.CRASHED, f"{step}: ended by signal {number}: {said}")
    text = f"{step}: ended with exit code {run.code}: {said}"
    raise Failure(Outcome.WRONG_ANSWER, text)


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
    """Remove a folder that strangers wrote into, whatever rights and depth they gave it."""
    # Python's own means end at paths of 4096 bytes and at 1000 folders in each other.
    script = 'chmod -R u+rwX -- "$0"; rm -rf -- "$0"'  # they follow no links there
    command = ["sh", "-c", script, str(folder)]
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(command, check=False, capture_output=True, timeout=_REMOVAL_SECONDS)
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
