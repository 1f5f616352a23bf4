"""The judge's machine: compilers, GPU, cores, the device's measured peaks, its health."""

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.compile.compile import HOST_FLAGS, Compiler
from regraph_kg.evaluation.compile.sandboxed import compiler_confinement
from regraph_kg.evaluation.compile.source_rules import rejected, without_comments
from regraph_kg.evaluation.compile.toolchain import Cuda, find_cuda, find_gcc
from regraph_kg.evaluation.gpu.device import (
    Cores,
    Gpu,
    cores_of,
    find_gpu,
    find_gpus,
    machine_facts,
    openmp_device,
    threads,
)
from regraph_kg.evaluation.gpu.kernels import profiler
from regraph_kg.evaluation.gpu.monitor import GpuMonitor, Health, open_gpu
from regraph_kg.evaluation.gpu.sanitizer import (
    Subject,
    Tool,
    find_sanitizer,
    first_finding,
)
from regraph_kg.evaluation.problem.declaration import Sizes, shape_text
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.rewrite import to_single
from regraph_kg.evaluation.rules import Failure
from regraph_kg.evaluation.session import Builds, Programs
from regraph_kg.evaluation.slots import SessionRules
from regraph_kg.evaluation.teams import TRAPPING, fixed_lengths, has_threads
from regraph_kg.evaluation.timing.roofline import Peaks, known_peaks, nominal
from regraph_kg.evaluation.verify.cases import ragged_shape
from regraph_kg.evaluation.worker.handshake import Stopwatch
from regraph_kg.evaluation.worker.spawn import Program, Surroundings
from regraph_kg.models.evaluation import Candidate, Outcome
from regraph_kg.models.target import TARGETS, Target

_OTHER_ORDER = (
    *HOST_FLAGS,
    *("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math", "-freciprocal-math"),
)
"""Sums in another order, and divisions by products; infinities and NaN stay what they are."""
_OVERFLOWS = (
    *HOST_FLAGS,
    "-fsanitize=signed-integer-overflow,integer-divide-by-zero,shift,float-cast-overflow",
    "-fsanitize-undefined-trap-on-error",
)
"""Where numbers overflow in a way that C++ leaves open, right codes differ: such a case ends it."""
_SANITIZED: Mapping[Tool, tuple[str, Outcome]] = {
    "memcheck": ("", Outcome.CRASHED),
    "racecheck": ("__shared__", Outcome.NONDETERMINISTIC),
    "synccheck": ("__sync|sync\\(|barrier", Outcome.NONDETERMINISTIC),
}
"""Tools of compute-sanitizer: the sources that they are for, and what a finding means."""
_UNTRACKED = re.compile(
    r"\bbar(rier)?(\.cta)?\.(sync|arrive|red)\b|\bmbarrier\.|\bcuda(::|/)(barrier|pipeline)\b"
)
"""Barriers of which these tools know nothing: they find races in right code [13.0]."""


class Machine:
    """One machine as one judge uses it (see there). Raises `ToolError` where it lacks something."""

    def __init__(self, cache: Path, rules: SessionRules, gpu: int) -> None:
        self._cache, self._rules, self._gpu_index = cache, rules, gpu
        self._gcc = find_gcc()
        sandbox = rules.defences.compiler_sandbox
        self._compiler = Compiler(cache / "compiled", self._gcc, rules.limits, sandbox=sandbox)
        self._peaks: dict[Target, Peaks | None] = {}
        self._health: Health | None = None
        self._monitor: GpuMonitor | None = None

    def close(self) -> None:
        self._compiler.close()

    def device(self, target: Target) -> str:
        """Statistics key: GPU model for cuda, CPU model and threads for openmp."""
        return self._cuda[1].name if TARGETS[target].on_gpu else openmp_device()

    def toolchain(self, target: Target) -> str:
        traits = TARGETS[target]
        if not traits.on_gpu:
            return " ".join((traits.compiler, self._gcc.version, *HOST_FLAGS[1:], *traits.flags))
        cuda, gpu = self._cuda
        flags = " ".join(("-O3", *traits.flags, f"sm_{gpu.arch}"))
        return f"{traits.compiler} {cuda.version} {flags}, g++ {self._gcc.version}"

    def facts(self, target: Target) -> dict[str, str]:
        common = machine_facts() | {"compiler_sandbox": compiler_confinement()[0]}
        if not TARGETS[target].on_gpu:
            return common
        return common | {"driver": self.gpu.driver, "gpu": self.gpu.visible}

    @property
    def gpu(self) -> Gpu:
        return self._cuda[1]

    def claims(self, target: Target, *, opening: bool) -> tuple[str, ...]:
        """What a judge must have to itself: the CPU, or a GPU and the cores that serve it."""
        if not TARGETS[target].on_gpu:
            return ("cpu",)
        if self._cores is None:
            return (self.gpu.visible,)
        # The opening of a problem runs its serial code only, which needs no GPU.
        own = f"core-{min(self._cores.judge)}"
        return (own,) if opening else (self.gpu.visible, own)

    def peaks(self, target: Target) -> Peaks | None:
        """The device's measured peaks; None where nobody has measured them (regraph doctor)."""
        if target not in self._peaks:
            gpu = self.gpu if TARGETS[target].on_gpu else None
            self._peaks[target] = known_peaks(self._cache, target, gpu)
        return self._peaks[target]

    def nominal(self, target: Target) -> Peaks:
        """Peaks that this device cannot reach, where nobody has measured any."""
        device, monitor = self.device(target), self._monitor
        memory = monitor.memory_rate() if TARGETS[target].on_gpu and monitor else None
        return nominal(target, device, threads(), memory)

    def profiler(self) -> Path:
        """The profiler that a worker loads. Raises `ToolError` where CUPTI is missing."""
        return profiler(self._compiler, self._cuda[0])

    def blame(self, failure: Failure) -> None:
        """Raise `ToolError` where a cuda candidate's failure is the device's own."""
        if self._health:
            self._health.blame(failure)

    def sanitize(self, code: str, program: Program, problem: Problem) -> Failure | None:
        """What compute-sanitizer's tools find in one cuda call, at a small ragged shape."""
        shape = ragged_shape(problem)
        checks = [check for check, (marks, _) in _SANITIZED.items() if re.search(marks, code)]
        if _UNTRACKED.search(without_comments(code)):
            checks = ["memcheck"]
        with ThreadPoolExecutor(len(checks)) as pool:
            findings = [*pool.map(partial(self._finding, program, problem, shape), checks)]
        for check, finding in zip(checks, findings, strict=True):
            if finding:
                return Failure(_SANITIZED[check][1], f"at shape {shape_text(shape)}: {finding}")
        return None

    def _finding(self, program: Program, problem: Problem, shape: Sizes, check: Tool) -> str | None:
        """Compute-sanitizer's first finding; None without the tool."""
        seconds = self._rules.limits.sanitizer_seconds
        tool = find_sanitizer(self._cuda[0]) if seconds else None
        if tool is None:
            return None
        subject = Subject(program, problem, self.gpu.visible, seconds)
        return first_finding(subject, tool, check, shape)

    def program(self, candidate: Candidate, problem: Problem) -> Program | Failure:
        if self._rules.defences.source_rules and (failure := rejected(candidate.code)):
            return failure
        target, code, compiler = TARGETS[candidate.target], candidate.code, self._compiler
        own = not self._rules.defences.source_rules  # it may use names of the judge's
        if target.on_gpu:
            cuda, gpu = self._cuda
            library = compiler.cuda(code, cuda, gpu.arch, flags=target.flags, own_symbols=own)
            harness = compiler.harness(problem, cuda, gpu.arch)
        else:
            library = compiler.host(code, (*HOST_FLAGS, *target.flags), own_symbols=own)
            harness = compiler.harness(problem)
        if isinstance(library, Failure):
            return library
        return Program(harness, library, problem.entry, cuda=target.on_gpu)

    def builds(self, candidate: Candidate, problem: Problem, plain: Program) -> Builds:
        """Other builds of a candidate with threads; None where it cannot be built so."""
        target, code = TARGETS[candidate.target], candidate.code
        if target.on_gpu or not has_threads(code):
            return Builds(plain, None, None)
        flags, compiler = (*HOST_FLAGS, *target.flags), self._compiler
        with ThreadPoolExecutor(2) as pool:
            asked = [pool.submit(compiler.perturbed, code, flags)]
            if fixed_lengths(code, problem.entry):
                asked.append(pool.submit(compiler.host, code, (*flags, *TRAPPING)))
        built = [
            None if isinstance(library, Failure) else replace(plain, candidate=library)
            for library in (each.result() for each in asked)
        ]
        return Builds(plain, built[0], built[1] if len(built) > 1 else None)

    def programs(self, problem: Problem) -> Programs:
        """The problem's own code, compiled. Raises `BadInput` where that fails."""
        with ThreadPoolExecutor(1) as beside:
            variants = beside.submit(self._variants, problem)
            keeping = partial(trusted, self._compiler, keep=True)
            serial = keeping(problem, "serial.cpp", problem.serial_code)
            reference = keeping(problem.promoted(), problem.truth_name, problem.truth_code)
            return Programs(serial, reference, variants.result())

    def _variants(self, problem: Problem) -> tuple[Program, ...]:
        """The serial code as right codes may be, too: what these do not stand, nobody has to."""
        types = {kind for arg in problem.slots for kind in (arg.type, *(arg.fields or {}).values())}
        codes = [problem.serial_code]
        if not types & {"float64", "complex128"}:  # else its signature says double
            codes.append(to_single(problem.serial_code))
        host = partial(self._compiler.host, keep=True)
        built = [host(code, _OTHER_ORDER) for code in dict.fromkeys(codes)]
        built.append(host(problem.serial_code, _OVERFLOWS))
        libraries = [library for library in built if not isinstance(library, Failure)]
        harness = self._compiler.harness(problem)
        return tuple(Program(harness, library, problem.entry) for library in libraries)

    @cached_property
    def _cuda(self) -> tuple[Cuda, Gpu]:
        """Toolkit and GPU. Raises `ToolError` where there is none: cuda never scores then."""
        cuda, gpu = find_cuda(), find_gpu(self._gpu_index)
        self._monitor = open_gpu(gpu.visible)
        errors = self._monitor.uncorrected_errors if self._monitor else None
        self._health = Health(cuda, gpu.visible, errors)
        return cuda, gpu

    @cached_property
    def _cores(self) -> Cores | None:
        return cores_of(self._gpu_index, len(find_gpus()))

    def rules(self, target: Target) -> SessionRules:
        """For cuda: this judge's GPU, and cores of its own where there are enough."""
        if not TARGETS[target].on_gpu:
            return self._rules
        where, cores = Surroundings(gpu=self.gpu.visible), self._cores
        if cores:
            stopwatch = Stopwatch(self._compiler.stopwatch())
            where = replace(where, stopwatch=stopwatch, cores=cores.worker)
        kept = cores.judge if cores else None
        return replace(self._rules, surroundings=where, judge_cores=kept, monitor=self._monitor)


def trusted(
    compiler: Compiler,
    problem: Problem,
    name: str,
    code: str,
    flags: Sequence[str] = HOST_FLAGS,
    *,
    keep: bool = False,
) -> Program:
    """A problem's own code, compiled; `keep` as for `Compiler.host`. Raises `BadInput`."""
    library = compiler.host(code, flags, keep=keep)
    if isinstance(library, Failure):
        message = library.diagnosis.splitlines()[0] if library.diagnosis else "no message"
        raise BadInput(f"problem {problem.name}: {name} does not compile: {message}")
    return Program(compiler.harness(problem), library, problem.entry)
