"""A C++ file as a tree (tree-sitter), and the functions in it, by the names people give them.

Nothing is compiled here and no header is read: a file with missing headers has a tree, too
(docs/dev/decisions/0024-tree-sitter-reads-functions.md).
Not covered: functions that macros make.
"""

import codecs
import os
import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from tree_sitter import Node, Tree

from regraph_kg import regular
from regraph_kg.cpp import syntax
from regraph_kg.cpp.syntax import around, declared_name, inside_of, parse, walk, without_markers
from regraph_kg.errors import BadInput, file_errors

MOST_BYTES = 16 * 2**20
_SCOPES = {"namespace_definition", "class_specifier", "struct_specifier"}
CLASSES = {"class_specifier", "struct_specifier", "union_specifier"}
_SPACE = re.compile(r"\s*([^\w\s])\s*|\s+")


@dataclass(frozen=True, slots=True)
class Build:
    """What a compiler is told of a file: folders of headers, and lines before its first one."""

    folders: tuple[Path, ...] = ()
    lines: bytes = b""


@dataclass(frozen=True)
class CodeFile:
    """A file's bytes and their tree."""

    path: Path
    content: bytes  # the text, with spaces for markers that keep the parser from a head
    tree: Tree
    original: bytes
    added: int = 0  # lines of headers that stand before its own
    build: Build = Build()

    def line(self, node: Node) -> int:
        """The line of the file where a node begins, from 1."""
        return max(1, node.start_point.row + 1 - self.added)

    def text(self, node: Node) -> str:
        """The node's text."""
        return self.content[node.start_byte : node.end_byte].decode()

    @cached_property
    def outline(self) -> list[Node]:
        """The nodes outside of the bodies of functions, in text order."""
        found, waiting = list[Node](), [self.tree.root_node]
        while waiting:
            node = waiting.pop()
            found.append(node)
            body = node.child_by_field_name("body") if node.type == "function_definition" else None
            waiting += [child for child in reversed(node.children) if child != body]
        return found

    @property
    def begin(self) -> int:
        """The first byte behind a byte order mark."""
        return len(codecs.BOM_UTF8) * self.original.startswith(codecs.BOM_UTF8)

    @property
    def place(self) -> Path:
        """The file's path, links in its name not followed: its headers lie beside that name."""
        return self.path.parent.resolve() / self.path.name

    @property
    def bare(self) -> bytes:
        """The file's bytes with spaces for a byte order mark."""
        return b" " * self.begin + self.original[self.begin :]


class Function(NamedTuple):
    """A function that a file defines."""

    source: CodeFile
    name: str
    scope: tuple[str, ...]  # namespaces and classes around it
    node: Node
    declarator: Node  # its name and parameters
    body: Node
    outer: Node  # the definition, with `template <...>` if it has one

    @property
    def qualified(self) -> str:
        """The name with its scope: `image::blur`."""
        return "::".join((*self.scope, self.name))

    @property
    def line(self) -> int:
        """The line where it begins, from 1."""
        return self.source.line(self.node)

    @property
    def parameters(self) -> list[Node]:
        """Declarations of its parameters."""
        listed = self.declarator.child_by_field_name("parameters")
        kinds = ("parameter_declaration", "optional_parameter_declaration")
        return [node for node in listed.named_children if node.type in kinds] if listed else []

    def default(self, name: str) -> str:
        """A parameter's default argument, as it is written; "" where it has none."""
        for parameter in self.parameters:
            value = parameter.child_by_field_name("default_value")
            if value is not None and declared_name(parameter) == name:
                return self.source.text(value)
        return ""

    @property
    def templates(self) -> list[str]:
        """Names of its template's parameters."""
        listed = self.outer.child_by_field_name("parameters")
        if self.outer.type != "template_declaration" or listed is None:
            return []
        return [
            self.source.text(names[-1])
            for node in listed.named_children
            if (names := names_of(node))
        ]

    @property
    def method_of(self) -> Node | None:
        """The class whose member it is."""
        return inside_of(self.node, CLASSES)

    @property
    def types(self) -> tuple[str, ...]:
        """The types of its parameters."""
        return tuple(parameter_type(parameter) for parameter in self.parameters)

    def shown(self) -> str:
        """The name that `--function` accepts: `blur(const float*, int)`."""
        return f"{self.qualified}({', '.join(self.types)})"


class FunctionQuery(NamedTuple):
    """A value of `--function`: `image::blur<float>(const float*, int)`, or a part of it."""

    name: str
    instance: tuple[str, ...]
    types: tuple[str, ...] | None


def read(path: Path, build: Build = Build()) -> CodeFile:
    """Parse a file. Raises `BadInput` for one that is no C++ text."""
    with file_errors(path, "give a C++ source file"):  # `resolve` fails in a ring of links
        content = regular.read_bytes(Path(os.path.realpath(path)), MOST_BYTES)
    return replace(parsed(path, content), build=build)


def parsed(path: Path, content: bytes, original: bytes | None = None) -> CodeFile:
    """The tree of a text, which may stand for another one. Raises `BadInput` if not UTF-8."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise BadInput(f"{path}, line {line}: not UTF-8 text; save it as UTF-8") from None
    if content.startswith(codecs.BOM_UTF8):
        content = b" " * len(codecs.BOM_UTF8) + (original := content)[len(codecs.BOM_UTF8) :]
    tree = parse(content)
    readable = without_markers(content, tree.root_node, host=True)
    tree = tree if readable == content else parse(readable)
    return CodeFile(path, readable, tree, content if original is None else original)


def functions(source: CodeFile) -> list[Function]:
    """Every function with a body, in the order of the file."""
    defined = []
    for node in source.outline:
        body = node.child_by_field_name("body") if node.type == "function_definition" else None
        declarator = _function_declarator(node) if body is not None else None
        if body is None or declarator is None or body.type != "compound_statement":
            continue
        name = declarator.child_by_field_name("declarator")
        kinds = ("identifier", "field_identifier", "qualified_identifier")
        said = source.text(name) if name is not None and name.type in kinds else ""
        if parts := [part for part in re.split(r"\s*::\s*", said) if part]:  # of `a::b::f`
            around = scope_of(node)
            outer = (
                node.parent if node.parent and node.parent.type == "template_declaration" else node
            )
            defined.append(
                Function(source, parts[-1], (*around, *parts[:-1]), node, declarator, body, outer)
            )
    return defined


def parse_query(text: str) -> FunctionQuery:
    """Read `--function`. Raises `BadInput`."""
    match = re.fullmatch(r"\s*(?:::)?([\w:~]+?)\s*(?:<(.*?)>)?\s*(?:\((.*)\))?\s*", text, re.DOTALL)
    if not match or not match[1]:
        raise BadInput(
            f"--function {text!r}: give a name, as 'blur', 'image::blur<float>'"
            " or 'f(const float*, int)'"
        )
    instance = tuple(map(_plain, split(match[2] or "")))
    types = None if match[3] is None else tuple(map(_plain, split(match[3])))
    return FunctionQuery(match[1], instance, types)


def choose(source: CodeFile, text: str) -> Function:
    """The function that `--function` means. Raises `BadInput` naming those that there are."""
    query, defined = parse_query(text), functions(source)
    ends = [f for f in defined if f"::{f.qualified}".endswith(f"::{query.name}")]
    fits = [f for f in ends if query.types is None or query.types == f.types]
    if len(fits) > 1 and query.instance:
        fits = [f for f in fits if f.templates] or fits
    if len(fits) == 1:
        return fits[0]
    if len({fit.shown() for fit in fits}) == 1:
        lines = " and ".join(str(fit.line) for fit in fits)
        raise BadInput(
            f"{source.path}: {text!r} is defined more than once (lines {lines}): keep"
            " one of them in a copy of the file"
        )
    listed = "; ".join(f"--function '{f.shown()}' (line {f.line})" for f in (fits or ends)[:6])
    if listed:
        raise BadInput(
            f"{source.path}: {len(fits) or 'no'} functions fit {text!r}; choose one: {listed}"
        )
    names = ", ".join(dict.fromkeys(f.qualified for f in defined if f.name != "main"))
    there = f"it defines {names[:300] or 'no function'}, as its conditions are decided"
    if source.tree.root_node.has_error:
        there += "; some of it, or of a header beside it, cannot be read as C++"
    raise BadInput(f"{source.path}: no function {text!r}; {there}")


def alone(source: CodeFile, text: str) -> str:
    """The file without the functions that the one of `--function` does not reach by their names."""
    others, reached = functions(source), [choose(source, text)]
    others = [one for one in others if one.node != reached[0].node]
    for one in reached:  # which grows
        called = {source.text(node) for node in walk(one.body) if "identifier" in node.type}
        reached += [other for other in others if other.name in called]
        others = [other for other in others if other.name not in called]
    content = bytearray(source.content)
    for other in sorted(others, key=lambda one: -one.outer.start_byte):
        del content[other.outer.start_byte : other.outer.end_byte]
    return content.decode()


def split(text: str) -> list[str]:
    """Parts between commas that stand in no brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "<([{") - (letter in ">)]}")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def parameter_type(node: Node) -> str:
    """A parameter's type as text, its name and default value left out."""
    names = names_of(node.child_by_field_name("declarator"))
    value = node.child_by_field_name("default_value")
    end = value.start_byte if value else node.end_byte
    hole = (names[0].start_byte, names[0].end_byte) if names else (end, end)
    whole, first = node.text or b"", node.start_byte
    kind = whole[: hole[0] - first] + whole[hole[1] - first : end - first]
    return _plain(kind.decode().rstrip(" \t\n="))


def _plain(text: str) -> str:
    """The text with single spaces, and with spaces around no sign but after a comma."""
    bare = _SPACE.sub(lambda match: match[1] or " ", text).strip()
    return bare.replace(",", ", ")


def names_of(node: Node | None) -> list[Node]:
    """The names in a declarator, without array bounds; a template parameter's own is the last."""
    if node is None:
        return []
    if node.type in ("identifier", "field_identifier", "type_identifier"):
        return [node]
    inner = node.child_by_field_name("declarator")
    if inner is not None:
        return names_of(inner)
    return [name for child in node.named_children for name in names_of(child)]


def _function_declarator(node: Node) -> Node | None:
    inner = node.child_by_field_name("declarator")
    while inner is not None and inner.type in ("pointer_declarator", "reference_declarator"):
        inner = inner.child_by_field_name("declarator") or inner.named_children[-1]
    return inner if inner is not None and inner.type == "function_declarator" else None


def scope_of(node: Node) -> tuple[str, ...]:
    """Names of the namespaces and classes around a node, outermost first."""
    names: list[str] = []
    for above in around(node):
        name = above.child_by_field_name("name") if above.type in _SCOPES else None
        if name is not None:
            names[:0] = re.split(r"\s*::\s*", syntax.text(name))
    return tuple(names)
