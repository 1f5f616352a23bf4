"""Which tests run in one process (pytest -n): those that share a server or a judge.

A server takes seconds to start, so each kind runs in one process, and first: its tests are many.
Judges wait for each other's timing, and each makes its own baselines: theirs, too.
A test says what it shares by its fixtures, or by xdist's marker `xdist_group`. xdist's own way
(--dist loadgroup) does nothing with pytest 9.2, as it writes `_nodeid`, and its scheduler knows
nothing of a test but its name: each process writes down what it collected, the scheduler reads it.
"""

import json
import os
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler.loadscope import LoadScopeScheduling

SERVERS = {
    "neo4j_2026_server": "neo4j-2026",
    "neo4j_server": "neo4j",
    "embedded_server": "embedded",
    "judges": "judge",
    "judge": "judge",
}
"""Fixture of a server or judge -> its scope. Who asks for several goes with the first."""


def scope(item: pytest.Item) -> str:
    """What runs in one process with this test; its own name where it shares nothing."""
    group = item.get_closest_marker("xdist_group")
    if group is not None:
        return str(group.args[0])
    asked = set(getattr(item, "fixturenames", ()))
    given = getattr(getattr(item, "callspec", None), "params", {})
    if "store_settings" in given:  # it asks for its server when it runs
        asked.add(f"{given['store_settings']}_server")
    return next((name for server, name in SERVERS.items() if server in asked), item.nodeid)


def write(items: list[pytest.Item], file: Path) -> None:
    """Note what shares a process; whole at once, as every process writes the same."""
    shared = {item.nodeid: found for item in items if (found := scope(item)) != item.nodeid}
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    draft.write_text(json.dumps(shared))
    draft.replace(file)


class Scopes(LoadScopeScheduling):
    """Hands out tests as `write` said in `file`."""

    def __init__(self, config: pytest.Config, log: Producer, file: Path) -> None:
        super().__init__(config, log)
        self._file = file
        self._shared: dict[str, str] = {}

    def schedule(self) -> None:
        """Begin: every process has collected."""
        self._shared = self._shared or json.loads(self._file.read_text())
        super().schedule()

    def _split_scope(self, nodeid: str) -> str:
        return self._shared.get(nodeid, nodeid)
