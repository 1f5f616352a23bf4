"""A text with its own macros written out, so that what they read and change can be seen.

Macros that stand for a number alone stay, as they read better. Not covered: macros of headers;
those that are defined in two ways, paste names or take any number of arguments stay, and are named.
"""

import re
from dataclasses import dataclass

from regraph_kg.cpp.syntax import parse, text, walk

_MOST = 500_000
_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
    r"""|^[ \t]*\#(?:\\\r?\n|[^\n])*|[A-Za-z_]\w*|\.?\d[\w.']*""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\\\r?\n", re.DOTALL)
_OPENING = re.compile(r"\s*\(")
_WORD = re.compile(r"\b[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class _Macro:
    parameters: tuple[str, ...] | None  # None: it takes no brackets
    body: str


def written_out(code: str) -> tuple[str, frozenset[str]]:
    """The text without uses of its macros, and the macros that are used and could not be."""
    macros, unclear = _macros(code)
    if not macros and not unclear:
        return code, frozenset()
    numbers = {name for name, macro in macros.items() if _is_number(macro, macros)}
    made = _written(code, {n: m for n, m in macros.items() if n not in numbers}, [_MOST])
    used = {match[0] for match in _TOKEN.finditer(made)}
    return made, frozenset(used & unclear)


def _macros(code: str) -> tuple[dict[str, _Macro], set[str]]:
    """Macros by their names, and the names of those that cannot be written out."""
    macros, unclear = dict[str, _Macro](), set[str]()
    for node in walk(parse(code.encode()).root_node):
        if node.type == "preproc_call" and text(node).lstrip("# \t").startswith("undef"):
            unclear |= {*text(node).split()[1:2]}
        if node.type not in ("preproc_def", "preproc_function_def"):
            continue
        name, listed = node.child_by_field_name("name"), node.child_by_field_name("parameters")
        body = _COMMENT.sub(" ", text(node.child_by_field_name("value"))).strip()
        names = tuple(map(text, listed.named_children)) if listed is not None else None
        macro = _Macro(names, body)
        known = macros.setdefault(text(name), macro)
        if known != macro or "#" in body or (listed is not None and "..." in text(listed)):
            unclear.add(text(name))
    types = {name for name in unclear if name in macros and _is_type(macros[name].body)}
    return {n: m for n, m in macros.items() if n not in unclear and m.body}, unclear - types


def _is_number(macro: _Macro, macros: dict[str, _Macro]) -> bool:
    """Whether a macro stands for a value of literals and other such macros."""
    words = _WORD.findall(re.sub(r"\.?\d[\w.']*", "0", macro.body))
    return (macro.parameters is None and not words) or (
        macro.parameters is None
        and all(word in macros and _is_number(macros[word], {}) for word in words)
    )


def _is_type(body: str) -> bool:
    return bool(re.fullmatch(r"(?:const |unsigned |long |std::)*\w*", body))


def _written(code: str, macros: dict[str, _Macro], room: list[int]) -> str:
    """The text with these macros written out, while there is room."""
    parts, at = list[str](), 0
    while match := _TOKEN.search(code, at):
        parts.append(code[at : match.start()])
        at, macro = match.end(), macros.get(match[0])
        values, end = _given(code, at) if macro and macro.parameters is not None else ([], at)
        fits = macro is not None and len(values) == len(macro.parameters or ())
        if macro is None or not fits or room[0] <= 0:
            parts.append(match[0])
            continue
        values = [_written(value, macros, room) for value in values]
        names = dict(zip(macro.parameters or (), values, strict=True))
        body = _named(macro.body, names)
        room[0] -= len(body)
        others = {name: other for name, other in macros.items() if name != match[0]}
        parts.append(_written(body, others, room))
        at = end
    return "".join((*parts, code[at:]))


def _named(body: str, values: dict[str, str]) -> str:
    return _WORD.sub(lambda word: values.get(word[0], word[0]), body)


def _given(code: str, at: int) -> tuple[list[str], int]:
    """The arguments in brackets behind an offset, and where they end; none where there are none."""
    opening, parts, depth = _OPENING.match(code, at), [""], 0
    if opening is None:
        return [], at
    for letter in code[opening.end() - 1 :]:
        depth += (letter in "([{") - (letter in ")]}")
        at += 1
        if not depth:
            return [part.strip() for part in parts if part.strip()], at + len(opening[0]) - 1
        if depth == 1 and letter == ",":
            parts.append("")
        elif depth > 1 or letter != "(":
            parts[-1] += letter
    return [], at
