"""A run gone through again from its trace alone, for what the trace does not keep: its prompts.

The search decides as it did, since all that it was told is in the trace (trace.py); nobody is asked
anything. It ends where the trace does. Not covered: runs whose prompts were made of other texts
than those of this version, and runs of other serial code.
"""

from collections import defaultdict, deque
from typing import Any, NoReturn, TypeVar

from pydantic import TypeAdapter

from regraph_kg.models.evaluation import Candidate, EvalReport, code_hash
from regraph_kg.models.graph import Example, FreeChoice, KnownFailure, Neighbourhood
from regraph_kg.models.prompt import Prompt, PromptKey, Reply
from regraph_kg.models.run import RunHeader, Task
from regraph_kg.search.driver import Finished
from regraph_kg.search.effects import Effect, ModelRequest
from regraph_kg.search.run import search
from regraph_kg.search.trace import address
from regraph_kg.search.trace_lines import Event, TraceContent, TraceLine
from regraph_kg.search.world import World

V = TypeVar("V")

_NEIGHBOURS = TypeAdapter(Neighbourhood)
_EXAMPLES = TypeAdapter(tuple[Example, ...])
_FAILURES = TypeAdapter(tuple[KnownFailure, ...])
_FREE = TypeAdapter(FreeChoice)


def prompts_again(content: TraceContent, header: RunHeader, task: Task) -> dict[PromptKey, Prompt]:
    """Every prompt of a run, as far as the trace goes or the search comes out as it did."""
    memory = _Memory(content)
    try:
        for _ in search(task, header, memory.world(), memory):
            pass
    except _TraceEnds:
        pass
    return memory.prompts


class _TraceEnds(Exception):
    """The search asks for what the trace does not hold."""


class _Memory:
    """World and executor of a run that has been."""

    def __init__(self, content: TraceContent) -> None:
        self.prompts: dict[PromptKey, Prompt] = {}
        self._told: dict[tuple[str, str], deque[Any]] = defaultdict(deque)
        self._came_in: deque[TraceLine] = deque()
        self._held: dict[tuple[str, str], list[Effect]] = defaultdict(list)
        self._at = 0.0
        for line in content.lines[1:]:
            if line.event in ("reply", "report"):
                self._came_in.append(line)
            else:
                self._told[line.event, line.key].append(line.value)

    def world(self) -> World:
        """The questions that were asked at once, with their answers."""
        return World(
            neighbours=lambda technique: self._recall("neighbours", technique, _NEIGHBOURS),
            examples=self._examples,
            nearest=lambda code: self._recall("nearest", code_hash(code), _EXAMPLES),
            failures=lambda one, other: self._recall("failures", f"{one} {other}", _FAILURES),
            complete=_nobody,
            evaluate=_nobody,
            evaluate_final=_nobody,
            free=lambda: self._recall("free", "", _FREE),
        )

    def start(self, effect: Effect) -> None:
        """Its result comes when it came; a prompt is kept."""
        if isinstance(effect, ModelRequest) and isinstance(effect.prompt.key, PromptKey):
            self.prompts[effect.prompt.key] = effect.prompt
        self._held[address(effect)].append(effect)

    def finish(self) -> Finished:
        """The next result of the trace."""
        if not self._came_in:
            raise _TraceEnds
        line = self._came_in.popleft()
        held = self._held[line.event, line.key]
        if not held:
            raise _TraceEnds
        self._at = line.at
        kind: type[Reply] | type[EvalReport] = Reply if line.event == "reply" else EvalReport
        return Finished(held.pop(0), kind.model_validate(line.value))

    def seconds(self) -> float:
        """The run's active seconds then."""
        return self._at

    def _examples(self, source: str, target: str, code: str = "", /) -> tuple[Example, ...]:
        key = f"{source} {target} {code_hash(code)}" if code else f"{source} {target}"
        return self._recall("examples", key, _EXAMPLES)

    def _recall(self, event: Event, key: str, adapter: TypeAdapter[V]) -> V:
        told = self._told[event, key]
        if not told:
            raise _TraceEnds
        return adapter.validate_python(told.popleft())


def _nobody(*_: Prompt | Candidate | float | None) -> NoReturn:
    raise _TraceEnds
