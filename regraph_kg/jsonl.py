"""Files of JSON lines: whole lines in the memory that one of them takes, or parsed as one kind."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

from pydantic import BaseModel, ValidationError

from regraph_kg.errors import BadInput, first_mistake

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class RawLine:
    """A line of a file, or the beginning of one that is too long."""

    number: int
    start: int  # its offset in bytes
    content: bytes  # without its end
    whole: bool  # whether it has an end; only the last one may have none


def raw_lines(file: BinaryIO, longest: int) -> Iterator[RawLine]:
    """The lines from the position of `file` on, in the memory of one line.

    A line of more than `longest` bytes, its end included, is the last, cut off one byte too late.
    """
    number = start = size = 0
    while size <= longest and (text := file.readline(longest + 1)):
        number, size = number + 1, len(text)
        whole = size <= longest and text.endswith(b"\n")
        yield RawLine(number, start, text[:-1] if whole else text, whole)
        start += size


def parsed(path: Path, lines: Iterable[bytes], kind: type[M]) -> Iterator[tuple[int, M]]:
    """Each line that is not blank, and its number; `BadInput` says where and what is wrong."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield number, kind.model_validate_json(line)
            except ValidationError as error:
                mistake = first_mistake(error, "line")
                raise BadInput(f"{path}:{number}: {mistake}; mend the line") from None
