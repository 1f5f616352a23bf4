"""Replays a run from its trace alone, for the prompts that the trace does not keep.

The search decides as it did, since the trace holds all its answers (trace.py); no model or judge is
asked. It ends where the trace does. Not covered: runs whose prompts were made of other texts
than those of this version, and runs of other serial code.
"""

from pathlib import Path
from typing import NoReturn

from regraph_kg.errors import BadInput
from regraph_kg.models.prompt import Prompt, PromptKey
from regraph_kg.models.run import RunHeader, Task
from regraph_kg.search.driver import Executor, Finished
from regraph_kg.search.effects import Effect, ModelRequest
from regraph_kg.search.run import search
from regraph_kg.search.run_record import TraceReader
from regraph_kg.search.trace import TraceMemory
from regraph_kg.search.world import World


def prompts_again(trace: Path, header: RunHeader, task: Task) -> dict[PromptKey, Prompt]:
    """Every prompt of a run, as far as the trace goes or the search comes out as it did."""
    memory = TraceMemory(trace)
    memory.remember(list(TraceReader(trace))[1:])
    executor = _Prompts(memory.executor(_Nobody()))
    try:
        for _ in search(task, header, memory.world(_NOBODY), executor):
            pass
    except (_TraceEndsError, BadInput):
        pass
    return executor.prompts


class _TraceEndsError(Exception):
    """The search asks for what the trace does not hold."""


def _ends(*_: object) -> NoReturn:
    raise _TraceEndsError


_NOBODY = World(_ends, _ends, _ends, _ends, _ends, _ends, _ends, _ends)


class _Nobody:
    """An executor behind the trace: nothing ends that is not in it."""

    def start(self, effect: Effect) -> None:
        """Nothing."""

    def finish(self) -> Finished:
        """The trace has come to its end."""
        raise _TraceEndsError

    def seconds(self) -> float:
        """No time passes."""
        return 0.0


class _Prompts:
    """The executor of the trace; keeps the prompts that it is handed."""

    def __init__(self, trace: Executor) -> None:
        self._trace = trace
        self.prompts: dict[PromptKey, Prompt] = {}
        self.finish, self.seconds = trace.finish, trace.seconds

    def start(self, effect: Effect) -> None:
        """Note a prompt."""
        if isinstance(effect, ModelRequest) and isinstance(effect.prompt.key, PromptKey):
            self.prompts[effect.prompt.key] = effect.prompt
        self._trace.start(effect)
