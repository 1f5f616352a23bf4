"""Is serial.cpp's entry point what problem.toml declares? The compiler compares the two.

One more translation unit holds the serial code and a static_assert on the type of its address;
where they differ, g++ names the type that it saw. Alike are integers of one size and sign, and
arrays with and without const.
Not covered: parameters of one type in another order, unless serial.cpp gives them the names of
problem.toml (then a look at its text finds that); functions with overloads.
"""

import re
from pathlib import Path

from regraph_kg.evaluation.checkup.findings import ProblemFinding, error
from regraph_kg.evaluation.compile.compile import Compiler
from regraph_kg.evaluation.problem.problem import C_TYPES, Argument, Problem
from regraph_kg.evaluation.rules import Failure

_FLAGS = ("-std=c++17", "-O0", "-march=native")
_ACTUAL = re.compile(r"regraph_same<false, (.*)>'")
_CHECK = Path(__file__).with_suffix(".hpp").read_text("utf-8")


def mismatch(problem: Problem, code: str, compiler: Compiler, name: str) -> ProblemFinding | None:
    """An error where `code`, which compiles, is not as declared; `name` is that of its file."""
    returned = C_TYPES[problem.returns.type] if problem.returns else "void"
    types = ", ".join(f"{arg.spelled()}{'*' if arg.is_array else ''}" for arg in problem.args)
    check = _CHECK % {"entry": problem.entry, "declared": f"{returned} (*)({types})"}
    result = compiler.host(code + check + "".join(map(_layout, problem.args)), _FLAGS)
    if not isinstance(result, Failure):
        return _swapped(problem, code, name)
    for arg in problem.args:
        if arg.struct and f"regraph_layout_{arg.struct}" in result.diagnosis:
            declared = ", ".join(f"{kind} {name}" for name, kind in (arg.fields or {}).items())
            text = f"struct {arg.struct} of {name} has not the fields {declared}, in this order"
            return error("signature", text, f"fields of [[args]] {arg.name} as {name} has them")
    actual = _ACTUAL.search(result.diagnosis)
    if actual:
        text = f"{problem.entry} of {name} is {actual[1].replace('(*)', problem.entry)}"
    else:
        first = result.diagnosis.splitlines()[:1] or ["no message"]
        reason = first[0].rpartition("error: ")[2][:200]
        text = f"{name} has no such function {problem.entry} ({reason})"
    return error("signature", text, problem.signature())


def _layout(arg: Argument) -> str:
    """C++ that asserts the declared layout of a struct."""
    if not arg.struct or not arg.fields:
        return ""
    places = dict(arg.dtype.fields or {})
    each = [
        f"regraph_signature::alike<decltype({arg.struct}::{name}), {C_TYPES[kind]}>"
        f" && offsetof({arg.struct}, {name}) == {places[name][1]}"
        for name, kind in arg.fields.items()
    ]
    size = f"sizeof({arg.struct}) == {arg.dtype.itemsize}"
    return f'static_assert({" && ".join([size, *each])}, "regraph_layout_{arg.struct}");\n'


def _swapped(problem: Problem, code: str, name: str) -> ProblemFinding | None:
    """An error where parameters of serial.cpp have the declared names, in another order."""
    match = re.search(rf"\b{problem.entry}\s*\(([^(){{}};]*)\)\s*(?:noexcept\s*)?\{{", code)
    words = [re.findall(r"[A-Za-z_]\w*", part) for part in match[1].split(",")] if match else []
    names = [part[-1] if part else "" for part in words]
    declared = [arg.name for arg in problem.args]
    if names == declared or sorted(names) != sorted(declared):
        return None
    text = f"{name} names its arguments {', '.join(names)}, problem.toml {', '.join(declared)}"
    return error("signature", text, f"[[args]] in the order {', '.join(names)}")
