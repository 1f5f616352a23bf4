"""Results of one walk over a tree: loops, declared names, reads, writes, calls, directives."""

import re
from bisect import bisect, insort
from dataclasses import dataclass, field
from typing import Literal

from tree_sitter import Node

from regraph_kg.cpp.hidden import Hidden
from regraph_kg.cpp.syntax import short, text

Mode = Literal["read", "write", "update"]
NO_LOOP = -1
LONGEST = 300  # characters that are read of a directive or of a loop's bound
NUMBERS = re.compile(r"\b(?:char|short|int|long|unsigned|size_t|u?int\d+_t|float|double|bool)\b")
_ZERO = re.compile(r"0*\.?0+(?:\.0*)?[fFuUlL]*")


@dataclass(frozen=True, slots=True)
class CodePlace:
    """A place in a text."""

    function: str = ""
    kernel: bool = False
    loop: int = NO_LOOP
    branches: int = 0  # number of conditions around it in its function
    region: int = 0  # number of parallel regions of OpenMP around it
    scope: tuple[int, int] = (0, 1 << 62)
    stored: bool = False  # whether it is part of a value that is assigned to an element of an array


@dataclass(slots=True)
class Declared:
    """A name that the text declares."""

    name: str
    scope: tuple[int, int]
    function: str
    loop: int
    value: Node | None
    kind: str  # its type and specifiers, as text
    pointer: bool
    reference: bool
    array: bool
    parameter: bool = False
    writes: int = 0
    arguments: str = ""  # the arguments of its constructor, as in `dim3 block(16, 16)`
    width: Node | None = None  # the length of an array's row
    region: bool = False  # whether it is declared in a parallel region of OpenMP
    element: bool = False  # whether it is the variable of a loop over a container
    holds: bool = False  # whether it is an object that may hold a reference to other storage

    @property
    def refers(self) -> bool:
        """Whether it may name other storage: a pointer, a reference, `auto`."""
        return self.pointer or self.reference or "auto" in self.kind.split()

    @property
    def owns(self) -> bool:
        """Whether it has its own storage; a pointer's must be newly allocated."""
        initial = text(self.value)
        new = any(word in initial for word in ("new ", "alloc(", "make_"))
        is_view = any(word in self.kind for word in ("span", "view", "iterator"))
        return new or not (self.refers or is_view or self.holds)

    @property
    def zero(self) -> bool:
        """Whether it is a number that starts at 0."""
        match = _ZERO.fullmatch(text(self.value)) if self.value is not None else None
        return match is not None and not (self.refers or self.array or self.parameter)

    @property
    def sized(self) -> str:
        """Its name, with its length if declared: `tile[16][17]`, `line(n + 16)`."""
        return short(self.width.parent) if self.width is not None else self.name + self.arguments


@dataclass(slots=True)
class Loop:
    """A loop of the text."""

    number: int
    node: Node
    place: CodePlace
    depth: int
    directives: tuple[str, ...]
    seen: frozenset[str] | None = None  # what its iterations were seen to share (watched.py)
    exits: bool = False
    branches: bool = False


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A read, a write or an update (`x += ..`) of a name or of an array's element."""

    node: Node
    mode: Mode
    place: CodePlace
    order: int = 0  # its position in time: a value is read before its target is written


@dataclass(slots=True)
class Events:
    """All results of one walk."""

    hidden: Hidden
    loops: list[Loop] = field(default_factory=list)
    declared: dict[str, list[Declared]] = field(default_factory=dict)
    names: list[Occurrence] = field(default_factory=list)
    elements: list[Occurrence] = field(default_factory=list)
    calls: list[Occurrence] = field(default_factory=list)
    divisions: list[Occurrence] = field(default_factory=list)
    conditions: list[Occurrence] = field(default_factory=list)
    directives: list[tuple[str, CodePlace]] = field(default_factory=list)
    functions: dict[str, Node] = field(default_factory=dict)
    overloads: dict[str, list[Node]] = field(default_factory=dict)  # all functions of a name
    classes: set[str] = field(default_factory=set)
    fields: dict[str, set[str]] = field(default_factory=dict)  # a field's name -> its types
    holders: set[str] = field(default_factory=set)  # classes that may hold a pointer
    exposed: list[tuple[str, CodePlace]] = field(default_factory=list)
    """Variables that something else may change from there on."""
    jumping: set[str] = field(default_factory=set)  # functions with a `goto`
    unclear: frozenset[str] = frozenset()  # functions that throw, or do what the tree hides
    complete: bool = True  # whether no limit cut the lists
    text: bytes = b""

    @property
    def symbols(self) -> list[Declared]:
        """All declared names."""
        return [declared for group in self.declared.values() for declared in group]

    def declare(self, declared: Declared) -> None:
        """Keep a name's declarations in the order in which their scopes begin."""
        insort(self.declared.setdefault(declared.name, []), declared, key=_begin)

    def find(self, name: str, at: Node) -> Declared | None:
        """The declaration that a name means at a node: that of the innermost scope around it."""
        group = self.declared.get(name, [])
        for number in range(bisect(group, at.start_byte, key=_begin) - 1, -1, -1):
            if at.start_byte < group[number].scope[1]:
                return group[number]
        return None


def _begin(declared: Declared) -> int:
    return declared.scope[0]
