"""Results as tables for a terminal, a document or a page.

Only runs of one bench and one circumstance are compared: same model, judge, prompts, device,
toolchain and metric. Others have sections of their own.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.bench.figures import (
    FEWEST,
    START,
    Mean,
    Measure,
    built,
    by_problem,
    differences,
    log_speedup,
    mean_of,
    mean_ratio,
    mean_share,
    right,
    solved,
    starts,
)
from benchmarks.bench.record import KINDS, BenchResults, BenchRun
from regraph_kg.models.target import Target
from regraph_kg.models.text import seconds, times


@dataclass(frozen=True, slots=True)
class BenchTable:
    """A heading, and rows below column names; the first column is words, the others figures."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    numbers: bool = True  # whether all columns but the first are figures


@dataclass(frozen=True, slots=True)
class BenchSection:
    """The tables of one circumstance."""

    title: str
    facts: dict[str, str]
    tables: tuple[BenchTable, ...]
    notes: tuple[str, ...]


def sections(results: BenchResults) -> tuple[BenchSection, ...]:
    """A section for each circumstance of a bench's runs; one for a target of which nothing ran."""
    groups: dict[tuple[str, ...], list[BenchRun]] = {}
    for run in results.runs:
        groups.setdefault(_circumstance(run), []).append(run)
    found = [_section(results, runs) for runs in groups.values()]
    ran = {run.target for run in results.runs}
    for target in sorted({out.target for out in results.left_out} - ran):
        table = _left_out_table(results, target)
        found.append(BenchSection(f"{results.suite}, {target}: nothing ran", {}, (table,), ()))
    return tuple(found)


def _circumstance(run: BenchRun) -> tuple[str, ...]:
    """Values that are equal where runs are compared."""
    judged = run.judge, run.prompts, run.device, run.toolchain, run.metric
    return (run.target, _model(run), *judged)


def _model(run: BenchRun) -> str:
    """The model; recorded answers of all problems are one model."""
    return "recorded" if run.model.startswith("recorded:") else run.model


def _section(file: BenchResults, runs: Sequence[BenchRun]) -> BenchSection:
    target = runs[0].target
    by_arm = {arm: mine for arm in file.arms if (mine := [run for run in runs if run.arm == arm])}
    # What rules made of the serial code is compared as if it were an arm.
    compared = by_arm | ({START: alone} if (alone := starts(runs)) else {})
    names = [set(by_problem(mine, solved)) for mine in by_arm.values()]
    tables = [
        _arms_table(compared, len(set().union(*names))),
        _costs_table(by_arm),
        _kinds_table(by_arm),
        _paired_table(compared),
        _problems_table(compared),
        _left_out_table(file, target),
    ]
    note = (
        "Not all arms were run on the same problems: figures of different problems do not compare,"
        " those beside the first arm do."
    )
    model = _model(runs[0]).partition("@")[0]
    return BenchSection(
        title=f"{file.suite}, {target}, {model}, {file.calls} calls",
        facts=_facts(file, runs),
        tables=tuple(table for table in tables if table.rows),
        notes=(note,) if any(problems != names[0] for problems in names) else (),
    )


def _left_out_table(file: BenchResults, target: Target) -> BenchTable:
    rows = sorted({(out.name, out.why) for out in file.left_out if out.target == target})
    return BenchTable("Left out", ("problem", "why"), tuple(rows), numbers=False)


def _facts(file: BenchResults, runs: Sequence[BenchRun]) -> dict[str, str]:
    """What the figures depend on, in words."""
    run, planned = runs[0], file.searches.get(runs[0].target, 0)
    graph = ", ".join(f"{count} {name}" for name, count in file.graph.items())
    return {
        "model": _model(run),
        "device": run.device,
        "toolchain": run.toolchain,
        "judge": f"{run.judge}, finals of grade {file.final}",
        "prompts": run.prompts,
        "graph": graph or "not read",
        "metric": run.metric,
        "problems": str(sum(problem.target == run.target for problem in file.problems)),
        "begun": file.created,
        "command": file.command,
        "searches": f"{len(runs)} of {planned} are done" if len(runs) < planned else str(len(runs)),
    }


def _arms_table(by_arm: Mapping[str, Sequence[BenchRun]], problems: int) -> BenchTable:
    """The figures of each arm on its problems."""
    counts = {arm: len(by_problem(runs, solved)) for arm, runs in by_arm.items()}
    same = all(count == problems for count in counts.values())
    rows = []
    for arm, runs in by_arm.items():
        # The start alone has no answers: its figures of answers are left blank.
        answered = [] if arm == START else runs
        rows.append(
            (
                arm,
                str(counts[arm]) if same else f"{counts[arm]} of {problems}",
                f"{sum(run.cost.calls for run in runs) / len(runs):.3g}",
                _share(mean_share(by_problem(runs, solved).values())),
                _ratio(mean_ratio(by_problem(runs, log_speedup).values())),
                _share(mean_of(by_problem(answered, built).values())),
                _share(mean_of(by_problem(answered, right).values())),
            )
        )
    note = (
        f"In brackets the 95 % interval over problems, from {FEWEST} problems on. Calls: of a"
        " search, on the mean. Solved: verified and surely faster than the serial code. Speedup:"
        " geometric mean, 1 where nothing is surely faster. An interval without width says that all"
        " problems agree, not that nothing else can be."
    )
    if START in by_arm:
        note += (
            f" {START.capitalize()}: the program that was made of the serial code, without a model,"
            " and that all arms began with, as screened."
        )
    columns = ("arm", "problems", "calls", "solved", "speedup", "build@1", "pass@1")
    return BenchTable("Arms", columns, tuple(rows), note)


def _costs_table(by_arm: Mapping[str, Sequence[BenchRun]]) -> BenchTable:
    """What each arm spent."""
    rows = []
    for arm, runs in by_arm.items():
        costs = [run.cost for run in runs]
        rows.append(
            (
                arm,
                str(len(runs)),
                str(sum(cost.calls for cost in costs)),
                str(sum(run.by_rule for run in runs)),
                str(sum(cost.prompt_tokens + cost.output_tokens for cost in costs)),
                seconds(sum(cost.model_seconds for cost in costs)),
                seconds(sum(cost.judge_seconds for cost in costs)),
                str(sum(run.unrecorded for run in runs)),
            )
        )
    named = ("arm", "searches", "calls", "by rule", "tokens", "model", "judge", "without answer")
    return BenchTable(
        "What they cost",
        named,
        tuple(rows),
        "By rule: verdicts on what rules made, without a call. Without answer: prompts of which"
        " no answer is recorded.",
    )


def _kinds_table(by_arm: Mapping[str, Sequence[BenchRun]]) -> BenchTable:
    """Counts of answers by kind and arm."""
    counts = {
        arm: Counter(answer.kind for run in runs for answer in run.answers)
        for arm, runs in by_arm.items()
    }
    kinds = [kind for kind in KINDS if any(count[kind] for count in counts.values())]
    return BenchTable(
        "Answers",
        ("arm", *kinds),
        tuple((arm, *(str(count[kind]) for kind in kinds)) for arm, count in counts.items()),
    )


def _paired_table(by_arm: Mapping[str, Sequence[BenchRun]]) -> BenchTable:
    """The other arms beside the first one that was asked for."""
    (beside, first), *others = by_arm.items()
    rows = []
    for arm, runs in others:

        def points(measure: Measure, runs: Sequence[BenchRun] = runs) -> str:
            found = mean_of(differences(runs, first, measure))
            return _with_interval(found, lambda value: f"{100 * value:+.0f}")

        gain = mean_ratio(differences(runs, first, log_speedup))
        if gain is not None:
            passed = "" if arm == START else points(right)
            rows.append((arm, str(gain.problems), points(solved), passed, _ratio(gain)))
    return BenchTable(
        f"Beside {beside}",
        ("arm", "problems", "solved", "pass@1", "speedup"),
        tuple(rows),
        "Differences on the same problems, in points of 100; speedups as ratios.",
    )


def _problems_table(by_arm: Mapping[str, Sequence[BenchRun]]) -> BenchTable:
    """Speedup and right answers of each problem."""
    names = sorted({run.problem for runs in by_arm.values() for run in runs})
    rows = tuple(
        (name, *(_cell([run for run in runs if run.problem == name]) for runs in by_arm.values()))
        for name in names
    )
    return BenchTable(
        "Problems",
        ("problem", *by_arm),
        rows,
        "The answer's speedup (the best of several seeds; - where nothing is surely faster), and"
        " right answers of all.",
    )


def _cell(runs: Sequence[BenchRun]) -> str:
    if not runs:
        return ""
    best = max(runs, key=lambda run: run.speedup)
    answers = [answer for run in runs for answer in run.answers]
    text = times(best.speedup) if best.improved else "-"
    passed = sum(answer.right for answer in answers)
    return text if best.arm == START else f"{text} ({passed} of {len(answers)})"


def _share(mean: Mean | None) -> str:
    """Percent."""
    return _with_interval(mean, lambda value: f"{100 * value:.0f}", " %")


def _ratio(mean: Mean | None) -> str:
    return _with_interval(mean, times)


def _with_interval(mean: Mean | None, show: Callable[[float], str], unit: str = "") -> str:
    """A mean with its interval, if it has one."""
    if mean is None:
        return ""
    if mean.interval is None:
        return f"{show(mean.value)}{unit}"
    low, high = mean.interval
    return f"{show(mean.value)}{unit} ({show(low)} to {show(high)})"
