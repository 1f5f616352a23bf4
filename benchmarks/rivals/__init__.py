"""Searches that the product's own is compared with, and that it does not offer: a file each.

They are written as the product's methods are (search/methods/), and are found beside them.
"""

from importlib import import_module

from regraph_kg.search import methods
from regraph_kg.search.methods import MethodKind

RIVALS = ("greedy-graph", "thompson", "ucb")


def kind_of(name: str) -> MethodKind:
    """The rival or the method of the product of this name; `BadInput` where there is none."""
    if name not in RIVALS:
        return methods.kind_of(name)
    kind: MethodKind = import_module(f"{__name__}.{name.replace('-', '_')}").METHOD
    return kind
