"""The pack for Neo4j Browser: saved queries as the zip file that it imports, and a style."""

import io
import zipfile
from pathlib import Path

from regraph_kg.backends import queries

FOLDER = "regraph"
"""Folder of the saved queries among the Browser's favorites."""
QUERIES, STYLE = "regraph-queries.zip", "regraph-style.grass"


def write_pack(folder: Path) -> tuple[Path, Path]:
    """Write queries and style into a folder, made if absent; return their paths.

    The bytes depend on nothing but the queries. Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in queries.browser_names():
            packed.writestr(zipfile.ZipInfo(f"{FOLDER}/{name}.cypher"), queries.browser_query(name))
    style = queries.browser_style()
    (folder / QUERIES).write_bytes(archive.getvalue())
    (folder / STYLE).write_text(style, encoding="utf-8")
    return folder / QUERIES, folder / STYLE
