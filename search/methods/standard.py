"""One prompt a sample until the budget is spent, no graph, no repair: the best of n counts."""

from typing import Literal

from regraph_kg.models.method import MethodSettings
from regraph_kg.search.context import Context
from regraph_kg.search.methods import MethodKind
from regraph_kg.search.prompts.render import free_advice
from regraph_kg.search.samples import Samples


class StandardSettings(MethodSettings):
    """One prompt a sample: nothing to set."""

    method: Literal["standard"] = "standard"


class Standard(Samples):
    """One search; it ends early where a recorded model has no further answer."""

    def __init__(self, context: Context, settings: StandardSettings) -> None:
        del settings
        super().__init__(context, free_advice())


METHOD = MethodKind(StandardSettings, Standard)
