"""Whether an answer must be a kernel's: it varies, in itself or with the inputs."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from regraph_kg.evaluation.examiner import Examiner
from regraph_kg.evaluation.rules import Defences


def examiner(before: list[float], after: list[float]) -> Examiner:
    """Of a problem whose answer is the one, and the other once a few inputs changed."""
    contents: Any = SimpleNamespace(seed=1, version=0, next=SimpleNamespace(seed=1, version=1))
    truths = {0: before, 1: after}
    references: Any = SimpleNamespace(
        truths=lambda case: {"y": SimpleNamespace(values=np.array(truths[case.version]))}
    )
    problem: Any = SimpleNamespace(sizes=SimpleNamespace(time=(("n", 9),)), inputs=())
    pool: Any = SimpleNamespace(content=lambda _: contents)
    return Examiner(problem, references, pool, Defences(), 1)


@pytest.mark.parametrize(
    ("before", "after", "needs"),
    [
        ([1.0, 2.0], [1.0, 2.0], True),
        ([3.5], [3.25], True),
        ([0.0], [0.0], False),
        ([7.0, 7.0], [7.0, 7.0], False),
        ([7.0, 7.0], [8.0, 8.0], True),
    ],
    ids=["elements differ", "a sum", "none found", "a constant", "a sum for each"],
)
def test_a_kernel_is_needed_where_the_answer_varies(
    before: list[float], after: list[float], needs: bool
) -> None:
    assert examiner(before, after).needs_kernels is needs


def test_code_that_reads_no_array_may_hold_the_answer_of_the_call_before() -> None:
    examiner([1.0, 2.0], [1.0, 2.0]).require_kernels(cast(Any, None), cast(Any, None), 1.0)
