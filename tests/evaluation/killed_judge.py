"""Judges killed in mid-run: `python -m tests.evaluation.killed_judge play FOLDER SEED ROUNDS`.

In each round a process judges a handful of candidates, compiling each, until it gets SIGKILL at a
random moment. Every few rounds another one judges them to the end, with the same compile cache. One
JSON object a round tells what the kill left behind; `different` is null in rounds without a clean
run. FOLDER, empty at first, holds caches and temporary folder.
"""

import ctypes
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.problem import load_problem
from regraph_kg.evaluation.rules import JudgeLimits
from regraph_kg.models.evaluation import Candidate, Outcome

HERE = Path(__file__).parent
SUBREAPER = 36
GROUP = 5  # rounds that share a cache; the last of them is followed by a clean run
PATIENCE_SECONDS = 10.0
LOOP = "for (int i = 0; i < n; ++i)"
BODIES = {
    "right": f"{LOOP} y[i] = a * x[i];",
    "wrong": f"{LOOP} y[i] = a + x[i];",
    "crashes": "*(volatile int*)0 = 1;",
    "hangs": 'for (;;) __asm__ volatile("");',
    "broken": "y[0] = ;",
}
EXPECTED = {
    "right": "passed",
    "wrong": "wrong_answer",
    "crashes": "crashed",
    "hangs": "timed_out",
    "broken": "compile_failed",
}


@dataclass(frozen=True)
class Round:
    """What a kill left behind."""

    judged: int  # verdicts before it
    seconds: float  # from the last of them, or from the judge's start, to its SIGKILL
    processes: int  # descendants that outlived it by `PATIENCE_SECONDS`; they are killed then
    seconds_to_silence: float
    """Until its last descendant was gone: workers die with it, a compiler finishes."""
    shared_memory: int | None  # entries in /dev/shm, where that is our own (`in_private`)
    folders: int  # entries in the temporary folder
    broken: int  # compiled files that are not whole
    drafts: int  # folders to compile in that are left; the next judge removes those of the dead
    different: dict[str, str] | None
    """Verdicts of a clean run that are not those of one that nobody disturbed."""


def judge(cache: Path, mark: str) -> None:
    """Judge the handful; a line with each verdict."""
    problem = load_problem(HERE / "problems" / "scale")
    with Judge(cache, seed=1, limits=JudgeLimits(call_seconds=1.0)) as opened:
        for name, body in BODIES.items():
            code = (
                f"// {mark}\n"
                f'extern "C" void scale(const float* x, float* y, float a, int n) {{ {body} }}\n'
            )
            report = opened.evaluate(Candidate("openmp", code), problem)
            busy = report.outcome is Outcome.UNSTABLE_TIMING  # verified on a machine in turmoil
            verdict = "passed" if busy else report.outcome
            print(json.dumps([name, verdict]), flush=True)  # noqa: T201 - its output


def start(folder: Path, cache: Path, mark: str) -> "subprocess.Popen[bytes]":
    """The process that judges."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.evaluation.killed_judge", "judge", str(cache), mark],
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def clean_run(folder: Path, cache: Path, mark: str) -> tuple[dict[str, str], list[float]]:
    """Verdicts of a run that nobody disturbs, and the seconds that each took."""
    verdicts, seconds = {}, []
    with start(folder, cache, mark) as process:
        assert process.stdout
        begin = time.monotonic()
        for line in process.stdout:
            name, verdict = json.loads(line)
            verdicts[name] = verdict
            seconds.append(time.monotonic() - begin - sum(seconds))
    return verdicts, seconds


def in_private(command: Sequence[str]) -> list[str]:
    """The command with an empty /dev/shm of its own; as it is where the kernel allows none."""
    alone = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    script = 'mount -t tmpfs none /dev/shm && exec "$@"'
    able = (
        shutil.which("unshare")
        and not subprocess.run(
            [*alone, script, "sh", "true"], capture_output=True, check=False
        ).returncode
    )
    return [*alone, script, "sh", *command] if able else list(command)


def descendants() -> list[int]:
    """Living children of this process, which inherits those of the dead; zombies are reaped."""
    found = []
    me = str(os.getpid())
    for entry in os.listdir("/proc"):
        try:
            state, parent = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()[:2]
        except (OSError, ValueError):
            continue
        if parent == me and entry.isdigit():
            if state == "Z":
                os.waitpid(int(entry), 0)
            else:
                found.append(int(entry))
    return found


def silence() -> tuple[int, float]:
    """How many descendants are left after a while, and when the last one went."""
    begin = time.monotonic()
    while (left := descendants()) and time.monotonic() - begin < PATIENCE_SECONDS:
        time.sleep(0.005)
    elapsed = time.monotonic() - begin
    for pid in left:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return len(left), elapsed


def is_whole(library: Path) -> bool:
    """Whether an ELF file reaches to the end of its section table, which comes last."""
    head = library.read_bytes()[:64]
    if len(head) < 64 or head[:4] != b"\x7fELF":
        return False
    (table,) = struct.unpack_from("<Q", head, 40)
    size, count = struct.unpack_from("<HH", head, 58)
    return library.stat().st_size >= table + size * count


def kill(process: "subprocess.Popen[bytes]", judged: int, seconds: float) -> int:
    """SIGKILL so long after so many verdicts; how many verdicts there were."""
    assert process.stdout
    before = sum(bool(process.stdout.readline()) for _ in range(judged))
    time.sleep(seconds)
    process.kill()
    return before + process.communicate()[0].count(b"\n")


def moment(chance: random.Random, phases: Sequence[float]) -> tuple[int, float]:
    """A random moment of a run: verdicts before it, and seconds since the last of them."""
    phase = chance.randrange(len(phases))
    return phase, chance.uniform(0, phases[phase])


def different(folder: Path, cache: Path, mark: str) -> dict[str, str]:
    """Verdicts of a clean run that are not as expected."""
    verdicts = clean_run(folder, cache, mark)[0]
    return {
        name: verdicts.get(name, "none")
        for name in EXPECTED
        if verdicts.get(name) != EXPECTED[name]
    }


def rounds(folder: Path, seed: int, count: int) -> Iterator[Round]:
    """Kill judges at random moments."""
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    chance = random.Random(seed)
    (folder / "tmp").mkdir()
    verdicts, phases = clean_run(folder, folder / "undisturbed", "undisturbed")
    assert verdicts == EXPECTED, verdicts
    private = not os.listdir("/dev/shm")
    for number in range(count):
        cache = folder / f"cache{number // GROUP}"
        judged, seconds = moment(chance, phases)
        judged = kill(start(folder, cache, str(number)), judged, seconds)
        left, until = silence()
        entries = list((cache / "compiled").glob("*.so"))
        last = (number + 1) % GROUP == 0 or number + 1 == count
        clean = different(folder, cache, str(number)) if last else None
        yield Round(
            judged=judged,
            seconds=round(seconds, 3),
            processes=left,
            seconds_to_silence=round(until, 3),
            shared_memory=len(os.listdir("/dev/shm")) if private else None,
            folders=len(os.listdir(folder / "tmp")),
            broken=sum(not is_whole(path) for path in entries),
            drafts=len(list((cache / "compiled" / "building").glob("*"))),
            different=clean,
        )


def main(task: str, *words: str) -> None:
    if task == "judge":
        judge(Path(words[0]), words[1])
        return
    for one in rounds(Path(words[0]), int(words[1]), int(words[2])):
        print(json.dumps(asdict(one)), flush=True)  # noqa: T201 - its output


if __name__ == "__main__":
    main(*sys.argv[1:])
