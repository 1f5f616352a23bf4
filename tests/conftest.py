"""Options and the closing table of what this machine could not run, and why."""

import os
import signal
import tempfile
from collections import Counter

import pytest
from xdist.remote import Producer
from xdist.scheduler.loadscope import LoadScopeScheduling

from tests.requirement import KNOWN

pytest_plugins = ("tests.stores",)
STORES = (
    *("tests/backends/", "tests/contract/", "tests/ingest/", "tests/e2e/", "tests/docs/"),
    *("tests/search/test_optimize", "tests/search/test_several", "tests/search/test_by_file"),
    "tests/search/test_starter",
    "tests/benchmarks/",
)
"""Most of their tests open an embedded store."""
NEO4J = ("tests/browser/", "tests/contract/test_encryption")
"""Each starts a Neo4j of its own, once."""

EMBEDDED_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Embedded stores of tests do not live long enough for a good compiler to pay."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require",
        default="",
        help=f"comma-separated things whose absence fails instead of skipping: {', '.join(KNOWN)}",
    )
    parser.addoption(
        "--write-golden", action="store_true", help="rewrite tests/golden; then read the diff"
    )


def pytest_configure(config: pytest.Config) -> None:
    names = [name for name in config.getoption("--require").split(",") if name]
    os.environ.setdefault("ARCADEDB_JVM_ARGS", EMBEDDED_JVM)
    if "PYTEST_XDIST_WORKER" in os.environ:  # judges of a machine take turns by a lock there
        os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="tests-")
        tempfile.tempdir = None
    # A shell's background job ignores Ctrl-C, and so would every process that the tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    unknown = sorted(set(names) - set(KNOWN))
    if unknown:
        raise pytest.UsageError(f"--require={','.join(unknown)}: know only {', '.join(KNOWN)}")
    if names:
        os.environ["REGRAPH_TEST_REQUIRE"] = ",".join(names)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> "Stores":
    return Stores(config, log)


class Stores(LoadScopeScheduling):
    """With several processes (pytest -n 3) each kind of store runs in one of them, and first.

    By the names of tests: xdist's own groups do nothing with pytest 9.2 (it writes `_nodeid`).
    """

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid)


def scope(nodeid: str) -> str:
    """What runs in one process: a kind of store, what is installed, or a test by itself."""
    if nodeid.startswith("tests/package/"):
        return "package"
    if "neo4j_2026" in nodeid:
        return "neo4j-2026"
    if "neo4j" in nodeid or nodeid.startswith(NEO4J):
        return "neo4j"
    if "[embedded" in nodeid or nodeid.startswith(STORES):
        return "embedded"
    return nodeid


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test whose name hides its Neo4j would start one more of them in another process."""
    hidden = [
        item.nodeid
        for item in items
        if "neo4j_server" in getattr(item, "fixturenames", ()) and scope(item.nodeid) != "neo4j"
    ]
    if hidden:
        raise pytest.UsageError(f"say neo4j in the name of what needs one: {', '.join(hidden)}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    if not skipped:
        return
    reasons = Counter(str(r.longrepr[2]).removeprefix("Skipped: ") for r in skipped)
    terminalreporter.section("not run on this machine")
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"{count:4d} x  {reason}")
