"""A real Neo4j for the tests: one given by the environment, else our own, else testcontainers.

REGRAPH_TEST_NEO4J_URI, _USER, _PASSWORD, _DATABASE   a server whose database may be wiped
"""

import os
import secrets
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import neo4j
import pytest
from pydantic import SecretStr

from regraph_kg.settings import Settings
from tests import install_neo4j
from tests.requirement import require

START_SECONDS = 240.0
CONF = """\
server.default_listen_address=127.0.0.1
server.bolt.listen_address=127.0.0.1:{port}
server.bolt.advertised_address=127.0.0.1:{port}
server.http.enabled=false
server.https.enabled=false
server.memory.heap.initial_size=256m
server.memory.heap.max_size=768m
server.memory.pagecache.size=64m
dbms.usage_report.enabled=false
internal.server.bolt.thread_pool_shutdown_wait_time=0s
internal.server.bolt.connection_shutdown_wait_time=0s
"""
SMALL_JVM = ("-Xms256m", "-Xmx768m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""The machine is shared with the compilers of other tests: start soon, take little."""
OPENED = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Settings of a running Neo4j, with a data folder of their own; skips where there is none."""
    folder = tmp_path_factory.mktemp("neo4j")
    given = os.environ.get("REGRAPH_TEST_NEO4J_URI")
    if given:
        yield _given(given, folder)
        return
    reason = install_neo4j.missing()
    if reason is None:
        with started(folder) as settings:
            yield settings
        return
    if not _docker_answers():
        require("neo4j", f"{reason}; no REGRAPH_TEST_NEO4J_URI, and Docker does not answer")
    from testcontainers.community.neo4j import Neo4jContainer  # noqa: PLC0415 (needs Docker)

    with Neo4jContainer("neo4j:5.26-community") as container:
        yield _settings(container.get_connection_url(), container.password, folder)


@contextmanager
def started(home: Path) -> Iterator[Settings]:
    """Run the installed Neo4j with `home` as its folder, on a free port of localhost."""
    port, password = _free_port(), secrets.token_hex(12)
    environment = _configure(home, port)
    jars = str(install_neo4j.home() / "lib" / "*")
    java = install_neo4j.java()
    assert java is not None
    admin = [java, "-cp", jars, "org.neo4j.cli.AdminTool", "dbms", "set-initial-password", password]
    subprocess.run(admin, env=environment, check=True, capture_output=True)
    opens = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED]
    command = [java, *SMALL_JVM, *opens, "--enable-native-access=ALL-UNNAMED"]
    command += ["-cp", os.pathsep.join((f"{home}/plugins/*", f"{home}/conf", jars))]
    command += ["org.neo4j.server.CommunityEntryPoint", f"--home-dir={home}"]
    command += [f"--config-dir={home / 'conf'}", "--console-mode"]
    with (
        (home / "server.log").open("wb") as log,
        subprocess.Popen(command, env=environment, stdout=log, stderr=log) as server,
    ):
        try:
            settings = _settings(f"bolt://127.0.0.1:{port}", password, home)
            _wait(settings, server)
            yield settings
        finally:
            server.terminate()


def _configure(home: Path, port: int) -> Mapping[str, str]:
    for name in ("conf", "plugins", "data"):
        (home / name).mkdir()
    (home / "conf" / "neo4j.conf").write_text(CONF.format(port=port))
    return os.environ | {"NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")}


def _wait(settings: Settings, server: subprocess.Popen[bytes]) -> None:
    """Until the server answers; the first query of a fresh JVM takes seconds, so it goes here."""
    deadline = time.monotonic() + START_SECONDS
    auth = (settings.store_user, settings.store_password.get_secret_value())
    with neo4j.GraphDatabase.driver(settings.store, auth=auth) as driver:
        while True:
            try:
                driver.verify_connectivity()
                driver.execute_query("RETURN 1")
                return
            except (neo4j.exceptions.DriverError, neo4j.exceptions.Neo4jError):
                log = settings.data_dir / "server.log"
                assert server.poll() is None, log.read_text()
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.2)


def _given(uri: str, folder: Path) -> Settings:
    return Settings(
        store=uri,
        store_user=os.environ.get("REGRAPH_TEST_NEO4J_USER", "neo4j"),
        store_password=SecretStr(os.environ.get("REGRAPH_TEST_NEO4J_PASSWORD", "")),
        store_database=os.environ.get("REGRAPH_TEST_NEO4J_DATABASE"),
        data_dir=folder,
    )


def _settings(uri: str, password: str, folder: Path) -> Settings:
    return Settings(store=uri, store_password=SecretStr(password), data_dir=folder)


def _docker_answers() -> bool:
    try:
        done = subprocess.run(["docker", "info"], capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
