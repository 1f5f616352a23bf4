"""Results as tables: on a terminal, in a document, on a page, all from the same values.

Runs are compared within a circumstance only: same model, judge, prompts, device, toolchain, budget
and suite. Others stand apart, each under its own heading.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from regraph_kg import report
from regraph_kg.bench.figures import (
    ArmFigures,
    Mean,
    PairedDifference,
    by_problem,
    figures,
    log_speedup,
    paired,
    solved,
)
from regraph_kg.models.bench import KINDS, AnswerExample, BenchResults, BenchRun
from regraph_kg.models.target import Target

KS = (1, 5)


@dataclass(frozen=True, slots=True)
class BenchTable:
    """A heading, and rows below column names; the first column is words, the others figures."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class BenchSection:
    """Everything of one circumstance."""

    title: str
    facts: dict[str, str]
    tables: tuple[BenchTable, ...]
    notes: tuple[str, ...]
    examples: tuple[AnswerExample, ...]
    """Of answers that came to nothing: one of each kind."""


def sections(results: Sequence[BenchResults]) -> tuple[BenchSection, ...]:
    """One for each circumstance in which runs may be compared; `results` of several files."""
    found: dict[tuple[str, ...], list[tuple[BenchResults, BenchRun]]] = {}
    for one in results:
        for run in one.runs:
            found.setdefault(_circumstance(one, run), []).append((one, run))
    return tuple(_section(some) for some in found.values())


def _circumstance(of: BenchResults, run: BenchRun) -> tuple[str, ...]:
    """What must be equal where runs are compared."""
    return (
        *(of.suite, of.answers, str(of.calls), of.final, of.graph.get("statistics", "")),
        *(run.target, _who(run), run.judge, run.prompts, run.device, run.toolchain),
    )


def _who(run: BenchRun) -> str:
    """Recorded answers are one model, whatever problem they are of."""
    return "recorded" if run.model.startswith("recorded:") else run.model


def _section(some: Sequence[tuple[BenchResults, BenchRun]]) -> BenchSection:
    first, run = some[0]
    runs = list({one.place: one for _, one in some}.values())
    files = list({id(of): of for of, _ in some}.values())
    asked = dict.fromkeys(arm for of in files for arm in of.arms)
    by_arm = {arm: mine for arm in asked if (mine := [one for one in runs if one.arm == arm])}
    out = {(one.name, one.why) for of in files for one in of.left_out if one.target == run.target}
    tables = [
        _arms_table([figures(arm, mine, KS) for arm, mine in by_arm.items()]),
        _costs_table([figures(arm, mine, KS) for arm, mine in by_arm.items()]),
        _kinds_table(by_arm),
        _paired_table(list(_differences(by_arm))),
        _problems_table(by_arm),
        _tiers_table(files, run.target, by_arm),
        BenchTable("Left out", ("problem", "why"), tuple(sorted(out))),
    ]
    judged = ", answers kept of an earlier bench, judged again" if first.answers == "kept" else ""
    return BenchSection(
        title=f"{first.suite}, {run.target}, {_who(run).partition('@')[0]}, {first.calls} calls",
        facts=_facts(first, run, files)
        | {"searches": _done(runs, files, run.target)}
        | {"answers": f"{first.answers}{judged}"},
        tables=tuple(table for table in tables if table.rows),
        notes=tuple(dict.fromkeys(note for of in files for note in of.notes)),
        examples=_examples(files, run.target),
    )


def _examples(files: Sequence[BenchResults], target: Target) -> tuple[AnswerExample, ...]:
    """The shortest of each kind."""
    found: dict[str, AnswerExample] = {}
    for one in (example for of in files for example in of.examples if example.target == target):
        if one.kind not in found or len(one.text) < len(found[one.kind].text):
            found[one.kind] = one
    return tuple(found[kind] for kind in KINDS if kind in found)


def _facts(first: BenchResults, run: BenchRun, files: Sequence[BenchResults]) -> dict[str, str]:
    graph = ", ".join(f"{count} {name}" for name, count in first.graph.items())
    problems = {(one.name) for of in files for one in of.problems if one.target == run.target}
    return {
        "model": _who(run),
        "device": f"{run.device} ({first.machine.get(run.target, '')})",
        "toolchain": run.toolchain,
        "judge": f"{run.judge}, finals of grade {first.final}",
        "prompts": run.prompts,
        "graph": graph or "not read",
        "problems": str(len(problems)),
        "begun": ", ".join(sorted({of.created for of in files})),
        "command": first.command,
    }


def _done(runs: Sequence[BenchRun], files: Sequence[BenchResults], target: Target) -> str:
    asked = sum(
        len(of.arms) * of.seeds * sum(one.target == target for one in of.problems) for of in files
    )
    return str(len(runs)) if len(runs) == asked else f"{len(runs)} of {asked} are done"


def _arms_table(arms: Sequence[ArmFigures]) -> BenchTable:
    """What each arm came to."""
    ks = sorted({k for arm in arms for k, rate in arm.passed.items() if rate})
    rates: list[tuple[str, Callable[[ArmFigures], str]]] = [
        ("problems", lambda arm: _count(arm.solved)),
        ("answers", lambda arm: str(arm.answers)),
        ("solved", lambda arm: _share(arm.solved)),
        ("speedup", lambda arm: _ratio(arm.gain)),
    ]
    for k in ks:
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
        tuple((arm.arm, *(told(arm) for _, told in rates)) for arm in arms),
        "In brackets the 95 % interval, a bootstrap over problems. Solved: verified and surely"
        " faster than the serial code. Speedup: geometric mean, 1 where nothing is surely faster."
        " An interval without width says that all problems agree, not that nothing else can be."
        " At k > 1 only arms whose answers know nothing of each other.",
    )


def _costs_table(arms: Sequence[ArmFigures]) -> BenchTable:
    return BenchTable(
        "What they cost",
        (
            "arm",
            "searches",
            "ended early",
            "calls",
            "thoughts",
            "tokens",
            "model",
            "judge",
            "energy",
        ),
        tuple(
            (
                arm.arm,
                str(arm.runs),
                str(arm.early),
                str(arm.calls),
                str(arm.thoughts),
                str(arm.tokens),
                report.seconds(arm.model_seconds),
                report.seconds(arm.judge_seconds),
                report.energy(arm.joules) if arm.joules else "not known",
            )
            for arm in arms
        ),
        "Ended early: nothing was left to try before the budget was spent. Energy is the GPU's"
        " while it judged.",
    )


def _kinds_table(by_arm: dict[str, list[BenchRun]]) -> BenchTable:
    """What answers came to, by arm."""
    counts = {
        arm: Counter(answer.kind for run in runs for answer in run.answers)
        for arm, runs in by_arm.items()
    }
    seen = [kind for kind in KINDS if any(count[kind] for count in counts.values())]
    return BenchTable(
        "Answers",
        ("arm", *seen),
        tuple((arm, *(str(count[kind]) for kind in seen)) for arm, count in counts.items()),
    )


def _differences(by_arm: dict[str, list[BenchRun]]) -> Iterator[PairedDifference]:
    first, *others = by_arm.values()
    for other in others:
        if found := paired(other, first):
            yield found


def _paired_table(differences: Sequence[PairedDifference]) -> BenchTable:
    beside = differences[0].beside if differences else ""
    return BenchTable(
        f"Beside {beside}",
        ("arm", "problems", "solved", "pass@1", "speedup"),
        tuple(
            (
                one.arm,
                str(one.problems),
                _points(one.solved),
                _points(one.passed),
                _ratio(one.gain),
            )
            for one in differences
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
    said = report.times(best.speedup) if best.improved else "-"
    return f"{said} ({right} of {sum(len(run.answers) for run in runs)})"


def _tiers_table(
    files: Sequence[BenchResults], target: Target, by_arm: dict[str, list[BenchRun]]
) -> BenchTable:
    """Solved problems by how long their longest verified trajectory is."""
    tiers = {one.name: one.tier for of in files for one in of.problems if one.target == target}
    rows = []
    for tier in ("easy", "medium", "hard"):
        named = {name for name, found in tiers.items() if found == tier}
        if named:
            some = [[run for run in runs if run.problem in named] for runs in by_arm.values()]
            rows.append((f"{tier} ({len(named)})", *(_solved_of(runs) for runs in some)))
    return BenchTable(
        "Tiers",
        ("tier (problems)", *by_arm),
        tuple(rows),
        "By the steps of the longest verified trajectory in the corpus: easy 1 or 2, medium 3 to"
        " 5, hard more. Solved problems, and the geometric mean of speedups.",
    )


def _solved_of(runs: Sequence[BenchRun]) -> str:
    found = by_problem(runs, solved)
    gain = Mean.of_ratios(map(math.exp, by_problem(runs, log_speedup).values()))
    if gain is None:
        return ""
    count = sum(one > 0 for one in found.values())
    return f"{count} of {len(found)}, {report.times(gain.value)}"


def _count(found: Mean | None) -> str:
    return str(found.problems) if found else "0"


def _share(found: Mean | None) -> str:
    """Percent, with its interval."""
    if found is None:
        return ""
    value, low, high = (100 * one for one in (found.value, found.low, found.high))
    return f"{value:.0f} % ({low:.0f} to {high:.0f})"


def _points(found: Mean | None) -> str:
    if found is None:
        return ""
    value, low, high = (100 * one for one in (found.value, found.low, found.high))
    return f"{value:+.0f} ({low:+.0f} to {high:+.0f})"


def _ratio(found: Mean | None) -> str:
    if found is None:
        return ""
    return f"{report.times(found.value)} ({report.times(found.low)} to {report.times(found.high)})"


def _plain(found: Mean | None) -> str:
    return "" if found is None else f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"
