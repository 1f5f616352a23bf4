"""A transform: one step of a technique as data, and the codes it makes of a code.

    technique = "openmp/.."   name = "rows-together"   says = "one sentence for an engineer"
    match = '''C++ with $metavariables'''   becomes = '''the new code, a Jinja template'''
    where = ["conditions on facts", ..]     [parameters] width = [4, 8]: the first is the default

`before` stands in front of the function (its helpers), `includes` at the top, and each `[[also]]`
rewrites other places of the file with the same names: a kernel's launch. Conditions and templates
have the words of words.py; loops and kernels have facts: `outer.loop.carries`,
`kernel.kernel.axes`.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice, product
from pathlib import Path
from typing import NamedTuple

from jinja2 import TemplateError
from pydantic import Field, ValidationError
from tree_sitter import Node

from regraph_kg.cpp.cuda_facts import KernelFacts
from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.events import events_of
from regraph_kg.cpp.facts import Facts, facts_of
from regraph_kg.cpp.loop_facts import Access, LoopFacts
from regraph_kg.cpp.occurrences import Declared, Events
from regraph_kg.cpp.syntax import text, tree_of, walk
from regraph_kg.models.base import Frozen
from regraph_kg.search.fit.predicate import around, shareable, within
from regraph_kg.search.transform.pattern import Bound, Part, Pattern, PatternError, begin, is_lone
from regraph_kg.search.transform.words import (
    COMPUTING,
    LONGEST,
    MOST_WORK,
    LeftError,
    NoFitError,
    Variable,
    Words,
    calls,
    names,
    pointed,
)

MOST_PLACES, MOST_CHOICES = 32, 8  # of one transform in one code
MOST_RESULTS = 12  # of all transforms of a technique in one code
_Place = tuple[Part, Bound]
_WORDS = Words()
_UNFIT = (  # a stranger's template raises anything
    *(NoFitError, TemplateError, ArithmeticError, LookupError, ValueError),
    *(AttributeError, TypeError, RecursionError),
)
_OPENS, _CLOSES = re.compile(r"[{(\[]"), re.compile(r"[})\]]")
_QUOTED = re.compile(r"//.*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")


class Rewrite(Frozen):
    """What is replaced by what."""

    match: str | tuple[str, ...]  # several: each of them is tried
    becomes: str
    where: tuple[str, ...] = ()

    def patterns(self) -> list[Pattern]:
        """Its patterns; PatternError for one that is no C++."""
        return list(map(Pattern.of, [self.match] if isinstance(self.match, str) else self.match))

    def places(self, root: Node) -> Iterator[tuple[Part, Bound]]:
        """The places below a node that match."""
        for pattern in self.patterns():
            yield from pattern.places(root)


class Inside(Rewrite):
    """What is replaced within a metavariable, wherever it fits."""

    of: str


class Transform(Rewrite):
    """A transform as its file has it."""

    technique: str
    name: str
    says: str
    parameters: dict[str, tuple[int | str, ...]] = Field(default_factory=dict)
    before: str = ""
    includes: tuple[str, ...] = ()
    also: tuple[Rewrite, ...] = ()
    everywhere: bool = False  # whether one step takes all places where it fits: directives
    inside: tuple[Inside, ...] = ()

    @classmethod
    def of(cls, written: str) -> "Transform":
        """Read a transform; ValueError in one line if a part of it cannot be read."""
        try:
            transform = cls.model_validate(tomllib.loads(written))
            for rewrite in (transform, *transform.also, *transform.inside):
                rewrite.patterns()
                _WORDS.template(rewrite.becomes)
                for condition in rewrite.where:
                    _WORDS.condition(condition)
            _WORDS.template(transform.before)
        except ValidationError as error:
            first = error.errors()[0]
            raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
        except (tomllib.TOMLDecodeError, TemplateError, PatternError) as error:
            raise ValueError(" ".join(str(error).split())) from None
        return transform

    @classmethod
    def read(cls, path: Path) -> "Transform":
        """Read a file; ValueError with its name."""
        try:
            return cls.of(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path.name}: {error}") from None

    @property
    def id(self) -> str:
        """Its name in a graph."""
        return f"{self.technique}/{self.name}"

    def choices(self) -> Iterator[dict[str, int | str]]:
        """Values of all parameters, the defaults first."""
        for values in product(*self.parameters.values()):
            yield dict(zip(self.parameters, values, strict=True))


class Result(NamedTuple):
    """A code that a transform made."""

    transform: str  # its id in a graph
    says: str  # what was done, in its words
    code: str


class Piece(str):
    """What a metavariable holds, with the facts of its place."""

    __slots__ = ("_code", "_node")
    _code: "_Code"
    _node: Node | None

    @classmethod
    def of(cls, part: Part, code: "_Code", written: str | None = None) -> "Piece":
        """A part of a code, or what became of it."""
        piece = cls(part.text if written is None else written)
        piece._code, piece._node = code, part.nodes[0] if part.nodes else None
        return piece

    @property
    def loop(self) -> LoopFacts:
        """The facts of a loop; no fit for another piece."""
        at = self._node.start_byte if self._node is not None else -1
        for loop in self._code.facts.loops:
            if loop.at == at:
                return loop
        raise NoFitError("no loop")

    @property
    def parallel(self) -> bool:
        """Whether a loop's iterations depend on nothing of each other, sums included."""
        loop = self.loop
        kept = loop.reduces or loop.exits or loop.launches or loop.time
        return loop.carries == "no" and not kept

    @property
    def is_rest(self) -> bool:
        """Whether a loop begins where another one beside it ended: it takes what that one left."""
        loop = self.loop
        beside = (other for other in self._code.facts.loops if other.parent == loop.parent)
        return any(o.end == loop.start and o.number < loop.number for o in beside)

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
        """The arrays of which it uses elements, with the elements' types."""
        return [Variable(self._code.elements(name), name, "", "") for name in pointed(self)]

    @property
    def writes(self) -> list[tuple[str, ...]]:
        """The steps of what a loop writes, those of loops in it apart: along each loop around."""
        return [one.strides for one in self.loop.accesses if one.mode != "read"]

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
        """A statement without the directives before it."""
        return self[len(self.directives) :]

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


def _is_row(grid: str) -> bool:
    """Whether a grid, as its launch has it, is a number."""
    listed = grid.startswith("(") and grid.find(")") == len(grid) - 1 and "," in grid
    return not listed and "dim3" not in grid and "{" not in grid


def _type(declared: Declared | None) -> str:
    words = (declared.kind if declared is not None else "").replace("*", " ").split()
    return " ".join(word for word in words if word not in _QUALIFIERS)


def _memory(declared: Declared | None) -> str:
    if declared is None:
        return ""
    far = declared.pointer or declared.reference or (declared.parameter and declared.array)
    near = "shared" if "__shared__" in declared.kind.split() else "own"
    return "far" if far or not declared.function else near


def _shareable(loop: LoopFacts) -> bool:
    return shareable(loop) and loop.kind == "for" and loop.variable not in loop.lasting


_QUALIFIERS = ("const", "static", "constexpr", "__restrict__", "__restrict", "__shared__")


class _Code:
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
        if function is None or name in callers:
            effects = ("sync", "fence", "shfl", "ballot", "any", "all", "trap", "sleep", "pipeline")
            built_in = name.startswith("__") and not any(word in name for word in effects)
            return name in COMPUTING or name.endswith("_cast") or built_in
        own = [one for one in self.events.symbols if one.function == name]
        changing = any(
            (one.pointer or one.reference) and "const" not in one.kind
            for one in own
            if one.parameter
        )
        words = {text(node) for node in walk(function) if not node.child_count}
        inside = calls(text(function.child_by_field_name("body")))
        return not (
            changing or words & {"asm", "static", "__shared__", "threadIdx", "volatile"}
        ) and all(self._computes(one, (*callers, name)) for one in inside)

    def type_of(self, name: str) -> str:
        """The type of a variable of this name, if all of that name have one type."""
        kinds = {declared.kind for declared in self.events.declared.get(str(name), [])}
        return kinds.pop() if len(kinds) == 1 else ""

    def elements(self, name: str) -> str:
        """The type of an array's elements; of a vector, too."""
        kind = self.type_of(name).removeprefix("std::").removeprefix("vector<").rstrip(">")
        words = kind.replace("*", " ").replace("&", " ").split()
        return " ".join(word for word in words if word not in _QUALIFIERS)


def carried_out(transform: Transform, code: str) -> Iterator[tuple[int, str]]:
    """The codes after the step: for each place where it fits, with each choice of parameters.

    With each comes its choice's number, 0 for the defaults. Nothing for a code with errors.
    """
    read = _read(code)
    if not read.tree.complete:
        return
    found = transform.places(read.tree.root)
    places = [[place] for place in islice(_until_too_long(found), MOST_PLACES)]
    if transform.everywhere:
        places = [[place for [place] in places if _fits(transform, read, place)], *places]
    for together in filter(None, places):
        for number, choice in enumerate(islice(transform.choices(), MOST_CHOICES)):
            _WORDS.left = MOST_WORK
            try:
                yield number, _changed(transform, read, together, choice)
            except _UNFIT:
                break  # conditions on parameters stand in `where` of their own transform


def _fits(transform: Transform, code: "_Code", place: _Place) -> bool:
    _WORDS.left = MOST_WORK
    try:
        _changed(transform, code, [place], next(transform.choices()))
    except _UNFIT:
        return False
    return True


@lru_cache(maxsize=256)
def results(code: str, transforms: tuple[str, ...]) -> tuple[Result, ...]:
    """What transforms, as texts, make of a code: the defaults of all first; each code once."""
    found: dict[str, tuple[int, Result]] = {}
    for transform in filter(None, map(_transform, transforms)):
        for number, new in carried_out(transform, code):
            found.setdefault(new, (number, Result(transform.id, transform.says, new)))
    found.pop(code, None)
    ranked = sorted(found.values(), key=lambda one: one[0])
    return tuple(result for _, result in ranked[:MOST_RESULTS])


def is_any_readable(transforms: Iterable[str]) -> bool:
    """Whether one of several texts is a transform."""
    return any(map(_transform, transforms))


@lru_cache(maxsize=512)
def _transform(written: str) -> Transform | None:
    """The transform of a text; None for one of a stranger's graph that cannot be read."""
    try:
        return Transform.of(written)
    except ValueError:
        return None


_read = lru_cache(maxsize=8)(_Code)


def _until_too_long(places: Iterator[tuple[Part, Bound]]) -> Iterator[tuple[Part, Bound]]:
    try:
        yield from places
    except PatternError:
        return


def _changed(
    transform: Transform, code: "_Code", places: Sequence[_Place], values: Mapping[str, object]
) -> str:
    edits = Edits()
    known: dict[str, object] = dict(values)
    for part, bound in places:
        # what the template sets is known to the templates of the other places
        known |= _rewrite(transform, code, (part, bound), values, edits, transform.inside)
        for also in transform.also:
            others = [
                (other, held)
                for other, held in also.places(code.tree.root)
                if all(bound[name].text == held[name].text for name in {*bound} & {*held})
            ]
            if not others:
                raise NoFitError("another place is missing")
            for other, held in others:
                _rewrite(also, code, (other, {**bound, **held}), known, edits)
    for part, bound in places[:1] if transform.before else []:
        helpers = _WORDS.template(transform.before).render(_words(code, bound, known)).strip()
        edits.insert(_function(part.nodes[0]).start_byte, helpers and f"{helpers}\n\n")
    old = code.text(0, len(code.content))
    lines = [f"#include {name}\n" for name in transform.includes if f"#include {name}" not in old]
    return "".join(lines) + edits.applied(code.content)


def _rewrite(
    rewrite: Rewrite,
    code: _Code,
    place: _Place,
    values: Mapping[str, object],
    edits: Edits,
    inside: Sequence[Inside] = (),
) -> dict[str, object]:
    part, bound = place
    words = _words(code, bound, values)
    if part.nodes[0].type == "for_statement" and Piece.of(part, code).is_rest:
        raise LeftError("no step is worth it in a loop over what another one left")
    if not all(_WORDS.condition(condition)(**words) for condition in rewrite.where):
        raise LeftError("a condition does not hold")
    for name in dict.fromkeys(rule.of for rule in inside):
        rules = [rule for rule in inside if rule.of == name]
        words[name] = _within(code, bound, values, name, rules)
    module = _WORDS.template(rewrite.becomes).make_module(words)
    new = str(module)
    if len(new) > LONGEST:
        raise NoFitError("its template writes too much")
    directives = code.text(part.begin, part.nodes[0].start_byte)
    if directives and "directives" not in rewrite.becomes:
        raise NoFitError("a directive would be lost")
    line = code.content[: part.begin].rpartition(b"\n")[2].decode(errors="replace")
    blanks = line[: len(line) - len(line.lstrip())]
    if is_lone(part.nodes[0]):
        new = f"{{\n{new.strip()}\n}}"
    edits.replacements.append((part.begin, part.end, laid_out(new, blanks)))
    return {name: value for name, value in vars(module).items() if not name.startswith("_")}


def _within(
    code: _Code, bound: Bound, values: Mapping[str, object], name: str, rules: list[Inside]
) -> "Piece":
    """What a metavariable holds, with its rules carried out."""
    part, edits = bound[name], Edits()
    around = part.nodes[0].parent if part.nodes else None
    for rule in rules:
        for place, held in rule.places(around) if around is not None else ():
            taken = any(a < place.end and place.begin < b for a, b, _ in edits.replacements)
            same = all(bound[two].text == held[two].text for two in {*bound} & {*held})
            if taken or not same or not part.begin <= place.begin < place.end <= part.end:
                continue
            with suppress(LeftError):
                _rewrite(rule, code, (place, {**bound, **held}), values, edits)
    return Piece.of(part, code, edits.applied(code.content, part.begin, part.end))


def _words(code: _Code, bound: Bound, values: Mapping[str, object]) -> dict[str, object]:
    pieces = {name: Piece.of(part, code) for name, part in bound.items()}
    tools = {"fresh": code.fresh, "facts": code.facts, "type_of": code.type_of}
    tools["foreign"] = code.foreign
    return {**values, **pieces, **tools}


def _function(node: Node) -> Node:
    """The outermost function around a node, or the node."""
    while node.parent is not None and node.parent.type != "translation_unit":
        node = node.parent
    return node


def laid_out(code: str, blanks: str = "") -> str:
    """The code with four blanks for each open brace, below the first line's `blanks`."""
    if 'R"' in code:
        return code.strip()
    lines, depth, continues = list[str](), 0, False
    for line in code.strip().splitlines():
        if not line.strip() and (not lines[-1] or lines[-1].endswith("{")):
            continue  # an empty statement list of a template leaves an empty line
        plain = _QUOTED.sub("", line).strip()
        opened, closed = len(_OPENS.findall(plain)), len(_CLOSES.findall(plain))
        first = len(plain) - len(plain.lstrip("})]"))
        level = depth - first + (continues and not plain.startswith(("{", "}")))
        lines.append(f"{blanks}{'    ' * max(level, 0)}{line.strip()}".rstrip())
        depth = max(depth + opened - closed, 0)
        if plain and not plain.startswith("#"):
            continues = not plain.endswith((";", "{", "}", ":", ","))
    return "\n".join(lines).removeprefix(blanks)
