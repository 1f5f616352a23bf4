"""Arms of a comparison: a method, its graph, and changes of its prompts."""

from dataclasses import dataclass
from typing import Self, get_args

from pydantic import ValidationError

from regraph_kg.errors import BadInput
from regraph_kg.models.method import Prompting, Words
from regraph_kg.models.run import GraphShown
from regraph_kg.search.methods import METHODS, kind_of

USUAL = ("mcgs", "standard")
GRAPHS: tuple[GraphShown, ...] = get_args(GraphShown)


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm of a comparison at equal budgets."""

    method: str
    graph: GraphShown = "whole"
    but: str = ""  # the change of its prompts: NAME=VALUE of a setting, or the name of other words

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse METHOD[/GRAPH][+CHANGE]; `BadInput` where the parts do not fit."""
        arm, _, but = text.partition("+")
        method, slash, named = arm.partition("/")
        if method not in METHODS:
            raise BadInput(f"arm {text!r}: methods are {', '.join(METHODS)}")
        # Without a graph named, an arm sees all of it.
        graph, needs = named if slash else "whole", kind_of(method).needs
        if graph not in GRAPHS:
            raise BadInput(f"arm {text!r}: after the slash comes one of {', '.join(GRAPHS)}")
        if slash and needs == "nothing":
            raise BadInput(f"arm {text!r}: {method} reads no graph; leave out /{graph}")
        # Nearest examples come from no edge: shuffled edges would change nothing.
        if needs == "embeddings" and graph == "shuffled-statistics":
            raise BadInput(
                f"arm {text!r}: {method} asks only what is near; its control is {method}/none"
            )
        parsed = cls(method, graph, but)
        try:
            parsed.prompting(Prompting())
        except ValidationError:
            names = ", ".join(
                (*get_args(Words), *(f"{field}=.." for field in Prompting.model_fields))
            )
            raise BadInput(f"arm {text!r}: after + comes one of {names}") from None
        return parsed

    @property
    def walks(self) -> bool:
        """Whether it needs a graph with a first step."""
        return kind_of(self.method).walks

    @property
    def reads(self) -> bool:
        """Whether it depends on the graph."""
        return kind_of(self.method).needs != "nothing"

    def prompting(self, usual: Prompting) -> Prompting:
        """The arm's prompts; `usual`: those of arms without a change."""
        if not self.but:
            return usual
        name, equals, value = self.but.partition("=")
        if not equals:
            return Prompting.usual(Prompting.model_validate({"words": name}).words)
        return Prompting.model_validate(usual.model_dump() | {name: value})

    def __str__(self) -> str:
        name = self.method if self.graph == "whole" else f"{self.method}/{self.graph}"
        return f"{name}+{self.but}" if self.but else name
