"""A function that returns a number, as a kernel that stores the number in device memory.

Not here: a kernel that calls the function, where it returns in several places (launch.py).
"""

from regraph_kg.evaluation.cpp.syntax import CodeFile, functions, walk
from regraph_kg.evaluation.port.edits import Edits

_LEAVES = {"return_statement", "lambda_expression"}


def returned_to(source: CodeFile, work: str, kernel: str, kind: str, result: str) -> str | None:
    """The text with a function, which returns only in its last statement, as the kernel.

    `kind` and `result`: type and name of the parameter for the result. None where the function
    returns elsewhere too, or stands in a namespace.
    """
    function = next((f for f in functions(source) if f.qualified == work), None)
    heads = function.declarator.child_by_field_name("parameters") if function is not None else None
    if function is None or function.scope or heads is None:
        return None
    leaves = [node for node in walk(function.body) if node.type in _LEAVES]
    if leaves != function.body.named_children[-1:] or leaves[0].type != "return_statement":
        return None
    edits, taken = Edits(), source.text(heads)[1:-1].strip()
    start = source.original.rindex(b"__device__", 0, function.body.start_byte)
    values = [child for child in leaves[0].named_children if child.type != "comment"]
    declared = function.node.child_by_field_name("type")
    cast = source.text(declared) if declared is not None else kind
    defaults = any(child.type.startswith("optional_") for child in heads.named_children)
    if len(values) != 1 or values[0].type == "initializer_list" or "auto" in cast or defaults:
        return None
    taken = ", ".join(filter(None, (taken, f"{kind}* {result}")))
    head = f"__global__ void {kernel}({taken}) "
    edits.replacements.append((start, function.body.start_byte, head))
    value = source.text(values[0])
    value = f"({value})" if values[0].type == "comma_expression" else value
    edits.put(leaves[0], f"*{result} = {value if cast == kind else f'({cast})({value})'};")
    return edits.applied(source.original)
