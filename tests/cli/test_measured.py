"""What `regraph examples` says of an effect: where it was, and what it was elsewhere."""

from dataclasses import replace

import pytest

from regraph_kg.cli.examples import measured
from tests.search.toy import example

BOTH = {"verified_on": ("A", "B"), "effects": (5.0, 0.5)}
LATEST = "0.5x by this step, 2x against the serial code, on B, toy"


@pytest.mark.parametrize(
    ("device", "says"),
    [
        ("A", "5x by this step, on A; 0.5x on B"),
        ("B", f"{LATEST}; 5x on A"),
        (None, f"{LATEST}; 5x on A"),
        ("C", f"{LATEST}; 5x on A"),
    ],
)
def test_an_effect_is_told_with_its_device(device: str | None, says: str) -> None:
    one = replace(example("s", "a"), effect=0.5, device="B", **BOTH)
    assert measured(one, device) == says


def test_what_passed_nowhere_has_no_effect() -> None:
    failed = replace(example("s", "a"), verified=False, effect=None, outcome="crashed")
    assert measured(failed, "A") == "not timed (crashed)"
