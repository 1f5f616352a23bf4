"""Arrays that a pointer may point into where the text does not say which one.

It is set in a branch, moved on, or given by a call: `p = c ? x : y`, `pick(x)`. Names that change
places, by `std::swap(p, q)` or three assignments, stay apart.
Not covered: pointers of functions elsewhere to arrays that they do not take.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from tree_sitter import Node

from regraph_kg.cpp.indices import ElementAccess, Indices
from regraph_kg.cpp.occurrences import NO_LOOP, NUMBERS, Declared
from regraph_kg.cpp.syntax import bare, called, operator, root_name, text, walk

Key = tuple[str, int]  # an array's name, and the id of its declaration
_ANY = "", 0
_POINTED = re.compile(r"\*\s*[)>]")  # a cast of a number to a pointer
_TURN = re.compile(rb"(\w+)\s*=\s*(\w+)\s*;\s*\2\s*=\s*(\w+)\s*;\s*\3\s*=\s*\1\s*;")


class Aims:
    """What the pointers of one text may point into."""

    def __init__(self, names: Indices) -> None:
        self.names, self._known = names, dict[int, frozenset[Key] | None]()
        self._set: dict[int, list[Node]] = {}  # id of a declaration -> values that it is set to
        self._swapped: dict[int, dict[int, Declared]] = {}  # and those that it changes places with
        events = names.events
        outer = [loop.node for loop in events.loops if loop.place.loop == NO_LOOP]
        nodes = (node for loop in outer for node in walk(loop))
        self._linked = [node.start_byte for node in nodes if self._is_linked(node)]
        turns = [(turn.span(), turn.groups()[1:]) for turn in _TURN.finditer(events.text)]
        for use in events.names:
            declared = events.find(text(use.node), use.node) if use.mode != "read" else None
            # looked for last: a parent costs as much as the tree is deep
            change, at = use.node.parent if declared is not None else None, use.node.start_byte
            if declared is None or change is None:
                continue
            turned = [pair for (a, b), pair in turns if a <= at < b and use.node.text in pair]
            if change.type == "argument_list":
                turned = [tuple(node.text or b"" for node in change.named_children)]
            if turned:
                self._together([events.find(name.decode(), use.node) for name in turned[0]])
            elif declared.refers and (right := change.child_by_field_name("right")) is not None:
                self._set.setdefault(id(declared), []).append(right)

    def _together(self, pair: Iterable[Declared | None]) -> None:
        """Note that names change places: what they point into stays apart."""
        named = [one for one in pair if one is not None]
        whole = {id(one): one for one in named}
        for one in named:
            whole |= self._swapped.get(id(one), {})
        self._swapped |= dict.fromkeys(whole, whole)

    def has_linked(self, loop: Node) -> bool:
        """Whether a loop goes through a pointer that an element holds, to any object."""
        first, last = (bisect_left(self._linked, at) for at in (loop.start_byte, loop.end_byte))
        return first < last

    def _is_linked(self, access: Node) -> bool:
        """Whether an access is such: `a[i].p->v`, `a[i].p[k].v`."""
        inner, through = bare(access.child_by_field_name("argument")), operator(access)
        if inner is None or inner.type not in ("identifier", "field_expression"):
            return False
        if access.type == "subscript_expression":
            outer = access.parent
            through = "->" if outer is not None and outer.type == "field_expression" else ""
        if through in ("->", "*") and inner.type == "identifier":
            declared = self.names.events.find(text(inner), inner)
            inner = bare(declared.value) if declared is not None and declared.refers else None
        if through not in ("->", "*") or inner is None or inner.type != "field_expression":
            return False
        base = root_name(inner)
        declared = self.names.events.find(text(base), base) if base is not None else None
        parts = [inner, *filter(None, [declared.value if declared is not None else None])]
        held = (node.type == "subscript_expression" for part in parts for node in walk(part))
        return (declared is not None and declared.element) or any(held)

    def may_meet(self, one: ElementAccess, other: ElementAccess) -> bool:
        """Whether two arrays of different names may be one."""
        first, second = (self._aims(access) for access in (one, other))
        with_one = self._swapped.get(id(one.declared), {})
        if first is not None and second is not None and id(other.declared) in with_one:
            parts = [self._first(declared) or () for declared in with_one.values()]
            return len(frozenset().union(*parts)) < sum(map(len, parts))
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
        parts = [*map(self._first, self._swapped.get(id(declared), {0: declared}).values())]
        told = [part for part in parts if part is not None]
        return frozenset[Key]().union(*told) if len(told) == len(parts) else None

    def _first(self, declared: Declared) -> frozenset[Key] | None:
        """The same, but for arrays that change places."""
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
        values = [*values]
        sums = not any(_POINTED.search(text(value)) for value in values)
        for node in (node for value in values for node in walk(value)):
            if node.type == "call_expression":
                here = self.names.events.find(called(node), node)
                if called(node) in self.names.events.functions or here is not None:
                    yield _ANY
            pointed = self.names.pointer(node, NO_LOOP) if node.type == "identifier" else None
            one = pointed[1] if pointed is not None else None
            if one is not None and not (_is_number(one) and sums):
                inner = self._of(one)
                yield from inner if inner is not None else (_ANY,)


def _is_number(declared: Declared) -> bool:
    """Whether it holds no place of an array: the `n` in `p + n`."""
    plain = NUMBERS.search(declared.kind) and "<" not in declared.kind
    return bool(plain) and not (declared.refers or declared.array)


def _key(access: ElementAccess) -> Key:
    return access.array, id(access.declared)
