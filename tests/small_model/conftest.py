"""A real Ollama with real weights (`make small-model`), and commands that ask it."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import ollama
import pytest

from tests.install import CODER, ollama_binary
from tests.llm import real_ollama
from tests.requirement import require

MODEL = "qwen2.5-coder"
COUNTER = "counter"
CHAT = """\
{{ range $i, $one := .Messages }}{{ $last := eq (len (slice $.Messages $i)) 1 -}}
<|im_start|>{{ .Role }}
{{ .Content }}{{ if not (and $last (eq .Role "assistant")) }}<|im_end|>
{{ end }}{{ if and $last (ne .Role "assistant") }}<|im_start|>assistant
{{ end }}{{ end }}
"""
COUNTING = """\
<|im_start|>user
Count from 1 to 100000, one number a line.<|im_end|>
<|im_start|>assistant
1
2
3
4
5
6
"""
"""Whatever is asked: a short prompt, and an answer without an end."""
END = "<|im_end|>"
REGRAPH = (sys.executable, "-c", "from regraph_kg.cli.app import main; main()")
_ROOT = Path(__file__).parents[2]
BENCH = ("env", f"PYTHONPATH={_ROOT}", sys.executable, "-m", "benchmarks.bench")


@dataclass(frozen=True)
class Desk:
    """A folder to work in, and commands whose model is the small one."""

    folder: Path
    environment: dict[str, str]

    @property
    def url(self) -> str:
        return self.environment["REGRAPH_OLLAMA_URL"]

    def run(
        self, *words: str, command: Sequence[str] = REGRAPH
    ) -> subprocess.CompletedProcess[str]:
        """`regraph WORDS`, or another command."""
        return subprocess.run(
            [*command, *words],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=280,
        )

    def start(self, *words: str) -> subprocess.Popen[str]:
        """The same, not waited for."""
        return subprocess.Popen(
            [*REGRAPH, *words],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def weights(place: Path) -> Path:
    """A model's place; reports that it was not fetched."""
    if not place.exists():
        require("small-model", f"{place.name} was not fetched: make small-model")
    return place


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of our own, one request at a time, with both models; its URL."""
    file = weights(CODER)
    program = ollama_binary()
    if program is None:
        require("small-model", "ollama is not on PATH, and make small-model has not built one")
    folder = tmp_path_factory.mktemp("small-model")
    with real_ollama.served(program, folder, OLLAMA_NUM_PARALLEL="1") as (url, _):
        with ollama.Client(url, timeout=120) as client:
            digest = client.create_blob(file)
            for name, template in ((MODEL, CHAT), (COUNTER, COUNTING)):
                client.create(
                    model=name,
                    files={file.name: digest},
                    template=template,
                    parameters={**real_ollama.ONE_THREAD, "stop": [END]},
                )
        yield url


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Truths of the problems are made once."""
    return tmp_path_factory.mktemp("cache")


def cleaned() -> dict[str, str]:
    """The environment without settings of ours."""
    return {name: value for name, value in os.environ.items() if not name.startswith("REGRAPH_")}


@pytest.fixture
def desk(server: str, cache: Path, tmp_path: Path) -> Desk:
    environment = {
        **cleaned(),
        "REGRAPH_OLLAMA_URL": server,
        "REGRAPH_MODEL": f"ollama:{MODEL}",
        "REGRAPH_MODEL_MAX_TOKENS": "600",
        "REGRAPH_DATA_DIR": str(tmp_path / "data"),
        "REGRAPH_CACHE_DIR": str(cache),
    }
    return Desk(tmp_path, environment)
