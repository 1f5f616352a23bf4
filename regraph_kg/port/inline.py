"""Functions with vectors of their own, written in place of the one call of each.

Not covered: several calls, results in the middle of an expression, an early return.
"""

import re

from tree_sitter import Node

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.functions import Function, functions, parameter_type, parsed
from regraph_kg.cpp.syntax import LOOPS, declared_name, inside_of, walk
from regraph_kg.port.changes import Changes
from regraph_kg.port.host import PLACE, declared
from regraph_kg.port.names import fresh

_TYPES = {"type_identifier"}
_RESULT = re.compile(
    r"(?:(?:const )?(?P<kind>[\w:]+(?:<[\w: ]+>)?) (?=\w+ = ))?(?P<target>[^;=]+?) = $"
)


def with_bodies(code: str, entry: str) -> str:
    """The text with such functions in place of their calls."""
    source, edits, taken = parsed(PLACE, code.encode()), Edits(), set[str]()
    known = functions(source)
    inside = [  # what the entry calls at once is the work
        node
        for caller in known
        for node in walk(caller.body)
        if caller.name != entry or inside_of(node, LOOPS) is not None
    ]
    for function in known:
        calls = (node for node in inside if node.type == "call_expression")
        names = ((node, source.text(node.children[0]).rpartition("::")[2]) for node in calls)
        called = [node for node, name in names if name == function.name]
        statement: Node | None = called[0] if len(called) == 1 else None
        while statement is not None and not statement.type.endswith(("statement", "declaration")):
            statement = statement.parent
        vectors = "vector<" in source.text(function.body) and not function.templates
        inlined = statement is not None and vectors
        made = _body(function, called[0], statement, taken) if statement and inlined else ""
        if made and statement is not None:
            edits.put(statement, made)
            edits.put(function.outer, "")
    return edits.applied(source.original)


def _body(function: Function, call: Node, statement: Node, taken: set[str]) -> str:
    """The statement with a body in it; "" for no simple one. `taken`: names of other bodies."""
    source, listed, content = function.source, call.children[-1], function.source.content
    given = [source.text(node) for node in listed.named_children if node.type != "comment"]
    returns = [node for node in walk(function.body) if node.type == "return_statement"]
    head, last = content[statement.start_byte : call.start_byte], function.body.named_children[-1]
    result = _RESULT.fullmatch(head.decode())
    told = result is not None and returns == [last] and result["kind"] != "auto"
    if len(given) != len(function.parameters) or not (told or not (head or returns)):
        return ""
    others = content[: function.node.start_byte] + content[function.node.end_byte :]
    taken |= {*re.findall(r"\w+", others.decode())}
    lines, edits, changed = list[str](), Edits(), Changes(source).names(function.body)
    made = [node for node in walk(function.body) if node.type == "declaration"]
    names = {name: fresh(name, taken) for node in made for name in declared(node)}
    for node, value in zip(function.parameters, given, strict=True):
        name, kind = declared_name(node), parameter_type(node)
        whole = "&" in kind or "<" in kind
        own = "&" not in kind and name in changed  # a copy
        if whole and (own or not value.isidentifier()):
            return ""
        names[name] = value if whole else fresh(name, taken)
        lines += [] if whole else [f"{kind} {names[name]} = {value};"]
    whole = bool(result and told and "vector<" in (result["kind"] or ""))
    if result is not None and whole:  # what it returns has the result's name from the beginning
        if source.text(last.named_children[0]) not in names:
            return ""
        names[source.text(last.named_children[0])] = result["target"]
        edits.put(last, "")
    taken |= {*names.values()}
    for node in walk(function.body):
        # `vector<T> own(n, by)` may be read as a function's declaration
        taken_as = inside_of(node, {"function_declarator"}) if node.type in _TYPES else node
        if node.type in ("identifier", *_TYPES) and taken_as and source.text(node) in names:
            edits.put(node, names[source.text(node)])
    kind = ""
    if result is not None and told and not whole:
        value = edits.applied(content, last.named_children[0].start_byte, last.end_byte)
        edits.put(last, f"{result['target']} = {value}")
        kind = f"{result['kind']} {result['target']}; " if result["kind"] else ""
    body = edits.applied(content, function.body.start_byte + 1, function.body.end_byte - 1)
    return f"{' '.join(lines)}{body}" if whole else f"{kind}{{ {' '.join(lines)}{body}}}"
