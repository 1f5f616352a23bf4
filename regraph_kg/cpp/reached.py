"""Functions and macros of a text that a function reaches by the names in it.

A name counts even where it is another thing's, so that nothing is missed. Not here: headers.
"""

import re
from collections.abc import Mapping, Set
from itertools import islice

from tree_sitter import Node

from regraph_kg.cpp.occurrences import NO_LOOP, Events
from regraph_kg.cpp.syntax import called, text, walk

MOST_NODES = 20_000
_MACROS = ("preproc_def", "preproc_function_def")
_WORD = re.compile(r"\w+(?:\.\w+)?")


class Reached:
    """The functions and macros of a text, and the words in each."""

    def __init__(self, root: Node, functions: Mapping[str, Node]) -> None:
        macros = [node for node in walk(root) if node.type in _MACROS]
        named = [(text(macro.child_by_field_name("name")), macro) for macro in macros]
        self.macros = frozenset(name for name, _ in named)
        self.words: dict[str, frozenset[str]] = {}
        for name, node in [*named, *functions.items()]:  # `LOOP(i, n) { .. }` looks like a function
            if name:
                self.words[name] = self.words.get(name, frozenset()) | _words(node)

        self._uses = {name: words & self.words.keys() for name, words in self.words.items()}
        self._users: dict[str, set[str]] = {}
        for name, used in self._uses.items():
            for word in used:
                self._users.setdefault(word, set()).add(name)

    def of(self, name: str) -> frozenset[str]:
        """Names that a function reaches, with its own."""
        return _closed({name}, self._uses)

    def that_reach(self, names: set[str]) -> frozenset[str]:
        """Names that reach one of these names, with themselves."""
        return _closed(names, self._users)

    def words_of(self, name: str) -> frozenset[str]:
        """All words that it reaches; `a.b` counts as a word, too."""
        return frozenset().union(*(self.words.get(part, frozenset()) for part in self.of(name)))


def _closed(names: set[str], further: Mapping[str, Set[str]]) -> frozenset[str]:
    closure, waiting = set(names), [*names]
    while waiting:
        new = further.get(waiting.pop(), frozenset()) - closure
        closure |= new
        waiting += new
    return frozenset(closure)


def _words(node: Node) -> frozenset[str]:
    words = set[str]()
    for part in islice(walk(node), MOST_NODES):
        if part.type == "preproc_arg":
            words_ = set(_WORD.findall(text(part)))
            words |= words_.union(*(word.split(".") for word in words_)) | {"["} & set(text(part))
        elif part.type != "comment" and (not part.child_count or part.type == "field_expression"):
            words.add(text(part))
    return frozenset(words)


def looped(events: Events) -> frozenset[str]:
    """Names of functions that loops, threads, jumps, macros or operators run, directly or not."""
    calls = [(call.place, called(call.node).removeprefix(".")) for call in events.calls]
    names = {name for place, name in calls if place.loop != NO_LOOP or place.region}
    names |= {name for place, name in calls if place.function in events.jumping}
    names |= events.hidden.names & events.functions.keys()
    implicit = ("operator", "~")
    names |= {n for n in events.functions if n.startswith(implicit) or n in events.classes}
    before = 0
    while len(names) > before:
        before = len(names)
        names |= {name for place, name in calls if place.function in names}
    return frozenset(names)


def callers(events: Events, names: Set[str]) -> frozenset[str]:
    """These functions, and all that call one of them, directly or not."""
    calls = [(call.place.function, called(call.node).removeprefix(".")) for call in events.calls]
    users: dict[str, set[str]] = {}
    for caller, name in calls:
        users.setdefault(name, set()).add(caller)
    return _closed(set(names), users)
