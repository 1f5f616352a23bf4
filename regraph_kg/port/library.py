"""Calls of the standard library over arrays of the device, which the host makes by CUB.

    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key[a] < key[b]; });

becomes `sort_by_cub<float>(order, order + n, by_key{key}, false);`, of algorithms.cuh.
Not covered: rules of order by more than one number, and other lambdas.
"""

import re

from tree_sitter import Node

from regraph_kg.cpp.functions import CodeFile, split
from regraph_kg.port.host import flat
from regraph_kg.port.kernels import Scope
from regraph_kg.port.names import is_integer, is_number

_POINTERS = dict.fromkeys(("accumulate", "max_element", "min_element", "fill", "iota"), 2)
_POINTERS |= {"sort": 2, "stable_sort": 2, "copy": 3, "partial_sum": 3, "inclusive_scan": 3}
_POINTERS["exclusive_scan"] = 3  # of its arguments are pointers; the others are numbers
_CALL = re.compile(r"std_(\w+)\((.*)\)|std_(\w+_element)\(((\w+), [^,]+)\) - \5")
_PLACE = re.compile(r"\(?(\w+)(?: [+-] [\w +*()-]+)?\)?")
_ORDER = re.compile(
    r"|std_(?P<plain>less|greater)(?:<[\w: ]*>)?(?:\(\)|\{\})|\[[\w&=, ]*\] ?\((?:const )?[\w: ]+?"
    r"(?: const)? ?&? ?(?P<a>\w+), ?(?:const )?[\w: ]+?(?: const)? ?&? ?(?P<b>\w+)\)(?: ?-> ?bool)?"
    r" ?\{ return (?P<left>[^<>;]+) (?P<sign>[<>]) (?P<right>[^<>;]+); \}"
)


def by_cub(source: CodeFile, call: Node, scope: Scope) -> tuple[str, str]:
    """A call as the host makes it, and a rule of order for it; "" where it cannot."""
    match = _CALL.fullmatch(flat(source, call))
    name, given = (match[1] or match[3], split(match[2] or match[4])) if match else ("", [])
    places = [place for it in given[: _POINTERS.get(name, 0)] if (place := _PLACE.fullmatch(it))]
    arrays = [scope.arrays[place[1]].element for place in places if place[1] in scope.arrays]
    if not arrays or len(arrays) != _POINTERS[name]:
        return "", ""
    if "sort" in name:
        return _sorted(name, given, arrays[0], scope)
    others = given[len(arrays) :]
    words = {*re.findall(r"\b[A-Za-z_]\w*", " ".join(others))}
    known = words <= scope.scalars.keys() and not scope.overlaps({place[1] for place in places})
    kinds = [scope.scalars.get(it, "int" if it.lstrip("-").isdigit() else "auto") for it in others]
    adds = name in ("accumulate", "exclusive_scan") and any(map(is_integer, kinds))
    adds |= scope.exact and bool(re.search(r"accumulate|sum|scan", name))
    whole = all(map(is_integer, arrays))
    if (adds and not whole) or not (known and all(map(is_number, arrays))) or len(others) > 1:
        return "", ""
    behind = f" - {match[5]}" if match and match[5] else ""
    return f"{name}_by_cub({', '.join(given)}){behind}", ""


def _sorted(name: str, given: list[str], kind: str, scope: Scope) -> tuple[str, str]:
    """A sort by numbers alone: the elements, or the one of an array that each is the index of."""
    places, order = ", ".join(given[:2]), _ORDER.fullmatch(", ".join(given[2:]))
    if order is None:
        return "", ""
    left, right = order["left"] or "at", order["right"] or "at"
    left, right = (
        re.sub(rf"\b{order['a']}\b", "at", left),
        re.sub(rf"\b{order['b']}\b", "at", right),
    )
    down = str(order["plain"] == "greater" or order["sign"] == ">").lower()
    table = re.fullmatch(r"(\w+)\[at\]", left)
    if left == right == "at" and is_number(kind):
        return f"sort_by_cub({places}, {down})", ""
    key = scope.arrays[table[1]].element if table and table[1] in scope.arrays else "?"
    if table is None or left != right or not is_number(key) or name == "sort":
        return "", ""  # std::sort keeps no order of equal keys
    made = f"by_{table[1]}"
    rule = f"    __device__ {key} operator()({kind} at) const {{ return keys[at]; }}"
    rule = f"struct {made} {{\n    const {key}* keys;\n{rule}\n}};"
    return f"sort_by_cub<{key}>({places}, {made}{{{table[1]}}}, {down})", rule
