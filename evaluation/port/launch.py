"""`launch`: the host function of a port that starts the kernels on the device's arrays."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tree_sitter import Node

from regraph_kg.evaluation.cpp.syntax import CodeFile, declared_name, parameter_type
from regraph_kg.evaluation.port.changes import Changes
from regraph_kg.evaluation.port.containers import OwnContainers, Scratch
from regraph_kg.evaluation.port.device import gives_nothing, work_name
from regraph_kg.evaluation.port.edits import UnportableError
from regraph_kg.evaluation.port.host import declared, flat, words_of
from regraph_kg.evaluation.port.names import fresh, is_integer
from regraph_kg.evaluation.port.phases import Phase
from regraph_kg.evaluation.port.work import Work
from regraph_kg.evaluation.port.wrapper import result_name, signature
from regraph_kg.evaluation.problem.problem import Argument, Problem

_THREADS = 128
"""Of a block, where a loop's iterations are threads."""
_PLAIN = r"\w+|\([^()]*\)"
_WORD = re.compile(r"\b[A-Za-z_]\w*(?:\.size\(\))?")


@dataclass(frozen=True, slots=True)
class Launch:
    """What `launch` does."""

    problem: Problem
    work: Work
    held: OwnContainers
    kernel: str
    taken: frozenset[str]
    """Names in the code."""
    code: CodeFile | None = None
    """Where the phases stand."""
    phases: tuple[Phase, ...] = ()
    """None: one thread does all the work."""
    returns: str = ""
    """The kernel's parameter for what the work returned, where the work is the kernel itself."""

    @property
    def kernels(self) -> list[tuple[str, Phase]]:
        """The kernels that are phases, with their names."""
        found = [kernel for phase in self.phases for kernel in phase.kernels()]
        names = [fresh(f"{self.kernel}_{at}", self.taken) for at in range(1, len(found) + 1)]
        return [*zip(names if len(found) > 1 else [self.kernel], found, strict=True)]

    def text(self) -> str:
        """Its definition, below a kernel that keeps what the work returns, where it returns any."""
        own = [one for one in self.held.scratch if not one.is_result]
        lines = [
            *self._constants(),
            *(f"{one.element}* {self._place(one.name)};" for one in own),
            *(f"cudaMalloc(&{self._place(one.name)}, {self._bytes(one)});" for one in own),
            *(
                f"cudaMemset({self._place(one.name)}, 0, {self._bytes(one)});"
                for one in self.held.scratch
                if one.value is None
            ),
            *self._start(),
            *(f"cudaFree({self._place(one.name)});" for one in own),
        ]
        body = "".join(f"    {line}\n" for line in lines)
        return f"{self._keeper()}{signature(self.problem)} {{\n{body}}}\n"

    def arrays(self) -> dict[str, bool]:
        """The kernel's parameters that are arrays, and whether anything may write them."""
        reads = {arg.name: arg.role == "in" for arg in self.problem.args if arg.is_array}
        found = dict[str, bool]()
        for (name, head), text in zip(self._taken(), self._given(), strict=False):
            words = set(re.findall(r"\w+", text)) & reads.keys()
            is_own = any(one.name == name for one in self.held.scratch) or name == self.returns
            if words or is_own:
                is_read = all(reads[word] for word in words) and "const" in head
                found[name] = is_own or not is_read
        return found

    def _taken(self) -> list[tuple[str, str]]:
        taken = self.held.taken(
            {argument.name for argument in self.work.arguments if argument.const}
        )
        result = [(self.returns, f"{self.kind}* {self.returns}")] if self.returns else []
        return [*taken, *result]

    @property
    def kind(self) -> str:
        """The type of what the entry returns; "" where that is nothing."""
        return self.problem.slots[-1].spelled(cuda=True) if self.problem.returns else ""

    def _place(self, name: str) -> str:
        """What `launch` calls the memory of a vector, or a constant."""
        if any(one.is_result and one.name == name for one in self.held.scratch):
            return self.work.result
        return fresh(name, {arg.name for arg in self.problem.args})

    def _bytes(self, scratch: Scratch) -> str:
        said = self._said(scratch.length)
        return f"sizeof({scratch.element}) * {said if re.fullmatch(_PLAIN, said) else f'({said})'}"

    def _start(self) -> list[str]:
        """The launches."""
        if not self.phases:
            return [f"{self._scope}{self.kernel}<<<1, 1>>>({', '.join(self._given())});"]
        names = {phase.node.start_byte: name for name, phase in self.kernels}
        dealt = any(one.loop for _, one in self.kernels)
        lines = [f"const int {self._threads} = {_THREADS};"] if dealt else []
        return [*lines, *(line for phase in self.phases for line in self._phase(phase, names))]

    @property
    def _scope(self) -> str:
        """Before the names of kernels that stand where the work does, in a namespace."""
        inside = gives_nothing(self.held)
        return "".join(f"{one}::" for one in self.held.function.scope) if inside else ""

    @property
    def _threads(self) -> str:
        return fresh("threads", self.taken)

    def _phase(self, phase: Phase, names: Mapping[int, str]) -> list[str]:
        """The lines that start one phase."""
        loop = phase.loop
        if phase.inside and loop is not None:
            head = f"for ({loop.type} {loop.variable} = {self._said(loop.first)};"
            head += f" {loop.variable} < {self._said(loop.end)}; ++{loop.variable}) {{"
            inner = (line for one in phase.inside for line in self._phase(one, names))
            return [head, *(f"    {line}" for line in inner), "}"]
        if phase.cleared is not None:
            return [self._cleared(*phase.cleared)]
        name = names[phase.node.start_byte]
        started, given = f"{self._scope}{name}", ", ".join(self.passed(phase))
        if loop is None:
            return [f"{started}<<<1, 1>>>({given});"]
        first, end = self._said(loop.first), self._said(loop.end)
        less = "" if first == "0" else f" - {first}" if first.isdigit() else f" - ({first})"
        number = name.removeprefix(self.kernel)
        count, threads = fresh(f"count{number}", self.taken), self._threads
        return [
            f"const long long {count} = {end}{less};",
            f"if ({count} > 0) {{",
            f"    {started}<<<({count} + {threads} - 1) / {threads}, {threads}>>>({given});",
            "}",
        ]

    def _cleared(self, array: str, index: str) -> str:
        """The line that sets one element to 0."""
        given = dict(zip((name for name, _ in self._taken()), self._given(), strict=True))[array]
        place = given if re.fullmatch(r"\w+", given) else f"({given})"
        return f"cudaMemset({place} + {index}, 0, sizeof(*{place}));".replace(" + 0,", ",")

    def needed(self, phase: Phase) -> set[str]:
        """Names that a phase's kernel needs."""
        assert self.code
        words = self._words(phase.node)
        for node in reversed(phase.constants):
            if words & set(declared(self.code, node)):
                words |= self._words(node)
        return words

    def _words(self, node: Node) -> set[str]:
        """Names in a part, and in the macros that it uses."""
        assert self.code
        changes, words = Changes(self.code), words_of(self.code, node)
        while more := changes.words(words) - words:
            words |= more
        return words

    def parameters(self, phase: Phase) -> list[str]:
        """Of a phase's kernel, where there are several."""
        words = self.needed(phase)
        own = [text for name, text in self._taken() if name in words]
        return own + [f"{one.type} {one.variable}" for one in phase.outer if one.variable in words]

    def passed(self, phase: Phase) -> list[str]:
        """What a phase's kernel is given."""
        given = self._given()
        if len(self.phases) == 1 and not self.phases[0].inside:
            return given
        words = self.needed(phase)
        names = [name for name, _ in self._taken()]
        own = [text for name, text in zip(names, given, strict=True) if name in words]
        return own + [one.variable for one in phase.outer if one.variable in words]

    def _constants(self) -> list[str]:
        """Declarations of the work that lengths of vectors and the loops' bounds need."""
        source = self.held.function.source
        nodes = sorted(self.held.constants, key=lambda node: node.start_byte)
        texts = [flat(source, node) for node in nodes]
        if self.code:
            loops = [one.loop for phase in self.phases for one in phase.all() if one.loop]
            kept = {node.start_byte: node for loop in loops for node in loop.before}
            texts += [flat(self.code, kept[at]) for at in sorted(kept)]
        return [*dict.fromkeys(map(self._said, texts))]

    def _given(self) -> list[str]:
        """Arguments of the kernel, or of the function that it calls."""
        given, kinds = list[str](), {arg.name: arg for arg in self.problem.args if arg.is_array}
        for node, one in zip(self.held.function.parameters, self.work.arguments, strict=True):
            arg = kinds.get(one.text)
            plain = one.name in self.held.parameters or arg is None
            given.append(one.text if plain or arg is None else self._cast(arg, node))
            if one.name in self.held.sized:
                given.append(one.length)
        for scratch in self.held.scratch:
            given.append(self._place(scratch.name))
            if scratch.name in self.held.sized:
                given.append(self._said(scratch.length))
        return given if gives_nothing(self.held) else [*given, result_name(self.problem)]

    def _cast(self, arg: Argument, node: Node) -> str:
        """An array as the work takes it, which may spell its type otherwise."""
        kind = parameter_type(self.held.function.source, node)
        kind = re.sub(r"\s*\b__restrict(?:__)?", "", kind)
        kind = re.sub(r"^([^[(]+)\[\w*\]", r"\1(*)", kind)
        kind = f"{kind[:-3]}*" if kind.endswith("(*)") else kind
        const = "const " if arg.role == "in" else ""
        same = {f"{const}{arg.spelled(cuda=True)}*", f"const {arg.spelled(cuda=True)}*"}
        return arg.name if kind in same else f"({kind}){arg.name}"

    def _said(self, text: str) -> str:
        """C++ of the work's parameters and constants in words of the entry's."""
        known = dict[str, str]()

        def said(text: str) -> str:
            return _WORD.sub(lambda found: known.get(found[0]) or self._place(found[0]), text)

        def bound(text: str) -> str:
            return text if re.fullmatch(r"\w+", text) else f"({text})"

        lengths = self.held.lengths
        for argument in self.work.arguments:
            known[argument.name] = bound(self._converted(argument.name, argument.text))
            if argument.length and argument.name in lengths:
                known[lengths[argument.name]] = known[f"{argument.name}.size()"] = bound(
                    argument.length
                )
        for vector in self.held.scratch:
            length = bound(said(vector.length))
            known[lengths[vector.name]] = known[f"{vector.name}.size()"] = length
        return said(text)

    def _converted(self, name: str, text: str) -> str:
        """A number of the entry's as the work takes it."""
        args = {arg.name: arg for arg in self.problem.args if not arg.is_array}
        function = self.held.function
        for node in function.parameters:
            if declared_name(function.source, node) == name and text in args:
                kind = parameter_type(function.source, node).removeprefix("const ")
                same = kind == args[text].spelled(cuda=True)
                return text if same or not is_integer(kind) else f"({kind}){text}"
        return text

    def _keeper(self) -> str:
        """A kernel that calls the work and keeps what it returns."""
        if gives_nothing(self.held) or self.returns:
            return ""
        if self.problem.returns is None:
            raise UnportableError(f"{self.held.function.name} returns what the entry does not")
        result = result_name(self.problem)
        parameters = [*(text for _, text in self._taken()), f"{self.kind}* {result}"]
        names = ", ".join(name for name, _ in self._taken())
        return (
            f"__global__ void {self.kernel}({', '.join(parameters)}) {{\n"
            f"    *{result} = {work_name(self.held.function)}({names});\n}}\n\n"
        )
