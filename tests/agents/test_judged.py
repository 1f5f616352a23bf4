"""What agents have judged: verdicts, budget, cancellation, lost connections, recorded steps."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import anyio
import pytest
from mcp.client.client import Client

from regraph_kg import wiring
from tests.agents.conftest import Project
from tests.agents.program import ask, call, connected, refusal

pytestmark = pytest.mark.slow  # each compiles and times

ENDLESS = "for (volatile int i = 0; i >= 0; i = i * 0) {}"


def judges() -> Iterator[Path]:
    """Processes of this machine that were started by a server of these tests, and judge."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
            server = (process / "environ").read_bytes()
        except OSError:
            continue
        if b"multiprocessing" in words and b"spawn_main" in words and MARK in server:
            yield process


MARK = b"REGRAPH_TEST_MARK=agents"


@pytest.fixture
def marked(project: Project) -> Project:
    return Project(project.folder, {**project.env, "REGRAPH_TEST_MARK": "agents"}, project.settings)


def faster(project: Project) -> str:
    return project.serial.replace("  for", "#pragma omp parallel for\n  for")


def test_code_is_judged_and_its_roofline_costs_nothing_more(project: Project) -> None:
    async def story(client: Client) -> None:
        seen = await call(client, "check_problem", problem="scale")
        assert seen["problem"] == "scale"
        ticks: list[float] = []

        async def hear(done: float, _: float | None, __: str | None) -> None:
            ticks.append(done)

        told = await client.call_tool(
            "evaluate",
            {"problem": "scale", "code": project.serial.replace("a *", "")},
            progress_callback=hear,
        )
        assert told.structured_content is not None
        assert told.structured_content["outcome"] == "wrong_answer"
        assert ticks == sorted(ticks)
        right = await call(client, "evaluate", problem="scale", code=project.serial)
        assert right["outcome"] in {"passed", "unstable_timing"}
        before = (await call(client, "search_status"))["judge_seconds_left"]
        roof = await call(client, "roofline", problem="scale", code=project.serial)
        assert roof["account"]["bytes"] > 0
        assert (await call(client, "search_status"))["judge_seconds_left"] == before

    ask(project.folder, project.env, story)


def test_an_agent_that_evaluates_in_a_loop_is_stopped_by_its_budget(project: Project) -> None:
    async def story(client: Client) -> str:
        for number in range(1000):
            code = f"{project.serial}\n// {number}"
            done = await client.call_tool("evaluate", {"problem": "scale", "code": code})
            if done.is_error:
                return str(done.content)
        return "never"

    said = ask(project.folder, project.env, story, "--judge-seconds", "8")
    assert "the budget of 8 seconds of judging" in said


def test_a_cancelled_evaluation_ends_its_processes_and_the_next_is_judged(marked: Project) -> None:
    async def story(client: Client) -> None:
        code = marked.serial.replace("  for", f"  {ENDLESS}\n  for", 1)
        with anyio.move_on_after(4) as scope:
            await client.call_tool("evaluate", {"problem": "scale", "code": code})
        assert scope.cancelled_caught
        await gone()
        right = await call(client, "evaluate", problem="scale", code=marked.serial)
        assert right["outcome"] in {"passed", "unstable_timing"}

    ask(marked.folder, marked.env, story)


async def gone() -> None:
    """Until no judge runs any more."""
    until = time.monotonic() + 10
    while list(judges()):
        assert time.monotonic() < until, "a judge outlived its question"
        await asyncio.sleep(0.1)


def test_a_connection_that_drops_leaves_no_process(marked: Project) -> None:
    async def story() -> None:
        code = marked.serial.replace("  for", f"  {ENDLESS}\n  for", 1)
        async with connected(marked.folder, marked.env) as client:
            asked = asyncio.ensure_future(
                client.call_tool("evaluate", {"problem": "scale", "code": code})
            )
            while not list(judges()):
                await asyncio.sleep(0.1)
            asked.cancel()
        await gone()

    asyncio.run(story())


def test_recorded_steps_become_a_trajectory_of_the_agent(project: Project) -> None:
    told = {
        "problem": "scale", "agent": "test agent", "model": "some-model", "reasoning": "rows apart",
    }  # fmt: skip

    async def story(client: Client) -> None:
        bad = await call(
            client, "record_step", technique="Odd trick", code=project.serial.replace("a *", ""),
            **told,
        )  # fmt: skip
        assert (bad["steps"], bad["failures"]) == (0, 1)
        id_ = bad["trajectory"]
        same = await refusal(
            client, "record_step", technique="Odd trick", code=project.serial, trajectory=id_,
            **told,
        )  # fmt: skip
        assert "the code is as it was before this step" in same
        good = await call(
            client, "record_step", technique="SIMD vectorization", code=faster(project),
            trajectory=id_, finish=True, **told,
        )  # fmt: skip
        assert (good["steps"], good["failures"]) == (1, 1)
        assert good["graph"] == {"added": 1, "known": 0, "rejected": 0}
        assert (project.folder / good["kept_in"]).exists()
        absent = await refusal(
            client, "record_step", technique="x", code="int y;", trajectory="0" * 12, **told
        )
        assert "not in runs/agents/ of the project" in absent

    ask(project.folder, project.env, story)
    with closing(wiring.open_store(project.settings)) as store:
        (one,) = store.export()
        assert one.source.learned
        assert one.source.model == "some-model (test agent)"
        assert [step.technique for step in one.steps] == ["openmp/simd"]
        assert [failure.outcome for failure in one.failures] == ["wrong_answer"]
        assert store.failures("openmp/start", one.failures[0].technique or "")
