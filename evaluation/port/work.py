"""The function that does the work, and what the entry passes to it.

The entry of a problem that was written by hand does the work itself. One that `problem new` made
gives the user's function views or copies of its arrays, or passes its parameters on
(adopt/adapter.py).
Not covered: entries that prepare or copy data in ways of their own, beyond the adapter's.
"""

import re
from dataclasses import dataclass

from tree_sitter import Node

from regraph_kg.evaluation.cpp.syntax import (
    CodeFile,
    Function,
    declared_name,
    functions,
    parameter_type,
    split,
)
from regraph_kg.evaluation.port.edits import UnportableError
from regraph_kg.evaluation.port.host import flat
from regraph_kg.evaluation.problem.problem import Problem

_OWN = re.compile(r"std::vector<.+> (\w+_copy)\((\w+), \2 \+ (.+)\);")
_BACK = re.compile(
    r"if \((\w+_copy)\.size\(\) != std::size_t\(.+\)\) std::abort\(\);"
    r"|std::copy\((\w+_copy)\.begin\(\), \2\.end\(\), \w+\);"
)
_CALL = re.compile(r"(?:const auto returned = |return )?([\w:]+)\((.*)\);")
_CHECKED = re.compile(r"if \(returned\.size\(\) != std::size_t\((.+)\)\) std::abort\(\);")
_COPIED = re.compile(r"std::copy\(returned\.begin\(\), returned\.end\(\), (\w+)\);")
_ARRAY = re.compile(r"\*reinterpret_cast<(?:const )?std::array<.+, (\w+)>\*>\((\w+)\)")
_SPAN = re.compile(r"(?:std::span|View)<.+>\((\w+), (.+)\)")


@dataclass(frozen=True, slots=True)
class WorkArgument:
    """What one parameter of the work gets: C++ over the entry's parameters."""

    name: str
    """The parameter's."""
    text: str
    length: str = ""
    """Elements of a container; "" for what is none."""
    const: bool = False
    """The entry's pointer is to what nobody writes."""


@dataclass(frozen=True, slots=True)
class Work:
    """The function that does the work."""

    function: Function
    arguments: tuple[WorkArgument, ...]
    result: str = ""
    """The entry's parameter where the elements go of a vector that the function returns."""


def work_of(problem: Problem, source: CodeFile) -> Work:
    """Find it. Raises `UnportableError`."""
    entry = _one(source, problem.entry)
    if entry is None:
        raise UnportableError(
            f"serial.cpp does not define {problem.entry} once, as a plain function"
        )
    copied, rest = dict[str, tuple[str, str]](), list[str]()
    for node in entry.body.named_children:
        text = flat(source, node)
        if found := _OWN.fullmatch(text):
            copied[found[1]] = found[2], found[3]
        elif node.type != "comment" and not _BACK.fullmatch(text):
            rest.append(text)
    called = _CALL.fullmatch(rest[0]) if rest else None
    function = _one(source, called[1]) if called else None
    result = _result(rest[1:])
    names = [declared_name(source, node) for node in entry.parameters]
    alone = len(rest) == 1 or (bool(rest) and rest[0].startswith("const auto returned = "))
    follows = (
        called is not None
        and alone
        and (_adapted(called, rest, copied) or _passes_on(problem, function, called, names))
    )
    if called is None or function is None or result is None or not follows:
        if len(names) != len(problem.args):
            raise UnportableError(f"{problem.entry} does not take what problem.toml lists")
        pairs = zip(names, problem.args, strict=True)
        return Work(entry, tuple(WorkArgument(name, arg.name) for name, arg in pairs))
    constants = {arg.name for arg in problem.args if arg.role == "in" and arg.is_array}
    given = split(called[2])
    if len(given) != len(function.parameters):
        raise UnportableError(f"{function.name} has default arguments")
    arguments = [
        _argument(declared_name(source, node), text, copied, constants)
        for node, text in zip(function.parameters, given, strict=True)
    ]
    return Work(function, tuple(arguments), result)


def view_of(source: CodeFile) -> Node | None:
    """The class through which the user's function sees arrays as it would vectors."""
    nodes = source.tree.root_node.children
    kept = (
        n for n in nodes if n.type == "template_declaration" and "class View " in source.text(n)
    )
    return next(kept, None)


def _passes_on(
    problem: Problem, function: Function | None, called: re.Match[str], names: list[str]
) -> bool:
    """Whether an entry gives its own parameters to a function, no array twice.

    What the function returns, the entry does.
    """
    given = split(called[2])
    arrays = [arg.name for arg in problem.args if arg.is_array]
    kind = function.node.child_by_field_name("type") if function is not None else None
    silent = function is not None and kind is not None and function.source.text(kind) == "void"
    once = all(given.count(array) < 2 for array in arrays)  # noqa: PLR2004
    return {*given} <= {*names} and once and (silent or bool(problem.returns))


def _adapted(called: re.Match[str], rest: list[str], copied: dict[str, tuple[str, str]]) -> bool:
    """Whether the adapter wrote the entry: it copies, or has the result in its own words."""
    wraps = any(word in called[2] for word in ("reinterpret_cast", "span<", "View<"))
    return bool(copied) or len(rest) > 1 or wraps


def _result(rest: list[str]) -> str | None:
    """Where a vector that is returned goes: "" where none is; None for statements of another's."""
    if not rest or rest == ["return returned;"]:
        return ""
    copied = _COPIED.fullmatch(rest[-1])
    if len(rest) == 2 and _CHECKED.fullmatch(rest[0]) and copied:  # noqa: PLR2004
        return copied[1]
    return None


def _one(source: CodeFile, name: str) -> Function | None:
    """The function of that name, where there is one and no template."""
    found = [
        function for function in functions(source) if name in (function.name, function.qualified)
    ]
    return found[0] if len(found) == 1 and not found[0].templates else None


def _argument(
    name: str, text: str, copied: dict[str, tuple[str, str]], constants: set[str]
) -> WorkArgument:
    if text in copied:
        pointer, length = copied[text]
        return WorkArgument(name, pointer, length, pointer in constants)
    if found := _ARRAY.fullmatch(text):
        return WorkArgument(name, found[2], found[1], found[2] in constants)
    if found := _SPAN.fullmatch(text):
        return WorkArgument(name, found[1], found[2], found[1] in constants)
    if re.search(r"^\*|\[|std::", text):
        raise UnportableError(f"the entry passes {text[:60]}, which the host must read first")
    return WorkArgument(name, text)


@dataclass(frozen=True, slots=True)
class Container:
    """A parameter that is a vector, span or array of elements, by reference."""

    element: str
    const: bool
    fixed: str
    """How many elements an array has; "" for the others."""


_VIEWS = ("span", "View")
_CONTAINER = re.compile(r"(const )?(?:std::)?(vector|span|array|View)<(.+)>( ?const)?( ?&)?")


def container_of(source: CodeFile, node: Node) -> Container | None:
    """What a parameter's type says, where it is a container. Raises `UnportableError`."""
    found = _CONTAINER.fullmatch(parameter_type(source, node).replace(" &", "&"))
    if found is None:
        return None
    kind, inside = found[2], split(found[3])
    element = inside[0].removeprefix("const ")
    if "vector" in element or (kind not in _VIEWS and not found[5]):
        raise UnportableError(f"{source.text(node)[:60]}: a container that is copied, or of others")
    const = bool(found[1] or found[4]) if kind not in _VIEWS else inside[0].startswith("const ")
    return Container(element, const, inside[1] if kind == "array" else "")
