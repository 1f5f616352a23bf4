"""Arms of a comparison: a method, its graph, and changes of its prompts."""

from dataclasses import dataclass
from typing import Self, get_args

from pydantic import ValidationError

from regraph_kg.errors import BadInput
from regraph_kg.models.method import Prompting
from regraph_kg.models.run import GraphShown
from regraph_kg.search.methods import METHODS, kind_of

USUAL = ("mcgs", "standard")
GRAPHS: tuple[GraphShown, ...] = get_args(GraphShown)


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm of a comparison at equal budgets."""

    method: str
    graph: GraphShown = "whole"
    but: str = ""  # the change of its prompts: NAME=VALUE of a setting

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse METHOD[/GRAPH][+CHANGE]; `BadInput` where the parts do not fit."""
        arm, _, but = text.partition("+")
        method, slash, named = arm.partition("/")
        if method not in METHODS:
            raise BadInput(f"arm {text!r}: methods are {', '.join(METHODS)}")
        # Without a graph named, an arm sees all of it.
        graph = named if slash else "whole"
        if graph not in GRAPHS:
            raise BadInput(f"arm {text!r}: after the slash comes one of {', '.join(GRAPHS)}")
        if slash and not kind_of(method).walks:
            raise BadInput(f"arm {text!r}: {method} reads no graph; leave out /{graph}")
        parsed = cls(method, graph, but)
        try:
            parsed.prompting(Prompting())
        except ValidationError:
            names = ", ".join(f"{field}=.." for field in Prompting.model_fields)
            raise BadInput(f"arm {text!r}: after + comes one of {names}") from None
        return parsed

    @property
    def walks(self) -> bool:
        """Whether it needs a graph with a first step."""
        return kind_of(self.method).walks

    def prompting(self, usual: Prompting) -> Prompting:
        """The arm's prompts; `usual`: those of arms without a change."""
        if not self.but:
            return usual
        name, _, value = self.but.partition("=")
        return Prompting.model_validate(usual.model_dump() | {name: value})

    def __str__(self) -> str:
        name = self.method if self.graph == "whole" else f"{self.method}/{self.graph}"
        return f"{name}+{self.but}" if self.but else name
