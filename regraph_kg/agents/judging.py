"""The judge of a server: a process of its own, a question at a time, within a budget of seconds.

An agent that leaves or gives up ends the process, and with it the candidate that it ran; the next
question starts another. Not here: what is judged (tools.py).
"""

import asyncio
import functools
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from pydantic import SecretStr

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.compile.source_rules import rejected
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.hosts.pool import JudgeProcess
from regraph_kg.models.evaluation import Candidate, EvalReport, Grade
from regraph_kg.settings import Settings
from regraph_kg.wiring.judges import open_judge
from regraph_kg.wiring.problems import find_problem, good_problem

T = TypeVar("T")
Hear = Callable[[float], Awaitable[None]]  # hears how many seconds a question has taken so far
TICK = 1.0  # seconds between two words of how long it takes


class JudgeDesk:
    """One judge for all agents, who take turns; `budget`: seconds of judging for all together."""

    def __init__(self, settings: Settings, budget: float) -> None:
        # the judge's process runs strangers' code, and has no use for secrets
        nothing = SecretStr("")
        self._settings = settings.model_copy(
            update={"store_password": nothing, "openai_key": nothing}
        )
        self._budget = budget
        self.spent = 0.0  # seconds
        self._turn = asyncio.Lock()
        self._process: JudgeProcess | None = None
        self._thread: ThreadPoolExecutor | None = None

    @property
    def left(self) -> float:
        return max(0.0, self._budget - self.spent)

    def close(self) -> None:
        """End the process and its candidate at once; idempotent."""
        process, self._process = self._process, None
        thread, self._thread = self._thread, None
        if process is not None:
            process.kill()
        if thread is not None:
            thread.shutdown(wait=False, cancel_futures=True)

    async def ask(self, hear: Hear, call: Callable[..., T], *args: object) -> T:
        """Have the process answer `call`, a function of settings and `args`."""
        async with self._turn:
            if not self.left:
                raise BadInput(
                    f"the budget of {self._budget:.0f} seconds of judging is spent: ask the user to"
                    " start the server anew, with a larger --judge-seconds if need be"
                )
            if self._process is None or self._thread is None:
                self._process, self._thread = JudgeProcess(), ThreadPoolExecutor(1, "judge")
            began, left = time.monotonic(), self.left
            asked = self._thread.submit(self._process.ask, call, self._settings, *args)
            answer = asyncio.wrap_future(asked)
            try:
                while not (await asyncio.wait({answer}, timeout=min(TICK, left)))[0]:
                    left = self.left - (time.monotonic() - began)
                    if left <= 0:
                        raise BadInput(
                            f"stopped: the budget of {self._budget:.0f} seconds of judging was over"
                        )
                    await hear(time.monotonic() - began)
                return answer.result()
            finally:
                self.spent += time.monotonic() - began
                if not answer.done():  # over, or the agent has left
                    self.close()


@functools.cache  # in the judge's process, as everything below
def _judge(cache: Path, gpu: int) -> Judge:
    """The process's only judge: it times a problem's serial code once."""
    return open_judge(Settings(cache_dir=cache, gpu=gpu))


def evaluate(settings: Settings, problem: str, candidate: Candidate, grade: Grade) -> EvalReport:
    """Judge a candidate; `BadInput` where the problem has an error."""
    judge = _judge(settings.cache_dir, settings.gpu)
    # no check of the problem changes what the source rules refuse
    find = find_problem if rejected(candidate.code) else good_problem
    return judge.evaluate(candidate, find(settings, problem), grade=grade)
