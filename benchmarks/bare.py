"""A session beside the store's own, for statements that do the least."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import neo4j

from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import store_address

CYPHER = Path(__file__).with_name("cypher")
FORGOTTEN = 2_000
"""Deleted in one transaction."""

Rows = list[dict[str, Any]]


class Unseen(Rows):
    """Rows without a long repr, which the driver would make: as cheap to send as the store's."""

    def __repr__(self) -> str:
        return f"<{len(self)} rows>"


@dataclass(frozen=True, slots=True)
class Bare:
    """A session for statements of benchmarks/cypher."""

    session: neo4j.Session

    def read(self, name: str, **parameters: object) -> Rows:
        text = (CYPHER / f"{name}.cypher").read_text(encoding="utf-8")
        return self.session.execute_read(lambda tx: tx.run(text, parameters).data())

    def create(self, rows: Sequence[dict[str, Any]]) -> int:
        """Nodes with these properties, in one transaction: no constraint, no lookup."""
        text = (CYPHER / "bare_create.cypher").read_text(encoding="utf-8")
        sent = {"rows": Unseen(rows)}
        (row,) = self.session.execute_write(lambda tx: tx.run(text, sent).data())
        return int(row["written"])

    def forget(self) -> None:
        """Delete all that was ingested; techniques and (:Meta) stay."""
        for name in ("forget_nodes", "forget_relationships"):
            text = (CYPHER / f"{name}.cypher").read_text(encoding="utf-8")
            while self._delete(text):
                pass

    def _delete(self, text: str) -> int:
        (row,) = self.session.execute_write(lambda tx: tx.run(text, limit=FORGOTTEN).data())
        return int(row["deleted"])


@contextmanager
def open_bare(settings: Settings) -> Iterator[Bare]:
    """A session with the server of these settings."""
    where = store_address(settings)
    with (
        neo4j.GraphDatabase.driver(where.uri, auth=(where.user, where.password)) as driver,
        driver.session(database=where.database) as session,
    ):
        yield Bare(session)
