"""Mends of the places of functions: twice in a file, inside another one, behind their first use.

Each mend returns the code and a note of the change, or None for no change. Doubtful cases are left
to the compiler.
"""

import re
from collections.abc import Iterator

from tree_sitter import Node

from regraph_kg.search.code.syntax import called, declared_name, text, walk
from regraph_kg.search.code.tokens import normalized
from regraph_kg.search.mends.source import (
    DefinedFunction,
    ParsedCode,
    declarator_of,
    signature_of,
    words_of,
)

Mended = tuple[str, str]
"""The code, and a note of the change."""
NAMES = 100
"""Most characters of names in a note."""
_DEVICE = frozenset({"__global__", "__device__"})
_OF_THEIR_OWN = frozenset(
    {"class_specifier", "struct_specifier", "union_specifier", "lambda_expression"}
)
"""Nodes whose functions are no part of the function around them."""
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*")
_BRANCHES = re.compile(r"^[ \t]*#[ \t]*(?:define|if|el)", re.MULTILINE)


def defined_once(source: ParsedCode) -> Mended | None:
    """Remove repeated definitions with the same tokens."""
    keys: set[tuple[int, str]] = set()
    repeats: list[DefinedFunction] = []
    for function in source.functions:
        around = function.outer.parent
        key = 0 if around is None else around.id, normalized(source.text_of(function.outer))
        repeats += [function] if key in keys else []
        keys.add(key)
    if not repeats:
        return None
    names = ", ".join(dict.fromkeys(f.name for f in repeats))
    code = source.edited([(source.begin_of(f.outer), f.outer.end_byte, "") for f in repeats])
    return code, f"left out what defines {names[:NAMES]} again in the same words"


def closed_once(source: ParsedCode) -> Mended | None:
    """Remove a brace that closes nothing, which remains where a model removes a loop.

    Not where a branch of the preprocessor may hold the opening brace.
    """
    if _BRANCHES.search(source.code):
        return None
    stray = [
        child for child in source.root.children if child.type == "ERROR" and text(child) == "}"
    ]
    if not stray:
        return None
    code = source.edited([(brace.start_byte, brace.end_byte, "") for brace in stray])
    return code, "left out a brace that closes nothing"


def missing_names(ours: ParsedCode, theirs: ParsedCode) -> list[str]:
    """Functions and macros that `ours` uses and `theirs` defines; none if both share a function."""
    defined = {function.name for function in ours.functions}
    functions = {function.name for function in theirs.functions}
    if defined & functions:
        return []
    calls = {called(node) for node in walk(ours.root) if node.type == "call_expression"}
    macros = {name for name in theirs.macros - ours.macros if ours.named(name)}
    return sorted(functions & calls | macros)


def moved_outside(source: ParsedCode) -> Mended | None:
    """Move a kernel out of the function that it is defined in."""
    for around in source.functions:
        inner = next(_inside(source, around), None)
        if inner is None:
            continue
        name = declared_name(declarator_of(inner))
        if source.defining(name):
            return None
        begin, first = source.begin_of(around.top), source.begin_of(inner)
        code = source.edited(
            [(begin, begin, f"{source.text_of(inner)}\n\n"), (first, inner.end_byte, "")]
        )
        return code, f"{name} moved out of {around.name}"
    return None


def _inside(source: ParsedCode, function: DefinedFunction) -> Iterator[Node]:
    """Sound definitions of device code in a function's body, the outermost first."""
    waiting = function.node.children[::-1]
    while waiting:
        node = waiting.pop()
        waiting += reversed(node.children) if node.type not in _OF_THEIR_OWN else ()
        sound = node.type == "function_definition" and not node.has_error
        if sound and words_of(node) & _DEVICE and signature_of(source, node) is not None:
            yield node


def declared_first(source: ParsedCode) -> Mended | None:
    """Declare a function that is called before its definition."""
    for function in source.functions:
        user = _first_user(source, function)
        if user is None:
            continue
        body = function.node.child_by_field_name("body")
        begin, first = source.begin_of(user.top), source.begin_of(function.outer)
        head = source.between(first, body.start_byte if body is not None else 0)
        head = _COMMENT.sub(" ", head)
        doubtful = "=" in head or "auto" in function.words or "\n#" in head
        if doubtful or function.outer != function.top or user.top == function.top:
            continue
        if _named_between(source, head, begin, first):
            continue
        code = source.edited([(begin, begin, f"{head.strip()};\n\n")])
        return code, f"{function.name} declared before its first call"
    return None


def _named_between(source: ParsedCode, head: str, first: int, last: int) -> bool:
    """Whether a name in a head, such as a type, stands between two places outside functions."""
    return any(
        first <= place < last
        for word in _WORD.findall(head)
        for place in source.beside_functions.get(word, ())
    )


def _first_user(source: ParsedCode, function: DefinedFunction) -> DefinedFunction | None:
    """The first function before this one that calls it, where nothing else has its name."""
    name = function.name
    if len(source.defining(name)) > 1:
        return None
    places = source.named(name)
    before = [place for place in places if place.start_byte < function.node.start_byte]
    if not before or not all(_is_called(place, name) for place in before):
        return None
    return source.function_at(before[0].start_byte)


def _is_called(name_node: Node, name: str) -> bool:
    """Whether an identifier is the callee of a call, without namespace or class."""
    node = name_node.parent
    if node is not None and node.type == "template_function":
        node = node.parent
    if node is None or node.type != "call_expression":
        return False
    function = node.child_by_field_name("function")
    inside = function is not None and function.start_byte <= name_node.start_byte
    return inside and name_node.start_byte == node.start_byte and called(node) == name
