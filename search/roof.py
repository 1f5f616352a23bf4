"""How near the fastest verified code of a run comes to the device's speed of light.

The speed of light is the shortest believable time of right code (evaluation/timing/roofline.py). It
rests on the problem's declared work and on measured peaks: a right call that is much shorter shows
that one of them is wrong, and then this run has no roof.
"""

from regraph_kg.models.evaluation import WorkAccount
from regraph_kg.models.run import RoofShare

TRUSTED = 1.1
"""Largest believable share: peaks are measured, and may be a little low."""


class RoofWatch:
    """Sees the accounts of one run's verified codes."""

    def __init__(self) -> None:
        self.reached: RoofShare | None = None
        """Share of the fastest so far; None while it is not known."""
        self.doubt = ""
        """Why it is not known, once a code was verified."""

    def see(self, account: WorkAccount | None) -> None:
        """Another right code was timed."""
        light = account.roof.light if account and account.roof else None
        if account is None or light is None:
            self.doubt = self.doubt or _unknown(account)
            return
        share = light.seconds / account.seconds
        if share > TRUSTED:
            self.reached, self.doubt = None, _wrong(share)
        elif not self.doubt and (self.reached is None or share > self.reached.share):
            self.reached = RoofShare(bound=light.bound, share=share)


def _unknown(account: WorkAccount | None) -> str:
    if account is None:
        return "the verdicts come without an account of their work"
    if account.roof is None:
        return "this device's peaks are not measured yet (regraph doctor measures)"
    return "the problem may exit early, or its verdicts are older than the speed of light"


def _wrong(share: float) -> str:
    return (
        f"right code took {1 / share:.0%} of the shortest believable time: the work that the"
        " problem declares, or the measured peaks, are wrong (regraph doctor --remeasure)"
    )
