"""A candidate's failure as a value."""

from collections.abc import Callable
from typing import TypeVar

from regraph_kg.evaluation.rules import Failure

T = TypeVar("T")


def caught(call: Callable[..., T], *given: object) -> T | Failure:
    """The call's answer, or the failure that it raises."""
    try:
        return call(*given)
    except Failure as failure:
        return failure
