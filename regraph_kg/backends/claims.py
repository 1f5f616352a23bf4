"""Claims of pairs whose examples one writer embeds: several at once divide the work.

A claim is two properties of the pair's (:Edge), and lasts for a while by the server's clock: that
of a dead writer ends by itself, and at once for whoever is on the same host. A claim that ends too
early costs work done twice, and nothing else: vectors are the same whoever makes them. Not here:
what is embedded (embeddings.py).
"""

import os
import socket
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regraph_kg.backends.bolt import GraphRow, Query

SECONDS = 300
"""How long a claim lasts: far longer than a page of examples takes."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of claiming pairs."""

    mine: list[GraphRow]
    others: bool
    """Whether somebody else is at work on some of them."""


def new_owner() -> str:
    """A name for one writer: who it is, where, and which of its turns."""
    return f"{socket.gethostname()} {os.getpid()} {uuid.uuid4().hex}"


def take(ask: Query, pairs: Sequence[GraphRow], owner: str) -> Taken:
    """Claim those of `pairs` that no other living writer has."""
    rows = ask("vectors_claims", rows=[{"pair": row["pair"]} for row in pairs])
    held = {row["pair"] for row in rows if row["live"] and not _may_take(row["owner"], owner)}
    free = sorted({row["pair"] for row in rows} - held)
    ask("vectors_claim", pairs=free, owner=owner, milliseconds=1000 * SECONDS)
    mine = set(free)
    return Taken([row for row in pairs if row["pair"] in mine], bool(held))


def release(ask: Query, pairs: Sequence[GraphRow], owner: str) -> None:
    """Give up claims; those that somebody else has meanwhile stay."""
    ask("vectors_release", pairs=sorted(row["pair"] for row in pairs), owner=owner)


def _may_take(holder: str, owner: str) -> bool:
    """Whether a claim is one's own, or of a process of this host that is no more."""
    if holder == owner:
        return True
    host, _, rest = holder.partition(" ")
    pid = rest.partition(" ")[0]
    if host != socket.gethostname() or not pid.isdecimal():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # it lives, as another user
        return False
    return _has_ended(int(pid))


def _has_ended(pid: int) -> bool:
    """Whether a process is a zombie: killed, and its parent has not asked for it yet."""
    try:
        said = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:  # gone meanwhile, or a system without /proc
        return False
    return said.rpartition(b")")[2].split()[0] in (b"Z", b"X")
