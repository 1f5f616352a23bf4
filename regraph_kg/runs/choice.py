"""Choices of a search: the defaults, those of --fast, those of a trace."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from regraph_kg.errors import BadInput
from regraph_kg.models.method import MethodSettings, Prompting, SearchLimits
from regraph_kg.models.model_spec import ModelSpec
from regraph_kg.models.run import SearchChoice
from regraph_kg.models.target import USUAL
from regraph_kg.search.methods import kind_of
from regraph_kg.search.run_record import OF_CHOICE, read_header

BUDGET = 50
DEFAULT_METHOD = "mcgs"
BY_FILE_PARALLEL, BY_FILE_SHARE = 8, 4
"""Most calls at once by file, and the share of all verdicts that they may be: later calls must
know of earlier ones."""
FAST_LIMITS: Mapping[str, float] = {"verdicts": 12, "seconds": 60.0}  # of --fast, unless given


def usual_choice(
    problem: str, model: str, *, method: str = DEFAULT_METHOD, fast: bool = False
) -> SearchChoice:
    """The default choice, or that of --fast; `BadInput` for a model that does not exist."""
    spec = ModelSpec.parse(model)
    usual = {"verdicts": BUDGET} | ({"calls": 0} if spec.kind == "none" else {})
    limits = SearchLimits.model_validate(usual | (dict(FAST_LIMITS) if fast else {}))
    return SearchChoice(
        problem=problem,
        target=USUAL,
        settings=usual_settings(method),
        prompting=Prompting(),
        limits=limits,
        parallel=usual_parallel(spec, limits),
        final="screening" if fast else "full",
        seed=0,
        model=spec,
        include_own=False,
    )


def usual_parallel(model: ModelSpec, limits: SearchLimits) -> int:
    """The default number of calls at once."""
    share = max(1, limits.verdicts // BY_FILE_SHARE)
    return min(BY_FILE_PARALLEL, share) if model.by_file else 1


def usual_settings(method: str) -> MethodSettings:
    return kind_of(method).settings.model_validate({})


def traced_choice(choice: SearchChoice, trace: Path) -> SearchChoice:
    """`choice` with the settings of a trace that is resumed."""
    was = read_header(trace)
    if was.graph != "whole":
        raise BadInput(
            f"{trace}: this search of a bench saw a changed graph ({was.graph});"
            " go on with the command of the bench"
        )
    kept = {name: getattr(was, name) for name in OF_CHOICE}
    return replace(choice, target=was.target, include_own=was.excluded is None, **kept)


def traced_model(trace: Path) -> dict[str, str]:
    """The settings that name a trace's model, as far as the trace holds them."""
    name = read_header(trace).model
    was = ModelSpec.traced(name)
    if was is None:
        return {}
    if was.by_file:  # a trace holds name and options, not the folder
        return {"batch_model": name.partition(":")[2].rsplit(" ", 2)[0]}
    return {"model": str(was)}
