"""The text that a function needs of its file, without the definitions that it does not reach.

A definition is reached by its name, so a slice holds too much rather than too little. Headers in
quotes replace their `#include` lines if they lie in the file's folder. Other `#include` lines stay:
a stranger's file may name any file, and its text must not be passed on.
Not covered: names that only macros make.
"""

import codecs
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tree_sitter import Node

from regraph_kg.cpp.functions import CodeFile, Function, functions
from regraph_kg.cpp.syntax import walk
from regraph_kg.errors import BadInput

_ITEMS = {
    *("function_definition", "declaration", "template_declaration", "template_instantiation"),
    *("class_specifier", "struct_specifier", "union_specifier", "enum_specifier"),
    *("alias_declaration", "type_definition", "preproc_def", "preproc_function_def"),
    "expression_statement",
}
_BLOCKS = {
    *("translation_unit", "namespace_definition", "declaration_list", "linkage_specification"),
    *("preproc_ifdef", "preproc_if", "preproc_else", "preproc_elif"),
}
_NAMES = {"identifier", "type_identifier", "field_identifier", "namespace_identifier"}
_NAMED = {*_NAMES, "qualified_identifier", "operator_name"}
_INCLUDE = re.compile(rb'(?m)^[ \t]*#[ \t]*include[ \t]*([<"])([^">\n]+)[">].*$')
_OPENMP = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]omp\.h[>\"].*$", re.MULTILINE)
_MOST_BYTES = 2**20
_MOST_HEADERS = 100


class Slice(NamedTuple):
    """The text, the functions in it that are reached, and its items' places in the file."""

    text: str
    reached: list[Function]
    spans: list[tuple[int, int]]


def file_parts(source: CodeFile) -> list[tuple[bytes, bytes, bytes]]:
    """A file in parts: its own, the `#include` line that ends it, and what that puts there.

    Put in are headers of its folder and of those that its build names; first what this defines.
    """
    told = source.build
    parts = _parts_of(source.bare, [source.place], [folder.resolve() for folder in told.folders])
    return [(b"", b"", told.lines), *parts] if told.lines else parts


def _parts_of(
    content: bytes, places: list[Path], folders: Sequence[Path]
) -> list[tuple[bytes, bytes, bytes]]:
    """The last of `places` is the text's file, the first one the user's; each is put in once."""
    parts, path, end = list[tuple[bytes, bytes, bytes]](), places[-1], 0
    for found in _INCLUDE.finditer(content):
        beside, header = [path.parent] if found[1] == b'"' else [], b""
        tried = [(folder / found[2].decode()).resolve() for folder in (*beside, *folders)]
        near = [p for p in tried for f in (places[0].parent, *folders) if p.is_relative_to(f)]
        own = next((one for one in near if one.is_file()), None)
        if own is None or len(places) > _MOST_HEADERS:
            continue
        if own not in places:
            places.append(own)
            text = own.read_bytes().removeprefix(codecs.BOM_UTF8)
            text = re.sub(rb"(?m)^[ \t]*#[ \t]*pragma[ \t]+once.*$", b"", text)
            header = b"".join(mine + put for mine, _, put in _parts_of(text, places, folders))
        parts.append((content[end : found.start()], found[0], header))
        end = found.end()
    return [*parts, (content[end:], b"", b"")]


def whole_text(source: CodeFile) -> bytes:
    """The file's bytes with the headers in its folder in their places."""
    return b"".join(own + header for own, _, header in file_parts(source))


def sliced(function: Function) -> Slice:
    """The part of its file that a function needs, itself included."""
    source = function.source
    items = _items(source.tree.root_node)
    keeps = _reached(source, items, function)
    text = _serial(_without(source, [item for item in items if item.id not in keeps]))
    if len(text.encode()) > _MOST_BYTES:
        raise BadInput(f"{source.path}: what {function.qualified} needs is longer than 1 MiB")
    spans = [(item.start_byte, item.end_byte) for item in items if item.id in keeps]
    inside = [
        f
        for f in functions(source)
        if any(start <= f.node.start_byte and f.node.end_byte <= end for start, end in spans)
    ]
    return Slice(text, inside, spans)


def _serial(text: str) -> str:
    """With a meaning for calls of OpenMP's library where nothing else gives them one."""
    lines = []
    for name in sorted(set(re.findall(r"\b(omp_[a-z]\w*)[ \t]*\(", text))):
        value = "1" if re.search("num_threads|max_threads|num_procs|limit|num_teams", name) else "0"
        value = "((void)0)" if re.match("omp_(un)?set_|omp_(init|destroy)_", name) else value
        lines.append(f"#define {name}(...) {value}")
    stands = "\n".join(("", "#ifndef _OPENMP", *lines, "#endif"))
    return _OPENMP.sub(lambda found: found[0] + stands, text, count=1) if lines else text


def _items(node: Node) -> list[Node]:
    """Definitions that may be left out, outermost first, in order."""
    items = []
    for child in node.named_children:
        if child.type in _BLOCKS:
            items += _items(child)
        elif child.type in _ITEMS:
            items.append(child)
    return items


def _reached(source: CodeFile, items: list[Node], function: Function) -> set[int]:
    """Ids of the items that `function` reaches by the names in them."""
    defines: dict[str, list[Node]] = {}
    for item in items:
        for name in _defined(source, item):
            defines.setdefault(name, []).append(item)
    waiting = [i for i in items if i.start_byte <= function.node.start_byte < i.end_byte]
    reached = {item.id for item in waiting}
    while waiting:
        item = waiting.pop()
        # a macro may be called as a word of the language, as `restrict`
        names = {source.text(node) for node in walk(item) if not node.child_count}
        if item.type.startswith("preproc_"):
            names = set(re.findall(r"[A-Za-z_]\w*", source.text(item)))
        for other in (other for name in names for other in defines.get(name, [])):
            if other.id not in reached:
                reached.add(other.id)
                waiting.append(other)
    return reached


def _defined(source: CodeFile, item: Node) -> Iterator[str]:
    """Names that an item defines; for a member defined outside its class, the class's name too."""
    if item.type == "template_declaration":
        for child in item.named_children:
            if child.type in _ITEMS:
                yield from _defined(source, child)
        return
    name = item.child_by_field_name("name")
    if name is not None:
        yield source.text(name).split("<")[0]
    if item.type == "enum_specifier":
        yield from (source.text(n) for n in walk(item) if n.type == "identifier")
    kind = item.child_by_field_name("type")
    if kind is not None and kind.child_by_field_name("body") is not None:
        yield from _defined(source, kind)
    for declarator in item.children_by_field_name("declarator"):
        named = _named(declarator)
        if named is not None:
            inside = [n for n in walk(named) if n.type in _NAMES]
            if named.type == "operator_name":  # reached with the types that it takes
                inside = [n for n in walk(declarator) if n.type == "type_identifier"]
            yield from (source.text(n) for n in inside or [named])


def _named(declarator: Node) -> Node | None:
    """The node of the name in a declarator; `a::b::f` is one node."""
    node: Node | None = declarator
    while node is not None and node.type not in _NAMED:
        inner = node.child_by_field_name("declarator")
        kinds = ("declarator", "identifier") if node.type != "template_function" else ()
        named = [child for child in node.named_children if child.type.endswith(kinds)]
        node = inner or next(iter(named), None)
    return node


def _without(source: CodeFile, dropped: list[Node]) -> str:
    """The file's text without some items, the comments before them and empty lines in a row."""
    content, start, parts = source.content, 0, list[bytes]()
    for item in dropped:
        first = item
        while (before := first.prev_named_sibling) is not None and before.type == "comment":
            if content[before.end_byte : first.start_byte].count(b"\n") != 1:
                break
            first = before
        end = item.end_byte
        if content[end : end + 1] == b";":
            end += 1
        parts.append(content[start : max(start, first.start_byte)])
        start = max(start, end)
    text = b"".join((*parts, content[start:])).decode().replace("\r\n", "\n")
    text = re.sub(r"namespace[ \w:]*\{\s*\}(?:\s*//[^\n]*)?", "", text)
    return re.sub(r"\n(?:[ \t]*\n){2,}", "\n\n", text).strip() + "\n"
