"""Objects of which each kernel may have a copy: of numbers alone, or made anew by each thread."""

import re

from tree_sitter import Node

from regraph_kg.cpp.functions import CodeFile
from regraph_kg.cpp.syntax import declared_name, inside_of, text, walk
from regraph_kg.port.changes import Changes
from regraph_kg.port.names import is_number

_MADE = {"init_declarator", "function_declarator"}  # `T t(a);` reads as a function
_CAST = re.compile(r"\w+_cast<[^>]*>|\b(?:double|float|int|size_t|long)(?=\()")
_ACTS = re.compile(r"\[|->|(?:^|[(,{=+\-/])\s*\*|\w\s*\(|;")
"""Reads of elements, calls, statements."""


def records(root: Node) -> set[str]:
    """The structs of numbers and arrays of numbers alone, which nothing has to make or copy."""
    found = set[str]()
    for node in (it for it in walk(root) if it.type == "struct_specifier"):
        body, name = node.child_by_field_name("body"), text(node.child_by_field_name("name"))
        fields = [it for it in body.named_children if it.type != "comment"] if body else []
        if name and fields and all(_is_record(it, found) for it in fields):
            found.add(name)  # those that hold it stand behind it
    return found


def _is_record(item: Node, known: set[str]) -> bool:
    """Whether a struct's member is of numbers, or a method that may stand beside such."""
    kind, inside = item.child_by_field_name("type"), {it.type for it in walk(item)}
    if item.type == "function_definition":
        return kind is not None and "virtual" not in text(item).partition("(")[0]
    odd = {"pointer_declarator", "reference_declarator", "function_declarator", "bitfield_clause"}
    plain = kind is not None and (is_number(text(kind)) or text(kind) in known)
    default = item.child_by_field_name("default_value")
    return item.type == "field_declaration" and plain and default is None and not odd & inside


def _classes(source: CodeFile, kind: str) -> list[Node]:
    """The definitions of a class."""
    name, types = re.findall(r"\w*$", kind.partition("<")[0])[0], ("class", "struct")
    nodes = [it for it in walk(source.tree.root_node) if it.type.partition("_spec")[0] in types]
    nodes = [it for it in nodes if text(it.child_by_field_name("name")) == name]
    return [it for it in nodes if it.child_by_field_name("body") is not None]


def stays(source: CodeFile, body: Node, name: str, kind: str) -> bool:
    """Whether of an object only methods are called, which read its fields and no more."""
    uses = (it for it in walk(body) if it.type == "identifier" and text(it) == name)
    around = [(it.parent, it.parent.parent) for it in uses if it.parent is not None]
    asked = all(
        it.type in _MADE or (it.type == "field_expression" and outer and outer.type[:5] == "call_")
        for it, outer in around
    )
    classes = _classes(source, kind)
    if not (len(classes) == 1 and asked):
        return False
    inside = [*walk(classes[0])]
    items = [it for it in inside if it.type == "field_declaration"]
    listed = [it for item in items for it in item.children_by_field_name("declarator")]
    own = {declared_name(it): it for it in listed}
    odd = {"this", "lambda_expression", "operator_name", "friend_declaration"}
    kinds = ("field_identifier", "pointer_declarator")
    plain = all(it.type in kinds and "[" not in text(it) for it in listed)
    named = [it for it in inside if it.type == "identifier" and text(it) in own]
    bodies = [it for it in named if inside_of(it, {"compound_statement"}) is not None]
    return (
        plain
        and not any(it.type in odd for it in inside)
        and not re.search(r"const_cast|&\)|&>", text(classes[0]))
        and all(_is_read(source, it, far=own[text(it)].type != kinds[0]) for it in bodies)
    )


def _is_read(source: CodeFile, field: Node, *, far: bool) -> bool:
    """Whether the value of a field is used, and it gets no other name; `far`: of a pointer."""
    above = field.parent or field
    if above.type == "subscript_expression":
        return far or above.child_by_field_name("argument") != field
    if above.type == "pointer_expression":
        return far and text(above).startswith("*")
    if above.type == "init_declarator":
        head = above.parent and text(above.parent.child_by_field_name("type"))
        return text(above).partition("=")[0].strip().isidentifier() and is_number(head or "")
    if above.type == "argument_list":
        return field.id not in {it.id for it in Changes(source).changed_by(above.parent or above)}
    method = inside_of(field, {"function_definition"})
    head = text(method).partition("(")[0] if method is not None else "&"
    value = above.type == "return_statement" and not re.search("[&*]", head)
    value |= above.type == "assignment_expression" and above.named_children[-1] == field
    return value or above.type in ("binary_expression", "cast_expression", "condition_clause")


def is_made_anew(source: CodeFile, kind: str, value: Node) -> bool:
    """Whether making an object does nothing but keep numbers and pointers."""
    if value.type == "lambda_expression":
        return not re.search(r"\w\s*=", text(value.child_by_field_name("captures") or value))
    classes, parts = _classes(source, kind), [text(value)]
    for it in walk(classes[0]) if len(classes) == 1 else ():
        odd = it.type in ("base_class_clause", "destructor_name")
        if odd or it.child_by_field_name("default_value"):
            return False  # what these do is not looked into
        if it.type == "function_definition" and it.child_by_field_name("type") is None:
            lists = [part for part in it.children if part.type == "field_initializer_list"]
            initial = [one for part in lists for one in part.named_children]
            parts += [text(one.named_children[-1]) for one in initial if one.named_children]
            parts += [text(it.child_by_field_name("body")).strip("{} \n")]
    plain = (_CAST.sub("", part) for part in parts)
    return len(classes) == 1 and not any(map(_ACTS.search, plain))
