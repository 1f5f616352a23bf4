"""The graph as a search reads it. A store that is lost ends the run, which goes on by its trace."""

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from regraph_kg.errors import StoreError
from regraph_kg.models.graph import Neighbourhood, Successor
from regraph_kg.models.target import Target
from regraph_kg.models.transform import texts

if TYPE_CHECKING:
    from regraph_kg.backends.store import GraphStore

T = TypeVar("T")


class GraphReader:
    """A graph as one search sees it: its device's figures, without the excluded problem's share."""

    def __init__(
        self,
        open_store: Callable[[], "GraphStore"],
        device: str,
        excluded: str | None,
        kind: str = "",
        model: str = "",
    ) -> None:
        """`open_store` is called at the first question; codes of `kind` are like its own.

        `model` is who is asked for steps.
        """
        self._open = open_store
        self._seen: dict[str, Any] = {"device": device, "kind": kind, "model": model}
        self._seen["exclude_problem"] = excluded
        self._store: GraphStore | None = None

    def neighbours(self, technique: str) -> Neighbourhood:
        """Successors of a technique, with this device's statistics."""
        return self._ask(lambda store: store.neighbourhood(technique, **self._seen))

    def pooled(self, target: Target) -> tuple[Successor, ...]:
        """All techniques of a target, each with its statistics after any other."""
        return self._ask(lambda store: store.pooled(target, **self._seen))

    def transforms(self, target: Target) -> dict[str, tuple[str, ...]]:
        """The texts of the accepted transforms of a target, by technique."""
        return texts(self._ask(lambda store: store.transforms(target)))

    def close(self) -> None:
        """Let the store go; idempotent."""
        store, self._store = self._store, None
        if store is not None:
            with suppress(StoreError):  # it is lost already
                store.close()

    def _ask(self, question: Callable[["GraphStore"], T]) -> T:
        """Ask the store, which opens at the first question; a lost one ends the run."""
        self._store = self._store or self._open()
        return question(self._store)
