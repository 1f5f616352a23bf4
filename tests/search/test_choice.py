"""What a command line makes of a search: defaults, --fast, --set."""

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from regraph_kg.cli.optimize import Options, choose, resume_command
from regraph_kg.errors import BadInput
from regraph_kg.models.method import Prompting, SearchLimits
from regraph_kg.models.run import SearchChoice
from regraph_kg.search.methods import METHODS, kind_of
from regraph_kg.search.trace import Trace
from tests.search.toy import SEAL, header

NOTHING = Options(problem="scale")  # a command line with a problem and no option


def chosen(model: str = "ollama:tiny", **typed: object) -> SearchChoice:
    return choose(replace(NOTHING, **typed), model)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", tuple(METHODS))
def test_without_options_every_method_has_its_defaults(method: str) -> None:
    choice = chosen(method=method)
    assert choice.settings == kind_of(method).settings()
    assert (choice.limits, choice.prompting) == (SearchLimits(verdicts=50), Prompting())
    assert (choice.parallel, choice.final, choice.seed) == (1, "full", 0)


def test_fast_bounds_time_and_verdicts() -> None:
    choice = chosen(fast=True)
    assert choice.settings == kind_of("mcgs").settings()
    assert choice.limits == SearchLimits(verdicts=12, seconds=60)
    assert choice.prompting == Prompting()
    assert choice.final == "screening"


def test_without_a_model_none_is_called() -> None:
    assert chosen(model="none").limits == SearchLimits(verdicts=50, calls=0)
    assert chosen(model="none", sets=("limit.calls=none",)).limits == SearchLimits(verdicts=50)


def test_what_is_typed_goes_before_fast() -> None:
    sets = ("depth=5", "prompt.prefill=no", "run.final=full")
    choice = chosen(fast=True, budget=99, sets=sets)
    assert choice.limits == SearchLimits(verdicts=99, seconds=60)
    assert choice.prompting == Prompting(prefill=False)
    assert choice.final == "full"
    assert choice.settings.model_dump()["depth"] == 5


@pytest.mark.parametrize("method", tuple(METHODS))
def test_every_setting_of_every_method_can_be_set(method: str) -> None:
    for name, value in kind_of(method).settings().model_dump().items():
        if name != "method":
            text = f"{name}={7 if value is None else value}"
            settings = chosen(method=method, sets=(text,)).settings
            assert settings.model_dump()[name] == (7 if value is None else value)


def test_every_setting_of_the_prompts_can_be_set() -> None:
    both = chosen(sets=("prompt.prefill=no", "depth=2"))
    assert (both.prompting, both.settings.model_dump()["depth"]) == (Prompting(prefill=False), 2)


def test_a_bound_can_be_set_and_taken_away() -> None:
    assert chosen(method="regrapht", sets=("attempts=5",)).settings.model_dump()["attempts"] == 5
    choice = chosen(method="regrapht", sets=("attempts=5", "attempts=none"))
    assert choice.settings.model_dump()["attempts"] is None


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ({"sets": ("depth",)}, "set 'depth': mcgs knows depth, "),
        ({"sets": ("method=cot",)}, "set 'method=cot': mcgs knows depth, "),
        ({"method": "standard", "sets": ("depth=1",)}, "standard knows no setting"),
        ({"sets": ("prompt.depth=1",)}, "set 'prompt.depth=1': a prompt knows prefill;"),
        ({"sets": ("depth=none",)}, "--set depth=None: it should be a valid integer"),
        ({"sets": ("limit.verdicts=3",)}, "set 'limit.verdicts=3': a limit knows calls, "),
        ({"sets": ("run.target=cuda",)}, "set 'run.target=cuda': a run knows final, "),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(typed: dict[str, object], says: str) -> None:
    with pytest.raises(BadInput) as refused:
        chosen(**typed)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("depth=deep", "it should be a valid integer"),
        ("run.final=fast", "it should be '"),
        ("run.seed=one", "it should be a valid integer"),
        ("limit.seconds=inf", "give a finite number"),
        ("limit.seconds=0.0", "it should be greater than 0"),
        ("limit.tokens=-1", "it should be greater"),
        ("limit.calls=-1", "it should be greater"),
        ("prompt.prefill=perhaps", "it should be a valid boolean"),
    ],
)
def test_what_is_set_is_checked_as_an_option_is(text: str, why: str) -> None:
    with pytest.raises(BadInput) as refused:
        chosen(sets=(text,))
    assert f"--set {text}: {why}" in str(refused.value)


def test_a_resumed_search_is_what_its_trace_says(tmp_path: Path) -> None:
    was = header(
        settings=kind_of("regrapht").settings.model_validate({"steps": 2}),
        limits=SearchLimits(verdicts=7, tokens=900),
        prompting=Prompting(prefill=False),
        parallel=3,
        seed=4,
        final="screening",
    )
    with Trace.create(tmp_path, was, SEAL) as trace:
        path = trace.path
    choice = chosen(resume=path)
    assert (choice.settings, choice.limits, choice.prompting) == (
        was.settings,
        was.limits,
        was.prompting,
    )
    assert (choice.parallel, choice.seed, choice.final) == (3, 4, "screening")
    assert choice.include_own


def test_the_command_that_goes_on_names_what_no_trace_holds() -> None:
    options = Options(problem="x y", model="ollama:a b", fast=True, output=Path("o"))
    words = shlex.split(resume_command(options, Path("t")))
    assert words == [
        *("regraph", "optimize", "x y", "--resume", "t"),
        *("--model", "ollama:a b", "--output", "o"),
    ]
