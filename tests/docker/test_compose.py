"""docker/compose.yaml brought up for real, in a project of its own, on free ports.

Not covered: the variant for GPUs, of which only the text is read; images of their makers where
tests/install_docker_images.py had to make them.
"""

import json
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
import yaml

from regraph_kg.settings import Settings
from tests.docker.conftest import ROOT
from tests.install_docker_images import NEO4J, OLLAMA, docker
from tests.neo4j_server import free_port
from tests.requirement import require
from tests.stores import cypher

pytestmark = pytest.mark.timeout(600)
FILE = ROOT / "docker" / "compose.yaml"
SERVICES = yaml.safe_load(FILE.read_text(encoding="utf-8"))["services"]
HEALTHY_SECONDS = 240.0


class Stack:
    """One project: `up` starts services and waits until they are healthy."""

    def __init__(self, command: list[str], environment: Mapping[str, str]) -> None:
        self._command, self.environment = command, environment

    def compose(self, *words: str) -> str:
        """Run compose; what it printed."""
        done = subprocess.run(
            [*self._command, *words],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def up(self, service: str) -> None:
        """Start one and wait for its health check."""
        self.compose("up", "--detach", service)
        container = self.compose("ps", "--quiet", service).strip()
        deadline = time.monotonic() + HEALTHY_SECONDS
        while True:
            seen = json.loads(docker("inspect", container).stdout)[0]
            if seen["State"]["Health"]["Status"] == "healthy":
                assert seen["HostConfig"]["Memory"] > 0
                return
            assert time.monotonic() < deadline, docker("logs", container).stdout
            time.sleep(1)


@pytest.fixture
def stack(engine: None) -> Iterator[Stack]:
    """Compose, of whichever kind is here; its containers and volumes end with the test."""
    kinds = (["docker", "compose"], ["docker-compose"])
    tried = (kind for kind in kinds if shutil.which(kind[0]) and _runs([*kind, "version"]))
    kind = next(tried, None)
    if kind is None:
        require("docker", "no compose: install its plugin (Debian: docker-compose)")
    ports = ("NEO4J_HTTP_PORT", "NEO4J_BOLT_PORT", "OLLAMA_PORT")
    environment = os.environ | {name: str(free_port()) for name in ports}
    environment |= {"NEO4J_PASSWORD": secrets.token_hex(12)}
    project = f"regraph-test-{secrets.token_hex(4)}"
    made = Stack([*kind, "--file", str(FILE), "--project-name", project], environment)
    try:
        yield made
    finally:
        made.compose("--profile", "cpu", "down", "--volumes")


def _runs(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_neo4j_becomes_healthy_takes_the_starter_graph_and_answers(
    stack: Stack, image: Callable[[str], str], tmp_path: Path
) -> None:
    image(NEO4J)
    stack.up("neo4j")
    environment = stack.environment | {
        "REGRAPH_STORE": f"neo4j://127.0.0.1:{stack.environment['NEO4J_BOLT_PORT']}",
        "REGRAPH_STORE_PASSWORD": stack.environment["NEO4J_PASSWORD"],
        "REGRAPH_DATA_DIR": str(tmp_path),
    }
    regraph(environment, "ingest", "--starter")
    regraph(environment, "graph", "report")
    settings = Settings(
        store=environment["REGRAPH_STORE"], store_password=environment["REGRAPH_STORE_PASSWORD"]
    )
    rows = cypher(settings, "MATCH (t:Technique) RETURN count(t) AS techniques")
    assert rows[0]["techniques"] > 10


def regraph(environment: Mapping[str, str], *words: str) -> str:
    """What a command printed."""
    command = [sys.executable, "-c", "from regraph_kg.cli.app import main; main()", *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_ollama_becomes_healthy(stack: Stack, image: Callable[[str], str]) -> None:
    image(OLLAMA)
    stack.up("ollama")


def test_the_images_are_pinned_to_the_releases_that_the_tests_run() -> None:
    assert SERVICES["neo4j"]["image"] == NEO4J
    assert SERVICES["ollama"]["image"] == SERVICES["ollama-gpu"]["image"] == OLLAMA


def test_only_its_own_profile_starts_what_needs_a_gpu() -> None:
    wanting = {name for name, one in SERVICES.items() if "deploy" in one}
    assert wanting == {name for name, one in SERVICES.items() if one.get("profiles") == ["gpu"]}
    assert wanting == {"ollama-gpu"}


@pytest.mark.parametrize("service", sorted(SERVICES))
def test_every_service_has_a_health_check_a_limit_and_listens_here_alone(service: str) -> None:
    one = SERVICES[service]
    assert one["healthcheck"]["test"]
    assert one["mem_limit"]
    assert all(port.startswith("127.0.0.1:") for port in one["ports"])
