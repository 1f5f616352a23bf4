"""The whole cuda path on a pretended GPU: loader, device pointers, transfers, errors."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from regraph_kg.evaluation import evaluate, machine
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.evaluation import WHOLE
from regraph_kg.evaluation.gpu.device import Cores
from regraph_kg.evaluation.measure import for_device_pointers
from regraph_kg.evaluation.problem.problem import Problem, load_problem
from regraph_kg.evaluation.problem.types import Array
from regraph_kg.evaluation.rules import Defences
from regraph_kg.evaluation.slots import Slots
from regraph_kg.evaluation.timing import batches
from regraph_kg.evaluation.worker import handshake
from regraph_kg.evaluation.worker.handshake import Elapsed
from regraph_kg.evaluation.worker.steps import Costs
from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome

from ..conftest import passed, problem_named

pytestmark = pytest.mark.slow  # whole stories of the judge or the store: what parts show is quick

KERNEL = """
#include <cuda_runtime_api.h>
struct Work { const float* x; float* y; float a; int n; };
static void kernel(void* p) {
  Work* w = (Work*)p;
  for (int i = 0; i < w->n; ++i) w->y[i] = w->a * w->x[i];
}
"""
ON_DEVICE = "Work w{x, y, a, n}; fakeLaunch(kernel, &w, sizeof w);"
FROM_HOST = """
  float *dx, *dy;
  cudaMalloc((void**)&dx, n * 4); cudaMalloc((void**)&dy, n * 4);
  cudaMemcpy(dx, x, n * 4, cudaMemcpyHostToDevice);
  Work w{dx, dy, a, n}; fakeLaunch(kernel, &w, sizeof w);
  cudaMemcpy(y, dy, n * 4, cudaMemcpyDeviceToHost);
  cudaFree(dx); cudaFree(dy);
"""


@pytest.fixture
def called(problem_folder: Callable[..., Path]) -> Problem:
    return load_problem(problem_folder())


def judged(cache: Path, problem: Problem, body: str, head: str = "") -> EvalReport:
    code = (
        f'{head}{KERNEL}extern "C" void scale(const float* x, float* y, float a, int n) {{{body}}}'
    )
    with Judge(cache, seed=5) as judge:
        return judge.evaluate(Candidate("cuda", code), problem)


@pytest.mark.usefixtures("pretended_gpu")
def test_device_pointers_pass_and_are_timed(cache: Path, on_device: Problem) -> None:
    report = judged(cache, on_device, ON_DEVICE)
    assert passed(report), report.diagnosis
    assert report.device == "Fake GPU"
    assert report.metric == "device"
    assert report.facts["driver"] == "1.0"
    assert "sm_90" in report.toolchain


@pytest.mark.usefixtures("pretended_gpu")
def test_host_pointers_pass_with_metric_call(cache: Path, called: Problem) -> None:
    report = judged(cache, called, FROM_HOST)
    assert passed(report), report.diagnosis


@pytest.mark.usefixtures("pretended_gpu")
def test_code_for_host_pointers_is_timed_on_the_device(cache: Path, on_device: Problem) -> None:
    code = for_device_pointers(
        f"{KERNEL}static_assert(cudaMemcpyHostToDevice == cudaMemcpyDefault);"
        f'extern "C" void scale(const float* x, float* y, float a, int n) {{{FROM_HOST}}}'
    )
    with Judge(cache, seed=5) as judge:
        report = judge.evaluate(Candidate("cuda", code), on_device)
    assert passed(report), report.diagnosis
    assert report.metric == "device"


@pytest.mark.usefixtures("pretended_gpu")
@pytest.mark.parametrize("last", [1, 2])
def test_what_is_returned_comes_to_the_host(
    cache: Path, problem_folder: Callable[..., Path], last: int
) -> None:
    """And outputs that lie on the device beside it, complex ones."""
    serial = 'extern "C" void scale(const float* x, float* y, float a, int n) {'
    returning = (
        "std::complex<double> scale(const std::complex<double>* x, float* y, float a, int n)"
    )
    folder = problem_folder(
        toml=("schema = 1", 'schema = 1\nmetric = "device"\nreturns = { type = "complex128" }'),
        serial=(serial, f'#include <complex>\nextern "C" {returning} {{'),
    )
    toml, source = folder / "problem.toml", folder / "serial.cpp"
    toml.write_text(toml.read_text().replace("float32", "complex128", 1))
    text = source.read_text().replace("a * x[i];", "a * x[i].real();")
    source.write_text(text.replace("\n}", "\n  return x[n - 1];\n}"))
    code = (
        "#include <complex>\n"
        + KERNEL.replace("const float* x", "const std::complex<double>* x").replace(
            "w->x[i]", "w->x[i].real()"
        )
        + f'extern "C" {returning} {{ {ON_DEVICE} cudaDeviceSynchronize();'
        f" return x[n > {last} ? n - {last} : 0]; }}"
    )
    with Judge(cache, seed=5) as judge:
        report = judge.evaluate(Candidate("cuda", code), load_problem(folder))
    if last == 1:
        assert passed(report), report.diagnosis
    else:
        assert report.outcome is Outcome.WRONG_ANSWER
        assert "the returned value is" in report.diagnosis


COMPACT = """
#include <cuda_runtime_api.h>
#include <math.h>
struct Job { const float* x; float* root; int* place; int n; int* count; };
static void kernel(void* p) {
  Job* job = (Job*)p;
  int count = 0;
  for (int i = 0; i < job->n; ++i)
    if (job->x[i] > 0.5f) {
      job->root[count] = sqrtf(job->x[i]);
      job->place[count++] = i;
    }
  for (int i = count; i < job->n; ++i) job->root[i] = 7;
  *job->count = count;
}
extern "C" int compact(const float* x, float* root, int* place, int n) {
  int count = 0;
  Job job{x, root, place, n, &count};
  fakeLaunch(kernel, &job, sizeof job);
  cudaDeviceSynchronize();
  %s
  return count;
}
"""


@pytest.mark.usefixtures("pretended_gpu")
@pytest.mark.parametrize(
    ("cheat", "says"),
    [
        ("", ""),
        ("if (count) root[count - 1] = root[0], place[count - 1] = place[0];", "root["),
        ("++count;", "the returned value is "),
        ("place[n] = 1;", "past the end of place"),
    ],
)
def test_rows_on_the_device_are_counted_on_the_host(cache: Path, cheat: str, says: str) -> None:
    problem = load_problem(Path(__file__).parents[2] / "adversarial" / "problem" / "compact")
    on_device = problem.model_copy(update={"metric": "device"})
    with Judge(cache, seed=5) as judge:
        report = judge.evaluate(Candidate("cuda", COMPACT % cheat), on_device)
    assert says in report.diagnosis
    assert passed(report) is not bool(says)


@pytest.mark.usefixtures("pretended_gpu")
def test_work_is_waited_for_inside_the_timed_call(cache: Path, on_device: Problem) -> None:
    slow = KERNEL + "#include <unistd.h>\nstatic void slow(void* p) { usleep(20000); kernel(p); }\n"
    code = (
        f'{slow}extern "C" void scale(const float* x, float* y, float a, int n) '
        "{ Work w{x, y, a, n}; fakeLaunch(slow, &w, sizeof w); }"
    )
    with Judge(cache, seed=5) as judge:
        report = judge.evaluate(Candidate("cuda", code), on_device)
    assert passed(report), report.diagnosis
    assert report.timing is not None
    assert report.timing.median > 0.015, "what is taken off scatters on a busy machine"


@pytest.mark.usefixtures("pretended_gpu")
@pytest.mark.parametrize(
    ("body", "outcome", "says"),
    [
        ("fakeLaunchFails();", Outcome.CRASHED, "invalid configuration argument"),
        ("", Outcome.WRONG_ANSWER, "never written"),
        (ON_DEVICE + "cudaDeviceSynchronize(); y[-1] = 0;", Outcome.CRASHED, "before the start"),
        (ON_DEVICE + "cudaDeviceSynchronize(); y[n] = 0;", Outcome.CRASHED, "past the end of y"),
        (ON_DEVICE + "((float*)x)[0] += 1;", Outcome.MUTATED_INPUT, "changed input x"),
    ],
)
def test_device_failures_are_told_apart(
    cache: Path, on_device: Problem, body: str, outcome: Outcome, says: str
) -> None:
    report = judged(cache, on_device, body)
    assert report.outcome is outcome, report.diagnosis
    assert says in report.diagnosis


@pytest.mark.usefixtures("pretended_gpu")
def test_device_allocations_are_poisoned_while_verified(cache: Path, called: Problem) -> None:
    report = judged(cache, called, FROM_HOST.replace("fakeLaunch(kernel, &w, sizeof w);", ""))
    assert report.outcome is Outcome.WRONG_ANSWER
    assert "nan" in report.diagnosis


@pytest.mark.usefixtures("pretended_gpu")
def test_device_memory_that_calls_leave_behind_is_a_fact(cache: Path, called: Problem) -> None:
    assert "device_leaks" not in judged(cache, called, FROM_HOST).facts
    leaking = judged(cache, called, FROM_HOST.replace("cudaFree(dx);", ""))
    assert leaking.facts["device_leaks"] == "1 allocations a call"


LOOKS_AHEAD = """
#include <unistd.h>
#include <cstring>
#include <map>
#include <vector>
static std::map<const float*, std::vector<float>> seen;  // what each input held when it was read
static void look_ahead(const float* x, int n) {
  std::vector<float>& mine = seen[x];
  if ((int)mine.size() == n && !memcmp(mine.data(), x, n * 4)) return;
  usleep(500);  // as long as it takes to compute, for one call or for many beside each other
  for (auto& one : seen) one.second.assign(one.first, one.first + n);
}
"""


@pytest.mark.flaky(reruns=3)  # what is taken off scatters on a busy machine
@pytest.mark.usefixtures("pretended_gpu")
@pytest.mark.parametrize("defended", [True, False])
def test_who_computes_for_later_calls_of_a_batch_gains_nothing(
    cache: Path,
    problem_folder: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    defended: bool,
) -> None:
    monkeypatch.setattr(batches, "_MOST_CALLS", 8)
    folder = problem_folder(toml=("n = 200000", "n = 2001"))
    on_device = load_problem(folder).model_copy(update={"metric": "device"})
    head = 'extern "C" void scale(const float* x, float* y, float a, int n)'
    body = f"if (n == 2001) look_ahead(x, n); {ON_DEVICE}"
    off = Defences(sealed_inputs=defended, one_by_one=defended)
    with Judge(cache, seed=5, defences=off) as judge:
        code = f"{KERNEL}{LOOKS_AHEAD}{head} {{{body}}}"
        report = judge.evaluate(Candidate("cuda", code), on_device)
    assert passed(report), report.diagnosis
    assert report.timing
    # one for eight: 0.00007
    assert (report.timing.median > 0.0003) is defended, report.timing.median


@pytest.mark.usefixtures("pretended_gpu")
def test_arrays_that_are_changed_in_place_are_unmasked_as_well(cache: Path) -> None:
    bump = problem_named("bump").model_copy(update={"metric": "device"})
    code = """
    #include <cuda_runtime_api.h>
    struct Work { int* b; const unsigned char* table; int n, k; };
    static void kernel(void* p) {
      Work* w = (Work*)p;
      for (int i = 0; i < w->n; ++i) w->b[i] += w->table[i % w->k];
    }
    extern "C" void bump(int* b, const unsigned char* table, int n, int k) {
      Work w{b, table, n, k};
      fakeLaunch(kernel, &w, sizeof w);
    }
    """
    with Judge(cache, seed=5) as judge:
        report = judge.evaluate(Candidate("cuda", code), bump)
    assert passed(report), report.diagnosis


@pytest.mark.usefixtures("pretended_gpu")
def test_a_problem_is_opened_without_the_gpu_and_judged_with_it(
    cache: Path, called: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    claimed: list[str] = []

    def noted(claim: str, _: Callable[[str], None]) -> nullcontext[None]:
        claimed.append(claim.partition("-")[0])
        return nullcontext()

    monkeypatch.setattr(machine, "cores_of", lambda *_: Cores(frozenset([0]), frozenset([1])))
    monkeypatch.setattr(evaluate, "turn", noted)
    assert passed(judged(cache, called, FROM_HOST))
    assert claimed == ["core", "GPU", "core"]


@pytest.mark.flaky(reruns=3)  # on a busy machine levels that rest on the clock tell too little
@pytest.mark.usefixtures("pretended_gpu")
def test_on_a_gpu_levels_tell_of_a_rival(cache: Path, on_device: Problem) -> None:
    head = f'{KERNEL}extern "C" void scale(const float* x, float* y, float a, int n)'
    first, second = (Candidate("cuda", f"{head} {{{ON_DEVICE}}}{end}") for end in ("", " // b"))
    with Judge(cache, seed=5, grade="full") as judge:  # the screening compares no slow code
        assert judge.evaluate(first, on_device).timing
        report = judge.evaluate(replace(second, rival=first.code), on_device)
    assert report.rivalry is not None
    assert report.rivalry.pairs == 0
    assert "compare" not in report.stages


@pytest.mark.usefixtures("pretended_gpu")
def test_times_of_more_than_calls_are_taken_again_and_tell_of_no_rival(
    cache: Path, on_device: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken_off = Costs.taken_off
    monkeypatch.setattr(
        Costs, "taken_off", lambda *given: replace(taken_off(*given), is_whole=True)
    )
    head = f'{KERNEL}extern "C" void scale(const float* x, float* y, float a, int n)'
    first, second = (Candidate("cuda", f"{head} {{{ON_DEVICE}}}{end}") for end in ("", " // b"))
    with Judge(cache, seed=5, grade="full") as judge:
        judge.evaluate(first, on_device)
        report = judge.evaluate(replace(second, rival=first.code), on_device)
    assert report.facts[WHOLE] == "whole batches"
    assert "time again" in report.stages
    assert report.rivalry is None


@pytest.mark.usefixtures("pretended_gpu")
def test_no_context_is_on_its_way_once_others_have_the_gpu(
    cache: Path, on_device: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []

    @contextmanager
    def noted(claim: str, _: Callable[[str], None]) -> Iterator[None]:
        yield
        happened.append("turn over")

    for name in ("started", "cool_down", "settle"):
        there = getattr(Slots, name)

        def called(*given: Any, of: str = name, there: Any = there, **named: Any) -> Any:
            happened.append(of)
            return there(*given, **named)

        monkeypatch.setattr(Slots, name, called)
    monkeypatch.setattr(evaluate, "turn", noted)
    head = f'{KERNEL}extern "C" void scale(const float* x, float* y, float a, int n)'
    with Judge(cache, seed=5) as judge:
        assert judge.evaluate(Candidate("cuda", f"{head} {{{ON_DEVICE}}}"), on_device).timing
        claims = 1 + (happened[-2] == "turn over")  # the GPU, and a core where one is spare
        assert happened[-claims - 1 :] == ["settle", *["turn over"] * claims]


@pytest.mark.usefixtures("pretended_gpu")
def test_calls_are_timed_by_their_steps_where_a_core_is_spare(
    cache: Path, on_device: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshake, "_SPIN_SECONDS", 60.0)
    monkeypatch.setattr(machine, "cores_of", lambda *_: Cores(frozenset([0]), frozenset([1])))
    seen = list[tuple[Array, int]]()
    taken_off = Costs.taken_off

    def noted(costs: Costs, elapsed: Elapsed, *rest: Any) -> Elapsed:
        seen.append((elapsed.steps, rest[1]))
        return taken_off(costs, elapsed, *rest)

    monkeypatch.setattr(Costs, "taken_off", noted)
    report = judged(cache, on_device, f"usleep(2000); {ON_DEVICE}", "#include <unistd.h>")
    assert report.timing is not None
    assert report.timing.median > 0.002, report.diagnosis
    made = [(steps, calls) for steps, calls in seen if steps.size]
    assert all(steps.size == 2 * calls + 2 for steps, calls in made)
    slow = [calls for steps, calls in made if steps[2::2].min() > 0.002]
    assert sum(slow) >= 3, "the serial code's calls are quicker; a busy machine makes fewer"
