"""What agents are told of code that a project's own commands judge: that it proves less."""

import asyncio

import pytest

from tests.agents.conftest import Project
from tests.agents.program import call
from tests.agents.served import Server, serving, visiting
from tests.evaluation.project import projects

pytestmark = pytest.mark.slow  # each compiles and times

WEAKER = "weaker than the judge's own checks: the project's tests decide what is right"
WRONG = projects.KERNEL.replace("sum / width", "sum / (width + 1)")


@pytest.fixture(autouse=True)
def smooth(project: Project) -> None:
    projects.make(project.folder)


def test_over_http_check_and_verdicts_state_the_weaker_guarantee(project: Project) -> None:
    async def story(server: Server) -> None:
        async with visiting(server) as client:
            seen = await call(client, "check_problem", problem="smooth")
            assert (seen["problem"], seen["good"]) == ("smooth", True)
            (said,) = [one for one in seen["findings"] if one["about"] == "guarantee"]
            assert said["text"].startswith(WEAKER)
            right = await call(client, "evaluate", problem="smooth", code=projects.FASTER)
            assert right["outcome"] in {"passed", "unstable_timing"}
            assert right["guarantee"].startswith(WEAKER)
            wrong = await call(client, "evaluate", problem="smooth", code=WRONG)
            assert wrong["outcome"] == "wrong_answer"
            assert "n = 1: y[0] is" in wrong["diagnosis"]
            assert wrong["guarantee"].startswith(WEAKER)
            scale = await call(client, "evaluate", problem="scale", code=project.serial)
            assert scale["guarantee"] == ""
            left = (await call(client, "known_problems"))["judge_seconds_left"]
            assert 0 < left < 899

    with serving(project) as server:
        asyncio.run(story(server))
