"""Vectors, spans and arrays as pointers and lengths, in the functions that a port keeps.

A parameter becomes a pointer, and a length if the function uses it. A vector that the work
declares becomes memory that `launch` allocates.
Not covered: vectors that grow, that are made in a loop, or that hold vectors.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from tree_sitter import Node

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.functions import Function, declared_name, parsed
from regraph_kg.cpp.syntax import walk
from regraph_kg.port.changes import Changes
from regraph_kg.port.host import (
    declared,
    flat,
    is_computable,
    is_plain,
    needed,
    words_of,
)
from regraph_kg.port.names import UnportableError, fresh, is_number
from regraph_kg.port.work import Container, Work, container_of


@dataclass(frozen=True, slots=True)
class Scratch:
    """Memory for a vector that the work declares, or for the one that it returns."""

    name: str
    element: str
    length: str  # C++ over the work's parameters and constants
    value: Node | str | None  # the first value of each element, with `at` for its index; None for 0
    is_result: bool = False


@dataclass(slots=True)
class FunctionContainers:
    """The containers of one function."""

    function: Function
    parameters: dict[str, Container] = field(default_factory=dict)
    lengths: dict[str, str] = field(default_factory=dict)  # container -> its length in C++
    sized: set[str] = field(default_factory=set)  # containers whose lengths are passed too
    scratch: list[Scratch] = field(default_factory=list)
    vectors: dict[int, list[Scratch]] = field(default_factory=dict)
    """Offset of a declaration -> the vectors that it declares."""
    constants: list[Node] = field(default_factory=list)
    """Declarations that the lengths of its vectors need."""

    def declarations(self, constants: Collection[str]) -> list[tuple[str, str]]:
        """Names and declarations of its parameters in the port."""
        source, result = self.function.source, list[tuple[str, str]]()
        for node in self.function.parameters:
            name = declared_name(source, node)
            container = self.parameters.get(name)
            if container is None:
                result.append((name, flat(source, node).partition("=")[0].rstrip()))  # no default
                continue
            const = "const " if container.const or name in constants else ""
            result += self._pointer(name, f"{const}{container.element}")
        for scratch in self.scratch:
            result += self._pointer(scratch.name, scratch.element)
        return result

    def _pointer(self, name: str, element: str) -> list[tuple[str, str]]:
        length = [(self.lengths[name], f"size_t {self.lengths[name]}")]
        return [(name, f"{element}* {name}"), *(length if name in self.sized else [])]


class Containers:
    """The containers of all reached functions; call `rewrite` for each function."""

    def __init__(self, functions: Iterable[Function], work: Work, taken: set[str]) -> None:
        """`taken`: names in the code. Raises `UnportableError` for unsupported containers."""
        self._work, self._taken = work, taken
        self._at = fresh("at", taken)
        self.kernel = fresh(f"{work.function.name}_kernel", taken)  # the kernel that does the work
        self.owners: dict[str, FunctionContainers] = {}
        for function in functions:
            if function.name in self.owners:
                raise UnportableError(f"two functions have the name {function.name}")
            self.owners[function.name] = self._parameters(function)
        self._find_scratch(self.owners[work.function.name])
        while sum(self._require_lengths(owner) for owner in self.owners.values()):
            pass

    def _parameters(self, function: Function) -> FunctionContainers:
        owner = FunctionContainers(function)
        for node in function.parameters:
            container = container_of(function.source, node)
            if container:
                name = declared_name(function.source, node)
                owner.parameters[name] = container
                owner.lengths[name] = container.fixed or self._size(name)
        return owner

    def _size(self, name: str) -> str:
        return fresh(f"{name}_size", self._taken)

    def _find_scratch(self, owner: FunctionContainers) -> None:
        """Note the vectors that the work declares in its outermost block."""
        source = owner.function.source
        returned = self._returned(owner.function)
        for node in owner.function.body.named_children:
            kind = node.child_by_field_name("type")
            text = source.text(kind) if kind and node.type == "declaration" else ""
            if not text.startswith("std::vector<"):
                continue
            if "std::vector" in text[1:]:
                raise UnportableError(f"{flat(source, node)[:40]} ..: a vector of vectors")
            owner.vectors[node.start_byte] = []
            for declarator in node.children_by_field_name("declarator"):
                vector = self._scratch(owner, node, text[12:-1], declarator)
                if vector is None:
                    raise UnportableError(
                        f"{flat(source, node)[:60]}: a vector of a length that is not told there"
                    )
                owner.lengths[vector.name] = self._size(vector.name)
                owner.scratch.append(replace(vector, is_result=vector.name == returned))
                owner.vectors[node.start_byte].append(owner.scratch[-1])
                if vector.value is not None:
                    owner.sized.add(vector.name)

    def _scratch(
        self, owner: FunctionContainers, node: Node, element: str, declarator: Node
    ) -> Scratch | None:
        """The vector of a declaration; None where its length is unknown."""
        source, name = owner.function.source, declarator.child_by_field_name("declarator")
        value = declarator.child_by_field_name("value") or declarator.child_by_field_name(
            "parameters"  # `t(n)` may be read as a function's declaration
        )
        if name is None or value is None:
            return None
        is_call = value.type in ("argument_list", "parameter_list")
        items = [n for n in (value.named_children if is_call else [value]) if n.type != "comment"]
        first = flat(source, items[0]) if items else ""
        if first in owner.lengths and len(items) == 1:
            lengths = {vector.name: vector.length for vector in owner.scratch}
            length = lengths.get(first, f"{first}.size()")
            return Scratch(source.text(name), element, length, f"{first}[{self._at}]")
        if not is_call or not 1 <= len(items) <= 2 or not self._is_computable(owner, node, first):  # noqa: PLR2004
            return None
        zero = None if is_number(element) else f"{element}()"
        return Scratch(source.text(name), element, first, items[1] if items[1:] else zero)

    def _is_computable(self, owner: FunctionContainers, vector: Node, length: str) -> bool:
        """Whether the host can compute a vector's length; notes the constants it needs."""
        source = owner.function.source
        before = [n for n in owner.function.body.named_children if n.end_byte <= vector.start_byte]
        expression = parsed(source.path, f"auto told = ({length});".encode())
        changes, words = Changes(source), words_of(expression, expression.tree.root_node) - {"told"}
        locals_ = [
            n for n in before if n.type == "declaration" and n.start_byte not in owner.vectors
        ]
        constants = needed(source, locals_, words, owner.lengths)
        if constants is None or not is_computable(
            expression, expression.tree.root_node, owner.lengths
        ):
            return False
        changed = {source.text(target) for node in before for target in changes.changed_by(node)}
        changed |= {n for node in constants for n in declared(source, node)} & {
            source.text(target) for target in changes.changed_by(owner.function.body)
        }
        pointers = {  # parameters that are pointers
            declared_name(source, node)
            for node in owner.function.parameters
            if re.search(r"[*\[]", source.text(node))
        }
        owner.constants += [node for node in constants if node not in owner.constants]
        return all(is_plain(source, node) for node in constants) and not (
            words - owner.lengths.keys()
        ) & (changed | pointers)

    def _returned(self, function: Function) -> str:
        """The vector that the work returns at its end; "" where it returns none."""
        if not self._work.result:
            return ""
        returns = [node for node in walk(function.body) if _is_return(function, node)]
        last = function.body.named_children[-1]
        match = re.fullmatch(r"return (\w+);", function.source.text(last))
        if len(returns) != 1 or match is None:
            raise UnportableError(f"{function.name} returns a vector in more than one place")
        return match[1]

    def _require_lengths(self, owner: FunctionContainers) -> bool:
        """Note all lengths that a function needs; returns whether any is new."""
        source, news = owner.function.source, False
        for node in walk(owner.function.body):
            if not _is_use(owner, node):
                continue
            above, name = node.parent, source.text(node)
            if above is None:
                continue
            is_needed = above.type in ("field_expression", "for_range_loop")
            if above.type == "argument_list":
                callee, target = self._passed(owner, above, node)
                is_needed = target in callee.sized
            fixed = name in owner.parameters and owner.parameters[name].fixed
            if is_needed and not fixed and name not in owner.sized:
                owner.sized.add(name)
                news = True
        return news

    def _passed(
        self, owner: FunctionContainers, arguments: Node, node: Node
    ) -> tuple[FunctionContainers, str]:
        """The function that takes a container, and as which parameter. Raises `UnportableError`."""
        call, source = arguments.parent, owner.function.source
        called = call.child_by_field_name("function") if call else None
        name = source.text(called).split("::")[-1] if called else ""
        if name not in self.owners:
            whom = source.text(called)[:40] if called else "a declaration"
            raise UnportableError(f"{source.text(node)} is passed whole to {whom}")
        place = [child.id for child in arguments.named_children].index(node.id)
        callee, parameters = self.owners[name], self.owners[name].function.parameters
        if place >= len(parameters):
            raise UnportableError(f"{name} is called with more than it takes")
        parameter = declared_name(callee.function.source, parameters[place])
        if parameter not in callee.parameters:
            raise UnportableError(f"{name} takes a container as {parameter}")
        return callee, parameter

    def rewrite(self, owner: FunctionContainers, edits: Edits) -> None:
        """Edit a function's body. Raises `UnportableError`."""
        for node in walk(owner.function.body):
            if node.start_byte in owner.vectors and node.type == "declaration":
                self._scratch_made(owner, node, edits)
            elif node.type == "for_range_loop":
                self._range(owner, node, edits)
            elif _is_return(owner.function, node) and any(item.is_result for item in owner.scratch):
                edits.put(node, "")
            elif _is_use(owner, node):
                self._use(owner, node, edits)

    def _scratch_made(self, owner: FunctionContainers, node: Node, edits: Edits) -> None:
        """Replace a declaration by a loop that sets the elements, unless `launch` sets them."""
        at, place, text = self._at, node.start_byte, ""
        for vector in owner.vectors[node.start_byte]:
            if vector.value is None:
                continue
            size = owner.lengths[vector.name]
            text += f"for (size_t {at} = 0; {at} < {size}; ++{at}) {vector.name}[{at}] = "
            if isinstance(vector.value, str):
                text += f"{vector.value}; "
                continue
            edits.replacements.append((place, vector.value.start_byte, text))
            place, text = vector.value.end_byte, "; "
        edits.replacements.append((place, node.end_byte, text.rstrip()))

    def _range(self, owner: FunctionContainers, node: Node, edits: Edits) -> None:
        """Replace `for (auto x : xs)` over a container by a loop over its indices."""
        source = owner.function.source
        over = node.child_by_field_name("right")
        body = node.child_by_field_name("body")
        declarator = node.child_by_field_name("declarator")
        if over is None or body is None or declarator is None:
            return
        name = source.text(over)
        if name not in owner.lengths:
            raise UnportableError(f"a loop over {name[:40]}, which is no argument")
        kind = source.content[node.children[2].start_byte : declarator.end_byte].decode()
        at = fresh(f"{name}_at", self._taken)
        before = " " * (node.start_point.column + 4)
        head = f"for (size_t {at} = 0; {at} < {owner.lengths[name]}; ++{at}) {{"
        head += f"\n{before}{kind} = {name}[{at}];"
        if body.type != "compound_statement":
            edits.replacements.append((node.start_byte, body.start_byte, f"{head} "))
            edits.insert(body.end_byte, " }")
            return
        edits.replacements.append((node.start_byte, body.start_byte + 1, head))

    def _use(self, owner: FunctionContainers, node: Node, edits: Edits) -> None:
        """Edit one use of a container: an element, its length, or an argument."""
        source, above = owner.function.source, node.parent
        name = source.text(node)
        if above is None or above.type in ("return_statement", "for_range_loop"):
            return
        if above.type == "field_expression":
            self._member(owner, above, name, edits)
        elif above.type == "argument_list":
            if self._is_copied(owner, above):
                return
            callee, parameter = self._passed(owner, above, node)
            if parameter in callee.sized:
                edits.put(node, f"{name}, {owner.lengths[name]}")
        elif above.type == "subscript_expression" or self._is_copied(owner, above):
            return
        else:
            raise UnportableError(f"{source.text(above)[:50]}: a container is used as a whole")

    def _is_copied(self, owner: FunctionContainers, node: Node) -> bool:
        """Whether a node stands in the declaration of a vector that the work declares."""
        above: Node | None = node
        while above is not None and above.type != "declaration":
            above = above.parent
        return above is not None and above.start_byte in owner.vectors

    def _member(self, owner: FunctionContainers, node: Node, name: str, edits: Edits) -> None:
        source, call = owner.function.source, node.parent
        member = node.child_by_field_name("field")
        method = source.text(member) if member else ""
        length = owner.lengths[name]
        meant = {
            "size": length,
            "empty": f"({length} == 0)",
            "front": f"{name}[0]",
            "back": f"{name}[{length} - 1]",
            "data": name,
            **dict.fromkeys(("begin", "cbegin"), name),
            **dict.fromkeys(("end", "cend"), f"({name} + {length})"),
        }.get(method)
        if meant is None or call is None or call.type != "call_expression":
            raise UnportableError(f"{name}.{method}() does not run on a GPU")
        edits.put(call, meant)


def _is_return(function: Function, node: Node) -> bool:
    """Whether a node returns from the function itself, not from a lambda in it."""
    above = node.parent if node.type == "return_statement" else None
    while above is not None and above.id != function.body.id:
        if above.type == "lambda_expression":
            return False
        above = above.parent
    return above is not None


def _is_use(owner: FunctionContainers, node: Node) -> bool:
    """Whether a node names a container, not a lambda's parameter of the same name."""
    source = owner.function.source
    if node.type != "identifier" or source.text(node) not in owner.lengths:
        return False
    above = node.parent
    while above is not None and above.id != owner.function.body.id:
        if above.type == "lambda_expression" and source.text(node) in {
            declared_name(source, parameter)
            for parameter in walk(above)
            if parameter.type in ("parameter_declaration", "optional_parameter_declaration")
        }:
            return False
        above = above.parent
    return True
