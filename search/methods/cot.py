"""As standard, but the prompt has the model reason step by step before it writes.

The same samples as those of standard.py, with a prompt that first asks where the time goes, what
depends on what, and what to change. Reasoning and code come in one answer, which is one call. Not
here: reasoning of the model's own accord ("thinking"), which a server does or not.
"""

from typing import Literal

from regraph_kg.models.method import MethodSettings
from regraph_kg.search.context import Context
from regraph_kg.search.methods import MethodKind
from regraph_kg.search.prompts.render import cot_advice
from regraph_kg.search.samples import Samples


class CotSettings(MethodSettings):
    """Step by step in one prompt, without a graph: nothing to set."""

    method: Literal["cot"] = "cot"


class Cot(Samples):
    """One search."""

    def __init__(self, context: Context, settings: CotSettings) -> None:
        del settings  # there is nothing to set
        super().__init__(context, cot_advice())


METHOD = MethodKind(CotSettings, Cot)
