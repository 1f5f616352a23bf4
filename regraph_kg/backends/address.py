"""Address: where a graph store listens and how to log in; its URI's forms, encryption, display.

bolt://   one server                 neo4j://   a cluster: reads go to its replicas
+s        TLS, certificate checked against the machine's authorities, or those of `ca`
+ssc      TLS, any certificate: against eavesdroppers only
"""

import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from regraph_kg.errors import BadInput

CHECKED = "+s"
SCHEMES = frozenset(f"{name}{tls}" for name in ("bolt", "neo4j") for tls in ("", CHECKED, "+ssc"))


Engine = Literal["neo4j", "neo4j_2026", "embedded"]
"""The kind of server, which chooses the query text where the dialects differ."""


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


def endpoint(address: Address) -> tuple[str, ssl.SSLContext | None]:
    """The driver's URI and TLS for an address (None: as the URI says).

    `BadInput` for an unusable URI or CA file.
    """
    parts = _split(address.uri)
    if parts.scheme not in SCHEMES or not parts.hostname:
        raise unusable(address.uri)
    if "@" in parts.netloc:
        raise BadInput(
            f"store {shown(address.uri)}: user and password do not belong into the URI; set"
            " REGRAPH_STORE_USER and REGRAPH_STORE_PASSWORD"
        )
    if address.ca is None:
        return address.uri, None
    plain = parts.scheme.removesuffix(CHECKED)
    if plain == parts.scheme:
        raise BadInput(
            f"store {shown(address.uri)}: a CA file checks certificates, which needs bolt+s:// or"
            " neo4j+s:// (REGRAPH_STORE, REGRAPH_STORE_CA)"
        )
    return parts._replace(scheme=plain).geturl(), _trusting(address.ca)


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


def _split(uri: str) -> SplitResult:
    try:
        parts = urlsplit(uri)
        parts.port  # noqa: B018 (raises when it is no number)
        (parts.hostname or "").encode("idna")
    except ValueError:
        raise unusable(uri) from None
    return parts


def _trusting(ca: Path) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca)
    except ssl.SSLError:
        reason = "holds no certificate in PEM form"
    except OSError as error:
        reason = error.strerror or type(error).__name__
    raise BadInput(
        f"CA file {ca}: {reason}; give the certificate of who signed the store's (REGRAPH_STORE_CA)"
    )
