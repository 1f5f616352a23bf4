"""A text with its own macros written out, so that what they read and change can be seen.

Macros for a number or a type stay, as they read better. Not covered: macros of headers; those that
are defined in two ways, paste names or take any number of arguments stay, and are named.
"""

import re
from functools import partial

from tree_sitter import Node

from regraph_kg.cpp.syntax import parse, text, walk

_MOST = 500_000
_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
    r"""|^[ \t]*\#(?:\\\r?\n|[^\n])*|[A-Za-z_]\w*|\.?\d[\w.']*""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
DEFINES = frozenset({"preproc_def", "preproc_function_def"})
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\\\r?\n", re.DOTALL)
_WORD = re.compile(r"\b[A-Za-z_]\w*")
_OPENING = re.compile(r"\s*\(")
TYPE = re.compile(r"(?:\b(?:const|unsigned|long|short|int|char|float|double|(?:std::)?\w+_t)\b ?)*")
_ODD = re.compile(r"\.\.\.|#")  # any number of arguments, pasted names
Macro = tuple[tuple[str, ...] | None, str]
"""Its parameters, or None where it takes no brackets, and its body."""


def definitions(root: Node) -> dict[str, set[Macro | None]]:
    """What each macro of a text is defined as; None: undone, pasted, or of any arguments."""
    found: dict[str, set[Macro | None]] = {}
    for node in walk(root):
        if node.type == "preproc_call" and text(node).lstrip("# \t").startswith("undef"):
            found.setdefault(text(node).split()[-1], set()).add(None)
        if node.type not in DEFINES:
            continue
        listed = node.child_by_field_name("parameters")
        body = _COMMENT.sub(" ", text(node.child_by_field_name("value"))).strip()
        taken = tuple(map(text, listed.named_children)) if listed is not None else None
        made = None if _ODD.search(text(node)[1:]) else (taken, body)
        found.setdefault(text(node.child_by_field_name("name")), set()).add(made)
    return found


def written_out(code: str) -> tuple[str, frozenset[str]]:
    """The text without uses of its macros, and the macros that are used and could not be."""
    known = definitions(parse(code.encode()).root_node)
    plain = {name for name, found in known.items() if all(map(_is_type, found))}
    macros = {name: one for name, found in known.items() for one in found if one and {one} == found}
    unclear = known.keys() - macros.keys() - plain
    for name, (taken, body) in macros.items():  # numbers, and what is made of those before
        plain |= {name} if taken is None and words_in(body) <= plain else set()
    used = {name: macro for name, macro in macros.items() if name not in plain}
    made = with_macros(code, used)
    return made, frozenset({match[0] for match in _TOKEN.finditer(made)} & unclear)


def words_in(body: str) -> set[str]:
    """The names in a macro's body."""
    return {*_WORD.findall(re.sub(r"\.?\d[\w.']*", "0", body))}


def _is_type(macro: Macro | None) -> bool:
    return macro is not None and macro[0] is None and bool(TYPE.fullmatch(macro[1]))


def with_macros(code: str, macros: dict[str, Macro]) -> str:
    """The text with these macros written out."""
    return _written(code, macros, [_MOST])


def _written(code: str, macros: dict[str, Macro], room: list[int]) -> str:
    """The text with these macros written out, while there is room."""
    parts, at = list[str](), 0
    while match := _TOKEN.search(code, at):
        parts.append(code[at : match.start()])
        at, (names, body) = match.end(), macros.get(match[0], (None, ""))
        values, end = _given(code, at) if names is not None else ([], at)
        if match[0] not in macros or len(values) != len(names or ()) or room[0] <= 0:
            parts.append(match[0])
            continue
        given = dict(zip(names or (), [_written(v, macros, room) for v in values], strict=True))
        body = _TOKEN.sub(partial(filled, given), body)  # all at once: a value may hold a name
        room[0] -= len(body)
        others = {name: other for name, other in macros.items() if name != match[0]}
        parts.append(_written(body, others, room))
        at = end
    return "".join((*parts, code[at:]))


def filled(given: dict[str, str], token: re.Match[str]) -> str:
    """A name's value, or what else stands there."""
    return given.get(token[0], token[0])


def _given(code: str, at: int) -> tuple[list[str], int]:
    """The arguments in brackets behind an offset, and where they end; none where there are none."""
    opening, parts, depth = _OPENING.match(code, at), [""], 0
    for place in range(opening.end() - 1, len(code)) if opening is not None else ():
        letter = code[place]
        depth += (letter in "([{") - (letter in ")]}")
        if not depth:
            return [part.strip() for part in parts if part.strip()], place + 1
        if depth == 1 and letter == ",":
            parts.append("")
        elif depth > 1 or letter != "(":
            parts[-1] += letter
    return [], at
