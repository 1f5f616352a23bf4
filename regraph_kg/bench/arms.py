"""Arms of a comparison: a method, and which graph it is shown."""

from dataclasses import dataclass
from typing import Self, get_args

from regraph_kg.errors import BadInput
from regraph_kg.models.run import GraphShown
from regraph_kg.search.methods import kind_of, method_names

USUAL = ("mcgs", "standard")
GRAPHS: tuple[GraphShown, ...] = get_args(GraphShown)


@dataclass(frozen=True, slots=True)
class Arm:
    """What is compared with other arms at equal budgets."""

    method: str
    graph: GraphShown = "whole"

    @classmethod
    def parse(cls, text: str) -> Self:
        """METHOD or METHOD/GRAPH; `BadInput` for a graph that is no other one to the method."""
        method, slash, graph = text.partition("/")
        if method not in method_names():
            raise BadInput(f"arm {text!r}: methods are {', '.join(method_names())}")
        if not slash:
            return cls(method)
        if graph not in GRAPHS:
            raise BadInput(f"arm {text!r}: after the slash comes one of {', '.join(GRAPHS)}")
        if kind_of(method).needs == "nothing":
            raise BadInput(f"arm {text!r}: {method} reads no graph; leave out /{graph}")
        if kind_of(method).needs == "embeddings" and graph not in ("whole", "none"):
            raise BadInput(
                f"arm {text!r}: {method} asks only what is near; its control is {method}/none"
            )
        return cls(method, graph)

    @property
    def walks(self) -> bool:
        """Whether it needs a graph with something to begin with."""
        return kind_of(self.method).walks

    @property
    def reads(self) -> bool:
        """Whether anything hangs on the graph."""
        return kind_of(self.method).needs != "nothing"

    def __str__(self) -> str:
        """As `parse` reads it."""
        return self.method if self.graph == "whole" else f"{self.method}/{self.graph}"
