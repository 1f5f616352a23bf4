"""Transforms replayed on the steps that the corpus has seen: which they reproduce.

    python benchmarks/run.py replays [--target cuda] [--technique NAME] [--problems a,b]
                                     [--gaining] [--json FILE] [--dry]

For each recorded step of a technique that has transforms: the code before it is the place; every
transform of the technique is carried out there, and the judge (screening) times before, what was
recorded, and what the transforms made, in one session. A step is gaining if what was recorded
is 5 % faster than before, here and now; it is reproduced if one result of a transform is right and
has at least half of the recorded gain (of its logarithm). `--dry` only writes the codes.
"""

import argparse
import json
import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.measure import for_device_pointers
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.models.evaluation import Candidate, EvalReport
from regraph_kg.models.target import TARGETS, Target
from regraph_kg.search.transform.transform import Transform, carried_out, shipped

CORPUS = Path(__file__).parents[1] / "corpus"
GAIN = 1.05
MOST_CODES = 6  # results judged for one step


def transforms(target: Target) -> dict[str, list[tuple[str, Transform]]]:
    """Technique -> its transforms, with their files' names."""
    found: dict[str, list[tuple[str, Transform]]] = {}
    for path in sorted((CORPUS / "transforms" / target).glob("*.toml")):
        for transform, _ in shipped(path):
            found.setdefault(transform.technique, []).append((path.stem, transform))
    return found


def steps(target: Target, technique: str, problems: list[str]) -> Iterator[dict[str, Any]]:
    """Recorded steps: code before and after, and the gain that was measured."""
    for path in sorted((CORPUS / "trajectories").glob(f"*.{target}.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            trajectory = json.loads(line)
            before = trajectory["serial"]
            for number, step in enumerate(trajectory["steps"]):
                wanted = step["technique"] == technique and step["measurements"]
                if wanted and (not problems or trajectory["problem"] in problems):
                    measured = step["measurements"][0]
                    gain = (measured.get("before_seconds") or 0) / (measured.get("seconds") or 1)
                    ref = f"{trajectory['ref']}#{number}"
                    yield {
                        "problem": trajectory["problem"],
                        "ref": ref,
                        "first": number == 0,
                        "recorded": round(gain, 3),
                        "before": before,
                        "after": step["code"],
                    }
                before = step["code"]


def made_of(code: str, known: list[tuple[str, Transform]]) -> list[tuple[str, str]]:
    """What the transforms make of a code: by name and number of the choice; each text once."""
    found = {
        new: f"{name} {number}"
        for name, transform in known
        for number, new in carried_out(transform, code)
        if new != code
    }
    return sorted(((name, new) for new, name in found.items()), key=lambda one: one[0][-1])


def judged(judge: Judge, problem: Problem, target: Target, code: str) -> EvalReport:
    if target == "cuda":
        code = for_device_pointers(code)
    return judge.evaluate(Candidate(target, code), problem)


def replayed(judge: Judge, target: Target, step: dict[str, Any], known: Any) -> dict[str, Any]:
    """One step's row: the gain of what was recorded, and of each result."""
    problem = load_problem(CORPUS / "problems" / step["problem"])
    problem = problem.model_copy(update={"metric": "device" if target == "cuda" else "call"})
    made = made_of(step["before"], known)[:MOST_CODES]
    row = {key: step[key] for key in ("problem", "ref", "first", "recorded")} | {"made": []}
    if not made:
        return row
    before = judged(judge, problem, target, step["before"]).timing
    after = judged(judge, problem, target, step["after"]).timing
    if before and after:
        row["gain"] = round(before.median / after.median, 3)
    for name, code in made:
        report = judged(judge, problem, target, code)
        gain = round(before.median / report.timing.median, 3) if before and report.timing else None
        one = {"by": name, "outcome": str(report.outcome), "gain": gain}
        if gain is None:
            one["why"] = (report.diagnosis or "")[-300:]
        row["made"].append(one)
    return row


def reproduced(row: dict[str, Any]) -> bool:
    gains = [one["gain"] for one in row["made"] if one["gain"] and one["outcome"] == "passed"]
    recorded = row.get("gain") or row["recorded"]
    return bool(gains) and math.log(max(gains)) >= math.log(max(recorded, 1)) / 2


def main() -> None:
    parser = argparse.ArgumentParser(description="Transforms on the steps of the corpus.")
    parser.add_argument("--target", choices=list(TARGETS), default="openmp")
    parser.add_argument("--technique", default="")
    parser.add_argument("--problems", default="")
    parser.add_argument("--gaining", action="store_true", help="only steps recorded as faster")
    parser.add_argument("--dry", action="store_true", help="print the codes, judge nothing")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for technique, known in transforms(given.target).items():
        if given.technique not in technique:
            continue
        for step in steps(given.target, technique, [p for p in given.problems.split(",") if p]):
            if given.gaining and step["recorded"] < GAIN:
                continue
            if given.dry:
                made = made_of(step["before"], known)
                print(f"// {'+' if made else '-'} {step['ref']} {technique} {step['recorded']}")
                for name, code in made[:1]:
                    print(f"// by {name}\n{code}")
                continue
            with tempfile.TemporaryDirectory() as folder:
                judge = Judge(Path(folder), grade="screening")
                try:
                    row = replayed(judge, given.target, step, known) | {"technique": technique}
                finally:
                    judge.close()
            rows.append(row)
            print(json.dumps(row), flush=True)
            if given.json:
                given.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    gaining = [row for row in rows if (row.get("gain") or row["recorded"]) >= GAIN]
    print(f"{sum(map(reproduced, gaining))} of {len(gaining)} gaining steps are reproduced")


if __name__ == "__main__":
    main()
