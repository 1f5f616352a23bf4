"""The function that does the work, and the arguments that the entry passes to it.

A hand-written entry does the work itself. An entry that `problem new` made passes its parameters,
or views or copies of its arrays, to the user's function (adopt/adapter.py).
Not covered: entries that prepare data in other ways than the adapter's.
"""

import re
from dataclasses import dataclass

from tree_sitter import Node

from regraph_kg.cpp.functions import CodeFile, Function, functions, parameter_type, split
from regraph_kg.cpp.syntax import declared_name
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.port.host import flat
from regraph_kg.port.names import UnportableError

_OWN = re.compile(r"std::vector<.+> (\w+_copy_?)\((\w+), \2 \+ (.+)\);")
_BACK = re.compile(
    r"if \((\w+_copy_?)\.size\(\) != std::size_t\(.+\)\) .*std::abort\(\);"
    r"|std::copy\((\w+_copy_?)\.begin\(\), \2\.end\(\), \w+\);"
)
_CALL = re.compile(
    r"(?:const auto returned_? = |return )?(?:(?P<cast>static_cast<[\w: ]+>\())?"
    r"(?P<function>[\w:]+)\((?P<passed>.*)\)(?(cast)\));"
)
_CHECKED = re.compile(r"if \(returned_?\.size\(\) != std::size_t\((.+)\)\) .*std::abort\(\);")
_COPIED = re.compile(r"std::copy\(returned_?\.begin\(\), returned_?\.end\(\), (.+)\);")
_ARRAY = re.compile(r"\*reinterpret_cast<(?:const )?std::array<.+, (\w+)>\*>\((\w+)\)")
_CAST = re.compile(r"reinterpret_cast<[\w: ]+\*>\((\w+)\)")
_SPAN = re.compile(r"(?:std::span|View)<.+?>\(((?:reinterpret_cast<[\w: ]+\*>\()?(\w+)\)?), (.+)\)")


@dataclass(frozen=True, slots=True)
class WorkArgument:
    """The argument of one parameter of the work, as C++ over the entry's parameters."""

    name: str  # the parameter's
    text: str
    length: str = ""  # number of elements of a container; "" for other arguments
    const: bool = False  # whether the entry's pointer is to const


@dataclass(frozen=True, slots=True)
class Work:
    """The function that does the work."""

    function: Function
    arguments: tuple[WorkArgument, ...]
    result: str = ""  # the entry's parameter for the elements of a vector that the function returns


def work_of(problem: Problem, source: CodeFile) -> Work:
    """The function that does the work. Raises `UnportableError`."""
    entry = _unique(source, problem.entry)
    if entry is None:
        raise UnportableError(
            f"serial.cpp does not define {problem.entry} once, as a plain function"
        )
    copied, statements = dict[str, tuple[str, str]](), list[str]()
    for node in entry.body.named_children:
        text = flat(source, node)
        if match := _OWN.fullmatch(text):
            copied[match[1]] = match[2], match[3]
        elif node.type != "comment" and not _BACK.fullmatch(text):
            statements.append(text)
    first = statements[0] if statements else ""
    called = _CALL.fullmatch(first)
    function = _unique(source, called["function"]) if called else None
    result = _result(statements[1:])
    names = [declared_name(node) for node in entry.parameters]
    alone = len(statements) == 1 or first.startswith("const auto returned")
    # the adapter wrote an entry that copies or wraps arrays, or handles the result
    wraps = any(word in first for word in ("reinterpret_cast", "span<", "View<"))
    adapted = bool(copied) or len(statements) > 1 or wraps
    if (
        called is None
        or function is None
        or result is None
        or not alone
        or not (adapted or _passes_on(problem, function, called, names))
    ):
        if len(names) != len(problem.args):
            raise UnportableError(f"{problem.entry} does not take what problem.toml lists")
        pairs = zip(names, problem.args, strict=True)
        return Work(entry, tuple(WorkArgument(name, arg.name) for name, arg in pairs))
    constants = {arg.name for arg in problem.args if arg.role == "in" and arg.is_array}
    passed = split(called["passed"])
    if len(passed) != len(function.parameters):
        raise UnportableError(f"{function.name} has default arguments")
    arguments = [
        _argument(declared_name(node), text, copied, constants)
        for node, text in zip(function.parameters, passed, strict=True)
    ]
    return Work(function, tuple(arguments), result)


def view_of(source: CodeFile) -> Node | None:
    """The class `View` that shows arrays to the user's function as vectors."""
    nodes = source.tree.root_node.children
    views = (
        n for n in nodes if n.type == "template_declaration" and "class View " in source.text(n)
    )
    return next(views, None)


def _passes_on(
    problem: Problem, function: Function, called: re.Match[str], names: list[str]
) -> bool:
    """Whether an entry passes its parameters on, no array twice, and returns the result."""
    passed = split(called["passed"])
    arrays = [arg.name for arg in problem.args if arg.is_array]
    kind = function.node.child_by_field_name("type")
    silent = kind is not None and function.source.text(kind) == "void"
    once = all(passed.count(array) < 2 for array in arrays)  # noqa: PLR2004
    return {*passed} <= {*names} and once and (silent or bool(problem.returns))


def _result(statements: list[str]) -> str | None:
    """The parameter for a returned vector; "" for no vector; None for other statements."""
    if not statements or re.fullmatch("return returned_?;", statements[0]):
        return ""
    *checks, last = statements  # an array needs no check of its length
    copied = _COPIED.fullmatch(last)
    checked = len(checks) < 2 and all(map(_CHECKED.fullmatch, checks))  # noqa: PLR2004
    return copied[1] if copied and checked else None


def _unique(source: CodeFile, name: str) -> Function | None:
    """The only function of a name; None for several or for a template."""
    matches = [
        function for function in functions(source) if name in (function.name, function.qualified)
    ]
    return matches[0] if len(matches) == 1 and not matches[0].templates else None


def _argument(
    name: str, text: str, copied: dict[str, tuple[str, str]], constants: set[str]
) -> WorkArgument:
    if text in copied:
        pointer, length = copied[text]
        return WorkArgument(name, pointer, length, pointer in constants)
    if match := _ARRAY.fullmatch(text):
        return WorkArgument(name, match[2], match[1], match[2] in constants)
    if match := _SPAN.fullmatch(text):
        return WorkArgument(name, match[1], match[3], match[2] in constants)
    if re.search(r"^\*|\[|std::", _CAST.sub(r"\1", text)):
        raise UnportableError(f"the entry passes {text[:60]}, which the host must read first")
    return WorkArgument(name, text)


@dataclass(frozen=True, slots=True)
class Container:
    """A parameter that is a vector, span or array of elements, by reference."""

    element: str
    const: bool
    fixed: str  # number of elements of an array; "" for a vector or span
    view: bool = False  # whether it ends the program where it should get another length


_VIEWS = ("span", "View")
_CONTAINER = re.compile(r"(const )?(?:std::)?(vector|span|array|View)<(.+)>( ?const)?( ?&)?")


def container_of(source: CodeFile, node: Node) -> Container | None:
    """The container that a parameter is, if any. Raises `UnportableError`."""
    match = _CONTAINER.fullmatch(parameter_type(node).replace(" &", "&"))
    if match is None:
        return None
    kind, inside = match[2], split(match[3])
    element = inside[0].removeprefix("const ")
    if "vector" in element or (kind not in _VIEWS and not match[5]):
        raise UnportableError(f"{source.text(node)[:60]}: a container that is copied, or of others")
    const = bool(match[1] or match[4]) if kind not in _VIEWS else inside[0].startswith("const ")
    return Container(element, const, inside[1] if kind == "array" else "", kind == "View")
