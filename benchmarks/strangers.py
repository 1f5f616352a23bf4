"""Functions as strangers write them: taken in, started on a GPU, judged, and brought home.

    python -m benchmarks.strangers [--only NAME,NAME] [--steps in,start,judge,home] [--json FILE]
    python -m benchmarks.strangers --cuda           judges the CUDA start itself; needs a GPU

The start runs on the CPU, a thread after another, beside the serial code.

Each folder of benchmarks/strangers/ holds `code.cpp` (a file with the function), `main.cpp` (a
program that calls it and prints sums), `right.cpp` (an answer for OpenMP, in the user's own types),
`wrong_*.cpp` (mistakes that look honest), `thread.cu` (optional: a thread per element, written by
hand) and `about.toml`: the function, its field, where the pattern is from, the options that
`regraph problem new` needs, whether it can be parallel, the first steps that an expert would take.
"""

import argparse
import json
import math
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from benchmarks.run import machine
from regraph_kg.api.judge import CodeJudge, load_problem
from regraph_kg.cpp.functions import CodeFile, Function, functions, parsed
from regraph_kg.errors import BadInput, RegraphError
from regraph_kg.evaluation.problem.home import load_home
from regraph_kg.evaluation.problem.problem import Problem
from regraph_kg.models.evaluation import EvalReport
from regraph_kg.models.port import Port
from regraph_kg.port.port import port
from regraph_kg.runs import home_changes, take_home
from regraph_kg.runs.take_home import RunAnswer
from regraph_kg.search.run import started_from
from regraph_kg.wiring.problems import task_of
from tests.port.emulated import differences

STRANGERS = Path(__file__).parent / "strangers"
STEPS = ("in", "start", "judge", "home")
MOST_ANSWERS = 2
"""Options with which a person may have to answer `regraph problem new`."""
ROUNDING = 1e-5
"""Printed numbers with a point may differ so much, relatively, after a function went home."""
_ONE_THREAD = re.compile(r"<<<\s*1\s*,\s*1\s*>>>")
COMPILED = ["-O3", "-march=native", "-fopenmp"]


@dataclass(frozen=True)
class Stranger:
    """One function, its file and what is known of it."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @cached_property
    def about(self) -> dict[str, Any]:
        return tomllib.loads((self.folder / "about.toml").read_text(encoding="utf-8"))

    @property
    def short(self) -> str:
        """The function's name without namespaces, template arguments and parameters."""
        plain = re.split(r"[<(]", str(self.about["function"]))[0]
        return plain.rpartition("::")[2]

    @property
    def wrong(self) -> list[Path]:
        return sorted(self.folder.glob("wrong_*.cpp"))


@dataclass
class Row:
    """What came of a function; "" and None: not tried."""

    name: str
    field: str
    taken_in: bool | None = None
    seconds: float = 0.0
    refusal: str = ""
    start: str = ""  # parallel, one thread, refused
    kernels: int = 0
    one_thread: int = 0  # launches of one thread
    start_says: str = ""  # why there is none, or what is wrong with it
    right: str = ""  # outcome of the right answer
    wrong: dict[str, str] = field(default_factory=dict)  # outcomes of wrong ones
    judge_says: str = ""
    home: str = ""  # same, or what went wrong
    cuda: str = ""  # outcome of the start on a GPU
    cuda_says: str = ""
    cuda_seconds: float | None = None
    by_hand_seconds: float | None = None

    @property
    def started(self) -> bool:
        """Whether there is a start in parallel, all of it, against which nothing is said."""
        return self.start == "parallel" and not self.one_thread and not self.start_says

    @property
    def judged(self) -> bool:
        return self.right in ("passed", "unstable_timing") and not any(
            outcome in ("passed", "unstable_timing") for outcome in self.wrong.values()
        )


def strangers(only: str = "") -> list[Stranger]:
    """All of them, or those of the names given."""
    names = {name for name in only.split(",") if name}
    found = [Stranger(path.parent) for path in sorted(STRANGERS.glob("*/about.toml"))]
    return [one for one in found if not names or one.name in names]


def last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("regraph: ").strip() if lines else ""


def take_in(one: Stranger, work: Path, row: Row) -> Path | None:
    """The problem's folder that the command makes; None, and its line, where it refuses."""
    for path in one.folder.iterdir():
        if path.suffix in (".h", ".hpp") or path.name in ("code.cpp", "main.cpp"):
            shutil.copy(path, work)
    options = [str(word) for word in one.about.get("options", ())]
    command = [str(Path(sys.executable).with_name("regraph")), "problem", "new", "code.cpp"]
    command += ["--function", str(one.about["function"]), "--to", "problem", *options]
    began = time.monotonic()
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
    row.seconds = round(time.monotonic() - began, 1)
    row.taken_in = done.returncode == 0
    findings = [line for line in done.stdout.splitlines() if re.match(r"\s*error\b", line)]
    row.refusal = "" if row.taken_in else "; ".join(findings) or last_line(done.stderr)
    return work / "problem" if row.taken_in else None


def look_at_start(problem: Problem, row: Row) -> None:
    """Whether the serial code has a CUDA start, and of which kind."""
    try:
        made = port(problem)
    except Exception as error:  # noqa: BLE001 (a fault of the start is a figure, too)
        row.start, row.start_says = "crashed", f"{type(error).__name__}: {error}"
        return
    if not isinstance(made, Port):
        row.start, row.start_says = "refused", made.why
        return
    row.start = "parallel" if made.parallel else "one thread"
    row.kernels, row.one_thread = made.start.count("<<<"), len(_ONE_THREAD.findall(made.start))
    with tempfile.TemporaryDirectory() as folder:
        row.start_says = "; ".join(unlike(problem, made, folder))


def unlike(problem: Problem, made: Port, folder: str) -> list[str]:
    """What a start gives otherwise than the serial code, on the CPU."""
    try:
        return differences(problem, made, Path(folder))[:2]
    except (subprocess.SubprocessError, OSError, ValueError, AssertionError) as error:
        said = getattr(error, "stderr", None) or str(error)
        text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        first = next((x for x in text.splitlines() if "rror" in x), text[:200])
        return [f"on the CPU: {first[:300]}"]


def whole(problem: Problem, one: Stranger, code: str) -> str:
    """The file that is judged: the serial code with the answer in its function's place.

    The answer is written in the user's types; its head becomes the one that `problem new` made.
    """
    serial, answer = (parsed(Path("a.cpp"), text.encode()) for text in (problem.serial_code, code))
    there = _defined(serial, one.short) or _defined(serial, problem.entry)
    here = _defined(answer, one.short)
    if there is None or here is None:
        raise BadInput(f"{one.name}: no one definition of {one.short} in serial.cpp or the answer")
    start = _start(there)
    head = serial.content[start : there.body.start_byte]
    text = answer.content[: here.outer.start_byte] + head + answer.content[here.body.start_byte :]
    return (serial.content[:start] + text + serial.content[there.outer.end_byte :]).decode()


def _defined(file: CodeFile, name: str) -> Function | None:
    found = [function for function in functions(file) if function.name == name]
    return found[-1] if found else None


def _start(function: Function) -> int:
    """Its first byte, with `extern "C"` where that stands before it."""
    outer = function.outer.parent
    linked = outer is not None and outer.type == "linkage_specification"
    return outer.start_byte if outer is not None and linked else function.outer.start_byte


def told(report: EvalReport) -> str:
    return " ".join(report.diagnosis.split())[:300]


def judge_all(problem: Problem, one: Stranger, judge: CodeJudge, row: Row) -> None:
    """The right answer and each wrong one; a wrong one that passes is looked at once more."""
    right = judge.evaluate(problem, whole(problem, one, read(one.folder / "right.cpp")))
    row.right = right.outcome.value
    says = [] if right.outcome.is_right else [f"right: {told(right)}"]
    for path in one.wrong:
        code = whole(problem, one, read(path))
        report = judge.evaluate(problem, code)
        if report.outcome.is_right:
            report = judge.evaluate(problem, code, grade="full")
        row.wrong[path.stem] = report.outcome.value
        if report.outcome.is_right or report.outcome.value == "compile_failed":
            says.append(f"{path.stem}: {told(report) or report.outcome.value}")
    row.judge_says = "; ".join(says)


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def printed(work: Path, *files: str) -> str:
    """What a program of these files prints; its compiler's or its own failure is said."""
    build = ["g++", *COMPILED, *files, "-o", "program"]
    built = subprocess.run(build, cwd=work, capture_output=True, text=True, check=False)
    if built.returncode:
        error = next((x for x in built.stderr.splitlines() if "error" in x), built.stderr[-200:])
        raise BadInput(f"does not build: {error}")
    done = subprocess.run(
        ["./program"], cwd=work, capture_output=True, text=True, check=False, timeout=300
    )
    if done.returncode:
        raise BadInput(f"ends with {done.returncode}")
    return done.stdout


def same(before: str, after: str) -> bool:
    """Words exactly, numbers with a point nearly."""
    pairs = list(zip(before.split(), after.split(), strict=False))
    if len(before.split()) != len(after.split()):
        return False
    return all(a == b or ("." in a and _near(a, b)) for a, b in pairs)


def _near(a: str, b: str) -> bool:
    try:
        return math.isclose(float(a), float(b), rel_tol=ROUNDING)
    except ValueError:
        return False


def go_home(problem: Problem, one: Stranger, work: Path) -> str:
    """What came of it: "same" where the program prints the same, and undo is exact."""
    home = load_home(work / "problem")
    if home is None:
        return "no home.toml"
    kept = {path.name: path.read_bytes() for path in work.iterdir() if path.is_file()}
    before = printed(work, "main.cpp", "code.cpp")
    (work / "program").unlink()
    code = whole(problem, one, read(one.folder / "right.cpp"))
    header = SimpleNamespace(target="openmp", created="2026-01-01", model="a person")
    run = SimpleNamespace(header=header, path=Path("by-hand.jsonl"))
    verdict = SimpleNamespace(speedup=2.0, speedup_interval=None, device="a CPU", toolchain="g++")
    answer = RunAnswer(
        cast("Any", run), cast("Any", SimpleNamespace(path=())), cast("Any", verdict), code
    )
    changes = take_home.brought_home(answer, problem, home, work / "problem")
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record" / "changes.json"
        home_changes.write(changes, record)
        try:
            new = [change.path.name for change in changes if change.before is None]
            after = printed(work, "main.cpp", "code.cpp", *new)
            (work / "program").unlink()
        finally:
            home_changes.take_back(record)
    if {path.name: path.read_bytes() for path in work.iterdir() if path.is_file()} != kept:
        return "undo left other bytes"
    return "same" if same(before, after) else f"prints {after.split()}, not {before.split()}"


def judge_start(problem: Problem, one: Stranger, judge: CodeJudge, row: Row) -> None:
    """The CUDA start at grade full, and a thread per element by hand, where there is one."""
    reports: list[EvalReport] = []

    def verdict(code: str) -> EvalReport:
        reports.append(judge.evaluate(problem, code, target="cuda", grade="full"))
        return reports[-1]

    task = started_from(task_of(problem, "cuda"), verdict)
    if reports:
        row.cuda, row.cuda_says = reports[0].outcome.value, told(reports[0])
        row.cuda_seconds = reports[0].timing.median if reports[0].timing else None
        if len(reports) > 1 and task.port is not None:
            row.cuda_says += f" | then one thread: {reports[-1].outcome.value}"
    by_hand = one.folder / "thread.cu"
    if by_hand.exists():
        report = judge.evaluate(problem, by_hand, target="cuda", grade="full")
        row.by_hand_seconds = report.timing.median if report.timing else None


def tried(
    one: Stranger, steps: Sequence[str], judge: CodeJudge, *, cuda: bool, keep: Path | None
) -> Row:
    """All steps with one function; a step that cannot be done says why in its own place."""
    row = Row(one.name, str(one.about["field"]))
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) if keep is None else keep / one.name
        place: Path | None = work / "problem"
        if "in" in steps or keep is None or not (work / "problem").is_dir():
            if keep is not None:
                shutil.rmtree(work, ignore_errors=True)
                work.mkdir(parents=True)
            place = take_in(one, work, row)
        if place is None:
            return row
        row.taken_in = True
        problem = load_problem(place)
        assert isinstance(problem, Problem)
        if "start" in steps or cuda:
            look_at_start(problem, row)
        if "home" in steps:
            try:
                row.home = go_home(problem, one, work)
            except (RegraphError, subprocess.TimeoutExpired) as error:
                row.home = str(error)
        if "judge" in steps:
            try:
                judge_all(problem, one, judge, row)
            except RegraphError as error:
                row.judge_says = str(error)
        if cuda:
            judge_start(problem, one, judge, row)
    return row


def summary(rows: Sequence[Row], chosen: Sequence[Stranger]) -> dict[str, str]:
    """How many of how many, step by step."""
    taken = [row for row in rows if row.taken_in]
    can = {one.name for one in chosen if one.about["parallel"]}
    parallel = [row for row in taken if row.name in can and row.start]
    counts = {
        "taken in": (len(taken), len(rows)),
        "CUDA start in parallel": (sum(r.started for r in parallel), len(parallel)),
        "judged rightly": (
            sum(r.judged for r in taken if r.right),
            sum(1 for r in taken if r.right),
        ),
        "home and back": (sum(r.home == "same" for r in taken), sum(1 for r in taken if r.home)),
        "CUDA start passed": (
            sum(r.cuda in ("passed", "unstable_timing") for r in taken),
            sum(1 for r in taken if r.cuda),
        ),
    }
    return {name: f"{good} of {all_}" for name, (good, all_) in counts.items() if all_}


def line(row: Row) -> str:
    wrong = sum(outcome not in ("passed", "unstable_timing") for outcome in row.wrong.values())
    judged = f"{row.right}, {wrong} of {len(row.wrong)} refused" if row.right else "-"
    cells = [row.name, f"{row.seconds} s" if row.taken_in else f"refused: {row.refusal}"]
    alone = f", {row.one_thread} of one thread" if row.one_thread else ""
    start = f"{row.start} ({row.kernels} launches{alone})" if row.kernels else row.start
    cells += [
        f"{start} {row.start_says}".strip() or "-",
        f"{judged} {row.judge_says}".strip(),
        row.home or "-",
    ]
    if row.cuda:
        cells.append(f"{row.cuda} {row.cuda_seconds or ''} {row.cuda_says}".strip())
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Functions as strangers write them.")
    parser.add_argument("--only", default="", help="names, with commas between")
    parser.add_argument("--steps", default=",".join(STEPS))
    parser.add_argument("--cuda", action="store_true", help="judge the CUDA start; needs a GPU")
    parser.add_argument(
        "--keep",
        type=Path,
        help="a folder where problems stay; without the step `in` they are used again",
    )
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    chosen, steps = strangers(given.only), given.steps.split(",")
    rows = list[Row]()
    print("| function | taken in | CUDA start | judged | home |\n|---|---|---|---|---|")
    with CodeJudge() as judge:
        for one in chosen:
            rows.append(tried(one, steps, judge, cuda=given.cuda, keep=given.keep))
            print(line(rows[-1]), flush=True)
    found = summary(rows, chosen)
    print(json.dumps(found))
    if given.json:
        result = {
            "benchmark": "strangers",
            "command": " ".join(("python -m benchmarks.strangers", *sys.argv[1:])),
            "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
            "machine": machine(),
            "figures": found,
            "rows": [asdict(row) | {"judged": row.judged} for row in rows],
        }
        given.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
