"""A technique graph for programs: successors of a technique, with gains and examples.

    with open_graph() as graph:
        for step in graph.next(Path("mine.cpp"), after="shared-memory tiling").steps:
            print(step.name, step.effect, step.tried)

Threads may share a graph: questions wait for each other.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from regraph_kg.cpp import functions
from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.gpu.device import find_gpu, openmp_device
from regraph_kg.models.graph import Example, Likeness
from regraph_kg.models.next_steps import NextSteps
from regraph_kg.models.target import TARGETS, USUAL, Target
from regraph_kg.models.technique import Technique, by_id, resolve, resolve_pair, start_id
from regraph_kg.runs.next_steps import Question, next_steps
from regraph_kg.settings import Settings, read_settings
from regraph_kg.wiring.sources import code_of
from regraph_kg.wiring.stores import open_store

if TYPE_CHECKING:  # only wiring knows a store
    from regraph_kg.backends.store import GraphStore


class Graph(AbstractContextManager["Graph"]):
    """An open technique graph; use `open_graph`, and close it."""

    def __init__(self, settings: Settings, store: "GraphStore") -> None:
        self._settings, self._store = settings, store
        self._lock = RLock()
        self._devices: dict[Target, str] = {}

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the connection; idempotent."""
        with self._lock:
            self._store.close()

    def techniques(self, target: Target | None = None) -> tuple[Technique, ...]:
        """All techniques, of one target if given, ordered by id."""
        with self._lock:
            return self._store.techniques(target)

    def technique(self, name: str, target: Target | None = None) -> Technique:
        """The technique of this id, name or alias; `BadInput` where there is none, or several."""
        techniques = self._by_id()
        return techniques[resolve(name, techniques, target)]

    def next(  # noqa: PLR0913 (what a user may ask)
        self,
        code: str | Path,
        *,
        function: str | None = None,
        after: str | None = None,
        target: Target = USUAL,
        device: str | None = None,
        limit: int = 5,
        examples: int = 1,
    ) -> NextSteps:
        """The graph's next steps on `code` (a text, or a file), the most promising first.

        `function`: one of its functions, with those that it calls; None: all of it.
        `after`: technique that was applied last (id, name or alias); None: none yet. `device`:
        whose figures go first; None: this machine's. `limit`: how many techniques, at most;
        `examples`: how many of each, those that began with code most like yours first.
        `BadInput` for a name that is none, and for code without a word in it.
        """
        text = code_of(code)
        if function is not None:
            place = code if isinstance(code, Path) else Path("code")
            text = functions.alone(functions.parsed(place, text.encode()), function)
        if not any(letter.isalnum() for letter in text):
            raise BadInput(f"{code if isinstance(code, Path) else 'code'}: there is no word in it")
        with self._lock:
            last = start_id(target)
            if after is not None:
                techniques = self._by_id()
                last = resolve(after, techniques, target)
                if techniques[last].target != target:
                    raise BadInput(
                        f"technique {last} is for {techniques[last].target}, the question is about"
                        f" {target}: give --target {techniques[last].target}, or another technique"
                    )
            where = self._device(target) if device is None else device
            question = Question(text, last, target, where, limit, examples)
            return next_steps(self._store, question)

    def examples(
        self,
        before: str,
        technique: str,
        *,
        target: Target | None = None,
        device: str | None = None,
        limit: int = 3,
        near: str | Path | None = None,
    ) -> tuple[Example, ...]:
        """Steps that were seen from the technique `before` (or "start") to `technique`, best first.

        At most `limit`. `near`: a code (a text, or a file); examples that began with similar code
        go first. `device`: whose times count; None: each example's own. `BadInput` for a name
        that is none.
        """
        with self._lock:
            pair = resolve_pair(before, technique, self._by_id(), target)
            matches = self._store.examples(
                *pair,
                device=device,
                limit=limit,
                near=None if near is None else Likeness(code_of(near)),
            )
        return tuple(example.on(device) for example in matches)

    def _by_id(self) -> Mapping[str, Technique]:
        with self._lock:
            return by_id(self._store.techniques())

    def _device(self, target: Target) -> str:
        """The device of this machine for a target; "" where it has none."""
        if target not in self._devices:
            self._devices[target] = ""
            with suppress(ToolError):
                on_gpu = TARGETS[target].on_gpu
                name = find_gpu(self._settings.gpu).name if on_gpu else openmp_device()
                self._devices[target] = name
        return self._devices[target]


def open_graph(settings: Settings | None = None) -> Graph:
    """The graph of these settings, by default those of the environment and `regraph.toml`.

    Starts the embedded store where that is the graph. Raises `StoreError` when it is unreachable.
    """
    used = settings or read_settings()
    return Graph(used, open_store(used))
