"""The methods by name: what each needs, and how its search begins.

A method chooses what to ask for; what all of them share is around this folder. A new one is a file
here, and its lines in `METHODS` and `_kinds`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from regraph_kg.errors import BadInput
from regraph_kg.models.method import MethodSettings

if TYPE_CHECKING:
    from regraph_kg.search.context import Context, Method

METHODS: Mapping[str, str] = {
    "mcgs": "Monte Carlo graph search: the step of the largest expected improvement is next.",
    "mcgs-paper": "The paper's MCGS: selection by P-UCB, rollouts; every step is a new call.",
    "regrapht": "Random walks on the graph, begun again after a failure or at a dead end.",
    "standard": "One prompt a sample until the budget is spent, no graph: the best of n counts.",
}
"""Name -> what the method is; it loads none of them, as the command line's help needs no more."""


@dataclass(frozen=True, slots=True)
class MethodKind:
    """A method as it is begun."""

    settings: type[MethodSettings]
    begin: "Callable[[Context, Any], Method]"  # a search, with settings of the kind above
    walks: bool = False  # whether it walks the graph


def kind_of(name: str) -> MethodKind:
    """The method of this name; `BadInput` where there is none."""
    if name not in METHODS:
        raise BadInput(f"method {name!r} is not one of {', '.join(map(repr, METHODS))}")
    return _kinds()[name]


def read_settings(raw: Mapping[str, Any]) -> MethodSettings:
    """Settings as a trace holds them, with their "method"; `BadInput` for an unknown one.

    Raises `ValidationError` for settings that the method does not have.
    """
    return kind_of(str(raw["method"])).settings.model_validate(raw)


@cache
def _kinds() -> Mapping[str, MethodKind]:
    # they load the prompts and a parser, which help texts and most commands do not need
    from regraph_kg.search.methods import mcgs, samples  # noqa: PLC0415

    return {
        # three rules of one search
        "mcgs": MethodKind(
            mcgs.McgsSettings, lambda c, s: mcgs.Mcgs(c, mcgs.ExpectedImprovement(c, s)), walks=True
        ),
        "mcgs-paper": MethodKind(
            mcgs.PaperSettings, lambda c, s: mcgs.Mcgs(c, mcgs.PaperBound(c, s)), walks=True
        ),
        "regrapht": MethodKind(
            mcgs.ReGraphTSettings, lambda c, s: mcgs.Mcgs(c, mcgs.Uniform(c, s)), walks=True
        ),
        "standard": MethodKind(samples.StandardSettings, lambda c, _: samples.Samples(c)),
    }
