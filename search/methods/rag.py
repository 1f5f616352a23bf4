"""The examples nearest to the serial code stand in every prompt; no walk: the best of n counts.

The same samples as those of standard.py, mended as the settings say. The examples are steps of
other code, whatever their transition; how many (one at least) and how much of them is shown is
`Prompting`'s, as in the methods that walk the graph. Where the graph has no embeddings there are
none, and the prompt is that of standard.py. Not here: what "near" means, and whose examples are
left out (reader.py); retrieval for code other than the serial (mcts_rag.py).
"""

from typing import Literal

from pydantic import Field

from regraph_kg.models.method import MethodSettings
from regraph_kg.search.context import Context
from regraph_kg.search.methods import MethodKind
from regraph_kg.search.samples import Samples


class RagSettings(MethodSettings):
    """The nearest examples to the code, without a walk."""

    method: Literal["rag"] = "rag"
    repairs: int = Field(default=1, ge=0)
    """Repair calls after a failed answer, at most."""


class Rag(Samples):
    """One search; the graph is read once, at its beginning."""

    def __init__(self, context: Context, settings: RagSettings) -> None:
        advice = context.nearest_advice(context.task.start)
        super().__init__(context, advice, repairs=settings.repairs)


METHOD = MethodKind(RagSettings, Rag, needs="embeddings")
