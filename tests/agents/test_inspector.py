"""`regraph mcp` asked by the MCP inspector's command line (npm), a client of other people's making.

Nothing is fetched here: CONTRIBUTING.md says how the inspector is had.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from tests.agents.conftest import Project
from tests.agents.program import REGRAPH
from tests.ingest.trajectories import row
from tests.requirement import require

pytestmark = pytest.mark.nightly  # each question is a client, and by stdio a server, of its own

Ask = Callable[..., dict[str, Any]]
RECORD = {
    "technique": "SIMD vectorization", "reasoning": "rows apart", "agent": "inspector",
    "model": "some-model",
}  # fmt: skip


@pytest.fixture
def inspector() -> str:
    """The inspector's program: REGRAPH_TEST_INSPECTOR, or mcp-inspector on PATH."""
    if not shutil.which("node"):
        require("inspector", "node is not on PATH")
    named = os.environ.get("REGRAPH_TEST_INSPECTOR", "mcp-inspector")
    found = shutil.which(named)
    if not found:
        require("inspector", f"{named} is not there: CONTRIBUTING.md says how it is installed")
    return found


def asked(command: list[str], project: Project, words: list[str]) -> dict[str, Any]:
    """What the inspector prints for one question."""
    done = subprocess.run(
        [*command, *words], capture_output=True, text=True, check=False, timeout=180,
        env={**os.environ, **project.env},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def whole_loop(ask: Ask, project: Project) -> None:
    """List the tools, check, ask what follows, evaluate, record: as an agent would."""
    assert {"evaluate", "record_step"} <= {one["name"] for one in ask("tools/list")["tools"]}
    assert told(ask, "check_problem", problem="scale")["problem"] == "scale"
    steps = told(ask, "next_techniques", code="int x;", target="cuda")["steps"]
    assert [step["technique"] for step in steps] == ["cuda/memory-coalescing"]
    wrong = project.serial.replace("a *", "")
    assert told(ask, "evaluate", problem="scale", code=wrong)["outcome"] == "wrong_answer"
    faster = project.serial.replace("  for", "#pragma omp parallel for\n  for")
    recorded = told(ask, "record_step", problem="scale", code=faster, **RECORD)
    assert recorded["steps"] == 1


def told(ask: Ask, tool: str, **given: str) -> dict[str, Any]:
    """What a tool says."""
    pairs = [word for name, value in given.items() for word in ("--tool-arg", f"{name}={value}")]
    done = ask("tools/call", "--tool-name", tool, *pairs)
    assert not done.get("isError"), done
    answer: dict[str, Any] = done["structuredContent"]
    return answer


def test_the_inspector_runs_the_whole_loop_by_stdio(inspector: str, project: Project) -> None:
    project.ingest(row(1, "Memory coalescing"))
    server = [REGRAPH, "mcp", "--root", str(project.folder)]

    def ask(method: str, *words: str) -> dict[str, Any]:
        return asked([inspector, "--cli", *server], project, ["--method", method, *words])

    whole_loop(ask, project)
