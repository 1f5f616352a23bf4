"""Candidates a second on GPUs, and source to verdict, beside the driver's limit on contexts.

    python benchmarks/run.py throughput [--gpus 1,2,4] [--sections contexts,isolated,...]

Every isolated candidate needs a CUDA context of its own, which the driver makes one after the
other: `contexts` is how many a second it makes for 1 to 8 processes, the best of which is the
limit. `isolated` and `full` are candidates a second through the pool, one judge a GPU,
their source texts different and compiled before; "scaling" is against one GPU. `agreement` sets
times from the pool beside those of the same candidates judged one by one, with pauses between
them, on a GPU where nothing else happens; "compiling" are times at grade full while other
candidates are compiled; "again" is the second of two runs one by one beside the first.
Candidates of matmul-device allocate nothing in a timed call, those of matmul-call do in every one.
Not measured: several hosts.
"""

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from run import machine

from regraph_kg.errors import RegraphError, ToolError
from regraph_kg.evaluation.compile.toolchain import find_cuda, find_gcc
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.gpu.device import find_gpus
from regraph_kg.evaluation.hosts.pool import JudgePool, JudgeRequest
from regraph_kg.evaluation.machine import Machine
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.evaluation.rules import Defences, JudgeLimits
from regraph_kg.evaluation.slots import SessionRules
from regraph_kg.models.evaluation import Candidate, EvalReport, Grade

HERE = Path(__file__).parent
PROCESSES = (1, 2, 3, 4, 8)
PAUSE_SECONDS = 0.6
"""Between candidates judged one by one: the next worker is warm by then."""
MAKE_A_CONTEXT = """
#include <cuda_runtime_api.h>
int main() { return cudaFree(nullptr) != cudaSuccess; }
"""


@dataclass(frozen=True)
class Extent:
    """How much is measured."""

    candidates: int
    full: int
    one_by_one: int
    verdicts: int
    window_seconds: float
    small: bool

    def problem(self, folder: Path) -> Problem:
        """The problem; in a small run its timing shape is a check shape."""
        problem = load_problem(folder)
        if not self.small:
            return problem
        sizes = problem.sizes.model_copy(update={"time": problem.sizes.check[-1]})
        return problem.model_copy(update={"sizes": sizes})


WHOLE = Extent(60, 5, 9, 10, 3.0, small=False)
SMALL = Extent(4, 1, 2, 2, 0.3, small=True)


class Subject:
    """A problem and any number of different candidates for it."""

    def __init__(self, folder: Path, extent: Extent) -> None:
        self.problem = extent.problem(folder)
        self._codes = [path.read_text() for path in sorted(folder.glob("candidates/*.cu"))]
        headers = folder / "headers.cu"
        self.headers = headers.read_text() if headers.exists() else None
        self._numbers = itertools.count()

    def fresh(self, count: int, code: str | None = None) -> list[JudgeRequest]:
        """Candidates with source texts never seen before."""
        codes = itertools.cycle([code] if code else self._codes)
        return [
            JudgeRequest(
                Candidate("cuda", f"{next(codes)}\n// {next(self._numbers)}\n"), self.problem
            )
            for _ in range(count)
        ]


class Bench:
    """All sections; each returns its rows, and says how far it is."""

    def __init__(self, cache: Path, subjects: list[Subject], extent: Extent) -> None:
        self._cache, self._subjects, self._extent = cache, subjects, extent
        self._machine = Machine(cache, SessionRules(0, Defences(), JudgeLimits()), 0)
        self._limit: dict[int, float] = {}
        self._with_one_gpu: dict[tuple[str, str, str], float] = {}

    def contexts(self, gpus: int) -> Iterator[dict[str, Any]]:
        """Processes that make a context and end, in parallel, over so many GPUs."""
        program = self._compiled(MAKE_A_CONTEXT)
        visible = [gpu.visible for gpu in find_gpus()[:gpus]]
        if len(visible) < gpus:
            raise ToolError(f"of {gpus} GPUs only {len(visible)} are there")
        for processes in PROCESSES:
            rate = self._rate(program, visible, processes)
            self._limit[gpus] = max(rate, self._limit.get(gpus, 0.0))
            yield {"gpus": gpus, "processes": processes, "per_second": round(rate, 2)}

    def _compiled(self, source: str) -> Path:
        cuda, folder = find_cuda(), self._cache / "contexts"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "make.cpp").write_text(source)
        where = cuda.runtime.parent
        link = (f"-L{where}", f"-l:{cuda.runtime.name}", f"-Wl,-rpath,{where}")
        command = [str(find_gcc().path), f"-I{cuda.include}", "make.cpp", *link, "-o", "make"]
        subprocess.run(command, cwd=folder, check=True)
        return folder / "make"

    def _rate(self, program: Path, visible: Sequence[str], processes: int) -> float:
        end = time.perf_counter() + self._extent.window_seconds

        def make(number: int) -> int:
            made = 0
            environment = {
                "CUDA_VISIBLE_DEVICES": visible[number % len(visible)],
                "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
            }
            while time.perf_counter() < end:
                subprocess.run([program], check=True, env=environment)
                made += 1
            return made

        start = time.perf_counter()
        with ThreadPoolExecutor(processes) as threads:
            made = sum(threads.map(make, range(processes)))
        return made / (time.perf_counter() - start)

    def isolated(self, gpus: int) -> Iterator[dict[str, Any]]:
        """Screening, a process for each candidate."""
        return self._through_pool(gpus, "screening", self._extent.candidates)

    def full(self, gpus: int) -> Iterator[dict[str, Any]]:
        """Grade full."""
        return self._through_pool(gpus, "full", self._extent.full)

    def _through_pool(self, gpus: int, grade: Grade, count: int) -> Iterator[dict[str, Any]]:
        for subject in self._subjects:
            works = subject.fresh(count * gpus)
            self._compile(works)
            with JudgePool(self._cache, range(gpus), grade) as pool:
                self._open_everywhere(pool, subject, gpus)
                taken, reports = seconds(lambda pool=pool, works=works: pooled(pool, works))
            rate = len(works) / taken
            same = (subject.problem.name, grade)
            if gpus == 1:
                self._with_one_gpu[same] = rate
            alone = self._with_one_gpu.get(same)
            row = {
                "gpus": gpus,
                "problem": subject.problem.name,
                "scaling": round(rate / alone, 2) if alone else None,
                "grade": grade,
                "candidates": len(works),
                "per_second": round(rate, 2),
                "of_limit": self._of_limit(gpus, rate),
            }
            yield row | outcomes(reports) | stages(reports)

    def _of_limit(self, gpus: int, rate: float) -> float | None:
        """Against the driver's rate for as many GPUs."""
        return round(rate / self._limit[gpus], 3) if gpus in self._limit else None

    def _open_everywhere(self, pool: JudgePool, subject: Subject, gpus: int) -> None:
        """Until each GPU has timed the serial code."""
        seen: set[str] = set()
        for _ in range(20):
            works = subject.fresh(2 * gpus)
            seen |= {report.facts.get("gpu", "") for report in pooled(pool, works)}
            if len(seen) >= gpus:
                return
        raise ToolError(f"of {gpus} GPUs only {sorted(seen)} judge")

    def _compile(self, works: Iterable[JudgeRequest]) -> None:
        with ThreadPoolExecutor() as threads:
            list(threads.map(lambda w: self._machine.program(w.candidate, w.problem), works))

    def agreement(self, _: int) -> Iterator[dict[str, Any]]:
        """The same candidates through the pool without a pause, and one by one with pauses."""
        for subject in self._subjects:
            works = subject.fresh(self._extent.one_by_one)
            self._compile(works)
            with JudgePool(self._cache, [0]) as pool:
                self._open_everywhere(pool, subject, 1)
                together = times(pooled(pool, works))
            with JudgePool(self._cache, [0], "full") as pool:
                self._open_everywhere(pool, subject, 1)
                compiling = times(pooled(pool, subject.fresh(self._extent.one_by_one)))
            with Judge(self._cache) as judge:
                judge.evaluate(subject.fresh(1)[0].candidate, subject.problem)
                alone, again = (times(self._one_by_one(judge, works)) for _ in range(2))
            yield {
                "problem": subject.problem.name,
                "candidates": len(works),
                **ratios("pool", together, alone),
                **ratios("compiling", compiling, alone),
                **ratios("again", again, alone),
            }

    def _one_by_one(self, judge: Judge, works: Iterable[JudgeRequest]) -> Iterator[EvalReport]:
        for work in works:
            time.sleep(0.0 if self._extent.small else PAUSE_SECONDS)
            yield judge.evaluate(work.candidate, work.problem)


def pooled(pool: JudgePool, works: Iterable[JudgeRequest]) -> list[EvalReport]:
    """Reports on all, as many at once as keep the pool busy."""
    with ThreadPoolExecutor(pool.at_once) as threads:
        return list(threads.map(lambda work: pool.evaluate(work.candidate, work.problem), works))


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def outcomes(reports: Sequence[EvalReport]) -> dict[str, Any]:
    """How they ended; the first diagnosis of another ending than a pass."""
    counts = Counter(str(report.outcome) for report in reports)
    other = [r.diagnosis.splitlines()[0] for r in reports if r.diagnosis]
    return {"outcomes": dict(counts), "diagnosis": other[0] if other else ""}


def stages(reports: Sequence[EvalReport]) -> dict[str, float]:
    """Median seconds of each stage."""
    return {
        f"{name}_s": round(statistics.median(r.stages.get(name, 0.0) for r in reports), 4)
        for name in ("compile", "verify", "time", "total")
    }


def times(reports: Iterable[EvalReport]) -> list[float | None]:
    return [report.timing.median if report.timing else None for report in reports]


def ratios(
    name: str, ours: Sequence[float | None], theirs: Sequence[float | None]
) -> dict[str, Any]:
    """Median, least and greatest of the ratios of two lists of times."""
    found = [a / b for a, b in zip(ours, theirs, strict=True) if a and b]
    if not found:
        return {f"{name}_{of}": None for of in ("median", "least", "most")}
    return {
        f"{name}_median": round(statistics.median(found), 4),
        f"{name}_least": round(min(found), 4),
        f"{name}_most": round(max(found), 4),
    }


SECTIONS = ("contexts", "isolated", "agreement", "full")
BY_GPUS = ("contexts", "isolated", "full")


class Result:
    """The figures so far, written after every section."""

    def __init__(self, file: Path | None) -> None:
        self._file, self._start = file, time.perf_counter()
        self._head = {
            "benchmark": "throughput",
            "command": " ".join(("python", "benchmarks/throughput.py", *sys.argv[1:])),
            "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        }
        self._facts = machine()
        self.figures: dict[str, Any] = {"not_measured": []}

    def run(self, name: str, gpus: int, section: Callable[[int], Iterator[dict[str, Any]]]) -> None:
        """One section; whatever goes wrong in it, the others are still worth having."""
        try:
            for row in section(gpus):
                self.figures.setdefault(name, []).append(row)
                self._say(f"{name}: {json.dumps(row)}")
        except Exception as error:  # noqa: BLE001
            text = str(error).partition("\n")[0][:300]
            kind = "" if isinstance(error, RegraphError) else f"{type(error).__name__}: "
            self.figures["not_measured"].append(f"{name} with {gpus} GPUs: {kind}{text}")
            self._say(f"{name}: {kind}{text}")
        self._write()

    def _say(self, text: str) -> None:
        print(f"{time.perf_counter() - self._start:6.1f} s {text}", file=sys.stderr, flush=True)

    def _write(self) -> None:
        if self._file:
            passed = round(time.perf_counter() - self._start)
            whole = self._head | {"seconds": passed, "machine": self._facts}
            text = json.dumps(whole | {"figures": self.figures}, indent=2)
            self._file.write_text(text + "\n", encoding="utf-8")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure candidates a second on GPUs.")
    parser.add_argument("--gpus", default="1", help="how many, e.g. 1,2,4")
    parser.add_argument("--sections", default=",".join(SECTIONS), help=",".join(SECTIONS))
    parser.add_argument("--problems", type=Path, default=HERE / "problems")
    parser.add_argument("--cache", type=Path, help="where compiled code is kept; else thrown away")
    parser.add_argument("--out", type=Path, help="also write the result here, after every section")
    parser.add_argument("--smoke", action="store_true", help="little of everything: does it run?")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    extent = SMALL if options.smoke else WHOLE
    numbers = [int(number) for number in options.gpus.split(",")]
    folders = sorted(path.parent for path in options.problems.glob("*/problem.toml"))
    result = Result(options.out)
    with tempfile.TemporaryDirectory() as temporary:
        subjects = [Subject(folder, extent) for folder in folders]
        bench = Bench(options.cache or Path(temporary), subjects, extent)
        for name in options.sections.split(","):
            for gpus in numbers if name in BY_GPUS else [1]:
                result.run(name, gpus, getattr(bench, name))
    print(json.dumps(result.figures))


if __name__ == "__main__":
    main()
