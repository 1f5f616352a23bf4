"""Which system calls candidates' workers make after they are confined, and which are refused.

    python -m tests.evaluation.confined.collect_calls [--target openmp|cuda] [--full] [--only NAME]

Judges the honest candidates of a target with the project's own Judge, whose workers run under a
filter that hands every call to a listener instead of refusing it: nothing for code that is not
trusted. Prints JSON: by call, the answer that the filter of evaluation/confined/seccomp.py would
have given (0: allowed; else the errno) with the arguments that say what is asked, and all
arguments of the first such call.
"refused" repeats those that would not be allowed: where honest code makes them, the lists of
evaluation/confined/calls.py or the arguments allowed in evaluation/confined/seccomp.py want a
look. clone3 is among them always: it is answered ENOSYS here as well, and libraries call clone
then.

Needs Linux 5.7, x86_64 or aarch64. Judging takes several times as long as usual; verdicts on times
mean nothing. Not seen: calls before confinement; what libraries do once a call has been refused.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.problem import load_problem
from regraph_kg.evaluation.rules import JudgeLimits
from regraph_kg.models.evaluation import Candidate
from regraph_kg.models.target import Target
from tests.adversarial.source import honest, problem_folder

HERE = Path(__file__).resolve().parent
LIMITS = JudgeLimits(load_seconds=60, call_seconds=60, sanitizer_seconds=0)
HEADERS = ("asm/unistd_64.h", "x86_64-linux-gnu/asm/unistd_64.h", "asm-generic/unistd.h")

RECORDER = r"""
import ctypes, json, os, struct, sys, time
above, orders, output, here = sys.argv[1:]
sys.path += [above, here]
import bpf
from confined import calls, filters, seccomp, worker
ASKED = {'clone': (0,), 'openat': (2,), 'fcntl': (1, 2), 'ioctl': (1,), 'tgkill': (2,),
         'prctl': (0,), 'prlimit64': (1,), 'clock_gettime': (0,), 'madvise': (2,)}
RECEIVE, SEND, ASK, CONTINUE = 0xC0502100, 0xC0182101, 0x7FC00000, 1
CLONE3 = 435
machine = filters.architecture()
asked = {calls.LIBC[name][machine]: at for name, at in ASKED.items() if name in calls.LIBC}

def listen(libc, descriptor, code):
    libc.prctl(1, 9, 0, 0, 0)
    seen, request, reply = set(), ctypes.create_string_buffer(80), ctypes.create_string_buffer(24)
    while True:
        ctypes.memset(request, 0, 80)
        if libc.ioctl(descriptor, ctypes.c_ulong(RECEIVE), request):
            if ctypes.get_errno() == 9: time.sleep(0.001)  # not there yet
            elif ctypes.get_errno() not in (2, 4): os._exit(0)
            continue
        id_, _, _, call, _, _, *given = struct.unpack('<QIIiIQ6Q', request.raw)
        said = bpf.answer(code, machine, call, given)
        kind = (call, said, *(given[at] & 0xFFFFFFFF for at in asked.get(call, ())))
        if kind not in seen:
            seen.add(kind)
            os.write(int(output), (json.dumps([call, said, kind[2:], given]) + '\n').encode())
        missing = call == CLONE3  # so that its elder is seen, whose flags a filter can read
        reply.raw = struct.pack('<QqiI', id_, 0, -38 * missing, CONTINUE * (not missing))
        libc.ioctl(descriptor, ctypes.c_ulong(SEND), reply)

def recorded(libc, flavour):
    code = seccomp.program(machine, os.getpid(), flavour)
    descriptor = os.dup(int(output)); os.close(descriptor)
    shared_descriptors = 0x400
    child = libc.syscall(calls.LIBC['clone'][machine], shared_descriptors | 17, 0, 0, 0, 0)
    if child == 0:
        try: listen(libc, descriptor, code)
        finally: os._exit(1)
    asking = ctypes.create_string_buffer(struct.pack('<HBBI', 6, 0, 0, ASK))
    filter_ = struct.pack('@HP', 1, ctypes.addressof(asking))
    every_thread, new_listener, no_thread_id = 1, 8, 16
    flags = every_thread | new_listener | no_thread_id
    made = libc.syscall(filters.SECCOMP_CALL[machine], 1, flags, filter_)
    if made != descriptor: os._exit(97)
    return True

seccomp.confine = recorded
worker.start(orders)
"""


class Recording:
    """While open, workers that are started hand their calls to us."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        self.seen: dict[int, dict[str, str]] = {}
        self._reader = threading.Thread(target=self._collect)
        self._popen = subprocess.Popen

    def __enter__(self) -> "Recording":
        write, popen = self._write, self._popen

        class Recorded(popen):  # type: ignore[misc, valid-type]
            def __init__(self, args: Any, **options: Any) -> None:
                at = [i for i, arg in enumerate(args) if "confined import worker" in str(arg)]
                if at:
                    here = (RECORDER, *args[at[0] + 1 :], str(write), str(HERE))
                    args = [*args[: at[0]], *here]
                    options["pass_fds"] = (*options.get("pass_fds", ()), write)
                super().__init__(args, **options)

        subprocess.Popen = Recorded  # type: ignore[misc]
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.Popen = self._popen  # type: ignore[misc]
        os.close(self._write)
        self._reader.join()

    def _collect(self) -> None:
        with os.fdopen(self._read) as lines:
            for line in lines:
                call, said, looked_at, given = json.loads(line)
                kind = " ".join([f"answer {said}:", *(f"{value:#x}" for value in looked_at)])
                first = " ".join(f"{value:#x}" for value in given)
                self.seen.setdefault(call, {}).setdefault(kind, first)


def names() -> dict[int, str]:
    """Names of calls, as far as this machine has headers for them."""
    for header in HEADERS:
        path = Path("/usr/include", header)
        if path.exists():
            found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", path.read_text())
            return {int(number): name for name, number in found}
    return {}


def judged(target: Target, full: bool, only: str) -> dict[str, str]:
    """Judge a target's candidates; outcome and, where there is one, diagnosis, by file."""
    files = [(path, name) for path, name in honest(target) if only in path.name]
    outcomes = {}
    with tempfile.TemporaryDirectory() as cache, Judge(Path(cache), limits=LIMITS) as judge:
        for path, name in files:
            problem = load_problem(problem_folder(name))
            candidate = Candidate(target, path.read_text(encoding="utf-8"))
            report = judge.evaluate(candidate, problem, grade="full" if full else "screening")
            outcomes[path.name] = f"{report.outcome.value} {report.diagnosis}".strip()
    return outcomes


def collected(target: Target, full: bool = False, only: str = "") -> dict[str, Any]:
    """What is printed."""
    with Recording() as recording:
        outcomes = judged(target, full, only)
    known = names()
    table = {known.get(call, str(call)): kinds for call, kinds in sorted(recording.seen.items())}
    refused = {
        name: wrong
        for name, kinds in table.items()
        if (wrong := {kind: first for kind, first in kinds.items() if "answer 0:" not in kind})
    }
    return {"outcomes": outcomes, "calls": table, "refused": refused}


def main() -> None:
    """Collect and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", maxsplit=1)[0])
    parser.add_argument("--target", choices=("openmp", "cuda"), default="openmp")
    parser.add_argument("--full", action="store_true", help="at the full grade, with the profiler")
    parser.add_argument("--only", default="", help="files whose name holds this")
    given = parser.parse_args()
    json.dump(collected(given.target, given.full, given.only), sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
