"""Reads the statements of cypher/ by name; packs those for Neo4j Browser, with its style."""

import io
import re
import zipfile
from functools import cache
from importlib.resources import files
from pathlib import Path

from regraph_kg import cypher
from regraph_kg.backends.address import Engine
from regraph_kg.errors import file_errors

FOLDER = "regraph"  # folder of the saved queries among the Browser's favorites
QUERIES, STYLE = "regraph-queries.zip", "regraph-style.grass"


@cache
def text(name: str, engine: Engine) -> str:
    """The statement `cypher/ENGINE/NAME.cypher` where there is one, else `cypher/NAME.cypher`."""
    folder = files(cypher)
    override = folder / engine / f"{name}.cypher"
    source = override if override.is_file() else folder / f"{name}.cypher"
    return source.read_text(encoding="utf-8")


def statements(name: str, engine: Engine) -> tuple[str, ...]:
    """The statements of a file that holds several, each ended by a semicolon and a line's end."""
    lines = [line for line in text(name, engine).splitlines() if not line.startswith("//")]
    parts = re.split(r";$", "\n".join(lines), flags=re.MULTILINE)
    return tuple(part.strip() for part in parts if part.strip())


def write_pack(folder: Path) -> tuple[Path, Path]:
    """Write queries and style into a folder, made if absent; return their paths."""
    browser = files(cypher) / "browser"
    saved = {
        entry.name: entry.read_text(encoding="utf-8")
        for entry in browser.iterdir()
        if entry.name.endswith(".cypher")
    }
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, query in sorted(saved.items(), key=lambda one: one[1]):  # by title
            # Made without a date, so that the same queries are the same bytes.
            packed.writestr(zipfile.ZipInfo(f"{FOLDER}/{name}"), query)
    style = (browser / "style.grass").read_text(encoding="utf-8")
    with file_errors(folder, "give a folder to write into"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / QUERIES).write_bytes(archive.getvalue())
        (folder / STYLE).write_text(style, encoding="utf-8")
    return folder / QUERIES, folder / STYLE
