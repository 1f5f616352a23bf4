"""The schema makes an empty database a graph; its stamp tells whose graph a database is.

A database is ours when it carries our stamp, (:Meta), which the last statement of
cypher/schema.cypher writes. Each statement may run again, after a kill or beside another process.
Constraints and data are never in one transaction: Neo4j forbids it.
"""

from regraph_kg.backends.bolt import Bolt
from regraph_kg.errors import StoreError
from regraph_kg.graph import SCHEMA_VERSION

PRODUCT = "regraph-kg"
OLDEST = 2  # the oldest version whose trajectories a rebuild reads


def prepare(bolt: Bolt, *, rebuild: bool = False) -> None:
    """Make an empty database a graph; leave one of our version alone.

    Raises `StoreError` for another version, for another product's data, and for a graph that a
    rebuild has not finished; with `rebuild` only where a rebuild cannot help either.
    """
    (row,) = bolt.rows("read_stamp")
    version = row["schema_version"]
    if row["empty"]:
        bolt.define_all("schema")
    elif row["products"] != [PRODUCT]:
        raise StoreError(
            f"{bolt.place}: holds another product's data;"
            " name an empty database (REGRAPH_STORE_DATABASE) or server"
        )
    elif not OLDEST <= version <= SCHEMA_VERSION:
        raise StoreError(
            f"{bolt.place}: graph has schema {version}, this program needs {SCHEMA_VERSION}:"
            " export it with the program that made it (regraph graph export), and ingest that"
            " into an empty database"
        )
    elif rebuild:
        if version < SCHEMA_VERSION:
            bolt.define_all("schema")  # what an older graph lacks
    elif row["rebuilding"]:
        raise StoreError(
            f"{bolt.place}: is being rebuilt; if that was interrupted, nothing is lost: run"
            " regraph ingest --rebuild again"
        )
    elif version < SCHEMA_VERSION:
        raise StoreError(
            f"{bolt.place}: an older regraph wrote this graph (schema {version}, this program"
            f" needs {SCHEMA_VERSION}); nothing is lost: regraph ingest --rebuild brings it over"
        )
