"""Statements as kernels: threads where iterations are proved apart, else one thread.

What the iterations of a loop only add up, or only take the greatest of, is combined behind them;
elements that they only add to are added to atomically. Loops right inside a loop share its threads
where those are apart, too. Not here: the order in which the host starts kernels (order.py).
"""

import itertools
import re
from collections.abc import Collection, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from textwrap import dedent, indent
from typing import Any

from tree_sitter import Node

from regraph_kg.cpp import syntax
from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.functions import CodeFile, Function, functions, parsed
from regraph_kg.cpp.syntax import LOOPS, around, walk
from regraph_kg.cpp.watched import NOTHING, seen
from regraph_kg.port.changes import Changes
from regraph_kg.port.host import PLACE, declared, is_plain
from regraph_kg.port.loops import SerialLoop, as_threads
from regraph_kg.port.names import UnportableError, fresh, is_number
from regraph_kg.port.reductions import Update, scattered, updates

_BLOCKS = 1024  # blocks of a kernel whose threads take many iterations each
_MOVES = tuple(
    re.compile(rf"\b{call}\);")
    for call in (
        r"std_copy\((?P<from>\w+), \(?(?P=from) \+ (?P<count>\w+)\)?, (?P<to>[\w +*()]+)",
        r"std_fill\((?P<to>\w+), \(?(?P=to) \+ (?P<count>\w+)\)?, (?P<value>[\w.-]+)",
        r"std_swap\((?P<one>\w+), (?P<other>\w+)",
    )
)
THREADS = 256  # threads of a block where a loop's iterations are threads


@dataclass(frozen=True, slots=True)
class Array:
    """A pointer to the device's memory that the host knows."""

    element: str
    declaration: str
    may_change: bool
    roots: frozenset[str] = frozenset()  # the memory that it may point to


@dataclass(slots=True)
class Scope:
    """What the host knows at a place."""

    arrays: dict[str, Array]
    scalars: dict[str, str]  # name -> type
    constants: dict[str, str] = field(default_factory=dict)  # name -> its declaration
    swapped: list[frozenset[str]] = field(default_factory=list)
    known: dict[str, str] = field(default_factory=dict)  # scalar that stays -> its declaration
    objects: dict[str, str] = field(default_factory=dict)
    """Constant objects and lambdas, each with the declaration that each thread repeats."""
    around: str = ""  # heads of the host's loops around it
    exact: bool = False  # whether rounding in another order would be wrong

    def copy(self) -> "Scope":
        """The same for a block inside."""
        copied = ({**self.arrays}, {**self.scalars}, {**self.constants})
        return Scope(
            *copied, self.swapped, {**self.known}, {**self.objects}, self.around, self.exact
        )

    def overlaps(self, words: set[str]) -> bool:
        """Whether two of the named arrays may be one memory that something writes."""
        named = [name for name in self.arrays if name in words]
        return any(
            self._memory(a, b) & self._memory(b, a)
            and (self.arrays[a].may_change or self.arrays[b].may_change)
            for a, b in itertools.combinations(named, 2)
        )

    def _memory(self, name: str, other: str) -> frozenset[str]:
        """What an array may be after swaps with any other than one."""
        together = {name}
        while more := {n for pair in self.swapped if pair & together for n in pair} - together:
            together |= more
        if other in together:  # swapped with each other, they stay two
            return self.arrays[name].roots
        return frozenset().union(*(a.roots for n, a in self.arrays.items() if n in together))

    def parameters(self, words: set[str]) -> list[tuple[str, str]]:
        """Name and declaration of what a kernel with these words takes."""
        arrays = [(name, it.declaration) for name, it in self.arrays.items() if name in words]
        passed = self.scalars.keys() & words - self.constants.keys()
        return arrays + [(n, f"{kind} {n}") for n, kind in self.scalars.items() if n in passed]


class CannotSplitError(Exception):
    """A statement that the host cannot run and no kernel of its own can: why, and where."""


class Kernels:
    """The kernels of a port, made one by one."""

    def __init__(self, others: str, name: str, taken: Iterable[str]) -> None:
        """`others`: the code without the work; `name`: of the kernels."""
        self._others, self._name, self._taken = others, name, {*taken}
        self.texts: list[str] = []
        self.kept: dict[str, str] = {}  # scalar -> the name of its place on the device
        self.types: dict[str, str] = {}
        self.block = self.new("threads")
        self.deals = False  # whether any has several threads

    def mark(self) -> dict[str, Any]:
        """What `undo` returns to."""
        return {name: copy(value) for name, value in vars(self).items()}

    def undo(self, mark: dict[str, Any]) -> None:
        """Forget the kernels that were made since."""
        vars(self).update({name: copy(value) for name, value in mark.items()})

    def new(self, name: str) -> str:
        """A name that the code does not have."""
        made = fresh(name, self._taken)
        self._taken.add(made)
        return made

    def place(self, scalar: str, kind: str) -> str:
        """The name of a scalar's place on the device."""
        if self.types.setdefault(scalar, kind) != kind:
            raise CannotSplitError(f"{scalar} is of two types")
        if scalar not in self.kept:
            self.kept[scalar] = self.new(f"kept_{scalar}")
        return self.kept[scalar]

    def one_thread(
        self, text: str, scope: Scope, changed: Iterable[str], made: Mapping[str, str]
    ) -> list[str]:
        """Statements for one thread; `changed`, `made`: scalars that they change or declare."""
        if sort := re.search(r"^std_(?:stable_)?(sort\(.{,60})", text, re.MULTILINE):
            raise UnportableError(f"{sort[1]}: a GPU sorts by one number, by a key stably")
        kinds = scope.scalars | {n: f"{it.element}*" for n, it in scope.arrays.items()}
        changed = [
            n for n in changed if n in kinds and not scope.known.get(n, "").startswith("const")
        ]
        own = self._sliced(text, scope, "1", "0")
        words = _words(own.text)
        inner = replace_scalars(own.scope, {*changed, *made})
        places = {name: self.place(name, kinds[name]) for name in changed}
        lines = [f"{kinds[n]}& {n} = {place};" for n, place in places.items()]
        stores = {name: self.place(name, kind) for name, kind in made.items()}
        ends = [f"{place} = {name};" for name, place in stores.items()]
        name, passed = self._kernel(inner, words, "\n".join((*lines, own.text, *ends)))
        return [
            *own.before,
            *(f"cudaMemcpyToSymbol({p}, &{n}, sizeof({n}));" for n, p in places.items()),
            f"{name}<<<1, 1>>>({', '.join(passed)});",
            *(
                f"cudaMemcpyFromSymbol(&{n}, {p}, sizeof({n}));"
                for n, p in (places | stores).items()
            ),
            *own.after,
        ]

    def read(
        self,
        text: str,
        scope: Scope,
        without: Iterable[str] = (),
        known: Mapping[str, str] | None = None,
    ) -> tuple[CodeFile, Function]:
        """A statement as the last one of a function that takes all that the host knows."""
        left, known = {*without, *(known or {})}, known or {}
        heads = [array.declaration for array in scope.arrays.values()]
        heads += [f"{kind} {name}" for name, kind in scope.scalars.items() if name not in left]
        text = "\n".join((*known.values(), text))
        name = fresh("tried", self._taken)
        code = f"{self._others}\nvoid {name}({', '.join(heads)}) {{\n{text}\n}}\n"
        source = parsed(PLACE, code.encode())
        return source, next(function for function in functions(source) if function.name == name)

    def _kernel(self, scope: Scope, words: set[str], body: str) -> tuple[str, list[str]]:
        objects = list[str]()
        for name, text in reversed(scope.objects.items()):
            if name in words:
                words, objects = words | _words(text), [text, *objects]
        taken = scope.parameters(words)
        name, body = self.new(f"{self._name}_{len(self.texts) + 1}"), self._as_loops(body)
        constants = [text for constant, text in scope.constants.items() if constant in words]
        body = indent("\n".join((*dict.fromkeys(constants), *objects, body)), "    ")
        heads = ", ".join(head for _, head in taken)
        self.texts.append(f"__global__ void {name}({heads}) {{\n{body}\n}}")
        return name, [passed for passed, _ in taken]

    def _as_loops(self, body: str) -> str:
        """Calls that move, set or swap elements as what they do, which threads may share."""

        def said(match: re.Match[str]) -> str:
            found, before = match.groupdict(), match.string[: match.start()].rstrip()
            if before and before[-1] not in ";{})":
                return match[0]  # its value is used
            if one := found.get("one"):
                kept, other = self.new("kept"), found["other"]
                return f"{{ auto {kept} = {one}; {one} = {other}; {other} = {kept}; }}"
            to, at = found["to"], self.new("at")
            value = found.get("value") or f"{found['from']}[{at}]"
            head = f"for (size_t {at} = 0; {at} < {found['count']}; ++{at})"
            if to.isidentifier():
                return f"{head} {to}[{at}] = {value};"
            place = self.new("place")
            return f"{{ auto* {place} = {to}; {head} {place}[{at}] = {value}; }}"

        for pattern in _MOVES:
            body = pattern.sub(said, body)
        return body

    def threads(self, text: str, scope: Scope, apart: str = "") -> list[str] | None:
        """A loop as threads, if it may be. `apart`: it without what touches no other step."""
        if scope.overlaps(_words(text)):
            return None
        proved, written = apart or text, text if apart else ""
        _, function = self.read(proved, scope, (), scope.objects)
        loop = function.body.named_children[-1]
        changed = Changes(function.source).names(loop)
        if any(seen(syntax.text(it)) == {NOTHING} for it in loop.children):
            changed -= {n for n, kind in scope.scalars.items() if not is_number(kind)}
        plain = not changed & scope.scalars.keys()
        nest = self._nest(proved, scope, (), written) if plain else None
        if nest is not None:
            return self._plain(nest, scope)
        names, kinds = changed & scope.scalars.keys(), scope.scalars
        found = updates(function.source, loop, names, kinds, exact=scope.exact)
        writable = {n: a.element for n, a in scope.arrays.items() if a.may_change}
        if found is None:
            return None
        for arrays in ({}, {} if apart else writable):
            tried = scattered(function.source, loop, arrays)
            if (arrays or found) and tried is not None:
                nest = self._nest(tried.proved, scope, found, written or tried.text)
                if nest is not None:
                    own = [*found, *tried.sums]
                    return self._combined(nest, scope, own) if own else self._plain(nest, scope)
        return None

    def _nest(
        self, text: str, scope: Scope, found: Iterable[Update] = (), written: str = ""
    ) -> "_Nest | None":
        """Loops right inside each other as threads; `written`: what runs in place of the proof."""
        names = {update.name for update in found}
        own = "".join(f"{update.kind} {update.name} = 0;\n" for update in found)
        levels, before, inner = list[SerialLoop](), list[str](), scope.copy()
        written, counted = written or text, set[str]()
        waiting, body = list[str](), ""
        while True:
            proof = _begun(text, own)
            loop = self._apart(proof, inner, names)
            if loop is None or counted & set(re.findall(r"\w+", f"{loop.first} {loop.end}")):
                break
            levels.append(loop)
            before += waiting
            inner.scalars[loop.variable] = loop.type.removeprefix("const ")
            counted.add(loop.variable)
            first, other = _loop_inside(_body_of(text)), _loop_inside(_body_of(written))
            body = _body_of(written)
            if first is None or other is None:
                break
            inner.scalars |= {name: kind for name, (kind, _) in first[0].items() if kind}
            inner.known |= {name: line for name, (_, line) in first[0].items()}
            counted |= first[0].keys()
            waiting = [line for _, line in other[0].values()]
            text, written = first[1], other[1]
        return _Nest(levels, "\n".join(dict.fromkeys(before)), body) if levels else None

    def _apart(self, text: str, scope: Scope, names: set[str]) -> SerialLoop | None:
        """The loop, if its iterations are apart, with what is known of the numbers before it."""
        arrays = {name: array.may_change for name, array in scope.arrays.items()}
        heads = scope.around.count("\n")
        for known in ({}, scope.known):
            told = f"{scope.around}{text}{'}' * heads}"
            _, function = self.read(told, scope, names, known | scope.objects)
            *before, node = function.body.named_children
            for _ in range(heads):
                before += node.named_children[:1]
                node = node.named_children[-1].named_children[-1]
            loop = as_threads(function, node, before, arrays)
            if loop is not None or not scope.known:
                return loop
        return None

    def _plain(self, nest: "_Nest", scope: Scope) -> list[str]:
        levels, counts = nest.levels, self._counts(nest)
        body = _left_by(nest.body, "return;")
        if len(levels) == 1:
            loop = levels[0]
            wide = "" if loop.type.removeprefix("const ") == "int" else f"({loop.type})"
            at = loop.variable
            value = f"{wide}blockIdx.x * blockDim.x + threadIdx.x"
            value += f" + {_operand(loop.first)}" if loop.first != "0" else ""
            head = f"{loop.type} {loop.variable} = {value};\nif ({loop.variable} < {loop.end}) "
        else:
            at = self.new("at")
            head = f"const long long {at} = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
            head += _decoded(levels, at)
            head += f"if ({levels[0].variable} < {levels[0].end}) "
        if nest.before:
            plain = re.fullmatch(r"\{\n(.*?)\n?\}", body, re.DOTALL)
            flat = plain and not _declared_names(body) & nest.names
            text = plain[1] if plain and flat else indent(body, "    ")
            body = f"{{\n{indent(nest.before, '    ')}\n{text}\n}}"
        number = f"{at} - {_operand(levels[0].first)}" if len(levels) == 1 else at
        number = levels[0].variable if number.endswith(" - 0") else number
        own = self._sliced(f"{head}{body}", scope, counts.product, number)
        words = _words(own.text)
        name, passed = self._kernel(own.scope, words, own.text)
        self.deals = True
        grid = f"({counts.product} + {self.block} - 1) / {self.block}"
        launched = f"{name}<<<{grid}, {self.block}>>>({', '.join(passed)});"
        return counts.launched(*own.before, launched, *own.after)

    def _combined(self, nest: "_Nest", scope: Scope, found: list[Update]) -> list[str]:
        """Threads that take many iterations each, and combine what they have."""
        counts, levels = self._counts(nest), nest.levels
        at, count = self.new("at"), self.new("count")
        scalars = {u.name: u for u in found if not u.element}
        inner = replace_scalars(scope, scalars)
        lines, before = list[str](), dict[str, str]()
        for update in found:
            start = "1" if update.operator == "*" else "0"
            if not update.element and update.operator not in ("+", "^", "*"):
                before[update.name] = self.new(f"{update.name}_before")
                inner.scalars[before[update.name]] = update.kind
                start = before[update.name]
            lines.append(f"{update.kind} {update.name} = {start};")
        inner.scalars[count] = "long long"
        lines += [
            f"for (long long {at} = (long long)blockIdx.x * blockDim.x + threadIdx.x; {at} <"
            f" {count}; {at} += (long long)gridDim.x * blockDim.x) {{",
            indent(_decoded(levels, at) + nest.before, "    ").rstrip(),
            indent(nest.body, "    "),
            "}",
        ]
        for update in found:
            place = update.element or self.place(update.name, update.kind)
            lines.append(update.ended(place, before.get(update.name, "")))
        number = "blockIdx.x * blockDim.x + threadIdx.x"
        own = self._sliced("\n".join(lines), inner, f"{_BLOCKS} * {self.block}", number)
        words = _words(own.text)
        name, passed = self._kernel(own.scope, words, own.text)
        back = {new: old for old, new in before.items()} | {count: counts.product}
        self.deals = True
        places = {n: self.place(n, u.kind) for n, u in scalars.items()}
        blocks = f"({counts.product} + {self.block} - 1) / {self.block}"
        grid = f"{counts.product} < {_BLOCKS} * {self.block} ? {blocks} : {_BLOCKS}"
        given = ", ".join(back.get(word, word) for word in passed)
        return counts.launched(
            *own.before,
            *(f"cudaMemcpyToSymbol({p}, &{n}, sizeof({n}));" for n, p in places.items()),
            f"{name}<<<{grid}, {self.block}>>>({given});",
            *(f"cudaMemcpyFromSymbol(&{n}, {p}, sizeof({n}));" for n, p in places.items()),
            *own.after,
        )

    def _counts(self, nest: "_Nest") -> "_Counts":
        names = list[tuple[str, str]]()
        for loop in nest.levels:
            end = loop.end
            if loop.first != "0":  # as signed numbers: unsigned ones would wrap around
                end = f"(long long){_operand(end)} - {_operand(loop.first)}"
            names.append((self.new("count"), end))
        return _Counts(names)

    def _sliced(self, text: str, scope: Scope, count: str, index: str) -> "_Sliced":
        """The text with local arrays as memory; `index`: the number of the thread among `count`."""
        source, function = self.read(text, scope, _declared_names(text))
        edits, before, after, inner = Edits(), list[str](), list[str](), scope.copy()
        values = _values(source, function.body)
        changed = Changes(source).names(function.body)
        for node in walk(function.body):
            declarator = node.child_by_field_name("declarator")
            kind = node.child_by_field_name("type")
            size = declarator.child_by_field_name("size") if declarator is not None else None
            if node.type != "declaration" or declarator is None or size is None or kind is None:
                continue
            length = _in_words_of(source.text(size), values, scope.scalars.keys())
            if length and _words(length) & changed:
                length = None
            if declarator.type != "array_declarator" or length == "":
                continue
            name, element = source.text(declarator.children[0]), source.text(kind)
            if length is None:
                raise CannotSplitError(f"{source.text(node)[:50]}: nobody knows its length before")
            memory = self.new(f"all_of_{name}")
            inner.arrays[memory] = Array(element, f"{element}* {memory}", may_change=True)
            place = f"{memory} + size_t({length}) * ({index})" if index != "0" else memory
            edits.put(node, f"{element}* {name} = {place};")
            room = f"sizeof({element}) * size_t({length})" + (f" * {count}" if count != "1" else "")
            before += [f"{element}* {memory};", f"cudaMalloc(&{memory}, {room});"]
            after.append(f"cudaFree({memory});")
        return _Sliced(_inside(function, edits), inner, before, after)


@dataclass(frozen=True, slots=True)
class _Sliced:
    """A kernel's text, what it may name, and what the host does before and after it."""

    text: str
    scope: Scope
    before: list[str]
    after: list[str]


def _declared_names(text: str) -> set[str]:
    inside = [node for node in walk(_function_of(text).body) if node.type == "declaration"]
    return {name for node in inside for name in declared(node)}


def _values(source: CodeFile, body: Node) -> dict[str, str]:
    """The first values of numbers that a body declares; none where something changes one."""
    changed = Changes(source).names(body)
    found = dict[str, str]()
    for node in walk(body):
        name, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
        if node.type == "init_declarator" and name is not None and value is not None:
            known = source.text(name) not in {*changed, *found}
            found[source.text(name)] = source.text(value) if known else "@"
    return found


def _in_words_of(size: str, values: Mapping[str, str], known: Collection[str]) -> str | None:
    """A length as the host computes it; "" for a constant one, None where it cannot."""
    own = bool(_words(size) & values.keys())
    for _ in range(4):
        words = _words(size)
        if not words & values.keys():
            break
        size = re.sub(r"[A-Za-z_]\w*", lambda word: f"({values.get(word[0], word[0])})", size)
    words = _words(size)
    if not words & {*known}:
        return (None if words else size) if own or "@" in size else ""
    return size if re.fullmatch(r"[\w\s+\-*/()<>?:]+", size) else None


@dataclass(frozen=True, slots=True)
class _Nest:
    levels: list[SerialLoop]
    before: str  # declarations between the loops
    body: str

    @property
    def names(self) -> set[str]:
        """Names that are declared between the loops."""
        return _declared_names(self.before)


@dataclass(frozen=True, slots=True)
class _Counts:
    """The numbers of iterations of a nest, each with a name in the host's code."""

    names: list[tuple[str, str]]

    @property
    def product(self) -> str:
        return " * ".join(name for name, _ in self.names)

    def launched(self, *lines: str) -> list[str]:
        """The lines, where there are iterations."""
        product = self.product if len(self.names) == 1 else f"({self.product})"
        lines = tuple(line.replace(f"<<<({self.product} +", f"<<<({product} +") for line in lines)
        return [
            *(f"const long long {name} = {end};" for name, end in self.names),
            f"if ({' && '.join(f'{name} > 0' for name, _ in self.names)}) {{",
            *(f"    {line}" for line in lines),
            "}",
        ]


def replace_scalars(scope: Scope, without: Iterable[str]) -> Scope:
    """The scope without some scalars."""
    scalars = {n: kind for n, kind in scope.scalars.items() if n not in {*without}}
    arrays = {n: array for n, array in scope.arrays.items() if n not in {*without}}
    return replace(scope, scalars=scalars, arrays=arrays)


def _words(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", text))


def _operand(text: str) -> str:
    return text if re.fullmatch(r"\w+", text) else f"({text})"


def _decoded(levels: list[SerialLoop], at: str) -> str:
    lines, rest = list[str](), at
    for place, loop in enumerate(levels):
        inner = [_width(level) for level in levels[place + 1 :]]
        product = f"({' * '.join(inner)})" if len(inner) > 1 else "".join(inner)
        value = f"{rest} / {product}" if inner else rest
        value = f"{value} % {_width(loop)}" if place and inner else value
        value = f"{at} % {_width(loop)}" if place and not inner else value
        first = f" + {_operand(loop.first)}" if loop.first != "0" else ""
        lines.append(f"{loop.type} {loop.variable} = {value}{first};\n")
    return "".join(lines)


def _width(loop: SerialLoop) -> str:
    if loop.first == "0":
        return f"(long long){_operand(loop.end)}"
    return f"((long long){_operand(loop.end)} - {_operand(loop.first)})"


def _begun(text: str, own: str) -> str:
    """A loop with declarations at the start of its body, and no `continue` of its own."""
    text = _left_by(text, ";", of_loop=True)
    if not own:
        return text
    function, edits = _function_of(text), Edits()
    body = function.body.named_children[0].child_by_field_name("body")
    if body is not None:
        edits.insert(body.start_byte, f"{{\n{own}")
        edits.insert(body.end_byte, "\n}")
    return _inside(function, edits)


def _left_by(text: str, left: str, *, of_loop: bool = False) -> str:
    """A loop's body, or a loop, with another word for the `continue` of the loop."""
    function, edits = _function_of(text), Edits()
    root = function.body
    top = root.named_children[0] if of_loop and root.named_children else root
    for node in walk(root):
        around_it = (it for it in around(node) if it.type in LOOPS or it.id == root.id)
        if node.type == "continue_statement" and next(around_it).id == top.id:
            edits.put(node, left)
    return _inside(function, edits)


def _function_of(text: str) -> Function:
    return functions(parsed(PLACE, f"void f() {{\n{text}\n}}".encode()))[0]


def _inside(function: Function, edits: Edits) -> str:
    """The edited text of which `_function_of` made a function."""
    first, last = function.body.start_byte + 2, function.body.end_byte - 2
    return edits.applied(function.source.original, first, last)


def _body_of(text: str) -> str:
    function = _function_of(text)
    body = function.body.named_children[0].child_by_field_name("body")
    if body is None:
        return ""
    return undented(syntax.text(body), function.source, body).strip("\n")


def _loop_inside(body: str) -> tuple[dict[str, tuple[str, str]], str] | None:
    """Numbers and pointers that it declares, and the loop behind them; None for any other body."""
    function = _function_of(body)
    source, node = function.source, function.body
    statements = [n for n in node.named_children if n.type != "comment"]
    if len(statements) == 1 and statements[0].type == "compound_statement":
        node = statements[0]
        statements = [n for n in node.named_children if n.type != "comment"]
    if not statements or statements[-1].type != "for_statement":
        return None
    found = dict[str, tuple[str, str]]()
    changed = Changes(source).names(node)
    for statement in statements[:-1]:
        kind, text = statement.child_by_field_name("type"), source.text(statement)
        names = {*declared(statement)}
        is_pointer = len(names) == 1 and re.match(r"(?:const )?[\w: ]+\*(?: ?const)? ?\w+ = ", text)
        if kind is None or not (is_plain(source, statement) or is_pointer):
            return None
        indexed = set(re.findall(r"(\w+)\s*\[", text)) if not is_pointer else set[str]()
        if (names & changed and not is_pointer) or "auto" in source.text(kind) or indexed:
            return None
        label = "" if is_pointer else source.text(kind)
        found |= dict.fromkeys(names, (label, text))
    return found, undented(source.text(statements[-1]), source, statements[-1])


def undented(text: str, source: CodeFile, node: Node) -> str:
    """A node's lines, as far to the left as they go."""
    line = source.original[: node.start_byte].rpartition(b"\n")[2].decode()
    return dedent(" " * (len(line) - len(line.lstrip())) + text)
