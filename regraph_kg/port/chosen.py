"""The least or greatest of a loop's values, and where it was found: `if (d < best) { .. at = i; }`.

The values are stored; of those a reduction finds the best, and a second look the first step that
has it, or the last one where equal values replace each other (`<=`).
"""

import re

from tree_sitter import Node

from regraph_kg.cpp.functions import CodeFile
from regraph_kg.cpp.syntax import statements, text
from regraph_kg.port.changes import Changes
from regraph_kg.port.host import declared, flat, is_plain
from regraph_kg.port.kernels import Array, Kernels, Scope
from regraph_kg.port.loops import counted

_COMPARED = re.compile(r"\((.+?) (<|>|<=|>=) (.+)\)")
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_SET = re.compile(r"(\w+) = ([^=;]+);")
_WORD = re.compile(r"[A-Za-z_]\w*")


def chosen(kernels: Kernels, code: str, scope: Scope) -> list[str] | None:
    """The host's lines for such a loop; None for another one."""
    source, function = kernels.read(code, scope)
    loop = function.body.named_children[0]
    head = counted(function, loop, (), dict.fromkeys(scope.arrays, True))
    body = loop.child_by_field_name("body")
    *before, last = statements(body) or [loop]
    best, sign, value, others = _choice(source, last)
    changed = Changes(source).names(loop)
    if head is None or body is None or not {best, *others} <= scope.scalars.keys():
        return None
    rest, kind, at = " ".join(map(source.text, before)), scope.scalars[best], head.variable
    read = {*_WORD.findall(f"{rest} {value} {head.first} {head.end} {' '.join(others.values())}")}
    known = dict[str, str]()
    for it in before:
        known |= dict.fromkeys(declared(it), text(it.child_by_field_name("type")))
    known |= {name: array.element for name, array in scope.arrays.items()}
    same = kind == "double" or known.get(value.partition("[")[0]) == kind
    apart = not {best, *others} & read and changed <= {best, at, *others}
    if not (apart and same and all(is_plain(source, it) for it in before)):
        return None
    values, where = (kernels.new(f"{best}_{it}") for it in ("values", "at"))
    inner, begin = scope.copy(), source.content[loop.start_byte : body.start_byte].decode()
    inner.arrays[values] = Array(kind, f"{kind}* {values}", may_change=True)
    inner.scalars[where] = "long long"
    place = f"{values}[{at} - ({head.first})]"
    stored = kernels.threads(f"{begin}{{ {rest} {place} = {value}; }}", inner)
    if stored is None:
        return None
    count = f"(long long)({head.end}) - ({head.first})"
    sets = f"const {head.type} {at} = {where} + ({head.first}); {rest} {best} = {value}; "
    sets += " ".join(f"{name} = {other};" for name, other in others.items())
    least, last_ = "least" if sign[0] == "<" else "greatest", str(len(sign) > 1).lower()
    found = f"chosen_by_cub({values}, {count}, {best}, {least}_by_cub<{kind}>(), {last_})"
    inside = [
        f"{kind}* {values};",
        f"cudaMalloc(&{values}, sizeof({kind}) * ({count}));",
        *stored,
        f"const long long {where} = {found};",
        f"cudaFree({values});",
        f"if ({where} >= 0) {{",
        *(f"    {line}" for line in kernels.one_thread(sets, inner, [best, *others], {})),
        "}",
    ]
    return [f"if ({count} > 0) {{", *(f"    {line}" for line in inside), "}"]


def _choice(source: CodeFile, node: Node) -> tuple[str, str, str, dict[str, str]]:
    """The best value, its comparison, what is compared, and what is set besides; empty for none."""
    block, condition = (node.child_by_field_name(it) for it in ("consequence", "condition"))
    compared = _COMPARED.fullmatch(flat(source, condition)) if condition is not None else None
    listed = [_SET.fullmatch(flat(source, it)) for it in statements(block)]
    sets = {it[1]: it[2] for it in listed if it}
    left, sign, right = compared.groups() if compared else ("", "", "")
    if sets.get(right) != left:
        left, sign, right = right, _TURNED.get(sign, ""), left
    whole = len(listed) == len(sets) and node.child_by_field_name("alternative") is None
    if node.type != "if_statement" or sets.get(right) != left or not whole:
        return "", "", "", {}
    return right, sign, left, {name: value for name, value in sets.items() if name != right}
