"""Checks a problem of a project's own commands: does the project work, do its tests decide.

The project must build, pass its tests and be timed as it stands. Then two broken codes are judged
like candidates: one whose function does nothing, one that ends the process with exit code 0 before
anything is said. One that passes shows that the tests decide nothing: an error. Findings are kept,
except errors: a missing program may be installed later.
Not covered: subtler faults than these; a function that only another file defines.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.checkup.findings import ProblemFinding, error, note
from regraph_kg.evaluation.command_judge import CandidateFailed, ProjectSession, open_project
from regraph_kg.evaluation.gpu.device import turn
from regraph_kg.evaluation.problem.project import ProjectProblem, doing_nothing
from regraph_kg.evaluation.rules import JudgeLimits
from regraph_kg.models.evaluation import Outcome

_LEAST_SECONDS, _MOST_SECONDS = 0.1, 10.0
_EXITS = "#include <unistd.h>\n__attribute__((constructor)) static void leave(void) { _exit(0); }\n"


def check_project(problem: ProjectProblem, tell: Callable[[str], None]) -> Iterator[ProblemFinding]:
    """All findings of a project; `tell` gets a few words before each long step."""
    text, suffix = problem.serial_code, Path(problem.commands.file).suffix
    idle = doing_nothing(text, problem.entry, suffix)
    if idle is None:
        about = f"{problem.commands.file} defines no function {problem.entry}"
        yield error("entry", about, 'entry = "NAME", a function that commands.file defines')
        return
    gone = ("import os; os._exit(0)\n" if suffix == ".py" else _EXITS) + text
    try:
        with (
            turn("cpu", tell),
            open_project(
                problem, JudgeLimits(), lambda action: tell(f"{problem.name}: {action}")
            ) as session,
        ):
            yield note("guarantee", problem.guarantee)
            seconds = session.serial_seconds
            if not _LEAST_SECONDS <= seconds <= _MOST_SECONDS:
                text = f"takes {seconds:.3g} s; best {_LEAST_SECONDS:g} to {_MOST_SECONDS:g} s"
                yield note("bench", text, "bench with more or fewer repetitions")
            yield from _survival(session, "does nothing", idle)
            yield from _survival(session, "ends the process with exit code 0", gone)
    except BadInput as failed:
        yield error("commands", str(failed).removeprefix(f"problem {problem.name}: "))


def _survival(session: ProjectSession, action: str, code: str) -> Iterator[ProblemFinding]:
    """The finding of a broken code that passes, or that does not build."""
    problem = session.problem
    try:
        session.build(code)
        session.test()
    except CandidateFailed as failed:
        if failed.outcome is Outcome.COMPILE_FAILED:  # so that it says nothing of the tests
            yield note("tests", f"not known whether they find code that {action}: no build of it")
        return
    yield error(
        "tests",
        f"{problem.entry} that {action} passes them: they do not decide what is right,"
        f" or the build takes no notice of {problem.commands.file}",
        "tests that compare what the function computes, and in passed what they print after"
        " their last check: '[  PASSED  ] 12 tests', as ctest and make believe exit code 0",
    )
