"""Builds a real llama.cpp server for the tests: `make llama-test-server`, 7 minutes on two cores.

It is llama-cpp-python's server (MIT, as is the llama.cpp inside), compiled from its source
distribution, in an environment of its own in the user's cache folder, where
tests/llm/real_llama_cpp.py finds it. It is no development dependency: everybody who sets one up
would have to compile it. CMake and Ninja come with it where the machine has none. No model comes
with it: the tests make their own of random weights. Not here: llama.cpp's own `llama-server`.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import platformdirs

if __name__ == "__main__":  # run by path: the checkout is not on sys.path then
    sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.install_server import install

VERSION = "0.3.36"
JOBS = 2
"""Compilers at once: each takes up to a GB, and a laptop has other work, too."""


def home() -> Path:
    """Where what we build lies."""
    return Path(platformdirs.user_cache_dir("regraph")) / f"llama-cpp-python-{VERSION}"


def interpreter() -> Path | None:
    """The Python that has the server (`-m llama_cpp.server`), or None where it is not built."""
    built = home() / "environment" / "bin" / "python"
    return built if built.is_file() else None


def missing() -> str | None:
    """Why it cannot be built here, or None."""
    for tool in ("gcc", "g++"):
        if shutil.which(tool) is None:
            return f"{tool} is not on PATH (Debian: {tool})"
    return None


def build() -> None:
    """Build the server; raises CalledProcessError with its output when a step fails."""
    draft = home() / "draft"
    _run(sys.executable, "-m", "venv", "--clear", str(draft))
    package = f"llama-cpp-python[server]=={VERSION}"
    pip = (str(draft / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet")
    _run(*pip, "install", "--no-binary", "llama-cpp-python", package)
    draft.rename(home() / "environment")  # complete, or not there; `python -m` bears the move


def _run(*command: str) -> None:
    # without LLAVA_BUILD: no pictures are asked about
    settings = {"CMAKE_BUILD_PARALLEL_LEVEL": str(JOBS), "CMAKE_ARGS": "-DLLAVA_BUILD=OFF"}
    subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, check=True)


def main() -> int:
    """Build it where it is not there; the exit code."""
    where = f"in {home()} (7 minutes)"
    return install(f"llama-cpp-python {VERSION}", where, interpreter, missing, build)


if __name__ == "__main__":
    sys.exit(main())
