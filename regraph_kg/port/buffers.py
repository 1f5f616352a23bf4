"""Memory that a function allocates for itself, as local arrays; launch makes them the device's.

Not covered: memory that is allocated in a helper, or for another pointer than a new one.
"""

import re

from regraph_kg.cpp.edits import Edits
from regraph_kg.cpp.functions import split
from regraph_kg.cpp.syntax import parse, text, walk
from regraph_kg.port.names import UnportableError

_KIND = r"(?P<kind>(?:unsigned |signed |long |short )*[\w:]+) ?\* ?(?:const )?(?P<name>\w+)"
_CAST = r"(?:\([^()=;]*\)|static_cast<[^;=]*?>\()? ?(?:std::)?"
_ANY = rf"(?:auto ?\*? (?P<auto>\w+)|{_KIND}) = "
_NEW = r"new (?P<made>[\w: ]+?)\[(?P<size>[^;]+)\]"
_UNIQUE = r"std::make_unique<(?P<made>[\w: ]+)\[\]>\((?P<size>[^;]+)\);"
_ALLOCATED = (  # a way to allocate, whether it counts bytes, and the first value
    (rf"{_KIND} = {_CAST}malloc\((?P<size>[^;]+)\);", True, ""),
    (rf"{_KIND} = {_CAST}calloc\((?P<size>[^;]+)\);", True, " = {}"),
    (rf"{_ANY}{_NEW};", False, ""),
    (rf"{_ANY}{_NEW}(?:\(\)|\{{\}});", False, " = {}"),
    (rf"auto (?P<auto>\w+) = {_UNIQUE}", False, " = {}"),
    (rf"std::unique_ptr<[\w: ]+\[\]> (?P<auto>\w+)[({{]{_NEW}[)}}];", False, ""),
)
_OF = r"(?:std::)?vector<[\w: ]+>"
_ALIAS = re.compile(r"(?:vector|array)<[^;{}()=]*> ?(?:const ?)?& ?(\w+) ?=")
_NAMED = re.compile(rf"typedef ({_OF}) (\w+);|using (\w+) = ({_OF});")
_TOGETHER = re.compile(rf"([;{{}}]\s*)((?:const )?{_OF}) ([^;{{}}<]+);")
_SIZED_LATER = re.compile(  # an empty vector whose first use gives it its length
    r"(std::vector<[\w: ]+>) (\w+);((?:(?!\b\2\b)[^{}])*)\b\2\.(?:resize|assign)\(([^;]+)\);"
)
_SWAPPED = re.compile(
    r"(?P<kind>[\w: ]+\* ?(?:const )?)?(\w+) = (\w+);\s*(\w+) = (\w+);\s*(\w+) = (\w+);(?=([^}]*))"
)


def with_local_arrays(code: str) -> str:
    """The text with memory that functions allocate as local arrays. Raises `UnportableError`."""
    for match in _NAMED.finditer(code):  # names for types of containers
        kind, name = match[1] or match[4], match[2] or match[3]
        code = re.sub(rf"\b{name}\b(?!::)", kind, code.replace(match[0], ""))
    if alias := _ALIAS.search(code):
        raise UnportableError(f"{alias[1]}: another name of a container; use the container's own")
    code, names = _SWAPPED.sub(_swap, _with_lengths(code)), set[str]()
    code = _TOGETHER.sub(_one_by_one, code)
    while _SIZED_LATER.search(code):
        code = _SIZED_LATER.sub(r"\3\1 \2(\4);", code)
    for pattern, in_bytes, value in _ALLOCATED:
        for match in re.finditer(pattern, code):
            groups = match.groupdict()
            name = groups.get("auto") or groups["name"]
            kind = groups.get("made") or groups["kind"]
            size = groups["size"]
            size = size[:-1] if size.count(")") > size.count("(") else size
            if in_bytes:
                told = rf"(?:{re.escape(kind)}|\*{name})"
                factors = re.sub(rf"\* ?sizeof ?\(? ?{told} ?\)?", "", size)
                size = factors if factors != size else f"({size}) / sizeof({kind})"
                size = size.replace(",", " *") if value else size
            code = code.replace(match[0], f"{kind} {name}[{size.strip()}]{value};")
            names.add(name)
    for name in names:
        code = re.sub(rf"(?:(?:std::)?free ?\( ?{name} ?\)|delete ?\[\] ?{name});", "", code)
    return code


def _with_lengths(code: str) -> str:
    """The text with sizes of local arrays as products, since pointers take their places."""
    edits, sizes = Edits(), dict[str, str]()
    for node in walk(parse(code.encode()).root_node):
        if node.type == "function_definition":
            sizes = {}
        size, name = node.child_by_field_name("size"), node.child_by_field_name("declarator")
        holder = node.parent if node.type == "array_declarator" else None
        holder = holder.parent if holder is not None and holder.type[:4] == "init" else holder
        kind = text(holder and holder.child_by_field_name("type"))
        if holder is not None and holder.type == "declaration" and size and name:
            sizes[text(name)] = f"(sizeof({kind}) * ({text(size)}))"
        told = text(node.child_by_field_name("value")).strip("()")
        if node.type == "sizeof_expression" and told in sizes:
            edits.put(node, sizes[told])
    return edits.applied(code.encode())


def _swap(match: re.Match[str]) -> str:
    kept, one, first, other, second, last, after = match.groups()[1:]
    plain = (kept, one, other) == (last, first, second) and not re.search(rf"\b{kept}\b", after)
    declared = match["kind"] or re.search(rf"\* ?{kept} ?[,;]", match.string)
    return f"std::swap({one}, {other});" if plain and declared else match[0]


def _one_by_one(match: re.Match[str]) -> str:
    """`std::vector<T> a(n), b;` as two declarations."""
    return match[1] + " ".join(f"{match[2]} {it};" for it in split(match[3]))
