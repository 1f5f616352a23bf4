"""The graph as a search reads it. A store that is lost ends the run, which goes on by its trace.

Not here: who asks what, and the memory of it (trace.py).
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

from regraph_kg.errors import StoreError
from regraph_kg.models.graph import (
    EmbeddingSpace,
    Example,
    KnownFailure,
    Neighbourhood,
    Successor,
    Vector,
)
from regraph_kg.models.target import Target

if TYPE_CHECKING:
    from regraph_kg.backends.store import GraphStore
    from regraph_kg.llm.ngrams import HashEmbedder

T = TypeVar("T")

# Examples of a transition that a search reads.
SHOWN = 24
# Failures of a transition that a search reads.
KNOWN = 24
# Examples read for each one shown: some hold equal codes.
OVERSAMPLED = 3


class GraphReader:
    """A graph as one search sees it: its device's figures, without the excluded problem's share."""

    def __init__(
        self,
        open_store: Callable[[], "GraphStore"],
        device: str,
        excluded: str | None,
        open_embedder: "Callable[[EmbeddingSpace], HashEmbedder] | None" = None,
        kind: str = "",
    ) -> None:
        """`open_store` is called when the first question comes.

        `open_embedder` opens the embedder of the graph's space. Codes of `kind` are like its own.
        """
        self._open_embedder = open_embedder
        self._embedder: HashEmbedder | None = None
        self._open = open_store
        self._device, self._excluded, self._kind = device, excluded, kind
        self._store: GraphStore | None = None

    def neighbours(self, technique: str) -> Neighbourhood:
        """Successors of a technique, with this device's statistics."""
        return self._ask(
            lambda store: store.neighbourhood(
                technique, device=self._device, kind=self._kind, exclude_problem=self._excluded
            )
        )

    def pooled(self, target: Target) -> tuple[Successor, ...]:
        """All techniques of a target, each with its statistics after any other."""
        return self._ask(
            lambda store: store.pooled(
                target, device=self._device, kind=self._kind, exclude_problem=self._excluded
            )
        )

    def examples(self, source: str, target: str) -> tuple[Example, ...]:
        """Examples of a transition, best first; no code twice.

        At most `SHOWN`. Trajectories of one search share steps, which are examples of each.
        """
        examples = self._ask(
            lambda store: store.examples(
                source,
                target,
                device=self._device,
                limit=OVERSAMPLED * SHOWN,
                exclude_problem=self._excluded,
            )
        )
        return _distinct(examples)[:SHOWN]

    def nearest(self, code: str, k: int, target: Target | None = None) -> tuple[Example, ...]:
        """The `k` examples that began nearest to `code`, of any transition; no code twice.

        None where the graph has no embeddings, or nobody can make them.
        """
        if self._embedder is None and self._open_embedder is not None:
            space = self._ask(lambda store: store.embedding_space())
            self._embedder = None if space is None else self._open_embedder(space)
        if self._embedder is None:
            return ()
        vector = Vector(self._embedder.space, self._embedder.embed([code])[0], "code")
        examples = self._ask(
            lambda store: store.nearest(
                vector, k=OVERSAMPLED * k, target=target, exclude_problem=self._excluded
            )
        )
        return _distinct(examples)[:k]

    def failures(self, source: str, target: str) -> tuple[KnownFailure, ...]:
        """Failures of a transition, the most instructive first; at most `KNOWN`."""
        return self._ask(
            lambda store: store.failures(
                source, target, exclude_problem=self._excluded, limit=KNOWN
            )
        )

    def close(self) -> None:
        """Let the store go; idempotent."""
        store, self._store = self._store, None
        if store is not None:
            with suppress(StoreError):  # it is lost already
                store.close()

    def _ask(self, question: Callable[["GraphStore"], T]) -> T:
        """Ask the store, which opens at the first question; a lost one ends the run."""
        with _undisturbed():
            self._store = self._store or self._open()
            return question(self._store)


def _distinct(examples: tuple[Example, ...]) -> tuple[Example, ...]:
    """The first of those that lead from the same code to the same code; none that hides it."""
    distinct: dict[tuple[str, str], Example] = {}
    for example in examples:
        distinct.setdefault((example.before, example.after), example)
    return tuple(distinct.values())


@contextmanager
def _undisturbed() -> Iterator[None]:
    """A Ctrl-C waits until the end: in the middle of an answer it leaves the driver in pieces."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
