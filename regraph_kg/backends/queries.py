"""Reads the statements of cypher/ by name."""

import re
from functools import cache
from importlib.resources import files

from regraph_kg import cypher
from regraph_kg.backends.address import Engine


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
