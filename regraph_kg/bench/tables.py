"""Results as tables for a terminal, a document or a page.

Only runs of one circumstance are compared: same model, judge, prompts, device, toolchain, metric,
graph, budget and suite. Others have sections of their own; so have files that hold the
same searches, or problems of one name that are not the same.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from regraph_kg import report
from regraph_kg.bench.figures import (
    FEWEST,
    START,
    ArmFigures,
    Mean,
    PairedDifference,
    by_problem,
    figures,
    log_speedup,
    paired,
    solved,
    starts,
)
from regraph_kg.models.bench import KINDS, AnswerExample, BenchResults, BenchRun
from regraph_kg.models.target import Target

KS = (1, 5)
_NOT_THE_SAME = (
    "Not all arms were run on the same problems: figures of different problems do not compare,"
    " those beside the first arm do."
)


@dataclass(frozen=True, slots=True)
class BenchTable:
    """A heading, and rows below column names; the first column is words, the others figures."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    numbers: bool = True
    """Whether all columns but the first are figures."""


@dataclass(frozen=True, slots=True)
class BenchSection:
    """The tables of one circumstance."""

    title: str
    facts: dict[str, str]
    tables: tuple[BenchTable, ...]
    notes: tuple[str, ...]
    examples: tuple[AnswerExample, ...]
    """Failed answers, one of each kind."""


def sections(results: Sequence[BenchResults]) -> tuple[BenchSection, ...]:
    """A section for each circumstance of the runs in `results`, which may be of several files."""
    return tuple(section for files in _grouped(results) for section in _sections(files))


def _sections(files: Sequence[BenchResults]) -> Iterator[BenchSection]:
    by_circumstance: dict[tuple[str, ...], list[tuple[BenchResults, BenchRun]]] = {}
    for file in files:
        for run in file.runs:
            by_circumstance.setdefault(_circumstance(file, run), []).append((file, run))
    yield from map(_section, by_circumstance.values())
    ran = {run.target for file in files for run in file.runs}
    for target in sorted({out.target for file in files for out in file.left_out} - ran):
        table = _left_out_table(files, target)
        yield BenchSection(f"{files[0].suite}, {target}: nothing ran", {}, (table,), (), ())


def _grouped(results: Sequence[BenchResults]) -> list[list[BenchResults]]:
    """Groups of files of one bench: no search twice, no two problems of one name."""
    groups: list[list[BenchResults]] = []
    for file in results:
        group = next(
            (files for files in groups if all(_comparable(file, other) for other in files)), None
        )
        if group is None:
            groups.append(group := [])
        group.append(file)
    return groups


def _comparable(a: BenchResults, b: BenchResults) -> bool:
    digests = {(p.name, p.target): p.digest for p in a.problems}
    same = all(digests.get((p.name, p.target), p.digest) == p.digest for p in b.problems)
    searches = [{(*_circumstance(file, run), run.place) for run in file.runs} for file in (a, b)]
    return same and searches[0].isdisjoint(searches[1])


def _circumstance(file: BenchResults, run: BenchRun) -> tuple[str, ...]:
    """Values that are equal where runs are compared."""
    return (
        *(file.version, file.suite, file.answers, str(file.calls), file.final),
        *(file.graph.get("statistics", ""), file.graph.get("embeddings", "")),
        *(run.target, _model(run), run.judge, run.prompts, run.device, run.toolchain, run.metric),
    )


def _model(run: BenchRun) -> str:
    """The model; recorded answers of all problems are one model."""
    return "recorded" if run.model.startswith("recorded:") else run.model


def _section(pairs: Sequence[tuple[BenchResults, BenchRun]]) -> BenchSection:
    first, run = pairs[0]
    runs = [run for _, run in pairs]
    files = list({id(file): file for file, _ in pairs}.values())
    names = dict.fromkeys(arm for file in files for arm in file.arms)
    by_arm = {arm: mine for arm in names if (mine := [run for run in runs if run.arm == arm])}
    begun = {START: alone} if (alone := starts(runs)) else {}
    arms = [figures(arm, mine, KS) for arm, mine in by_arm.items()]
    problems = len({run.problem for run in runs})
    differing = any(arm.problems < problems for arm in arms)
    compared = by_arm | begun
    notes = (note for file in files for note in file.notes)
    tables = [
        _arms_table([*arms, *(figures(arm, runs, KS) for arm, runs in begun.items())], problems),
        _costs_table(arms, by_arm),
        _kinds_table(by_arm),
        _paired_table(list(_differences(compared))),
        _problems_table(compared),
        _tiers_table(files, run.target, compared),
        _left_out_table(files, run.target),
    ]
    judged = ", answers kept of an earlier bench, judged again" if first.answers == "kept" else ""
    return BenchSection(
        title=f"{first.suite}, {run.target}, {_model(run).partition('@')[0]}, {first.calls} calls",
        facts=_facts(first, run, files)
        | {"searches": _progress(runs, files, run.target)}
        | {"answers": f"{first.answers}{judged}"},
        tables=tuple(table for table in tables if table.rows),
        notes=((_NOT_THE_SAME,) if differing else ()) + tuple(dict.fromkeys(notes)),
        examples=_examples(files, run.target),
    )


def _examples(files: Sequence[BenchResults], target: Target) -> tuple[AnswerExample, ...]:
    """The shortest example of each kind."""
    shortest: dict[str, AnswerExample] = {}
    examples = [example for file in files for example in file.examples if example.target == target]
    for example in sorted(examples, key=lambda example: len(example.text)):
        shortest.setdefault(example.kind, example)
    return tuple(shortest[kind] for kind in KINDS if kind in shortest)


def _left_out_table(files: Sequence[BenchResults], target: Target) -> BenchTable:
    left_out = [out for file in files for out in file.left_out if out.target == target]
    rows = sorted({(out.name, out.why) for out in left_out})
    return BenchTable("Left out", ("problem", "why"), tuple(rows), numbers=False)


def _facts(first: BenchResults, run: BenchRun, files: Sequence[BenchResults]) -> dict[str, str]:
    graph = ", ".join(f"{count} {name}" for name, count in first.graph.items())
    problems = {(p.name) for file in files for p in file.problems if p.target == run.target}
    return {
        "model": _model(run),
        "device": f"{run.device} ({first.machine.get(run.target, '')})",
        "toolchain": run.toolchain,
        "judge": f"{run.judge}, finals of grade {first.final}",
        "prompts": run.prompts,
        "graph": graph or "not read",
        "metric": run.metric,
        "problems": str(len(problems)),
        "begun": ", ".join(sorted({file.created for file in files})),
        "command": first.command,
    }


def _progress(runs: Sequence[BenchRun], files: Sequence[BenchResults], target: Target) -> str:
    planned = sum(file.searches.get(target, 0) for file in files)
    return f"{len(runs)} of {planned} are done" if len(runs) < planned else str(len(runs))


def _arms_table(arms: Sequence[ArmFigures], problems: int) -> BenchTable:
    """The figures of each arm on its problems."""
    ks = sorted({k for arm in arms for k, rate in arm.passed.items() if rate})
    same_problems = all(arm.problems == problems for arm in arms)
    rates: list[tuple[str, Callable[[ArmFigures], str]]] = [
        ("problems", lambda arm: f"{arm.problems}{'' if same_problems else f' of {problems}'}"),
        ("calls", lambda arm: f"{arm.calls / arm.runs:.3g}"),
        ("solved", lambda arm: _share(arm.solved)),
        ("speedup", lambda arm: _ratio(arm.gain)),
    ]
    for k in ks:  # a default argument binds the present k
        rates += [
            (f"build@{k}", lambda arm, k=k: _share(arm.build.get(k))),  # type: ignore[misc]
            (f"pass@{k}", lambda arm, k=k: _share(arm.passed.get(k))),  # type: ignore[misc]
            (f"speedup@{k}", lambda arm, k=k: _plain(arm.speedup.get(k))),  # type: ignore[misc]
        ]
    if any(arm.roof for arm in arms):
        rates.append(("of the roof", lambda arm: _share(arm.roof)))
    return BenchTable(
        "Arms",
        ("arm", *(name for name, _ in rates)),
        tuple((arm.arm, *(show(arm) for _, show in rates)) for arm in arms),
        f"In brackets the 95 % interval over problems, from {FEWEST} problems on. Calls: of"
        " a search, on the mean. Solved: verified and surely faster than the serial code. Speedup:"
        " geometric mean, 1 where nothing is surely faster. An interval without width says that all"
        " problems agree, not that nothing else can be. At k > 1 only arms whose answers know"
        " nothing of each other. Of the roof: where it is known."
        + (
            f" {START.capitalize()}: the program that was made of the serial code, without a model,"
            " and that all arms began with, as screened."
            if any(a.arm == START for a in arms)
            else ""
        ),
    )


def _costs_table(arms: Sequence[ArmFigures], by_arm: dict[str, list[BenchRun]]) -> BenchTable:
    unrecorded = {arm: sum(run.unrecorded for run in runs) for arm, runs in by_arm.items()}
    by_rule = {arm: sum(run.by_rule for run in runs) for arm, runs in by_arm.items()}
    missing, energy = any(unrecorded.values()), any(arm.joules for arm in arms)
    rules = any(by_rule.values())
    return BenchTable(
        "What they cost",
        (
            "arm",
            "searches",
            "ended early",
            "calls",
            *(("by rule",) if rules else ()),
            "thoughts",
            "tokens",
            "model",
            "judge",
            *(("energy",) if energy else ()),
            *(("without answer",) if missing else ()),
        ),
        tuple(
            (
                arm.arm,
                str(arm.runs),
                str(arm.early),
                str(arm.calls),
                *((str(by_rule[arm.arm]),) if rules else ()),
                str(arm.thoughts),
                str(arm.tokens),
                report.seconds(arm.model_seconds),
                report.seconds(arm.judge_seconds),
                *((report.energy(arm.joules) if arm.joules else "not known",) if energy else ()),
                *((str(unrecorded[arm.arm]),) if missing else ()),
            )
            for arm in arms
        ),
        "Ended early: before the budget was spent, as nothing was left to try."
        + (" By rule: calls that a rule answered, without the model." if rules else "")
        + (" Energy is the GPU's while it judged." if energy else "")
        + (" Without answer: prompts of which no answer was kept." if missing else ""),
    )


def _kinds_table(by_arm: dict[str, list[BenchRun]]) -> BenchTable:
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


def _differences(by_arm: dict[str, list[BenchRun]]) -> Iterator[PairedDifference]:
    first, *others = by_arm.values()
    for other in others:
        if difference := paired(other, first):
            yield difference


def _paired_table(differences: Sequence[PairedDifference]) -> BenchTable:
    beside = differences[0].beside if differences else ""
    return BenchTable(
        f"Beside {beside}",
        ("arm", "problems", "solved", "pass@1", "speedup"),
        tuple(
            (
                difference.arm,
                str(difference.problems),
                _points(difference.solved),
                _points(difference.passed),
                _ratio(difference.gain),
            )
            for difference in differences
        ),
        "Differences on the same problems, in points of 100; speedups as ratios.",
    )


def _problems_table(by_arm: dict[str, list[BenchRun]]) -> BenchTable:
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
    right = sum(answer.right for run in runs for answer in run.answers)
    text = report.times(best.speedup) if best.improved else "-"
    answers = sum(len(run.answers) for run in runs)
    return text if best.arm == START else f"{text} ({right} of {answers})"


def _tiers_table(
    files: Sequence[BenchResults], target: Target, by_arm: dict[str, list[BenchRun]]
) -> BenchTable:
    """Solved problems by the length of the longest verified trajectory."""
    tiers = {
        problem.name: problem.tier
        for file in files
        for problem in file.problems
        if problem.target == target
    }
    rows = []
    for tier in ("easy", "medium", "hard"):
        named = {name for name, reached in tiers.items() if reached == tier}
        if named:
            selected = [[run for run in runs if run.problem in named] for runs in by_arm.values()]
            rows.append((f"{tier} ({len(named)})", *(_solved_of(runs) for runs in selected)))
    return BenchTable(
        "Tiers",
        ("tier (problems)", *by_arm),
        tuple(rows),
        "By the steps of the longest verified trajectory in the corpus: easy 1 or 2, medium 3 to"
        " 5, hard more. Solved problems, and the geometric mean of speedups.",
    )


def _solved_of(runs: Sequence[BenchRun]) -> str:
    shares = by_problem(runs, solved)
    gain = Mean.of_ratios(map(math.exp, by_problem(runs, log_speedup).values()))
    if gain is None:
        return ""
    count = sum(share > 0 for share in shares.values())
    return f"{count} of {len(shares)}, {report.times(gain.value)}"


def _share(mean: Mean | None) -> str:
    """Percent."""
    return _with_interval(mean, lambda value: f"{100 * value:.0f}", " %")


def _points(mean: Mean | None) -> str:
    return _with_interval(mean, lambda value: f"{100 * value:+.0f}")


def _ratio(mean: Mean | None) -> str:
    return _with_interval(mean, report.times)


def _plain(mean: Mean | None) -> str:
    return _with_interval(mean, lambda value: f"{value:.2f}")


def _with_interval(mean: Mean | None, show: Callable[[float], str], unit: str = "") -> str:
    """A mean with its interval, if it has one."""
    if mean is None:
        return ""
    if mean.interval is None:
        return f"{show(mean.value)}{unit}"
    low, high = mean.interval
    return f"{show(mean.value)}{unit} ({show(low)} to {show(high)})"
