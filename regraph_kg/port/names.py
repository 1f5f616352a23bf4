"""Names of the standard library in device code: kept, renamed, or refused.

Not covered: names that `using namespace std` brings; the compiler refuses what does not run there.
"""

import itertools
import re
from collections.abc import Collection
from pathlib import Path

from tree_sitter import Node

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.functions import CodeFile
from regraph_kg.cpp.syntax import walk
from regraph_kg.evaluation.problem.rewrite import LIBM

# algorithms.cuh defines the library's algorithms for the device: behind each line `//: NAME`
# stands what NAME needs.
_, *_PARTS = re.split(
    r"^//: (\w+)\n", Path(__file__).with_name("algorithms.cuh").read_text("utf-8"), flags=re.M
)
ALGORITHMS = {
    name: f"{text.strip()}\n" for name, text in zip(_PARTS[::2], _PARTS[1::2], strict=True)
}
_MATHS = {*LIBM, "abs", "isnan", "isinf", "isfinite", "signbit"} - {"frexp", "modf", "nextafter"}
_TYPES = (
    "size_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t"
    " uintptr_t"
)
BY_VALUE = frozenset({*_MATHS, "min", "max", "std_min", "std_max", "std_clamp", "clamp"})
"""Functions that write none of their arguments."""
_OF_TYPES = BY_VALUE | {"array", "less", "greater"}
_AS_IT_IS = frozenset({*_MATHS, *_TYPES.split()})
RENAMED = frozenset({"memcpy", "memset"})
"""Functions that the device has outside of std; they change what their pointers point to."""
NUMBERS = frozenset(f"{_TYPES} auto bool char double float int long short signed unsigned".split())
"""Words of arithmetic types, and `auto`."""
_OF_CUDA = re.compile(
    r"u?(?:char|short|int|long|longlong)[1-4]|(?:float|double)[1-4]|dim3|u?(?:ll)?(?:min|max)"
    r"|(?:rsqrt|rcbrt|sincos|sinpi|cospi|exp10|rhypot|erfinv|erfcinv|erfcx|normcdf|fdivide)f?"
    r"|mul24|mulhi|[jy][01n]"
)
_DEFINED = {("identifier", "function_declarator"), ("type_identifier", "struct_specifier")}
"""A node that is the name in a declaration of a function or struct, and the node around it."""
_REFUSED_NODES = {
    "new_expression": "new: it allocates",
    "delete_expression": "delete: it frees",
    "throw_statement": "throw: a GPU has no exceptions",
    "try_statement": "try: a GPU has no exceptions",
    "raw_string_literal": "a raw string: its lines may change",
    "asm_declaration": "asm: it is of another machine",
    "gnu_asm_expression": "asm: it is of another machine",
}
_REFUSED_NAMES = {
    **dict.fromkeys(("malloc", "calloc", "realloc", "free", "alloca"), "it allocates or frees"),
    **dict.fromkeys(("qsort", "bsearch", "qsort_r"), "a GPU does not have it"),
    **dict.fromkeys(("rand", "srand", "abort", "exit", "getenv"), "a GPU does not have it"),
    "_Float16": "a GPU has another type",
}
_HELPERS = re.compile(r"\b(\w+_by_cub|combine(?=<))")


class UnportableError(Exception):
    """Serial code cannot be ported; the error's text is the reason, in one line."""


def fresh(name: str, taken: Collection[str]) -> str:
    """A name for the port, with a number behind it where the code has the name."""
    numbered = (f"{name}_{number}" for number in itertools.count(2))
    return next(option for option in itertools.chain((name,), numbered) if option not in taken)


def helpers(code: str) -> list[str]:
    """The texts of the port's own functions that a code uses, those that others use first."""
    used, found = {*_HELPERS.findall(code)}, list[str]()
    for name, text in reversed(ALGORITHMS.items()):
        if name in used:
            found.insert(0, text.strip())
            used |= {*_HELPERS.findall(text)}
    return found


def is_number(kind: str) -> bool:
    """Whether a type is arithmetic, or `auto`."""
    return set(re.findall(r"\w+", kind)) - {"const", "constexpr", "std"} <= NUMBERS


def is_integer(kind: str) -> bool:
    """Whether a type is an integer type."""
    return is_number(kind) and not re.search(r"\b(?:auto|float|double|bool)\b|[&*]", kind)


def rename(source: CodeFile, node: Node, edits: Edits) -> set[str]:
    """Rename the library's names; the algorithms that it uses. Raises `UnportableError`."""
    used, written = set[str](), bytearray(len(source.content))
    for first, last, _ in edits.replacements:
        written[first:last] = b"x" * (last - first)
    for inner in walk(node):
        if inner.type in _REFUSED_NODES:
            raise UnportableError(_REFUSED_NODES[inner.type])
        text = source.text(inner) if inner.type in ("identifier", "primitive_type") else ""
        is_field = inner.parent is not None and inner.parent.type == "field_expression"
        if text in _REFUSED_NAMES and not is_field:
            raise UnportableError(f"{text}: {_REFUSED_NAMES[text]}")
        if inner.type in ("sized_type_specifier", "primitive_type") and "long double" in (
            source.text(inner)
        ):
            raise UnportableError("long double: a GPU has no such type")
        is_defined = (inner.type, inner.parent and inner.parent.type) in _DEFINED
        is_new = is_defined and not written[inner.start_byte]
        if is_new and _OF_CUDA.fullmatch(source.text(inner)):
            raise UnportableError(f"{source.text(inner)}: CUDA has something of that name")
        if inner.type == "qualified_identifier" and not written[inner.start_byte]:
            used |= _qualified(source, inner, edits)
    return used


def _qualified(source: CodeFile, node: Node, edits: Edits) -> set[str]:
    """Rename one `std::` name; returns the algorithm that it is, if any."""
    text = source.text(node)
    if not text.startswith("std::") or source.content.endswith(b"cuda::", 0, node.start_byte):
        return set()
    unqualified = text.removeprefix("std::")
    name = re.split(r"[<:\s]", unqualified)[0]
    if node.parent and node.parent.type == "using_declaration" and name == "vector":
        edits.put(node.parent, "")
        return set()
    if node.parent and node.parent.type == "using_declaration" and name not in _AS_IT_IS:
        raise UnportableError(f"{source.text(node.parent)} hides which names are of std")
    if name in ALGORITHMS and (unqualified == name or name in _OF_TYPES):
        edits.put(node, f"std_{unqualified}")
        given = node.next_named_sibling
        pair = given is not None and given.named_child_count == 2  # noqa: PLR2004
        return {name} if pair or name not in ("max", "min") else {name, f"{name}_any"}
    if name in RENAMED:
        edits.put(node, name)
    elif name == "numeric_limits":
        edits.put(node, f"cuda::{text}")
    elif name not in _AS_IT_IS:
        raise UnportableError(f"std::{name} does not run on a GPU")
    return set()
