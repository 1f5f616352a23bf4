"""The user's file that a problem came from, and the way back: home.toml, beside problem.toml.

`regraph problem new` writes it; it is no part of the problem's identity. Offsets are bytes of the
user's file as `sha256` knows it: two edits (declaration, wrapper) make the user's function call a
candidate's entry.
Not covered: where a candidate's own text goes, and how it is built there.
"""

import hashlib
import os
import tomllib
from pathlib import Path
from typing import Annotated, Self

from pydantic import (
    NonNegativeInt,
    PositiveInt,
    StringConstraints,
    ValidationError,
    model_validator,
)

from regraph_kg import regular
from regraph_kg.errors import BadInput, first_mistake
from regraph_kg.evaluation.problem.declaration import Declared, Identifier

FILE = "home.toml"
_MOST_BYTES = 2**20
Range = tuple[NonNegativeInt, NonNegativeInt]
"""Bytes of the user's file: the first, and the first one after."""


class Home(Declared):
    """A function of a user's file, and the texts with which it calls a candidate's entry."""

    file: str  #: the user's file: relative to the problem's folder where possible, else absolute
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    """Digest of that file's bytes when the problem was made; no edit fits another content."""
    read: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None = None
    """Digest of what was read: the file with its own headers in their places."""
    flags: str = ""  #: of the user's build, as far as they decide how the file is read
    function: str  #: its qualified name, with template arguments: `image::blur<float>`
    signature: str  #: what stands before the body in the file, as it is there
    lines: tuple[PositiveInt, PositiveInt]  #: first and last line of the definition, counted from 1
    definition: Range  #: the definition, from `template` or the return type to the closing brace
    entry: Identifier
    declaration: str  #: the candidate's entry, declared: one line of C++ for file scope
    declare_at: NonNegativeInt  #: the declaration's place at file scope, before the function
    replace: Range  #: the place behind the opening brace of the function's body
    wrapper: str  #: looks, calls and returns, before the function's own code
    includes: tuple[str, ...] = ()  #: headers that the wrapper needs, such as `<vector>`
    assumes: tuple[str, ...] = ()
    """What must hold at each call, such as `y points to n elements`; the wrapper cannot look."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        start, end = self.definition
        if not (self.declare_at <= start < end and start < self.replace[0] <= self.replace[1]):
            text = "declare_at, definition and replace must follow each other in the file"
            raise ValueError(text)
        return self

    def path(self, folder: Path) -> Path:
        """The user's file, for a problem in `folder`."""
        return Path(os.path.normpath(folder / self.file))

    def fits(self, content: bytes) -> bool:
        """Whether `content` is the file that the offsets speak of."""
        return hashlib.sha256(content).hexdigest() == self.sha256

    def was_read_from(self, content: bytes) -> bool:
        """Whether the file with its headers is unchanged since the problem was made."""
        return self.read is None or hashlib.sha256(content).hexdigest() == self.read


def load_home(folder: Path) -> Home | None:
    """A problem's home.toml; None where there is none. Raises `BadInput` naming file and field."""
    path = folder / FILE
    try:
        return Home.model_validate(tomllib.loads(regular.read_text(path, _MOST_BYTES)))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; make it readable") from None
    except (ValueError, RecursionError) as error:
        no_toml = f"not TOML: {str(error)[:200]}"
        what = first_mistake(error) if isinstance(error, ValidationError) else no_toml
        raise BadInput(f"{path}: {what}; regraph problem new writes it") from None
