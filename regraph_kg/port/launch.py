"""`launch`: the host function of a port that starts the kernels on the device's arrays."""

import re
from dataclasses import dataclass

from tree_sitter import Node

from regraph_kg.cpp.functions import Function, parameter_type
from regraph_kg.cpp.syntax import declared_name
from regraph_kg.evaluation.problem.declaration import Argument
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.port.containers import FunctionContainers
from regraph_kg.port.kernels import THREADS, Array, Kernels, Scope
from regraph_kg.port.names import UnportableError, fresh, helpers
from regraph_kg.port.order import Order, device_names
from regraph_kg.port.work import Work
from regraph_kg.port.wrapper import result_name, signature


@dataclass(frozen=True, slots=True)
class Launch:
    """The contents of `launch`, and of the kernels that it starts."""

    problem: Problem
    work: Work
    owner: FunctionContainers
    function: Function  # the work, as a function of pointers and numbers
    taken: frozenset[str]  # names in the code
    tables: tuple[str, ...] = ()  # kernels that compute constants

    def text(self, *, one_thread: bool) -> tuple[str, bool]:
        """The whole part of a model, and whether any kernel has several threads."""
        source, node = self.function.source, self.function.node
        text = source.original
        others = (text[: node.start_byte] + text[node.end_byte :]).decode()
        kernels = Kernels(others, self.function.name, self.taken)
        order = Order(self.function, kernels, device_names(source), self._returned)
        lines = order.lines(self._scope(), one_thread=one_thread)
        if kernels.deals:
            lines = [f"const int {kernels.block} = {THREADS};", *lines]
        kept = [f"__device__ {kernels.types[name]} {at};" for name, at in kernels.kept.items()]
        parts = ["\n".join(kept)] if kept else []
        parts += helpers("\n".join((*kernels.texts, *lines)))
        if len(kernels.texts) == 1:  # it needs no number
            numbered = re.compile(rf"\b{self.function.name}_1\b")
            kernels.texts[0] = numbered.sub(self.function.name, kernels.texts[0])
            lines = [numbered.sub(self.function.name, line) for line in lines]
        parts += kernels.texts
        aliases = self._aliases()
        names = {arg.name for arg in self.problem.args} - {n for n, _ in self._parameters()}
        inside = re.findall(r"[A-Za-z_]\w*", self.function.source.text(self.function.body))
        hides = bool(names & {*inside})  # what `launch` calls otherwise
        own = aliases is None or bool(self.function.scope) or hides
        if own:
            heads = ", ".join(head for _, head in self._parameters())
            name = f"{self.function.name}_host"
            parts.append(f"static void {name}({heads}) {{\n{_indented(lines)}}}")
            scope = "".join(f"{part}::" for part in self.function.scope)
            lines = [f"{scope}{name}({', '.join(self._arguments())});"]
        else:
            words = set(re.findall(r"\w+", "\n".join(lines)))
            lines = [*(line for name, line in aliases or () if name in words), *lines]
        code = source.original
        code = code[: node.start_byte] + "\n\n".join(parts).encode() + code[node.end_byte :]
        lines = [*(f"{name}<<<1, 1>>>();" for name in self.tables), *lines]
        structs = dict.fromkeys(arg.struct or "" for arg in self.problem.args)
        above = "".join(f"{line}\n" for name in structs if (line := alias_of(self.problem, name)))
        launch = f"{above}{signature(self.problem)} {{\n{_indented(lines)}}}\n"
        return f"{code.decode().strip()}\n\n{launch}", kernels.deals

    def _scope(self) -> Scope:
        """What the work knows at its start."""
        reads = {arg.name: arg.role == "in" for arg in self.problem.args if arg.is_array}
        arrays, scalars, source = dict[str, Array](), dict[str, str](), self.function.source
        named = [(it, it.child_by_field_name("type") or it) for it in self.function.parameters]
        kinds = {declared_name(it): source.text(kind) for it, kind in named}
        for (name, head), text in zip(self._parameters(), self._arguments(), strict=True):
            words = set(re.findall(r"\w+", text)) & reads.keys()
            if not (words or name in (self.owner.result, self._place)):
                scalars[name] = head.removeprefix("const ")[: -len(name)].strip()
                continue
            is_read = bool(words) and all(reads[word] for word in words) and "const" in head
            root = next(iter(words), name)
            element = kinds.get(name) or self._kind
            arrays[name] = Array(element, head, not is_read, frozenset({root}))
        return Scope(arrays, scalars, exact=self.problem.tolerance == "exact")

    @property
    def _kind(self) -> str:
        """The type of what the entry returns; "" where that is nothing."""
        return self.problem.slots[-1].spelled(cuda=True) if self.problem.returns else ""

    @property
    def _place(self) -> str:
        """The parameter for the value that the work returns; "" where it returns none."""
        return fresh(result_name(self.problem), self.taken) if self._kind else ""

    def _returned(self, value: str) -> list[str]:
        """How a kernel, and how the host stores the value that the work returns."""
        if not self._kind:
            raise UnportableError(f"{self.owner.function.name} returns what the entry does not")
        kind = self.function.node.child_by_field_name("type")
        told = self.function.source.text(kind) if kind is not None else self._kind
        cast = value if told in ("auto", self._kind) else f"({told})({value})"
        kept = fresh("returned", self.taken)
        return [
            f"*{self._place} = {cast};",
            f"const {self._kind} {kept} = {cast};",
            f"cudaMemcpy({self._place}, &{kept}, sizeof({kept}), cudaMemcpyHostToDevice);",
        ]

    def _parameters(self) -> list[tuple[str, str]]:
        constants = {argument.name for argument in self.work.arguments if argument.const}
        taken = self.owner.declarations(constants)
        return [*taken, *([(self._place, f"{self._kind}* {self._place}")] if self._kind else [])]

    def _aliases(self) -> list[tuple[str, str]] | None:
        """The work's parameters as variables of `launch`; None where a name is another's."""
        names, lines = {arg.name: arg for arg in self.problem.args}, list[tuple[str, str]]()
        for (name, head), text in zip(self._parameters(), self._arguments(), strict=True):
            arg = names.get(name)
            kind = re.sub(r"^const (?=[^*]*$)", "", head)
            if text == name and (name == self._place or arg is None or arg.is_array):
                continue
            if text == name and arg is not None and kind == f"{arg.spelled(cuda=True)} {name}":
                continue
            if arg is not None or text == name:
                return None
            lines.append((name, f"{head} = {text};"))
        return lines

    def _arguments(self) -> list[str]:
        arguments, kinds = list[str](), {arg.name: arg for arg in self.problem.args if arg.is_array}
        for node, argument in zip(self.owner.function.parameters, self.work.arguments, strict=True):
            arg = kinds.get(argument.text)
            plain = argument.name in self.owner.parameters or arg is None
            arguments.append(argument.text if plain or arg is None else self._cast(arg, node))
            if argument.name in self.owner.sized:
                arguments.append(argument.length)
        if self.owner.result:
            arguments.append(self.work.result)
        return [*arguments, *([result_name(self.problem)] if self._kind else [])]

    def _cast(self, arg: Argument, node: Node) -> str:
        """An array argument, cast where the work spells its type otherwise."""
        kind = parameter_type(node)
        kind = re.sub(r"\s*\b__restrict(?:__)?", "", kind)
        kind = re.sub(r"^([^[(]+)\[\w*\]", r"\1(*)", kind)
        kind = f"{kind[:-3]}*" if kind.endswith("(*)") else kind
        const = "const " if arg.role == "in" else ""
        same = {f"{const}{arg.spelled(cuda=True)}*", f"const {arg.spelled(cuda=True)}*"}
        is_same = kind in same or bool(arg.struct and alias_of(self.problem, arg.struct))
        return arg.name if is_same else f"({kind}){arg.name}"


def alias_of(problem: Problem, name: str) -> str:
    """The line of the serial code by which a struct of a namespace has a name outside; or ""."""
    found = re.search(rf"^using {name} = [\w:]+;$", problem.serial_code, re.MULTILINE)
    return found[0] if name and found else ""


def _indented(lines: list[str]) -> str:
    return "".join(f"    {line}\n" for line in lines)
