"""Plain structs of a file: what their members are, or why they are no plain data.

Not covered: structs of other files; members that are arrays, structs or padded.
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tree_sitter import Node

from regraph_kg.cpp.functions import CLASSES, CodeFile, scope_of
from regraph_kg.errors import BadInput
from regraph_kg.evaluation.problem.types import C_TYPES, Type, dtype_of, record_of


class PlainStruct(NamedTuple):
    qualified: str  # its name from file scope, as `geo::Point`
    fields: Mapping[str, Type]  # members in order

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
        members = " ".join(f"{C_TYPES[kind]} {name};" for name, kind in self.fields.items())
        plain = f"{self.c}_members"
        said = f"{self.qualified} takes other bytes than its members do (alignas, a pragma?)"
        same = f"sizeof({self.qualified}) == sizeof({plain})"
        return f'struct {plain} {{ {members} }};\nstatic_assert({same}, "{said}");\n'


Number = Callable[[str], Type]  # the type of a number by its spelling; raises `BadInput` for others


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
    fields: dict[str, Type] = {}
    if unfit := _kind(node) or _members(source, node, number, fields):
        raise BadInput(f"struct {name} {unfit}; pass plain arrays, one for each member")
    return PlainStruct("::".join((*scope_of(source, node), name)), fields)


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


def _members(source: CodeFile, node: Node, number: Number, fields: dict[str, Type]) -> str:
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


def padded(fields: Mapping[str, Type]) -> str:
    """Why its members do not lie side by side, if so."""
    size = sum(dtype_of(kind).itemsize for kind in fields.values())
    if record_of(fields).itemsize != size:
        return "has padding between or behind its members, whose bytes nobody writes"
    return ""


def _member(source: CodeFile, member: Node, number: Number, fields: dict[str, Type]) -> str:
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
        if dtype_of(kind).kind == "c":
            return f"has the member {text}, a complex number; use two floats"
        fields[text] = kind
    return ""
