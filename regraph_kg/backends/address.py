"""Address: where a graph store listens and how to log in."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Engine = Literal["neo4j", "embedded"]
"""The kind of server, which chooses the query text where the two dialects differ."""


@dataclass(frozen=True, slots=True)
class Address:
    """A Bolt server. The password never shows in a repr or a message."""

    uri: str
    user: str
    password: str = field(repr=False)
    database: str | None = None
    """None = the server's default."""
    engine: Engine = "neo4j"
    writers: Path | None = None
    """A lock file on which writers take turns; None = the server keeps them apart."""
    ca: Path | None = None
    """Certificates (PEM) that vouch for the server's; None = those of the machine."""
    folder: Path | None = None
    """The folder of data and log; None = on another machine, or unknown."""
