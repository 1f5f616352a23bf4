"""The standing of code is told as far as the judge knows it, and no further."""

from typing import Any

import pytest

from regraph_kg.models.evaluation import Candidate, EvalReport, Roof, WorkAccount
from regraph_kg.search.prompts.standing import Standing, baseline_of, standing_of, standing_text
from tests.search.test_harvest import timing
from tests.search.toy import code, judge

SHARES: dict[Any, float] = {"memory": 0.36, "compute": 0.04}


def report(shares: dict[Any, float] | None = None) -> EvalReport:
    """A call of 2 ms, where the original takes 8 ms."""
    roof = None
    if shares is not None:
        share = max(shares.values())
        roof = Roof(
            bound="memory", seconds=share * 0.002, share=share, reached=1, peak=2, shares=shares
        )
    account = WorkAccount(
        seconds=0.002,
        flop=None,
        bytes=1,
        flop_per_second=None,
        bytes_per_second=1,
        intensity=None,
        roof=roof,
    )
    found = judge(Candidate("openmp", code(1.3862943611198906)))
    return found.model_copy(
        update={"account": account, "timing": timing(0.002), "baseline": timing(0.008)}
    )


def test_time_shares_and_room_are_told() -> None:
    found = standing_of(report(SHARES))
    assert found is not None
    assert standing_text(found) == (
        "A call takes 2 ms, 4x as fast as the original. It reaches 36 % of this machine's memory"
        " rate and 4 % of its arithmetic rate. About 2.78x faster is possible; more only by moving"
        " or computing less."
    )


def test_the_original_stands_by_what_was_timed_beside_any_code() -> None:
    found = baseline_of(report(SHARES))
    assert found is not None
    assert found.shares["memory"] == pytest.approx(0.09)
    assert standing_text(found).startswith("A call takes 8 ms. It reaches 9 % of")


@pytest.mark.parametrize("share", [0.95, 1.7])
def test_nothing_faster_is_promised_at_the_roof(share: float) -> None:
    text = standing_text(Standing(0.002, 4.0, {"memory": share}))
    assert "That is the limit" in text
    assert "possible" not in text


def test_without_peaks_only_the_time_is_told_and_without_a_time_nothing() -> None:
    found = standing_of(report())
    assert found is not None
    assert standing_text(found) == "A call takes 2 ms, 4x as fast as the original."
    assert standing_of(judge(Candidate("openmp", code("wrong_answer")))) is None


def test_figures_have_no_exponent() -> None:
    text = standing_text(Standing(3e-7, 12345.6, {"memory": 0.00047}))
    assert "e-" not in text
    assert "e+" not in text
    assert "300 ns, 12346x" in text
