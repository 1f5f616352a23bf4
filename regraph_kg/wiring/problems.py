"""Problems by name or folder: found, looked at before use, told of before their code runs."""

import difflib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import regraph_kg
from regraph_kg.errors import BadInput
from regraph_kg.settings import Settings

if TYPE_CHECKING:
    from regraph_kg.evaluation.checkup import Checkup
    from regraph_kg.evaluation.problem import Problem
    from regraph_kg.models.evaluation import Candidate

_SHIPPED = Path(regraph_kg.__file__).resolve().parents[1] / "corpus" / "problems"
"""Problems that come with this package: what they run is known."""


def find_problem(settings: Settings, name: str) -> "Problem":
    """A problem of the corpus by name, or the one in the folder `name`."""
    from regraph_kg.evaluation.problem import load_problem  # noqa: PLC0415

    return load_problem(_folder_of(settings, name))


def problem_names(settings: Settings) -> list[str]:
    """Problems of the corpus."""
    folder = settings.corpus / "problems"
    return sorted(path.parent.name for path in folder.glob("*/problem.toml"))


def check_problem(settings: Settings, name: str, tell: Callable[[str], None]) -> "Checkup":
    """Look at a problem, or recall what a look found; `tell` hears what takes long.

    Raises `BadInput` where there is no problem, `ToolError` where there is no compiler.
    """
    from regraph_kg.evaluation.checkup import Checker  # noqa: PLC0415

    return Checker(settings.cache_dir, tell).check(find_problem(settings, name))


def first_use(settings: Settings, name: str) -> str | None:
    """What of a folder will be compiled and run, said once for each content; None afterwards.

    None too for problems that come with this package.
    """
    from regraph_kg.evaluation.checkup import is_new  # noqa: PLC0415
    from regraph_kg.evaluation.problem import load_problem  # noqa: PLC0415

    folder = _folder_of(settings, name)
    problem = load_problem(folder)
    if folder.resolve().parent == _SHIPPED or not is_new(settings.cache_dir, problem):
        return None
    code = ("serial.cpp", "reference.cpp", "inputs.py")
    files = " and ".join(file for file in code if (folder / file).exists())
    return f"{problem.name}: compiles and runs {files} of {folder}, confined"


def is_refused(candidate: "Candidate") -> bool:
    """Whether the source rules refuse a candidate, whatever the problem."""
    from regraph_kg.evaluation.courtesy import rejected  # noqa: PLC0415

    return rejected(candidate.code) is not None


def _folder_of(settings: Settings, name: str) -> Path:
    folder = settings.corpus / "problems"
    if "/" not in name and (folder / name / "problem.toml").exists():
        return folder / name
    if Path(name).is_dir():
        return Path(name)
    if Path(name).is_file():
        beside = (Path(name).parent / "problem.toml").exists()
        remedy = f"; give {Path(name).parent}" if beside else ""
        raise BadInput(
            f"problem {name}: a file; a problem is a folder with problem.toml and serial.cpp"
            f"{remedy} (docs/problems.md)"
        )
    known = problem_names(settings)
    near = difflib.get_close_matches(name, known, 1)
    meant = f"did you mean {near[0]}? " if near else ""
    raise BadInput(
        f"problem {name}: neither a folder nor in {folder} ({meant}there:"
        f" {', '.join(known) or 'none'})"
    )
