"""The order of a function's work: what the host does itself, and where it starts kernels.

The host keeps numbers, pointers to the device's memory, their swaps, conditions and loops; each
loop whose iterations are apart becomes a kernel of threads, and what is left is run by one thread.
Numbers that a kernel changes are read back. Not here: what a kernel is made of (kernels.py).
"""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from tree_sitter import Node

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.functions import CodeFile, Function
from regraph_kg.cpp.syntax import root_name, statements, target, text, walk
from regraph_kg.port.changes import Changes
from regraph_kg.port.host import declared, flat, is_return, words_of
from regraph_kg.port.kernels import Array, CannotSplitError, Kernels, Scope, undented
from regraph_kg.port.library import by_cub
from regraph_kg.port.loops import leaves
from regraph_kg.port.names import BY_VALUE, NUMBERS, UnportableError, is_number
from regraph_kg.port.objects import is_made_anew, records, stays
from regraph_kg.port.running import running

_BLOCKS = {"for_statement", "while_statement", "do_statement", "if_statement", "compound_statement"}
_MOST_DEPTH = 2  # loops of the host around a kernel
_SWAP = re.compile(r"(?:std_|std::)?swap\((\w+), (\w+)\);")
_MOVED = re.compile(r"(?:if \((\w+ != \w+)\) )?mem(cpy|move|set)\((\w+), (.+)\);")
_PLACE = re.compile(r"\(*(\w+)(?: [+-] [\w +*/%()-]+)?\)*")
_DECLARES = ("declaration", "for_range_loop")
_KNOWN = re.compile(r"(?:static_cast|reinterpret_cast)<.+>|cuda::std::numeric_limits<.+>::\w+")


@dataclass(slots=True)
class Order:
    """The host's lines for a function, while they are written."""

    function: Function
    kernels: Kernels
    of_device: set[str]  # names that only the device knows
    returns: Callable[[str], list[str]]
    """The lines that store a value and return."""
    changed: set[str] = field(init=False)
    records: set[str] = field(init=False)  # structs that the host passes as it does numbers
    buffers: list[str] = field(default_factory=list)
    depth: int = 0
    deals: bool = True  # whether loops may become threads

    def __post_init__(self) -> None:
        source = self.function.source
        body = self.function.body
        self.changed = Changes(source).names(body)
        self.records = records(source.tree.root_node)

    @property
    def _source(self) -> CodeFile:
        return self.function.source

    def lines(self, scope: Scope, *, one_thread: bool) -> list[str]:
        """The host's lines. Raises `UnportableError`."""
        swaps = (_SWAP.fullmatch(flat(self._source, it)) for it in walk(self.function.body))
        scope.swapped = [frozenset(match.groups()) for match in swaps if match]
        mark = self.kernels.mark()
        for splits in (True, False):
            self.deals = splits and not one_thread
            lines: list[str] | None = None
            try:
                lines = self._block(self.function.body, scope.copy(), whole=True)
            except CannotSplitError as error:
                if not splits:
                    raise UnportableError(str(error)) from None
            if lines is not None and (self.kernels.deals or not splits):
                return lines[:-1] if lines[-1:] == ["return;"] else [*lines, *self._freed()]
            self.kernels.undo(mark)
            self.buffers, self.depth = [], 0
        raise AssertionError  # the second round ends above

    def _freed(self) -> list[str]:
        return [f"cudaFree({name});" for name in self.buffers]

    def _rest(self, left: list[Node], scope: Scope) -> list[str]:
        if not left:
            return []

        def stored(node: Node) -> str:
            value = [self.returns(self._source.text(value))[0] for value in node.named_children[:1]]
            return " ".join((*value, "return;"))

        return self.kernels.one_thread(self._returning(left, stored), scope, (), {})

    def _returning(self, nodes: list[Node], said: Callable[[Node], str]) -> str:
        edits = Edits()
        for node in [inner for each in nodes for inner in walk(each)]:
            if is_return(node, self.function):
                edits.put(node, f"{{ {said(node)} }}")
        text = edits.applied(self._source.original, nodes[0].start_byte, nodes[-1].end_byte)
        return undented(text, self._source, nodes[0])

    def _block(self, block: Node, scope: Scope, *, whole: bool = False) -> list[str]:
        """The lines of a block's statements. Raises `CannotSplitError`."""
        lines, waiting = list[str](), list[Node]()
        left = statements(block)
        for at, node in enumerate(left):
            try:
                made = self._swapped(node, scope) or self._statement(node, scope)
            except CannotSplitError:
                if not whole or self.depth:
                    raise
                lines += self._alone(waiting, scope)
                return [*lines, *self._rest(left[at:], scope)]
            if made is None:
                waiting.append(node)
                scope.scalars |= dict(self._scalars(node)) if node.type == "declaration" else {}
            else:
                lines += [*self._alone(waiting, scope), *made]
                waiting = []
        return [*lines, *self._alone(waiting, scope)]

    def _alone(self, nodes: list[Node], scope: Scope) -> list[str]:
        """The lines for statements in a row that one thread runs."""
        if not nodes:
            return []
        made = dict[str, str]()
        for node in nodes:
            made |= dict(self._scalars(node)) if node.type == "declaration" else {}
        changed = set[str]().union(*map(Changes(self._source).names, nodes))
        outer = [name for name in scope.scalars if name in changed and name not in made]
        outer += [name for name in scope.arrays if any(self._moves(n, name) for n in nodes)]
        text = self._source.original[nodes[0].start_byte : nodes[-1].end_byte].decode()
        text = undented(text, self._source, nodes[0])
        return [
            *(f"{kind} {name};" for name, kind in made.items()),
            *self.kernels.one_thread(text, scope, outer, made),
        ]

    def _statement(self, node: Node, scope: Scope) -> list[str] | None:
        """The lines of one statement; None where one thread of the device runs it."""
        made = self._declared(node, scope) if node.type == "declaration" else None
        made = made if made is not None else self._moved(node, scope)
        if made is not None:
            return made
        if node.type == "return_statement":
            return self._returned(node, scope)
        if node.type == "for_statement" and self.deals and self.depth <= _MOST_DEPTH:
            ways = self._dealt(undented(self._source.text(node), self._source, node), scope)
            with suppress(CannotSplitError):
                if not leaves(node) and (threads := next(filter(None, ways), None)):
                    return threads
        if node.type != "declaration" and self._is_host(node, scope):
            return self._verbatim(node, scope)
        if node.type in _BLOCKS:
            inside = self._inside(node, scope)
            if inside is not None:
                return inside
        if leaves(node) or (node.type == "declaration" and not self._scalars(node)):
            line = self._source.line(node)
            raise CannotSplitError(f"{flat(self._source, node)[:50]} (line {line})")
        return None

    def _dealt(self, text: str, scope: Scope) -> Iterator[list[str] | None]:
        """The lines of a loop as threads, in each way that there is."""
        yield self.kernels.threads(text, scope)
        yield running(self.kernels, text, scope)

    def _verbatim(self, node: Node, scope: Scope) -> list[str]:
        """A statement of numbers alone, which the host runs as it is."""
        text = undented(self._said(node, scope), self._source, node)
        if any(is_return(inner, self.function) for inner in walk(node)):
            text = self._returning([node], lambda it: " ".join(self._returned(it, scope)))
        return text.split("\n")

    def _by_cub(self, node: Node, scope: Scope) -> tuple[str, str]:
        """A call that the host makes by CUB, and its rule of order; "" for another node."""
        known = self.deals and node.type in ("call_expression", "binary_expression")
        known = known and self._source.content.startswith(b"std_", node.start_byte)
        return by_cub(self._source, node, scope) if known else ("", "")

    def _said(self, value: Node, scope: Scope) -> str:
        """The text of an expression of the host."""
        calls = Edits()
        for inner in walk(value):
            text, order = self._by_cub(inner, scope)
            if text:
                calls.put(inner, text)
                self.kernels.deals = True
                self.kernels.texts += {order} - {"", *self.kernels.texts}
        return calls.applied(self._source.original, value.start_byte, value.end_byte)

    def _returned(self, node: Node, scope: Scope) -> list[str]:
        if not node.named_child_count:
            return [*self._freed(), "return;"]
        value = node.named_children[0]
        if self._is_host(value, scope):
            return [*self.returns(self._said(value, scope))[1:], *self._freed(), "return;"]
        text = self.returns(self._source.text(value))[0]
        return [*self.kernels.one_thread(text, scope, (), {}), *self._freed(), "return;"]

    def _inside(self, node: Node, scope: Scope) -> list[str] | None:
        """A loop, condition or block of the host with kernels inside; None where it has none."""
        mark, buffers, deals = self.kernels.mark(), [*self.buffers], self.kernels.deals
        self.kernels.deals = False
        is_loop = node.type not in ("if_statement", "compound_statement")
        self.depth += is_loop
        lines: list[str] | None = None
        try:
            lines = self._opened(node, scope.copy()) if self.depth <= _MOST_DEPTH else None
        except CannotSplitError:
            lines = None
        self.depth -= is_loop
        alone = is_loop and any("<<<1, 1>>>" in line for line in lines or ())
        made = [text for text in self.kernels.texts[len(mark["texts"]) :] if "blockIdx" in text]
        alone = alone and not any(re.search(r"\bfor \(| % \(", text) for text in made)
        starts = any("<<<" in line for line in lines or ())  # else it only copies, or returns
        idle = starts and not self.kernels.deals
        if lines is None or idle or (alone and self._counts_elements(node)):
            self.kernels.undo(mark)
            self.buffers = buffers
            return None
        self.kernels.deals = deals or self.kernels.deals
        return lines

    def _counts_elements(self, node: Node) -> bool:
        """Whether a loop's variable is an index, so that it has a step for each element."""
        head = node.child_by_field_name("initializer")
        elements = (inner for inner in walk(node) if inner.type == "subscript_expression")
        texts = set[str]().union(*map(words_of, elements))
        return head is not None and bool(texts & {name for name, _ in self._scalars(head)})

    def _opened(self, node: Node, scope: Scope) -> list[str] | None:
        """The lines of a statement with blocks in it; None where its head is the device's."""
        if node.type == "compound_statement":
            return ["{", *self._indented(node, scope), "}"]
        body = node.child_by_field_name("body") or node.child_by_field_name("consequence")
        heads = [c for c in node.named_children if body is None or c.id != body.id]
        heads = [c for c in heads if c.type not in ("else_clause", "comment")]
        for head in heads:
            if head.type == "declaration":
                scope.scalars |= dict(self._scalars(head))
            if not self._is_host(head, scope):
                return None
        if body is None:
            return None
        begin = self._source.original[node.start_byte : body.start_byte].decode()
        opening = " ".join(begin.split())
        if node.type == "for_statement" and self._is_fixed(node, body):
            scope.around += f"{opening} {{\n"
        inside = self._indented(body, scope)
        if node.type == "do_statement":
            condition = node.child_by_field_name("condition")
            return ["do {", *inside, f"}} while {self._source.text(condition or node)};"]
        lines = [f"{opening} {{", *inside, "}"]
        other = node.child_by_field_name("alternative")
        if other is not None:
            lines += ["else {", *self._indented(other.named_children[-1], scope), "}"]
        return lines

    def _is_fixed(self, loop: Node, body: Node) -> bool:
        """Whether only its head changes what the head of a loop of the host is made of."""
        own = {name for head in loop.named_children[:1] for name, _ in self._scalars(head)}
        heads = [c for c in loop.named_children if c.id != body.id]
        words = set[str]().union(*(words_of(head) for head in heads))
        inside = Changes(self._source).names(body)
        return bool(own) and not (words - own) & self.changed and not own & inside

    def _indented(self, node: Node, scope: Scope) -> list[str]:
        return [f"    {line}" for line in self._block(node, scope.copy())]

    def _swapped(self, node: Node, scope: Scope) -> list[str] | None:
        match = _SWAP.fullmatch(flat(self._source, node))
        if match is None or not {*match.groups()} <= scope.arrays.keys():
            return None
        sizes = [f"{name}_size" for name in match.groups()]
        pairs = [match.groups(), *([sizes] if {*sizes} <= scope.scalars.keys() else [])]
        return [f"std::swap({a}, {b});" for a, b in pairs]

    def _moved(self, node: Node, scope: Scope) -> list[str] | None:
        match = _MOVED.fullmatch(flat(self._source, node))
        if match is None:
            return None
        test, name, given = f"if ({match[1]}) " if match[1] else "", match[3], match[4]
        words = set(re.findall(r"[A-Za-z_]\w*", given))
        if name not in scope.arrays or words & self.of_device or "[" in given or "&" in given:
            return None
        if match[2] == "set":
            return None if words & scope.arrays.keys() else [f"cudaMemset({name}, {given});"]
        return [f"{test}cudaMemcpy({name}, {given}, cudaMemcpyDeviceToDevice);"]

    def _declared(self, node: Node, scope: Scope) -> list[str] | None:
        """A declaration that the host keeps; None where the device computes a value."""
        kind = node.child_by_field_name("type")
        declarators = node.children_by_field_name("declarator")
        if node.type != "declaration" or kind is None or not declarators:
            return None
        element, lines = self._source.text(kind), list[str]()
        if objects := self._repeated(node, scope):
            scope.objects |= objects
            return []
        qualified = {self._source.text(it) for it in node.children if it.type == "type_qualifier"}
        fixed = bool(qualified & {"const", "constexpr"})
        before = {**scope.constants}, {**scope.scalars}
        for declarator in declarators:
            value = declarator.child_by_field_name("value")
            inner = declarator.child_by_field_name("declarator") if value else declarator
            inner, of = inner or declarator, self._place_of(value, scope)
            if element == "auto" and of and inner.type == "identifier":
                read = of.declaration.startswith("const ")
                made: list[str] | None = self._pointer(of.element, inner, value, scope, fixed=read)
            elif inner.type == "array_declarator" and fixed and value is not None:
                made = self._table(node, inner, scope)
            elif inner.type == "array_declarator":
                made = self._buffer(element, inner, value, scope)
            elif inner.type == "pointer_declarator" and inner.children[-1].type == "identifier":
                read = fixed or (of is not None and of.declaration.startswith("const "))
                told = of.element if of and element == "auto" else element
                made = self._pointer(told, inner, value, scope, fixed=read)
            elif inner.type == "identifier":
                made = self._number(node, inner, value, scope, fixed=fixed)
            else:
                return None
            if made is None:  # a kernel declares all of them
                scope.constants, scope.scalars = before
                return None
            lines += made
        return lines

    def _repeated(self, node: Node, scope: Scope) -> dict[str, str]:
        """Constant objects and lambdas that any thread can make at any time; none if one cannot."""
        source, body, found = self._source, self.function.body, dict[str, str]()
        kind, listed = node.child_by_field_name("type"), node.children_by_field_name("declarator")
        told, fixed = text(kind), "const" in map(text, node.children)
        before = [it for it in node.children if not listed or it.end_byte <= listed[0].start_byte]
        head = " ".join(text(it) for it in before if it.type != "comment")
        for it in listed:
            name = text(it.child_by_field_name("declarator"))
            value = (it.named_children or [it])[-1]
            own = value.type == "lambda_expression" and "mutable" not in text(value)
            lasts = name.isidentifier() and (fixed or own or stays(source, body, name, told))
            if not lasts or not is_made_anew(source, told, value):
                return {}
            found[name] = f"{head} {flat(source, it)};"
        words = {*re.findall(r"\w+", text(node))}
        changed = {
            text(it)
            for it in Changes(source).changed_by(body)
            if not node.start_byte <= it.start_byte < node.end_byte
        }
        inside = [one for one in walk(body) if one.type in _DECLARES]
        made = [it for one in (*inside, *self.function.parameters) for it in declared(one)]
        named = words & {*scope.scalars, *scope.arrays, *scope.objects, *found}
        hidden = any(made.count(word) > 1 for word in named)
        moved = any(self._moves(body, it) for it in words & scope.arrays.keys())
        return {} if hidden or moved or words & changed & scope.scalars.keys() else found

    def _table(self, node: Node, declarator: Node, scope: Scope) -> list[str]:
        text = re.sub(r"^static ", "", self._source.text(node))
        if words_of(node) & (scope.scalars.keys() | scope.arrays.keys()):
            raise CannotSplitError(f"{text[:40]}: a table that is computed")
        name = re.findall(r"\w+", self._source.text(declarator))[0]
        scope.constants[name] = scope.known[name] = text
        return []

    def _buffer(
        self, element: str, declarator: Node, value: Node | None, scope: Scope
    ) -> list[str] | None:
        name, size = declarator.children[0], declarator.child_by_field_name("size")
        empty = value is None or re.fullmatch(r"\{ *0?\.?0?f? *\}", self._source.text(value))
        if name.type != "identifier" or size is None or not empty or self.depth:
            raise CannotSplitError(f"{self._source.text(declarator)}: an array made on the way")
        array, length = self._source.text(name), self._source.text(size)
        if not self._is_host(size, scope):
            raise CannotSplitError(f"{array}[{length}]: nobody knows its length before")
        length = length if re.fullmatch(r"\w+", length) else f"({length})"
        own = frozenset({array})
        scope.arrays[array] = Array(element, f"{element}* {array}", may_change=True, roots=own)
        swapped = any(array in pair for pair in scope.swapped)  # it may end as another's name
        memory = self.kernels.new(f"{array}_memory") if swapped else array
        self.buffers.append(memory)
        room = f"sizeof({element}) * {length}"
        lines = [f"{element}* {array};", f"cudaMalloc(&{array}, {room});"]
        lines += [f"{element}* const {memory} = {array};"] if swapped else []
        return [*lines, *([f"cudaMemset({array}, 0, {room});"] if value is not None else [])]

    def _pointer(
        self, element: str, declarator: Node, value: Node | None, scope: Scope, *, fixed: bool
    ) -> list[str] | None:
        """A pointer into the device's memory; swapped ones stay different."""
        name = self._source.text(declarator).lstrip("* ").split()[-1]
        if value is None:  # of a swap by hand
            return []
        text = self._source.text(value)
        named = scope.arrays.keys() & re.findall(r"\w+", text)
        roots = frozenset[str]().union(*(scope.arrays[it].roots for it in named))
        if not roots or re.search(r"\w\s*\[|&", text):
            raise CannotSplitError(f"{name}: a pointer to nobody knows what")
        moves = self._moves(self.function.body, name, swaps=False)
        if moves or (name in self.changed and len(roots) != 1):
            raise CannotSplitError(f"{name}: a pointer that is set again")
        told = f"{'const ' if fixed else ''}{element}* {name}"
        scope.arrays[name] = Array(element, told, may_change=not fixed, roots=roots)
        return [f"{told} = {text};"]

    def _place_of(self, value: Node | None, scope: Scope) -> Array | None:
        """The array in which a value is a place; None for a number, such as `p - q`."""
        place = _PLACE.fullmatch(flat(self._source, value)) if value is not None else None
        others = words_of(value) - {place[1]} if place and value else scope.arrays
        return None if place is None or {*others} & {*scope.arrays} else scope.arrays.get(place[1])

    def _moves(self, node: Node, name: str, *, swaps: bool = True) -> bool:
        """Whether a statement sets a pointer, or only does so otherwise than by swaps."""
        for inner in walk(node):
            if text(target(inner)) == name:
                return True
            match = _SWAP.fullmatch(flat(self._source, inner)) if swaps else None
            if match and name in match.groups():
                return True
        return False

    def _number(
        self, node: Node, name: Node, value: Node | None, scope: Scope, *, fixed: bool
    ) -> list[str] | None:
        found = dict(self._scalars(node))
        if self._source.text(name) not in found:
            raise CannotSplitError(f"{flat(self._source, node)[:50]}: no number")
        if value is not None and not self._is_host(value, scope):
            return None
        label, kind = self._source.text(name), found[self._source.text(name)]
        scope.scalars[label] = kind
        text = f" = {self._said(value, scope)}" if value is not None else ""
        line = f"{'const ' if fixed else ''}{kind} {label}{text};"
        if text and (fixed or label not in self.changed):
            scope.known[label] = line
        else:
            scope.known.pop(label, None)
        words = words_of(value) if value is not None else set[str]()
        if fixed and not words & (scope.scalars.keys() - scope.constants.keys() | {*scope.arrays}):
            scope.constants[label] = line
        else:
            scope.constants.pop(label, None)
        return [line]

    def _scalars(self, node: Node) -> list[tuple[str, str]]:
        """Names and types of numbers that a declaration declares; empty where it has others."""
        kind, found = node.child_by_field_name("type"), list[tuple[str, str]]()
        text = self._source.text(kind) if kind is not None else ""
        for declarator in node.children_by_field_name("declarator"):
            value = declarator.child_by_field_name("value")
            name = declarator.child_by_field_name("declarator") or declarator
            called = value is not None and value.type == "argument_list"
            known = is_number(text) or text in self.records
            if name.type != "identifier" or not known or called:
                return []
            told = text if text != "auto" else self._told(value)
            if not told:
                return []
            found.append((self._source.text(name), told))
        return found

    def _told(self, value: Node | None) -> str:
        """The type of a value, where it is easily told; "" where not."""
        text = self._source.text(value) if value is not None else ""
        if re.fullmatch(r"-?\d+", text):
            return "int"
        if match := re.fullmatch(r"-?\d*\.\d*(?:e-?\d+)?(f?)", text):
            return "float" if match[1] else "double"
        if match := re.match(r"static_cast<([\w: ]+)>\(", text):
            return match[1]
        return "size_t" if re.fullmatch(r"\w+_size", text) else ""

    def _is_host(self, node: Node, scope: Scope) -> bool:
        """Whether the host has all that a statement or expression needs."""
        end = 0
        for inner in walk(node):
            if inner.start_byte < end:
                continue
            if self._by_cub(inner, scope)[0]:
                end = inner.end_byte
                continue
            name = text(inner) if inner.type == "identifier" else ""
            if name in self.of_device or name in scope.arrays or name in scope.objects:
                return False
            if inner.type in ("lambda_expression", "goto_statement"):
                return False
            element = inner.type == "subscript_expression"
            if element and text(root_name(inner)) not in scope.scalars:
                return False
            if inner.type == "declaration" and inner.id != node.id and not self._scalars(inner):
                return False
            called = inner.child_by_field_name("function")
            if inner.type == "call_expression" and called is not None:
                name = self._source.text(called).removeprefix("std::")
                known = name in BY_VALUE or name in NUMBERS or _KNOWN.fullmatch(name)
                if not known:
                    return False
        return True


def device_names(source: CodeFile) -> set[str]:
    """Names of functions and tables of a file that the host cannot use."""
    lines = source.original.decode().splitlines()
    heads = (line.partition("__device__ ")[2] for line in lines if "__host__" not in line)
    return {match[1] for head in heads if (match := re.search(r"(\w+)\s*[(\[=;]", head))}
