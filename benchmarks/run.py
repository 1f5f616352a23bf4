"""Runs benchmarks, keeps their figures with the machine's facts, and rewrites docs/results.md.

    python benchmarks/run.py [NAME ...]              without a name: all of them
    python benchmarks/run.py graph --sizes 10000,100000                     options are passed on

Standard library only; each benchmark is a script of its own that prints one JSON object. Figures
of another machine: copy its files into benchmarks/results/ and run python -m benchmarks.document.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from regraph_kg.evaluation.evaluate import EVALUATOR

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
NAMES = ("graph", "verdicts", "throughput", "coverage", "aa", "clocks", "judged", "judge_kills")


def machine() -> dict[str, str]:
    """What the figures depend on."""
    pages, page = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return {
        "cpu": cpu(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{pages * page / 2**30:.0f} GiB",
        "kernel": platform.release(),
        "python": platform.python_version(),
        "g++": said("g++", "-dumpfullversion") or "none",
        "gpu": said("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
        or "none",
        "judge": EVALUATOR,
    }


def cpu() -> str:
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    found = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def said(tool: str, *arguments: str) -> str:
    """First line of what a tool says; empty where it is missing or fails."""
    if not shutil.which(tool):
        return ""
    done = subprocess.run([tool, *arguments], capture_output=True, text=True, check=False)
    return "" if done.returncode else done.stdout.partition("\n")[0].strip()


def measure(name: str, options: Sequence[str], facts: dict[str, str]) -> Path:
    """Run one benchmark and keep its figures; its own errors end the run."""
    date, start = datetime.now(UTC), time.perf_counter()
    script = ROOT / "benchmarks" / f"{name}.py"
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, str(script), *options],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
    )
    result = {
        "benchmark": name,
        "command": " ".join(("python benchmarks/run.py", name, *options)),
        "date": f"{date:%Y-%m-%d %H:%M} UTC",
        "seconds": round(time.perf_counter() - start),
        "machine": facts,
        "figures": json.loads(done.stdout),
    }
    on = facts["gpu"].partition(",")[0] if facts["gpu"] != "none" else facts["cpu"]
    slug = re.sub(r"[^a-z0-9]+", "-", f"{on} {facts['cores']} cores".lower()).strip("-")
    file = RESULTS / f"{name}-{slug}.json"
    file.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return file


def main() -> None:
    parser = argparse.ArgumentParser(description="Run benchmarks and rewrite docs/results.md.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    known, options = parser.parse_known_args()
    names = known.names or NAMES
    if unknown := sorted(set(names) - set(NAMES)):
        parser.error(f"no benchmark {', '.join(unknown)}: know {', '.join(NAMES)}")
    if options and len(names) > 1:
        parser.error(f"{' '.join(options)}: for which benchmark? name one")
    facts = machine()
    RESULTS.mkdir(exist_ok=True)
    for name in names:
        print(measure(name, options, facts).relative_to(ROOT))
    subprocess.run([sys.executable, "-m", "benchmarks.document"], check=True, cwd=ROOT)


if __name__ == "__main__":
    main()
