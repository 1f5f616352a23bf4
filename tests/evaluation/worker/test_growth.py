"""A leak is told from memory that grows once, or more and more seldom."""

from collections.abc import Callable
from itertools import accumulate, repeat

import pytest

from regraph_kg.evaluation.worker.growth import Growth

KIB, MIB = 2**10, 2**20


def leak(memory: Callable[[int], int], calls: int = 5, stops: int = 8) -> int:
    growth = Growth()
    for count in accumulate(repeat(calls, stops)):
        growth.note(calls, memory(count))
    return growth.leak


@pytest.mark.parametrize("each", [64 * KIB, 8 * MIB])
def test_what_is_lost_in_every_call_is_a_leak(each: int) -> None:
    assert leak(lambda calls: 10**8 + calls * each) == each
    steps = leak(lambda calls: calls * each // (132 * KIB) * 132 * KIB, calls=20)
    assert steps == pytest.approx(each, rel=0.1), "allocators ask for memory in steps"


@pytest.mark.parametrize(
    "memory",
    [
        lambda calls: 10**8,
        lambda calls: 512 * MIB * (calls > 25),  # once, and late
        lambda calls: MIB << calls.bit_length(),  # a vector that doubles
        lambda calls: calls * 16 * KIB,
        lambda calls: 10**9 - calls * MIB,
    ],
)
def test_nothing_else_is(memory: Callable[[int], int]) -> None:
    assert leak(memory) == 0
    assert leak(memory, calls=1, stops=40) == 0


def test_a_few_calls_say_nothing() -> None:
    assert leak(lambda calls: calls * MIB, stops=6) == 0
