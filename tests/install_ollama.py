"""Builds a real Ollama for the tests: `make ollama-test-server`, 6 minutes with two cores.

The Go module lacks C headers that Ollama takes from others. They are looked for under /usr/include
(Debian: nlohmann-json3-dev, libstb-dev); where they are not and this is a Debian, the packages are
fetched and unpacked, not installed. The binary lands in the user's cache folder, where
tests/llm/real_ollama.py finds it; it serves from the CPU. No model comes with it: the tests make
their own of random weights.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import platformdirs

if __name__ == "__main__":  # run by path: the checkout is not on sys.path then
    sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.install_server import install

VERSION = "0.23.2"
"""The newest whose Go module carries all of its runner."""
MODULE = "github.com/ollama/ollama"
MALGO = "github.com/gen2brain/malgo@v0.11.24"
"""A Go module that carries miniaudio.h."""
FOR_THIS_PROCESSOR = "-O3 -march=native"
"""Without it no vector instruction is used: 5 tokens/s of a model of 0.5B instead of 34."""
HEADERS = {"nlohmann/json.hpp": "nlohmann-json3-dev", "stb/stb_image.h": "libstb-dev"}
"""Header -> the Debian package that has it."""
SYSTEM = Path("/usr/include")


def home() -> Path:
    """Where what we build lies."""
    return Path(platformdirs.user_cache_dir("regraph")) / f"ollama-{VERSION}-native"


def binary() -> Path | None:
    """The server that was built here, or None."""
    built = home() / "bin" / "ollama"
    return built if built.is_file() else None


def missing() -> str | None:
    """Why it cannot be built here, or None."""
    for tool, remedy in (("go", "https://go.dev/dl"), ("gcc", "Debian: gcc"), ("g++", "g++")):
        if shutil.which(tool) is None:
            return f"{tool} is not on PATH ({remedy})"
    lacking = [package for header, package in HEADERS.items() if not (SYSTEM / header).is_file()]
    if lacking and not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        return f"no {' and no '.join(lacking)} under {SYSTEM}"
    return None


def build() -> None:
    """Build the server; raises CalledProcessError with its output when a step fails."""
    include = home() / "include"
    _collect(include)
    environment = {
        "GOBIN": str(home() / "draft"),
        "CGO_ENABLED": "1",
        "CGO_CPPFLAGS": f"-I{include}",
        "CGO_CFLAGS": FOR_THIS_PROCESSOR,
        "CGO_CXXFLAGS": FOR_THIS_PROCESSOR,
    }
    # without this it calls itself 0.0.0, which a client takes for an old one
    version = f"-ldflags=-X={MODULE}/version.Version={VERSION}"
    _run(("go", "install", "-trimpath", version, f"{MODULE}@v{VERSION}"), environment)
    (home() / "bin").mkdir(exist_ok=True)
    (home() / "draft" / "ollama").replace(home() / "bin" / "ollama")


def _collect(include: Path) -> None:
    """Put the headers that the module lacks into one folder."""
    include.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for header, package in HEADERS.items():
            part = Path(header).parent
            there = SYSTEM / part
            if not (SYSTEM / header).is_file():
                there = _unpacked(package, Path(folder) / package) / part
            shutil.copytree(there, include / part, dirs_exist_ok=True)
    downloaded = json.loads(_run(("go", "mod", "download", "-json", MALGO)))
    audio = include / "miniaudio"
    audio.mkdir(exist_ok=True)
    shutil.copyfile(Path(downloaded["Dir"]) / "miniaudio.h", audio / "miniaudio.h")


def _unpacked(package: str, folder: Path) -> Path:
    """The headers of a Debian package that is fetched, not installed."""
    folder.mkdir()
    _run(("apt-get", "download", "-q", package), cwd=folder)
    (archive,) = folder.glob("*.deb")
    _run(("dpkg-deb", "-x", str(archive), str(folder)))
    return folder / "usr" / "include"


def _run(
    command: Sequence[str], environment: Mapping[str, str] | None = None, cwd: Path | None = None
) -> str:
    done = subprocess.run(
        command,
        cwd=cwd,
        env=os.environ | dict(environment or {}),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def main() -> int:
    """Build it where it is not there; the exit code."""
    where = f"in {home()} (6 minutes)"
    return install(f"Ollama {VERSION}", where, binary, missing, build)


if __name__ == "__main__":
    sys.exit(main())
