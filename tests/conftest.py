"""Options and the closing table of what this machine could not run, and why."""

import os
from collections import Counter

import pytest

from tests.requirement import KNOWN

pytest_plugins = ("tests.stores",)


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
    unknown = sorted(set(names) - set(KNOWN))
    if unknown:
        raise pytest.UsageError(f"--require={','.join(unknown)}: know only {', '.join(KNOWN)}")
    if names:
        os.environ["REGRAPH_TEST_REQUIRE"] = ",".join(names)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With several processes (pytest -n 2 --dist loadgroup) a kind of store runs in one of them.

    The tests of stores are a fixed part of each process's share, so that they come first.
    """
    for item in items:
        if group := _store_of(item):
            item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)


def _store_of(item: pytest.Item) -> str | None:
    """Which server it needs: a server a kind and process, and each takes its time to start."""
    parameters = getattr(item, "callspec", None)
    named = {str(value) for value in parameters.params.values()} if parameters else set()
    needs = named | set(getattr(item, "fixturenames", ()))
    if any(name.startswith("neo4j") for name in needs) or "browser" in item.path.parts:
        return "neo4j"
    return "embedded" if any(name.startswith("embedded") for name in needs) else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    if not skipped:
        return
    reasons = Counter(str(r.longrepr[2]).removeprefix("Skipped: ") for r in skipped)
    terminalreporter.section("not run on this machine")
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"{count:4d} x  {reason}")
