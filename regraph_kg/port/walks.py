"""Loops over iterators, and what steps along with a loop, as loops that count.

    auto k = m.begin(); for (auto it = v.begin(); it != v.end(); ++it, ++k) *k = *it;

becomes `for (long long it_at = 0; it_at < (long long)(v.size()); ++it_at) m[it_at] = v[it_at];`.
Not covered: iterators that a body moves, and those that begin or end in the middle.
"""

import re

from tree_sitter import Node

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.syntax import inside_of, parse, text, walk
from regraph_kg.port.names import fresh, is_integer

_MOST = 32  # loops of a file
_MADE = r"\s*(?P<kind>(?:const )?[\w: ]+?[ *]+){name} = (?P<of>\w+)(?:\.c?(?:begin|data)\(\))?\s*"
_END = (
    r"\s*{name} (?:!=|<) (?:(?P<all>{of})\.c?end\(\)|{of}(?:\.(?:begin|data)\(\))? \+ (?P<some>.+))"
)
_STEP = re.compile(r"\s*(?:\+\+(\w+)|(\w+)(?:\+\+| \+= (\d+)))\s*")
_CHANGED = r"&\s*{0}\b|(?:\+\+|--)\s*{0}\b|\b{0}\s*(?:\+\+|--|[-+*/%&|^]?=[^=])"
_ALIVE = (
    r"\b{0}\b(?!\[|\.(?:size|empty|front|back|at)\()"  # what a loop may not do with a container
)


def with_counters(code: str) -> str:
    """The text with such loops as loops that count."""
    for _ in range(_MOST):
        loops = (it for it in walk(parse(code.encode()).root_node) if it.type == "for_statement")
        edits = next(filter(None, map(_counting, loops)), None)
        if edits is None:
            break
        code = edits.applied(code.encode())
    return code


def _counting(loop: Node) -> Edits | None:
    """The edits of one loop; None where it counts already, or cannot."""
    names = ("initializer", "condition", "update", "body")
    first, condition, update, body = (text(loop.child_by_field_name(it)) for it in names)
    steps = [_STEP.fullmatch(part) for part in update.split(",")]
    if None in steps or not (first and body):
        return None
    by = {it[1] or it[2]: int(it[3] or 1) for it in steps if it}
    whole, edits = _function(loop), Edits()
    name = (re.findall(r"\w+", condition) or [""])[0]
    made = re.fullmatch(_MADE.format(name=name), first.rstrip(";"))
    if made is None or by.get(name) != 1:
        return None
    at, begin, head = name, made["of"], f"{first} {condition}; ++{name}"
    if is_integer(made["kind"]):
        del by[name]
        begin = "" if re.search(_CHANGED.format(name), body) else begin
    else:
        end = re.fullmatch(_END.format(name=name, of=made["of"]), condition)
        at, begin = fresh(f"{name}_at", {*re.findall(r"\w+", whole)}), "0" if end else ""
        count = f"{made['of']}.size()" if end and end["all"] else end["some"] if end else ""
        head = f"long long {at} = 0; {at} < (long long)({count}); ++{at}"
    if not by or not begin.isdigit():
        return None
    for each, step in by.items():
        own, before = made if each == name else None, loop.prev_named_sibling
        while own is None and before is not None:
            own = re.fullmatch(_MADE.format(name=each), text(before).rstrip(";"))
            if own is not None:
                edits.put(before, "")
                outside = whole.replace(text(before), "", 1).replace(text(loop), "", 1)
                if re.search(rf"\b{each}\b", outside) or "goto " in whole:
                    return None
            before = before.prev_named_sibling
        done = at if begin == "0" else f"({at} - {begin})"
        body = _along(body, each, own, f"{done} * {step}" if step != 1 else done) if own else ""
        if not body:
            return None
    edits.replacements.append((loop.start_byte, loop.end_byte, f"for ({head}) {body}"))
    return edits


def _along(body: str, name: str, own: re.Match[str], at: str) -> str:
    """A body without a number or an iterator that is `at` steps from its start; "" if it cannot."""
    kind, of = own["kind"].strip(), own["of"]
    if of.isdigit():
        told = f"static_cast<{'int' if kind == 'auto' else kind}>({at} + {of})"
        number = is_integer(kind) or kind == "auto"
        changed = re.search(_CHANGED.format(name), body)
        used = re.sub(rf"(?<![.>])\b{name}\b", told, body)
        return used if number and not changed else ""
    body = re.sub(rf"\b{name}->", f"{of}[{at}].", body)
    body = re.sub(rf"\*{name}\b(?!\s*(?:\[|\+\+|--))", f"{of}[{at}]", body)
    return "" if re.search(rf"\b{name}\b|{_ALIVE.format(of)}", body) else body


def _function(node: Node) -> str:
    return text(inside_of(node, ("function_definition", "translation_unit")))
