"""Is serial.cpp's entry point what problem.toml declares? The compiler compares the two.

Declared types are held against the function's own in one more translation unit: the serial code
and a static_assert on the type of its address. Integers are alike that have size and sign in
common (`long` is int64 where it has 64 bits; `char` is either sign), a pointer's target likewise;
inputs may lack const. On a mismatch the compiler names the type that it saw, and the text below
only explains it.

Not covered: parameters of one type in another order, unless serial.cpp gives them the names of
problem.toml (then a look at its text finds that); functions with overloads.
"""

import re
from dataclasses import dataclass

from regraph_kg.evaluation.compile.compile import Compiler
from regraph_kg.evaluation.problem.problem import C_TYPES, Argument, Problem
from regraph_kg.evaluation.problem.types import is_whole
from regraph_kg.evaluation.rules import Failure

_FLAGS = ("-std=c++17", "-O0")
_ACTUAL = re.compile(r"regraph_actual<(.*?) ?\(\*\)\((.*)\)>")
_CHECK = """
#include <type_traits>
template <class T> struct regraph_actual;  // never defined: an error message names T
namespace regraph_signature {
template <class A, class D> constexpr bool value() {
  using T = std::remove_cv_t<A>;
  if constexpr (std::is_same_v<T, D>) return true;
  if constexpr (std::is_same_v<T, char>) return sizeof(D) == 1;
  return std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && sizeof(T) == sizeof(D) &&
         std::is_floating_point_v<T> == std::is_floating_point_v<D> &&
         std::is_signed_v<T> == std::is_signed_v<D>;
}
template <class A, class D> constexpr bool alike() {
  if constexpr (std::is_pointer_v<A> != std::is_pointer_v<D>) return false;
  else if constexpr (!std::is_pointer_v<A>) return value<A, D>();
  else {
    using To = std::remove_pointer_t<A>;
    using Declared = std::remove_pointer_t<D>;
    if constexpr (std::is_const_v<To> && !std::is_const_v<Declared>) return false;
    else return value<To, std::remove_cv_t<Declared>>();
  }
}
template <class A, class D> constexpr bool result() {
  if constexpr (std::is_void_v<A> || std::is_void_v<D>) return std::is_same_v<A, D>;
  else return value<A, D>();
}
template <class Q, class... D> struct declared {
  template <class R, class... A> static constexpr bool same(R (*)(A...)) {
    if constexpr (sizeof...(A) != sizeof...(D)) return false;
    else return result<R, Q>() && (alike<A, D>() && ...);
  }
};
}
template <bool Same> struct regraph_look { template <class T> using at = T; };
template <> struct regraph_look<false> { template <class T> using at = regraph_actual<T>; };
static_assert(sizeof(typename regraph_look<regraph_signature::declared<%(types)s>::same(
    static_cast<decltype(&::%(entry)s)>(nullptr))>::template at<decltype(&::%(entry)s)>), "");
"""
_SPELLED = {
    "float": "float32",
    "double": "float64",
    "char": "int8",
    "size_t": "uint64",
    "signed char": "int8",
    "unsigned char": "uint8",
    "short int": "int16",
    "short unsigned int": "uint16",
    "int": "int32",
    "unsigned int": "uint32",
    "long int": "int64",
    "long long int": "int64",
    "long unsigned int": "uint64",
    "long long unsigned int": "uint64",
}
"""What g++ writes for a type -> ours."""
_WHOLE = {kind for kind in C_TYPES if is_whole(kind)}


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A difference of the two, and the line that mends it."""

    text: str
    write: str


def mismatch(problem: Problem, code: str, compiler: Compiler, name: str) -> Mismatch | None:
    """The difference of `code`, which compiles, from the declaration; None where there is none.

    `name` is that of its file.
    """
    types = ", ".join([_returned(problem), *map(_declared, problem.args)])
    check = _CHECK % {"types": types, "entry": problem.entry}
    result = compiler.host(code + check + "".join(map(_layout, problem.args)), _FLAGS)
    if not isinstance(result, Failure):
        return _swapped(problem, code, name)
    for arg in problem.args:
        if arg.struct and (f"regraph_layout_{arg.struct}" in result.diagnosis):
            declared = ", ".join(f"{kind} {name}" for name, kind in (arg.fields or {}).items())
            text = f"struct {arg.struct} of {name} has not the fields {declared}, in this order"
            return Mismatch(text, f"fields of [[args]] {arg.name} as {name} has them")
    match = _ACTUAL.search(result.diagnosis)
    if match is None:
        text = f"{name} has no such function {problem.entry} ({_short(result.diagnosis)})"
        return Mismatch(text, problem.signature())
    return _explain(problem, match[1], _split(match[2]), name)


def _declared(arg: Argument) -> str:
    const = "const " if arg.is_array and arg.role == "in" else ""
    return f"{const}{arg.spelled()}{'*' if arg.is_array else ''}"


def _layout(arg: Argument) -> str:
    """C++ that asserts the declared layout of a struct."""
    if not arg.struct or not arg.fields:
        return ""
    places = dict(arg.dtype.fields or {})
    each = [
        f"regraph_signature::value<decltype({arg.struct}::{name}), {C_TYPES[kind]}>()"
        f" && offsetof({arg.struct}, {name}) == {places[name][1]}"
        for name, kind in arg.fields.items()
    ]
    size = f"sizeof({arg.struct}) == {arg.dtype.itemsize}"
    message = f"regraph_layout_{arg.struct}"
    return f'#include <stddef.h>\nstatic_assert({" && ".join([size, *each])}, "{message}");\n'


def _returned(problem: Problem) -> str:
    return C_TYPES[problem.returns.type] if problem.returns else "void"


def _split(arguments: str) -> list[str]:
    return [] if arguments in ("", "void") else arguments.split(", ")


def _explain(problem: Problem, returned: str, actual: list[str], name: str) -> Mismatch:
    """The difference in words: count, order, one argument, or the returned value."""
    declared = [_kind(_declared(arg)) for arg in problem.args]
    kinds = [_kind(text) for text in actual]
    if len(actual) != len(declared):
        text = f"{name} takes {len(actual)} arguments, problem.toml declares {len(declared)}"
        return Mismatch(text, problem.signature())
    if kinds != declared and sorted(kinds) == sorted(declared):
        text = f"{name} takes ({', '.join(actual)}), another order than [[args]]"
        return Mismatch(text, problem.signature())
    for index, (kind, arg) in enumerate(zip(kinds, problem.args, strict=True)):
        if kind != declared[index]:
            return _argument(arg, index, actual[index], name)
    if _kind(returned) != _kind(_returned(problem)):
        fault = f"{name} returns {returned}, not {_returned(problem)}"
        ours, _ = _kind(returned)
        known = ours in set(C_TYPES)
        return Mismatch(fault, f'returns = {{ type = "{ours}" }}' if known else problem.signature())
    for arg, text in zip(problem.args, actual, strict=True):
        if arg.role in ("out", "inout") and text.startswith("const "):
            fault = f"{name} takes {arg.name} as {text}, problem.toml as an output"
            return Mismatch(fault, f'role = "in" in [[args]] {arg.name}')
    return Mismatch(f"{name} takes ({', '.join(actual)})", problem.signature())


def _argument(arg: Argument, index: int, actual: str, name: str) -> Mismatch:
    kind, pointer = _kind(actual)
    message = (
        f"argument {index + 1}, {arg.name}, is {actual} in {name}, {_declared(arg)} in problem.toml"
    )
    fits = arg.role != "size" or kind in _WHOLE
    if pointer == arg.is_array and kind in set(C_TYPES) and fits:
        return Mismatch(message, f'type = "{kind}" in [[args]] {arg.name}')
    return Mismatch(message, f"{_declared(arg)} {arg.name} in {name}")


def _kind(spelled: str) -> tuple[str, bool]:
    """The problem.toml type, else the C++ spelling, and whether it is a pointer's target."""
    pointer = spelled.endswith("*")
    plain = " ".join(spelled.rstrip("*").replace("const", "").split())
    ours = {text: kind for kind, text in C_TYPES.items()} | _SPELLED
    return ours.get(plain, plain), pointer


def _swapped(problem: Problem, code: str, name: str) -> Mismatch | None:
    """Parameters of serial.cpp that have the declared names, in another order."""
    match = re.search(rf"\b{problem.entry}\s*\(([^(){{}};]*)\)\s*(?:noexcept\s*)?\{{", code)
    words = [re.findall(r"[A-Za-z_]\w*", part) for part in match[1].split(",")] if match else []
    names = [part[-1] if part else "" for part in words]
    declared = [arg.name for arg in problem.args]
    if names == declared or sorted(names) != sorted(declared):
        return None
    message = f"{name} names its arguments {', '.join(names)}, problem.toml {', '.join(declared)}"
    return Mismatch(message, f"[[args]] in the order {', '.join(names)}")


def _short(diagnosis: str) -> str:
    line = (diagnosis.splitlines() or ["no message"])[0]
    return line.rpartition("error: ")[2][:200]
