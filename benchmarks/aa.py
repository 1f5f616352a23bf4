"""A/A test and planted 5 %: how often equal code is called different, and a difference is found.

    python benchmarks/run.py aa                          needs a GPU
    python benchmarks/aa.py --out FILE                   the same, partial results kept in FILE
    python benchmarks/aa.py --again FILE                 decide anew on the samples of such a run
    python benchmarks/aa.py --smoke                      openmp, small: shows that the script runs

Each measurement is a pair of fresh workers at the full grade, timed in turn. One code is measured
against itself `--pairs` times: a kernel of about 20 us, one of about 200 us (metric "device"), and
the first behind copies and allocations (metric "call").

A trial of the A/A test: of a window of 12 pairs that follow each other, at a random place, 8 are
drawn and kept in order, their sides changed at random, and compared after 3, 5 and 8 until
something is known, as a full evaluation does. Trials share measurements: 1,000 of them are not
1,000 independent experiments.

The planted difference: a variant of the 200 us kernel that runs more of the same steps, so many
more that it takes 5 % longer (measured; the ratio that was reached is reported).

Prints one JSON object with all samples, in nanoseconds. Not measured: other machines' noise, other
tenants of the GPU.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from regraph_kg.evaluation.compare import LOOKS, compare
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.evaluation.timing.timing import MeasuredSeries
from regraph_kg.models.evaluation import Candidate
from regraph_kg.models.target import Target

PLANTED = 1.05
WINDOW = 12
TABLES = ("same", "planted")
CALIBRATION = 5
"""Pairs that set the variant's steps; done twice."""

TOML = """schema = 1
name = "settle"
entry = "settle"
metric = "{metric}"
tolerance = {{ absolute = 1e-5 }}
work = {{ flop = "128*n", bytes = "8*n" }}
[sizes]
check = [{{ n = 1 }}, {{ n = 1000 }}]
time = {{ n = {n} }}
[[args]]
name = "x"
type = "float32"
role = "in"
shape = ["n"]
values = ["uniform"]
[[args]]
name = "y"
type = "float32"
role = "out"
shape = ["n"]
[[args]]
name = "n"
type = "int32"
role = "size"
size = "n"
"""
SERIAL = """extern "C" void settle(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) {
    float v = 0.0f;
    for (int step = 0; step < 64; ++step) v = 0.5f * v + x[i];
    y[i] = v;
  }
}
"""
"""Settles at 2 x: more steps take longer and change nothing."""
KERNEL = """#include <cuda_runtime.h>
__global__ void settle_all(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = 0.0f;
  for (int step = 0; step < @STEPS@; ++step) v = 0.5f * v + x[i];
  y[i] = v;
}
"""
DEVICE = """extern "C" void settle(const float* x, float* y, int n) {
  settle_all<<<(n + 255) / 256, 256>>>(x, y, n);
}
"""
CALL = """extern "C" void settle(const float* x, float* y, int n) {
  float *a, *b;
  cudaMalloc(&a, 4ull * n);
  cudaMalloc(&b, 4ull * n);
  cudaMemcpy(a, x, 4ull * n, cudaMemcpyHostToDevice);
  settle_all<<<(n + 255) / 256, 256>>>(a, b, n);
  cudaMemcpy(y, b, 4ull * n, cudaMemcpyDeviceToHost);
  cudaFree(a);
  cudaFree(b);
}
"""
OPENMP = """extern "C" void settle(const float* x, float* y, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    float v = 0.0f;
    for (int step = 0; step < @STEPS@; ++step) v = 0.5f * v + x[i];
    y[i] = v;
  }
}
"""


@dataclass(frozen=True)
class Code:
    """One code on one problem; `steps` sets how long it takes."""

    name: str
    target: Target
    metric: str
    text: str
    n: int
    steps: int

    def candidate(self, steps: int | None = None) -> Candidate:
        return Candidate(self.target, self.text.replace("@STEPS@", str(steps or self.steps)))


CODES = (
    Code("kernel of 20 us", "cuda", "device", KERNEL + DEVICE, 2**20, 600),
    Code("kernel of 200 us", "cuda", "device", KERNEL + DEVICE, 2**20, 6400),
    Code("call with copies", "cuda", "call", KERNEL + CALL, 2**20, 600),
)
PLANTED_IN = 1
"""Which of them the planted difference is built on."""
SMOKE = (Code("openmp", "openmp", "call", OPENMP, 2**14, 100),)


@dataclass
class Run:
    """Everything found so far."""

    judge: Judge
    folder: Path
    pairs: int
    trials: int
    out: Path | None
    figures: dict[str, object] = field(default_factory=dict)
    problems: dict[str, Problem] = field(default_factory=dict)

    def note(self, name: str, figure: object) -> None:
        """Keep a figure, in the file too; a table's rows one after the other."""
        if name in TABLES:
            self.figures.setdefault(name, []).append(figure)
        else:
            self.figures[name] = figure
        if self.out:
            self.out.write_text(json.dumps(self.figures), encoding="utf-8")
        print(f"aa: {name}", file=sys.stderr)

    def problem(self, code: Code) -> Problem:
        if code.metric not in self.problems:
            folder = self.folder / code.metric
            folder.mkdir()
            toml = TOML.format(metric=code.metric, n=code.n)
            (folder / "problem.toml").write_text(toml, encoding="utf-8")
            (folder / "serial.cpp").write_text(SERIAL, encoding="utf-8")
            self.problems[code.metric] = load_problem(folder)
        return self.problems[code.metric]

    def measured(self, code: Code, steps: int, count: int) -> "Pairs":
        """The code, and one with so many steps: their series."""
        codes = code.candidate(), code.candidate(steps)
        pairs = [self.judge.pair(*codes, self.problem(code)) for _ in range(count)]
        return [ours for ours, _ in pairs], [theirs for _, theirs in pairs]


Pairs = tuple[Sequence[MeasuredSeries], Sequence[MeasuredSeries]]
Series = Sequence[Sequence[float]]


def verdict(a: Series, b: Series) -> tuple[str, int]:
    """What is known, and after how many rounds."""
    for rounds in LOOKS:
        found = compare("", a[:rounds], b[:rounds]).verdict
        if found != "unknown":
            break
    return found, rounds


def drawn(rng: random.Random, count: int, window: int, wanted: int) -> list[int]:
    """`wanted` indices in order, from a window of `window` of `count`."""
    window = min(window, count)
    start = rng.randrange(count - window + 1)
    return sorted(rng.sample(range(start, start + window), min(wanted, window)))


def trials(number: int, trial: Callable[[random.Random], tuple[str, int]]) -> dict[str, object]:
    rng = random.Random(1)
    found = [trial(rng) for _ in range(number)]
    return {
        "trials": number,
        "verdicts": dict(Counter(name for name, _ in found)),
        "rounds_mean": round(sum(rounds for _, rounds in found) / number, 2),
    }


def aa(a: Series, b: Series, number: int) -> dict[str, object]:
    """The same code twice."""

    def trial(rng: random.Random) -> tuple[str, int]:
        pairs = [(a[i], b[i]) for i in drawn(rng, len(a), WINDOW, LOOKS[-1])]
        sides = [pair if rng.random() < 1 / 2 else pair[::-1] for pair in pairs]
        return verdict([one for one, _ in sides], [other for _, other in sides])

    found = trials(number, trial)
    return found | {"called_different": different(found["verdicts"])}


def different(verdicts: object) -> int:
    assert isinstance(verdicts, dict)
    return int(verdicts.get("faster", 0)) + int(verdicts.get("slower", 0))


def planted(base: Series, variant: Series, number: int) -> dict[str, object]:
    """The base against the variant."""

    def trial(rng: random.Random) -> tuple[str, int]:
        chosen = drawn(rng, len(base), WINDOW, LOOKS[-1])
        return verdict([base[i] for i in chosen], [variant[i] for i in chosen])

    found = trials(number, trial)
    verdicts = found["verdicts"]
    assert isinstance(verdicts, dict)
    return found | {"share_found": verdicts.get("faster", 0) / number}


def raw(measured: Sequence[MeasuredSeries]) -> dict[str, object]:
    """Samples in nanoseconds, and what spread they have."""
    medians = [median(one.samples) for one in measured]
    return {
        "median_us": round(median(medians) * 1e6, 3),
        "workers_spread": round((max(medians) - min(medians)) / median(medians), 5),
        "circumstances": [one.facts() for one in (measured[0], measured[-1])],
        "sm_clock_mhz": [one.gpu.get("sm_clock_mhz", "") for one in measured],
        "samples_ns": [[round(sample * 1e9) for sample in one.samples] for one in measured],
    }


def samples(measured: Sequence[MeasuredSeries]) -> Series:
    return [one.samples for one in measured]


def calibrated(run: Run, code: Code) -> tuple[int, list[float]]:
    """Steps of the variant that takes 5 % longer; the ratios seen on the way."""
    steps, ratios = round(code.steps * PLANTED), []
    for _ in range(2):
        base, variant = run.measured(code, steps, CALIBRATION)
        ratios.append(compare("", samples(base), samples(variant)).ratio)
        off = (PLANTED - 1) / max(ratios[-1] - 1, 0.01)
        steps = code.steps + max(1, round((steps - code.steps) * min(max(off, 0.5), 2.0)))
    return steps, ratios


def sections(run: Run, codes: Sequence[Code]) -> Iterator[tuple[str, dict[str, object]]]:
    for code in codes:
        start = time.perf_counter()
        a, b = run.measured(code, code.steps, run.pairs)
        seconds = (time.perf_counter() - start) / run.pairs
        found = {"code": code.name} | aa(samples(a), samples(b), run.trials)
        yield "same", found | {"seconds_each": round(seconds, 3)} | raw(a) | {"b": raw(b)}
    code = codes[min(PLANTED_IN, len(codes) - 1)]
    steps, ratios = calibrated(run, code)
    base, variant = run.measured(code, steps, max(run.pairs, WINDOW))
    found = planted(samples(base), samples(variant), run.trials)
    whole = compare("", samples(base), samples(variant))
    yield (
        "planted",
        found
        | {
            "code": code.name,
            "steps": [code.steps, steps],
            "calibration_ratios": [round(ratio, 5) for ratio in ratios],
            "measured_ratio": round(whole.ratio, 5),
            "measured_ratio_interval": [whole.interval.low, whole.interval.high],
            "base": raw(base),
            "variant": raw(variant),
        },
    )


def again(figures: dict[str, Any], number: int) -> dict[str, Any]:
    """The figures of an earlier run, its samples compared by the rules of now."""
    for row in figures["same"]:
        row.update(aa(row["samples_ns"], row["b"]["samples_ns"], number))
    for row in figures.get("planted", []):
        row.update(planted(row["base"]["samples_ns"], row["variant"]["samples_ns"], number))
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description="A/A test and planted difference.")
    parser.add_argument("--pairs", type=int, default=40, help="pairs of fresh workers a code")
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--smoke", action="store_true", help="openmp, small")
    parser.add_argument("--out", type=Path, help="file for partial results")
    parser.add_argument("--again", type=Path, help="decide anew on an earlier run's samples")
    given = parser.parse_args()
    if given.again:
        figures = json.loads(given.again.read_text(encoding="utf-8"))
        print(json.dumps(again(figures.get("figures", figures), given.trials)))
        return
    codes = SMOKE if given.smoke else CODES
    pairs, number = (8, 50) if given.smoke else (given.pairs, given.trials)
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder, "cache")
        cache.mkdir()
        with Judge(cache) as judge:
            run = Run(judge, Path(folder), pairs, number, given.out)
            run.note("date", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC")
            run.note("command", " ".join(("python", *sys.argv)))
            run.note("device", judge.device(codes[0].target))
            run.note("toolchain", judge.toolchain(codes[0].target))
            for name, found in sections(run, codes):
                run.note(name, found)
    print(json.dumps(run.figures))


if __name__ == "__main__":
    main()
