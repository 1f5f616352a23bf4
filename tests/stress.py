"""Runs a command again and again beside busy processes: `make test-stress`.

    python tests/stress.py --busy 5 --idle 0 -- make test

What each run said stays in a file, of which a failure prints the end. The exit code is 1 where one
failed.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

LOOPS = 6
BUSY = [sys.executable, "-S", "-c", "while True: pass"]
SUMMARY = re.compile(r"^(?:=+ )?((?:\d+ \w+,? ?)+) in [\d.]+s", re.MULTILINE)
"""pytest's last line."""
ROW = "{:>3}  {:<15}{:>8}  {:<7}{}\n"
SHOWN = 40


@dataclass(frozen=True)
class Run:
    """One run of the command."""

    ok: bool
    seconds: float
    said: str

    @property
    def counts(self) -> str:
        """What pytest counted."""
        return "; ".join(SUMMARY.findall(self.said)) or "no summary"


@contextmanager
def loops(count: int) -> Iterator[None]:
    """So many processes that never rest."""
    started = [subprocess.Popen(BUSY) for _ in range(count)]
    try:
        yield
    finally:
        for one in started:
            one.kill()
            one.wait()


def played(command: Sequence[str], beside: int, log: Path) -> Run:
    """The command once, beside so many busy processes."""
    began = time.monotonic()
    with loops(beside), log.open("wb") as file:
        done = subprocess.run(command, stdout=file, stderr=file, check=False)
    said = log.read_text(encoding="utf-8", errors="replace")
    return Run(done.returncode == 0, time.monotonic() - began, said)


def main() -> int:
    """Run them all; a line for each as it ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--busy", type=int, default=5)
    parser.add_argument("--idle", type=int, default=0)
    parser.add_argument("command", nargs="+")
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="stress-"))
    tell = sys.stdout.write
    tell(f"{os.cpu_count()} cores; logs in {folder}\n")
    tell(ROW.format("run", "beside", "seconds", "result", "tests"))
    failed = 0
    for number, beside in enumerate([0] * asked.idle + [LOOPS] * asked.busy, 1):
        run = played(asked.command, beside, folder / f"{number}.log")
        what = f"{beside} busy loops" if beside else "nothing of ours"
        result = "green" if run.ok else "RED"
        tell(ROW.format(number, what, f"{run.seconds:.0f}", result, run.counts))
        if not run.ok:
            failed += 1
            tell("\n".join(run.said.splitlines()[-SHOWN:]) + "\n")
        sys.stdout.flush()
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
