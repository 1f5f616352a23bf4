"""Runs a program that is trusted to be right, on given inputs, in a process of its own.

Arrays of a large shape exist once, in the memory that this process shares: they are written there,
and the outputs are read there. Its process stays; its memory is freed after each use.

Not covered: whether the program is right; the process's own memory.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.native import arrays
from regraph_kg.evaluation.problem.declaration import Sizes, shape_text
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.rows import require_room, settled
from regraph_kg.evaluation.problem.types import Array
from regraph_kg.evaluation.rules import Defences, Failure, JudgeLimits
from regraph_kg.evaluation.worker.shared_memory import Call, Layout, SharedMemory
from regraph_kg.evaluation.worker.spawn import Program
from regraph_kg.evaluation.worker.supervisor import Worker
from regraph_kg.models.evaluation import Outcome

Fill = Callable[[Mapping[str, Array]], None]  # writes a call's inputs into its arrays, by name
_Kept = TypeVar("_Kept")

REFERENCE = "the reference (serial.cpp with fp64 types, or reference.cpp)"
_PATIENCE_SECONDS = 120.0
_LARGE_BYTES = 32 * 2**20
"""A shape with more gets a process and memory of its own, which does not stay filled."""
_KEPT_PROCESSES = 3  # of large shapes, between two uses


class RunFailed(BadInput):
    """Trusted code failed; `outcome` says how."""

    def __init__(self, message: str, outcome: Outcome) -> None:
        super().__init__(message)
        self.outcome = outcome


class Runner:
    """Calls one trusted program on given inputs, in one process that is started when first asked.

    `problem` has the program's signature; a shape beside `shapes` gets a process and memory of its
    own. Raises `BadInput` where the program fails; the next call starts it anew.
    """

    def __init__(
        self,
        problem: Problem,
        program: Program,
        shapes: list[Sizes],
        limits: JudgeLimits,
        name: str = REFERENCE,
    ) -> None:
        self._problem, self._program, self._limits, self._name = problem, program, limits, name
        self._small = Layout(problem, alignment=64)
        self._calls: dict[str, tuple[Layout, Call]] = {}
        for sizes in {shape_text(sizes): sizes for sizes in shapes}.values():
            self._prepare(sizes, alone=problem.nbytes(sizes) > _LARGE_BYTES)
        self._running: dict[Layout, tuple[Worker, SharedMemory]] = {}
        self._filled = set[Layout]()  # those whose memory holds something
        self.seconds = 0.0  # what the last call took, copies aside
        self.patience = _PATIENCE_SECONDS  # most seconds of a call
        self.poison = 0  # byte that outputs are filled with before a call

    def __call__(self, sizes: Sizes, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs by argument name."""
        return self.run(sizes, partial(put, inputs), lambda _, output: output.copy())

    def run(
        self, sizes: Sizes, fill: Fill, keep: Callable[[str, Array], _Kept], *, stays: bool = False
    ) -> dict[str, _Kept]:
        """Results of `keep` on each output, by argument name, on the inputs of `fill`."""
        # `stays`: a large shape's memory stays for another run, until `release`
        layout, call = self._calls.get(shape_text(sizes)) or self._prepare(sizes, alone=True)
        try:
            is_zero = self.poison == 0 and layout not in self._filled
            worker, shared = self._started(layout)
            self._filled.add(layout)
            views = {name: shared.view(place) for name, place in call.places.items()}
            fill({arg.name: views[arg.name] for arg in self._problem.inputs})
            shared.unmap()
            for arg in self._problem.outputs:
                if arg.role == "out" and not is_zero:
                    shared.fill(call.places[arg.name], self.poison)
            shared.unmap()
            self.seconds = worker.call([call.row], self.patience).ours
            outputs = {arg.name: views[arg.name] for arg in self._problem.outputs}
            require_room(self._problem, outputs, self._name)
            return {
                name: keep(name, output) for name, output in settled(self._problem, outputs).items()
            }
        except (BadInput, Failure) as error:
            if layout in self._running:
                self._end(layout)
            if isinstance(error, Failure):
                raise self._fault(error) from None
            raise
        finally:
            if layout in self._running:
                self._running[layout][1].unmap()
            if not stays:
                self.release()

    def _prepare(self, sizes: Sizes, *, alone: bool) -> tuple[Layout, Call]:
        layout = Layout(self._problem, alignment=64) if alone else self._small
        self._calls[shape_text(sizes)] = layout, layout.call(sizes)
        return self._calls[shape_text(sizes)]

    def _started(self, layout: Layout) -> tuple[Worker, SharedMemory]:
        if layout not in self._running:
            shared, rules = layout.build(), Defences(memory_limit=False)
            try:
                worker = Worker(self._program, shared, rules, self._limits, threads=1)
            except ToolError:
                shared.close()
                raise
            self._running[layout] = worker, shared
            worker.start()
            shared.unmap()
        return self._running[layout]

    def release(self) -> None:
        """Free the memory of large shapes; the processes of the last few stay."""
        large = [layout for layout in self._running if layout is not self._small]
        for layout in large[:-_KEPT_PROCESSES]:
            self._end(layout)
        for layout in large[-_KEPT_PROCESSES:]:
            self._running[layout][1].release()
            self._filled.discard(layout)

    def close(self) -> None:
        """End the processes and release the memory; the next call starts one anew."""
        for layout in list(self._running):
            self._end(layout)

    def _end(self, layout: Layout) -> None:
        worker, shared = self._running.pop(layout)
        self._filled.discard(layout)
        worker.process.end()
        shared.close()

    def _fault(self, failure: Failure) -> RunFailed:
        late = failure.outcome is Outcome.TIMED_OUT
        remedy = "; make the shape smaller, or this code faster" if late else ""
        text = f"problem {self._problem.name}: {self._name} fails: {failure.diagnosis}{remedy}"
        return RunFailed(text, failure.outcome)


def put(inputs: Mapping[str, Array], views: Mapping[str, Array]) -> None:
    """Copy arrays by argument name into those of a call."""
    for name, view in views.items():
        arrays.copy(inputs[name], view)
