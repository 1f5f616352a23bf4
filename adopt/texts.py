"""The texts of a problem's folder: serial.cpp, problem.toml, home.toml."""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

from tree_sitter import Node

from regraph_kg.adopt.adapter import Plain, adapter, needs, wrapper
from regraph_kg.adopt.draft import Draft
from regraph_kg.adopt.guard import guarded
from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.functions import CodeFile, choose, functions, parameter_type, parsed
from regraph_kg.cpp.slice import sliced, whole_text
from regraph_kg.cpp.syntax import around, declared_name
from regraph_kg.evaluation.problem.home import Home

_VECTOR = re.compile(r"(const )?(?:std::)?vector<(.+)>( ?const)?&")
_THROWS = re.compile(r"if\s*\([^{};]*\)\s*\{?\s*throw\b[^{};]*;\s*\}?")  # stays in front
_MARKS = ("static", "inline", "constexpr", "extern")


def serial_code(draft: Draft, plain: Plain) -> str:
    """What the function needs of its file, the function, and its entry."""
    layouts = "".join(record.layout for record in plain.records)
    renamed = _as_entry(draft, plain)
    if renamed is not None:
        return renamed + layouts
    code = _with_views(draft, plain)
    if "<span>" not in code and "std::span" in code:
        code = f"#include <span>\n{code}"
    # the first `#include` lines, and what follows: a type must stand between them
    found = re.match(r"(?:\s*(?:#[ \t]*(?:include|pragma)[^\n]*|//[^\n]*)?\n)*", code)
    end = found.end() if found else 0
    includes, rest = code[:end], code[end:]
    return f"{includes}{needs(plain, includes)}\n{rest}\n{adapter(plain)}{layouts}".lstrip()


def _with_views(draft: Draft, plain: Plain) -> str:
    """The slice; vectors that its functions take by reference are views of others' memory."""
    code = draft.read.part.text
    if not any(one.viewed for one in plain.given):
        return code
    source = parsed(draft.read.source.path, code.encode())
    own = choose(source, draft.read.function.shown())
    views = {n.id: g.view for n, g in zip(own.parameters, plain.given, strict=True) if g.viewed}
    kept, edits = {node.id for node in own.parameters} - views.keys(), Edits()
    for node in (node for function in functions(source) for node in function.parameters):
        found = _VECTOR.fullmatch(parameter_type(node).replace(" &", "&"))
        seen = f"View<{'const ' * bool(found[1] or found[3])}{found[2]}>" if found else ""
        if node.id not in kept and (seen := views.get(node.id, seen)):
            edits.put(node, f"{seen} {declared_name(node)}")
    return edits.applied(source.original)


def _as_entry(draft: Draft, plain: Plain) -> str | None:
    """The function itself as the entry, under its name, where its signature is plain C already."""
    function = choose(draft.read.source, draft.read.function.shown())
    source, node = function.source, function.node
    marked = any(source.text(child) in _MARKS for child in node.children)
    simple = all(
        one.passed.form in ("scalar", "pointer")
        and one.passed.element.is_plain
        and one.passed.const == (not one.writes)
        for one in plain.given
    )
    if function.scope or function.templates or plain.result or plain.sizes or marked or not simple:
        return None
    name = function.declarator.child_by_field_name("declarator")
    mentions = re.findall(rf"\b{function.name}\b", draft.read.part.text)
    if name is None or len(mentions) != 1:
        return None
    nested = node.parent is not None and node.parent.type == "linkage_specification"
    edits = Edits()
    edits.insert(node.start_byte, "" if nested else 'extern "C" ')
    edits.put(name, plain.entry)
    again = parsed(source.path, edits.applied(source.content).encode())
    return sliced(choose(again, plain.entry)).text


def problem_fields(draft: Draft, plain: Plain, name: str) -> dict[str, Any]:
    """Fields of problem.toml but sizes."""
    fields: dict[str, Any] = {"schema": 1, "name": name, "entry": plain.entry, "metric": "call"}
    if plain.result and plain.result.is_returned:
        fields |= {"returns": {"type": plain.result.passed.element.type}}
    fields |= {"held_out": False} if draft.said.powers else {}
    if draft.read.watched.stops:
        fields |= {"work": {"early_exit": True}}
    return fields | {"args": draft.arguments()}


def problem_name(function: str) -> str:
    """A function's name as a problem's: lower-case, single signs between."""
    return re.sub(r"[^a-z0-9]+", "-", function.lower()).strip("-")[:64] or "own"


def toml(fields: Mapping[str, Any]) -> str:
    """Fields as TOML: values, then the table of sizes, then the list of arguments."""
    tables = [("", {key: fields[key] for key in fields if key not in ("sizes", "args")})]
    tables += [("\n[sizes]\n", fields["sizes"])] if "sizes" in fields else []
    tables += [("\n[[args]]\n", table) for table in fields.get("args", ())]
    return "".join(
        head + "".join(f"{name} = {_value(value)}\n" for name, value in table.items())
        for head, table in tables
    )


def _value(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str) and "\n" in value and "'''" not in value:
        return f"'''\n{value}'''"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def home(draft: Draft, plain: Plain, folder: Path) -> Home:
    """The function's place, and what makes it call a candidate's entry."""
    function, source = draft.read.function, draft.read.function.source
    sizes = {name: draft.wrapped(name) for name in plain.sizes}
    extents = {name: draft.wrapped(draft.length(name)) for name in draft.names}
    called = guarded(draft, plain, wrapper(plain, sizes, extents))
    start, end = _line_start(source, function.outer), function.outer.end_byte
    outside = ("translation_unit", "preproc_")
    within = takewhile(lambda node: not node.type.startswith(outside), around(function.outer))
    outermost = [function.outer, *within][-1]  # or the namespace, class or block around it
    pointers = [n for n, one in draft.read.passed.items() if one.form in ("pointer", "rows")]
    checks = takewhile(lambda n: _THROWS.fullmatch(source.text(n)), function.body.named_children)
    inside = max((node.end_byte for node in checks), default=function.body.start_byte + 1)
    needed = ["<vector>", "<algorithm>"] * ("_bytes" in called)
    return Home(
        schema_version=1,
        file=os.path.relpath(source.path.resolve(), folder.resolve()),
        sha256=hashlib.sha256(source.original).hexdigest(),
        read=hashlib.sha256(whole_text(source)).hexdigest(),
        flags=draft.said.flags,
        function=plain.call,
        signature=source.original[start : function.body.start_byte].decode().strip(),
        lines=(function.outer.start_point.row + 1, function.outer.end_point.row + 1),
        definition=(start, end),
        entry=plain.entry,
        declaration=f"{plain.declared(lambda element: element.opaque)};",
        declare_at=_line_start(source, outermost),
        replace=(inside, inside),
        wrapper=called,
        includes=(*needed, *["<type_traits>"] * bool(function.templates)),
        assumes=tuple(f"{n} points to {draft.wrapped(draft.length(n))} elements" for n in pointers),
    )


def _line_start(source: CodeFile, node: Node) -> int:
    """First byte of a node, with the markers before it that were left out."""
    return max(source.begin, len(source.content[: node.start_byte].rstrip(b" ")))
