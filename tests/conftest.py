"""Options, a temporary folder of our own, and the closing table of what could not run, and why."""

import gc
import os
import shutil
import signal
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.workermanage import WorkerController

from regraph_kg.evaluation.compile.compile import Compiler
from regraph_kg.evaluation.compile.toolchain import find_gcc
from regraph_kg.evaluation.native import arrays
from regraph_kg.evaluation.rules import JudgeLimits
from tests import scopes
from tests.requirement import KNOWN

pytest_plugins = ("tests.stores",)

EMBEDDED_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Embedded stores of tests do not live long enough for a good compiler to pay."""
FOLDER = pytest.StashKey[Path]()
"""All temporary files of this run, locks of judges among them: another run has its own."""


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
    config.stash[FOLDER] = Path(tempfile.mkdtemp(prefix="tests-"))
    os.environ["TMPDIR"] = str(config.stash[FOLDER])
    tempfile.tempdir = None
    # A shell's background job ignores Ctrl-C, and so would every process that the tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    unknown = sorted(set(names) - set(KNOWN))
    if unknown:
        raise pytest.UsageError(f"--require={','.join(unknown)}: know only {', '.join(KNOWN)}")
    if names:
        os.environ["REGRAPH_TEST_REQUIRE"] = ",".join(names)


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache folder of commands that judge: most tests have them compile and check the same."""
    return tmp_path_factory.mktemp("shared_cache")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """What a failure left stays to be looked at."""
    if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        shutil.rmtree(session.config.stash[FOLDER], ignore_errors=True)


def pytest_configure_node(node: WorkerController) -> None:
    node.workerinput["scopes"] = str(node.config.stash[FOLDER] / "scopes.json")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    gc.collect()
    gc.freeze()  # thousands of tests live as long as the process: no later collection looks at them
    given = getattr(session.config, "workerinput", None)
    if given is not None:
        scopes.write(session.items, Path(given["scopes"]))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> scopes.Scopes:
    return scopes.Scopes(config, log, config.stash[FOLDER] / "scopes.json")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    if not skipped:
        return
    reasons = Counter(str(r.longrepr[2]).removeprefix("Skipped: ") for r in skipped)
    terminalreporter.section("not run on this machine")
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"{count:4d} x  {reason}")


@pytest.fixture(autouse=True, scope="session")
def array_library(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What draws and compares arrays is built when first used, also without a judge."""
    folder = tmp_path_factory.getbasetemp().parent / "arrays"
    arrays.offer(lambda: Compiler(folder, find_gcc(), JudgeLimits()).arrays())
