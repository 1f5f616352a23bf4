"""Compilers of this machine: g++, and nvcc from PATH, CUDA_HOME or the toolkit's wheels."""

import contextlib
import functools
import os
import shutil
import site
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from regraph_kg.errors import ToolError

SYSTEM_FOLDERS = (
    *("/usr/bin", "/usr/include", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32"),
    *("/usr/libexec", "/bin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"),
    *("/etc/alternatives", "/etc/ld.so.cache", "/usr/local/include"),
    *("/sys/devices/system/cpu", "/proc/cpuinfo"),
)
"""What compilers read on every machine; the last two say what -march=native means on ARM."""
_TOOLKIT_PARTS = ("bin", "include", "libexec", "nvvm", "targets")


@dataclass(frozen=True, slots=True)
class Gcc:
    path: Path
    version: str

    @property
    def reads(self) -> tuple[str, ...]:
        """Paths that it reads besides `SYSTEM_FOLDERS`, as it reports them."""
        return _gcc_reads(self.path)


@dataclass(frozen=True, slots=True)
class Cuda:
    """The CUDA compiler, its headers and its runtime library."""

    nvcc: Path
    version: str
    include: Path
    runtime: Path  # libcudart.so or libcudart.so.N

    @property
    def reads(self) -> tuple[str, ...]:
        """Paths that nvcc reads: itself and the parts of its toolkit."""
        paths = [str(self.nvcc), str(self.nvcc.resolve())]
        roots = {self.nvcc.absolute().parents[1], self.nvcc.resolve().parents[1]}
        for root in sorted(roots):  # nvcc looks beside the name by which it was called
            if str(root) not in ("/", "/usr"):  # there it starts the toolkit's own, in /usr/lib
                paths += [str(root / part) for part in _TOOLKIT_PARTS]
        return (*paths, str(self.include), str(self.runtime.parent))


def find_gcc() -> Gcc:
    """The g++ on PATH. Raises `ToolError`."""
    path = shutil.which("g++")
    if not path:
        raise ToolError("g++: not found on PATH; install it (Debian, Ubuntu: apt install g++)")
    return Gcc(Path(path), _output([path, "-dumpfullversion"]).strip())


def find_cuda() -> Cuda:
    """The first complete CUDA toolkit. Raises `ToolError`, in one line."""
    for nvcc in _nvccs():
        root = nvcc.resolve().parents[1]
        includes = (root / "include", *root.glob("targets/*/include"))
        include = next((d for d in includes if (d / "cuda_runtime_api.h").exists()), None)
        runtime = next(libraries(root, "cudart"), None)
        if include and runtime:
            release = _output([str(nvcc), "--version"]).rpartition("release ")[2]
            return Cuda(nvcc, release.partition(",")[0].strip(), include, runtime)
    raise ToolError(
        "nvcc: no CUDA toolkit on PATH, in CUDA_HOME or among the installed packages;"
        f" {INSTALL_TOOLKIT}"
    )


INSTALL_TOOLKIT = "pip install 'cuda-toolkit[nvcc,cudart,cccl,cupti]==13.0.*'"
"""What the extra `cuda` of pyproject.toml installs: this package is on no index."""


@functools.cache
def _gcc_reads(path: Path) -> tuple[str, ...]:
    """Programs, libraries and headers where this compiler searches for them, if it lists them."""
    reads = {str(path), str(path.resolve())}
    with contextlib.suppress(ToolError):
        for line in _output([str(path), "-print-search-dirs"]).splitlines():
            name, _, places = line.partition(": ")
            if name in ("install", "programs", "libraries"):
                reads |= set(places.lstrip("=").split(":"))
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        command = [str(path), "-E", "-v", "-x", "c++", os.devnull]
        process = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        reads |= {line.strip() for line in process.stderr.splitlines() if line.startswith(" /")}
    folders = {os.path.normpath(place) for place in reads if place.startswith("/")}
    return tuple(sorted(place for place in folders if os.path.exists(place) and place != "/"))


def _nvccs() -> Iterator[Path]:
    on_path = shutil.which("nvcc")
    if on_path:
        yield Path(on_path)
    homes = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if name in os.environ]
    for home in [*homes, "/usr/local/cuda"]:
        if (Path(home) / "bin/nvcc").exists():
            yield Path(home) / "bin/nvcc"
    for folder in [*site.getsitepackages(), *sys.path]:
        yield from sorted(Path(folder).glob("nvidia/cu*/bin/nvcc"), reverse=True)


def libraries(root: Path, name: str) -> Iterator[Path]:
    """Files of a library in a toolkit's folder, the shortest name of a folder first."""
    for folder in (root / "lib64", root / "lib", *root.glob("targets/*/lib")):
        yield from sorted(folder.glob(f"lib{name}.so*"), key=lambda p: len(p.name))


def _output(command: list[str]) -> str:
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise ToolError(f"{command[0]}: does not run: {error}") from None
