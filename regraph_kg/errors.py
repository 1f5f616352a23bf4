"""The product's errors, one tree; a candidate's failure is data (`models.Outcome`), never an error.

    RegraphError            exit code
    |- BadInput             2   a file, option or name the user gave
    |- Environment          3   something the machine lacks or lost
    |  |- StoreError            the graph database
    |  |- ModelError            the language model or its server
    |  `- ToolError             compiler, GPU, disk, sandbox
    |- Interrupted          4   stopped on the way; can be resumed
    `- AnswersPending       5   waiting for answers by file

Every message is one line: what, where, how to mend. The CLI prints it and exits with `exit_code`;
exit code 1 (an honest negative) is a result, not an error.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError


class RegraphError(Exception):
    """Root of all errors that this project raises on purpose."""

    exit_code = 3

    def __init__(self, message: str, *, remedy: str = "") -> None:
        """`message`: what is wrong, and where; `remedy`: what to do, which ends the line."""
        super().__init__(f"{message}; {remedy}" if remedy else message)


class BadInput(RegraphError):
    """The user gave something unusable: a file, an option, a name."""

    exit_code = 2


class Environment(RegraphError):
    """The machine lacks, or has lost, something we need."""

    exit_code = 3


class StoreError(Environment):
    """The graph store is absent, unreachable, foreign, newer than we are, or refused us."""


class ModelError(Environment):
    """The language model or its server failed."""


class ToolError(Environment):
    """Compiler, GPU, disk or sandbox failed: never the candidate's fault."""


class Interrupted(RegraphError):
    """The work was stopped and can go on; the message names the command that resumes it."""

    exit_code = 4


class AnswersPending(RegraphError):
    """Prompts were written to a file and wait for their answers."""

    exit_code = 5


@contextmanager
def file_errors(path: object, remedy: str, kind: type[RegraphError] = BadInput) -> Iterator[None]:
    """Turn an `OSError` over `path`, or bytes that are no text, into an error of ours."""
    try:
        yield
    except OSError as error:
        raise kind(f"{path}: {error.strerror}", remedy=remedy) from None
    except UnicodeDecodeError:
        raise kind(f"{path}: not UTF-8 text", remedy=remedy) from None


def first_mistake(error: "ValidationError", whole: str = "") -> str:
    """The first mistake of a value with its place, which is `whole` where it has no field."""
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"])) or whole
    text = first["msg"].removeprefix("Value error, ")
    return f"{place}: {text}" if place else text
