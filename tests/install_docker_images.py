"""Gets the container images of the tests: `python tests/install_docker_images.py`.

Each is taken as it is here, else pulled, else made under the same name from what the tests have
anyhow: Debian by mmdebstrap, Neo4j and Ollama of what install.py got. What was made is not what its
makers ship; a line for each image says which it is.

Exit code 0: done, also where an image is missing (its tests then skip with that reason); 3: no
container engine answers at DOCKER_HOST or the default socket. Not covered: images for a GPU.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

if __name__ == "__main__":  # run by path: the checkout is not on sys.path then
    sys.path.insert(0, str(Path(__file__).parents[1]))

from tests import install

DEBIAN = "debian:bookworm-slim"
NEO4J = f"neo4j:{install.LONG_TERM.version}-community"
OLLAMA = f"ollama/ollama:{install.OLLAMA_VERSION}"
LABEL = "regraph.made-by=tests/install_docker_images.py"
"""On what is made here; removed by `docker rmi` of the images with this label."""
RECIPES = Path(__file__).parent / "docker" / "images"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
"""Whom this machine trusts: a proxy of its own may stand between it and the package index."""
_NO_ENGINE = 3


def docker(
    *words: str, check: bool = True, timeout: float | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the client; raises CalledProcessError with its output when it fails and `check`."""
    command = ["docker", *words]
    return subprocess.run(command, capture_output=True, text=True, check=check, timeout=timeout)


def silent() -> str | None:
    """Why no container engine can be used here, or None."""
    try:
        docker("info", "--format", "{{.ServerVersion}}", timeout=20)
    except FileNotFoundError:
        return "the docker client is not on PATH"
    except subprocess.TimeoutExpired:
        return "docker does not answer within 20 s"
    except subprocess.CalledProcessError as error:
        where = os.environ.get("DOCKER_HOST", "the default socket")
        return f"no engine answers at {where}: {install.last_error(error.stderr)}"
    return None


def present(image: str) -> bool:
    """Whether the engine has it."""
    return docker("image", "inspect", image, check=False).returncode == 0


def build(image: str, recipe: Path, context: Path, *options: str) -> None:
    """`docker build`; raises CalledProcessError with its output when that fails."""
    docker("build", "--tag", image, "--file", str(recipe), *options, str(context))


def _debian() -> str | None:
    """Make it of packages; else why not."""
    if shutil.which("mmdebstrap") is None:
        return "mmdebstrap is not on PATH (Debian: mmdebstrap)"
    command = ["mmdebstrap", "--quiet", "--variant=minbase", "--include=ca-certificates"]
    if CERTIFICATES.is_file():
        command.append(f"--customize-hook=copy-in {CERTIFICATES} {CERTIFICATES.parent}")
    with tempfile.TemporaryDirectory() as folder:
        archive = str(Path(folder) / "rootfs.tar")
        subprocess.run([*command, "bookworm", archive], check=True, capture_output=True, text=True)
        docker("import", "--change", f"LABEL {LABEL}", archive, DEBIAN)
    return None


def _neo4j() -> str | None:
    if not install.LONG_TERM.home.is_dir():
        return f"Neo4j {install.LONG_TERM.version} is not installed (python tests/install.py neo4j)"
    return _upon_debian(NEO4J, "neo4j", install.LONG_TERM.home / "lib")


def _ollama() -> str | None:
    if not install.OLLAMA.is_file():
        return f"Ollama {install.OLLAMA_VERSION} is not built (make ollama-test-server)"
    return _upon_debian(OLLAMA, "ollama", install.OLLAMA)


def _upon_debian(image: str, name: str, part: Path) -> str | None:
    """Build with `part` (a file or a folder) beside the recipe."""
    if not present(DEBIAN):
        return f"{DEBIAN} is missing"
    with tempfile.TemporaryDirectory() as folder:
        context = Path(folder)
        copy: Callable[..., object] = shutil.copytree if part.is_dir() else shutil.copy2
        copy(part, context / part.name)
        for recipe in RECIPES.glob(f"{name}[.-]*"):
            shutil.copy2(recipe, context)
        build(image, context / f"{name}.Dockerfile", context, "--label", LABEL)
    return None


MAKERS = {DEBIAN: _debian, NEO4J: _neo4j, OLLAMA: _ollama}  # in the order of their making


def obtain(image: str) -> str:
    """Take, pull or make it; what was done, or why it is missing."""
    if present(image):
        labels = docker("image", "inspect", "--format", "{{.Config.Labels}}", image).stdout
        return "there, made by this script" if LABEL.partition("=")[0] in labels else "there"
    try:
        docker("pull", "--quiet", image, timeout=600)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return _made(image)
    return "pulled"


def _made(image: str) -> str:
    try:
        reason = MAKERS[image]()
    except subprocess.CalledProcessError as error:
        reason = f"{error.cmd[0]}: {install.last_error(error.stderr or error.stdout)}"
    return f"missing: not to be pulled, and {reason}" if reason else "made here: not its makers'"


def main(images: Sequence[str] = tuple(MAKERS)) -> int:
    """Obtain each; a line says what came of it."""
    if reason := silent():
        sys.stderr.write(
            f"NO CONTAINER TEST HAS RUN: {reason}; start an engine, or set DOCKER_HOST\n"
        )
        return _NO_ENGINE
    for image in images:
        sys.stdout.write(f"{image}: {obtain(image)}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
