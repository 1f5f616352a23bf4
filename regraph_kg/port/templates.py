"""The one instance of a template that an entry calls, as a plain function: `f<float>(x, n)`.

Not covered: templates whose arguments the call does not name, and those with special cases.
"""

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.functions import Function, functions, parsed
from regraph_kg.cpp.syntax import walk
from regraph_kg.port.host import PLACE

_NAMES = ("identifier", "type_identifier", "namespace_identifier")


def with_plain_work(code: str, entry: str) -> str:
    """The text with the template that the entry calls as a function of the types that it names."""
    source, edits = parsed(PLACE, code.encode()), Edits()
    known = functions(source)
    for caller in [function for function in known if function.name == entry]:
        for call in [node for node in walk(caller.body) if node.type == "template_function"]:
            name, listed = call.child_by_field_name("name"), call.child_by_field_name("arguments")
            if name is None or listed is None:
                continue
            called = [function for function in known if function.name == source.text(name)]
            given = [source.text(node) for node in listed.named_children if node.type != "comment"]
            if len(called) == 1 and 0 < len(called[0].templates) == len(given):
                edits.put(listed, "")
                _fill(called[0], dict(zip(called[0].templates, given, strict=True)), edits)
    for node in walk(source.tree.root_node) if edits.replacements else ():
        if node.type == "template_instantiation":
            edits.put(node, "")
    return edits.applied(source.original)


def _fill(function: Function, given: dict[str, str], edits: Edits) -> None:
    """Write a template's arguments in place of its parameters."""
    edits.replacements.append((function.outer.start_byte, function.node.start_byte, ""))
    for node in walk(function.node):
        name = function.source.text(node) if node.type in _NAMES else ""
        above = node.parent
        if name in given and (above is None or above.type != "field_expression"):
            edits.put(node, given[name])
