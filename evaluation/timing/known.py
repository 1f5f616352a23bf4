"""Contents of timed calls whose truths a session knows, and no worker may."""

import random

from regraph_kg.evaluation.verify.timed_inputs import TimedInputs


class Pool:
    """The contents whose truths a session knows; shared by its workers, secret to all of them.

    `retire` a content that a diagnosis reveals: the next candidate could know it.
    """

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._contents: list[TimedInputs] = []

    def content(self, number: int) -> TimedInputs:
        """The `number`-th of them."""
        while len(self._contents) <= number:
            self._contents.append(TimedInputs(self._rng.getrandbits(128)))
        return self._contents[number]

    def holds(self, seed: int) -> bool:
        """Whether one of them has this seed."""
        return any(content.seed == seed for content in self._contents)

    def retire(self, content: TimedInputs) -> None:
        """Put another one into its place."""
        for index, current in enumerate(self._contents):
            if current.seed == content.seed:
                self._contents[index] = TimedInputs(self._rng.getrandbits(128))
