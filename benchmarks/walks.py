"""Generated trajectories: walks over 216 pairs of techniques, some far more often walked than most.

The successor of a technique is drawn with Zipf's weights. One trajectory in ten is of one problem,
the rest are of a thousand. Each step has about 2 kB of code, 300 characters of reasoning, and one
measurement on one of three devices; one step in twenty has a failed attempt beside it.
"""

import itertools
import json
import random
from bisect import bisect
from collections import Counter
from collections.abc import Iterator
from typing import Any

from regraph_kg.models.technique import Technique, start_id

STEPS = 5
"""Steps of a trajectory: each becomes one example."""
TECHNIQUES, SUCCESSORS, PROBLEMS = 35, 6, 1_000
HOTTEST, OF_HOTTEST = "problem-0", 0.1
"""The problem with most trajectories, and its part of all."""
FAILURES = 0.05
"""Failed attempts per step."""
DEVICES = ("NVIDIA H200", "NVIDIA A100-SXM4-80GB", "NVIDIA L40S")
CODE_LINES, REASONING_WORDS = 30, 48
START = start_id("cuda")
IDS = tuple(f"cuda/technique-{number}" for number in range(TECHNIQUES))

_TEXT = """
the loop is bound by memory bandwidth so each thread should load neighbouring words once and keep
them in shared memory registers while warps that wait hide latency of global stores because
occupancy divergence coalescing reuse tile block stride alignment prefetch unroll factor two four
eight sixteen reduction atomics barrier bank conflict vector half float
"""
_WORDS = tuple(_TEXT.split())


def vocabulary() -> list[Technique]:
    """The techniques walked over."""
    return [
        Technique(id=name, name=f"Technique {number}", target="cuda")
        for number, name in enumerate(IDS)
    ]


class Walks:
    """An endless supply of trajectories as lines of JSON; the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        """Seeds differ: so do all their lines."""
        shape = random.Random(1)
        self._follows = {name: shape.sample(IDS, SUCCESSORS) for name in (START, *IDS)}
        self._weights = list(itertools.accumulate(1 / rank for rank in range(1, SUCCESSORS + 1)))
        self._code = [
            f"  for (int i = 0; i < n; ++i) x[i] += {shape.random()}f * y[i];\n" for _ in range(999)
        ]
        self._rng = random.Random(seed)
        self._seed, self._number = seed, 0
        self.pairs: Counter[tuple[str, str]] = Counter()
        """How often each pair was walked."""

    def lines(self, count: int) -> bytes:
        """The next `count` trajectories."""
        return "".join(json.dumps(self._walk()) + "\n" for _ in range(count)).encode()

    def _walk(self) -> dict[str, Any]:
        rng, at = self._rng, START
        self._number += 1
        steps: list[dict[str, Any]] = []
        failures: list[dict[str, Any]] = []
        for number in range(STEPS):
            if rng.random() < FAILURES:
                failures.append(self._failure(number, self._next(at)))
            following = self._next(at)
            self.pairs[at, following] += 1
            at = following
            steps.append(
                {
                    "label": f"Technique {at.rpartition('-')[2]}",
                    "reasoning": " ".join(rng.choices(_WORDS, k=REASONING_WORDS)),
                    "detail": " ".join(rng.choices(_WORDS, k=REASONING_WORDS // 3)),
                    "code": self._text(),
                    "measurements": [self._measurement(1.5**number)],
                }
            )
        source = {"model": "deepseek-r1", "created": "2026-11-20T10:00:00Z", "licence": "MIT"}
        return {
            "schema": 1,
            "target": "cuda",
            "problem": HOTTEST
            if rng.random() < OF_HOTTEST
            else f"problem-{rng.randrange(PROBLEMS)}",
            "serial": f"// {self._seed} {self._number}\n{self._text()}",
            "source": source | {"prompt_hash": f"sha256:{rng.getrandbits(256):064x}"},
            "steps": steps,
            "failures": failures,
        }

    def _next(self, at: str) -> str:
        place = bisect(self._weights, self._rng.random() * self._weights[-1])
        return self._follows[at][place]

    def _text(self) -> str:
        lines = "".join(self._rng.choices(self._code, k=CODE_LINES))
        return f'extern "C" void work(float* x, const float* y, int n) {{\n{lines}}}\n'

    def _measurement(self, serial: float) -> dict[str, Any]:
        return {
            "device": self._rng.choice(DEVICES),
            "toolchain": "nvcc 13.0.88 -O3",
            "evaluator": "1",
            "run": f"{self._seed}/{self._number}",
            "outcome": "passed",
            "metric": "call",
            "seconds": self._rng.uniform(0.3, 1.1),
            "before_seconds": 1.0,
            "serial_seconds": serial,
        }

    def _failure(self, after: int, technique: str) -> dict[str, Any]:
        return {
            "after_step": after,
            "label": f"Technique {technique.rpartition('-')[2]}",
            "outcome": self._rng.choice(("compile_failed", "wrong_answer", "crashed")),
            "diagnosis": "element 17 is 0.25, expected 0.5",
            "code_hash": f"sha256:{self._rng.getrandbits(256):064x}",
            "code": self._text(),
            "device": self._rng.choice(DEVICES),
        }


def reasonings(seed: int) -> Iterator[str]:
    """Endless texts to look for."""
    rng = random.Random(seed)
    while True:
        yield " ".join(rng.choices(_WORDS, k=REASONING_WORDS))
