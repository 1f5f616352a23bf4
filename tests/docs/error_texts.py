"""Every text that an error of this program can carry, read from its source.

A text is what stands in the source with `…` for each value that is put in. Followed are constants
of modules (imported ones, too), what a function of the same module returns, what its callers give
it, tables, and both arms of a condition. A value that brings a sentence of its own (three words or
more) is a text of its own beside the one that it is put into. What the operating system, a
compiler or a server says is not ours and stays `…`.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import product
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("regraph_kg", "search", "evaluation", "ingest", "collect", "adopt")
SAYS = re.compile(r"%[-.0-9]*[a-z]")
"""A value's place in the text of a warning."""
ROOTS = {"RegraphError", "ValueError", "Exception"}
REMEDIES = {"CheckResult": 2, "Feature": 3, "Confinement": 1}
"""Rows of `regraph doctor`: which argument says how to mend what was found."""
HOLE = "…"
DEEPEST = 6
"""How many names, calls and returns are followed from an error to its text."""
MOST = 40
"""Texts of one expression: more of them are one hole."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Module:
    """A file of the program, and what its names stand for."""

    path: Path
    tree: ast.Module
    within: dict[int, Function | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._place(self.tree, None)

    def _place(self, node: ast.AST, function: Function | None) -> None:
        for child in ast.iter_child_nodes(node):
            self.within[id(child)] = function
            self._place(child, child if isinstance(child, Function) else function)

    @cached_property
    def functions(self) -> dict[str, list[Function]]:
        found: dict[str, list[Function]] = defaultdict(list)
        for node in ast.walk(self.tree):
            if isinstance(node, Function):
                found[node.name].append(node)
        return found

    @cached_property
    def calls(self) -> dict[str, list[ast.Call]]:
        found: dict[str, list[ast.Call]] = defaultdict(list)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                found[called(node)].append(node)
        return found

    def assigned(self, name: str, function: Function | None) -> list[ast.expr]:
        """What is assigned to a name in a function, or in the module outside of functions."""
        found = []
        for node in ast.walk(function or self.tree):
            if self.within.get(id(node)) is not function:
                continue
            if isinstance(node, ast.Assign):
                found += [node.value for target in node.targets if _named(target) == name]
            elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value:
                found += [node.value] if _named(node.target) == name else []
            elif isinstance(node, ast.For) and name in map(_named, ast.walk(node.target)):
                found.append(_gone_through(node.iter))
        return found

    @cached_property
    def imports(self) -> dict[str, tuple[str, str]]:
        """What a name stands for: a module of ours, and the name there."""
        return {
            one.asname or one.name: (node.module, one.name)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ImportFrom) and node.module in modules()
            for one in node.names
        }

    def imported(self, name: str) -> tuple["Module", str] | None:
        """Where a name comes from, if that is a module of ours."""
        if name not in self.imports:
            return None
        module, own = self.imports[name]
        return modules()[module], own


def _named(node: ast.expr) -> str:
    return str(getattr(node, "id", getattr(node, "attr", "")))


def _gone_through(node: ast.expr) -> ast.expr:
    """A table, of the call that gives its items or values."""
    if isinstance(node, ast.Call) and called(node) in ("items", "values"):
        return node.func.value if isinstance(node.func, ast.Attribute) else node
    return node


def called(node: ast.Call) -> str:
    """The last name of what is called."""
    return _named(node.func)


@cache
def modules() -> dict[str, Module]:
    """Every module of the program, by its dotted name."""
    found = {}
    for path in sorted(one for folder in FOLDERS for one in (ROOT / folder).rglob("*.py")):
        if not any(one.is_symlink() for one in (path, *path.parents)):
            dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found[dotted.removesuffix(".__init__")] = Module(path, tree)
    return found


@cache
def error_classes() -> set[str]:
    """`ValueError`, whose texts are put into our errors, and every class of errors of ours."""
    bases = {
        node.name: {_named(base) for base in node.bases}
        for module in modules().values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
    }
    found = set(ROOTS)
    while more := {name for name, above in bases.items() if name not in found and above & found}:
        found |= more
    return found - {"Exception"}


class Texts:
    """The texts of expressions of one module."""

    def __init__(self, module: Module, beside: set[str]) -> None:
        self._module, self._beside = module, beside

    def of(self, node: ast.expr, depth: int = 0) -> set[str]:
        """What an expression can say, holes for what is not known; never empty."""
        found = self._of(node, depth) if depth < DEEPEST else set()
        return found if 0 < len(found) <= MOST else {HOLE}

    def _of(self, node: ast.expr, depth: int) -> set[str]:
        match node:
            case ast.Constant(value=str(text)):
                found = {text}
            case ast.JoinedStr(values=parts):
                found = self._joined([self._put_in(part, depth) for part in parts])
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                found = self._joined([self.of(left, depth), self.of(right, depth)])
            case ast.IfExp(body=body, orelse=other):
                found = self.of(body, depth) | self.of(other, depth)
            case (
                ast.BoolOp(values=several)
                | ast.Dict(values=several)
                | ast.Tuple(elts=several)
                | ast.List(elts=several)
            ):
                found = set().union(*(self.of(one, depth) for one in several))
            case ast.Subscript(value=inner):
                found = self.of(inner, depth + 1)
            case ast.Name(id=name):
                found = self._name(node, name, depth + 1)
            case ast.Call():
                found = self._call(node, depth + 1)
            case _:
                found = {HOLE}
        return found

    def _joined(self, parts: list[set[str]]) -> set[str]:
        return {"".join(some) for some in product(*parts)}

    def _put_in(self, part: ast.expr, depth: int) -> set[str]:
        """A piece of a formatted string: its constant, or a hole, with sentences noted apart."""
        if isinstance(part, ast.Constant):
            return {str(part.value)}
        assert isinstance(part, ast.FormattedValue)
        texts = self.of(part.value, depth + 1)
        constant = isinstance(part.value, ast.Name) and len(texts) == 1 and HOLE not in min(texts)
        if constant:
            return texts
        self._beside |= {text for text in texts if is_sentence(text)}
        return {HOLE}

    def _name(self, node: ast.Name, name: str, depth: int) -> set[str]:
        function = self._module.within.get(id(node))
        while function:
            arguments = [
                posonlyarg.arg for posonlyarg in (*function.args.posonlyargs, *function.args.args)
            ]
            arguments += [kwonlyarg.arg for kwonlyarg in function.args.kwonlyargs]
            if name in arguments:
                return self._given(function, name, depth)
            if values := self._module.assigned(name, function):
                return set().union(*(self.of(value, depth) for value in values))
            function = self._module.within.get(id(function))
        if values := self._module.assigned(name, None):
            return set().union(*(self.of(value, depth) for value in values))
        if source := self._module.imported(name):
            values = source[0].assigned(source[1], None)
            texts = Texts(source[0], self._beside)
            return set().union(*(texts.of(value, depth) for value in values))
        return {HOLE}

    def _given(self, function: Function, name: str, depth: int) -> set[str]:
        """What callers of the same module give a function for an argument."""
        names = [posonlyarg.arg for posonlyarg in (*function.args.posonlyargs, *function.args.args)]
        skipped = names[:1] in (["self"], ["cls"])
        found: set[str] = set()
        for call in self._module.calls[function.name]:
            keywords = {keyword.arg: keyword.value for keyword in call.keywords}
            at = names.index(name) - skipped if name in names else len(call.args)
            given = keywords.get(name) or (call.args[at] if at < len(call.args) else None)
            found |= self.of(given, depth) if given else set()
        return found

    def _call(self, node: ast.Call, depth: int) -> set[str]:
        """What a function of ours returns; what a method of a text is given or called on."""
        name = called(node)
        if isinstance(node.func, ast.Attribute) and name in ("join", "get", "format"):
            several = [node.func.value, *node.args] if name == "get" else node.args
            for one in several:
                self._beside |= {text for text in self.of(one, depth) if is_sentence(text)}
            return {HOLE}
        if name in ("_with_remedy", "str", "filter") and node.args:
            return self.of(node.args[-1], depth)
        home, name = self._module.imported(name) or (self._module, name)
        texts = Texts(home, self._beside)
        found: set[str] = set()
        for function in home.functions[name]:
            for one in ast.walk(function):
                if isinstance(one, ast.Return) and one.value:
                    found |= texts.of(one.value, depth)
        return found


def is_sentence(text: str) -> bool:
    """Whether a text says something: three words or more."""
    return not text.startswith("-") and len(re.findall(r"[A-Za-z]{2,}", text)) >= 3


def plain(text: str) -> str:
    """A text on one line, holes that touch each other as one."""
    return re.sub(f"{HOLE}+", HOLE, " ".join(text.split()))


@cache
def error_texts() -> dict[str, str]:
    """Every text, and the file and line of an error that carries it."""
    found: dict[str, str] = {}
    for module in modules().values():
        for name in error_classes():
            for call in module.calls[name]:
                where = f"{module.path.relative_to(ROOT)}:{call.lineno}"
                for text in texts_of(module, call.args[:1]):
                    found.setdefault(text, where)
        for text, where in _beside(module):
            found.setdefault(text, where)
    return found


def _beside(module: Module) -> Iterator[tuple[str, str]]:
    """Texts that are no first argument of an error: of constructors, warnings and doctor's rows."""
    several = [
        *((call, call.args[:1]) for call in module.calls["__init__"] if _raises(module, call)),
        *((call, call.args[:1]) for call in module.calls["warning"]),
        *(
            (call, call.args[at : at + 1])
            for name, at in REMEDIES.items()
            for call in module.calls[name]
        ),
    ]
    for call, arguments in several:
        for text in texts_of(module, arguments):
            yield plain(SAYS.sub(HOLE, text)), f"{module.path.relative_to(ROOT)}:{call.lineno}"


def _raises(module: Module, call: ast.Call) -> bool:
    """Whether a call of a constructor stands in a class of errors."""
    return any(
        isinstance(node, ast.ClassDef) and node.name in error_classes() and call in ast.walk(node)
        for node in module.tree.body
    )


def texts_of(module: Module, arguments: list[ast.expr]) -> Iterator[str]:
    """The texts that say anything."""
    beside: set[str] = set()
    for argument in arguments:
        own = Texts(module, beside).of(argument)
        yield from (plain(text) for text in own if re.search("[A-Za-z]{2}", text))
    yield from map(plain, beside)
