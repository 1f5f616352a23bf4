"""Arms of a comparison: a method, its graph, and a change of its prompts, settings or model."""

from dataclasses import dataclass
from typing import Self, get_args

from pydantic import BaseModel, ValidationError

from regraph_kg.errors import BadInput
from regraph_kg.models.method import MethodSettings, Prompting
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.run import GraphShown
from regraph_kg.runs.choice import usual_settings
from regraph_kg.search.methods import METHODS, kind_of

USUAL = ("mcgs", "standard")
GRAPHS: tuple[GraphShown, ...] = get_args(GraphShown)


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm of a comparison at equal budgets."""

    method: str
    graph: GraphShown = "whole"
    but: str = ""  # NAME=VALUE of a setting of its prompts or method, or model=none

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
        fields = [*Prompting.model_fields, *type(usual_settings(method)).model_fields]
        fields.remove("method")
        try:
            parsed.prompting(Prompting())
            parsed.settings()
            known = but in ("", "model=none") or parsed._name in fields
        except ValidationError:
            known = False
        if not known:
            names = ", ".join(f"{field}=.." for field in fields)
            raise BadInput(f"arm {text!r}: after + comes one of model=none, {names}")
        return parsed

    @property
    def walks(self) -> bool:
        """Whether it needs a graph with a first step."""
        return kind_of(self.method).walks

    def prompting(self, usual: Prompting) -> Prompting:
        """The arm's prompts; `usual`: those of arms without a change."""
        return Prompting.model_validate(usual.model_dump() | self._change_of(Prompting))

    def settings(self) -> MethodSettings:
        """The method's, with the arm's change."""
        usual = usual_settings(self.method)
        return type(usual).model_validate(usual.model_dump() | self._change_of(type(usual)))

    def model(self, usual: ModelSpec) -> ModelSpec:
        """The model that the arm asks; `usual`: that of the bench."""
        return ModelSpec.parse("none") if self.but == "model=none" else usual

    @property
    def _name(self) -> str:
        return self.but.partition("=")[0]

    def _change_of(self, kind: type[BaseModel]) -> dict[str, str]:
        return {self._name: self.but.partition("=")[2]} if self._name in kind.model_fields else {}

    def __str__(self) -> str:
        name = self.method if self.graph == "whole" else f"{self.method}/{self.graph}"
        return f"{name}+{self.but}" if self.but else name
