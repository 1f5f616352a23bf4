"""llama-cpp-python's server, where we built it, with models of random weights."""

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest

from tests.install_llama_cpp import interpreter
from tests.llm.tiny_model import CONTEXT, write_tiny_model
from tests.requirement import require

LOG = "serve.log"
MODELS = {"tiny": 1.3, "babble": -30.0}
"""Pull towards the end of an answer. The server has one of them loaded at a time."""


def found() -> Path:
    """The Python that has the server; reports that there is none."""
    place = interpreter()
    if place is None:
        require("llama-cpp", "make llama-test-server has not built one")
    if find_spec("gguf") is None:
        require("llama-cpp", "the Python package gguf, which makes the test models, is missing")
    return place


@contextmanager
def served(python: Path, folder: Path) -> Iterator[str]:
    """A server of our own on a free port, with models and log in `folder`; its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = folder / "settings.json"
    settings.write_text(json.dumps(_settings(folder, port)))
    words = [str(python), "-m", "llama_cpp.server", "--config_file", str(settings)]
    ours = {"HOST", "PORT", "CONFIG_FILE"}  # the server puts them above its file
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    with (folder / LOG).open("ab") as log:
        process = subprocess.Popen(
            words, cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True
        )
    try:
        _wait_for(f"http://127.0.0.1:{port}", process, folder / LOG)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _settings(folder: Path, port: int) -> dict[str, object]:
    models = []
    for name, stops in MODELS.items():
        file = folder / f"{name}.gguf"
        write_tiny_model(file, stops=stops)
        models.append(
            {
                "model": str(file),
                "model_alias": name,
                "n_ctx": CONTEXT,
                "n_threads": 1,  # more wait for each other in busy loops
                "n_threads_batch": 1,
                "verbose": False,
            }
        )
    return {"host": "127.0.0.1", "port": port, "models": models}


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if process.poll() is not None:
            last = log.read_text(errors="replace").strip().splitlines()[-1:]
            pytest.fail(f"llama_cpp.server ended with {process.returncode}: {last}")
        with suppress(httpx.TransportError):
            httpx.get(f"{url}/v1/models", timeout=2).raise_for_status()
            return
        time.sleep(0.1)
    pytest.fail("llama_cpp.server does not answer within 60 s")
