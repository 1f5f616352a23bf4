"""A file's functions and constants as device code; the work becomes a function of pointers.

Not covered: names that macros make.
"""

import re

from tree_sitter import Node

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.functions import CodeFile, Function, parsed, scope_of
from regraph_kg.cpp.syntax import declared_name, walk
from regraph_kg.port.containers import Containers, FunctionContainers
from regraph_kg.port.host import declared, words_of
from regraph_kg.port.names import ALGORITHMS, UnportableError, rename

_MOST_LOCAL_BYTES = 8192
"""Limit for a function's local arrays: a GPU thread has a small and slow stack."""
_SIZES = {"char": 1, "bool": 1, "short": 2, "int": 4, "float": 4, "double": 8, "long": 8}
_LARGEST_ELEMENT = 16
_ITEMS = {
    "function_definition",
    "declaration",
    "using_declaration",
    "static_assert_declaration",
    "type_definition",
    "field_declaration",
}
_ODD = ("lambda_expression", "array_declarator", "pointer_declarator")
_KEPT = re.compile(r"\b(?:static|thread_local)\b")
_FIXED = re.compile(r"\b(?:const|constexpr)\b")


def on_device(source: CodeFile, work: Function, containers: Containers, constants: set[str]) -> str:
    """The file's text for the device. Raises `UnportableError`."""
    edits = Edits()
    for owner in containers.owners.values():
        is_work = owner.function.node.start_byte == work.node.start_byte
        _require_fit(owner.function, is_work=is_work)
        containers.rewrite(owner, edits)
        taken = [text for _, text in owner.declarations(constants if is_work else ())]
        _head(owner, ", ".join(taken), edits, containers.kernel if is_work else "")
    starts = {owner.function.node.start_byte for owner in containers.owners.values()}
    passed = {source.text(n) for n in walk(source.tree.root_node) if _is_passed(source, n)}
    own = {owner.function.name for owner in containers.owners.values()}
    for node in _items(source.tree.root_node):
        if node.type == "function_definition" and node.start_byte not in starts:
            place = "__host__ __device__ " if _is_of_both(source, node, own) else "__device__ "
            edits.replacements.append((node.start_byte, _attributes_end(node), place))
        elif node.type == "type_definition":
            _typedef(source, node, edits)
        elif node.type in ("declaration", "field_declaration"):
            _declaration(source, node, edits, passed, containers.tables)
        elif node.type == "static_assert_declaration":
            edits.put(node, "")
        elif node.type == "using_declaration" and "namespace" in source.text(node):
            raise UnportableError(f"{source.text(node)} hides which names are of std")
    used = rename(source, source.tree.root_node, edits)
    made, again = parsed(source.path, edits.applied(source.content).encode()), Edits()
    used |= rename(made, made.tree.root_node, again)  # in what was written for containers
    text = again.applied(made.original)
    return "\n".join([*(ALGORITHMS[name] for name in sorted(used)), text])


def _items(root: Node) -> list[Node]:
    items, end = list[Node](), 0
    for node in walk(root):
        is_inside = node.start_byte < end
        is_function = node.type == "function_definition"
        if node.type in _ITEMS and (not is_inside or (is_function and _is_member(node))):
            items.append(node)
        if is_function and not is_inside:
            end = node.end_byte
    return items


def _is_passed(source: CodeFile, node: Node) -> bool:
    """Whether a name is passed to a function, which may take it by reference."""
    above = node.parent if node.type == "identifier" else None
    called = above.prev_sibling if above is not None and above.type == "argument_list" else None
    return called is not None and not source.text(called).startswith("std::")


def _is_member(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "field_declaration_list"


def _is_of_both(source: CodeFile, node: Node, own: set[str]) -> bool:
    """Whether a function may be the host's, too: a member that calls no function of the device."""
    calls = (it for it in walk(node) if it.type == "call_expression")
    called = {source.text(it.children[0]).rpartition("::")[2] for it in calls}
    return _is_member(node) and not called & own


def _head(owner: FunctionContainers, taken: str, edits: Edits, kernel: str) -> None:
    """Edit a function's head; the work gets another name, for the entry has its own."""
    function = owner.function
    listed = function.declarator.child_by_field_name("parameters")
    name = function.declarator.child_by_field_name("declarator")
    if listed is None or name is None:
        raise UnportableError(f"{function.name} is not declared in a way that is understood")
    above, start = function.node.parent, function.node.start_byte
    if above is not None and above.type == "linkage_specification":  # `extern "C"` before it
        start = above.start_byte
    if kernel:
        kind = function.node.child_by_field_name("type")
        told = "void" if kind is None or owner.result else function.source.text(kind)
        text = f"{told} {kernel}({taken})"
        edits.replacements.append((start, function.declarator.end_byte, text))
        return
    edits.replacements.append((start, _attributes_end(function.node), "__device__ "))
    if owner.parameters:
        edits.put(listed, f"({taken})")


def _attributes_end(node: Node) -> int:
    """The offset behind attributes such as `[[nodiscard]]`, which must not follow `__device__`."""
    first = next(child for child in node.children if child.type != "attribute_declaration")
    return first.start_byte


def _declaration(
    source: CodeFile, node: Node, edits: Edits, passed: set[str], tables: list[str]
) -> None:
    """Edit a constant, or a function's declaration. `tables`: kernels that compute constants."""
    text = source.text(node)
    inside = {inner.type for inner in walk(node)}
    if _is_member(node):
        if "array_declarator" in inside and _KEPT.search(text):
            raise UnportableError(f"{text[:50]}: a table in a struct")
        return
    if "function_declarator" in inside and "init_declarator" not in inside:
        if "std::" in text:
            edits.put(node, "")
        else:
            edits.insert(node.start_byte, "__device__ ")
        return
    if not _FIXED.search(text):
        raise UnportableError(f"{text[:50]}: a global variable")
    is_limit = "numeric_limits" in text or "constexpr" in text
    if "call_expression" in inside and not is_limit and not {*_ODD} & inside:
        _computed(source, node, edits, tables)
        return
    if "lambda_expression" in inside or ("call_expression" in inside and not is_limit):
        raise UnportableError(f"{text[:50]}: a constant that is computed before main")
    if {"array_declarator", "initializer_list"} & inside or passed & {*declared(node)}:
        edits.insert(node.start_byte, "__device__ ")


def _computed(source: CodeFile, node: Node, edits: Edits, tables: list[str]) -> None:
    """Make a constant that is computed before main one that a kernel computes."""
    kind = node.child_by_field_name("type")
    declarator, *others = node.children_by_field_name("declarator")
    value, name = declarator.child_by_field_name("value"), "".join(declared(node))
    if kind is None or value is None or others or not name.isidentifier():
        raise UnportableError(f"{source.text(node)[:50]}: a constant that is computed before main")
    text = source.text(value)
    told = f"decltype({text})" if source.text(kind) == "auto" else source.text(kind)
    kernel = f"__global__ void set_{name}() {{\n    {name} = {text};\n}}"
    edits.put(node, f"__device__ {told} {name};\n\n{kernel}")
    tables.append("::".join((*scope_of(node), f"set_{name}")))


def _typedef(source: CodeFile, node: Node, edits: Edits) -> None:
    """Replace `typedef struct { .. } P;` by `struct P { .. };`."""
    kind, name = node.child_by_field_name("type"), node.child_by_field_name("declarator")
    body = kind.child_by_field_name("body") if kind else None
    named = kind.child_by_field_name("name") if kind else None
    if kind is None or name is None or body is None or kind.type != "struct_specifier":
        return
    if name.type == "type_identifier" and source.text(named or name) == source.text(name):
        edits.replacements.append(
            (node.start_byte, body.start_byte, f"struct {source.text(name)} ")
        )
        edits.replacements.append((body.end_byte, node.end_byte, ";"))


def _require_fit(function: Function, *, is_work: bool) -> None:
    """Raise `UnportableError` for static variables, recursion and large local arrays."""
    source, total = function.source, 0
    for node in walk(function.body):
        if node.type == "declaration":
            head = source.text(node).split("=")[0]
            is_fixed = _FIXED.search(head) and not any(
                n.type == "call_expression" for n in walk(node)
            )
            if _KEPT.search(head) and not is_fixed:
                raise UnportableError(f"{function.name} has a static variable")
            is_buffer = is_work and (node.parent == function.body or _is_long(function, node))
            total += 0 if is_buffer else _local_bytes(source, node)
        called = node.child_by_field_name("function") if node.type == "call_expression" else None
        if called is not None and source.text(called).split("::")[-1] == function.name:
            raise UnportableError(f"{function.name} calls itself: a GPU's stack is small")
    if total > _MOST_LOCAL_BYTES:
        raise UnportableError(
            f"{function.name} has {total} bytes of arrays of its own: a GPU's stack is small"
        )


def _is_long(function: Function, node: Node) -> bool:
    """Whether a declaration's arrays have lengths that the function computes."""
    inside = (inner for inner in walk(node) if inner.type == "array_declarator")
    lengths = (inner.child_by_field_name("size") for inner in inside)
    sizes = set[str]().union(*(words_of(size) for size in lengths if size is not None))
    own = {name for inner in walk(function.body) for name in declared(inner)}
    own |= {declared_name(parameter) for parameter in function.parameters}
    return bool(sizes & own)


def _local_bytes(source: CodeFile, node: Node) -> int:
    """Rough size of a declaration's arrays. Raises `UnportableError` for an unknown extent."""
    kind = node.child_by_field_name("type")
    words = source.text(kind).split() if kind else []
    element_bytes = max((_SIZES.get(word, 0) for word in words), default=0) or _LARGEST_ELEMENT
    total = 0
    for declarator in node.children_by_field_name("declarator"):
        elements = 0
        for inner in walk(declarator):
            size = inner.child_by_field_name("size") if inner.type == "array_declarator" else None
            if size is not None:
                elements = max(1, elements) * _extent(source, size)
        total += elements * element_bytes
    return total


def _extent(source: CodeFile, size: Node) -> int:
    text = source.text(size)
    if text.isdigit():
        return int(text)
    file_text = source.content.decode()
    match = re.search(
        rf"(?:#[ \t]*define[ \t]+{re.escape(text)}[ \t]+|\b{re.escape(text)} = )(\d+)\b", file_text
    )
    if match is None:
        raise UnportableError(f"an array of {text[:40]} elements: nobody knows how large that is")
    return int(match[1])
