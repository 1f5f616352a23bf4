"""Source text -> shared object: compilers with limits, confined, their work cached by content.

The key of a cache entry is sha256 of source, commands, compiler version, whether compilers were
confined and, with -march=native, the CPU's features.

Not covered: the object's behaviour when it is loaded (worker.py).
"""

import errno
import functools
import hashlib
import os
import re
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regraph_kg import regular
from regraph_kg.cpp.library import MATH
from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.cache import Cache
from regraph_kg.evaluation.compile.diagnostics import trimmed
from regraph_kg.evaluation.compile.sandboxed import Command, Ran, run
from regraph_kg.evaluation.compile.toolchain import Cuda, Gcc
from regraph_kg.evaluation.native import arrays
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.evaluation.problem.types import C_TYPES
from regraph_kg.evaluation.rules import Failure, JudgeLimits
from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.text import plain

HOST_FLAGS = ("-std=c++17", "-O3", "-march=native")
_SHARED = ("-fPIC", "-shared", "-w", "-Wl,--no-undefined", "-Wl,-z,now")
_PLAIN_ERRORS = ("-fmax-errors=8", "-fdiagnostics-color=never")
_MARKED = ("-fsanitize=thread", "-U__SANITIZE_THREAD__")
"""Every access to memory calls what perturb.cpp defines."""
_IN_MEMORY = (
    *("-O1", "-fno-tree-fre", "-fno-tree-dse", "-fno-tree-pre", "-fno-tree-loop-im"),
    *("-fno-tree-dominator-opts", "-fno-tree-sink"),
)
"""Variables that threads share stay in memory, so that a missing `private` shows: optimized code
keeps them in registers, and is right by luck. (-O0 does so too, but a source can tell it, it is
slower, and takes more of the stack.)"""
_MASKED = (
    *("-Dno_sanitize(...)=unused", "-D__no_sanitize__(...)=unused"),
    *("-Dno_sanitize_thread=unused", "-D__no_sanitize_thread__=unused"),
)
"""Attributes that take accesses out of it, however a source puts their names together."""
_OPTIMIZED = re.compile(r'\b(?:__)?optimize(?:__)?\s*(?:\(\s*\\?"[^)\n]*\)|\\?"[^"\n]*")')
"""What turns these passes on again: an attribute, or the words of a pragma."""
_COPYING = ("memset", "memcpy", "memmove")
_COPIES = tuple(f"-Wl,--wrap={name}" for name in _COPYING)
_MADE = tuple(f"-Wl,--wrap={name}" for name in ("malloc", "calloc", "_Znwm", "_Znam"))
_WATCHED = (
    *("-std=c++17", "-fno-inline", "-fno-tree-loop-distribute-patterns"),
    "-fno-builtin",  # what a compiler writes itself has no marks
    *(f"-D__builtin_{name}={name}" for name in _COPYING),
    *("-Dalways_inline=unused", "-D__always_inline__=unused"),  # frames are told apart
)
_SHARING_NOTHING = (
    "mem(set|cpy|move) [mc]alloc free abort f?abs|fabsf f(min|max)f? _Z[nd][a-z].*"
    " (floor|ceil|l?round|trunc|rint|nearbyint|ldexp|scalbn|copysign|fma)f? __assert_fail"
    " __cxa_(guard_|begin_c|end_c|rethrow|atexit|finalize|pure_virtual).* __gxx_personality_v0"
    " _Unwind_.* _ZT.* _ZSt.*__throw_.* __stack_chk_fail _ZNSt8ios_base4Init.*"
)
_STILL = "|".join([*sorted(MATH), *_SHARING_NOTHING.split()])
"""Functions of libraries that share nothing which no mark tells of."""
_UNWATCHED = f"/ (w .*|U ({_STILL}))(@.*)?$/!"
_LEAN = "-D_GLIBCXX_BITS_SPECFUN_H"
"""Leaves out a slow header that CUDA code rarely needs: 0.69 s instead of 0.94 s."""
_SPECIAL = re.compile(
    "assoc_|beta|bessel|neumann|ellint|expint|hermite|laguerre|legendre|riemann|sph_"
)
"""What that header declares: a reason to try again with it."""
_WRAPPED = (
    *("cudaMalloc", "cudaMallocAsync", "cudaMallocManaged", "cudaMallocPitch"),
    *("cudaMallocFromPoolAsync", "cudaFree", "cudaFreeAsync"),
    *("cudaLaunchKernel", "__cudaLaunchKernel", "cudaLaunchKernelExC"),
    *("cudaLaunchCooperativeKernel", "cudaGraphLaunch"),
)
"""What wraps.cpp stands in for."""
_ROOM_BYTES = 64 * 2**20
_FULL = re.compile("No space left on device|Disk quota exceeded")
_TOO_LARGE = re.compile("[Ff]ile too large|File size limit exceeded")
_TAKEN = "not allowed: a name of the CUDA runtime or of the judge's as its own: "
_OWN_CUDA = "/ [TDBRVWC] (__)?cuda[A-Z]|regraph_|__real_|__wrap_/"
"""Wraps.cpp calls the runtime by name: a candidate's own cudaMemcpy would disarm it."""
_OWN_HOST = "/ [A-Za-z] (__tsan_|regraph_|__real_|__wrap_)/"
"""A weak `__tsan_read1` tells the build whose threads are held up; an own one keeps it from being
linked, so that no thread would be."""


def _names(file: str, taken: str) -> Command:
    """Fails with `_TAKEN` where the file has a symbol in a line of nm that matches."""
    return (
        *("/bin/sh", "-c"),
        f"nm {file} >symbols || exit; taken=$(sed -nE '{taken}s/.* //p' symbols);"
        f' test -z "$taken" || {{ echo "{_TAKEN}"$taken; exit 1; }}',
    )


_UNFIT = re.compile("Unsupported gpu architecture.*|unsupported GNU version.*")
_HARNESS = Path(__file__).parents[1] / "worker" / "harness"
_NATIVE = Path(__file__).parents[1] / "native" / "arrays.cpp"


@dataclass(frozen=True, slots=True)
class Compilation:
    """One compilation: file name -> text, and the commands that make `out.so` of them."""

    files: dict[str, str]
    commands: tuple[Command, ...]
    reads: tuple[str, ...]  # folders of the compilers


class Compiler:
    """Compiles on this machine, into the folder `cache`."""

    def __init__(self, cache: Path, gcc: Gcc, limits: JudgeLimits, *, sandbox: bool = True) -> None:
        # without a sandbox a source can have any file read that this user may read: for tests only
        self._folder, self._gcc, self._limits = cache, gcc, limits
        self._sandbox = sandbox
        self._cache = Cache(cache)
        self._building: dict[str, threading.Lock] = {}
        arrays.offer(self.arrays)

    def close(self) -> None:
        self._cache.close()

    def host(
        self, code: str, flags: Sequence[str], *, keep: bool = False, own_symbols: bool = True
    ) -> Path | Failure:
        """C++ code with g++ and these flags besides the common ones.

        `keep`: no other judge evicts it while this object lives. `own_symbols`: it may use names
        of the judge's.
        """
        checks = () if own_symbols else (_names("out.so", _OWN_HOST),)
        command = (str(self._gcc.path), *flags, *_SHARED, *_PLAIN_ERRORS)
        build = (*command, "candidate.cpp", "-o", "out.so")
        return self._cached({"candidate.cpp": code}, build, *checks, keep=keep)

    def perturbed(self, code: str, flags: Sequence[str]) -> Path | Failure:
        """C++ code whose threads are held up where they read and write memory (perturb.cpp)."""
        return self._marked(code, flags, "perturb", _COPIES)

    def watched(self, code: str) -> Path | Failure:
        """C++ code that tells what memory its loops share (watch.cpp).

        A failure where it calls what is not watched.
        """
        checks = _names("-u out.so", _UNWATCHED)
        return self._marked(code, _WATCHED, "watch", (*_COPIES, *_MADE), checks)

    def _marked(
        self,
        code: str,
        flags: Sequence[str],
        runtime: str,
        wraps: Sequence[str],
        *checks: Command,
    ) -> Path | Failure:
        """C++ code that calls the runtime where it reads and writes memory."""
        gcc = str(self._gcc.path)
        common = (gcc, *flags, *_SHARED, *_PLAIN_ERRORS)
        commands = (
            (*common, *_IN_MEMORY, *_MARKED, *_MASKED, "-c", "candidate.cpp", "-o", "candidate.o"),
            (gcc, "-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden", "-c", f"{runtime}.cpp"),
            (*common, "candidate.o", f"{runtime}.o", *wraps, "-o", "out.so"),
        )
        files = {
            "candidate.cpp": _OPTIMIZED.sub("unused", code),
            f"{runtime}.cpp": harness_text(f"{runtime}.cpp"),
        }
        return self._cached(files, *commands, *checks)

    def cuda(
        self,
        code: str,
        cuda: Cuda,
        arch: str,
        *,
        flags: Sequence[str] = (),
        own_symbols: bool = True,
    ) -> Path | Failure:
        """CUDA code with nvcc for one architecture, linked by g++ with wraps.cpp; as `host`."""
        checks = () if own_symbols else (_names("-g candidate.o", _OWN_CUDA),)
        files = {"candidate.cu": code, "wraps.cpp": harness_text("wraps.cpp")}
        gcc = str(self._gcc.path)
        wraps = (gcc, "-std=c++17", "-O2", "-fPIC", f"-I{cuda.include}", "-c", "wraps.cpp")
        wrapped = (f"-Wl,--wrap={name}" for name in _WRAPPED)
        objects = ("candidate.o", "wraps.o")
        link = (gcc, *_SHARED, *objects, *wrapped, *_runtime_flags(cuda), "-o", "out.so")

        def built(*more: str) -> Path | Failure:
            compile_ = self._nvcc(cuda, arch, "candidate", (*more, *flags))
            return self._cached(files, compile_, *checks, wraps, link, cuda=cuda)

        lean = built(_LEAN)
        if not isinstance(lean, Failure) or lean.outcome is Outcome.REJECTED_SOURCE:
            return lean
        return built() if _SPECIAL.search(code + lean.diagnosis) else lean

    def usage(self, code: str, cuda: Cuda, arch: str) -> str | Failure:
        """What ptxas says of the kernels of CUDA code, their names as in the source."""
        kept = '"$@" 2>said || { cat said; exit 1; }; c++filt <said >out.so'  # what is kept
        nvcc = self._nvcc(cuda, arch, "candidate", ("-Xptxas=-v",))
        made = self._cached({"candidate.cu": code}, ("/bin/sh", "-c", kept, "sh", *nvcc), cuda=cuda)
        return made if isinstance(made, Failure) else made.read_text("utf-8", "replace")

    def harness(self, problem: Problem, cuda: Cuda | None = None, arch: str = "") -> Path:
        """The trusted half of a worker for this signature. Raises `ToolError`."""
        signature = signature_header(problem)
        files = {"harness.cpp": harness_text("harness.cpp"), "signature.h": signature}
        link: Command = (str(self._gcc.path), "-std=c++17", "-O2", *_SHARED, "harness.cpp")
        if not cuda:
            return self._trusted(files, (*link, "-o", "out.so"))
        link = (*link, "-DREGRAPH_CUDA", f"-I{cuda.include}")
        before: tuple[Command, ...] = ()
        if problem.metric == "device":
            files |= {name: harness_text(name) for name in ("ready.cu", "seal.h")}
            before = (self._nvcc(cuda, arch, "ready"),)
            link = (*link, "-DREGRAPH_DEVICE", "ready.o")
        return self._trusted(
            files, *before, (*link, *_runtime_flags(cuda), "-o", "out.so"), cuda=cuda
        )

    def stopwatch(self) -> Path:
        """The judge's own clock (clock.cpp). Raises `ToolError`."""
        return self._own(_HARNESS / "clock.cpp")

    def arrays(self) -> Path:
        """What works on whole arrays (native/arrays.cpp). Raises `ToolError`."""
        flags = ("-march=native", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off")
        return self._own(_NATIVE, _HARNESS / "seal.h", flags=flags)

    def _own(self, source: Path, *headers: Path, flags: Sequence[str] = ()) -> Path:
        command = (str(self._gcc.path), "-std=c++17", "-O3", *flags, *_SHARED, source.name)
        files = {path.name: path.read_text(encoding="utf-8") for path in (source, *headers)}
        return self._trusted(files, (*command, "-pthread", "-o", "out.so"))

    def _trusted(self, files: dict[str, str], *commands: Command, cuda: Cuda | None = None) -> Path:
        """Compile the judge's own code, and keep it. Raises `ToolError`."""
        result = self._cached(files, *commands, cuda=cuda, keep=True)
        if isinstance(result, Failure):
            raise ToolError(f"{next(iter(files))}: does not compile: {result.diagnosis}")
        return result

    def _nvcc(self, cuda: Cuda, arch: str, name: str, extra: Sequence[str] = ()) -> Command:
        gencode = f"-gencode=arch=compute_{arch},code=sm_{arch}"
        return (
            *(str(cuda.nvcc), "-ccbin", str(self._gcc.path), "-std=c++17", "-O3", "-w", gencode),
            *("-Xcompiler=-fPIC", *extra, "-c", f"{name}.cu", "-o", f"{name}.o"),
        )

    def _cached(
        self,
        files: dict[str, str],
        *commands: Command,
        cuda: Cuda | None = None,
        keep: bool = False,
    ) -> Path | Failure:
        """What the commands make of the files; the key has all that this depends on."""
        job = Compilation(files, commands, (*self._gcc.reads, *(cuda.reads if cuda else ())))
        versions = (self._gcc.version, _cpu_features(), *((cuda.version,) if cuda else ()))
        content = (versions, commands, sorted(files.items()), self._sandbox)
        key = hashlib.sha256(repr(content).encode()).hexdigest()
        try:
            with self._building.setdefault(key, threading.Lock()):  # one thread compiles, all find
                if entry := self._cache.find(key, keep):
                    return entry
                with self._cache.building() as directory:
                    made = self._build(job, directory)
                    return made if isinstance(made, Failure) else self._cache.put(key, made, keep)
        except OSError as error:
            raise ToolError(
                f"compile cache {self._folder}: {error.strerror}; make room, remove it (it is made"
                " again) or set REGRAPH_CACHE_DIR"
            ) from None
        finally:
            self._building.pop(key, None)

    def _build(self, job: Compilation, directory: Path) -> bytes | Failure:
        work = directory / "work"
        work.mkdir()
        for name, text in job.files.items():
            (work / name).write_text(text, encoding="utf-8")
        result = run(job.commands, directory, job.reads, self._limits, self._sandbox)
        if result.code != 0:
            return self._failure(job, result, directory)
        try:
            return regular.read_bytes(work / "out.so", self._limits.object_bytes)
        except OSError as error:
            if error.errno == errno.EFBIG:
                return self._too_large()
            raise

    def _failure(self, job: Compilation, result: Ran, directory: Path) -> Failure:
        """The candidate's failure with its own errors. Raises `ToolError` for the machine's."""
        if result.code is None:
            seconds = self._limits.compile_seconds
            return Failure(Outcome.COMPILE_FAILED, f"the compiler needs more than {seconds:.0f} s")
        self._require_machine(job, result, directory)
        if _TOO_LARGE.search(result.said):
            return self._too_large()
        output = result.said.replace(f"{directory / 'work'}/", "")
        compiles = result.command[0] == "/bin/sh"  # it is its symbols that are refused
        outcome = Outcome.REJECTED_SOURCE if compiles else Outcome.COMPILE_FAILED
        return Failure(outcome, trimmed(output))

    def _too_large(self) -> Failure:
        limit = self._limits.object_bytes / 2**20
        text = f"the compiled object is larger than {limit:.0f} MiB: compute tables at run time"
        return Failure(Outcome.COMPILE_FAILED, text)

    def _require_machine(self, job: Compilation, result: Ran, directory: Path) -> None:
        """Raise where the disk is full or the toolkit unfit."""
        # A source can make a compiler print anything (#error, #line), so its words are checked: the
        # disk's free space is tried, and an empty source is compiled.
        if _FULL.search(result.said):
            with tempfile.TemporaryFile(dir=directory) as file:
                os.posix_fallocate(file.fileno(), 0, _ROOM_BYTES)
        unfit = _UNFIT.search(result.said)
        if unfit:
            innocent = directory / "innocent"
            (innocent / "work").mkdir(parents=True)
            for name in result.command:
                if name.endswith((".cu", ".cpp")):
                    (innocent / "work" / name).touch()
            if run([result.command], innocent, job.reads, self._limits, self._sandbox).code:
                raise ToolError(f"nvcc: {plain(unfit[0])[:200]}; install another CUDA toolkit")


def signature_header(problem: Problem) -> str:
    """signature.h for the harness: how to call the entry point with an array of pointers."""
    types = ["void*" if a.struct else a.spelled() + "*" * a.is_array for a in problem.args]
    result = C_TYPES[problem.returns.type] if problem.returns else "void"
    keeps = f"*({result} *)a[{len(types)}] = " if problem.returns else ""  # to the last pointer
    complex_ = "#include <complex>\n" if any("complex" in a.type for a in problem.slots) else ""
    passed = [
        f"({type_})a[{index}]" if arg.is_array else f"*({type_}*)a[{index}]"
        for index, (type_, arg) in enumerate(zip(types, problem.args, strict=True))
    ]
    flags = ", ".join("true" if arg.is_array else "false" for arg in problem.slots)
    return (
        f"{complex_}enum {{ ARGUMENTS = {len(problem.slots)}, PARAMETERS = {len(types)} }};\n"
        f"static const bool is_array[ARGUMENTS] = {{{flags}}};\n"
        f"static inline void call(void *f, void *const *a) {{\n"
        f"  {keeps}(({result} (*)({', '.join(types)}))f)({', '.join(passed)});\n}}\n"
    )


def harness_text(name: str) -> str:
    """A source of the harness (worker/harness)."""
    return (_HARNESS / name).read_text(encoding="utf-8")


def _runtime_flags(cuda: Cuda) -> tuple[str, ...]:
    folder = cuda.runtime.parent
    return (f"-L{folder}", f"-l:{cuda.runtime.name}", f"-Wl,-rpath,{folder}")


@functools.cache
def _cpu_features() -> str:
    """The CPU features that -march=native uses."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = ("model name", "flags", "Features", "CPU part")
    lines = sorted({line for line in text.splitlines() if line.startswith(fields)})
    return hashlib.sha256("".join(lines).encode()).hexdigest()
