"""Checks a problem of a project's own commands: does the project work, do its tests decide.

The project must build, pass its tests and be timed as it stands. Then mutants of the function are
judged like candidates: one that does nothing, one that ends the process with exit code 0 before
anything is said. A mutant that passes shows that the tests decide nothing: an error. One that gives
its first result each time must fail in the bench, else code that keeps results looks fast: a note.
Findings are kept, except errors: a missing program may be installed later.
Not covered: subtler faults than these; a function that only another file defines.
"""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.checkup.findings import ProblemFinding, error, note
from regraph_kg.evaluation.checkup.kept import Checkup, checked_once
from regraph_kg.evaluation.gpu.device import turn
from regraph_kg.evaluation.problem.functions import FoundFunction, find, parsed, with_body
from regraph_kg.evaluation.problem.project import ProjectProblem
from regraph_kg.evaluation.project.session import ProjectSession
from regraph_kg.evaluation.rules import Failure, JudgeLimits
from regraph_kg.models.evaluation import Outcome

_LEAST_SECONDS, _MOST_SECONDS = 0.1, 10.0
_DOES_NOTHING, _EXITS = "does nothing", "ends the process with exit code 0"


class ProjectChecker:
    """Checks projects on this machine; `cache` holds the findings."""

    def __init__(
        self, cache: Path, tell: Callable[[str], None], limits: JudgeLimits | None = None
    ) -> None:
        """`tell` gets a few words before each long step."""
        self._cache, self._tell, self._limits = cache, tell, limits or JudgeLimits()

    def check(self, problem: ProjectProblem) -> Checkup:
        """All findings of one problem."""
        return checked_once(self._cache, problem, lambda: self._look(problem), keep_errors=False)

    def _look(self, problem: ProjectProblem) -> Iterator[ProblemFinding]:
        function = find(problem.serial_code, problem.entry, python=problem.is_python)
        if function is None:
            yield error(
                "entry",
                f"{problem.commands.file} defines no function {problem.entry}"
                + (" between the marked lines" if problem.commands.between else ""),
                'entry = "NAME", a function that commands.file defines',
            )
            return
        session = ProjectSession(problem, self._limits)
        try:
            with turn("cpu", self._tell):
                session.open(lambda action: self._tell(f"{problem.name}: {action}"))
                yield from self._measured(session)
                for action, code in _mutants(problem, function):
                    self._tell(f"{problem.name}: judging a function that {action}")
                    yield from survival(session, action, code)
                self._tell(f"{problem.name}: timing a function that keeps its first result")
                yield from _repetition(session, keeping_first(problem, function))
        except BadInput as failed:
            yield error("commands", str(failed).removeprefix(f"problem {problem.name}: "))
        finally:
            session.close()

    def _measured(self, session: ProjectSession) -> Iterator[ProblemFinding]:
        yield note("guarantee", session.problem.guarantee)
        whole = session.problem.commands.clock == "process"
        seconds = session.serial_seconds
        if not _LEAST_SECONDS <= seconds <= _MOST_SECONDS:
            yield note(
                "bench",
                f"it takes {seconds:.3g} s{', its start included' if whole else ' as it says'};"
                f" times are best known where it takes {_LEAST_SECONDS:g} to {_MOST_SECONDS:g} s",
                "bench with more or fewer repetitions",
            )


def _mutants(problem: ProjectProblem, function: FoundFunction) -> Iterator[tuple[str, str]]:
    """Broken versions of the code, each with its behaviour."""
    text = problem.serial_code
    if problem.is_python:
        yield _DOES_NOTHING, with_body(text, function, "return None")
        yield _EXITS, with_body(text, function, "import os; os._exit(0)")
        return
    nothing = "return 0;" if problem.is_c else "return {};"
    yield _DOES_NOTHING, with_body(text, function, "{}" if function.is_void else f"{{ {nothing} }}")
    yield _EXITS, "#include <unistd.h>\n" + with_body(text, function, "{ _exit(0); }")


_AGAIN = "regraph-called-again"
"""What a function that keeps its first result prints when it is called a second time."""
_KEEPS_IN_CPP = """{{
static int calls = 0;
if (calls++) {{
    if (calls == 2) (void)!write(2, "\\n{again}\\n", {size});
    {leave}
}}
{rest}"""
_KEEPS_IN_PYTHON = """
def _keeping_first(call, kept=[]):
    def once(*given, **named):
        if len(kept) == 1:
            print("{again}")
        kept.append(kept[0] if kept else call(*given, **named))
        return kept[0]
    return once
{entry} = _keeping_first({entry})
"""


def keeping_first(problem: ProjectProblem, function: FoundFunction) -> str:
    """The code with a function that computes only in its first call, and then prints a mark."""
    text = problem.serial_code
    if problem.is_python:
        entry = function.reached_by or problem.entry
        return text + _KEEPS_IN_PYTHON.format(again=_AGAIN, entry=entry)
    original = text.encode()[function.body : function.end].decode()
    leave, rest = "return;", original[1:]
    # In C, which has no lambdas, such a function is not compiled: nothing is known then.
    if not function.is_void:
        leave, rest = "", f"static auto first = [&]() {original}();\nreturn first;\n}}"
    body = _KEEPS_IN_CPP.format(again=_AGAIN, size=len(_AGAIN) + 2, leave=leave, rest=rest)
    return "#include <unistd.h>\n" + with_body(text, function, body)


def _repetition(session: ProjectSession, code: str) -> Iterator[ProblemFinding]:
    """A note where the bench accepts a function that keeps its first result."""
    if session.problem.commands.result == "none":
        return
    if session.build(code):
        yield note("bench", "not known whether it finds code that keeps its first result")
        return
    seed = secrets.randbits(31)
    lazy, serial = (session.bench(candidate=which, seed=seed) for which in (True, False))
    if isinstance(lazy, Failure) or isinstance(serial, Failure) or _AGAIN not in lazy[1].result:
        return
    words = tuple(word for word in lazy[1].result if word != _AGAIN)
    if session.differs(replace(lazy[1], result=words), serial[1]) is None:
        yield note(
            "bench",
            f"a {session.problem.entry} that computes in its first call only, and gives that result"
            " each time, prints the right result: code that keeps results looks fast",
            "a bench that gives each call other inputs, and adds each result to what it prints",
        )


def survival(session: ProjectSession, verb: str, code: str) -> Iterator[ProblemFinding]:
    """The finding of a mutant that passes, or that does not build."""
    commands = session.problem.commands
    # Tests of any kind fail with what is no Python: that says nothing of them.
    unbuilt = session.problem.is_python and parsed(code) is None
    failure = None if unbuilt else session.build(code) or session.test()
    if unbuilt or (failure and failure.outcome is Outcome.COMPILE_FAILED):
        yield note(
            "tests",
            f"not known whether they find a {session.problem.entry} that {verb}, which does not"
            " compile",
        )
    elif failure is None:
        yield error(
            "tests",
            f"a {session.problem.entry} that {verb} passes them: they do not decide what is right,"
            f" or the build takes no notice of {commands.file}",
            "in passed, words that the test program itself prints after its last check, such as"
            " '[  PASSED  ] 12 tests': ctest and make believe exit code 0"
            if verb == _EXITS
            else "tests that compare what the function computes, and print what stands in passed"
            f" only after that; now: {', '.join(commands.test)}",
        )
