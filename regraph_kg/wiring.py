"""Settings -> parts: the only place that names concrete stores, models and judges.

Each function imports what it builds, so that a command loads only what it needs: the judge alone
must not load a database driver.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from regraph_kg.errors import BadInput
from regraph_kg.settings import Settings

if TYPE_CHECKING:
    from regraph_kg.evaluation.evaluate import Judge
    from regraph_kg.evaluation.problem import Problem


def open_judge(settings: Settings, grade: Literal["screening", "full"] = "screening") -> "Judge":
    """The judge of this machine; a context manager."""
    from regraph_kg.evaluation.evaluate import Judge  # noqa: PLC0415

    return Judge(settings.cache_dir, grade=grade)


def find_problem(settings: Settings, name: str) -> "Problem":
    """A problem of the corpus by name, or the one in the folder `name`."""
    from regraph_kg.evaluation.problem import load_problem  # noqa: PLC0415

    folder = settings.corpus / "problems"
    if Path(name).is_dir():
        return load_problem(Path(name))
    if (folder / name).is_dir() and "/" not in name:
        return load_problem(folder / name)
    known = sorted(path.parent.name for path in folder.glob("*/problem.toml"))
    raise BadInput(
        f"problem {name}: neither a folder nor in {folder} (there: {', '.join(known) or 'none'})"
    )
