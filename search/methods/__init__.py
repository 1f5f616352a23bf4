"""The methods, a file each: every file of this folder is a method, without a list of them.

A method's file holds its settings and its search, and ends with a `METHOD` that says so. Its name
is the file's with hyphens, what it is says the file's first line; both are known without loading
it, so that the command line can offer them. Not here: what several methods share (samples.py,
walk.py, uct.py, ahead.py).
"""

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from regraph_kg.errors import BadInput
from regraph_kg.models.method import MethodSettings

if TYPE_CHECKING:
    from regraph_kg.search.context import Context, Method

Needs = Literal["nothing", "graph", "embeddings"]
"""The part of the graph that a method reads: "graph": it walks from a technique to its successors;
"embeddings": it looks for the examples nearest to a code."""


@dataclass(frozen=True, slots=True)
class MethodKind:
    """A method as its file declares it."""

    settings: type[MethodSettings]
    begin: "Callable[[Context, Any], Method]"
    """A search, at its beginning; it is given settings of the kind above."""
    needs: Needs = "nothing"
    thinks: bool = False
    """Whether it asks for thoughts, too: one before an answer at most."""

    @property
    def walks(self) -> bool:
        """Whether it walks the graph."""
        return self.needs == "graph"


@cache
def method_names() -> tuple[str, ...]:
    """Names of all methods, sorted."""
    return tuple(sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__)))


def method_lines() -> dict[str, str]:
    """Name -> what the method is, the first line of its file."""
    lines = {}
    for name in method_names():
        with (Path(__path__[0]) / f"{_module(name)}.py").open(encoding="utf-8") as file:
            lines[name] = file.readline().strip().strip('"')
    return lines


def kind_of(name: str) -> MethodKind:
    """The method of this name; `BadInput` where there is none."""
    if name not in method_names():
        raise BadInput(f"method {name!r} is not one of {', '.join(map(repr, method_names()))}")
    kind: MethodKind = import_module(f"{__name__}.{_module(name)}").METHOD
    assert kind.settings.model_fields["method"].default == name, "the file has another name"
    return kind


def read_settings(raw: Mapping[str, Any]) -> MethodSettings:
    """Settings as a trace holds them, with their "method"; `BadInput` for an unknown one.

    Raises `ValidationError` for settings that the method does not have.
    """
    return kind_of(str(raw["method"])).settings.model_validate(raw)


def _module(name: str) -> str:
    return name.replace("-", "_")
