"""Installs a real Neo4j for the tests: `python tests/install_neo4j.py`, called by `make test`.

Neo4j is GPL-3 and never part of this project: its jars are fetched with Maven into the user's cache
folder, and the tests run them as an external server. Without Maven or a fitting Java the script
says so and ends well: the tests that need Neo4j then skip with that reason.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import platformdirs

VERSION = "5.26.30"
JAVA_VERSIONS = (17, 21)
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


def home() -> Path:
    """Where the jars are, once installed."""
    return Path(platformdirs.user_cache_dir("regraph")) / f"neo4j-{VERSION}"


def installed() -> bool:
    """Whether the jars are all there (the folder is renamed into place when complete)."""
    return (home() / "lib").is_dir()


def java() -> str | None:
    """A Java that this Neo4j runs on: JAVA_HOME first, then PATH."""
    folder = os.environ.get("JAVA_HOME")
    candidates = [str(Path(folder) / "bin" / "java")] if folder else []
    for candidate in (*candidates, "java"):
        path = shutil.which(candidate)
        if path and _java_version(path) in JAVA_VERSIONS:
            return path
    return None


def _java_version(path: str) -> int:
    done = subprocess.run([path, "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(\d+)', done.stderr)
    return int(found.group(1)) if found else 0


def missing() -> str | None:
    """Why Neo4j cannot run here, or None."""
    if java() is None:
        wanted = " or ".join(map(str, JAVA_VERSIONS))
        return f"Neo4j {VERSION} needs Java {wanted} (JAVA_HOME or PATH)"
    if not installed():
        return f"Neo4j {VERSION} is not installed; run python tests/install_neo4j.py"
    return None


def install() -> None:
    """Fetch the jars with Maven; raises CalledProcessError with its output when that fails."""
    home().parent.mkdir(parents=True, exist_ok=True)
    dependencies = "\n".join(
        f"    <dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
        f"<version>{VERSION}</version></dependency>"
        for group, name in ARTIFACTS
    )
    with tempfile.TemporaryDirectory(dir=home().parent) as folder:
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
        shutil.rmtree(home(), ignore_errors=True)
        draft.replace(home())


def main() -> int:
    """Install if possible; a line says what was done or why not."""
    if installed():
        return 0
    if java() is None or shutil.which("mvn") is None:
        reason = missing() if java() is None else "Maven (mvn) is not on PATH"
        return _say(f"not installed ({reason}); its tests will be skipped")
    _say(f"fetching about 120 MB into {home()} ...")
    try:
        install()
    except subprocess.CalledProcessError as error:
        last = (error.stdout.strip().splitlines() or ["no output"])[-1]
        return _say(f"not installed (mvn: {last}); its tests will be skipped")
    return _say("installed")


def _say(text: str) -> int:
    sys.stderr.write(f"Neo4j {VERSION} for the tests: {text}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
