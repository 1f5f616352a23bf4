"""`require(what, reason)`: skip loudly what a machine lacks, fail where it was required."""

import os
from typing import NoReturn

import pytest

KNOWN = (
    "neo4j",
    "neo4j-2026",
    "gpu",
    "nvcc",
    "ollama",
    "browser",
    "axe",
    "inspector",
    "sandbox",
    "root",
    "core-dumps",
    "network",
    "small-model",
    "docker",
    "namespaces",
)
"""What `--require` may name."""


def required() -> frozenset[str]:
    """Names given by `--require` (kept in the environment so that xdist workers see them)."""
    return frozenset(filter(None, os.environ.get("REGRAPH_TEST_REQUIRE", "").split(",")))


def require(what: str, reason: str) -> NoReturn:
    """Report that `what` is absent: a failure where the caller required it, else a skip."""
    assert what in KNOWN, what
    if what in required():
        pytest.fail(f"{what} is required here: {reason}", pytrace=False)
    pytest.skip(reason if reason.startswith(what) else f"{what}: {reason}")
