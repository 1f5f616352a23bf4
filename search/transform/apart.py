"""Transforms of anybody, carried out in a process of their own, which may be lost.

One of a stranger's graph may match without end, write endless texts, or raise large numbers to
large powers. The kernel ends the process where a transform has used its time up, and memory is
bounded there; that transform is left out from then on. Time is the processor's, so that a busy
machine changes nothing; each further code gives a transform a little of it back. What a code takes
to be read is no cost of a transform, and is bounded as well, as all transforms together are in it.
"""

import atexit
import json
import math
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections import defaultdict
from functools import lru_cache
from threading import Lock
from typing import NamedTuple

from regraph_kg.models.base import Frozen
from regraph_kg.models.text import plain
from regraph_kg.search.transform.transform import LONGEST, Transform, carried_out, forms

SECONDS, MORE = 1.5, 0.3  # of the processor for a transform: at most, and for each further code
READING, TOGETHER = 3.0, 6.0  # of the processor in a code: to read it, for all transforms
MEMORY = 1 << 30  # bytes, the interpreter's included
MOST_RESULTS = 12  # of all transforms of a technique in one code
_ROOM = 10 * LONGEST  # characters of all that a transform makes of one code
_LINE = 16 * _ROOM  # characters of an answer, which may hold any as escapes
_SPENT = f"it takes more than {SECONDS:g} seconds or {MEMORY >> 30} GiB, and is left out"


class Answer(Frozen):
    """What came of a transform's text."""

    technique: str = ""
    name: str = ""
    says: str = ""
    made: tuple[tuple[int, str], ...] = ()  # codes, each with the number of its choice
    error: str = ""  # why there is nothing, in one line
    seconds: float = 0.0


class Result(NamedTuple):
    """A code that a transform made."""

    transform: str  # its id in a graph
    says: str  # what was done, in its words
    code: str


class _Apart:
    """The process, which begins when it is needed and anew when it was lost."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[str] | None = None
        self._left: dict[str, float] = {}  # seconds, by the transform's text
        self._spent: defaultdict[int, float] = defaultdict(float)  # of all transforms, by code
        self.faults: dict[str, str] = {}  # why transforms are left out, by their texts
        self.slow: dict[int, str] = {}  # what takes too long, by the codes' hashes

    def ask(self, text: str, code: str | None = None, together: float = math.inf) -> Answer:
        """Have a transform read, and carried out on a code: nothing where that takes too long."""
        with self._lock:
            key, left = hash(code), self._left.get(text, SECONDS)
            if self._spent[key] >= together:
                self._give_up(code)
            if key in self.slow:
                return Answer()
            told = self._told(text, code, left) if left > 0 else None
            spent = told.seconds if told is not None else max(left, 0.0)
            self._left[text] = min(SECONDS, left - spent + MORE) if told is not None else 0.0
            self._spent[key] += spent
            told = told or Answer(error=_SPENT)
            if told.error:
                self.faults[text] = told.error
            return told

    def _give_up(self, code: str | None) -> Answer:
        told = f"a code of {len(code or ''):,} characters takes too long for all transforms"
        self.slow[hash(code)] = told
        return Answer()

    def end(self) -> None:
        """End the process; the next question begins another one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _told(self, text: str, code: str | None, seconds: float) -> Answer | None:
        """The answer; None where the process was lost over the transform."""
        process = self._process = self._process or _begun()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps([text, code, READING, seconds]) + "\n")
            process.stdin.flush()
            if code is None or process.stdout.readline() == "read\n":
                return Answer.model_validate_json(process.stdout.readline(_LINE))
        except (OSError, ValueError):
            self.end()
            return None
        self.end()
        return self._give_up(code)


def _begun() -> subprocess.Popen[str]:
    """A process that waits for questions; it knows nothing of this one's environment."""
    kept = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=kept | {"PYTHONIOENCODING": "utf-8"},
        encoding="utf-8",
        process_group=0,  # an interrupt is no matter of its
    )
    if process.stdout is None or process.stdout.readline() != "ready\n":
        raise OSError("no process for transforms begins")
    return process


_APART = _Apart()
atexit.register(_APART.end)


def answer(text: str, code: str | None = None) -> Answer:
    """What a transform is, and what it makes of a code; its error where it cannot be read."""
    return _APART.ask(text, code)


def faults() -> tuple[str, ...]:
    """The transforms that this program has left out, and why: a line for each."""
    left_out = (f"{_named(text)}: {why}" for text, why in _APART.faults.items())
    return (*map(plain, left_out), *slow())


def slow() -> tuple[str, ...]:
    """The codes on which it has not tried all transforms: a line for each."""
    return tuple(_APART.slow.values())


def _named(text: str) -> str:
    """TECHNIQUE/NAME, as far as the first lines tell: nothing of a stranger's is parsed here."""
    found = dict(re.findall(r'^(technique|name) *= *"([^"]{1,80})"', text[:500], re.MULTILINE))
    return "/".join(filter(None, (found.get("technique"), found.get("name")))) or "without a name"


@lru_cache(maxsize=256)
def results(code: str, transforms: tuple[str, ...]) -> tuple[Result, ...]:
    """What transforms, as texts, make of a code: the defaults of all first; each code once."""
    found: dict[str, tuple[int, Result]] = {}
    for one in (_APART.ask(text, code, TOGETHER) for text in transforms):
        for number, new in one.made:
            found.setdefault(new, (number, Result(f"{one.technique}/{one.name}", one.says, new)))
    found.pop(code, None)
    ranked = sorted(found.values(), key=lambda one: one[0])
    return tuple(result for _, result in ranked[:MOST_RESULTS])


@lru_cache(maxsize=512)
def is_any_readable(transforms: tuple[str, ...]) -> bool:
    """Whether one of several texts is a transform."""
    return any(not answer(text).error for text in transforms)


def _answered(text: str, code: str | None, seconds: float) -> Answer:
    """The answer within some seconds of the processor; the kernel ends the process after them."""
    begin = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        one = Transform.of(text)
        made, room = [], _ROOM
        for number, new in carried_out(one, code) if code is not None else ():
            room -= len(new)
            if room < 0:
                break
            made.append((number, new))
        told = {"technique": one.technique, "name": one.name, "says": one.says}
        found = Answer(made=tuple(made), **told)
    except Exception as error:  # noqa: BLE001 (a stranger's transform raises anything)
        found = Answer(error=" ".join(str(error).split())[:300] or type(error).__name__)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return found.model_copy(update={"seconds": time.process_time() - begin})


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _serve() -> None:
    """Answer questions until there are no more."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    _say("ready")
    for text, code, reading, seconds in map(json.loads, sys.stdin):
        if code is not None:
            signal.setitimer(signal.ITIMER_PROF, reading)
            forms(code)  # its facts are no cost of a transform
            signal.setitimer(signal.ITIMER_PROF, 0)
            _say("read")
        _say(_answered(text, code, seconds).model_dump_json())


if __name__ == "__main__":
    _serve()
