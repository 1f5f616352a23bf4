"""The function that an answer must define."""

from dataclasses import dataclass

from regraph_kg.models.run import Task
from regraph_kg.models.target import TARGETS
from regraph_kg.search.mends.source import ParsedCode


@dataclass(frozen=True, slots=True)
class RequestedEntry:
    """The function that an answer must define: one of `entries`, preferably the first."""

    entries: tuple[str, ...]
    on_gpu: bool = False

    @classmethod
    def of(cls, task: Task) -> "RequestedEntry":
        """The request of a task."""
        return cls(task.entries, TARGETS[task.target].on_gpu)


def defines(source: ParsedCode, request: RequestedEntry) -> bool:
    """Whether code defines a requested entry as a host function."""
    return any(function.on_host for name in request.entries for function in source.defining(name))
