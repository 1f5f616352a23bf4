"""The schema makes an empty database a graph; its stamp tells whose graph a database is.

A database is ours when it carries our stamp, (:Meta), which the last statement of
cypher/schema.cypher writes. Each statement may run again, after a kill or beside another process.
Constraints and data are never in one transaction: Neo4j forbids it.
"""

from regraph_kg.backends.bolt import Bolt
from regraph_kg.errors import StoreError
from regraph_kg.graph import SCHEMA_VERSION

PRODUCT = "regraph-kg"


def prepare(bolt: Bolt) -> None:
    """Make an empty database a graph; leave one of our version alone.

    Raises `StoreError` for another version, and for another product's data.
    """
    (row,) = bolt.rows("read_stamp")
    if row["empty"]:
        bolt.define_all("schema")
        return
    if row["products"] != [PRODUCT]:
        raise StoreError(
            f"{bolt.place}: holds another product's data;"
            " name an empty database (REGRAPH_STORE_DATABASE) or server"
        )
    if row["schema_version"] != SCHEMA_VERSION:
        raise StoreError(
            f"{bolt.place}: graph has schema {row['schema_version']}, this program needs"
            f" {SCHEMA_VERSION}: export it with the program that made it (regraph graph export),"
            " and ingest that into an empty database"
        )
