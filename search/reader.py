"""What a search reads of a graph, from a store that may be gone for a moment."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

from regraph_kg.errors import StoreError
from regraph_kg.graph import GraphStore
from regraph_kg.models.graph import EmbeddingSpace, Example, Neighbourhood, Vector

if TYPE_CHECKING:
    from regraph_kg.llm.embedder import Embedder

T = TypeVar("T")

PAUSES = (0.5, 1.5)
"""Seconds before a lost store is opened and asked again."""


class GraphReader:
    """A graph as one search sees it: its device's statistics, without the excluded problem's share.

    A store that worked and is lost is opened and asked again; one that never worked is not.
    """

    def __init__(
        self,
        open_store: Callable[[], GraphStore],
        device: str,
        excluded: str | None,
        open_embedder: "Callable[[EmbeddingSpace], Embedder] | None" = None,
    ) -> None:
        """`open_store` is called when the first question comes.

        `open_embedder` opens the embedder of the graph's space; without one, and for a graph
        without embeddings, examples come best first.
        """
        self._open_embedder = open_embedder
        self._embedder: Embedder | None = None
        self._open = open_store
        self._device, self._excluded = device, excluded
        self._store: GraphStore | None = None
        self._was_open = False

    def neighbours(self, technique: str) -> Neighbourhood:
        """Successors of a technique, with this device's statistics."""
        return self._ask(
            lambda store: store.neighbourhood(
                technique, device=self._device, exclude_problem=self._excluded
            )
        )

    def examples(self, source: str, target: str, code: str = "", /) -> tuple[Example, ...]:
        """Examples of a transition, best first, or those nearest to `code`."""
        vector = self._place(code) if code else None
        return self._ask(
            lambda store: store.examples(
                source,
                target,
                device=self._device,
                exclude_problem=self._excluded,
                near=vector,
            )
        )

    def close(self) -> None:
        """Let the store go; idempotent."""
        store, self._store = self._store, None
        if store is not None:
            with suppress(StoreError):  # it is lost already
                store.close()

    def _place(self, code: str) -> Vector | None:
        """Where `code` lies among the graph's embeddings, if there are any."""
        if self._embedder is None and self._open_embedder is not None:
            space = self._ask(lambda store: store.embedding_space())
            self._embedder = None if space is None else self._open_embedder(space)
        if self._embedder is None:
            return None
        return Vector(self._embedder.space, self._embedder.embed([code])[0])

    def _ask(self, question: Callable[[GraphStore], T]) -> T:
        for pause in PAUSES:
            try:
                return self._ask_once(question)
            except StoreError:
                if not self._was_open:  # it never worked: waiting would only hide that
                    raise
                time.sleep(pause)
        return self._ask_once(question)

    def _ask_once(self, question: Callable[[GraphStore], T]) -> T:
        try:
            with _undisturbed():
                self._store = self._store or self._open()
                self._was_open = True
                return question(self._store)
        except StoreError:
            self.close()
            raise


@contextmanager
def _undisturbed() -> Iterator[None]:
    """A Ctrl-C waits until the end: in the middle of an answer it leaves the driver in pieces."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
