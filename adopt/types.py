"""What a parameter or a result is, from its text alone: form, element type, const, fixed extents.

Aliases and constants of the file are followed, template parameters replaced by the named instance.
Not covered: types of other files; `auto`, classes, pointers to pointers; structs whose members are
arrays, structs or padded: refused with the reason.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

from tree_sitter import Node

from regraph_kg.cpp.functions import CLASSES, CodeFile, scope_of, split
from regraph_kg.cpp.syntax import declared_name, walk
from regraph_kg.errors import BadInput
from regraph_kg.evaluation.problem import types
from regraph_kg.evaluation.problem.declaration import size_of

Form = Literal["scalar", "reference", "pointer", "rows", "vector", "span", "array", "bounded"]
_KNOWN: Mapping[str, types.Type] = {
    **{"char": "char", "signed char": "int8", "unsigned char": "uint8", "bool": "bool"},
    **{"short": "int16", "unsigned short": "uint16", "int": "int32", "unsigned int": "uint32"},
    **{"long": "int64", "unsigned long": "uint64", "ptrdiff_t": "int64", "ssize_t": "int64"},
    **{"long long": "int64", "unsigned long long": "uint64", "size_t": "size_t"},
    **{"float": "float32", "double": "float64", "_Float16": "float16"},
    **{f"{kind}_t": kind for kind in get_args(types.Integer)},
}
_COMPLEX: Mapping[types.Type, types.Type] = {"float32": "complex64", "float64": "complex128"}
_DEPTH = 20
UNNAMED = "unnamed_"  # what parameters without a name are called, with their number behind it
_DEFINED = {
    "alias_declaration": ("name", "type"),
    "preproc_def": ("name", "value"),
    "type_definition": ("declarator", "type"),
    "enumerator": ("name", "value"),
    "field_declaration": ("declarator", "default_value"),
    "init_declarator": ("declarator", "value"),
}
"""Fields of what defines a name."""


class PlainStruct(NamedTuple):
    qualified: str  # its name from file scope, as `geo::Point`
    fields: Mapping[str, types.Type]  # members in order

    @property
    def c(self) -> str:
        """The name under which the entry has it, at file scope."""
        return re.sub(r"\W+", "_", self.qualified).strip("_")

    @property
    def layout(self) -> str:
        """Lines that compile where it lies as its members alone would.

        No pragma, no alignas, nothing in it that has no name.

        Of the types, not of numbers: in the reference a float is a double.
        """
        members = " ".join(f"{types.C_TYPES[kind]} {name};" for name, kind in self.fields.items())
        plain = f"{self.c}_members"
        said = f"{self.qualified} takes other bytes than its members do (alignas, a pragma?)"
        same = f"sizeof({self.qualified}) == sizeof({plain})"
        return f'struct {plain} {{ {members} }};\nstatic_assert({same}, "{said}");\n'


Number = Callable[[str], types.Type]  # by its spelling; raises `BadInput` for others


def records(source: CodeFile) -> dict[str, Node]:
    """Definitions of structs, classes and enumerations; `typedef struct {} P` by that name."""
    found: dict[str, Node] = {}
    for node in source.outline:
        if (
            node.type in {*CLASSES, "enum_specifier"}
            and node.child_by_field_name("body") is not None
        ):
            above = node.parent
            is_typedef = above is not None and above.type == "type_definition"
            name = node.child_by_field_name("name")
            if name is None and is_typedef and above is not None:
                name = above.child_by_field_name("declarator")
            if name is not None:
                found.setdefault(source.text(name), node)
    return found


def record(source: CodeFile, name: str, node: Node, number: Number) -> PlainStruct:
    """What a definition says. Raises `BadInput` where it is no plain data."""
    fields: dict[str, types.Type] = {}
    if unfit := _kind(node) or _members(source, node, number, fields):
        raise BadInput(f"struct {name} {unfit}; pass plain arrays, one for each member")
    return PlainStruct("::".join((*scope_of(node), name)), fields)


def _kind(node: Node) -> str:
    """Why it is no plain struct, whatever its members are."""
    above = node.parent
    if node.type == "union_specifier":
        return "is a union"
    if any(child.type == "base_class_clause" for child in node.children):
        return "is derived from another"
    if above is not None and above.type == "template_declaration":
        return "is a template"
    return ""


def _members(source: CodeFile, node: Node, number: Number, fields: dict[str, types.Type]) -> str:
    """Put its members into `fields`; why they are not plain numbers side by side, if so."""
    body = node.child_by_field_name("body")
    for member in body.named_children if body is not None else ():
        words = [source.text(child) for child in member.children]
        if "virtual" in words:
            return "has virtual functions"
        if member.type != "field_declaration" or "static" in words:
            continue
        unfit = _member(source, member, number, fields)
        if unfit:
            return unfit
    if not fields:
        return "has no members"
    return padded(fields)


def padded(fields: Mapping[str, types.Type]) -> str:
    """Why its members do not lie side by side, if so."""
    size = sum(types.dtype_of(kind).itemsize for kind in fields.values())
    if types.record_of(fields).itemsize != size:
        return "has padding between or behind its members, whose bytes nobody writes"
    return ""


def _member(source: CodeFile, member: Node, number: Number, fields: dict[str, types.Type]) -> str:
    """Put a declaration's members into `fields`; why they are no plain numbers, if so."""
    said = member.child_by_field_name("type")
    for declarator in member.children_by_field_name("declarator"):
        text = source.text(declarator)
        if declarator.type == "function_declarator":
            continue
        if declarator.type != "field_identifier":
            return f"has the member {text}, which is no plain number"
        if any(child.type == "bitfield_clause" for child in member.children):
            return f"has the bit field {text}"
        kind = number(source.text(said) if said is not None else "")
        if kind == "struct":
            return f"has the member {text}, which is a struct itself"
        if types.dtype_of(kind).kind == "c":
            return f"has the member {text}, a complex number; use two floats"
        fields[text] = kind
    return ""


@dataclass(frozen=True, slots=True)
class Element:
    """What an array holds, or a scalar is."""

    type: types.Type
    spelled: str  # the type in the user's words: `size_t`, `std::complex<float>`, `geo::Point`
    record: PlainStruct | None = None  # the struct of a type "struct"
    lanes: tuple[int, ...] = ()  # of an element that is a std::array of numbers: its extents
    among: Mapping[str, int] | None = None  # of an enumeration: its values

    @property
    def c(self) -> str:
        """The plain entry's type."""
        return self.record.c if self.record else types.C_TYPES[self.type]

    @property
    def is_plain(self) -> bool:
        """Whether the user's type is the entry's, under whatever name."""
        return self.record is not None or self.spelled == self.c

    @property
    def in_arrays(self) -> bool:
        """Whether the entry takes it by pointer only."""
        return self.type in ("struct", "float16", "complex64", "complex128")

    @property
    def opaque(self) -> str:
        """The entry's type where only the user's file is known: `void` for a struct."""
        return "void" if self.record else self.c

    @property
    def is_float(self) -> bool:
        """Whether it is rounded; of a struct whether some member is."""
        kinds = self.record.fields.values() if self.record else (self.type,)
        return any(map(types.is_inexact, kinds))


@dataclass(frozen=True, slots=True)
class Passed:
    """How a parameter is passed, or a result returned."""

    form: Form
    element: Element
    const: bool = False  # the function cannot write it
    by_value: bool = False
    fixed: tuple[int, ...] = ()  # extents that the type itself says, the last ones of its shape

    @property
    def counts(self) -> bool:
        """Whether it is an integer, of which extents are made."""
        is_number = self.element.among is None
        return self.form == "scalar" and is_number and types.is_whole(self.element.type)


class Names:
    """Aliases, macros and integer constants of a file, and an instance's template arguments."""

    def __init__(self, source: CodeFile, instance: Mapping[str, str]) -> None:
        self._known: dict[str, str] = {}
        for node in source.outline:
            if defined := _defined(source, node):
                self._known.setdefault(*defined)
        self._known.update(instance)

    def resolve(self, text: str) -> str:
        """A name's meaning, as far as the file says it."""
        for _ in range(_DEPTH):
            if text not in self._known:
                break
            text = self._known[text]
        return text

    def number(self, text: str) -> int | None:
        """An integer literal's value, or a constant's."""
        said = self.resolve(text.strip().rpartition("::")[2]).replace("'", "")
        if re.fullmatch(r"0[xXbB]?\w+|\d+[uUlLzZ]*", said):
            return int(said.rstrip("uUlLzZ"), 0)
        words = set(re.findall(r"[A-Za-z_]\w*", said)) - {said, text}
        known = {word: value for word in words if (value := self.number(word)) is not None}
        try:
            return size_of(said.replace("/", "//"), known)
        except (ArithmeticError, KeyError, TypeError, ValueError):
            return None


def _defined(source: CodeFile, node: Node) -> tuple[str, str] | None:
    """A name and its text, of an alias, a typedef, a macro without arguments or a constant."""
    name, said = (node.child_by_field_name(field) for field in _DEFINED.get(node.type, ("", "")))
    if name is None or said is None or said.child_by_field_name("body") is not None:
        return None  # `typedef struct {...} P`: a type of its own
    above = node.parent if node.type == "init_declarator" else node
    if above is not None and node.type in ("init_declarator", "field_declaration"):
        words = {source.text(child) for child in above.children}
        is_declared = above.type in ("declaration", "field_declaration")
        if not (is_declared and {"const", "constexpr"} & words):
            return None
    return source.text(name), source.text(said).strip().strip("{} ")


class Types:
    def __init__(self, source: CodeFile, names: Names) -> None:
        self._source, self._names = source, names
        self._records = records(source)

    def parameter(self, node: Node) -> Passed:
        """What a parameter's declaration passes. Raises `BadInput` with its line."""
        layers, bounds = _layers(node.child_by_field_name("declarator"))
        name = declared_name(node)
        try:
            numbers = [self._names.number(self._source.text(b)) if b else None for b in bounds]
            return self._passed(self._written(node), layers, numbers)
        except BadInput as error:
            line = self._source.line(node)
            raise BadInput(
                f"{self._source.path}, line {line}: {name or 'a parameter'}: {error}"
            ) from None

    def returned(self, node: Node) -> Passed | None:
        """What a function's definition returns; None for void. Raises `BadInput`."""
        declarator = node.child_by_field_name("declarator")
        text = self._written(node)
        trailing = (
            [n for n in walk(declarator) if n.type == "trailing_return_type"] if declarator else []
        )
        if trailing:
            text = self._source.text(trailing[0]).removeprefix("->")
        elif declarator is not None and declarator.type != "function_declarator":
            raise BadInput("it returns a pointer or a reference; return a value, or void")
        if _bare(text) == "void":
            return None
        passed = self._passed(text, [], [])
        if passed.form == "span":
            raise BadInput("it returns a span, which owns nothing; return a vector, or void")
        return passed

    def _written(self, node: Node) -> str:
        """Type and qualifiers of a declaration, without what it declares."""
        said = node.child_by_field_name("type")
        parts = [n for n in node.children if n.type == "type_qualifier" or n == said]
        return " ".join(self._source.text(part) for part in parts)

    def _passed(self, text: str, layers: list[str], bounds: list[int | None]) -> Passed:
        const, base, inner = self._base(text, layers)
        if inner is not None:
            return self._holder(base, inner, const, layers)
        if layers == ["[]", "*"]:  # T (*rows)[N]
            layers, bounds = ["[]"], [None, *bounds]
        element, fixed = self._element(base), tuple(b for b in bounds[1:] if b is not None)
        if layers.count("*") + ("[]" in layers) > 1:
            raise BadInput("a pointer to pointers; pass one array of all rows")
        if "&&" in layers or ("&" in layers and "*" in layers):
            raise BadInput("a reference of that kind cannot be passed as a plain array")
        if "[]" in layers and len(fixed) != len(bounds) - 1:
            raise BadInput("an array whose bound is no number that this file says")
        if "[]" in layers and "&" in layers:
            first = () if bounds[0] is None else (bounds[0],)
            return Passed("bounded", element, const, fixed=(*first, *fixed))
        if "[]" in layers or "*" in layers:
            return Passed("rows" if fixed else "pointer", element, const, fixed=fixed)
        if "&" in layers and not const:
            return Passed("reference", element)
        return Passed("scalar", element, const=True, by_value="&" not in layers)

    def _holder(self, base: str, inner: list[str], const: bool, layers: list[str]) -> Passed:
        if base == "array" and layers in (["*"], ["[]"]):
            return Passed("pointer", self._element(f"array<{','.join(inner)}>"), const)
        if "*" in layers or "[]" in layers or "&&" in layers:
            raise BadInput(f"a pointer to std::{base}; pass a reference")
        held = _bare(self._names.resolve(inner[0]))
        if re.match(r"(std::)?(vector|span|string)\b", held):
            raise BadInput(
                f"std::{base} of {inner[0]}: not one array of numbers; pass all rows in one"
            )
        constant = held.startswith("const ") or held.endswith(" const")
        element = self._element(re.sub(r"^const | const$", "", held))
        by_value = "&" not in layers
        count = self._names.number(inner[1]) if len(inner) > 1 else None
        if base == "array":
            if count is None:
                raise BadInput("std::array whose length is no number that this file says")
            return Passed("array", element, const or by_value, by_value, (count,))
        if base == "span":
            return Passed("span", element, constant, fixed=(count,) if count else ())
        return Passed("vector", element, const or by_value, by_value)

    def _base(self, text: str, layers: list[str]) -> tuple[bool, str, list[str] | None]:
        """Whether const, the name without std::, and the arguments of vector, span or array."""
        const = False
        for _ in range(_DEPTH):
            bare = _bare(text)
            free = re.sub(r"^const\b ?| ?\bconst$", "", re.sub(r"^const\b ?", "", bare))
            const, before = const or free != bare, free
            text = self._names.resolve(free)
            if text.endswith("*"):
                layers.append("*")
                text = text.rstrip("* ")
            if text == before:
                break
        found = re.fullmatch(r"(?:std::)?(vector|span|array)<(.*)>", text)
        if not found:
            return const, text, None
        return const, found[1], split(found[2])

    def _element(self, text: str) -> Element:
        text = _bare(self._names.resolve(_bare(text)))
        pair = re.fullmatch(r"(?:std::)?complex<(.*)>", text)
        if pair:
            part = self._element(pair[1])
            if part.type not in _COMPLEX:
                raise BadInput(f"{text}; complex numbers of float or double only")
            return Element(_COMPLEX[part.type], f"std::complex<{part.spelled}>")
        if two := re.fullmatch(r"(?:std::)?pair<(.*)>", text):
            return self._pair(split(two[1]))
        rows = re.fullmatch(r"(?:std::)?array<(.*)>", text)
        if rows:
            inner, count = split(rows[1])
            one, length = self._element(inner), self._names.number(count)
            if length is None or one.record:
                raise BadInput(f"{text}: an array of structs, or of a length that this file lacks")
            return replace(
                one, spelled=f"std::array<{one.spelled}, {length}>", lanes=(length, *one.lanes)
            )
        name = text.rpartition("::")[2]
        if name in self._records and self._records[name].type == "enum_specifier":
            return self._enumeration(name, self._records[name])
        if name in self._records:
            found = record(
                self._source, name, self._records[name], lambda text: self._element(text).type
            )
            return Element("struct", found.qualified, found)
        plain = _ordered(text.removeprefix("std::"))
        if plain in _KNOWN:
            # the user's spelling, unless C has another one
            is_c = plain == "bool" or plain in types.C_TYPES.values()
            return Element(_KNOWN[plain], plain if is_c else text)
        raise BadInput(_reason(text))

    def _pair(self, parts: list[str]) -> Element:
        """A std::pair: a struct of two numbers."""
        kinds = [self._element(part) for part in parts]
        fields = dict(zip(("first", "second"), (one.type for one in kinds), strict=True))
        name = f"std::pair<{', '.join(one.spelled for one in kinds)}>"
        if unfit := padded(fields):
            raise BadInput(f"{name} {unfit}; pass two plain arrays")
        return Element("struct", name, PlainStruct(name, fields))

    def _enumeration(self, name: str, node: Node) -> Element:
        """An enumeration: an integer that is one of a few."""
        base, body = node.child_by_field_name("base"), node.child_by_field_name("body")
        kind = self._element(self._source.text(base)).type if base is not None else "int32"
        among, value = dict[str, int](), -1
        for one in body.named_children if body is not None else ():
            said = one.child_by_field_name("value")
            text = self._source.text(one.child_by_field_name("name") or one)
            known = self._names.number(self._source.text(said)) if said is not None else value + 1
            if one.type == "enumerator" and known is not None:
                among[text] = value = known
        qualified = "::".join((*scope_of(node), name))
        return Element(kind, qualified, among=among)


def _reason(text: str) -> str:
    if text in ("half", "__half", "__fp16", "std::float16_t", "long double"):
        return f"{text} has no type in problem.toml; use _Float16, float or double"
    if text.startswith(("std::function", "auto")) or "(" in text:
        return f"{text or 'a callable'} is no data; name an instance or write the call out"
    if text == "void":
        return "void* says nothing of what it holds; give the element's type"
    return (
        f"{text} is no number, and no plain struct that this file or a header beside it defines;"
        " pass plain arrays, or name the template's instance as 'f<float>'"
    )


def _bare(text: str) -> str:
    """With single spaces, none around signs."""
    text = re.sub(
        r"\b(volatile|register|typename|struct|enum|class|constexpr|inline|static)\b", " ", text
    )
    return re.sub(r"\s*([<>,:*&])\s*", r"\1", re.sub(r"\s+", " ", text)).strip()


def _ordered(text: str) -> str:
    """An integer type's words in one order: `long unsigned int` is `unsigned long`."""
    words = text.split()
    if not set(words) <= {"unsigned", "signed", "long", "short", "int", "char"} or not words:
        return text
    sign = "signed" if {"signed", "char"} <= {*words} else ""
    sign = "unsigned" if "unsigned" in words else sign
    size = ["long"] * words.count("long") or [w for w in words if w in ("short", "char")] or ["int"]
    return " ".join(filter(None, (sign, *size)))


def _layers(node: Node | None) -> tuple[list[str], list[Node | None]]:
    """Pointers, references and arrays of a declarator, and the arrays' bounds, outermost first."""
    layers: list[str] = []
    bounds: list[Node | None] = []
    while node is not None:
        kind = node.type.removeprefix("abstract_")
        if kind == "pointer_declarator":
            layers.append("*")
        elif kind == "reference_declarator":
            layers.append("&&" if any(c.type == "&&" for c in node.children) else "&")
        elif kind == "array_declarator":
            if "[]" not in layers:
                layers.append("[]")
            bounds.insert(0, node.child_by_field_name("size"))
        inner = node.child_by_field_name("declarator")
        named = [c for c in node.named_children if c.type.endswith(("declarator", "identifier"))]
        node = inner or (named[-1] if kind.endswith("declarator") and named else None)
    return layers, bounds
