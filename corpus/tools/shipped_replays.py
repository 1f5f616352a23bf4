"""Replays of shipped transforms for new graphs: benchmarks/results/replays-*.json, by example.

    python -m corpus.tools.shipped_replays       # writes corpus/transforms/replays.json

Of each recorded step the first result with default parameters counts. Run it after a benchmark;
take rows out of a result whose transform has another meaning since.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from regraph_kg.cpp.kinds import kind_of
from regraph_kg.models.trajectory import Trajectory

ROOT = Path(__file__).parents[2]
DEVICES = {"NVIDIA H200, 580.159.04": "NVIDIA H200"}


def replays(result: dict[str, Any], known: dict[str, Trajectory]) -> Iterator[dict[str, Any]]:
    """The rows of a result as replays, each with its transform's id."""
    machine = result["machine"]
    for row in result["rows"]:
        ref, _, place = row["ref"].partition("#")
        first = next((one for one in row["made"] if one["by"].endswith(" 0")), None)
        if first is None:
            continue
        name = first["by"].partition(" ")[0].partition(".")[2]
        yield {
            "transform": f"{row['technique']}/{name}",
            "example": f"{known[ref].id}/{int(place) + 1}",
            "problem": row["problem"],
            "device": DEVICES[machine["gpu"]],
            "evaluator": machine["judge"],
            "outcome": first["outcome"],
            "gain": first["gain"],
            "recorded": row.get("gain", 1.0),
            "kind": kind_of(known[ref].serial),
        }


def main() -> None:
    lines = (
        line
        for path in sorted((ROOT / "corpus" / "trajectories").glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    )
    known = {str(one.ref): one for one in map(Trajectory.model_validate_json, lines)}
    results = sorted((ROOT / "benchmarks" / "results").glob("replays-*.json"))
    rows = [
        row
        for path in results
        for row in replays(json.loads(path.read_text(encoding="utf-8")), known)
        if row["transform"] != "cuda/block-per-task/threads"  # mended since
    ]
    text = ",\n".join(json.dumps(row) for row in rows)
    target = ROOT / "corpus" / "transforms" / "replays.json"
    target.write_text(f"[\n{text}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
