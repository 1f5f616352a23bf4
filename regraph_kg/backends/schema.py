"""The schema makes an empty database a graph; its stamp tells whose graph a database is.

A database is ours when it carries our stamp, (:Meta), which the last statement of
cypher/schema.cypher writes. Each statement may run again, after a kill or beside another process.
Constraints and data are never in one transaction: Neo4j forbids it.
"""

from dataclasses import dataclass

from regraph_kg.backends.bolt import Bolt
from regraph_kg.errors import StoreError
from regraph_kg.graph import SCHEMA_VERSION

PRODUCT = "regraph-kg"


@dataclass(frozen=True, slots=True)
class Stamp:
    """A database's stamp and state."""

    empty: bool
    """It holds no node."""
    bare: bool
    """There is nothing to lose."""
    restoring: str | None
    """Digest of the backup that is being restored."""


def prepare(bolt: Bolt, *, restoring: bool = False) -> None:
    """Make an empty database a graph; leave one of our version alone.

    Raises `StoreError` for another version, for another product's data, and, unless `restoring`,
    for a graph that a restore has not finished.
    """
    stamp = read_stamp(bolt)
    if stamp.restoring is not None and not restoring:
        raise StoreError(
            f"{bolt.place}: is being restored from a backup; if that was interrupted, run the same"
            " regraph graph restore again"
        )
    if stamp.empty:
        bolt.define_all("schema")


def read_stamp(bolt: Bolt) -> Stamp:
    """The database's stamp; `StoreError` for another version or another product's data."""
    (row,) = bolt.rows("read_stamp")
    if not row["empty"] and row["products"] != [PRODUCT]:
        raise StoreError(
            f"{bolt.place}: holds another product's data;"
            " name an empty database (REGRAPH_STORE_DATABASE) or server"
        )
    if not row["empty"] and row["schema_version"] != SCHEMA_VERSION:
        raise StoreError(
            f"{bolt.place}: graph has schema {row['schema_version']}, this program needs"
            f" {SCHEMA_VERSION}: export it with the program that made it (regraph graph export),"
            " and ingest that into an empty database"
        )
    return Stamp(row["empty"], row["bare"], row["restoring"])
