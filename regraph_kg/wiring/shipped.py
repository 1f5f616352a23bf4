"""The corpus: the starter that comes with this package, or the folder that the settings name.

Not covered: zipped installations; compilers and the graph read these files by their paths.
"""

from importlib.resources import files
from pathlib import Path

from regraph_kg import corpus
from regraph_kg.settings import Settings


def corpus_folder(settings: Settings) -> Path:
    """Folder with techniques.json, problems/, trajectories/, collected/ and recorded/."""
    return settings.corpus or Path(str(files(corpus)))


def starter_files(settings: Settings) -> tuple[Path, ...]:
    """Files of the starter graph."""
    return tuple(sorted((corpus_folder(settings) / "trajectories").glob("*.jsonl")))


def problem_names(settings: Settings) -> list[str]:
    """Problems of the present folder, and those of the corpus."""
    places = Path(), corpus_folder(settings) / "problems"
    return sorted({path.parent.name for place in places for path in place.glob("*/problem.toml")})


def nobody_hears(_: str) -> None:
    """Ignore messages on slow work."""
