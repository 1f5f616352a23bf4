"""The entry of a port: copies arguments to the device, calls `launch`, copies results back.

Not covered: a whole file that a model writes instead.
"""

import ast
import re

from regraph_kg.evaluation.problem.declaration import Argument
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.models.port import LAUNCH
from regraph_kg.port.names import UnportableError, fresh

_MEMORY = """\
// Device memory, kept from call to call and made anew where a call needs more.
// Not for several threads at once.
static void* device_memory(int which, size_t bytes) {{
    static void* memory[{count}];
    static size_t room[{count}];
    if (bytes > room[which]) {{
        cudaFree(memory[which]);
        memory[which] = nullptr;
        room[which] = cudaMalloc(&memory[which], bytes) == cudaSuccess ? bytes : 0;
    }}
    return memory[which];
}}

"""

_NAME = re.compile(r"[A-Za-z_]\w*")


def signature(problem: Problem) -> str:
    """The signature of `launch`: the entry's, with the result as a last parameter."""
    _, _, parameters = problem.signature(cuda=True).partition(f" {problem.entry}(")
    parts = [parameters.removesuffix(")")]
    if problem.returns:
        parts.append(f"{problem.slots[-1].spelled(cuda=True)}* {result_name(problem)}")
    return f"void {LAUNCH}({', '.join(parts)})"


def result_name(problem: Problem) -> str:
    """The name of the parameter for the entry's result."""
    return fresh("result", _taken(problem))


def _taken(problem: Problem) -> set[str]:
    return {*re.findall(r"#[ \t]*define[ \t]+(\w+)", problem.serial_code), problem.entry} | {
        arg.name for arg in problem.args
    }


def tail(problem: Problem) -> str:
    """The entry's definition. Raises `UnportableError` where an array's length is unknown."""
    head = problem.signature(cuda=True)
    copied = [arg for arg in problem.args if arg.is_array] if problem.metric == "call" else []
    if not copied and not problem.returns:
        names = ", ".join(arg.name for arg in problem.args)
        return f"{head} {{\n    {LAUNCH}({names});\n}}\n"
    memory = _MEMORY.format(count=len(copied) + bool(problem.returns))
    lines, before, after = list[str](), list[str](), list[str]()
    there_of = {arg.name: fresh(f"d_{arg.name}", _taken(problem)) for arg in problem.args}
    for index, arg in enumerate(copied):
        kind, there = arg.spelled(cuda=True), there_of[arg.name]
        size = fresh(f"{arg.name}_bytes", _taken(problem))
        lines.append(f"const size_t {size} = {_bytes(problem, arg)};")
        before.insert(index, _memory(kind, there, index, size))
        if arg.role != "out":
            before.append(_copy(there, arg.name, size, "HostToDevice"))
        if arg.role != "in":
            after.append(_copy(arg.name, there, size, "DeviceToHost"))
    arguments = [there_of[arg.name] if arg in copied else arg.name for arg in problem.args]
    if problem.returns:
        kind, name = problem.slots[-1].spelled(cuda=True), result_name(problem)
        there = fresh(f"d_{name}", _taken(problem))
        before.append(_memory(kind, there, len(copied), f"sizeof({kind})"))
        back = _copy(f"&{name}", there, f"sizeof({kind})", "DeviceToHost")
        after = [f"{kind} {name};", back, *after, f"return {name};"]
        arguments.append(there)
    lines = [*lines, *before, f"{LAUNCH}({', '.join(arguments)});", *after]
    return f"{memory}{head} {{\n" + "".join(f"    {line}\n" for line in lines) + "}\n"


def _memory(kind: str, name: str, index: int, size: str) -> str:
    return f"{kind}* {name} = static_cast<{kind}*>(device_memory({index}, {size}));"


def _copy(target: str, source: str, size: str, way: str) -> str:
    return f"cudaMemcpy({target}, {source}, {size}, cudaMemcpy{way});"


def _bytes(problem: Problem, arg: Argument) -> str:
    sizes = dict[str, str]()
    for parameter in problem.args:  # the value gives a size, or the size and a constant
        match = re.fullmatch(r"\s*([A-Za-z_]\w*)\s*(?:([+-])\s*(\d+))?\s*", parameter.size or "")
        if match:
            back = f" {'-' if match[2] == '+' else '+'} {match[3]}" if match[2] else ""
            sizes[match[1]] = f"({parameter.name}{back})" if back else parameter.name
    extents = [_extent(text, sizes, arg.name) for text in arg.shape]
    return " * ".join((f"sizeof({arg.spelled(cuda=True)})", *extents))


def _extent(text: str, sizes: dict[str, str], name: str) -> str:
    """One extent of a shape, as a factor of a product."""
    tree = ast.parse(text, mode="eval").body
    wide = any(isinstance(node, ast.Mult) for node in ast.walk(tree))
    spelled, factor = ast.unparse(tree), "(1LL * {})" if wide else "{}"
    for size in {*_NAME.findall(spelled)} - sizes.keys():
        raise UnportableError(f"the length of {name} needs {size}, which no parameter tells")
    if not re.fullmatch(r"[\w\s+\-*/%()]+", spelled.replace("**", "?")):
        raise UnportableError(f"the length of {name} is {spelled}, which C++ has no word for")
    spelled = _NAME.sub(lambda it: factor.format(sizes[it[0]]), spelled).replace("//", "/")
    return spelled if isinstance(tree, ast.Name | ast.Constant) else f"({spelled})"
