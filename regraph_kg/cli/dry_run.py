"""`regraph optimize --dry-run`: the first prompt, and what a search may send, before any is spent.

The method runs until it waits for answers, which gives the first prompts. No model is called,
nothing is evaluated, no trace is written. Not covered: prices and time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import typer

from regraph_kg.cli.json_answers import answered
from regraph_kg.models.prompt import Prompt
from regraph_kg.models.run import SearchChoice
from regraph_kg.runs.search import require_graph
from regraph_kg.search.context import Iteration
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods import kind_of
from regraph_kg.search.run import begin
from regraph_kg.search.world import Effects, ModelRequest
from regraph_kg.settings import Settings
from regraph_kg.wiring.searches import DrySearch, open_dry_search

BYTES_PER_TOKEN = 3
"""Bytes of a token of prompts; code has a few more, so that the estimate is rather high."""
_AT_ONCE = 8
"""Iterations that start to show prompts."""


@dataclass(frozen=True, slots=True)
class SearchEstimate:
    """What one search sends at most."""

    problem: str
    target: str
    method: str
    model: str
    calls: int
    """Calls for code."""
    thoughts: int
    """Calls besides them."""
    prompt_tokens: int
    """Tokens if each prompt were like the first ones."""
    output_tokens: int
    first_prompt: Prompt

    def __str__(self) -> str:
        prompt = self.first_prompt
        more = f", and {self.thoughts} more for thoughts" if self.thoughts else ""
        schema = f"--- schema\n{prompt.answer_schema}\n" if prompt.answer_schema else ""
        return (
            f"{self.problem} ({self.target}), {self.method}, {self.model} (not asked):\n"
            f"--- system\n{prompt.system}\n--- user\n{prompt.user}\n{schema}---\n"
            f"at most {self.calls} calls{more}: about {self.prompt_tokens} tokens in prompts like"
            f" this one ({BYTES_PER_TOKEN} bytes each), at most {self.output_tokens} in answers"
        )


def preview(settings: Settings, searches: Sequence[SearchChoice], *, as_json: bool) -> None:
    """Print what each search sends at most."""
    estimates = [estimate(settings, choice) for choice in searches]
    if not answered(estimates, as_json):
        for one in estimates:
            typer.echo(str(one))


def estimate(settings: Settings, choice: SearchChoice) -> SearchEstimate:
    """Estimate one search. `BadInput` for an unknown problem, or a graph without a first step."""
    with open_dry_search(settings, choice) as search:
        require_graph(search)
        prompts = first_prompts(search)
        header = search.header
    limits = header.limits
    requests = limits.calls * (2 if kind_of(header.method).thinks else 1)
    texts = [(prompt.system + prompt.user).encode("utf-8", "replace") for prompt in prompts]
    prompt_tokens = round(fmean(map(len, texts)) / BYTES_PER_TOKEN * requests)
    output_tokens = settings.model_max_tokens * requests
    most = limits.tokens
    return SearchEstimate(
        problem=header.problem,
        target=header.target,
        method=header.method,
        model=str(choice.model),
        calls=limits.calls,
        thoughts=requests - limits.calls,
        prompt_tokens=prompt_tokens if most is None else min(prompt_tokens, most),
        output_tokens=output_tokens if most is None else min(output_tokens, most),
        first_prompt=prompts[0],
    )


def first_prompts(search: DrySearch) -> tuple[Prompt, ...]:
    """The prompts that the first iterations wait for; equal ones once."""
    ledger = Ledger(search.header.limits)
    method = begin(search.task, search.header, search.world, ledger)
    prompts, waiting = dict[str, Prompt](), list[Effects[Iteration]]()
    while ledger.left > 0 and len(waiting) < _AT_ONCE and (work := method.iteration()):
        waiting.append(work)  # one that is dropped gives its call back
        effect = next(work, None)
        assert isinstance(effect, ModelRequest), "nothing is evaluated before an answer"
        prompts[effect.prompt.key.model_dump_json()] = effect.prompt
    return tuple(prompts.values())
