"""The pool: candidates in parallel, a judge process a device, and what happens when one dies."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from regraph_kg.errors import BadInput, ToolError
from regraph_kg.evaluation.hosts.pool import (
    JudgeLost,
    JudgePool,
    JudgeProcess,
    JudgeRequest,
    Quiet,
    devices_here,
    needs_quiet,
)
from regraph_kg.evaluation.problem.problem import load_problem
from regraph_kg.models.base import Metric
from regraph_kg.models.evaluation import Candidate, EvalReport, Grade, Outcome
from regraph_kg.models.target import Target

from ..conftest import HERE, SOON, passed, problem_named, scale_source
from ..gpu.test_fake_cuda import FROM_HOST, KERNEL

pytestmark = pytest.mark.slow  # whole stories of the judge or the store: what parts show is quick

RIGHT = "for (int i = 0; i < n; ++i) y[i] = a * x[i];"
PROBLEM = problem_named("scale")
SOON_DONE = 180.0  # another session of tests may have the CPU for a while


def scaled(text: str, body: str = RIGHT) -> Candidate:
    return Candidate("openmp", scale_source(body, f"// {text}"))


@pytest.fixture
def pool(cache: Path) -> Iterator[JudgePool]:
    with JudgePool(cache, ["cpu"], limits=SOON) as pool:
        yield pool


def begun(threads: ThreadPoolExecutor, pool: JudgePool, mark: str) -> list[Future[EvalReport]]:
    """Several candidates, asked for at once; the first of them is in work."""
    under_way = [threads.submit(pool.evaluate, scaled(f"{mark}{n}"), PROBLEM) for n in range(3)]
    until(lambda: under_way[0].running() or under_way[0].done())
    return under_way


def children() -> set[int]:
    """Judge processes of this process."""
    return {child.pid for child in multiprocessing.active_children() if child.pid}


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + SOON_DONE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_candidates_are_judged_as_one_by_one_in_order_and_found_compiled(pool: JudgePool) -> None:
    wrong = scaled("w", RIGHT.replace("a *", "2 * a *"))
    broken = Candidate("openmp", "int")
    candidates = [scaled("1"), wrong, broken, scaled("2")]
    with ThreadPoolExecutor(pool.at_once) as threads:
        reports = list(threads.map(lambda one: pool.evaluate(one, PROBLEM), candidates))
    assert passed(reports[0]), reports[0].diagnosis
    assert reports[1].outcome is Outcome.WRONG_ANSWER
    assert reports[2].outcome is Outcome.COMPILE_FAILED
    assert passed(reports[3])
    assert reports[3].stages["compile"] < 0.1
    assert pool.device("openmp") == reports[0].device
    assert pool.toolchain("openmp") == reports[0].toolchain


def test_a_bad_problem_is_reported_to_who_asked_and_to_nobody_else(
    pool: JudgePool, problem_folder: Callable[..., Path]
) -> None:
    bad = load_problem(problem_folder(serial=("y[i] =", "y[i] +=")))
    with pytest.raises(BadInput):
        pool.evaluate(scaled("b"), bad)
    assert passed(pool.evaluate(scaled("b"), PROBLEM))


def test_devices_that_are_not_there_and_devices_given_twice_are_refused(
    pool: JudgePool, cache: Path
) -> None:
    with pytest.raises(ToolError):
        pool.evaluate(Candidate("cuda", ""), PROBLEM)
    with pytest.raises(ToolError):
        JudgePool(cache, [99])
    with pytest.raises(BadInput):
        JudgePool(cache, ["cpu", "cpu"])


def test_a_killed_judge_costs_nothing_but_a_second_try(pool: JudgePool) -> None:
    assert passed(pool.evaluate(scaled("before"), PROBLEM))
    (judge,) = children()
    with ThreadPoolExecutor(3) as threads:
        under_way = begun(threads, pool, "k")
        os.kill(judge, signal.SIGKILL)
        assert all(passed(one.result(SOON_DONE)) for one in under_way)
    assert children() != {judge}


def test_an_exception_ends_everything_at_once(cache: Path) -> None:
    before = children()
    with ThreadPoolExecutor(3) as threads:
        pool = JudgePool(cache, ["cpu"], limits=SOON)
        futures = begun(threads, pool, "x")
        until(lambda: children() > before)
        pool.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
        until(lambda: all(future.done() for future in futures))
        assert children() == before
        with pytest.raises(ToolError):  # the first may have been judged by then
            futures[2].result()


PARENT = """
import sys
from pathlib import Path
from regraph_kg.evaluation.hosts.pool import JudgePool
from regraph_kg.evaluation.problem.problem import load_problem
from regraph_kg.models.evaluation import Candidate
if __name__ == "__main__":
    cache, folder, code = sys.argv[1:]
    problem = load_problem(Path(folder))
    try:
        with JudgePool(Path(cache), ["cpu"]) as pool:
            for number in range(30):
                pool.evaluate(Candidate("openmp", f"{code}// {number}"), problem)
                print("under way", flush=True)
    except KeyboardInterrupt:
        sys.exit(7)
"""


@pytest.fixture
def parent(cache: Path, tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A program whose pool judges one candidate after another."""
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    folder = str(HERE / "problems" / "scale")
    with subprocess.Popen(
        [sys.executable, str(script), str(cache), folder, scale_source(RIGHT)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "under way\n"
        yield process


def session_of(leader: int) -> list[str]:
    """Processes of a program's session that live, but for the program."""
    told = subprocess.run(
        ["ps", "-s", str(leader), "-o", "pid=,stat=,cmd="],
        capture_output=True,
        text=True,
        check=False,
    )
    rows = [row.split(maxsplit=2) for row in told.stdout.splitlines()]
    return [row[2] for row in rows if int(row[0]) != leader and not row[1].startswith("Z")]


def test_a_pool_that_is_killed_leaves_no_process(parent: "subprocess.Popen[str]") -> None:
    assert session_of(parent.pid)
    parent.kill()
    parent.wait()
    until(lambda: not session_of(parent.pid))


def test_ctrl_c_ends_the_pool_without_a_word_from_its_processes(
    parent: "subprocess.Popen[str]",
) -> None:
    os.killpg(parent.pid, signal.SIGINT)  # as a terminal does: to all of them
    _, said = parent.communicate(timeout=SOON_DONE)
    assert (parent.returncode, said) == (7, "")
    until(lambda: session_of(parent.pid) == [])  # the kernel may still be ending one


@pytest.fixture
def process() -> Iterator[JudgeProcess]:
    process = JudgeProcess()
    yield process
    process.end()


def test_a_judge_process_that_dies_is_lost_and_started_anew(process: JudgeProcess) -> None:
    first = process.ask(os.getpid)
    os.kill(first, signal.SIGINT)  # is not its business
    with pytest.raises(JudgeLost):
        process.ask(signal.raise_signal, signal.SIGKILL)
    second = process.ask(os.getpid)
    assert second != first
    process.kill()
    with pytest.raises(JudgeLost):
        process.ask(os.getpid)
    until(lambda: not is_alive(second))


def test_a_judge_that_does_not_answer_in_time_is_ended(process: JudgeProcess) -> None:
    first = process.ask(os.getpid)
    with pytest.raises(JudgeLost):
        process.ask(time.sleep, 600, seconds=0.1)
    assert not is_alive(first)
    assert process.ask(os.getpid) != first


def test_starting_a_judge_process_leaves_ctrl_c_as_it_was(process: JudgeProcess) -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    process.ask(os.getpid)
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before


@pytest.mark.usefixtures("pretended_gpu")
def test_each_visible_gpu_has_a_judge_and_reports_name_it(
    cache: Path, problem_folder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_GPUS", "2")
    assert devices_here() == (0, 1, "cpu")
    assert devices_here("cuda") == (0, 1)
    assert devices_here("openmp") == ("cpu",)
    problem = load_problem(problem_folder())
    with JudgePool(cache, devices_here("cuda"), limits=SOON) as pool:
        codes = [scale_source(FROM_HOST, f"{KERNEL}// {number}") for number in range(6)]
        with ThreadPoolExecutor(6) as threads:
            asked = [threads.submit(pool.evaluate, Candidate("cuda", c), problem) for c in codes]
            reports = [one.result() for one in asked]
    assert all(passed(report) for report in reports), [report.diagnosis for report in reports]
    assert {report.facts["gpu"] for report in reports} == {"GPU-fake-0", "GPU-fake-1"}
    assert {report.device for report in reports} == {"Fake GPU"}


def test_gpus_of_several_models_are_refused(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\nprintf 'One, 9.0, 1, GPU-a\\nTwo, 9.0, 1, GPU-b\\n'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    with pytest.raises(BadInput):
        JudgePool(cache, [0, 1])


@pytest.mark.parametrize(
    ("target", "grade", "metric", "own_cores", "alone"),
    [
        ("openmp", "screening", "call", False, True),
        ("cuda", "screening", "call", False, False),
        ("cuda", "full", "device", False, True),
        ("cuda", "full", "device", True, False),
        ("cuda", "full", "call", True, True),
    ],
)
def test_compilers_wait_for_a_gpus_judge_but_beside_its_own_cores_and_metric_device(
    target: Target, grade: Grade, metric: Metric, own_cores: bool, alone: bool
) -> None:
    problem = PROBLEM.model_copy(update={"metric": metric})
    work = JudgeRequest(Candidate(target, RIGHT), problem, grade=grade)
    assert needs_quiet(work, opened=True, own_cores=own_cores) is alone


@pytest.mark.parametrize(
    ("first", "second"), [(False, False), (False, True), (True, False), (True, True)]
)
def test_what_is_measured_alone_waits_and_is_waited_for(first: bool, second: bool) -> None:
    quiet, inside = Quiet(), threading.Event()

    def enter() -> None:
        with quiet.work(alone=second):
            inside.set()

    thread = threading.Thread(target=enter)
    with quiet.work(alone=first):
        thread.start()
        together = not (first or second)
        assert inside.wait(SOON_DONE if together else 0.05) is together
    thread.join(SOON_DONE)
    assert inside.is_set()


def test_a_waiting_measurement_goes_before_compilers() -> None:
    quiet, order = Quiet(), list[bool]()

    def enter(alone: bool) -> None:
        with quiet.work(alone=alone):
            order.append(alone)

    threads = [threading.Thread(target=enter, args=(alone,)) for alone in (True, False)]
    with quiet.work(alone=False):
        threads[0].start()
        until(lambda: quiet._wanted == 1)
        threads[1].start()
    for thread in threads:
        thread.join(SOON_DONE)
    assert order == [True, False]
