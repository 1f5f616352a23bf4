"""`regraph optimize --dry-run`: the prompts and their cost before anything is spent.

The method runs until it waits for answers, which gives the first prompts. They give the estimate of
tokens; earlier traces of the same model give the time. No model is called, nothing is evaluated, no
trace is written. Not covered: prices; the time of several problems together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

import typer

from regraph_kg import report
from regraph_kg.cli.json_answers import answered
from regraph_kg.cli.options import Options, details_of, each_choice
from regraph_kg.cli.tables import counted
from regraph_kg.errors import RegraphError
from regraph_kg.models.prompt import Prompt
from regraph_kg.models.run import SearchChoice
from regraph_kg.runs.search import require_graph
from regraph_kg.search.context import Iteration
from regraph_kg.search.effects import Effects, ModelRequest
from regraph_kg.search.final_answer import FINALISTS
from regraph_kg.search.ledger import Ledger
from regraph_kg.search.methods import kind_of
from regraph_kg.search.run import begin
from regraph_kg.search.run_record import RunRecord
from regraph_kg.settings import Settings
from regraph_kg.wiring.searches import DrySearch, open_dry_search

BYTES_PER_TOKEN = 3
"""Bytes of a token of prompts; code has a few more, so that the estimate is rather high."""
_AT_ONCE = 8
"""Iterations that start to show prompts."""
_TRACES = 20
"""The latest traces that are looked at."""


@dataclass(frozen=True, slots=True)
class PastCosts:
    """Medians of earlier traces of a model and a judge, in seconds and tokens."""

    traces: int
    same_problem: bool
    call_seconds: float
    evaluation_seconds: float
    final_seconds: float
    """Seconds of one final measurement."""
    output_tokens: float


@dataclass(frozen=True, slots=True)
class EstimateAnswer:
    """The estimate of one search; tokens and minutes are upper bounds."""

    problem: str
    target: str
    method: str
    model: str
    calls: int
    """Calls for code."""
    thoughts: int
    prompt_tokens: int
    output_tokens: int
    minutes: float | None
    known: PastCosts | None
    first_prompt: Prompt

    @property
    def seconds(self) -> float | None:
        return None if self.minutes is None else self.minutes * 60


def preview(settings: Settings, options: Options, choice: SearchChoice) -> None:
    estimates = [estimate(settings, options.runs, task) for task in each_choice(choice, options)]
    if answered(estimates, options.as_json):
        return
    for answer in estimates:
        typer.echo(_text(answer))
        if details_of(options).prompt:
            typer.echo(_in_full(answer.first_prompt))
    if len(estimates) > 1:
        typer.echo(_total(estimates))


def estimate(settings: Settings, runs: Path, choice: SearchChoice) -> EstimateAnswer:
    """Estimate one search. `BadInput` for an unknown problem, or a graph without a first step."""
    with open_dry_search(settings, choice) as search:
        require_graph(search)
        prompts = first_prompts(search)
        header = search.header
    limits = header.limits
    thoughts = limits.calls if kind_of(header.method).thinks else 0
    requests = limits.calls + thoughts
    mean = fmean(tokens(prompt) for prompt in prompts)
    prompt_tokens, output_tokens = round(mean * requests), settings.model_max_tokens * requests
    if limits.tokens is not None:
        prompt_tokens = min(prompt_tokens, limits.tokens)
        output_tokens = min(output_tokens, limits.tokens)
    past = look_back(runs, choice, header.problem)
    return EstimateAnswer(
        problem=header.problem,
        target=header.target,
        method=header.method,
        model=str(choice.model),
        calls=limits.calls,
        thoughts=thoughts,
        prompt_tokens=prompt_tokens,
        output_tokens=output_tokens,
        known=past,
        minutes=None if past is None else duration(choice, requests, past) / 60,
        first_prompt=prompts[0],
    )


def tokens(prompt: Prompt) -> float:
    """Estimated tokens of a prompt."""
    return len((prompt.system + prompt.user).encode("utf-8", "replace")) / BYTES_PER_TOKEN


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


def look_back(runs: Path, choice: SearchChoice, problem: str) -> PastCosts | None:
    """Costs from the latest traces in `runs` of this model and target, of this problem if any."""
    latest = sorted(runs.glob("*.jsonl"), key=lambda path: path.stat().st_mtime, reverse=True)
    records = [record for record in (_read(path, choice) for path in latest[:_TRACES]) if record]
    same = [record for record in records if record.header.problem == problem]
    used = same or records
    if not used:
        return None
    replies = [reply for run in used for _, reply in run.answered]
    reports, finals = (
        [report.stages.get("total", 0.0) for reports in grade for report in reports.values()]
        for grade in ([run.reports for run in used], [run.finals for run in used])
    )
    return PastCosts(
        traces=len(used),
        same_problem=bool(same),
        call_seconds=_median([reply.seconds for reply in replies]),
        evaluation_seconds=_median(reports),
        final_seconds=_median(finals),
        output_tokens=_median([reply.output_tokens for reply in replies]),
    )


def _read(path: Path, choice: SearchChoice) -> RunRecord | None:
    """A trace's record; None for another target or model, an older version, or no call."""
    try:
        run = RunRecord.read(path)
    except RegraphError:
        return None
    fits = run.header.target == choice.target and choice.model.answered(run.header.model)
    return run if fits and run.answered else None


def _median(values: Sequence[float]) -> float:
    return median(values) if values else 0.0


def duration(choice: SearchChoice, requests: int, past: PastCosts) -> float:
    """Seconds at most: calls in their slots, evaluations beside them if there are several slots."""
    limits = choice.limits
    judged = min(limits.calls, limits.evaluations or limits.calls)
    model = requests * past.call_seconds / choice.parallel
    judge = judged * past.evaluation_seconds
    searching = model + judge if choice.parallel == 1 else max(model, judge)
    if limits.seconds is not None:
        searching = min(searching, limits.seconds)
    return searching + FINALISTS * past.final_seconds


def _text(answer: EstimateAnswer) -> str:
    thoughts = ", and as many for thoughts" if answer.thoughts else ""
    rows = {
        "method": answer.method,
        "model": f"{answer.model}: not asked",
        "calls": f"{answer.calls} at most{thoughts}",
        "tokens": f"about {answer.prompt_tokens} in prompts (like the first ones, at"
        f" {BYTES_PER_TOKEN} bytes a token); at most {answer.output_tokens} in answers",
        "time": _time(answer),
    }
    return "\n".join([f"{answer.problem} ({answer.target})", *map(_row, rows, rows.values())])


def _row(name: str, value: str) -> str:
    return f"  {name:<10}  {value}"


def _time(answer: EstimateAnswer) -> str:
    past = answer.known
    if past is None or answer.seconds is None:
        return "nothing is known: no earlier trace of this model and target"
    where = "of this problem" if past.same_problem else "of other problems"
    traces = counted(past.traces, "earlier trace")
    return (
        f"about {report.seconds(answer.seconds)}, if it goes as in {traces} {where}:"
        f" {report.seconds(past.call_seconds)} and {past.output_tokens:.0f} tokens a call,"
        f" {report.seconds(past.evaluation_seconds)} an evaluation"
    )


def _total(estimates: Sequence[EstimateAnswer]) -> str:
    calls = sum(estimate.calls + estimate.thoughts for estimate in estimates)
    prompt_tokens = sum(estimate.prompt_tokens for estimate in estimates)
    output_tokens = sum(estimate.output_tokens for estimate in estimates)
    return f"together\n{_row('calls', f'{calls} at most')}\n" + _row(
        "tokens", f"about {prompt_tokens} in prompts, at most {output_tokens} in answers"
    )


def _in_full(prompt: Prompt) -> str:
    """A prompt in full."""
    schema = "" if prompt.answer_schema is None else f"\n--- schema\n{prompt.answer_schema}"
    return f"--- system\n{prompt.system}\n--- user\n{prompt.user}{schema}\n---"
