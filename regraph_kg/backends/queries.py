"""Reads the statements of cypher/ by name; an engine's override takes precedence."""

import re
from functools import cache
from importlib.resources import files

from regraph_kg import cypher
from regraph_kg.backends.address import Engine


@cache
def text(name: str, engine: Engine) -> str:
    """The statement `cypher/NAME.cypher`, or its override `cypher/ENGINE/NAME.cypher`."""
    folder = files(cypher)
    override = folder / engine / f"{name}.cypher"
    source = override if override.is_file() else folder / f"{name}.cypher"
    return source.read_text(encoding="utf-8")


def statements(name: str, engine: Engine) -> tuple[str, ...]:
    """The statements of a file that holds several, each ended by a semicolon and a line's end."""
    lines = [line for line in text(name, engine).splitlines() if not line.startswith("//")]
    parts = re.split(r";$", "\n".join(lines), flags=re.MULTILINE)
    return tuple(part.strip() for part in parts if part.strip())


@cache
def browser_names() -> tuple[str, ...]:
    """Names of the saved queries of cypher/browser/, in the order of their titles."""
    names = (entry.name for entry in (files(cypher) / "browser").iterdir())
    queries = (name.removesuffix(".cypher") for name in names if name.endswith(".cypher"))
    return tuple(sorted(queries, key=browser_query))


def browser_query(name: str) -> str:
    """A saved query, as a person pastes it into Neo4j Browser; its first line is its title."""
    return text(f"browser/{name}", "neo4j")


def browser_style() -> str:
    """The style sheet of Neo4j Browser for nodes and relationships."""
    return (files(cypher) / "browser" / "style.grass").read_text(encoding="utf-8")
