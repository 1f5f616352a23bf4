"""What a metavariable holds, with the facts of its place: the words that need the whole code."""

import re
from collections.abc import Iterable

from tree_sitter import Node

from regraph_kg.cpp.cuda_facts import KernelFacts
from regraph_kg.cpp.events import events_of
from regraph_kg.cpp.facts import Facts, facts_of
from regraph_kg.cpp.library import COMPUTING
from regraph_kg.cpp.loop_facts import Access, LoopFacts
from regraph_kg.cpp.occurrences import Declared, Events
from regraph_kg.cpp.scratch import VECTOR
from regraph_kg.cpp.syntax import parameters, text, tree_of, walk
from regraph_kg.search.fit.predicate import around, shareable, within
from regraph_kg.search.transform.pattern import Part, begin
from regraph_kg.search.transform.words import (
    NoFitError,
    Variable,
    calls,
    changed,
    declared,
    moved,
    names,
    pointed,
    root_of,
)

_EFFECTS = re.compile("sync|atomic|fence|shfl|ballot|any|all|trap|sleep|pipeline")
_QUALIFIERS = ("const", "static", "constexpr", "__restrict__", "__restrict", "__shared__")


class Code:
    """A code with its tree and its facts."""

    def __init__(self, code: str) -> None:
        self.content = code.encode("utf-8", errors="replace")
        self.tree = tree_of(code)
        self.facts: Facts = facts_of(code)
        self.events: Events = events_of(self.tree.root)
        self.names = {node.text or b"" for node in walk(self.tree.root) if not node.child_count}

    def text(self, first: int, last: int) -> str:
        """The text between two offsets."""
        return self.content[first:last].decode("utf-8", errors="replace")

    def fresh(self, name: str) -> str:
        """A name that the code does not have: this one, or with underscores behind it."""
        while name.encode() in self.names:
            name += "_"
        return name

    def foreign(self, code: str) -> list[str]:
        """The functions that a code calls which may do more than compute from their arguments."""
        return [name for name in calls(code) if not self._computes(name, ())]

    def _computes(self, name: str, callers: tuple[str, ...]) -> bool:
        function = self.events.functions.get(name)
        held = [one.value for one in self.events.declared.get(name, ())]
        if len(held) == 1 and held[0] is not None and held[0].type == "lambda_expression":
            function = held[0]
        if function is None or name in callers:
            built_in = name.startswith("__") and not _EFFECTS.search(name)
            return name in COMPUTING or name.endswith("_cast") or built_in
        own = [one for one in self.events.symbols if one.function == name]
        changing = any(
            re.search(r"[*&\[]", text(one)) and "const" not in map(text, one.children)
            for one in parameters(function)
        )
        body = text(function.child_by_field_name("body"))
        words = {text(node) for node in walk(root_of(body)) if not node.child_count}
        lasting = {*changed(body)} - {one.name for one in own} - {*declared(body)}
        return not (
            changing or lasting or words & {"asm", "static", "__shared__", "threadIdx", "volatile"}
        ) and all(self._computes(one, (*callers, name)) for one in calls(body))

    def objects(self) -> list[str]:
        """The structs of numbers alone; no fit where an object may do something unseen."""
        found = list[str]()
        for node in walk(self.tree.root):
            field = node.type == "field_declaration" and _does(node)
            if field or node.type in ("operator_cast", "destructor_name"):
                raise NoFitError("objects do something unseen")
            if node.type == "function_definition" and not self._shows(node):
                raise NoFitError("objects do something unseen")
            body = node.child_by_field_name("body") if node.type == "struct_specifier" else None
            kinds = {one.type for one in body.named_children} if body is not None else {""}
            odd = re.search(r"\bconst\b|[&=]|\bstatic\b", text(body))
            if kinds <= {"field_declaration", "comment"} and not odd:
                found.append(text(node.child_by_field_name("name")))
        return found

    def _shows(self, function: Node) -> bool:
        """Whether what a function changes is seen at its calls, of operators and constructors."""
        declarator = text(function.child_by_field_name("declarator"))
        operator = re.search(r"\boperator\s*(\S+?)\s*\(", declarator)
        if operator is None:
            made = function.child_by_field_name("type") is None
            empty = text(function.child_by_field_name("body")).strip("{} \n") == ""
            return not made or (empty and not _does(function))
        given = declarator.partition("(")[2]
        plain = all("const" in one or "&" not in one for one in given.split(","))
        own = text(function.child_by_field_name("body"))
        free = operator[1] in ("+", "-", "*", "/", "%", "<", ">", "==", "!=", "<=", ">=")
        return free and plain and not {*changed(own)} - {*declared(own)} and not self.foreign(own)

    def again(self, given: Iterable[str]) -> list[str]:
        """Those of the names that have a second name somewhere in the code."""
        found = {
            name
            for one in self.events.symbols
            if one.refers or (one.arguments and not VECTOR.fullmatch(one.kind))
            for name in names(f"{text(one.value)}, {one.arguments}")
        }
        for node in walk(self.tree.root):
            if node.type in ("pointer_expression", "lambda_expression"):
                found.update(names(text(node)))
            if node.type == "reference_declarator":  # `T& r(x)` may read as a function
                found.update(re.findall(r"\w+", text(node.parent)))
        return [name for name in given if name in found]

    def type_of(self, name: str) -> str:
        """The type of a variable of this name, if all of that name have one type."""
        kinds = {declared.kind for declared in self.events.declared.get(str(name), [])}
        return kinds.pop() if len(kinds) == 1 else ""


class Piece(str):
    """What a metavariable holds, with the facts of its place."""

    __slots__ = ("_code", "_node")
    _code: "Code"
    _node: Node | None

    @classmethod
    def of(cls, part: Part, code: "Code", written: str | None = None) -> "Piece":
        """A part of a code, or what became of it."""
        piece = cls(part.text if written is None else written)
        piece._code, piece._node = code, part.nodes[0] if part.nodes else None
        return piece

    @property
    def loop(self) -> LoopFacts:
        """The facts of a loop; no fit for another piece."""
        fact = self._fact()
        if fact is None:
            raise NoFitError("no loop")
        return fact

    def _fact(self) -> LoopFacts | None:
        at = self._node.start_byte if self._node is not None else -1
        return next((loop for loop in self._code.facts.loops if loop.at == at), None)

    @property
    def parallel(self) -> bool:
        """Whether a loop's iterations depend on nothing of each other, sums included."""
        loop = self.loop
        kept = loop.reduces or loop.scratch or loop.exits or loop.launches or loop.time
        return loop.carries == "no" and not kept

    @property
    def is_rest(self) -> bool:
        """Whether a loop, or one around it, begins where another one ended, and takes the rest."""
        loops = self._code.facts.loops
        return any(
            o.end == loop.start and o.number < loop.number and o.parent == loop.parent
            for loop in [self.loop, *self.around]
            for o in loops
            # every loop that counts down to 0 ends where another one begins
            if o.function == loop.function and loop.start != "0"
        )

    @property
    def around(self) -> list[LoopFacts]:
        """The loops around a loop, innermost first."""
        return around(self._code.facts, self.loop)

    @property
    def within(self) -> list[LoopFacts]:
        """The loops within a loop."""
        return within(self._code.facts, self.loop)

    @property
    def stepping(self) -> list[Access]:
        """The accesses in the innermost loops of a nest that go in steps of one along this loop."""
        depth = self.loop.depth
        inner = [loop for loop in [self.loop, *self.within] if loop.innermost]
        accesses = [access for loop in inner for access in loop.accesses]
        return [one for one in accesses if one.strides[depth : depth + 1] == ("1",)]

    @property
    def arrays(self) -> list[Variable]:
        """The arrays and vectors of which it uses elements, with the elements' types."""
        kinds = {name: self._code.type_of(name).removeprefix("std::") for name in pointed(self)}
        types = (_plain(kind.removeprefix("vector<").rstrip(">")) for kind in kinds.values())
        return [Variable(type, name, "", "") for type, name in zip(types, kinds, strict=True)]

    @property
    def writes(self) -> list[Access]:
        """What a loop writes, in loops within it apart."""
        return [one for one in self.loop.accesses if one.mode != "read"]

    @property
    def shareable(self) -> bool:
        """Whether a directive can share a loop out, with clauses for what it adds up."""
        return _shareable(self.loop)

    @property
    def outermost(self) -> bool:
        """Whether no directive can share out, or shares out, a loop around it."""
        outer = any(two.shared_out or _shareable(two) for two in self.around)
        return not (outer or self.loop.region or self.loop.shared_out)

    @property
    def directives(self) -> str:
        """The directives right before a statement, each with its line's end."""
        if self._node is None:
            return ""
        return self._code.text(begin(self._node), self._node.start_byte)

    @property
    def bare(self) -> str:
        """A statement without the directives before it, its head as a directive needs it."""
        fact = self._fact()
        spelled = fact.comparison if fact is not None else ""
        head = self._node.child_by_field_name("condition") if self._node is not None else None
        rest = self[len(self.directives) :]
        return rest.replace(text(head), spelled, 1) if spelled else rest

    @property
    def kernel(self) -> KernelFacts:
        """The facts of the kernel of this name; no fit for another name."""
        for kernel in self._code.facts.kernels:
            if kernel.name == self:
                return kernel
        raise NoFitError("no kernel")

    @property
    def type(self) -> str:
        """The type of the variable, or of the array's elements, without qualifiers."""
        return _type(self._find(self))

    @property
    def reads(self) -> int:
        """How often loops read the array of this name."""
        loops = self._code.facts.loops
        return sum(
            one.array == self and one.mode != "write" for two in loops for one in two.accesses
        )

    @property
    def block(self) -> int:
        """Threads in a row of a kernel's blocks, if each launch has one constant row; else 0."""
        shapes = {
            (one.block, _is_row(one.grid))
            for one in self._code.facts.launches
            if one.kernel == self
        }
        block, row = shapes.pop() if len(shapes) == 1 else ("", False)
        return int(block) if row and block.isdigit() else 0

    @property
    def only_launched(self) -> bool:
        """Whether the text names a kernel nowhere but where it is defined and launched."""
        launches = [one for one in self._code.facts.launches if one.kernel == self]
        named = [node for node in walk(self._code.tree.root) if not node.child_count]
        return sum(text(node) == self for node in named) == len(launches) + 1

    def memories(self, names: Iterable[str]) -> list[str]:
        """Where the variables of these names lie, seen from here: "own", "shared", "far", or ""."""
        return [_memory(self._find(name)) for name in names]

    def pointers(self, names: Iterable[str]) -> list[str]:
        """Those of the names that are pointers to memory elsewhere."""
        return [name for name in names if _memory(self._find(name)) == "far"]

    def moves(self, code: str) -> list[str]:
        """The pointers that a code itself sets, and not what they point to, seen from here."""
        found = ((name, self._find(name)) for name in moved(code))
        return [name for name, it in found if it is not None and it.pointer]

    def types(self, names: Iterable[str]) -> list[str]:
        """The types of the variables of these names, seen from here, without qualifiers."""
        return [_type(self._find(name)) for name in names]

    def values(self, names: Iterable[str]) -> list[str]:
        """What these names always hold, without blanks; the text of what is no such name."""
        found = [(name, self._find(name)) for name in names]
        fixed = [
            (name, it.value if it is not None and not it.writes else None) for name, it in found
        ]
        return ["".join((text(value) or name).split()) for name, value in fixed]

    @property
    def value(self) -> str:
        """What a variable always holds, as it is written; the text of another piece."""
        found = self._find(self)
        return text(found.value) if found is not None and found.value is not None else str(self)

    def reached(self, code: str) -> list[str]:
        """The names in a code, and those that their values have, seen from here.

        A number that changes may depend on the thread: "threadIdx" is among them then.
        """
        found, queue = dict[str, None](), names(code)
        while queue:
            name = queue.pop()
            declared = self._find(name) if name not in found else None
            found[name] = None
            if declared is not None and declared.writes and _memory(declared) == "own":
                queue.append("threadIdx")
            if declared is not None and declared.value is not None and not declared.parameter:
                queue += names(text(declared.value))
        return list(found)

    def _find(self, name: str) -> Declared | None:
        return self._code.events.find(name, self._node) if self._node is not None else None


def _does(node: Node) -> bool:
    """Whether something is changed or called in it."""
    kinds = {"update_expression", "assignment_expression", "call_expression"}
    return any(one.type in kinds for one in walk(node))


def _is_row(grid: str) -> bool:
    """Whether a grid, as its launch has it, is a number."""
    listed = grid.startswith("(") and grid.find(")") == len(grid) - 1 and "," in grid
    return not listed and "dim3" not in grid and "{" not in grid


def _type(declared: Declared | None) -> str:
    return _plain(declared.kind) if declared is not None else ""


def _plain(kind: str) -> str:
    """A type without qualifiers and pointers: that of an array's elements."""
    words = kind.replace("*", " ").replace("&", " ").split()
    return " ".join(word for word in words if word not in _QUALIFIERS)


def _memory(declared: Declared | None) -> str:
    if declared is None:
        return ""
    far = declared.pointer or declared.reference or (declared.parameter and declared.array)
    near = "shared" if "__shared__" in declared.kind.split() else "own"
    return "far" if far or not declared.function else near


def _shareable(loop: LoopFacts) -> bool:
    return shareable(loop) and loop.kind in ("for", "range") and loop.variable not in loop.lasting


def steps(access: Access, loop: Piece, of: Iterable[str]) -> bool:
    """Whether an access goes along a loop in one of some steps: "0", "1", .., or "unknown"."""
    return access.strides[loop.loop.depth] in of
