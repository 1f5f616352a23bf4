"""C++, OpenMP and CUDA text as a tree (tree-sitter), and small questions about its nodes.

CUDA's grammar reads C++ too, and has nodes for launches and `__global__`. No header is read and
nothing is compiled. Not here: the meaning of nodes for a loop.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser, Tree

MOST_BYTES = 200_000  # longer text is read up to here, and counts as not read whole
_ACCESSES = frozenset({"subscript_expression", "pointer_expression", "field_expression"})
_ATTRIBUTE = re.compile(rb"__(?:cluster_dims|block_size|maxnreg)__\s*\((?:[^()]|\([^()]*\))*\)")
"""Attributes of kernels that the grammar does not know."""
_MARKER = re.compile(rb"(?<![^\s*&>])[A-Z][A-Z0-9_]+(?=\s+[A-Za-z_])")
"""A word in capitals before another word."""
_HOST_MARKER = re.compile(rb"(?<![^\s*&>])(?:[A-Z][A-Z0-9_]+|__\w+__)(?=\s+[A-Za-z_])")
_SIDE = re.compile(rb"\b__(?:host|device|global)__\s")
_NAMES = frozenset(
    {
        *("identifier", "field_identifier", "type_identifier"),
        *("operator_name", "operator_cast", "destructor_name"),
    }
)
_ZERO = re.compile(rb"#[ \t]*if[ \t]+0\b")
_INK = re.compile(rb"[^\n]")
LOOPS = frozenset({"for_statement", "for_range_loop", "while_statement", "do_statement"})


@dataclass(frozen=True, slots=True)
class SyntaxTree:
    """The root of a text's tree."""

    root: Node
    complete: bool  # whether the text was read without errors


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_cuda.language()))


def parse(content: bytes) -> Tree:
    """The tree of a text as it is."""
    return _parser().parse(content)


def tree_of(code: str) -> SyntaxTree:
    """Parse a text. Never raises."""
    content = code.encode("utf-8", errors="replace")
    short = live(content[:MOST_BYTES])
    root = parse(short).root_node
    if root.has_error:
        plain = without_markers(short, root)
        root = parse(plain).root_node if plain != short else root
    return SyntaxTree(root, not root.has_error and len(content) <= MOST_BYTES)


def live(content: bytes) -> bytes:
    """The text with blanks for code under `#if 0`, and for its directives.

    Not covered: `#elif` behind it, and disabled text that is no C++.
    """
    if not _ZERO.search(content):
        return content
    plain = bytearray(content)
    for node in walk(parse(content).root_node):
        alternative = node.child_by_field_name("alternative")
        zero = node.type == "preproc_if" and text(node.child_by_field_name("condition")) == "0"
        if not zero or (alternative is not None and alternative.type != "preproc_else"):
            continue
        live_span = [node.end_byte] * 2
        if alternative is not None:
            live_span = [alternative.children[0].end_byte, node.children[-1].start_byte]
        for first, last in ((node.start_byte, live_span[0]), (live_span[1], node.end_byte)):
            plain[first:last] = _INK.sub(b" ", plain[first:last])
    return bytes(plain)


def without_markers(content: bytes, root: Node, *, host: bool = False) -> bytes:
    """The text with blanks for words like NO_INLINE in heads that cannot be read, and attributes.

    Such a word is a macro for a compiler. `host`: as g++ reads it, which knows no words of CUDA.
    """
    plain = bytearray(_ATTRIBUTE.sub(_blank, content))
    for node in walk(root):
        body = node.child_by_field_name("body") if node.type == "function_definition" else None
        if body is not None:
            head = plain[node.start_byte : body.start_byte]
            unread = any(child.has_error for child in node.children if child != body)
            if unread or (host and _SIDE.search(head)):
                marker = _HOST_MARKER if host else _MARKER
                plain[node.start_byte : body.start_byte] = marker.sub(_blank, head)
    return bytes(plain)


def _blank(found: re.Match[bytes]) -> bytes:
    return _INK.sub(b" ", found[0])


def text(node: Node | None) -> str:
    """The node's text; "" for no node."""
    return (node.text or b"").decode("utf-8", errors="replace") if node is not None else ""


def walk(node: Node) -> Iterator[Node]:
    """A node and all its descendants in text order, without recursion, for any depth."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(current.children))


def around(node: Node) -> Iterator[Node]:
    """The nodes around a node, the innermost first."""
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


def inside_of(node: Node, kinds: Collection[str]) -> Node | None:
    """The innermost node of these kinds around a node."""
    return next((above for above in around(node) if above.type in kinds), None)


def lone(statement: Node) -> Node | None:
    """The expression that a statement is; None for another one, and for an empty one."""
    whole = statement.type == "expression_statement" and statement.named_child_count
    return statement.named_children[0] if whole else None


def bare(node: Node | None) -> Node | None:
    """The expression inside parentheses and casts."""
    while node is not None:
        if node.type == "cast_expression":
            node = node.child_by_field_name("value")
        elif node.type == "parenthesized_expression" and node.named_child_count:
            node = node.named_children[0]
        elif node.type == "call_expression" and _is_cast(node):
            node = arguments(node)[0]
        else:
            return node
    return None


def _is_cast(call: Node) -> bool:
    """Whether a call is `static_cast<T>(x)` or `int(x)`."""
    function = call.child_by_field_name("function")
    if function is None or len(arguments(call)) != 1:
        return False
    if function.type == "template_function":
        return text(function.child_by_field_name("name")).endswith("_cast")
    return function.type == "primitive_type"


def arguments(call: Node) -> list[Node]:
    """The arguments of a call."""
    listed = call.child_by_field_name("arguments")
    return [child for child in listed.named_children if child.type != "comment"] if listed else []


def parameters(function: Node | None) -> list[Node]:
    """Declarations of a function's parameters."""
    inside = walk(function) if function is not None else ()
    listed = next((node for node in inside if node.type == "parameter_list"), None)
    kinds = ("parameter_declaration", "optional_parameter_declaration")
    return [node for node in listed.named_children if node.type in kinds] if listed else []


def called(call: Node) -> str:
    """The name of the called function, without namespaces and template arguments; "" for none."""
    node = call.child_by_field_name("function")
    while node is not None and node.type in ("qualified_identifier", "template_function"):
        node = node.child_by_field_name("name")
    if node is None:
        return ""
    if node.type == "field_expression":
        return "." + text(node.child_by_field_name("field"))
    return text(node) if "identifier" in node.type or node.type == "primitive_type" else ""


def root_name(node: Node | None) -> Node | None:
    """The first name in an access, a field or an address; None where there is none."""
    while node is not None and node.type in _ACCESSES:
        node = bare(node.child_by_field_name("argument"))
    return node if node is not None and node.type == "identifier" else None


def declared_name(node: Node | None) -> str:
    """The name that a declarator declares; "" where there is none."""
    while node is not None:
        if node.type in _NAMES:
            return text(node)
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type in ("reference_declarator", "parenthesized_declarator"):
            inner = node.named_children[-1] if node.named_children else None
        node = inner
    return ""


def statements(body: Node | None) -> list[Node]:
    """The statements of a block, without comments and directives; a lone statement is one."""
    if body is None:
        return []
    if body.type != "compound_statement":
        return [body]
    return [child for child in body.named_children if child.type not in ("comment", "preproc_call")]


def operator(node: Node) -> str:
    """The operator of an assignment, of a binary or of a unary expression."""
    return text(node.child_by_field_name("operator"))


def target(node: Node) -> Node | None:
    """What an assignment or an update sets; None for another node."""
    field = {"assignment_expression": "left", "update_expression": "argument"}.get(node.type)
    return node.child_by_field_name(field) if field else None


def short(node: Node | None, most: int = 60) -> str:
    """The node's text in one line, cut after `most` characters."""
    return " ".join(text(node)[: 4 * most].split())[:most]
