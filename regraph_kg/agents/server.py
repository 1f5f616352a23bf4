"""The server that agents connect to: tools, pages to read, and a prompt that says how to go about.

Not here: by which way they connect (serve.py).
"""

import inspect
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS

from regraph_kg.agents.folder import ProjectFolder
from regraph_kg.agents.tools import Tools
from regraph_kg.errors import RegraphError
from regraph_kg.models.target import TARGETS, USUAL
from regraph_kg.settings import Settings

INSTRUCTIONS = """Makes C++ functions fast with OpenMP or CUDA. Ask next_techniques what to try, \
apply one technique at a time, and have evaluate judge each version: only its verdict counts. \
Code and problems come from the project's folder, or are sent as text."""

OPTIMIZE = """Make the function of problem {problem} faster for {target}.

1. check_problem: mend what it calls an error.
2. Read problem://{problem}/serial.cpp and problem.toml. Keep the function's name and signature.
3. next_techniques with the present code (after: what you applied last). Choose one technique that \
applies, look at its example and at known_failures.
4. Apply it to the whole code. evaluate it. Where it fails, read the diagnosis and mend it once or \
twice; else go back to the last right code and choose another technique.
5. Go on from the fastest right code until account says that little is left, or three techniques \
in a row gained nothing.
6. evaluate the best with grade "full", and tell its speedup with the interval, the path of \
techniques, and the code.
{record}"""
RECORD = """In place of evaluate you may call record_step for each step, with finish at the last: \
the graph then learns what you found."""


def build(
    settings: Settings, root: Path, judge_seconds: float, *, read_only: bool
) -> MCPServer[None]:
    """The server for the folder `root`; `BadInput` where that is none."""
    folder = ProjectFolder(root, settings)
    tools = Tools(settings, folder, judge_seconds)

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
    for tool in tools.offered(read_only):
        server.add_tool(tool, description=inspect.getdoc(tool))
    # a prompt must not name a tool that is not there
    record = "" if read_only else RECORD

    @server.prompt()
    def optimize_this_function(problem: str, target: str = USUAL) -> str:
        """Optimize a function with the graph, step by step, each step judged."""
        if target not in TARGETS:
            names = ", ".join(TARGETS)
            raise MCPError(INVALID_PARAMS, f"target {target[:100]!r}: none of {names}")
        return OPTIMIZE.format(problem=problem, target=target, record=record)

    @server.resource("problem://{problem}/{file}", mime_type="text/plain")
    def problem_file(problem: str, file: str) -> str:
        """A problem's file: problem.toml, serial.cpp, reference.cpp or inputs.py."""
        try:
            return folder.problem_file(problem, file)
        except RegraphError as error:
            raise ResourceError(str(error)) from None

    return server
