"""A sum that is stored in an element is added up in that element, so that threads may share it.

    double s = 0; for (..) s += x[i]; out[0] = f(s);

becomes three statements that share only arrays:

    out[0] = 0;
    { double s = 0; for (..) s += x[i]; out[0] += s; }
    { double s = out[0]; out[0] = f(s); }

The result is the same. Not covered: sums of another type than the element's.
"""

import re
from collections.abc import Mapping

from tree_sitter import Node

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.functions import CodeFile, Function
from regraph_kg.cpp.syntax import walk
from regraph_kg.port.changes import Changes
from regraph_kg.port.host import declared, element_type, is_plain, words_of
from regraph_kg.port.loops import fact_of, is_constant, leaves

_ADDED = {"int", "unsigned", "unsigned int", "unsigned long long", "float", "double"}
"""Types that a GPU adds to atomically."""
_ZERO = re.compile(r"0x0|0*\.?0+(?:\.0*)?[fFuUlL]*")
_ELEMENT = re.compile(r"\*\s*(\w+)|(\w+)\[\d+\]")


def with_split_sum(source: CodeFile, kernel: Function, arrays: Mapping[str, bool]) -> str | None:
    """The text with the kernel's sum split in this way; None where it has no such sum."""
    statements = [child for child in kernel.body.named_children if child.type != "comment"]
    changes = Changes(source)
    changed = {source.text(target) for target in changes.changed_by(kernel.body)}
    *before, loop, last = statements if len(statements) > 2 else [kernel.body] * 2  # noqa: PLR2004
    sums = [node for node in before if not is_constant(source, node, changed, arrays)]
    if len(sums) != 1:
        return None
    first, stored = sums[0], _stored(source, last)
    name, kind = _zero(source, first)
    if any(name in words_of(source, node) for node in before if node.id != first.id):
        return None
    if stored is None or not name or element_type(kernel, stored[1]) != kind:
        return None
    element, array, value = stored
    uses = [node for node in walk(kernel.body) if source.text(node) == array and not node.children]
    plain = len(uses) == 1 and arrays.get(array) is True and kind in _ADDED
    fact = fact_of(source, loop)
    told = (fact.carries, fact.reduces, fact.combines, fact.private) if fact else ()
    if not plain or told != ("no", (name,), ("+",), ()) or leaves(loop):
        return None
    texts = [
        f"{element} = 0;",
        f"{{\n    {source.text(first)}\n    {source.text(loop)}\n    {element} += {name};\n    }}",
    ]
    if source.text(value) != name:
        texts.append(f"{{\n    {kind} {name} = {element};\n    {source.text(last)}\n    }}")
    edits = Edits()
    edits.put(first, "")
    edits.replacements.append((loop.start_byte, last.end_byte, "\n    ".join(texts)))
    return edits.applied(source.original)


def _stored(source: CodeFile, statement: Node) -> tuple[str, str, Node] | None:
    """The element that a statement sets, its array, and the value."""
    inner = statement.named_children[:1] if statement.type == "expression_statement" else []
    for change in inner:
        left, right = change.child_by_field_name("left"), change.child_by_field_name("right")
        match = _ELEMENT.fullmatch(source.text(left)) if left is not None else None
        sets = change.type == "assignment_expression" and source.text(change.children[1]) == "="
        if match and sets and right is not None:
            return match[0], match[1] or match[2], right
    return None


def _zero(source: CodeFile, statement: Node) -> tuple[str, str]:
    """Name and type of the one number that a statement declares as 0."""
    names, kind = [*declared(source, statement)], statement.child_by_field_name("type")
    declarator = statement.child_by_field_name("declarator")
    value = declarator.child_by_field_name("value") if declarator is not None else None
    if not is_plain(source, statement) or len(names) != 1 or value is None or kind is None:
        return "", ""
    mutable = not any(child.type == "type_qualifier" for child in statement.named_children)
    return (
        (names[0], source.text(kind))
        if mutable and _ZERO.fullmatch(source.text(value))
        else ("", "")
    )
