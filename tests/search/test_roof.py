"""How near a search comes to the roof."""

import pytest

from regraph_kg.models.evaluation import Roof, SpeedOfLight, WorkAccount
from regraph_kg.models.method import SearchLimits
from regraph_kg.search.ledger import Ledger

LIGHT = 1e-3  # shortest believable seconds of a call


def account(share: float, *, known: bool = True) -> WorkAccount:
    """Code that takes `LIGHT` / `share` seconds a call."""
    light = SpeedOfLight(bound="memory", seconds=LIGHT) if known else None
    roof = Roof(bound="memory", seconds=LIGHT, share=share, reached=1.0, peak=1.0, light=light)
    return WorkAccount(
        seconds=LIGHT / share,
        flop=None,
        bytes=1,
        flop_per_second=None,
        bytes_per_second=1.0,
        intensity=None,
        roof=roof,
    )


@pytest.mark.parametrize(
    ("seen", "share"),
    [
        ([account(0.5), account(0.99), account(0.7)], 0.99),
        ([account(1.2), account(0.95)], None),
        ([account(0.99, known=False), None], None),
    ],
    ids=["the fastest counts", "passed once: a figure is wrong", "not known"],
)
def test_how_near_the_fastest_code_comes_to_the_roof(
    seen: list[WorkAccount | None], share: float | None
) -> None:
    ledger = Ledger(SearchLimits(calls=1))
    for one in seen:
        ledger.see(one)
    assert (ledger.roof and ledger.roof.share) == (share and pytest.approx(share))
