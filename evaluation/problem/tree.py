"""A project's files: which are copied, their digest, and the copying.

Links are copied as links and never followed. Not covered: owners, extended attributes, hard links.
"""

import fnmatch
import hashlib
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from regraph_kg.errors import BadInput, file_errors

NEVER = (
    *(".git", ".hg", ".svn", ".venv", "venv", "__pycache__", ".pytest_cache", "node_modules"),
    *("runs", "CMakeCache.txt"),
)
"""Names that are never copied, beside what a problem excludes; "runs" are our own traces."""
MOST_FILES, MOST_BYTES = 20_000, 512 * 2**20


def files_of(folder: Path, exclude: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """Paths below `folder` that are copied: relative name and place, in order of the names.

    `exclude` are patterns of relative names or of single names. Raises `BadInput` where they are
    too many or too large.
    """
    count = size = 0
    for name, path in _walk(folder, "", (*NEVER, *exclude)):
        count, size = count + 1, size + path.lstat().st_size
        if count > MOST_FILES or size > MOST_BYTES:
            raise BadInput(
                f"{folder}: more than {MOST_FILES} files or {MOST_BYTES >> 20} MiB would be copied"
                f" for each judging, {name} among them; name what is not needed in commands.exclude"
            )
        yield name, path


def _walk(folder: Path, before: str, exclude: Sequence[str]) -> Iterator[tuple[str, Path]]:
    with file_errors(folder, "it is to be copied"):
        entries = sorted(os.scandir(folder), key=lambda item: item.name)
    # CMake refuses a build folder in another place than where it was made.
    if before and any(entry.name == "CMakeCache.txt" for entry in entries):
        return
    for entry in entries:
        name = f"{before}{entry.name}"
        if any(fnmatch.fnmatch(item, rule) for rule in exclude for item in (entry.name, name)):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path), f"{name}/", exclude)
        elif entry.is_symlink() or entry.is_file(follow_symlinks=False):
            yield name, Path(entry.path)


def digest_of(folder: Path, exclude: Sequence[str]) -> str:
    """Digest of names, contents and executable bits of what is copied. Raises `BadInput`."""
    total = hashlib.sha256()
    for name, path in files_of(folder, exclude):
        with file_errors(path, "it is to be copied"):
            is_link = path.is_symlink()
            content = os.fsencode(os.readlink(path)) if is_link else path.read_bytes()
            mode = path.lstat().st_mode & stat.S_IXUSR
        digest = hashlib.sha256(content).hexdigest()
        total.update(f"{name}\0{is_link}{mode}{digest}\0".encode("utf-8", "surrogateescape"))
    return f"sha256:{total.hexdigest()}"


def copy(folder: Path, target: Path, exclude: Sequence[str] = ()) -> None:
    """Copy what `files_of` tells to a new folder, with times and modes. Raises `BadInput`."""
    target.mkdir()
    for name, path in files_of(folder, exclude):
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        with file_errors(path, "it is to be copied"):
            shutil.copy2(path, place, follow_symlinks=False)
        if not place.is_symlink():  # a build may write over a file that is read-only
            place.chmod(stat.S_IMODE(place.stat().st_mode) | stat.S_IWUSR)
