"""Real Neo4j servers for the tests: given by the environment, else our own, else testcontainers.

REGRAPH_TEST_NEO4J_URI, _USER, _PASSWORD, _DATABASE   a server whose database may be wiped
REGRAPH_TEST_NEO4J_2026_URI, ...                      the same, of a release of 2026
REGRAPH_TEST_NEO4J_CONTAINER=1                        testcontainers first (make test-docker)
"""

import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import neo4j
import pytest
from pydantic import SecretStr

from regraph_kg.settings import Settings
from tests import install, install_docker_images
from tests.install import LONG_TERM, NEWEST, Release
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
db.tx_log.preallocate=false
dbms.cypher.min_replan_interval=1d
dbms.cypher.statistics_divergence_threshold=1.0
internal.server.bolt.thread_pool_shutdown_wait_time=0s
internal.server.bolt.connection_shutdown_wait_time=0s
"""
"""Statements are planned once, although every test empties the graph, and no half GB of log is laid
out for each server."""
SMALL_JVM = ("-Xms256m", "-Xmx768m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""The machine is shared with the compilers of other tests: start soon, take little."""
_WITH_US = ("setpriv", "--pdeathsig", "KILL") if shutil.which("setpriv") else ()
"""pytest -n ends its processes by force after a Ctrl-C; the server then ends too."""
OPENED = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Settings of a running Neo4j, with a data folder of their own; skips where there is none."""
    with _any_server(LONG_TERM, "REGRAPH_TEST_NEO4J", tmp_path_factory.mktemp("neo4j")) as found:
        yield found


@pytest.fixture(scope="session")
def neo4j_2026_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """The same with the newest release."""
    folder = tmp_path_factory.mktemp("neo4j-2026")
    with _any_server(NEWEST, "REGRAPH_TEST_NEO4J_2026", folder) as found:
        yield found


@contextmanager
def _any_server(release: Release, prefix: str, folder: Path) -> Iterator[Settings]:
    if os.environ.get(f"{prefix}_URI"):
        yield _given(prefix, folder)
        return
    reason = install.neo4j_missing(release)
    if reason is None and not os.environ.get("REGRAPH_TEST_NEO4J_CONTAINER"):
        with started(folder, release) as settings:
            yield settings
        return
    if silent := install_docker_images.silent():
        require(release.requirement, f"{reason or 'asked for'}; no {prefix}_URI, and {silent}")
    from testcontainers.community.neo4j import Neo4jContainer  # noqa: PLC0415 (needs Docker)

    with Neo4jContainer(f"neo4j:{release.version}-community") as container:
        yield _settings(container.get_connection_url(), container.password, folder)


@contextmanager
def started(
    home: Path, release: Release = LONG_TERM, more_conf: str = "", plugins: Sequence[Path] = ()
) -> Iterator[Settings]:
    """Run an installed Neo4j with `home` as its folder, on a free port of localhost.

    `more_conf`: further lines of its configuration. `plugins`: further jars of its class path.
    """
    settings = prepared(home, release, more_conf, plugins)
    with running(settings, release):
        yield settings


def prepared(
    home: Path, release: Release = LONG_TERM, more_conf: str = "", plugins: Sequence[Path] = ()
) -> Settings:
    """Folders, configuration and password of a Neo4j that `running` can run, more than once."""
    port, password = free_port(), secrets.token_hex(12)
    environment = _configure(home, CONF.format(port=port) + more_conf)
    for jar in plugins:
        (home / "plugins" / jar.name).symlink_to(jar)
    java, jars = install.java(release), _jars(release)
    assert java is not None
    admin = [java, "-cp", jars, "org.neo4j.cli.AdminTool", "dbms", "set-initial-password", password]
    subprocess.run(admin, env=environment, check=True, capture_output=True)
    return _settings(f"bolt://127.0.0.1:{port}", password, home)


@contextmanager
def running(
    settings: Settings, release: Release = LONG_TERM, jvm: Sequence[str] = SMALL_JVM
) -> Iterator[subprocess.Popen[bytes]]:
    """Run the Neo4j whose folder is `settings.data_dir`; it answers by now, and may be killed."""
    home, java = settings.data_dir, install.java(release)
    assert java is not None
    opens = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED]
    command = [
        *_WITH_US,
        java,
        *jvm,
        *opens,
        "--enable-native-access=ALL-UNNAMED",
        *release.options,
    ]
    classes = (f"{home}/plugins/*", f"{home}/conf", _jars(release))
    command += ["-cp", os.pathsep.join(classes), release.main, f"--home-dir={home}"]
    command += [f"--config-dir={home / 'conf'}", "--console-mode"]
    with (
        (home / "server.log").open("wb") as log,
        subprocess.Popen(command, env=_environment(home), stdout=log, stderr=log) as server,
    ):
        try:
            _wait(settings, server)
            yield server
        finally:
            server.terminate()


def _jars(release: Release) -> str:
    return str(release.home / "lib" / "*")


def _configure(home: Path, conf: str) -> Mapping[str, str]:
    for name in ("conf", "plugins", "data"):
        (home / name).mkdir()
    (home / "conf" / "neo4j.conf").write_text(conf)
    return _environment(home)


def _environment(home: Path) -> Mapping[str, str]:
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


def _given(prefix: str, folder: Path) -> Settings:
    return Settings(
        store=os.environ[f"{prefix}_URI"],
        store_user=os.environ.get(f"{prefix}_USER", "neo4j"),
        store_password=SecretStr(os.environ.get(f"{prefix}_PASSWORD", "")),
        store_database=os.environ.get(f"{prefix}_DATABASE"),
        data_dir=folder,
    )


def _settings(uri: str, password: str, folder: Path) -> Settings:
    return Settings(store=uri, store_password=SecretStr(password), data_dir=folder)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
