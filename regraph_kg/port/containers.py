"""Vectors, spans and arrays as pointers and lengths, in the functions that a port keeps.

A parameter becomes a pointer, and a length if the function uses it. A vector that the work
declares becomes a local array of a length that the host computes (order.py makes it memory).
Not covered: vectors that grow, or that hold vectors.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import takewhile

from tree_sitter import Node

from regraph_kg.cpp import syntax
from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.functions import Function, split
from regraph_kg.cpp.syntax import around, declared_name, inside_of, text, walk
from regraph_kg.port.host import flat, is_return, words_of
from regraph_kg.port.names import UnportableError, fresh, is_number
from regraph_kg.port.scratch import is_known
from regraph_kg.port.work import Container, Work, container_of

_LOCAL = re.compile(r"(?:const )?(?:std::)?(vector|array)<(.+)>")
_NAMED = {"return_statement", "for_range_loop", "lambda_capture_specifier"}
_MADE = {"declaration", "expression_statement"}
_SIZED = re.compile(r"(\w+)\.(?:resize(?=\([^,]+;)|assign)\(([^,;]+)(?:, (.+))?\);")
_SWAPPED = re.compile(r"(?:std::)?swap\((\w+), (\w+)\);|(\w+)\.swap\((\w+)\);")


@dataclass(slots=True)
class FunctionContainers:
    """The containers of one function."""

    function: Function
    parameters: dict[str, Container] = field(default_factory=dict)
    lengths: dict[str, str] = field(default_factory=dict)  # container -> its length in C++
    sized: set[str] = field(default_factory=set)  # containers whose lengths are passed too
    vectors: dict[int, str] = field(default_factory=dict)
    """Offset of a declaration of vectors -> its text in the port."""
    result: str = ""  # the vector that it returns
    elements: dict[str, str] = field(default_factory=dict)  # container -> type of its elements
    written: dict[str, str] = field(default_factory=dict)  # vector -> its length as declared
    lent: dict[tuple[str, int], Node] = field(default_factory=dict)
    """Name and place -> a parameter of a lambda that names elements of a container, no more."""

    def declarations(self, constants: Collection[str]) -> list[tuple[str, str]]:
        """Names and declarations of its parameters in the port."""
        source, result = self.function.source, list[tuple[str, str]]()
        for node in self.function.parameters:
            name = declared_name(node)
            container = self.parameters.get(name)
            if container is None:
                result.append((name, flat(source, node).partition("=")[0].rstrip()))  # no default
                continue
            const = "const " if container.const or name in constants else ""
            result.append((name, f"{const}{container.element}* {name}"))
            if name in self.sized:
                result.append((self.lengths[name], f"size_t {self.lengths[name]}"))
        if self.result:
            result.append((self.result, f"{self.elements[self.result]}* {self.result}"))
        return result


class Containers:
    """The containers of all reached functions; call `rewrite` for each function."""

    def __init__(self, functions: Iterable[Function], work: Work, taken: set[str]) -> None:
        """`taken`: names in the code. Raises `UnportableError` for unsupported containers."""
        self._work, self._taken = work, taken
        self._at = fresh("at", taken)
        self.kernel = fresh(f"{work.function.name}_kernel", taken)  # the kernel that does the work
        self.owners: dict[str, FunctionContainers] = {}
        self.tables: list[str] = []  # kernels that compute constants of the file
        for function in functions:
            if function.name in self.owners:
                raise UnportableError(f"two functions have the name {function.name}")
            self.owners[function.name] = self._parameters(function)
        self._find_vectors(self.owners[work.function.name])
        for owner in self.owners.values():
            owner.lent = _lent(owner.function)
        while sum(self._require_lengths(owner) for owner in self.owners.values()):
            pass

    def _parameters(self, function: Function) -> FunctionContainers:
        owner = FunctionContainers(function)
        for node in function.parameters:
            container = container_of(function.source, node)
            if container:
                name = declared_name(node)
                owner.parameters[name] = container
                owner.lengths[name] = container.fixed or self._size(name)
                owner.elements[name] = container.element
        return owner

    def _size(self, name: str) -> str:
        return fresh(f"{name}_size", self._taken)

    def _find_vectors(self, owner: FunctionContainers) -> None:
        source, returned = owner.function.source, self._returned(owner.function)
        for node in walk(owner.function.body):
            kind = node.child_by_field_name("type") if node.type == "declaration" else None
            match = _LOCAL.fullmatch(source.text(kind)) if kind is not None else None
            if match is None:
                continue
            if "vector" in match[2] or any(
                "[" in source.text(n).split("=")[0].split("(")[0]
                for n in node.children_by_field_name("declarator")
            ):
                raise UnportableError(
                    f"line {source.line(node)}: {flat(source, node)[:40]} ..: a vector of vectors;"
                    " one vector of all rows can be ported"
                )
            texts = [
                self._vector(owner, node, match, declarator, returned)
                for declarator in node.children_by_field_name("declarator")
            ]
            owner.vectors[node.start_byte] = " ".join(filter(None, texts))
        if returned and returned not in owner.elements:
            raise UnportableError(f"{owner.function.name} returns what it did not declare")
        owner.result = returned

    def _vector(
        self,
        owner: FunctionContainers,
        node: Node,
        kind: re.Match[str],
        declarator: Node,
        returned: str,
    ) -> str:
        """The text for one vector. Raises `UnportableError` where its length is unknown."""
        source, name = owner.function.source, syntax.declared_name(declarator)
        element, *extent = split(kind[2])
        owner.elements[name] = element
        owner.lengths[name] = extent[0] if extent else self._size(name)
        made = declarator.child_by_field_name("value") or declarator.child_by_field_name(
            "parameters"  # `t(n)` may be read as a function's declaration
        )
        is_list = made is not None and made.type == "initializer_list"
        items = [made] if made is not None else []
        if made is not None and (is_list or made.type in ("argument_list", "parameter_list")):
            items = [n for n in made.named_children if n.type != "comment"]
        texts = [self._of_device(owner, flat(source, item)) for item in items]
        if not texts and not extent:
            raise UnportableError(
                f"line {source.line(node)}: {flat(source, node)[:60]}: a vector of a length that"
                " is not told there"
            )
        looped = inside_of(node, syntax.LOOPS) is not None
        return self._made(owner, name, texts, returned, is_list=is_list, looped=looped)

    def _made(
        self,
        owner: FunctionContainers,
        name: str,
        texts: list[str],
        returned: str,
        *,
        is_list: bool,
        looped: bool,
    ) -> str:
        element, length, at = owner.elements[name], owner.lengths[name], self._at
        each = f"for (size_t {at} = 0; {at} < {length}; ++{at}) {name}[{at}] = "
        room = f"sizeof({element}) * {length}"
        size, first = texts[0] if texts else "", f"memset({name}, 0, {room});"
        if looped or not is_number(element):
            first = f"{each}{'{}' if is_number(element) else f'{element}()'};"
        copied = re.fullmatch(r"(\w+)", size)
        other = copied[1] if copied and copied[1] in owner.lengths and len(texts) == 1 else ""
        fixed = length != self._size(name)
        if other:
            size, first = (
                owner.lengths[other],
                f"{each}{other}[{at}];" if looped else f"memcpy({name}, {other}, {room});",
            )
            owner.sized.add(other)
        elif is_list or fixed:
            size = str(len(texts))
            sets = (f"{name}[{place}] = {text};" for place, text in enumerate(texts))
            whole = [first] if fixed and is_list else []
            first = " ".join((*whole, *(sets if texts != ["0"] else ())))
        elif len(texts) > 1 and re.search(r"_size\)$|\.end\(\)|\w+ \+ ", texts[1]):
            start = texts[0]
            size = texts[1].removeprefix(f"{start} + ") or "0"
            size = f"({size})" if size != texts[1] else _row(start, texts[1])
            first = f"{each}({start})[{at}];"  # of whatever type
        elif len(texts) > 1:
            first = f"{each}{texts[1]};"
        owner.written[name] = size
        told = "" if fixed else f"size_t {length} = {size};"
        memory = "" if name == returned else f"{element} {name}[{length}];"
        return " ".join(filter(None, (told, memory, first)))  # launch has the result's memory

    def _of_device(self, owner: FunctionContainers, text: str) -> str:

        def meant(match: re.Match[str]) -> str:
            name, method = match.groups()
            if name not in owner.lengths:
                return match[0]
            owner.sized |= {name} if method not in ("begin", "cbegin", "data") else set()
            return _members(name, owner.lengths[name]).get(method, match[0])

        return re.sub(r"\b(\w+)\.(\w+)\(\)", meant, text)

    def _returned(self, function: Function) -> str:
        """The vector that the work returns at its end; "" where it returns none."""
        if not self._work.result:
            return ""
        returns = [node for node in walk(function.body) if is_return(node, function)]
        texts = {function.source.text(node) for node in returns}
        match = re.fullmatch(r"return (\w+);", texts.pop()) if len(texts) == 1 else None
        if match is None or returns[-1].parent != function.body:
            raise UnportableError(f"{function.name} returns more than one vector: return one name")
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
                if self._is_swap(owner, above):  # it takes its length with it
                    owner.sized |= {name} if name in owner.parameters else set()
                if self._is_plain(owner, above, node):
                    continue
                callee, target = self._passed(owner, above, node)
                is_needed = target in callee.sized
            fixed = owner.lengths[name] != self._size(name)
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
        parameter = declared_name(parameters[place])
        if parameter not in callee.parameters:
            raise UnportableError(f"{name} takes a container as {parameter}")
        return callee, parameter

    def rewrite(self, owner: FunctionContainers, edits: Edits) -> None:
        """Edit a function's body. Raises `UnportableError`."""
        self._swaps_back(owner, edits)
        written = 0
        for taken in owner.lent.values():
            if container := container_of(owner.function.source, taken):
                const = "const " if container.const else ""
                edits.put(taken, f"{const}{container.element}* {declared_name(taken)}")
        for node in walk(owner.function.body):
            if node.start_byte < written:
                continue
            if node.start_byte in owner.vectors and node.type in _MADE:
                edits.put(node, owner.vectors[node.start_byte])
                written = node.end_byte
            elif node.type == "for_range_loop":
                self._range(owner, node, edits)
            elif is_return(node, owner.function) and owner.result:
                edits.put(node, "" if node.parent == owner.function.body else "return;")
            elif node.type == "expression_statement" and (text := self._whole(owner, node)):
                edits.put(node, text)
                written = node.end_byte
            elif _is_use(owner, node):
                self._use(owner, node, edits)

    def _swaps_back(self, owner: FunctionContainers, edits: Edits) -> None:
        """Copy a parameter's elements to the caller's memory, where a swap took it away."""
        source, body = owner.function.source, owner.function.body
        texts = [_swapped(flat(source, node)) for node in walk(body) if node.type in _MADE]
        returns = [node for node in walk(body) if is_return(node, owner.function)]
        returned = set[str]().union(*(words_of(node) for node in returns))
        for name in owner.parameters:
            if not any(name in pair for pair in texts):
                continue
            if any(owner.parameters.keys() >= {*pair} for pair in texts if pair) or (
                returned & owner.lengths.keys()
            ):
                raise UnportableError(f"{name} is swapped: swap copies of parameters, return last")
            given, element = fresh(f"{name}_given", self._taken), owner.elements[name]
            room = f"sizeof({element}) * {owner.lengths[name]}"
            back = f"if ({given} != {name}) memcpy({given}, {name}, {room});\n"
            edits.insert(body.start_byte + 1, f" {element}* {given} = {name};")
            for node in returns:
                alone = node.parent is not None and node.parent.type != "compound_statement"
                edits.insert(node.start_byte, f"{{ {back}" if alone else back)
                edits.insert(node.end_byte, " }" if alone else "")
            if not (returns and returns[-1] == body.named_children[-1]):
                edits.insert(body.end_byte - 1, back)

    def _whole(self, owner: FunctionContainers, node: Node) -> str:
        """The text for a statement about whole containers: `a = b;`, `a.swap(b);`, `a.fill(v);`."""
        text = flat(owner.function.source, node)
        if (sized := _SIZED.fullmatch(text)) and self._has_length(owner, sized[1], sized[2]):
            if sized[3] is None:
                return ";"
            text = f"{sized[1]}.fill({sized[3]});"
        names = owner.lengths.keys()
        if (match := _SWAPPED.fullmatch(text)) and {
            match[1] or match[3],
            match[2] or match[4],
        } <= names:
            return f"std::swap({match[1] or match[3]}, {match[2] or match[4]});"
        if (match := re.fullmatch(r"(\w+)\.fill\((.+)\);", text)) and match[1] in names:
            at, value = self._at, self._of_device(owner, match[2])
            length = owner.lengths[match[1]]
            return f"for (size_t {at} = 0; {at} < {length}; ++{at}) {match[1]}[{at}] = {value};"
        match = re.fullmatch(r"(\w+) = (?:std::move\()?(\w+)\)?;", text)
        if match is None or not {match[1], match[2]} <= names:
            return ""
        one, other = (owner.written.get(match[group], "") for group in (1, 2))
        if one != other and one and other:
            raise UnportableError(f"{text}: nobody knows whether both are of one length")
        name = match[1] if one or not other else match[2]
        room = f"sizeof({owner.elements[name]}) * {owner.lengths[name]}"
        return f"memcpy({match[1]}, {match[2]}, {room});"

    def _has_length(self, owner: FunctionContainers, name: str, length: str) -> bool:
        """Whether a container has a length already: a view ends the program at any other."""
        if name in owner.parameters:
            return owner.parameters[name].view
        nodes, source = [*walk(owner.function.body)], owner.function.source
        swaps = {one for it in nodes if it.type in _MADE for one in _swapped(flat(source, it))}
        named = swaps if name in swaps else {name}  # each may have any other's memory
        lengths = {owner.written.get(one) for one in named}
        return lengths == {self._of_device(owner, length)} and is_known(length, nodes)

    def _is_plain(self, owner: FunctionContainers, arguments: Node, node: Node) -> bool:
        """Whether an argument stays as it is, for a pointer does."""
        call = owner.function.source.text(arguments.parent) if arguments.parent else ""
        place = (call.partition("(")[0], arguments.named_children.index(node))
        lent = arguments.parent is not None and place in owner.lent
        return lent or self._is_copied(owner, arguments) or self._is_swap(owner, arguments)

    def _is_swap(self, owner: FunctionContainers, arguments: Node) -> bool:
        call = arguments.parent
        text = flat(owner.function.source, call) if call is not None else ""
        return bool({*_swapped(f"{text};")} & owner.lengths.keys())

    def _range(self, owner: FunctionContainers, node: Node, edits: Edits) -> None:
        """Replace `for (auto x : xs)` over a container by a loop over its indices."""
        source = owner.function.source
        over = node.child_by_field_name("right")
        body = node.child_by_field_name("body")
        declarator = node.child_by_field_name("declarator")
        if over is None or body is None or declarator is None:
            return
        name = source.text(over)
        if re.search(rf"\b{re.escape(name)}\[[^;]*\] = ", source.text(owner.function.body)):
            return  # an array of C++
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
        if above is None or above.type in _NAMED:
            return
        if above.type == "field_expression":
            self._member(owner, above, name, edits)
        elif above.type == "argument_list":
            if self._is_plain(owner, above, node):
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
        made = node if node.type in _MADE else inside_of(node, _MADE)
        return made is not None and made.start_byte in owner.vectors

    def _member(self, owner: FunctionContainers, node: Node, name: str, edits: Edits) -> None:
        source, call = owner.function.source, node.parent
        member = node.child_by_field_name("field")
        method = source.text(member) if member else ""
        length = owner.lengths[name]
        meant = _members(name, length).get(method)
        if meant is None or call is None or call.type != "call_expression":
            raise UnportableError(f"{name}.{method}() does not run on a GPU")
        edits.put(call, meant)


def _row(start: str, end: str) -> str:
    """How many elements lie from a pointer to another one: `n` from `x + i * n` to the next row."""
    first, last = (
        re.sub(r"\((?:std::)?(?:size_t|long(?: long)?|ptrdiff_t)\)", "", it) for it in (start, end)
    )
    row = re.fullmatch(r"(\w+ \+ )(\w+) \* (\w+)", first)
    known = row is not None and last == f"{row[1]}({row[2]} + 1) * {row[3]}"
    return row[3] if row and known else f"{end} - ({start})"


def _swapped(text: str) -> tuple[str, ...]:
    match = _SWAPPED.fullmatch(text)
    return tuple(name for name in match.groups() if name) if match else ()


def _members(name: str, length: str) -> dict[str, str]:
    return {
        "size": length,
        "empty": f"({length} == 0)",
        "front": f"{name}[0]",
        "back": f"{name}[{length} - 1]",
        "data": name,
        **dict.fromkeys(("begin", "cbegin"), name),
        **dict.fromkeys(("end", "cend"), f"({name} + {length})"),
    }


def _lent(function: Function) -> dict[tuple[str, int], Node]:
    """Parameters of lambdas of which no more than elements is named, by lambda and place."""
    found = dict[tuple[str, int], Node]()
    for made in [it for it in walk(function.body) if it.type == "init_declarator"]:
        value = made.child_by_field_name("value")
        if value is None or value.type != "lambda_expression":
            continue
        for place, taken in enumerate(syntax.parameters(value)):
            uses = [it for it in walk(value) if text(it) == declared_name(taken)]
            if all(it.parent and it.parent.type == "subscript_expression" for it in uses[1:]):
                found[declared_name(made), place] = taken
    return found


def _is_use(owner: FunctionContainers, node: Node) -> bool:
    """Whether a node names a container, not a lambda's parameter of the same name."""
    source = owner.function.source
    if node.type != "identifier" or source.text(node) not in owner.lengths:
        return False
    return not any(
        source.text(node) in map(syntax.declared_name, syntax.parameters(above))
        for above in takewhile(lambda it: it.id != owner.function.body.id, around(node))
        if above.type == "lambda_expression"
    )
