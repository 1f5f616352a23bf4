"""Searches that are killed: `python -m tests.search.kill_runs WHOLE FOLDER BYTES...`.

For each of BYTES a process searches with the verdicts of the trace WHOLE, tracing into
FOLDER/<number>; once its trace has so many bytes it gets SIGKILL.
"""

import os
import signal
import sys
import time
from pathlib import Path

from regraph_kg.search.trace import Trace
from tests.search.recorded_run import HEADER, recorded_toy, still
from tests.search.toy import SEAL, traced


def search(whole: Path, folder: Path) -> None:
    toy = recorded_toy(whole, pause=0.0005)
    with Trace.create(folder, HEADER, SEAL, still) as trace:
        traced(toy, trace, HEADER)
    time.sleep(60)  # the kill comes, late as it may be


def kill_at(pid: int, folder: Path, size: int) -> None:
    while sum(path.stat().st_size for path in folder.glob("*.jsonl")) < size:
        time.sleep(0.0002)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def main(whole: Path, folder: Path, *sizes: int) -> None:
    for number, size in enumerate(sizes):
        pid = os.fork()
        if pid == 0:
            search(whole, folder / str(number))
            os._exit(0)
        kill_at(pid, folder / str(number), size)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:]))
