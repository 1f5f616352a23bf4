"""The server that agents connect to: tools, and a prompt that says how to go about.

An agent's program starts it and speaks with it over the standard streams.
"""

import inspect
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS

from regraph_kg.agents.folder import ProjectFolder
from regraph_kg.agents.tools import Tools
from regraph_kg.models.target import TARGETS, USUAL
from regraph_kg.settings import Settings

INSTRUCTIONS = """Makes C++ functions fast with OpenMP or CUDA. Ask next_techniques what to try, \
apply one technique at a time, and have evaluate judge each version: only its verdict counts. \
Code and problems come from the project's folder, or are sent as text."""

OPTIMIZE = files(__package__) / "optimize.txt"  # the words of the prompt


def build(settings: Settings, root: Path, judge_seconds: float) -> MCPServer[None]:
    """The server for the folder `root`; `BadInput` where that is none."""
    tools = Tools(settings, ProjectFolder(root, settings), judge_seconds)

    @asynccontextmanager
    async def living(_: MCPServer[None]) -> AsyncIterator[None]:
        try:
            yield None
        finally:
            # the candidate of an agent that is gone must not run on
            tools.close()

    server = MCPServer[None](
        name="regraph",
        instructions=INSTRUCTIONS,
        version=version("regraph-kg"),
        lifespan=living,
        log_level="WARNING",
    )
    # a docstring is written for agents: it is all that they read
    for tool in tools.offered():
        server.add_tool(tool, description=inspect.getdoc(tool))

    @server.prompt()
    def optimize_this_function(problem: str, target: str = USUAL) -> str:
        """Optimize a function with the graph, step by step, each step judged."""
        if target not in TARGETS:
            names = ", ".join(TARGETS)
            raise MCPError(INVALID_PARAMS, f"target {target[:100]!r}: none of {names}")
        words = OPTIMIZE.read_text(encoding="utf-8")
        return words.strip().format(problem=problem, target=target)

    return server
