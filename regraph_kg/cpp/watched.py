"""A text that tells, while it runs, which loops begin, and when their next iterations do.

What the iterations share is then said in a comment of the loop, where facts find it:

    for (int i = 0; i < n; ++i) /* seen: iterations share nothing */ {

Not covered: `while` loops, loops that a macro makes, loops in functions for the compiler.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.syntax import around, declared_name, operator, target, text, tree_of, walk

NOTHING, MEMORY = "nothing", "memory"
_SEEN = re.compile(r"/\* seen: iterations share ([\w, ]+) \*/")
_LOOPS = ("for_statement", "for_range_loop")
_RESULTS = ("call_expression", "binary_expression", "conditional_expression")
_UNNAMED = re.compile(r"\b(?:static|extern|constexpr|const|using|typedef|register|thread_local)\b")
_DECLARED = """\
extern "C" {
void regraph_loop(int, const void *);
void regraph_around(int, const volatile void *, unsigned long);
void regraph_iteration(const volatile void *, unsigned long);
void regraph_iterated();
void regraph_left();
void regraph_told(long *);
void *memset(void *, int, unsigned long) noexcept;
void *memcpy(void *, const void *, unsigned long) noexcept;
void *memmove(void *, const void *, unsigned long) noexcept;
}
namespace {
struct regraph_watch { ~regraph_watch() { regraph_left(); } };
struct regraph_body { ~regraph_body() { regraph_iterated(); } };
template <class T> constexpr T &&regraph_value(T &&value) { return static_cast<T &&>(value); }
}
#line 1
"""


@dataclass(frozen=True, slots=True)
class WatchedLoop:
    """A loop, and the variables around it by their numbers."""

    at: int  # bytes of the text before it
    names: tuple[str, ...]


def seen(comment: str) -> frozenset[str]:
    """What a comment says that iterations share; empty where it is another comment."""
    found = _SEEN.fullmatch(comment)
    return frozenset(found[1].split(", ")) if found else frozenset()


def watched(code: str, most: int) -> tuple[str, list[WatchedLoop]]:
    """The text that tells of its first loops, and these."""
    tree, edits, loops = tree_of(code), Edits(), list[WatchedLoop]()
    if not tree.complete:
        return code, []
    for node in walk(tree.root):
        right = node.child_by_field_name("right")
        if right is not None and operator(node) == "=" and right.type in _RESULTS:
            # an object that is assigned what a call returns is written where nothing marks it
            edits.insert(right.start_byte, "regraph_value(")
            edits.insert(right.end_byte, ")")
        body = node.child_by_field_name("body")
        if node.type not in _LOOPS or body is None or len(loops) == most or _is_odd(node):
            continue
        names = tuple(dict.fromkeys(_around(node)))
        begin = f"regraph_loop({len(loops)}, __builtin_frame_address(0));"
        listed = (
            f"regraph_around({n}, &(char &){name}, sizeof {name});" for n, name in enumerate(names)
        )
        edits.insert(
            node.start_byte, f"{{ {begin} {' '.join(listed)} regraph_watch regraph_watch_; "
        )
        own = [*dict.fromkeys(_set_by_head(node))] if node.type == "for_statement" else []
        variable = f"&(char &){own[0]}, sizeof {own[0]}" if len(own) == 1 else "nullptr, 0"
        told = f"regraph_iteration({variable}); regraph_body regraph_body_; "
        edits.insert(body.start_byte, f"{{ {told}")
        edits.insert(node.end_byte, " } }")
        loops.append(WatchedLoop(node.start_byte, names))
    return _DECLARED + edits.applied(code.encode()), loops


def with_comments(code: str, shared: Mapping[int, tuple[str, ...]]) -> str:
    """The text with what iterations share in their loops, by the bytes before each loop."""
    edits = Edits()
    for node in walk(tree_of(code).root):
        body = node.child_by_field_name("body")
        if node.type in _LOOPS and body is not None and node.start_byte in shared:
            told = ", ".join(shared[node.start_byte]) or NOTHING
            edits.insert(body.start_byte, f"/* seen: iterations share {told} */ ")
    return edits.applied(code.encode())


def _is_odd(loop: Node) -> bool:
    """Whether nothing can be written before a loop, or a compiler may run it."""
    before = loop.prev_sibling
    above = next((node for node in around(loop) if node.type == "function_definition"), None)
    by_compiler = above is None or "constexpr" in text(above).partition("{")[0]
    return by_compiler or (before is not None and before.type.startswith("preproc"))


def _around(loop: Node) -> Iterator[str]:
    """The variables that a loop sees in its function and may change."""
    head = {*_set_by_head(loop)}
    inner = loop
    for node in around(loop):
        if node.type == "compound_statement":
            declarations = [it for it in node.named_children if it.end_byte <= inner.start_byte]
        elif node.type in _LOOPS:
            first = (
                node if node.type == "for_range_loop" else node.child_by_field_name("initializer")
            )
            declarations = [first] if first is not None else []
        elif node.type in ("function_definition", "lambda_expression"):
            listed = node.child_by_field_name("declarator")
            while listed is not None and listed.child_by_field_name("parameters") is None:
                listed = listed.child_by_field_name("declarator")
            taken = listed.child_by_field_name("parameters") if listed is not None else None
            declarations = taken.named_children if taken is not None else []
        else:
            declarations = []
        for declaration in declarations:
            yield from (name for name in _declared(declaration) if name not in head)
        if node.type in ("function_definition", "lambda_expression"):
            return
        inner = node


def _set_by_head(loop: Node) -> Iterator[str]:
    """The names of a loop's own variables."""
    first = loop.child_by_field_name("initializer")
    for node in walk(first) if first is not None else ():
        name = text(target(node)) or declared_name(node.child_by_field_name("declarator"))
        yield from [name] if name.isidentifier() else []


def _declared(declaration: Node) -> Iterator[str]:
    """The names of variables that a declaration makes, constants apart."""
    kinds = (
        "declaration",
        "parameter_declaration",
        "optional_parameter_declaration",
        "for_range_loop",
    )
    head = text(declaration)[:200].partition("=")[0]
    if declaration.type not in kinds or (_UNNAMED.search(head) and "*" not in head):
        return
    for declarator in declaration.children_by_field_name("declarator"):
        odd = {"function_declarator", "structured_binding_declarator", "variadic_declarator"}
        names = (
            [declared_name(declarator)] if not odd & {it.type for it in walk(declarator)} else []
        )
        yield from (name for name in names if name.isidentifier())
