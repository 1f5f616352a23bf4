"""Source text -> shared object: one compiler process with limits, cached by content.

A cache entry is written under another name and renamed, so that no kill leaves half of one.
Its key is sha256 of source, flags, compiler version and, with -march=native, the CPU's features.

Source rules keep a candidate from reading files at compile time: absolute and `..` includes,
computed includes, #embed, .incbin and .include in assembler, and its macros, which could spell
them. Not covered: such a directive put together by token pasting; whatever the compiler's own
search path offers.
"""

import codecs
import contextlib
import functools
import hashlib
import math
import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.complaints import trimmed
from regraph_kg.evaluation.problem import C_TYPES, Problem
from regraph_kg.evaluation.rules import Failure, Limits
from regraph_kg.evaluation.toolchain import Cuda, Gcc
from regraph_kg.models.evaluation import Outcome

HOST_FLAGS = ("-std=c++17", "-O3", "-march=native")
_SHARED = ("-fPIC", "-shared", "-w", "-Wl,--no-undefined", "-Wl,-z,now")
_PLAIN_ERRORS = ("-fmax-errors=8", "-fdiagnostics-color=never", "-fno-diagnostics-show-caret")
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
_OUTPUT_BYTES = 256 * 2**20
_MEMORY_BYTES, _LEAST_MEMORY_BYTES = 16 * 2**30, 2 * 2**30
_CPU_GRACE_SECONDS = 5
_KILLED = re.compile(r"died due to signal 9\b|Killed signal terminated")
"""What nvcc and g++ say when a program that they run got SIGKILL."""
_SOURCE_BYTES = 2**20
_ROOM_BYTES = 64 * 2**20
_FULL = re.compile("No space left on device|Disk quota exceeded")
_TAKEN = "not allowed: a function of the CUDA runtime or a name of the judge's as its own: "
_SYMBOLS = (
    *("/bin/sh", "-c"),
    "nm -g candidate.o >symbols || exit;"
    " taken=$(sed -nE '/ [TDBRVWC] (__)?cuda[A-Z]|regraph_|__real_|__wrap_/s/.* //p' symbols);"
    f' test -z "$taken" || {{ echo "{_TAKEN}"$taken; exit 1; }}',
)
"""Wraps.cpp calls the runtime by name: a candidate's own cudaMemcpy would disarm it."""
_UNFIT = re.compile("Unsupported gpu architecture.*|unsupported GNU version.*")
_FOLDER, _STALE_SECONDS = "regraph-compile-", 3600.0
_HARNESS = Path(__file__).with_name("harness")


Command = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """One compilation: file name -> text, and the commands that make `out.so` of them."""

    files: dict[str, str]
    commands: tuple[Command, ...]
    key: tuple[str, ...]


class Compiler:
    """Compiles on this machine, into the folder `cache`."""

    def __init__(self, cache: Path, gcc: Gcc, limits: Limits) -> None:
        self._cache, self._gcc, self._limits = cache, gcc, limits
        sweep(cache)

    def host(self, code: str, flags: Sequence[str]) -> Path | Failure:
        """C++ code with g++ and these flags besides the common ones."""
        command = (str(self._gcc.path), *flags, *_SHARED, *_PLAIN_ERRORS)
        job = Job(
            {"candidate.cpp": code},
            ((*command, "candidate.cpp", "-o", "out.so"),),
            (self._gcc.version, _cpu_features()),
        )
        return self._cached(job)

    def cuda(self, code: str, cuda: Cuda, arch: str, *, own_symbols: bool = True) -> Path | Failure:
        """CUDA code with nvcc for one architecture, linked by g++ with wraps.cpp.

        `own_symbols`: it may define functions of the runtime and use wraps.cpp's names as its own.
        """
        checks = () if own_symbols else (_SYMBOLS,)
        lean = self._cached(self._cuda_job(code, cuda, arch, ((_LEAN,), checks)))
        if not isinstance(lean, Failure):
            return lean
        if _TAKEN in lean.diagnosis and checks:
            return Failure(Outcome.REJECTED_SOURCE, lean.diagnosis)
        if _SPECIAL.search(code + lean.diagnosis):
            return self._cached(self._cuda_job(code, cuda, arch, ((), checks)))
        return lean

    def harness(self, problem: Problem, cuda: Cuda | None = None, arch: str = "") -> Path:
        """The trusted half of a worker for this signature. Raises `ToolError`."""
        files = {"harness.cpp": _text("harness.cpp"), "signature.h": signature_header(problem)}
        link: tuple[str, ...] = (
            *(str(self._gcc.path), "-std=c++17", "-O2"),
            *(*_SHARED, "harness.cpp"),
        )
        versions = (self._gcc.version,)
        if not cuda:
            return self._trusted(Job(files, ((*link, "-o", "out.so"),), versions))
        link = (*link, "-DREGRAPH_CUDA", f"-I{cuda.include}")
        before: tuple[tuple[str, ...], ...] = ()
        if problem.metric == "device":
            files["sweep.cu"] = _text("sweep.cu")
            before = (self._nvcc(cuda, arch, "sweep"),)
            link = (*link, "-DREGRAPH_DEVICE", "sweep.o")
        last = (*link, *_runtime_flags(cuda), "-o", "out.so")
        return self._trusted(Job(files, (*before, last), (*versions, cuda.version)))

    def stopwatch(self) -> Path:
        """The judge's own clock (clock.cpp). Raises `ToolError`."""
        command = (str(self._gcc.path), "-std=c++17", "-O2", *_SHARED, "clock.cpp", "-o", "out.so")
        return self._trusted(
            Job({"clock.cpp": _text("clock.cpp")}, (command,), (self._gcc.version,))
        )

    def _trusted(self, job: Job) -> Path:
        built = self._cached(job)
        if isinstance(built, Failure):
            raise ToolError(f"{next(iter(job.files))}: does not compile: {built.diagnosis}")
        return built

    def _nvcc(self, cuda: Cuda, arch: str, name: str, extra: Sequence[str] = ()) -> tuple[str, ...]:
        gencode = f"-gencode=arch=compute_{arch},code=sm_{arch}"
        return (
            *(str(cuda.nvcc), "-ccbin", str(self._gcc.path), "-std=c++17", "-O3", "-w", gencode),
            *("-Xcompiler=-fPIC", *extra, "-c", f"{name}.cu", "-o", f"{name}.o"),
        )

    def _cuda_job(
        self, code: str, cuda: Cuda, arch: str, how: tuple[Sequence[str], Sequence[Command]]
    ) -> Job:
        extra, checks = how
        compile_ = self._nvcc(cuda, arch, "candidate", extra)
        gcc = str(self._gcc.path)
        wraps = (gcc, "-std=c++17", "-O2", "-fPIC", f"-I{cuda.include}", "-c", "wraps.cpp")
        wrapped = tuple(f"-Wl,--wrap={name}" for name in _WRAPPED)
        objects = ("candidate.o", "wraps.o")
        link = (gcc, *_SHARED, *objects, *wrapped, *_runtime_flags(cuda), "-o", "out.so")
        return Job(
            {"candidate.cu": code, "wraps.cpp": _text("wraps.cpp")},
            (compile_, *checks, wraps, link),
            (self._gcc.version, cuda.version, _cpu_features()),
        )

    def _cached(self, job: Job) -> Path | Failure:
        key = hashlib.sha256(repr((job.key, job.commands, sorted(job.files.items()))).encode())
        entry = self._cache / f"{key.hexdigest()}.so"
        if entry.exists():
            return entry
        try:
            self._cache.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=_FOLDER) as directory:
                return self._build(job, Path(directory), entry)
        except OSError as error:
            raise ToolError(
                f"compile cache {self._cache}: {error.strerror}; free the disk or set"
                " REGRAPH_CACHE_DIR"
            ) from None

    def _build(self, job: Job, directory: Path, entry: Path) -> Path | Failure:
        for name, text in job.files.items():
            (directory / name).write_text(text, encoding="utf-8")
        for command in job.commands:
            failure = self._run(command, directory)
            if failure:
                return failure
        with tempfile.NamedTemporaryFile(dir=self._cache, delete=False) as file:
            try:
                file.write((directory / "out.so").read_bytes())
                file.flush()
                os.chmod(file.name, 0o555)
                os.replace(file.name, entry)
            except OSError:
                os.unlink(file.name)
                raise
        return entry

    def _run(self, command: tuple[str, ...], directory: Path) -> Failure | None:
        """One compiler process; its errors trimmed to the candidate's."""
        kills = _oom_kills()
        code, errors = self._execute(command, directory)
        if code == 0:
            return None
        if code is None:
            seconds = self._limits.compile_seconds
            return Failure(Outcome.COMPILE_FAILED, f"the compiler needs more than {seconds:.0f} s")
        if code == -signal.SIGKILL or (_KILLED.search(errors) and _oom_kills() > kills):
            raise ToolError(
                f"{Path(command[0]).name}: killed, most likely for lack of memory, though held to"
                f" {_memory_bytes() / 2**30:.0f} GiB; end other programs or compile fewer at once"
            )
        self._require_machine(command, directory, errors)
        sources = directory.glob("candidate.c[pu]*")
        source = next((path.read_text(encoding="utf-8") for path in sources), "")
        return Failure(Outcome.COMPILE_FAILED, trimmed(errors, source))

    def _require_machine(self, command: tuple[str, ...], directory: Path, errors: str) -> None:
        """Raise where the disk is full or the toolkit unfit.

        A source can make a compiler print anything (#error, #line), so that what it says is looked
        into: room on the disk is tried, and an empty source compiled.
        """
        if _FULL.search(errors):
            with tempfile.TemporaryFile(dir=directory) as file:
                os.posix_fallocate(file.fileno(), 0, _ROOM_BYTES)
        unfit = _UNFIT.search(errors)
        if unfit:
            innocent = directory / "innocent"
            innocent.mkdir()
            for name in command:
                if name.endswith((".cu", ".cpp")):
                    (innocent / name).touch()
            if self._execute(command, innocent)[0]:
                raise ToolError(f"nvcc: {unfit[0][:200]}; install another CUDA toolkit")

    def _execute(self, command: tuple[str, ...], directory: Path) -> tuple[int | None, str]:
        """Exit code of a process in its own group, limited, and what it says; None: too slow."""
        said = os.memfd_create("said")  # not on the disk, which may be full
        try:
            code = self._exit_code(command, directory, said)
            return code, os.pread(said, 2**16, 0).decode(errors="replace")
        finally:
            os.close(said)

    def _exit_code(self, command: tuple[str, ...], directory: Path, said: int) -> int | None:
        process = subprocess.Popen(
            ("/bin/sh", "-c", self._limited(), "sh", *command),
            cwd=directory,
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C", "TMPDIR": str(directory)},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
        try:
            return process.wait(self._limits.compile_seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _limited(self) -> str:
        """Limits, then the command: set from outside, they would miss what it starts at once.

        The limit on CPU time ends a compiler whose judge was killed.
        """
        seconds = math.ceil(self._limits.compile_seconds)
        return (
            f"ulimit -f {_OUTPUT_BYTES // 512}; ulimit -v {_memory_bytes() // 1024};"
            f' ulimit -St {seconds}; ulimit -Ht {seconds + _CPU_GRACE_SECONDS}; exec "$@"'
        )


def _oom_kills() -> int:
    """How many processes the kernel has killed for want of memory since it was booted."""
    with contextlib.suppress(OSError):
        found = re.search(r"^oom_kill (\d+)$", Path("/proc/vmstat").read_text(), re.MULTILINE)
        return int(found[1]) if found else 0
    return 0


@functools.cache
def _memory_bytes() -> int:
    """Address space of one compiler: a greedy source meets it before the machine's memory ends.

    So that a compiler which the kernel killed was not killed for its own candidate's greed.
    """
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with contextlib.suppress(OSError, ValueError):  # no control group, or no limit ("max")
        machine = min(machine, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return max(_LEAST_MEMORY_BYTES, min(_MEMORY_BYTES, machine // 2))


def sweep(cache: Path) -> None:
    """Remove what compilations left behind whose judge was killed: only what has an hour's age."""
    folders = Path(tempfile.gettempdir()).glob(f"{_FOLDER}{'[a-z0-9_]' * 8}")
    drafts = cache.glob(f"tmp{'[a-z0-9_]' * 8}")
    for path in (*folders, *drafts):
        with contextlib.suppress(OSError):
            found = path.lstat()
            if found.st_uid != os.getuid() or time.time() - found.st_mtime < _STALE_SECONDS:
                continue
            if stat.S_ISDIR(found.st_mode):
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()


def rejected(code: str) -> Failure | None:
    """Apply the source rules."""
    if not code.strip():
        return Failure(Outcome.REJECTED_SOURCE, "the source is empty")
    if "\x00" in code or len(code) > _SOURCE_BYTES or not _encodable(code):
        return Failure(Outcome.REJECTED_SOURCE, "the source is not C++ text of at most 1 MiB")
    text = _without_comments(code.replace("\\\r\n", "").replace("\\\n", ""))
    for line in text.splitlines():
        directive = re.match(r"\s*(?:\#|%:)\s*(include|include_next|import|embed)\b\s*(.*)", line)
        if directive and not _harmless(directive[1], directive[2].strip()):
            return Failure(
                Outcome.REJECTED_SOURCE, f"not allowed: {line.strip()[:200]} (reaches for files)"
            )
    assembler = re.search(r"\.\s*(incbin|include|macro|irpc?)\b", text + _strings(text))
    if assembler:
        return Failure(Outcome.REJECTED_SOURCE, f"not allowed: .{assembler[1]} in assembler")
    return None


def signature_header(problem: Problem) -> str:
    """signature.h for the harness: how to call the entry point with an array of pointers."""
    types = [C_TYPES[a.type] + ("*" if a.is_array else "") for a in problem.args]
    passed = [
        f"({type_})a[{index}]" if arg.is_array else f"*({type_}*)a[{index}]"
        for index, (type_, arg) in enumerate(zip(types, problem.args, strict=True))
    ]
    flags = ", ".join("true" if arg.is_array else "false" for arg in problem.args)
    return (
        f"enum {{ ARGUMENTS = {len(types)} }};\n"
        f"static const bool is_array[ARGUMENTS] = {{{flags}}};\n"
        f"static inline void call(void *f, void *const *a) {{\n"
        f"  ((void (*)({', '.join(types)}))f)({', '.join(passed)});\n}}\n"
    )


def _encodable(code: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in code)


def _harmless(directive: str, rest: str) -> bool:
    if directive == "embed" or not rest.startswith(("<", '"')):
        return False
    path = rest[1:].lstrip()
    return not path.startswith("/") and ".." not in path


def _without_comments(code: str) -> str:
    pattern = r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')'
    return re.sub(pattern, lambda m: m[1] or " ", code, flags=re.DOTALL)


def _strings(text: str) -> str:
    """All string literals, joined as the compiler joins neighbours, escapes resolved."""
    joined = "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', text))
    return codecs.decode(joined.encode("latin-1", "replace"), "unicode_escape", "replace")


def _text(name: str) -> str:
    return (_HARNESS / name).read_text(encoding="utf-8")


def _runtime_flags(cuda: Cuda) -> tuple[str, ...]:
    folder = cuda.runtime.parent
    return (f"-L{folder}", f"-l:{cuda.runtime.name}", f"-Wl,-rpath,{folder}")


@functools.cache
def _cpu_features() -> str:
    """What -march=native means here."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    wanted = ("model name", "flags", "Features", "CPU part")
    return hashlib.sha256(
        "".join(sorted({x for x in text.splitlines() if x.startswith(wanted)})).encode()
    ).hexdigest()
