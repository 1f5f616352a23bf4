"""Step by step, without a graph: the model reasons in steps before it writes (method.md 4).

The same samples as those of standard.py, with a prompt that first asks where the time goes, what
depends on what, and what to change. Reasoning and code come in one answer, which is one call. Not
here: reasoning of the model's own accord ("thinking"), which a server does or not.
"""

from regraph_kg.models.method import CotSettings
from regraph_kg.search.context import Parts
from regraph_kg.search.prompts.render import cot_advice
from regraph_kg.search.samples import Samples


class Cot(Samples):
    """One search."""

    def __init__(self, parts: Parts, settings: CotSettings) -> None:
        del settings  # there is nothing to set
        super().__init__(parts, cot_advice())
