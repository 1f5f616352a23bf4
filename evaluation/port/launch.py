"""`launch`: the host function of a port that starts the kernel on the device's arrays."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from regraph_kg.evaluation.adopt.syntax import declared_name
from regraph_kg.evaluation.port.containers import OwnContainers
from regraph_kg.evaluation.port.device import gives_nothing, kernel_name, work_name
from regraph_kg.evaluation.port.edits import UnportableError
from regraph_kg.evaluation.port.loops import SerialLoop
from regraph_kg.evaluation.port.work import Work
from regraph_kg.evaluation.port.wrapper import result_name, signature
from regraph_kg.evaluation.problem.problem import Problem

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
    loop: SerialLoop | None = None
    before: tuple[str, ...] = ()
    """Declarations that stand before the loop."""

    @property
    def kernel(self) -> str:
        """The kernel's name."""
        return kernel_name(self.held.function)

    def with_loop(self, loop: SerialLoop, before: Sequence[str]) -> "Launch":
        """The same where the loop's iterations are threads."""
        return replace(self, loop=loop, before=tuple(before))

    def text(self) -> str:
        """Its definition, below a kernel that keeps what the work returns, where it returns any."""
        own = [one for one in self.held.scratch if not one.is_result]
        lines = [
            *(f"{one.element}* {one.name};" for one in own),
            *(f"cudaMalloc(&{one.name}, {self._bytes(one.element, one.length)});" for one in own),
            *(
                f"cudaMemset({self._place(one.name)}, 0, {self._bytes(one.element, one.length)});"
                for one in self.held.scratch
                if one.zeroed
            ),
            *self._start(),
            *(f"cudaFree({one.name});" for one in own),
        ]
        body = "".join(f"    {line}\n" for line in lines)
        return f"{self._keeper()}{signature(self.problem)} {{\n{body}}}\n"

    def _place(self, name: str) -> str:
        """What `launch` calls the memory of a vector."""
        result = any(one.is_result and one.name == name for one in self.held.scratch)
        return self.work.result if result else name

    def _bytes(self, element: str, length: str) -> str:
        said = self._said(length)
        return f"sizeof({element}) * {said if re.fullmatch(_PLAIN, said) else f'({said})'}"

    def _start(self) -> list[str]:
        """The launch itself."""
        given = ", ".join(self._given())
        if self.loop is None:
            return [f"{self.kernel}<<<1, 1>>>({given});"]
        first, end = self._said(self.loop.first), self._said(self.loop.end)
        count = end if first == "0" else f"{end} - ({first})"
        return [
            *self._kept_before(),
            f"const long long count = {count};",
            f"const int threads = {_THREADS};",
            "if (count > 0) {",
            f"    {self.kernel}<<<(count + threads - 1) / threads, threads>>>({given});",
            "}",
        ]

    def _kept_before(self) -> list[str]:
        """Of the declarations before the loop those that its bounds need."""
        assert self.loop
        needed, kept = set(self.loop.bounds), list[str]()
        for text in reversed(self.before):
            names = set(re.findall(r"[A-Za-z_]\w*", text))
            declared = set(re.findall(r"(\w+) =", text))
            if declared & needed:
                needed |= names
                kept.insert(0, self._said(text))
        return kept

    def _given(self) -> list[str]:
        """Arguments of the kernel, or of the function that it calls."""
        given = list[str]()
        for one in self.work.arguments:
            given.append(one.text)
            if one.name in self.held.sized:
                given.append(one.length)
        given += [self._place(one.name) for one in self.held.scratch]
        return given if gives_nothing(self.held) else [*given, result_name(self.problem)]

    def _said(self, text: str) -> str:
        """C++ of the work's parameters in words of the entry's."""
        known = dict[str, str]()
        for one in self.work.arguments:
            known[one.name] = one.text if re.fullmatch(r"\w+", one.text) else f"({one.text})"
            if one.length:
                length = one.length if re.fullmatch(r"\w+", one.length) else f"({one.length})"
                known[f"{one.name}_size"] = known[f"{one.name}.size()"] = length
        for vector in self.held.scratch:
            known[f"{vector.name}.size()"] = f"({vector.length})"
        return _WORD.sub(lambda found: known.get(found[0], found[0]), text)

    def _keeper(self) -> str:
        """A kernel that calls the work and keeps what it returns."""
        if gives_nothing(self.held):
            return ""
        if self.problem.returns is None:
            raise UnportableError(f"{self.held.function.name} returns what the entry does not")
        source, names = self.held.function.source, list[str]()
        parameters = list[str]()
        for node, one in zip(self.held.function.parameters, self.work.arguments, strict=True):
            name = declared_name(source, node)
            names.append(name)
            found = self.held.parameters.get(name)
            if found is None:
                parameters.append(" ".join(source.text(node).split()))
                continue
            const = "const " if found.const or one.const else ""
            parameters.append(f"{const}{found.element}* {name}")
            if name in self.held.sized:
                parameters.append(f"size_t {name}_size")
                names.append(f"{name}_size")
        for scratch in self.held.scratch:
            parameters.append(f"{scratch.element}* {scratch.name}")
            names.append(scratch.name)
        kind, result = self.problem.slots[-1].spelled(cuda=True), result_name(self.problem)
        parameters.append(f"{kind}* {result}")
        call = f"{work_name(self.held.function)}({', '.join(names)})"
        return (
            f"__global__ void {self.kernel}({', '.join(parameters)}) {{\n"
            f"    *{result} = {call};\n}}\n\n"
        )
