"""`regraph mcp`: graph and judge for coding agents, over the Model Context Protocol."""

import asyncio
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from regraph_kg.cli.parameters import option
from regraph_kg.errors import ToolError
from regraph_kg.settings import read_settings


def mcp(
    *,
    root: Annotated[Path, option("The project's folder: agents read nothing outside it.")] = Path(),
    judge_seconds: Annotated[
        float, option("Seconds of judging that all agents may take together.", min=0)
    ] = 900,
) -> None:
    """Serve the graph and the judge to coding agents (Model Context Protocol).

    Agents ask what to try next, have code judged in the sandbox, and record their steps as
    trajectories. How usual agent programs are set up: regraph docs agents.

    It serves the one program that started it, by stdio, until that leaves.
    """
    if find_spec("mcp") is None:
        raise ToolError("the MCP SDK is not installed", remedy="pip install 'mcp>=2.3,<3'")
    from regraph_kg.agents.server import build  # noqa: PLC0415 (an extra, slow)

    server = build(read_settings(), root, judge_seconds)
    try:
        asyncio.run(server.run_stdio_async())
    except KeyboardInterrupt:
        return  # how a server ends
