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

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.functions import CodeFile, Function
from regraph_kg.cpp.syntax import walk
from regraph_kg.port.changes import Changes
from regraph_kg.port.host import element_type, words_of
from regraph_kg.port.loops import fact_of, is_constant, leaves

_BEGUN = re.compile(
    r"(int|unsigned|unsigned int|unsigned long long|float|double)\s+(\w+)\s*="
    r"\s*(?:0x0|0*\.?0+(?:\.0*)?[fFuUlL]*);"
)
"""A number of a type that a GPU adds to atomically, and that begins with 0."""
_STORED = re.compile(r"(\*\s*(\w+)|(\w+)\[\d+\])\s*=\s*([^=].*);", re.DOTALL)


def with_split_sum(source: CodeFile, kernel: Function, arrays: Mapping[str, bool]) -> str | None:
    """The text with the kernel's sum split in this way; None where it has no such sum."""
    statements = [child for child in kernel.body.named_children if child.type != "comment"]
    changed = {source.text(target) for target in Changes(source).changed_by(kernel.body)}
    *before, loop, last = statements if len(statements) > 2 else [kernel.body] * 2  # noqa: PLR2004
    sums = [node for node in before if not is_constant(source, node, changed, arrays)]
    if len(sums) != 1:
        return None
    first, stored = sums[0], _STORED.fullmatch(source.text(last))
    begun = _BEGUN.fullmatch(source.text(first))
    kind, name = begun.groups() if begun is not None else ("", "")
    used = any(name in words_of(source, node) for node in before if node.id != first.id)
    array = (stored[2] or stored[3]) if stored is not None else ""
    if used or stored is None or not name or element_type(kernel, array) != kind:
        return None
    element, value = stored[1], stored[4]
    uses = [node for node in walk(kernel.body) if source.text(node) == array and not node.children]
    fact = fact_of(source, loop)
    told = (fact.carries, fact.reduces, fact.combines, fact.private) if fact else ()
    alone = len(uses) == 1 and arrays.get(array) and not leaves(loop)
    if not alone or told != ("no", (name,), ("+",), ()):
        return None
    texts = [
        f"{element} = 0;",
        f"{{\n    {source.text(first)}\n    {source.text(loop)}\n    {element} += {name};\n    }}",
    ]
    if value != name:
        texts.append(f"{{\n    {kind} {name} = {element};\n    {source.text(last)}\n    }}")
    edits = Edits()
    edits.put(first, "")
    edits.replacements.append((loop.start_byte, last.end_byte, "\n    ".join(texts)))
    return edits.applied(source.original)
