"""`launch`: the host function of a port that starts the kernels on the device's arrays."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tree_sitter import Node

from regraph_kg.cpp.functions import CodeFile, declared_name, parameter_type
from regraph_kg.evaluation.problem.problem import Argument, Problem
from regraph_kg.port.containers import FunctionContainers, Scratch
from regraph_kg.port.device import returns_nothing, work_name
from regraph_kg.port.host import declared, flat, words_of
from regraph_kg.port.names import UnportableError, fresh, is_integer
from regraph_kg.port.phases import Phase
from regraph_kg.port.work import Work
from regraph_kg.port.wrapper import result_name, signature

_THREADS = 128  # threads of a block where a loop's iterations are threads
_PLAIN = r"\w+|\([^()]*\)"
_WORD = re.compile(r"\b[A-Za-z_]\w*(?:\.size\(\))?")


@dataclass(frozen=True, slots=True)
class Launch:
    """The contents of `launch`."""

    problem: Problem
    work: Work
    owner: FunctionContainers
    kernel: str
    taken: frozenset[str]  # names in the code
    code: CodeFile | None = None  # the file that holds the phases' nodes
    phases: tuple[Phase, ...] = ()  # empty: one thread does all the work
    returns: str = ""  # the kernel's parameter for the work's result, where the kernel is the work

    @property
    def kernels(self) -> list[tuple[str, Phase]]:
        """Name and phase of each kernel."""
        kernels = [kernel for phase in self.phases for kernel in phase.kernels()]
        names = [fresh(f"{self.kernel}_{at}", self.taken) for at in range(1, len(kernels) + 1)]
        return [*zip(names if len(kernels) > 1 else [self.kernel], kernels, strict=True)]

    def text(self) -> str:
        """The definition of `launch`, below the kernel that stores the work's result."""
        vectors = [item for item in self.owner.scratch if not item.is_result]
        lines = [
            *self._constants(),
            *(f"{item.element}* {self._place(item.name)};" for item in vectors),
            *(f"cudaMalloc(&{self._place(item.name)}, {self._bytes(item)});" for item in vectors),
            *(
                f"cudaMemset({self._place(item.name)}, 0, {self._bytes(item)});"
                for item in self.owner.scratch
                if item.value is None
            ),
            *self._start(),
            *(f"cudaFree({self._place(item.name)});" for item in vectors),
        ]
        body = "".join(f"    {line}\n" for line in lines)
        return f"{self._keeper()}{signature(self.problem)} {{\n{body}}}\n"

    def arrays(self) -> dict[str, bool]:
        """The kernel's parameters that are arrays, and whether anything may write them."""
        reads = {arg.name: arg.role == "in" for arg in self.problem.args if arg.is_array}
        arrays = dict[str, bool]()
        for (name, head), text in zip(self._declarations(), self._arguments(), strict=False):
            words = set(re.findall(r"\w+", text)) & reads.keys()
            is_own = any(item.name == name for item in self.owner.scratch) or name == self.returns
            if words or is_own:
                is_read = all(reads[word] for word in words) and "const" in head
                arrays[name] = is_own or not is_read
        return arrays

    def _declarations(self) -> list[tuple[str, str]]:
        taken = self.owner.declarations(
            {argument.name for argument in self.work.arguments if argument.const}
        )
        result = [(self.returns, f"{self.kind}* {self.returns}")] if self.returns else []
        return [*taken, *result]

    @property
    def kind(self) -> str:
        """The type of what the entry returns; "" where that is nothing."""
        return self.problem.slots[-1].spelled(cuda=True) if self.problem.returns else ""

    def _place(self, name: str) -> str:
        """The name in `launch` of a vector's memory or of a constant."""
        if any(vector.is_result and vector.name == name for vector in self.owner.scratch):
            return self.work.result
        return fresh(name, {arg.name for arg in self.problem.args})

    def _bytes(self, scratch: Scratch) -> str:
        length = self._translated(scratch.length)
        length = length if re.fullmatch(_PLAIN, length) else f"({length})"
        return f"sizeof({scratch.element}) * {length}"

    def _start(self) -> list[str]:
        """The launches."""
        if not self.phases:
            return [f"{self._scope}{self.kernel}<<<1, 1>>>({', '.join(self._arguments())});"]
        names = {phase.node.start_byte: name for name, phase in self.kernels}
        dealt = any(phase.loop for _, phase in self.kernels)
        lines = [f"const int {self._threads} = {_THREADS};"] if dealt else []
        return [*lines, *(line for phase in self.phases for line in self._phase(phase, names))]

    @property
    def _scope(self) -> str:
        """The namespace of the kernels, as a prefix of their names."""
        inside = returns_nothing(self.owner)
        return "".join(f"{name}::" for name in self.owner.function.scope) if inside else ""

    @property
    def _threads(self) -> str:
        return fresh("threads", self.taken)

    def _phase(self, phase: Phase, names: Mapping[int, str]) -> list[str]:
        """The lines that start one phase."""
        loop = phase.loop
        if phase.inside and loop is not None:
            head = f"for ({loop.type} {loop.variable} = {self._translated(loop.first)};"
            head += f" {loop.variable} < {self._translated(loop.end)}; ++{loop.variable}) {{"
            inner = (line for child in phase.inside for line in self._phase(child, names))
            return [head, *(f"    {line}" for line in inner), "}"]
        if phase.cleared is not None:
            return [self._cleared(*phase.cleared)]
        name = names[phase.node.start_byte]
        if len(self.phases) == 1 and not self.phases[0].inside:
            passed = self._arguments()
        else:
            passed = [argument for _, argument in self.parameters(phase)]
        started, arguments = f"{self._scope}{name}", ", ".join(passed)
        if loop is None:
            return [f"{started}<<<1, 1>>>({arguments});"]
        first, end = self._translated(loop.first), self._translated(loop.end)
        if first != "0":  # as signed numbers: unsigned ones would wrap around where there is none
            end = f"(long long){_bound(end)} - {first if first.isdigit() else f'({first})'}"
        number = name.removeprefix(self.kernel)
        count, threads = fresh(f"count{number}", self.taken), self._threads
        return [
            f"const long long {count} = {end};",
            f"if ({count} > 0) {{",
            f"    {started}<<<({count} + {threads} - 1) / {threads}, {threads}>>>({arguments});",
            "}",
        ]

    def _cleared(self, array: str, index: str) -> str:
        """The line that sets one element to 0."""
        argument = dict(
            zip((name for name, _ in self._declarations()), self._arguments(), strict=True)
        )[array]
        place = argument if re.fullmatch(r"\w+", argument) else f"({argument})"
        return f"cudaMemset({place} + {index}, 0, sizeof(*{place}));".replace(" + 0,", ",")

    def needed(self, phase: Phase) -> set[str]:
        """Names that a phase's kernel needs."""
        assert self.code
        words = words_of(self.code, phase.node)
        for node in reversed(phase.constants):
            if words & set(declared(self.code, node)):
                words |= words_of(self.code, node)
        return words

    def parameters(self, phase: Phase) -> list[tuple[str, str]]:
        """Parameters of a phase's kernel and their arguments, where there are several kernels."""
        words = self.needed(phase)
        pairs = zip(self._declarations(), self._arguments(), strict=True)
        used = [(text, argument) for (name, text), argument in pairs if name in words]
        loops = [loop for loop in phase.outer if loop.variable in words]
        return used + [(f"{loop.type} {loop.variable}", loop.variable) for loop in loops]

    def _constants(self) -> list[str]:
        """Declarations of the work that vectors' lengths and loops' bounds need."""
        source = self.owner.function.source
        nodes = sorted(self.owner.constants, key=lambda node: node.start_byte)
        texts = [flat(source, node) for node in nodes]
        if self.code:
            loops = [part.loop for phase in self.phases for part in phase.all() if part.loop]
            declarations = {node.start_byte: node for loop in loops for node in loop.before}
            texts += [flat(self.code, declarations[at]) for at in sorted(declarations)]
        return [*dict.fromkeys(map(self._translated, texts))]

    def _arguments(self) -> list[str]:
        """Arguments of the kernel, or of the function that it calls."""
        arguments, kinds = list[str](), {arg.name: arg for arg in self.problem.args if arg.is_array}
        for node, argument in zip(self.owner.function.parameters, self.work.arguments, strict=True):
            arg = kinds.get(argument.text)
            plain = argument.name in self.owner.parameters or arg is None
            arguments.append(argument.text if plain or arg is None else self._cast(arg, node))
            if argument.name in self.owner.sized:
                arguments.append(argument.length)
        for scratch in self.owner.scratch:
            arguments.append(self._place(scratch.name))
            if scratch.name in self.owner.sized:
                arguments.append(self._translated(scratch.length))
        return arguments if returns_nothing(self.owner) else [*arguments, result_name(self.problem)]

    def _cast(self, arg: Argument, node: Node) -> str:
        """An array argument, cast where the work spells its type otherwise."""
        kind = parameter_type(self.owner.function.source, node)
        kind = re.sub(r"\s*\b__restrict(?:__)?", "", kind)
        kind = re.sub(r"^([^[(]+)\[\w*\]", r"\1(*)", kind)
        kind = f"{kind[:-3]}*" if kind.endswith("(*)") else kind
        const = "const " if arg.role == "in" else ""
        same = {f"{const}{arg.spelled(cuda=True)}*", f"const {arg.spelled(cuda=True)}*"}
        return arg.name if kind in same else f"({kind}){arg.name}"

    def _translated(self, text: str) -> str:
        """C++ over the work's names, rewritten over the entry's names."""
        words = dict[str, str]()

        def translated(text: str) -> str:
            return _WORD.sub(lambda word: words.get(word[0]) or self._place(word[0]), text)

        lengths = self.owner.lengths
        for argument in self.work.arguments:
            words[argument.name] = _bound(self._converted(argument.name, argument.text))
            if argument.length and argument.name in lengths:
                words[lengths[argument.name]] = words[f"{argument.name}.size()"] = _bound(
                    argument.length
                )
        for vector in self.owner.scratch:
            length = _bound(translated(vector.length))
            words[lengths[vector.name]] = words[f"{vector.name}.size()"] = length
        return translated(text)

    def _converted(self, name: str, text: str) -> str:
        """A number argument, cast where the work takes another integer type."""
        args = {arg.name: arg for arg in self.problem.args if not arg.is_array}
        function = self.owner.function
        for node in function.parameters:
            if declared_name(function.source, node) == name and text in args:
                kind = parameter_type(function.source, node).removeprefix("const ")
                same = kind == args[text].spelled(cuda=True)
                return text if same or not is_integer(kind) else f"({kind}){text}"
        return text

    def _keeper(self) -> str:
        """A kernel that calls the work and stores its result; "" where none is needed."""
        if returns_nothing(self.owner) or self.returns:
            return ""
        if self.problem.returns is None:
            raise UnportableError(f"{self.owner.function.name} returns what the entry does not")
        result = result_name(self.problem)
        parameters = [*(text for _, text in self._declarations()), f"{self.kind}* {result}"]
        names = ", ".join(name for name, _ in self._declarations())
        return (
            f"__global__ void {self.kernel}({', '.join(parameters)}) {{\n"
            f"    *{result} = {work_name(self.owner.function)}({names});\n}}\n\n"
        )


def _bound(text: str) -> str:
    """C++ as an operand of any operator."""
    return text if re.fullmatch(r"\w+", text) else f"({text})"
