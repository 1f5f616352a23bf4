"""UCT: counts, bound and reward of the tree searches that walk no graph (mcts_rag, rethink_mcts).

    bound = W / n + w sqrt(ln(N + O) / (n + o))

n visits have ended with rewards W in sum, o are under way; N and O are the parent's; w is the
exploration weight (Kocsis and Szepesvari, ECML 2006). What is under way counts as a visit and is
worth nothing yet (Liu et al., Watch the Unobserved, ICLR 2020): it spreads parallel iterations.

The reward is the log speedup that an iteration reached, clipped to [-1, 3], and -1 for a failure.
It orders results as the paper's reward does (-1, or the speedup, less 1 where slower), but raw
speedups of 5 to 20 would drown a bonus of 1 to 5. The level reached is backed up, not the last
step's gain: it is what the path is worth, and from one node the two differ by a constant.
Not here: which node is open, and what is asked there.
"""

import math
from dataclasses import dataclass

FAILED = -1.0
REWARD_LOW, REWARD_HIGH = -1.0, 3.0


def level_reward(speedup: float | None) -> float:
    """The clipped log of a speedup over the serial code, -1 for a failure."""
    if speedup is None:
        return FAILED
    return min(max(math.log(speedup), REWARD_LOW), REWARD_HIGH)


@dataclass(slots=True, eq=False)
class Visits:
    """Counters of a choice: n, W and o."""

    n: int = 0
    total: float = 0.0
    under_way: int = 0

    @property
    def all(self) -> int:
        """Visits that have ended or are under way, n + o."""
        return self.n + self.under_way

    def begin(self) -> None:
        """A visit is under way."""
        self.under_way += 1

    def end(self, reward: float | None) -> None:
        """It has ended with `reward`; None: it bought nothing, and was none."""
        # a recorded model without an answer bought nothing: the choice is as it was
        self.under_way -= 1
        if reward is not None:
            self.n += 1
            self.total += reward

    def take_back(self, reward: float) -> None:
        """A visit that ended with `reward` has failed after all."""
        self.total += FAILED - reward

    def bound(self, parent: int, exploration: float) -> float:
        """The bound above, `parent` is N + O >= n + o; infinite without a visit, W / n from 0."""
        # never tried comes first, whatever the others are worth
        if not self.all:
            return math.inf
        mean = self.total / self.n if self.n else 0.0
        return mean + exploration * math.sqrt(math.log(parent) / self.all)
