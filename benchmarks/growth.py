"""Growth test: a field that the graph lacks, before and after 20 trajectories of it were lifted.

    python -m benchmarks.growth FOLDER.. --before DATA --after DATA --json FILE [--arms before,..]

DATA are data folders with a graph each: the starter, and the starter with what
benchmarks/growth_seen/README.md adds. Every problem is searched on both graphs in turn without a
model, then its expert.cpp is judged. Speedups are over the serial code, by the measurement at the
end of a search; 1 where nothing was surely faster. Written after each problem, into what the file
has of the same problem already.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.experts import judged
from benchmarks.run import machine, said
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.rules import Defences

LIMIT = 900  # seconds for one search


def searched(folder: Path, data: Path, budget: int, final: str) -> dict[str, Any]:
    """One search by transforms and rules alone; what it reached and by which steps."""
    with tempfile.TemporaryDirectory() as runs:
        code = Path(runs) / "best.cpp"
        command = [
            *(sys.executable, "-c", "from regraph_kg.cli import main; main()"),
            *("optimize", f"{folder}/", "--model", "none", "--budget", str(budget), "--json"),
            *("--set", f"run.final={final}", "--runs", runs, "--output", str(code)),
        ]
        env = os.environ | {"REGRAPH_DATA_DIR": str(data)}
        try:
            done = subprocess.run(
                command, env=env, capture_output=True, text=True, timeout=LIMIT, check=False
            )
        except subprocess.TimeoutExpired:
            return {"why": f"no end after {LIMIT} s", "speedup": 1.0}
        if done.returncode not in (0, 1):
            return {"why": done.stderr[-300:], "speedup": 1.0}
        summary = json.loads(done.stdout)
        kept = (
            "speedup",
            "speedup_interval",
            "improved",
            "best_path",
            "outcomes",
            "taken_back",
        )
        return {name: summary[name] for name in kept} | {
            "code": code.read_text(encoding="utf-8") if summary["improved"] else ""
        }


def main() -> None:
    parser = argparse.ArgumentParser(description="A grown graph against the one before.")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--before", type=Path, required=True)
    parser.add_argument("--after", type=Path, required=True)
    parser.add_argument("--budget", type=int, default=12)
    parser.add_argument("--final", choices=["full", "screening"], default="screening")
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--arms", default="before,after,expert")
    given = parser.parse_args()
    arms = given.arms.split(",")
    facts = machine()
    result: dict[str, Any] = {
        "benchmark": "growth",
        "command": "python -m benchmarks.growth benchmarks/growth/*/ --before .. --after .."
        f" --budget {given.budget} --final {given.final}",
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "commit": said("git", "rev-parse", "--short=8", "HEAD"),
        "machine": facts,
        "rows": [],
    }
    if given.json.exists():
        result["rows"] = json.loads(given.json.read_text(encoding="utf-8"))["rows"]
    for folder in given.folders:
        known = [row for row in result["rows"] if row["problem"] == folder.name]
        row: dict[str, Any] = known[0] if known else {"problem": folder.name}
        result["rows"] += [] if known else [row]
        for name in {"before", "after"} & {*arms}:
            row[name] = searched(folder, getattr(given, name), given.budget, given.final)
        if "expert" in arms:
            with tempfile.TemporaryDirectory() as cache:
                row["expert"] = expert(Path(cache), folder, int(facts["cores"]))
        figures = {name: row[name].get("speedup") for name in arms if name != "expert"}
        print(folder.name, figures, file=sys.stderr, flush=True)
        given.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def expert(cache: Path, folder: Path, threads: int) -> list[dict[str, Any]]:
    """The expert's code and the compiler's flag, judged."""
    # the pragma of the flag is no cheat here
    with Judge(cache, grade="screening", defences=Defences(source_rules=False)) as judge:
        return judged(judge, folder, "openmp", threads)


if __name__ == "__main__":
    main()
