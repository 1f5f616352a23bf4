"""Every method on every problem, through the command line: do they work, what do they cost.

`python benchmarks/run.py every_method [--target cuda] [--models recorded] [--jobs N]`; prints one
JSON object. `regraph ingest` fills a fresh embedded store with the corpus, then `regraph optimize`
runs each method on each problem of the corpus: verdicts of the screening grade, the problem's own
examples left out. Recorded answers show that a method runs and what it spends, not that it is
better than another one. Model "ollama" is a real Ollama (make ollama-test-server) with a model of
random weights: its answers hold no code, so nothing is evaluated or faster, which exit code 1 says.
Searches may run beside each other: their times are no measure of the judge. Not covered: methods
compared at a budget worth the name.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from regraph_kg.search.methods import method_names
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import stop_embedded
from tests.corpus.corpus import CORPUS, PROBLEMS
from tests.llm import real_ollama

CONTEXT = 32_768
ANSWER = "128"
"""Tokens of an answer of random weights."""
BUDGETS = {"recorded": 6, "ollama": 2}
"""Calls a search, by model."""
COSTS = ("calls", "thoughts", "evaluations", "prompt_tokens", "output_tokens", "joules")
REGRAPH = (sys.executable, "-c", "from regraph_kg.cli.app import main; main()")


def regraph(environment: Mapping[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*REGRAPH, *words], env=environment, capture_output=True, text=True, check=False
    )


def run(
    environment: Mapping[str, str], words: Sequence[str], method: str, problem: str
) -> dict[str, Any]:
    """One search: exit code, seconds, what it spent and found."""
    begun = time.perf_counter()
    done = regraph(environment, "optimize", problem, "--method", method, "--json", *words)
    seconds = time.perf_counter() - begun
    print(f"{method} {problem}: {done.returncode}, {seconds:.0f} s", file=sys.stderr)
    if done.returncode not in (0, 1):
        return {"exit": done.returncode, "error": done.stderr[-500:]}
    said = json.loads(done.stdout)
    found = {"exit": done.returncode, "seconds": seconds, "speedup": said["speedup"]}
    return found | {"outcomes": said["outcomes"]} | {name: said["cost"][name] for name in COSTS}


def row(method: str, found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A method's four searches."""
    ended = [one for one in found if one["exit"] in (0, 1)]
    outcomes = sum((Counter(one["outcomes"]) for one in ended), Counter[str]())
    joules = [one["joules"] for one in ended if one["joules"] is not None]
    return {
        "method": method,
        "ended_well": f"{len(ended)} of {len(found)}",
        "errors": [one["error"] for one in found if "error" in one],
        "faster": sum(one["exit"] == 0 for one in ended),
        "seconds": sum(one["seconds"] for one in ended) / max(1, len(ended)),
        "joules": f"{sum(joules) / len(joules):.0f}" if any(joules) else "not read",
        "outcomes": ", ".join(f"{name} {count}" for name, count in outcomes.most_common()),
    } | {name: sum(one[name] for one in ended) for name in COSTS if name != "joules"}


@contextmanager
def environment(model: str, folder: Path) -> Iterator[dict[str, str]]:
    """Of a command: a data folder of its own, and a real Ollama where the model needs one."""
    own = os.environ | {"REGRAPH_DATA_DIR": str(folder / "data")}
    if model == "recorded":
        yield own
        return
    with real_ollama.serving_random_weights(folder, CONTEXT) as url:
        yield own | {"REGRAPH_OLLAMA_URL": url, "REGRAPH_MODEL_MAX_TOKENS": ANSWER}


def rows(model: str, target: str, jobs: int) -> Iterator[dict[str, Any]]:
    """Of each method, on a store of their own."""
    corpus = map(str, sorted(CORPUS.glob("trajectories/*.jsonl")))
    words = ["--target", target, "--budget", str(BUDGETS[model]), "--set", "run.final=screening"]
    words += ["--model", {"recorded": "recorded", "ollama": "ollama:tiny"}[model]]
    with tempfile.TemporaryDirectory() as name, environment(model, Path(name)) as told:
        ingested = regraph(told, "ingest", *corpus)
        assert ingested.returncode == 0, ingested.stderr
        words += ["--runs", f"{name}/runs"]
        with ThreadPoolExecutor(jobs) as pool:
            for method in method_names():
                found = pool.map(partial(run, told, words, method), PROBLEMS)
                yield {"model": model, "target": target} | row(method, list(found))
        stop_embedded(Settings(data_dir=Path(told["REGRAPH_DATA_DIR"])))


def main() -> None:
    parser = argparse.ArgumentParser(description="Every method on every problem.")
    parser.add_argument("--target", choices=("openmp", "cuda"), default="openmp")
    parser.add_argument("--models", default=",".join(BUDGETS), help=", ".join(BUDGETS))
    parser.add_argument("--jobs", type=int, default=2, help="searches at once")
    asked = parser.parse_args()
    found = [
        row for model in asked.models.split(",") for row in rows(model, asked.target, asked.jobs)
    ]
    json.dump({"rows": found}, sys.stdout)


if __name__ == "__main__":
    main()
