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
from regraph_kg.cpp.syntax import around, declared_name, lone, operator, target, text, tree_of, walk

NOTHING, MEMORY, SUMS = "nothing", "memory", "elements that they add to"
_ADDED = "/* seen: iterations add to this */"
_SEEN = re.compile(r"/\* seen: iterations share ([\w, ]+) \*/")
_MOST_SUMS = 62
_LOOPS = ("for_statement", "for_range_loop")
_FRAMES = ("function_definition", "lambda_expression")
_AROUND = {*_LOOPS, "compound_statement", "else_clause"}
_AROUND |= {f"{kind}_statement" for kind in ("if", "while", "do")}
_HIDES = ("labeled_statement", "case_statement", "try_statement")
_DECLARING = {"declaration", "parameter_declaration", "optional_parameter_declaration"}
_DECLARING |= {"for_range_loop"}
_ELSEWHERE = re.compile(r"\b(?:static|extern|constexpr|using|typedef|thread_local)\b")
_PLAIN = (
    *("number_literal", "string_literal", "char_literal", "true", "false", "null", "nullptr"),
    *("initializer_list", "lambda_expression", "assignment_expression"),
)
_UNMARKED = re.compile(
    r"\b(?:alloca|__builtin_alloca|asm|__asm__|_mm\d*_\w+)\b|\bnew\s*\(|#\s*define[^\n]*[^=!<>]=[^=]"
    r"|\boperator\s+(?!new|delete)\w[\w:<>]*\s*\(\s*\)"  # a conversion
)
_OBJECTS = re.compile(r"\b(?:struct|class|complex|pair|tuple)\b")
_BY_LIBRARY = re.compile(
    r"\b(?:transform|generate(?:_n)?|partial_sum|\w+clusive_scan|adjacent_difference)\b"
)
"""Algorithms that write what a function returns."""
_DECLARED = """\
#include <type_traits>
extern "C" {
void regraph_loop(int, const void *);
void regraph_around(int, const volatile void *, unsigned long);
void regraph_iteration(const volatile void *, unsigned long);
void regraph_iterated();
void regraph_left();
void regraph_sums(int, const void *);
void regraph_told(long *);
void *memset(void *, int, unsigned long) noexcept;
void *memcpy(void *, const void *, unsigned long) noexcept;
void *memmove(void *, const void *, unsigned long) noexcept;
}
namespace {
struct regraph_watch { ~regraph_watch() { regraph_left(); } };
struct regraph_body { ~regraph_body() { regraph_iterated(); } };
template <int sign, class T, class V> void regraph_sum(int statement, T &&at, V &&value) {
  using To = std::decay_t<T>;
  using From = std::decay_t<V>;
  constexpr bool whole = std::is_integral<To>() && std::is_integral<From>();
  constexpr bool parts = std::is_floating_point<To>() && std::is_arithmetic<From>();
  constexpr bool numbers = (whole || parts) && sizeof(To) >= 4;  // others have no atomic sums
  if constexpr (numbers) {
    const auto given = value;
    regraph_sums(statement, &at);
    sign > 0 ? at += given : at -= given;
    regraph_sums(0, nullptr);
  } else if constexpr (sign > 0) {
    at += static_cast<V &&>(value);
  } else {
    at -= static_cast<V &&>(value);
  }
}
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


def watched(code: str, most: int) -> tuple[str, list[WatchedLoop], list[int]]:
    """The text that tells of its first loops, these, and the places of statements that add.

    No loops where much would stay unseen.
    """
    tree, edits, loops, sums = tree_of(code), Edits(), list[WatchedLoop](), list[int]()
    if (
        not tree.complete
        or _UNMARKED.search(code)
        or (_OBJECTS.search(code) and _BY_LIBRARY.search(code))
    ):
        return code, [], []
    again, end = set[str](), 0
    for node in walk(tree.root):
        if node.type == "function_definition" and node.start_byte >= end:
            again, end = {*_second_names(node)}, node.end_byte
        right = node.child_by_field_name("right")
        if right is not None and operator(node) == "=" and right.type not in _PLAIN:
            # an object that is assigned what a call returns is written where nothing marks it
            edits.insert(right.start_byte, "regraph_value(")
            edits.insert(right.end_byte, ")")
        if len(sums) < _MOST_SUMS and _sums(node, len(sums), edits):
            sums.append(node.start_byte)
        body = node.child_by_field_name("body")
        if node.type not in _LOOPS or body is None or len(loops) == most:
            continue
        names, own = _around(node), [*dict.fromkeys(_set_by_head(node))]
        if names is None or _is_odd(node, own, again):
            continue
        begin = f"regraph_loop({len(loops)}, __builtin_frame_address(0));"
        listed = (
            f"regraph_around({n}, &(char &){name}, sizeof {name});" for n, name in enumerate(names)
        )
        edits.insert(
            node.start_byte, f"{{ {begin} {' '.join(listed)} regraph_watch regraph_watch_; "
        )
        variable = f"&(char &){own[0]}, sizeof {own[0]}" if len(own) == 1 else "nullptr, 0"
        told = f"regraph_iteration({variable}); regraph_body regraph_body_; "
        edits.insert(body.start_byte, f"{{ {told}")
        edits.insert(node.end_byte, " } }")
        known = tuple(MEMORY if name in again else name for name in names)
        loops.append(WatchedLoop(node.start_byte, known))
    return _DECLARED + edits.applied(code.encode()), loops, sums


def _sums(statement: Node, number: int, edits: Edits) -> bool:
    """Have a statement told that adds to an element or field; whether it is one."""
    change = lone(statement)
    place, sign = (target(change), operator(change)) if change is not None else (None, "")
    if place is None or place.type == "identifier" or sign not in ("+=", "-=", "++", "--"):
        return False
    right = change.child_by_field_name("right") if change is not None else None
    if change is None or (right is not None and right.type == "initializer_list"):
        return False
    if any(it.type in ("update_expression", "assignment_expression") for it in walk(place)):
        return False  # its order counts
    edits.insert(change.start_byte, f"regraph_sum<{sign[0]}1>({number}, ")
    edits.put(next(it for it in change.children if it.type == sign), "," if right else "")
    edits.insert(change.end_byte, ")" if right else ", 1)")
    return True


def with_comments(code: str, shared: Mapping[int, tuple[str, ...]]) -> str:
    """The text with what iterations share, by the bytes before each loop, and before a sum."""
    edits = Edits()
    for node in walk(tree_of(code).root):
        body = node.child_by_field_name("body")
        if node.type in _LOOPS and body is not None and node.start_byte in shared:
            told = ", ".join(shared[node.start_byte]) or NOTHING
            edits.insert(body.start_byte, f"/* seen: iterations share {told} */ ")
        if node.type == "expression_statement" and shared.get(node.start_byte) == (SUMS,):
            edits.insert(node.named_children[0].end_byte, f" {_ADDED}")
    return edits.applied(code.encode())


def with_atomic_sums(code: str, plus: str = "", minus: str = "") -> str:
    """The text with calls of functions for sums that iterations share, or OpenMP's directive."""
    edits = Edits()
    for node in walk(tree_of(code).root) if _ADDED in code else ():
        change = lone(node)
        if change is not None and _ADDED in map(text, node.children):
            right = text(change.child_by_field_name("right")) or "1"
            name = minus if operator(change)[0] == "-" else plus
            if name:
                edits.put(change, f"{name}({text(target(change))}, {right})")
            else:
                edits.insert(node.start_byte, "{\n#pragma omp atomic\n")
                edits.insert(node.end_byte, " }")
    return edits.applied(code.encode()).replace(f", {SUMS}", "").replace(SUMS, NOTHING)


def _is_odd(loop: Node, own: list[str], again: set[str]) -> bool:
    """Whether a loop's frame, or its variable, may be another one than its text says."""
    first = loop.child_by_field_name("initializer")
    declares = loop.type == "for_range_loop" or (first is not None and first.type == "declaration")
    chain = [*around(loop)]
    function = next((it for it in chain if it.type == "function_definition"), None)
    inner = chain[: [it.type in _FRAMES for it in chain].index(True)] if function else []
    odd = any(it.type not in _AROUND or _begins(it) for it in inner)
    before = loop.prev_sibling
    return (
        function is None
        or odd
        or (not declares and (len(own) != 1 or own[0] in again))
        or function.child_by_field_name("type") is None  # a constructor
        or "constexpr" in text(function).partition("{")[0]
        or (before is not None and before.type.startswith("preproc"))
    )


def _begins(node: Node) -> bool:
    """Whether a condition declares something."""
    head = node.child_by_field_name("condition") if node.type != "for_statement" else None
    return head is not None and any(
        word in it.type for it in head.named_children for word in ("declaration", "init")
    )


def _second_names(root: Node) -> Iterator[str]:
    """Names in lambdas, after `&`, and in what references and objects are made of."""
    for node in walk(root):
        if node.type == "function_declarator" and node.parent and node.parent.type == "declaration":
            yield from re.findall(r"\w+", text(node.child_by_field_name("parameters")))  # `T x(a)`
        value = node.child_by_field_name("value")
        refers = node.type == "init_declarator" and (
            node.named_children[0].type == "reference_declarator"
            or (value is not None and value.type in ("argument_list", "initializer_list"))
        )
        address = node.type == "pointer_expression" and operator(node) == "&"
        named = value if refers else node if address or node.type == "lambda_expression" else None
        if named is not None:
            yield from (text(it) for it in walk(named) if it.type == "identifier")


def _around(loop: Node) -> tuple[str, ...] | None:
    """The variables that a loop sees in its function; None where not all are told apart."""
    names, inner, own = list[str](), loop, {*_set_by_head(loop)}
    for node in around(loop):
        declarations = list[Node]()
        if node.type == "compound_statement":
            declarations = [it for it in node.named_children if it.end_byte <= inner.start_byte]
        elif node.type in _LOOPS:
            first = node.child_by_field_name("initializer")
            declarations = [node] if node.type == "for_range_loop" else [first] if first else []
        elif node.type in _FRAMES:
            listed = node.child_by_field_name("declarator")
            while listed is not None and listed.child_by_field_name("parameters") is None:
                listed = listed.child_by_field_name("declarator")
            taken = listed.child_by_field_name("parameters") if listed is not None else None
            declarations = taken.named_children if taken is not None else []
        for it in declarations:
            found = _declared(it)
            if found is None:
                return None
            names += [name for name in found if name not in own]
        if node.type in _FRAMES:
            break
        inner = node
    return tuple(names) if len({*names}) == len(names) else None  # an inner one hides another


def _set_by_head(loop: Node) -> Iterator[str]:
    """The names of a loop's own variables."""
    first = loop.child_by_field_name("initializer")
    for node in walk(first) if first is not None and loop.type == "for_statement" else ():
        name = text(target(node)) or declared_name(node.child_by_field_name("declarator"))
        yield from [name] if name.isidentifier() else []


def _declared(statement: Node) -> list[str] | None:
    """The variables of the frame that a statement declares; None where that is not clear."""
    if statement.type.startswith("preproc") or statement.type in _HIDES:
        return None
    head = text(statement)[:200].partition("=")[0]
    if statement.type not in _DECLARING or _ELSEWHERE.search(head):
        return []
    names = list[str]()
    for declarator in statement.children_by_field_name("declarator"):
        kinds = {it.type for it in walk(declarator)}
        name = declared_name(declarator)
        if "structured_binding_declarator" in kinds or (name and not name.isidentifier()):
            return None
        names += [name] if name else []
    return names
