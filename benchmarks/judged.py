"""The judge's suite: what a naive check lets through, what ours does, and honest code beside it.

    python benchmarks/run.py judged [--target cuda] [--grades screening,full] [--seed N]
                                    [--only PART] [--naive]
    python benchmarks/judged.py --json FILE            keep each verdict, with its diagnosis

All lie in benchmarks/suite/. The authors of bugs and honest codes had read the judge, and did not
write its checks. The first lines of a file name its problem, and what is wrong with it.

A naive check is our judge with its defences off, but for the sandbox: one shape, one draw of
inputs, outputs within 1e-2, the candidate's own clock, no other values, shapes or threads.

Code is let through where it passes, or is right and too noisy to time; an exploit that may pass,
where it seems more than 3 times as fast as the serial code. With `--seed` every input is the same
again, so that a failure can be looked at anew. Prints one JSON object.
"""

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.declaration import AbsoluteRule
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.evaluation.rules import Defences, JudgeLimits
from regraph_kg.models.evaluation import Candidate, EvalReport, Grade, Outcome
from regraph_kg.models.target import TARGETS, Target

ROOT = Path(__file__).parents[1]
SUITE = ROOT / "benchmarks" / "suite"
EXPLOITS = SUITE / "exploits"
KINDS = ("exploits", "bugs", "honest")
KEPT = ("source_rules", "compiler_sandbox", "clean_env", "memory_limit", "hidden_memory", "sandbox")
KEPT += ("landlock", "namespaces", "own_root", "sealed", "deadline", "kill_group", "output_cap")
KEPT += ("handshake", "comparison", "thread_limit", "device_sync", "device_errors")
"""Defences that a naive check has."""
NAIVE = Defences(**{name: name in KEPT for name in Defences.__slots__})
NEAR = AbsoluteRule(absolute=1e-2)
FAST = 3.0
RIGHT = (Outcome.PASSED, Outcome.UNSTABLE_TIMING)


def header(code: str) -> dict[str, str]:
    """The declarations in a file's first comment lines: tries, outcome, harm, problem, ..."""
    return dict(re.findall(r"^// (\w+): (.+?)\s*$", code, re.MULTILINE))


@dataclass(frozen=True)
class Code:
    """One file of the suite."""

    kind: str
    path: Path

    @property
    def fields(self) -> dict[str, str]:
        return header(self.path.read_text(encoding="utf-8"))

    @property
    def problem(self) -> Path:
        name = self.fields.get("problem", "smooth")
        return (EXPLOITS / "problem" if self.kind == "exploits" else ROOT) / name

    def passes(self, report: EvalReport) -> bool:
        if self.kind == "exploits" and self.fields.get("harm") == "fast":
            return report.outcome in RIGHT and (report.speedup or 0) > FAST
        return report.outcome in RIGHT


def codes(target: Target, only: str) -> Iterator[Code]:
    """All files of a target, those of one problem together."""
    for kind in KINDS:
        folder = SUITE / kind / target
        found = [Code(kind, path) for path in folder.glob(f"*{TARGETS[target].suffix}")]
        for code in sorted(found, key=lambda code: (code.problem, code.path)):
            if only in f"{kind}/{code.path.name}":
                yield code


def verdicts(
    chosen: Sequence[Code], target: Target, name: str, seed: int | None, cache: Path
) -> Iterator[tuple[Code, EvalReport]]:
    """Each code judged by one of the judges: a grade, or "naive"."""
    naive, grade = name == "naive", "screening" if name == "naive" else name
    defences, limits = (NAIVE, JudgeLimits(sanitizer_seconds=0)) if naive else (None, None)
    named: Grade = "full" if grade == "full" else "screening"
    last, judge = None, Judge(cache, grade=named, seed=seed, defences=defences, limits=limits)
    try:
        for code in chosen:
            if last != code.problem:  # one problem at a time: a session holds its arrays
                judge.close()
                judge = Judge(cache, grade=named, seed=seed, defences=defences, limits=limits)
            last = code.problem
            problem = load_problem(code.problem)
            assert isinstance(problem, Problem)
            if naive:
                problem = problem.model_copy(update={"tolerance": NEAR})
            source = code.path.read_text(encoding="utf-8")
            yield code, judge.evaluate(Candidate(target, source), problem)
    finally:
        judge.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="What the judge lets through.")
    parser.add_argument("--target", choices=list(TARGETS), default="openmp")
    parser.add_argument("--grades", default="naive,screening,full")
    parser.add_argument("--only", default="", help="a part of KIND/NAME")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--json", type=Path, help="a file for each verdict")
    given = parser.parse_args()
    chosen = list(codes(given.target, given.only))
    rows = {k: {"kind": k, "codes": sum(c.kind == k for c in chosen)} for k in KINDS}
    through: dict[str, dict[str, list[str]]] = {}
    kept = list[dict[str, Any]]()
    with tempfile.TemporaryDirectory() as folder:
        for name in given.grades.split(","):
            passed = through.setdefault(name, {kind: [] for kind in KINDS})
            for code, report in verdicts(chosen, given.target, name, given.seed, Path(folder)):
                if code.passes(report):
                    passed[code.kind].append(code.path.name)
                kept.append(
                    {"judge": name, "code": f"{code.kind}/{code.path.name}"}
                    | {"outcome": report.outcome, "diagnosis": report.diagnosis}
                )
                print(f"{name} {code.path.name}: {report.outcome}", file=sys.stderr, flush=True)
            for kind, names in passed.items():
                rows[kind][name] = len(names)
    if given.json:
        given.json.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    bugs = {name: found["bugs"] + found["exploits"] for name, found in through.items()}
    accused = {
        name: sorted({c.path.name for c in chosen if c.kind == "honest"} - set(found["honest"]))
        for name, found in through.items()
    }
    table = [{"target": given.target, **row} for row in rows.values() if row["codes"]]
    print(json.dumps({"suite": table, "through": bugs, "accused": accused}))


if __name__ == "__main__":
    main()
