"""Address: where a graph store listens and how to log in; its URI's forms, encryption, display.

bolt://   one server                 neo4j://   a cluster: reads go to its replicas
+s        TLS, certificate checked against the machine's authorities (or SSL_CERT_FILE's)
+ssc      TLS, any certificate: against eavesdroppers only
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from regraph_kg.errors import BadInput

SCHEMES = frozenset(f"{name}{tls}" for name in ("bolt", "neo4j") for tls in ("", "+s", "+ssc"))

Engine = Literal["neo4j", "neo4j_2026", "embedded"]
"""The kind of server, which chooses the query text where the dialects differ."""


@dataclass(frozen=True, slots=True)
class Address:
    """A Bolt server. The password never shows in a repr or a message."""

    uri: str
    user: str
    password: str = field(repr=False)
    database: str | None = None  # none = the server's default
    engine: Engine = "neo4j"
    writers: Path | None = None
    """A lock file on which writers take turns; None = the server keeps them apart."""
    folder: Path | None = None  # the folder of data and log; None = on another machine, or unknown


def require_bolt(uri: str) -> None:
    """Raise `BadInput` for a URI that is no Bolt server's, or that holds a password."""
    try:
        parts = urlsplit(uri)
        parts.port  # noqa: B018 (raises when it is no number)
        (parts.hostname or "").encode("idna")
    except ValueError:
        raise unusable(uri) from None
    if parts.scheme not in SCHEMES or not parts.hostname:
        raise unusable(uri)
    # A URI is shown in messages and lists of processes; a password in it would be, too.
    if "@" in parts.netloc:
        raise BadInput(
            f"store {shown(uri)}: user and password do not belong into the URI; set"
            " REGRAPH_STORE_USER and REGRAPH_STORE_PASSWORD"
        )


def unusable(uri: str) -> BadInput:
    """The error for a URI that no driver takes."""
    return BadInput(
        f"store {shown(uri)}: not a Bolt URI; say embedded, neo4j://HOST:7687"
        " or bolt://HOST:7687 (REGRAPH_STORE)"
    )


def shown(uri: str) -> str:
    """The URI without user, password and options, on one line."""
    start, slashes, rest = uri.partition("://")
    host = (rest if slashes else start).partition("/")[0].partition("?")[0].rpartition("@")[2]
    return ascii(f"{start}{slashes}{host}" if slashes else host)[1:-1]
