"""The folder that agents work in: code and problems come from there, and from nowhere else.

Links are followed before it is asked where a file lies. Not covered: a file that is exchanged for a
link while it is read, by somebody who may write the folder anyhow.
"""

from pathlib import Path

from regraph_kg.errors import BadInput
from regraph_kg.settings import Settings
from regraph_kg.wiring.shipped import corpus_folder, problem_names
from regraph_kg.wiring.sources import read_source

LONGEST_CODE = 2**20  # characters of a code that an agent sends, and bytes of a file that it names
PROBLEM_FILES = ("problem.toml", "serial.cpp", "reference.cpp", "inputs.py")


class ProjectFolder:
    """A folder, and its files that may be read."""

    def __init__(self, root: Path, settings: Settings) -> None:
        """Raises `BadInput` where `root` is no folder."""
        if not root.is_dir():
            raise BadInput(f"{root}: no folder; give the project's folder with --root")
        # links are compared with it after they were followed, too
        self.root = root.resolve()
        self._settings = settings

    def inside(self, name: str) -> Path:
        """The path of `name`; `BadInput` for a path that leads outside."""
        try:
            path = (self.root / name).resolve()
            inside = path.is_relative_to(self.root)
            # a pipe would be waited for
            strange = inside and path.exists() and not (path.is_file() or path.is_dir())
        except (OSError, ValueError, RuntimeError) as error:
            why = getattr(error, "strerror", None) or "no such path"
            raise BadInput(f"{name[:200]!r}: {why}; name a file of the project") from None
        if not inside:
            raise BadInput(f"{name[:200]!r} lies outside the project's folder; name a file of it")
        if strange:
            raise BadInput(f"{name[:200]!r}: no file and no folder; name a file of the project")
        return path

    def code(self, code: str, file: str) -> str:
        """The code that an agent hands over: as a text, or as a file of the folder."""
        if bool(code) == bool(file):
            raise BadInput("give either code, or file: a path inside the project's folder")
        if not file:
            if len(code) > LONGEST_CODE:
                raise BadInput(f"code: longer than {LONGEST_CODE} characters; give a function")
            return code
        path = self.inside(file)
        if path.is_file() and path.stat().st_size > LONGEST_CODE:
            raise BadInput(f"{file}: larger than {LONGEST_CODE} bytes; give a source file")
        return read_source(path)

    def problem(self, name: str) -> str:
        """A problem as `find_problem` takes it: a folder inside, or a name of the corpus."""
        folder = self.inside(name)
        if not folder.is_dir():
            # a path that is no folder here must not name one of the corpus
            if "/" in name or name not in problem_names(self._settings):
                names = ", ".join(self.problems())
                raise BadInput(f"problem {name[:200]!r}: no folder of the project; known: {names}")
            return name
        for file in PROBLEM_FILES:
            self.inside(str(folder / file))
        return str(folder)

    def problems(self) -> list[str]:
        """Problems of the folder, and names of the corpus."""
        own = self.root.glob("*/problem.toml")
        # a link may lead outside, where nothing is read
        inside = (path for path in own if path.resolve().is_relative_to(self.root))
        local = {str(path.parent.relative_to(self.root)) for path in inside}
        shipped = corpus_folder(self._settings).glob("problems/*/problem.toml")
        return sorted(local | {path.parent.name for path in shipped})
