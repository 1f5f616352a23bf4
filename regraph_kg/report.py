"""A search's records and result in words: lines, rows of tables, reasons."""

import math
from collections.abc import Mapping, Sequence

from regraph_kg.models.evaluation import Outcome
from regraph_kg.models.run import CommonFailure, Cost, RunSummary, StepRecord, Stopped, TakenBack
from regraph_kg.models.text import counted, seconds, times

_DIAGNOSIS = 200  # characters of a failure's diagnosis that a table shows
_STOPPED: Mapping[Stopped, str] = {
    "verdicts": "",
    "calls": "what is left to try needs a model, and no calls of one were left",
    "tokens": "no tokens were left",
    "seconds": "its time was over",
    "unreadable": "no code was found in one answer after another: try another --model, a larger"
    " REGRAPH_MODEL_MAX_TOKENS where answers are cut, or a larger limit.unreadable",
    "exhausted": "nothing is left to try",
}


def path(elements: Sequence[str]) -> str:
    """Path elements as a walk: "start > tiling > simd#1", targets dropped."""
    return " > ".join(["start", *(element.partition("/")[2] for element in elements)])


def counts(numbers: Mapping[str, int]) -> str:
    """Counts by name, most first: "14 right, 3 did not compile"."""
    # equal counts stand in a fixed order, so that two outputs can be compared
    ordered = sorted(numbers.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} {name}" for name, count in ordered) or "none"


def failure(commonest: CommonFailure | None) -> str:
    """The commonest failure, if any: "mostly without code, 4 times: the answer is empty"."""
    if commonest is None:
        return ""
    diagnosis = commonest.diagnosis
    if len(diagnosis) > _DIAGNOSIS:
        diagnosis = f"{diagnosis[:_DIAGNOSIS]}.."
    ended = commonest.outcome.words
    text = f"mostly {ended}, {commonest.count} times" if commonest.count > 1 else f"{ended}, once"
    return f"{text}: {diagnosis}" if diagnosis else text


def taken_back(best: TakenBack | None) -> str:
    """The best that is no answer, if any: "1.97x in the search, measured again 1.02x (..)"."""
    if best is None:
        return ""
    text = f"{times(best.searched)} in the search"
    if not best.outcome.is_right:
        return f"{text}, but measured again it is not right: {best.outcome.words}"
    spread = "" if best.interval is None else f" (95 %: {best.interval.as_times})"
    if best.speedup is None:
        return f"{text}, but measured again its time is not known{spread}"
    return f"{text}, but {times(best.speedup)}{spread} measured again: not surely faster"


def step_line(step: StepRecord) -> str:
    """A step's speedup or outcome, who made it, its path, its own gain where that is known."""
    who = "model" if step.cost.calls else "rule"
    gain = "" if step.gain is None else f", {times(math.exp(step.gain))} by this step"
    return f"{_outcome(step):>6}  by {who:<5}  {path(step.path)}{gain}"


def headline(summary: RunSummary) -> str:
    """The result of a run in one line; only re-measured speedups are in it."""
    what = f"{summary.problem} ({summary.target})"
    if not summary.improved or summary.speedup_interval is None:
        return f"{what}: no improvement found; the serial code is the answer"
    spread = summary.speedup_interval.as_times
    return f"{what}: {times(summary.speedup)} faster than the serial code (95 %: {spread})"


def run_table(summary: RunSummary, files: Mapping[str, str], *, walks: bool) -> str:
    """`run_rows` as text, and `files`."""
    rows = run_rows(summary, walks=walks) | dict(files)
    return "\n".join(f"  {name:<10}  {value}" for name, value in rows.items() if value)


def run_rows(summary: RunSummary, *, walks: bool) -> dict[str, str]:
    """The result's origin and cost; unknown is "". `walks`: whether the method walks the graph."""
    way = path(summary.best_path)
    if summary.improved and not summary.best_path:
        way = "start: made of the serial code by rules, by no model"
    return {
        "path": way if walks else "",
        "method": f"{summary.method}, seed {summary.seed}",
        "device": f"{summary.device}, {summary.toolchain}",
        "model": summary.model,
        "measured": "" if summary.final == "full" else "the best again, as in the search (quick)",
        **_course(summary),
        "best seen": taken_back(summary.taken_back),
        "failures": failure(summary.failure),
        **_price(summary.cost, summary.active_seconds),
        "no answer": f"{counted(summary.unrecorded, 'step')} skipped: nobody had an answer for them"
        if summary.unrecorded
        else "",
        "left out": f"{summary.excluded}'s own examples (run.include_own=yes reads them)"
        if summary.excluded and walks
        else "",
    }


def _course(summary: RunSummary) -> dict[str, str]:
    """The search's course: verdicts, end, limits, outcomes."""
    cost, budget = summary.cost, summary.limits
    calls, iterations = counted(cost.calls, "call"), counted(summary.iterations, "iteration")
    verdicts = f"{cost.verdicts} of {budget.verdicts}, {calls} of the model, in {iterations}"
    more = [
        "" if budget.calls is None else counted(budget.calls, "call"),
        "" if budget.tokens is None else counted(budget.tokens, "token"),
        "" if budget.seconds is None else seconds(budget.seconds),
        f"{summary.parallel} at once" if summary.parallel > 1 else "",
    ]
    return {
        "verdicts": verdicts,
        "stopped": _STOPPED[summary.stopped],
        "roof": str(summary.roof or ""),
        "limits": ", ".join(filter(None, more)),
        "answers": counts({Outcome(o).words: count for o, count in summary.outcomes.items()}),
    }


def _price(cost: Cost, active: float) -> dict[str, str]:
    """A search's cost besides its calls."""
    tokens = cost.prompt_tokens + cost.output_tokens
    return {
        "tokens": f"{cost.prompt_tokens} in, {cost.output_tokens} out" if tokens else "",
        "time": f"{seconds(active)}: model {seconds(cost.model_seconds)},"
        f" judge {seconds(cost.judge_seconds)} ({counted(cost.evaluations, 'evaluation')})",
    }


def _outcome(step: StepRecord) -> str:
    if step.outcome is None:
        return "no recorded answer"
    if step.fell:
        return f"screened before more is built on it: {step.outcome.words}"
    return step.outcome.words if step.speedup is None else times(step.speedup)
