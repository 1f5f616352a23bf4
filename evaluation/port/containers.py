"""Vectors, spans and arrays as pointers and lengths, in the functions that a port keeps.

A parameter becomes a pointer, with its length beside it where the function asks for that. A vector
that the work makes becomes memory that `launch` gets for it.
Not covered: vectors that grow, that are made in a loop, or that hold vectors.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from tree_sitter import Node

from regraph_kg.evaluation.cpp.syntax import Function, declared_name, parsed, walk
from regraph_kg.evaluation.port.changes import Changes
from regraph_kg.evaluation.port.edits import Edits, UnportableError
from regraph_kg.evaluation.port.host import (
    declared,
    flat,
    is_plain,
    is_told,
    needed,
    words_of,
)
from regraph_kg.evaluation.port.names import fresh, is_number
from regraph_kg.evaluation.port.work import Container, Work, container_of


@dataclass(frozen=True, slots=True)
class Scratch:
    """Memory that the work needs besides its arguments: its vector, or the one it returns."""

    name: str
    element: str
    length: str
    """C++ over the work's parameters, and its constants that are needed for it."""
    value: Node | str | None
    """What all elements are at first, with `at` for an element's place; None where that is 0."""
    is_result: bool = False


@dataclass(slots=True)
class OwnContainers:
    """What a function has of containers."""

    function: Function
    parameters: dict[str, Container] = field(default_factory=dict)
    lengths: dict[str, str] = field(default_factory=dict)
    """Of each container: C++ within the function."""
    sized: set[str] = field(default_factory=set)
    """Those whose lengths are passed besides."""
    scratch: list[Scratch] = field(default_factory=list)
    made: dict[int, list[Scratch]] = field(default_factory=dict)
    """By the declaration's place."""
    constants: list[Node] = field(default_factory=list)
    """Declarations that the lengths of its vectors need."""

    def taken(self, constants: Collection[str]) -> list[tuple[str, str]]:
        """Its parameters as the port has them: their names, and their declarations."""
        source, found = self.function.source, list[tuple[str, str]]()
        for node in self.function.parameters:
            name = declared_name(source, node)
            one = self.parameters.get(name)
            if one is None:
                found.append((name, flat(source, node).partition("=")[0].rstrip()))  # no default
                continue
            const = "const " if one.const or name in constants else ""
            found += self._pointer(name, f"{const}{one.element}")
        for scratch in self.scratch:
            found += self._pointer(scratch.name, scratch.element)
        return found

    def _pointer(self, name: str, element: str) -> list[tuple[str, str]]:
        length = [(self.lengths[name], f"size_t {self.lengths[name]}")]
        return [(name, f"{element}* {name}"), *(length if name in self.sized else [])]


class Containers:
    """Those of the functions that are reached; call `rewrite` for each."""

    def __init__(self, functions: Iterable[Function], work: Work, taken: set[str]) -> None:
        """`taken`: names in the code. Raises `UnportableError` for what has no pointer to it."""
        self._work, self._taken = work, taken
        self._at = fresh("at", taken)
        self.kernel = fresh(f"{work.function.name}_kernel", taken)
        """The name of the kernel that does the work."""
        self.held: dict[str, OwnContainers] = {}
        for function in functions:
            if function.name in self.held:
                raise UnportableError(f"two functions have the name {function.name}")
            self.held[function.name] = self._parameters(function)
        self._find_scratch(self.held[work.function.name])
        while sum(self._grow(one) for one in self.held.values()):
            pass

    def _parameters(self, function: Function) -> OwnContainers:
        held = OwnContainers(function)
        for node in function.parameters:
            found = container_of(function.source, node)
            if found:
                name = declared_name(function.source, node)
                held.parameters[name] = found
                held.lengths[name] = found.fixed or self._size(name)
        return held

    def _size(self, name: str) -> str:
        return fresh(f"{name}_size", self._taken)

    def _find_scratch(self, held: OwnContainers) -> None:
        """Vectors that the work makes before anything else may return."""
        source = held.function.source
        returned = self._returned(held.function)
        for node in held.function.body.named_children:
            kind = node.child_by_field_name("type")
            text = source.text(kind) if kind and node.type == "declaration" else ""
            if not text.startswith("std::vector<"):
                continue
            if "std::vector" in text[1:]:
                raise UnportableError(f"{flat(source, node)[:40]} ..: a vector of vectors")
            held.made[node.start_byte] = []
            for declarator in node.children_by_field_name("declarator"):
                one = self._scratch(held, node, text[12:-1], declarator)
                if one is None:
                    raise UnportableError(
                        f"{flat(source, node)[:60]}: a vector of a length that is not told there"
                    )
                held.lengths[one.name] = self._size(one.name)
                held.scratch.append(replace(one, is_result=one.name == returned))
                held.made[node.start_byte].append(held.scratch[-1])
                if one.value is not None:
                    held.sized.add(one.name)

    def _scratch(
        self, held: OwnContainers, node: Node, element: str, declarator: Node
    ) -> Scratch | None:
        """What a declaration makes; None where its length is not told."""
        source, name = held.function.source, declarator.child_by_field_name("declarator")
        given = declarator.child_by_field_name("value") or declarator.child_by_field_name(
            "parameters"  # `t(n)` may be read as a function's declaration
        )
        if name is None or given is None:
            return None
        is_call = given.type in ("argument_list", "parameter_list")
        items = [n for n in (given.named_children if is_call else [given]) if n.type != "comment"]
        first = flat(source, items[0]) if items else ""
        if first in held.lengths and len(items) == 1:
            lengths = {one.name: one.length for one in held.scratch}
            length = lengths.get(first, f"{first}.size()")
            return Scratch(source.text(name), element, length, f"{first}[{self._at}]")
        if not is_call or not 1 <= len(items) <= 2 or not self._is_told(held, node, first):  # noqa: PLR2004
            return None
        zero = None if is_number(element) else f"{element}()"
        return Scratch(source.text(name), element, first, items[1] if items[1:] else zero)

    def _is_told(self, held: OwnContainers, made: Node, length: str) -> bool:
        """Whether the host can compute a vector's length; notes which constants it needs."""
        source = held.function.source
        before = [n for n in held.function.body.named_children if n.end_byte <= made.start_byte]
        told = parsed(source.path, f"auto told = ({length});".encode())
        changes, words = Changes(source), words_of(told, told.tree.root_node) - {"told"}
        locals_ = [n for n in before if n.type == "declaration" and n.start_byte not in held.made]
        kept = needed(source, locals_, words, held.lengths)
        if kept is None or not is_told(told, told.tree.root_node, held.lengths):
            return False
        changed = {source.text(one) for node in before for one in changes.of(node)}
        changed |= {n for node in kept for n in declared(source, node)} & {
            source.text(one) for one in changes.of(held.function.body)
        }
        local = {name for node in locals_ for name in declared(source, node)}
        own = local | {declared_name(source, node) for node in held.function.parameters}
        held.constants += [node for node in kept if node not in held.constants]
        return (
            all(is_plain(source, node) for node in kept)
            and not (words - held.lengths.keys()) & (changed | self._pointers(held))
            and not changes.words(words) & own
        )

    def _pointers(self, held: OwnContainers) -> set[str]:
        """Parameters that are pointers."""
        source = held.function.source
        return {
            declared_name(source, node)
            for node in held.function.parameters
            if re.search(r"[*\[]", source.text(node))
        }

    def _returned(self, function: Function) -> str:
        """The vector that the work returns at its end; "" where it returns none."""
        if not self._work.result:
            return ""
        returns = [node for node in walk(function.body) if _is_return(function, node)]
        last = function.body.named_children[-1]
        found = re.fullmatch(r"return (\w+);", function.source.text(last))
        if len(returns) != 1 or found is None:
            raise UnportableError(f"{function.name} returns a vector in more than one place")
        return found[1]

    def _ask(self, held: OwnContainers, name: str) -> bool:
        """Note that a length is needed; whether that is new."""
        if (name in held.parameters and held.parameters[name].fixed) or name in held.sized:
            return False
        held.sized.add(name)
        return True

    def _grow(self, held: OwnContainers) -> bool:
        """Note whose lengths a function needs; whether any is new."""
        source, news = held.function.source, False
        for node in walk(held.function.body):
            if not _is_use(held, node):
                continue
            above, name = node.parent, source.text(node)
            if above is None:
                continue
            if above.type in ("field_expression", "for_range_loop"):
                news |= self._ask(held, name)
            if above.type == "argument_list":
                callee, place = self._passed(held, above, node)
                target = self._parameter(callee, place)
                if target in callee.sized:
                    news |= self._ask(held, name)
        return news

    def _passed(
        self, held: OwnContainers, arguments: Node, node: Node
    ) -> tuple[OwnContainers, int]:
        """The function that gets a container, and as which argument. Raises `UnportableError`."""
        call, source = arguments.parent, held.function.source
        called = call.child_by_field_name("function") if call else None
        name = source.text(called).split("::")[-1] if called else ""
        if name not in self.held:
            whom = source.text(called)[:40] if called else "a declaration"
            raise UnportableError(f"{source.text(node)} is passed whole to {whom}")
        place = [child.id for child in arguments.named_children].index(node.id)
        return self.held[name], place

    def _parameter(self, callee: OwnContainers, place: int) -> str:
        parameters = callee.function.parameters
        if place >= len(parameters):
            raise UnportableError(f"{callee.function.name} is called with more than it takes")
        name = declared_name(callee.function.source, parameters[place])
        if name not in callee.parameters:
            raise UnportableError(f"{callee.function.name} takes a container as {name}")
        return name

    def rewrite(self, held: OwnContainers, edits: Edits) -> None:
        """Edit a function's body. Raises `UnportableError`."""
        for node in walk(held.function.body):
            if node.start_byte in held.made and node.type == "declaration":
                self._scratch_made(held, node, edits)
            elif node.type == "for_range_loop":
                self._range(held, node, edits)
            elif _is_return(held.function, node) and any(one.is_result for one in held.scratch):
                edits.put(node, "")
            elif _is_use(held, node):
                self._use(held, node, edits)

    def _scratch_made(self, held: OwnContainers, node: Node, edits: Edits) -> None:
        """The declaration becomes the elements' first values, where `launch` does not set them."""
        at, place, text = self._at, node.start_byte, ""
        for one in held.made[node.start_byte]:
            if one.value is None:
                continue
            size = held.lengths[one.name]
            text += f"for (size_t {at} = 0; {at} < {size}; ++{at}) {one.name}[{at}] = "
            if isinstance(one.value, str):
                text += f"{one.value}; "
                continue
            edits.made.append((place, one.value.start_byte, text))
            place, text = one.value.end_byte, "; "
        edits.made.append((place, node.end_byte, text.rstrip()))

    def _range(self, held: OwnContainers, node: Node, edits: Edits) -> None:
        """`for (auto x : xs)` over a container as a loop over its places."""
        source = held.function.source
        over = node.child_by_field_name("right")
        body = node.child_by_field_name("body")
        declarator = node.child_by_field_name("declarator")
        if over is None or body is None or declarator is None:
            return
        name = source.text(over)
        if name not in held.lengths or body.type != "compound_statement":
            raise UnportableError(f"a loop over {name[:40]}, which is no argument")
        kind = source.content[node.children[2].start_byte : declarator.end_byte].decode()
        at = fresh(f"{name}_at", self._taken)
        before = " " * (node.start_point.column + 4)
        head = f"for (size_t {at} = 0; {at} < {held.lengths[name]}; ++{at}) {{"
        head += f"\n{before}{kind} = {name}[{at}];"
        edits.made.append((node.start_byte, body.start_byte + 1, head))

    def _use(self, held: OwnContainers, node: Node, edits: Edits) -> None:
        """One use of a container: an element, its length, or as an argument."""
        source, above = held.function.source, node.parent
        name = source.text(node)
        if above is None or above.type in ("return_statement", "for_range_loop"):
            return
        if above.type == "field_expression":
            self._member(held, above, name, edits)
        elif above.type == "argument_list":
            if self._is_copied(held, above):
                return
            callee, place = self._passed(held, above, node)
            if self._parameter(callee, place) in callee.sized:
                edits.put(node, f"{name}, {held.lengths[name]}")
        elif above.type == "subscript_expression" or self._is_copied(held, above):
            return
        else:
            raise UnportableError(f"{source.text(above)[:50]}: a container is used as a whole")

    def _is_copied(self, held: OwnContainers, node: Node) -> bool:
        """Whether it stands in the declaration of a vector of the work's own."""
        above: Node | None = node
        while above is not None and above.type != "declaration":
            above = above.parent
        return above is not None and above.start_byte in held.made

    def _member(self, held: OwnContainers, node: Node, name: str, edits: Edits) -> None:
        source, call = held.function.source, node.parent
        member = node.child_by_field_name("field")
        said = source.text(member) if member else ""
        length = held.lengths[name]
        meant = {
            "size": length,
            "empty": f"({length} == 0)",
            "front": f"{name}[0]",
            "back": f"{name}[{length} - 1]",
            "data": name,
            **dict.fromkeys(("begin", "cbegin"), name),
            **dict.fromkeys(("end", "cend"), f"({name} + {length})"),
        }.get(said)
        if meant is None or call is None or call.type != "call_expression":
            raise UnportableError(f"{name}.{said}() does not run on a GPU")
        edits.put(call, meant)


def _is_return(function: Function, node: Node) -> bool:
    """Whether a function returns there, and no lambda in it."""
    above = node.parent if node.type == "return_statement" else None
    while above is not None and above.id != function.body.id:
        if above.type == "lambda_expression":
            return False
        above = above.parent
    return above is not None


def _is_use(held: OwnContainers, node: Node) -> bool:
    """Whether a node names a container, and no lambda's parameter of the same name."""
    source = held.function.source
    if node.type != "identifier" or source.text(node) not in held.lengths:
        return False
    above = node.parent
    while above is not None and above.id != held.function.body.id:
        if above.type == "lambda_expression" and source.text(node) in {
            declared_name(source, one)
            for one in walk(above)
            if one.type in ("parameter_declaration", "optional_parameter_declaration")
        }:
            return False
        above = above.parent
    return True
