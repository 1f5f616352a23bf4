"""Judges killed at 50 random moments: what is left behind, and whether verdicts stay the same.

`python benchmarks/run.py judge_kills`; prints one JSON object. Each round a process compiles and
judges five openmp candidates (one right, one wrong, one that crashes, one that hangs, one that does
not compile), until it gets SIGKILL at a random moment. After every fifth another process judges
them to the end with the compile cache of these five (tests/evaluation/killed_judge.py). Not
covered: GPU workers.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.evaluation.killed_judge import in_private

ROOT = Path(__file__).parents[1]
SEED, ROUNDS = 5, 50


def played(folder: str) -> Iterator[dict[str, float]]:
    """What each kill left behind."""
    words = ("-m", "tests.evaluation.killed_judge", "play", folder, str(SEED), str(ROUNDS))
    command = in_private([sys.executable, *words])
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        for number, line in enumerate(process.stdout, start=1):
            print(f"judge_kills: {number}: {line.strip()}", file=sys.stderr, flush=True)
            yield json.loads(line)
    if process.returncode:
        sys.exit("judge_kills: the play ended early")


def row(rounds: list[dict[str, float]]) -> dict[str, object]:
    """The whole of it."""
    clean = [one["different"] for one in rounds if one["different"] is not None]
    return {
        "kills": len(rounds),
        "before_the_first_verdict": sum(not one["judged"] for one in rounds),
        "processes_left": sum(one["processes"] for one in rounds),
        "longest_to_silence_s": max(one["seconds_to_silence"] for one in rounds),
        "shared_memory_left": max((one["shared_memory"] or 0 for one in rounds), default=0),
        "temporary_folders_left": max(one["folders"] for one in rounds),
        "broken_cache_entries": sum(one["broken"] for one in rounds),
        "drafts_in_the_cache": max(one["drafts"] for one in rounds),
        "clean_runs": len(clean),
        "clean_runs_with_other_verdicts": sum(bool(others) for others in clean),
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        rounds = list(played(folder))
    unseen = [] if rounds[0]["shared_memory"] is not None else ["/dev/shm: it is shared here"]
    print(json.dumps({"rows": [row(rounds)], "not_measured": unseen}))


if __name__ == "__main__":
    main()
