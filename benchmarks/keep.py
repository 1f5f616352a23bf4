"""Keep the results of benches in docs/results/: `python benchmarks/keep.py RESULTS.. FILE`.

Several RESULTS are lanes of one bench: the same suite, model and calls, other arms. A run takes one
line. Answers that repeat ParEval's code stay out.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any


def together(lanes: list[dict[str, Any]]) -> dict[str, Any]:
    """One bench with the arms and runs of all lanes."""
    lanes = sorted(lanes, key=lambda lane: not lane["graph"])
    first = dict(lanes[0])
    for lane in lanes[1:]:
        graphs = {json.dumps(one["graph"]) for one in (lane, first) if one["graph"]}
        if _subject(lane) != _subject(first) or len(graphs) > 1:  # a lane may need no graph
            raise SystemExit("these are no lanes of one bench")
    for name in ("arms", "runs", "examples", "notes"):
        items = [item for lane in lanes for item in lane[name]]
        first[name] = [item for at, item in enumerate(items) if item not in items[:at]]
    counts = [Counter(lane["searches"]) for lane in lanes]
    first["searches"] = dict(sum(counts, Counter()))
    first["command"] = "; ".join(lane["command"] for lane in lanes)
    return first | {"examples": []} if first["suite"] == "pareval" else first


def _subject(bench: dict[str, Any]) -> list[object]:
    """What lanes of one bench have in common."""
    problems = [(problem["name"], problem["digest"]) for problem in bench["problems"]]
    names = ("suite", "model", "calls", "final", "version")
    return [problems, *(bench[name] for name in names)]


def by_line(bench: dict[str, Any]) -> str:
    """A bench as JSON with a line for each run."""
    runs = ",\n".join(json.dumps(run) for run in bench["runs"])
    text = json.dumps(bench | {"runs": "RUNS"}, indent=1)
    return text.replace('"RUNS"', f"[\n{runs}\n]") + "\n"


if __name__ == "__main__":
    *files, into = map(Path, sys.argv[1:])
    into.write_text(by_line(together([json.loads(file.read_text()) for file in files])))
