"""The tools that agents call: each a question to the graph or the judge, its words their manual.

What a tool's docstring and arguments say is all that an agent reads. Not here: how they are served
(server.py), who may read what (folder.py), who judges (judging.py).
"""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import asdict
from typing import Annotated, Any, Literal, TypeVar

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from regraph_kg.agents import judging
from regraph_kg.agents.folder import ProjectFolder
from regraph_kg.agents.judging import Hear, JudgeDesk
from regraph_kg.agents.recording import FOLDER, AgentSteps, begin_steps, name_of
from regraph_kg.api.graph import Graph, open_graph
from regraph_kg.errors import BadInput, RegraphError
from regraph_kg.models.evaluation import Candidate, EvalReport
from regraph_kg.models.next_steps import NextSteps
from regraph_kg.models.target import USUAL, Target
from regraph_kg.settings import Settings
from regraph_kg.wiring.problems import check_problem, find_problem

T = TypeVar("T")

Code = Annotated[str, Field(description="Source text; or give file.")]
File = Annotated[str, Field(description="Path inside the project's folder; or give code.")]
ProblemName = Annotated[
    str, Field(description="Folder with problem.toml and serial.cpp, or a shipped problem's name.")
]
TechniqueName = Annotated[str, Field(description='Id, name or alias; "start" is serial code.')]
Few = Annotated[int, Field(ge=1, le=10)]
ToolAnswer = dict[str, Any]


def plain_errors(tool: Callable[..., Awaitable[T]]) -> Callable[..., Coroutine[Any, Any, T]]:
    """The tool with its errors as one line for the agent."""

    @functools.wraps(tool)
    async def wrapped(**arguments: Any) -> T:
        try:
            # an agent sees one line, and goes on; a traceback would name the user's paths
            return await tool(**arguments)
        except RegraphError as error:
            raise ToolError(str(error)) from None
        # a full disk is the user's to mend: the agent can only tell
        except OSError as error:
            raise ToolError(f"{error.filename or 'this machine'}: {error.strerror}") from None

    return wrapped


class Tools:
    def __init__(self, settings: Settings, folder: ProjectFolder, judge_seconds: float) -> None:
        self._settings, self._folder = settings, folder
        self._desk = JudgeDesk(settings, judge_seconds)
        self._recording = asyncio.Lock()
        self._opening = asyncio.Lock()
        self._graph: Graph | None = None
        self._recorded: dict[str, AgentSteps] = {}

    def close(self) -> None:
        """End the judge and release the graph; idempotent."""
        self._desk.close()
        if self._graph is not None:
            self._graph.close()

    def offered(self) -> list[Callable[..., Awaitable[Any]]]:
        tools: list[Callable[..., Awaitable[Any]]] = [
            *(self.next_techniques, self.examples, self.check_problem, self.evaluate),
            *(self.record_step, self.known_problems),
        ]
        return list(map(plain_errors, tools))

    async def next_techniques(
        self,
        *,
        code: Code = "",
        file: File = "",
        after: Annotated[
            str, Field(description="Technique that was applied last; empty: serial code.")
        ] = "",
        target: Target = USUAL,
        device: Annotated[
            str, Field(description="Whose measurements go first; empty: this machine's.")
        ] = "",
        limit: Few = 5,
    ) -> NextSteps:
        """What the technique graph would try next on this code, the most promising first.

        Each technique comes with what it gained when others applied it here (effect: time before /
        time after), how often it was tried and verified, when it applies and
        when it hurts, and the example that began with the code most like yours, before and after.
        The order is by `expected`: what a try gains on average, its risk to fail included.
        `measured` says on which devices: effects of "other-devices" with more threads promise more
        than you will see. Only what can apply to your code is listed: `why`; `left_out` is what
        cannot. `fits` null: the text does not tell. `follows` false: figures of later steps.
        A low `similarity` (1 is the same code) says that nobody tried it on code like yours.
        Ask this before you change code; ask again after each step, with that step as `after`.
        """
        text = self._folder.code(code, file)
        graph = await self.graph()
        return await asyncio.to_thread(
            graph.next, text, after=after or None, target=target, device=device or None, limit=limit
        )

    async def examples(
        self,
        *,
        before: TechniqueName,
        technique: TechniqueName,
        code: Annotated[str, Field(description="Examples that began with such code first.")] = "",
        target: Target | None = None,
        limit: Few = 3,
    ) -> ToolAnswer:
        """Steps that were seen from one technique to another: both codes, effect, reasoning."""
        graph = await self.graph()
        steps = await asyncio.to_thread(
            graph.examples, before, technique, target=target, near=code or None, limit=limit
        )
        return {"examples": [asdict(step) for step in steps]}

    async def check_problem(
        self, *, problem: ProblemName, context: Context[Any, Any]
    ) -> ToolAnswer:
        """Whether a problem is well posed: its serial code compiles, is right, can be timed.

        Each finding ends with the line to write. An error must be mended before anything is judged.
        `serial_code` is what candidates must equal in name, signature and results.
        """
        place = self._folder.problem(problem)
        checkup = await self._desk.ask(hearing(context), check_problem, place)
        return {
            "problem": checkup.problem,
            "good": not checkup.errors,
            "findings": [finding.model_dump(mode="json") for finding in checkup.findings],
            "serial_code": find_problem(self._settings, place).serial_code,
        }

    async def evaluate(
        self,
        *,
        problem: ProblemName,
        context: Context[Any, Any],
        code: Code = "",
        file: File = "",
        target: Target = USUAL,
        grade: Literal["screening", "full"] = "screening",
    ) -> EvalReport:
        """Compile, verify and time code in a sandbox: whether it is right, and how much faster.

        The only measure that counts: your own timings and tests prove nothing here. `outcome` is
        "passed", "unstable_timing" (right, too noisy to time) or how it failed, with a `diagnosis`;
        `speedup` is over the serial code. `load` says whether other programs kept the machine busy:
        then speedups of several threads come out too low.
        It takes seconds, and spends the budget (known_problems says what is left).
        Use grade "full" once, for your final answer.
        """
        text = self._folder.code(code, file)
        place = self._folder.problem(problem)
        candidate = Candidate(target, text)
        return await self._desk.ask(hearing(context), judging.evaluate, place, candidate, grade)

    async def record_step(  # noqa: PLR0913 (a tool's arguments)
        self,
        *,
        problem: ProblemName,
        technique: Annotated[str, Field(description="What this step did: a technique's name.")],
        reasoning: Annotated[str, Field(description="Why it was done, in a sentence or two.")],
        agent: Annotated[str, Field(description="The program that you are.")],
        model: Annotated[str, Field(description="The model that you are.")],
        context: Context[Any, Any],
        code: Code = "",
        file: File = "",
        target: Target = USUAL,
        trajectory: Annotated[
            str, Field(description="Empty for a first step; then the id that the first one told.")
        ] = "",
    ) -> ToolAnswer:
        """Record one optimization step: the whole code after it is judged, and joins a trajectory.

        A step that fails is kept as a failure, and the next one stands on the step before it. A
        step that is right is kept even where it is slower, and the next one stands on it: evaluate
        first, and record what you go on from.
        Name what the code shows: an ingest corrects a name by the code where it can.
        A trajectory ends with the server. Tell your user the file in `kept_in`: regraph ingest
        brings it into the graph, marked with you and your model.
        """
        text = self._folder.code(code, file)
        place = self._folder.problem(problem)
        author = f"{name_of(model, 'model')} ({name_of(agent, 'agent')})"
        async with self._recording:  # one step after the other: each stands on the one before
            declared = await asyncio.to_thread(find_problem, self._settings, place)
            begun = begin_steps(declared, target, author)
            steps = self._recorded.get(trajectory) if trajectory else begun
            if steps is None:
                raise BadInput("trajectory: this server began no such one; leave it empty")
            # a step is judged as the problem stands now, and the others were as it stood then
            steps.refuse_unlike(begun)
            step = steps.step(technique, reasoning, text)
            candidate = Candidate(target, text)
            judged = await self._desk.ask(
                hearing(context), judging.evaluate, place, candidate, "screening"
            )
            steps.take(steps.measured(step, judged), judged)
            # only once it is judged: a cancelled first step leaves no trajectory
            self._recorded[steps.id] = steps
            path = steps.write(self._folder.inside(str(FOLDER)))
            answer: ToolAnswer = {
                "trajectory": steps.id,
                "kept_in": str(path.relative_to(self._folder.root)) if path else "",
                "steps": len(steps.steps),
                "failures": len(steps.failures),
                "report": judged.model_dump(mode="json"),
            }
            if judged.passed and judged.load:
                answer["note"] = (
                    "timed while other programs ran: the graph keeps this step without a time"
                )
        return answer

    async def known_problems(self) -> ToolAnswer:
        """Names of the problems that the other tools take, and seconds of judging that are left."""
        problems = await asyncio.to_thread(self._folder.problems)
        return {"problems": problems, "judge_seconds_left": round(self._desk.left, 1)}

    async def graph(self) -> Graph:
        """The graph, opened when it is first asked."""
        async with self._opening:
            # a store takes seconds to start, and many agents never ask it
            if self._graph is None:
                self._graph = await asyncio.to_thread(open_graph, self._settings)
            return self._graph


def hearing(context: Context[Any, Any]) -> Hear:
    """Tells the agent's program how long a question has taken."""

    async def hear(seconds: float) -> None:
        await context.report_progress(seconds, None, f"judging, {seconds:.0f} s")

    return hear
