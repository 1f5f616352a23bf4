"""What agents have judged: verdicts, budget, cancellation, lost connections, recorded steps."""

import asyncio
import functools
import stat
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import anyio
import pytest
from mcp.client.client import Client

from regraph_kg.models.trajectory import Trajectory
from regraph_kg.runs.ingest import Ingested, IngestSource, ingest_files
from regraph_kg.wiring.stores import open_store
from tests.agents.conftest import Project
from tests.agents.program import ask, call, connected, refusal
from tests.stories import outcome

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


def parallel(project: Project) -> str:
    return project.serial.replace("  for", "#pragma omp parallel for\n  for")


def vectorized(project: Project) -> str:
    return project.serial.replace("  for", "#pragma omp simd\n  for")


def test_code_is_judged_with_progress_and_an_account(project: Project) -> None:
    async def story(client: Client) -> None:
        seen = await call(client, "check_problem", problem="scale")
        assert (seen["problem"], seen["serial_code"]) == ("scale", project.serial)
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
        assert right["account"]["bytes"] > 0

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


def test_two_agents_at_once_get_each_their_own_verdict(project: Project) -> None:
    wrong = project.serial.replace("a *", "")

    async def judged(code: str) -> str:
        async with connected(project.folder, project.env) as client:
            report = await call(client, "evaluate", problem="scale", code=code)
            return str(report["outcome"])

    async def story() -> list[str]:
        return await asyncio.gather(judged(project.serial), judged(wrong))

    right, bad = asyncio.run(story())
    assert right in {"passed", "unstable_timing"}
    assert bad == "wrong_answer"


TOLD = {"problem": "scale", "agent": "test agent", "model": "some-model", "reasoning": "because"}


def test_a_step_that_is_none_is_refused_unjudged(project: Project) -> None:
    async def story(client: Client) -> None:
        refused = functools.partial(refusal, client, "record_step", **TOLD)
        assert "as it was" in await refused(technique="Odd trick", code=project.serial)
        assert "is of cuda" in await refused(technique="cuda/tiling", code="int y;")
        assert "no name" in await refused(technique=" ", code="int y;")
        assert "no such one" in await refused(technique="x", code="int y;", trajectory="0" * 12)
        assert (await call(client, "known_problems"))["judge_seconds_left"] == 900.0

    ask(project.folder, project.env, story)


def test_recorded_steps_become_a_trajectory_of_the_agent(project: Project) -> None:
    async def story(client: Client) -> None:
        wrong = project.serial.replace("a *", "")
        bad = await call(client, "record_step", technique="SIMD vectorization", code=wrong, **TOLD)
        assert (bad["steps"], bad["failures"], bad["kept_in"]) == (0, 1, "")
        goes_on = {**TOLD, "trajectory": bad["trajectory"], "code": vectorized(project)}
        other = {**goes_on, "target": "cuda"}
        assert "begin another" in await refusal(client, "record_step", technique="x", **other)
        good = await call(client, "record_step", technique="SIMD vectorization", **goes_on)
        assert (good["steps"], good["failures"]) == (1, 1)
        kept = project.folder / good["kept_in"]
        assert Trajectory.model_validate_json(kept.read_bytes()).problem == "scale"
        assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700

    ask(project.folder, project.env, story)
    (kept,) = (project.folder / "runs" / "agents").iterdir()
    outcome(ingest_files(project.settings, IngestSource([kept]), Ingested()))
    with closing(open_store(project.settings)) as store:
        (one,) = store.export()
        assert one.source.learned
        assert one.source.model == "some-model (test agent)"
        assert [step.technique for step in one.steps] == ["openmp/simd"]
        assert [failure.outcome for failure in one.failures] == ["wrong_answer"]
