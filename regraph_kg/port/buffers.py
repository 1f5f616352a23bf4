"""Memory that a function allocates for itself, as local arrays; launch makes them the device's.

Not covered: memory that is allocated in a helper, or for another pointer than a new one.
"""

import re

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


def with_local_arrays(code: str) -> str:
    """The text with memory that functions allocate as arrays of theirs."""
    names = set[str]()
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
