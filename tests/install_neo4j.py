"""Installs real Neo4j servers for the tests: `python tests/install_neo4j.py`, run by `make test`.

Two releases: 5.26, the long-term one, for every test of a store, and 2026 for the contract suite.
Neo4j is GPL-3 and never part of this project: its jars are fetched with Maven into the user's cache
folder, and the tests run them as an external server. Without Maven or a fitting Java the script
says so and ends well: the tests that need that release then skip with that reason.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import platformdirs

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

    requirement: str
    """Its name in `--require`."""
    version: str
    javas: tuple[int, ...]
    """Major versions of Java that it runs on."""
    main: str
    """The class that is the server."""
    options: tuple[str, ...] = ()
    """Of the JVM."""


VERSION = "5.26.30"
LONG_TERM = Release("neo4j", VERSION, (17, 21), "org.neo4j.server.CommunityEntryPoint")
NEWEST = Release(
    "neo4j-2026",
    "2026.08.1",
    (21, 25),
    "org.neo4j.server.Neo4jCommunity",
    ("--add-modules=jdk.incubator.vector",),
)


def home(release: Release = LONG_TERM) -> Path:
    """Where the jars are, once installed."""
    return Path(platformdirs.user_cache_dir("regraph")) / f"neo4j-{release.version}"


def installed(release: Release = LONG_TERM) -> bool:
    """Whether the jars are all there (the folder is renamed into place when complete)."""
    return (home(release) / "lib").is_dir()


def java(release: Release = LONG_TERM) -> str | None:
    """A Java that this Neo4j runs on: JAVA_HOME first, then PATH, then the usual folders."""
    return next((path for path in _javas() if _java_version(path) in release.javas), None)


def _javas() -> Iterator[str]:
    """Every Java of this machine that we know how to find."""
    named = os.environ.get("JAVA_HOME")
    candidates = [str(Path(named) / "bin" / "java")] if named else []
    candidates.append("java")
    for pattern in JAVA_FOLDERS:
        found = glob.glob(f"{Path(pattern).expanduser()}/bin/java")
        candidates += sorted(found)
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


def missing(release: Release = LONG_TERM) -> str | None:
    """Why Neo4j cannot run here, or None."""
    if java(release) is None:
        wanted = " or ".join(map(str, release.javas))
        return f"Neo4j {release.version} needs Java {wanted} (JAVA_HOME or PATH)"
    if not installed(release):
        return f"Neo4j {release.version} is not installed; run python tests/install_neo4j.py"
    return None


def install(release: Release = LONG_TERM) -> None:
    """Fetch the jars with Maven; raises CalledProcessError with its output when that fails."""
    place = home(release)
    place.parent.mkdir(parents=True, exist_ok=True)
    dependencies = "\n".join(
        f"    <dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
        f"<version>{release.version}</version></dependency>"
        for group, name in ARTIFACTS
    )
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        draft = Path(folder) / "neo4j"
        draft.mkdir()
        (draft / "pom.xml").write_text(POM.format(dependencies=dependencies))
        goal = "dependency:copy-dependencies"
        options = ["-DoutputDirectory=lib", "-DincludeScope=runtime"]
        subprocess.run(
            ["mvn", "-B", "-q", goal, *options],
            cwd=draft,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=True,
        )
        shutil.rmtree(place, ignore_errors=True)
        draft.replace(place)


def main() -> int:
    """Install what is possible; a line for each release says what was done or why not."""
    for release in (LONG_TERM, NEWEST):
        said = _try(release)
        if said:
            sys.stderr.write(f"Neo4j {release.version} for the tests: {said}\n")
    return 0


def _try(release: Release) -> str:
    """What to say about a release; nothing where all is well already."""
    if installed(release):
        return ""
    if java(release) is None or shutil.which("mvn") is None:
        reason = missing(release) if java(release) is None else "Maven (mvn) is not on PATH"
        return f"not installed ({reason}); its tests will be skipped"
    sys.stderr.write(f"fetching about 120 MB into {home(release)} ...\n")
    try:
        install(release)
    except subprocess.CalledProcessError as error:
        last = (error.stdout.strip().splitlines() or ["no output"])[-1]
        return f"not installed (mvn: {last}); its tests will be skipped"
    return "installed"


if __name__ == "__main__":
    sys.exit(main())
