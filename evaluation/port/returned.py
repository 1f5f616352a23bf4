"""A function that returns a number, as the kernel that leaves it at a place on the device.

Not here: a kernel that calls the function, where it returns in several places (launch.py).
"""

from regraph_kg.evaluation.cpp.syntax import CodeFile, functions, walk
from regraph_kg.evaluation.port.edits import Edits

_LEAVES = {"return_statement", "lambda_expression"}


def returned_to(source: CodeFile, work: str, kernel: str, kind: str, result: str) -> str | None:
    """The text with a function, which returns in its last statement alone, as the kernel itself.

    `kind` and `result`: of the place for what it returns. None where it returns elsewhere, too, or
    stands in a namespace.
    """
    function = next((one for one in functions(source) if one.qualified == work), None)
    heads = function.declarator.child_by_field_name("parameters") if function is not None else None
    if function is None or function.scope or heads is None:
        return None
    leaves = [node for node in walk(function.body) if node.type in _LEAVES]
    if leaves != function.body.named_children[-1:] or leaves[0].type != "return_statement":
        return None
    edits, taken = Edits(), source.text(heads)[1:-1].strip()
    start = source.original.rindex(b"__device__", 0, function.body.start_byte)
    said = [child for child in leaves[0].named_children if child.type != "comment"]
    made = function.node.child_by_field_name("type")
    cast = source.text(made) if made is not None else kind
    defaults = any(child.type.startswith("optional_") for child in heads.named_children)
    if len(said) != 1 or said[0].type == "initializer_list" or "auto" in cast or defaults:
        return None
    taken = ", ".join(filter(None, (taken, f"{kind}* {result}")))
    head = f"__global__ void {kernel}({taken}) "
    edits.made.append((start, function.body.start_byte, head))
    value = source.text(said[0])
    value = f"({value})" if said[0].type == "comma_expression" else value
    edits.put(leaves[0], f"*{result} = {value if cast == kind else f'({cast})({value})'};")
    return edits.applied(source.original)
