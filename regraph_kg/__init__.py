"""regraph-kg: a graph of optimization techniques that a small model walks.

The names of `__all__` are for programs (docs/python.md); api/names.py lists them.
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regraph_kg.api.names import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """A name for programs, at its first use.

    Together they take half a second to load (the judge brings numpy), and each module of this
    package imports this one first.
    """
    if (name[:2] == "__" and name != "__all__") or find_spec(f"{__name__}.{name}"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from regraph_kg.api import names  # noqa: PLC0415

    return names.NAMES if name == "__all__" else getattr(names, name)


def __dir__() -> list[str]:
    return [*globals(), *__getattr__("__all__")]
