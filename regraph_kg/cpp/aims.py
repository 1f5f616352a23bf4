"""Arrays that a pointer may point into where the text does not say which one.

It is set in a branch, moved on, or given by a call: `p = c ? x : y`, `std::swap(p, q)`, `pick(x)`.
Not covered: pointers of functions elsewhere to arrays that they do not take.
"""

import re
from collections.abc import Iterable, Iterator

from tree_sitter import Node

from regraph_kg.cpp.indices import ElementAccess, Indices
from regraph_kg.cpp.occurrences import NO_LOOP, Declared
from regraph_kg.cpp.syntax import called, text, walk

Key = tuple[str, int]  # an array's name, and the id of its declaration
_ANY = "", 0


class Aims:
    """What the pointers of one text may point into."""

    def __init__(self, names: Indices) -> None:
        self.names, self._known = names, dict[int, frozenset[Key] | None]()
        self._set: dict[int, list[Node]] = {}  # id of a declaration -> values that it is set to
        for use in names.events.names if any(d.refers for d in names.events.symbols) else ():
            declared = names.events.find(text(use.node), use.node) if use.mode != "read" else None
            change = use.node.parent
            if declared is not None and change is not None and declared.refers:
                right = change.child_by_field_name("right")
                swapped = change if change.type == "argument_list" else None
                self._set.setdefault(id(declared), []).extend(filter(None, (right, swapped)))

    def may_meet(self, one: ElementAccess, other: ElementAccess) -> bool:
        """Whether two arrays of different names may be one."""
        first, second = (self._aims(access) for access in (one, other))
        return first is None or second is None or bool(first & second)

    def is_open(self, access: ElementAccess) -> bool:
        """Whether it goes through such a pointer, or no array is named."""
        return self._aims(access) != frozenset((_key(access),))

    def _aims(self, access: ElementAccess) -> frozenset[Key] | None:
        """All arrays that may be meant; None: any."""
        if access.declared is not None:
            return self._of(access.declared)
        if access.array:
            return frozenset({_key(access)})
        found = frozenset(self._named([access.node]))
        return None if _ANY in found else found

    def _of(self, declared: Declared) -> frozenset[Key] | None:
        own = (declared.name, id(declared))
        if id(declared) not in self._known:
            self._known[id(declared)] = frozenset({own})  # where its values name it
            found = {own, *self._named(self._values(declared))}
            for word in re.findall(r"\w+", declared.arguments if declared.pointer else ""):
                for other in self.names.events.declared.get(word, ()):
                    found |= self._of(other) or {_ANY}  # `rows[2] = {x, y}`
            self._known[id(declared)] = None if _ANY in found else frozenset(found)
        return self._known[id(declared)]

    def _values(self, declared: Declared) -> list[Node]:
        """What a pointer is set to, unless that is new."""
        if not declared.refers or (declared.owns and not declared.writes):
            return []
        first = None if declared.parameter else declared.value
        return [*self._set.get(id(declared), []), *filter(None, [first])]

    def _named(self, values: Iterable[Node]) -> Iterator[Key]:
        """The arrays that values name."""
        for node in (node for value in values for node in walk(value)):
            if node.type == "call_expression":
                here = self.names.events.find(called(node), node)
                if called(node) in self.names.events.functions or here is not None:
                    yield _ANY
            pointed = self.names.pointer(node, NO_LOOP) if node.type == "identifier" else None
            if pointed is not None and pointed[1] is not None:
                inner = self._of(pointed[1])
                yield from inner if inner is not None else (_ANY,)


def _key(access: ElementAccess) -> Key:
    return access.array, id(access.declared)
