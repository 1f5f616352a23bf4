"""`regraph mcp` by stdio, asked by the SDK's own client: the graph, the borders of the folder."""

import asyncio
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from tests.agents.conftest import Project
from tests.agents.program import REGRAPH, ask, call, connected, refusal
from tests.ingest.trajectories import measured, row

TOOLS = {
    *("next_techniques", "examples", "check_problem", "evaluate"),
    *("record_step", "known_problems"),
}


async def finds_tools_and_a_prompt(client: Client) -> None:
    tools = (await client.list_tools()).tools
    assert {tool.name for tool in tools} == TOOLS
    assert all(tool.description for tool in tools)
    prompt = await client.get_prompt("optimize_this_function", {"problem": "scale"})
    said = str(prompt.messages[0].content)
    assert "problem scale faster for openmp" in said
    with pytest.raises(MCPError, match="target 'nosuch': none of "):
        await client.get_prompt("optimize_this_function", {"problem": "scale", "target": "nosuch"})


async def is_told_what_follows_and_what_failed(client: Client) -> None:
    found = await call(client, "next_techniques", code="int x;", target="cuda", device="GPU")
    first = found["steps"][0]
    assert (first["technique"], first["effect"]) == ("cuda/memory-coalescing", 4.0)
    assert first["nearest"][0]["similarity"] == pytest.approx(1, abs=1e-5)
    found = await call(client, "examples", before="start", technique="memory coalescing")
    (seen,) = found["examples"]
    assert seen["before"] == "int x;"


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("evaluate", {"problem": "../../etc", "code": "int x;"}, "lies outside the project's"),
    ("evaluate", {"problem": "/etc", "code": "int x;"}, "lies outside the project's"),
    ("evaluate", {"problem": "linked", "code": "int x;"}, "lies outside the project's"),
    ("evaluate", {"problem": "leaky", "code": "int x;"}, "lies outside the project's"),
    ("evaluate", {"problem": "scale", "file": "out.cpp"}, "lies outside the project's"),
    ("evaluate", {"problem": "scale", "file": "big.cpp"}, "larger than 1048576 bytes"),
    ("evaluate", {"problem": "scale", "file": "a\0b"}, "no such path"),
    ("evaluate", {"problem": "scale", "file": "absent.cpp"}, "No such file"),
    ("evaluate", {"problem": "scale", "file": "a" * 5000}, "File name too long; name a file"),
    ("check_problem", {"problem": "a" * 300}, "File name too long; name a file of"),
    ("check_problem", {"problem": "a/" * 4000}, "File name too long; name a file of"),
    ("evaluate", {"problem": "scale", "file": "pipe.cpp"}, "no file and no folder; name a"),
    ("evaluate", {"problem": "scale"}, "give either code, or file"),
    ("evaluate", {"problem": "nothing", "code": "int x;"}, "known: scale"),
    ("next_techniques", {"code": "int x;", "after": "tilling"}, "not in the graph"),
    ("next_techniques", {"code": "  "}, "there is no word in it"),
]
"""Tools, what they are given, and what they say."""


def beyond_the_border(folder: Path) -> None:
    """Links that lead out of the project, a pipe, and a file that is too large."""
    outside = folder.parent / "outside"
    for made in (outside, folder / "leaky"):
        made.mkdir()
    (outside / "secret.cpp").write_text("int secret;")
    (folder / "linked").symlink_to(outside)
    (folder / "out.cpp").symlink_to(outside / "secret.cpp")
    (folder / "leaky" / "serial.cpp").symlink_to(outside / "secret.cpp")
    os.mkfifo(folder / "pipe.cpp")
    with (folder / "big.cpp").open("wb") as file:
        file.truncate(100 * 2**20)


def test_an_agent_finds_what_there_is_and_nothing_outside(project: Project) -> None:
    one = row(1, "Memory coalescing", serial="int x;")
    one["steps"][0]["measurements"] = [measured(0.25)]
    failure = {"after_step": 0, "label": "Shared memory tiling", "outcome": "crashed"}
    one["failures"] = [failure | {"diagnosis": "out of shared memory", "code": "int q;"}]
    project.ingest(one)
    beyond_the_border(project.folder)

    async def story(client: Client) -> None:
        await finds_tools_and_a_prompt(client)
        await is_told_what_follows_and_what_failed(client)
        for tool, given, said in REFUSED:
            assert said in await refusal(client, tool, **given)

    ask(project.folder, project.env, story)


def test_a_server_may_judge_nothing(project: Project) -> None:
    async def story(client: Client) -> None:
        said = await refusal(client, "evaluate", problem="scale", code=project.serial)
        assert "the budget of 0 seconds of judging is spent" in said
        known = await call(client, "known_problems")
        assert known == {"problems": ["scale"], "judge_seconds_left": 0.0}

    ask(project.folder, project.env, story, "--judge-seconds", "0")


def test_two_agents_at_once_are_both_answered(project: Project) -> None:
    project.ingest(row(1, "Memory coalescing"))

    async def both() -> None:
        async with (
            connected(project.folder, project.env) as one,
            connected(project.folder, project.env) as other,
        ):
            asked = [
                call(each, "next_techniques", code="int x;", target="cuda")
                for each in (one, other, one, other)
            ]
            found = await asyncio.gather(*asked)
            assert all(one == found[0] for one in found)

    asyncio.run(both())


def test_a_folder_that_is_none_is_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [REGRAPH, "mcp", "--root", str(tmp_path / "absent")],
        capture_output=True, text=True, check=False, timeout=60, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 2
    assert "absent: no folder; give the project's folder with --root" in done.stderr
    assert done.stderr.count("\n") == 1
