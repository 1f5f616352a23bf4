"""Serial code in a plain form that means the same, so that loops have few spellings for a port.

Not here: macros, which are written out before (cpp/macros.py).
"""

import re
from functools import partial

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.facts import facts_of
from regraph_kg.cpp.macros import filled, with_macros
from regraph_kg.cpp.plain import counted, with_own_variables
from regraph_kg.cpp.syntax import parse
from regraph_kg.port.grown import with_lengths, with_rows
from regraph_kg.port.names import is_integer
from regraph_kg.port.scratch import with_own_arrays

_WORD = re.compile(r"[A-Za-z_]\w*")
_INDEX = re.compile(  # a function or a lambda that returns a sum of products, or an element
    r"\b(?:(?:const )?auto |(?:static |inline |constexpr )*(?P<kind>\w[\w: ]*?) )(?P<name>\w+)"
    r"(?: = \[[=&\w, ]*\] ?)?\((?P<taken>[\w:,\s]+)\)(?: const| noexcept)*(?: ?-> ?[\w: ]+&?)?"
    r"\s*\{\s*return (?P<value>[\w\s+*/()\[\]-]+);\s*\};?"
)


def plain(code: str) -> str:
    """The code in its plain form."""
    code = with_rows(_with_indices(code))
    for step in (counted, with_lengths, with_own_variables, with_own_arrays):
        facts, edits = facts_of(code), Edits()
        if facts.read_whole:
            step(parse(code.encode()).root_node, facts, edits)
            code = edits.applied(code.encode())
    return code


def _with_indices(code: str) -> str:
    """The text with what functions and lambdas compute in place of their calls, if an index."""
    for match in [*_INDEX.finditer(code)]:
        name, kind, value = match["name"], match["kind"], match["value"]
        pairs = [part.strip().rpartition(" ")[::2] for part in match["taken"].split(",")]
        rest = code.replace(match[0], "", 1)
        said = re.sub(r"//[^\n]*|/\*.*?\*/", "", rest, flags=re.DOTALL)
        uses = re.findall(rf"(return|[\w.]|->|::)?\s*\b{name}\b *(\(?)", said)
        calls = all(before in ("", "return") and bracket for before, bracket in uses)
        calls = calls and not re.search(rf"\b{name}\([^;]*(?:\+\+|--)", rest)
        own = {*_WORD.findall(value)} - {word for _, word in pairs}
        fixed = kind or not any(re.search(rf"\b{w}\s*(?:[-+*/]?=[^=]|\+\+|--)", rest) for w in own)
        whole = all(map(is_integer, [kind or "int", *(kind for kind, _ in pairs)]))
        if whole and fixed and calls:
            casts = {word: f"({kind.removeprefix('std::')})({word})" for kind, word in pairs}
            body = _WORD.sub(partial(filled, casts), value.strip())
            body = body if re.fullmatch(r"\w+\[[^\[\]]*\]", value.strip()) else f"({body})"
            code = with_macros(rest, {name: (tuple(casts), body)})
    return code
