"""Fixtures of the container tests: an engine that answers, its images, the worker image built.

The images are those of tests/install_docker_images.py; a test whose image is missing skips.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.install_docker_images import DEBIAN, build, docker, present, silent
from tests.requirement import require

ROOT = Path(__file__).parents[2]
WORKER = "regraph-worker:test"
TAKEN = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")
"""Of the environment, for every build: docker knows these without a word in the recipe."""
INDEXES = {
    "PIP_INDEX_URL": "global.index-url",
    "PIP_EXTRA_INDEX_URL": "global.extra-index-url",
}
"""Of the environment, else of pip's configuration; their values never stand on a command line."""

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def engine() -> None:
    """A container engine answers."""
    if reason := silent():
        require("docker", reason)


@pytest.fixture(scope="session")
def image(engine: None) -> Callable[[str], str]:
    """`image(name)`: that name, once the engine has it."""

    def had(name: str) -> str:
        if not present(name):
            require("docker", f"no image {name}: run python tests/install_docker_images.py")
        return name

    return had


@pytest.fixture(scope="session")
def worker_image(image: Callable[[str], str]) -> Iterator[str]:
    """docker/worker.Dockerfile, upon Debian: no toolkit of CUDA in it."""
    with pytest.MonkeyPatch.context() as patch:
        for name, option in INDEXES.items():
            if name not in os.environ and (value := _configured(option)):
                patch.setenv(name, value)
        given = [name for name in (*TAKEN, *INDEXES) if os.environ.get(name)]
        options = [word for name in given for word in ("--build-arg", name)]
        recipe = ROOT / "docker" / "worker.Dockerfile"
        build(WORKER, recipe, ROOT, "--build-arg", f"BASE={image(DEBIAN)}", *options)
    yield WORKER
    docker("image", "rm", "--force", WORKER, check=False)


def _configured(option: str) -> str:
    """What pip's configuration says; nothing where there is no pip."""
    pip = [sys.executable, "-m", "pip"]
    if subprocess.run([*pip, "--version"], capture_output=True, check=False).returncode:
        pip = [shutil.which("pip") or "false"]
    done = subprocess.run(
        [*pip, "config", "get", option], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()
