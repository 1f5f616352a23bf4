"""Code that users hand over: a text, or a file of at most 16 MiB of UTF-8."""

from pathlib import Path

from regraph_kg.errors import BadInput, file_errors

MOST_BYTES = 16 * 2**20  # longest source that is read


def code_of(source: str | Path) -> str:
    """A text as it is, or the content of a file."""
    return read_source(source) if isinstance(source, Path) else source


def read_source(path: Path) -> str:
    """The code of a file, with equal line ends. `BadInput` for anything else."""
    with file_errors(path, "give a C++ or CUDA source file"), path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)  # a device may have no end
        if len(data) > MOST_BYTES:
            raise BadInput(f"{path}: longer than {MOST_BYTES >> 20} MiB; give a source file")
        return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
