"""A real Ollama, found by URL, on PATH or where we built it, fed with models of random weights."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from signal import SIGKILL

import httpx
import ollama
import pytest

from tests.install import ollama_binary
from tests.llm.tiny_model import CONTEXT, write_tiny_model
from tests.requirement import require

LOG = "serve.log"
PLAIN = "{{ .System }}{{ .Prompt }}{{ .Response }}"
THINKING = (
    '{{ range .Messages }}{{ if eq .Role "assistant" }}<think>{{ .Thinking }}</think>{{ end }}'
    "{{ .Content }}{{ end }}{{ if .Think }}<think>{{ end }}"
)
ONE_THREAD = {"num_thread": 1}
"""More of them wait for each other in busy loops, which a machine with other work pays dearly."""
MODELS = {"tiny": (1.3, PLAIN), "babble": (-30.0, PLAIN), "thinker": (1.3, THINKING)}
"""Pull towards the end of an answer, and chat template."""


def found() -> str:
    """The URL of a running server, or the path of a binary; reports that there is neither."""
    place = os.environ.get("REGRAPH_TEST_OLLAMA_URL") or ollama_binary()
    if not place:
        require(
            "ollama",
            "REGRAPH_TEST_OLLAMA_URL is not set, ollama is not on PATH, and make"
            " ollama-test-server has not built one",
        )
    if find_spec("gguf") is None:
        require("ollama", "the Python package gguf, which makes the test models, is missing")
    return place


@contextmanager
def served(
    binary: str, folder: Path, **settings: str
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A server of our own on a free port, with models and log in `folder`; URL and process.

    `settings` are environment variables of the server.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    environment = os.environ | {
        "OLLAMA_HOST": address,
        "OLLAMA_MODELS": str(folder / "models"),
        "HOME": str(folder),
        **settings,
    }
    with (folder / LOG).open("ab") as log:
        process = subprocess.Popen(
            [binary, "serve"], env=environment, stdout=log, stderr=log, start_new_session=True
        )
    try:
        _wait_for(f"http://{address}", process)
        yield f"http://{address}", process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, SIGKILL)  # with the runner, which survives its server
        process.wait()


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(200):
        if process.poll() is not None:
            pytest.fail(f"ollama serve ended with {process.returncode}")
        with (
            suppress(ConnectionError, httpx.TransportError),
            ollama.Client(url, timeout=2) as client,
        ):
            client.list()
            return
        time.sleep(0.05)
    pytest.fail("ollama serve does not answer within 10 s")


def create_models(url: str, folder: Path, context: int = CONTEXT) -> dict[str, str]:
    """Create the test models on the server at `url`; what they are called there."""
    names = {name: f"regraph-test-{context}-{name}" for name in MODELS}
    with ollama.Client(url, timeout=60) as client:
        for name, (stops, template) in MODELS.items():
            file = folder / f"{name}.gguf"
            write_tiny_model(file, stops=stops, context=context)
            digest = client.create_blob(file)
            client.create(
                model=names[name],
                files={file.name: digest},
                template=template,
                parameters=ONE_THREAD,
            )
    return names


@contextmanager
def serving_random_weights(folder: Path, context: int, **settings: str) -> Iterator[str]:
    """A server of our own with the model "tiny", which holds `context` tokens; its URL."""
    place = found()
    if "://" in place:
        raise SystemExit("an ollama binary is needed here, not a server that runs already")
    with served(place, folder, **settings) as (url, _):
        file = folder / "tiny.gguf"
        write_tiny_model(file, stops=1.3, context=context)
        with ollama.Client(url, timeout=60) as client:
            digest = client.create_blob(file)
            client.create(
                model="tiny", files={file.name: digest}, template=PLAIN, parameters=ONE_THREAD
            )
        yield url


def delete_models(url: str, names: dict[str, str]) -> None:
    """Leave a server that is not ours as it was."""
    with ollama.Client(url, timeout=60) as client:
        for name in names.values():
            client.delete(name)
