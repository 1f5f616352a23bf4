"""Vectors, spans and arrays as pointers and lengths, in the functions that a port keeps.

A parameter becomes a pointer, with its length beside it where the function asks for that. A vector
that the work makes becomes memory that `launch` gets for it.
Not covered: vectors that grow, that are made in a loop, or that hold vectors.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from tree_sitter import Node

from regraph_kg.evaluation.adopt.syntax import Function, declared_name, walk
from regraph_kg.evaluation.port.edits import Edits, UnportableError
from regraph_kg.evaluation.port.work import Container, Work, container_of

_MADE = re.compile(r"(?:const )?std::vector<(.+?)> (\w+) ?(?:\((.*)\)|= ?(.*));")


@dataclass(frozen=True, slots=True)
class Scratch:
    """Memory that the work needs besides its arguments: its vector, or the one it returns."""

    name: str
    element: str
    length: str
    """C++ over the work's parameters."""
    is_result: bool = False
    zeroed: bool = True


@dataclass(slots=True)
class OwnContainers:
    """What a function has of containers."""

    function: Function
    parameters: dict[str, Container] = field(default_factory=dict)
    lengths: dict[str, str] = field(default_factory=dict)
    """Of each container: C++ within the function."""
    sized: set[str] = field(default_factory=set)
    """Parameters whose lengths are passed besides."""
    scratch: list[Scratch] = field(default_factory=list)
    made: dict[int, Scratch] = field(default_factory=dict)
    """By the declaration's place."""


class Containers:
    """Those of the functions that are reached; call `rewrite` for each."""

    def __init__(self, functions: Iterable[Function], work: Work) -> None:
        """Raises `UnportableError` for what has no pointer to it."""
        self._work = work
        self._pointers = {one.name for one in work.arguments}
        self._pointers &= {
            declared_name(work.function.source, node)
            for node in work.function.parameters
            if "*" in work.function.source.text(node)
        }
        self.held: dict[str, OwnContainers] = {}
        for one in functions:
            if one.name in self.held:
                raise UnportableError(f"two functions have the name {one.name}")
            self.held[one.name] = self._parameters(one)
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
                held.lengths[name] = found.fixed or f"{name}_size"
        return held

    def _find_scratch(self, held: OwnContainers) -> None:
        """Vectors that the work makes before anything else may return."""
        source = held.function.source
        returned = self._returned(held.function)
        for node in held.function.body.named_children:
            text = " ".join(source.text(node).split())
            if node.type != "declaration" or "std::vector" not in text.split("=")[0].split("(")[0]:
                continue
            found = _MADE.fullmatch(text)
            if "std::vector" in text.split("<", 1)[1]:
                raise UnportableError(f"{text[:40]} ..: a vector of vectors")
            if not found:
                raise UnportableError(f"{text[:60]}: a vector of a length that is not told there")
            first = other = (found[3] or found[4]).strip()
            length = held.lengths.get(other) or self._told(held, _first(first))
            copied = other in held.lengths
            if (found[4] and not copied) or length in self._pointers:
                raise UnportableError(f"{text[:60]}: a vector of a length that is not told there")
            one = Scratch(
                found[2], found[1], length, found[2] == returned, not copied and "," not in first
            )
            held.lengths[one.name] = f"({length})"
            held.scratch.append(one)
            held.made[node.start_byte] = one
            if copied:
                self._ask(held, other)

    def _told(self, held: OwnContainers, length: str) -> str:
        """A length as the kernel has it, with the lengths of other containers in it."""
        for name, said in held.lengths.items():
            if f"{name}.size()" in length:
                length = re.sub(rf"\b{name}\.size\(\)", said, length)
                self._ask(held, name)
        return length

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
        """Note that a parameter's length is needed; whether that is new."""
        if name not in held.parameters or held.parameters[name].fixed or name in held.sized:
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
        place = [one.id for one in arguments.named_children].index(node.id)
        return self.held[name], place

    def _parameter(self, callee: OwnContainers, place: int) -> str:
        parameters = callee.function.parameters
        if place >= len(parameters):
            raise UnportableError(f"{callee.function.name} is called with more than it takes")
        name = declared_name(callee.function.source, parameters[place])
        if name not in callee.parameters:
            raise UnportableError(f"{callee.function.name} takes a container as {name}")
        return name

    def parameters_of(self, held: OwnContainers, constants: set[str]) -> list[str]:
        """A function's parameters as the port has them."""
        source, found = held.function.source, list[str]()
        for node in held.function.parameters:
            name = declared_name(source, node)
            one = held.parameters.get(name)
            if one is None:
                found.append(" ".join(source.text(node).split()))
                continue
            const = "const " if one.const or name in constants else ""
            found.append(f"{const}{one.element}* {name}")
            if name in held.sized:
                found.append(f"size_t {name}_size")
        return found

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
        one, source = held.made[node.start_byte], held.function.source
        if one.zeroed:
            edits.put(node, "")
            return
        found = _MADE.fullmatch(" ".join(source.text(node).split()))
        assert found
        given = (found[3] or found[4]).strip()
        first = given.partition(",")[2].strip() if "," in given else f"{given}[at]"
        edits.put(node, f"for (size_t at = 0; at < {one.length}; ++at) {one.name}[at] = {first};")

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
        at = f"{name}_at"
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


def _first(arguments: str) -> str:
    """The first of the arguments of a vector: how many elements it has."""
    return arguments.partition(",")[0].strip()
