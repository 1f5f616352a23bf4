"""Which functions and macros of a text a function reaches: what it names, and what that names.

A name that is none of a function there counts too, so that nothing is missed. Not here: headers.
"""

import re
from collections.abc import Mapping, Set
from itertools import islice

from tree_sitter import Node

from regraph_kg.search.code.occurrences import NO_LOOP, Events
from regraph_kg.search.code.syntax import called, text, walk

MOST_NODES = 20_000
_MACROS = ("preproc_def", "preproc_function_def")
_WORD = re.compile(r"\w+(?:\.\w+)?")


class Reached:
    """The functions and macros of a text, and the words in each."""

    def __init__(self, root: Node, functions: Mapping[str, Node]) -> None:
        macros = [one for one in walk(root) if one.type in _MACROS]
        named = [(text(macro.child_by_field_name("name")), macro) for macro in macros]
        self.macros = frozenset(name for name, _ in named)
        self.words: dict[str, frozenset[str]] = {}
        for name, node in [*named, *functions.items()]:  # `LOOP(i, n) { .. }` looks like a function
            if name:
                self.words[name] = self.words.get(name, frozenset()) | _words(node)

        self._uses = {name: words & self.words.keys() for name, words in self.words.items()}
        self._users: dict[str, set[str]] = {}
        for name, used in self._uses.items():
            for one in used:
                self._users.setdefault(one, set()).add(name)

    def of(self, name: str) -> frozenset[str]:
        """What a function reaches, itself included."""
        return _closed({name}, self._uses)

    def that_reach(self, names: set[str]) -> frozenset[str]:
        """What reaches one of these names, themselves included."""
        return _closed(names, self._users)

    def words_of(self, name: str) -> frozenset[str]:
        """All words of what it reaches; of `a.b` also the whole."""
        return frozenset().union(*(self.words.get(one, frozenset()) for one in self.of(name)))


def _closed(names: set[str], further: Mapping[str, Set[str]]) -> frozenset[str]:
    found, waiting = set(names), [*names]
    while waiting:
        new = further.get(waiting.pop(), frozenset()) - found
        found |= new
        waiting += new
    return frozenset(found)


def _words(node: Node) -> frozenset[str]:
    found = set[str]()
    for one in islice(walk(node), MOST_NODES):
        if one.type == "preproc_arg":
            whole = set(_WORD.findall(text(one)))
            found |= whole.union(*(word.split(".") for word in whole)) | {"["} & set(text(one))
        elif one.type != "comment" and (not one.child_count or one.type == "field_expression"):
            found.add(text(one))
    return frozenset(found)


def looped(events: Events) -> frozenset[str]:
    """What loops call, and what that calls in turn."""
    calls = [(call.place, called(call.node).removeprefix(".")) for call in events.calls]
    found = {name for place, name in calls if place.loop != NO_LOOP}
    before = 0
    while len(found) > before:
        before = len(found)
        found |= {name for place, name in calls if place.function in found}
    return frozenset(found)
