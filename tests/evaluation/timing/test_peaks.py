"""Peaks on file: read, kept when better, ignored when unreadable; measured for real on this CPU."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.compile.compile import Compiler, harness_text
from regraph_kg.evaluation.compile.toolchain import Cuda, find_gcc
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.gpu.device import Gpu, find_gpu, openmp_device
from regraph_kg.evaluation.rules import Defences, JudgeLimits
from regraph_kg.evaluation.timing import roofline as module
from regraph_kg.evaluation.timing.roofline import (
    MemoryLevel,
    Peaks,
    better,
    device_key,
    known_peaks,
    measure_peaks,
)
from regraph_kg.models.evaluation import Candidate, EvalReport, Outcome
from tests.requirement import require

from ..conftest import passed, problem_named

pytestmark = pytest.mark.nightly


def measuring_code(rate: float, **more: float) -> str:
    """C++ that says these figures at once."""
    figures = {"levels": [[1024, rate], [4096, 5e9]], "fp32": 1e9, "fp64": 5e8}
    text = json.dumps(figures | more)
    said = f"puts({json.dumps(text)});"
    return f'#include <stdio.h>\nextern "C" void regraph_peaks() {{ {said} }}\n'


def measured(rate: float, link: float | None = None) -> Peaks:
    return Peaks(
        device=device_key("openmp"),
        target="openmp",
        date="2026-11-21T00:00:00+00:00",
        levels=(MemoryLevel(working_set=1024, rate=rate), MemoryLevel(working_set=4096, rate=5e9)),
        fp32=1e9,
        fp64=5e8,
        host_to_device=link,
    )


@pytest.fixture
def measuring(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder from which the measuring code is read instead of harness/."""
    monkeypatch.setattr(module, "harness_text", lambda name: (tmp_path / name).read_text())
    return tmp_path


def test_nothing_on_file_is_none(tmp_path: Path) -> None:
    assert known_peaks(tmp_path, "openmp") is None


def test_what_was_measured_is_on_file(tmp_path: Path, measuring: Path) -> None:
    (measuring / "peaks_host.cpp").write_text(measuring_code(2e10))
    kept = measure_peaks(tmp_path, "openmp")
    assert kept == known_peaks(tmp_path, "openmp")
    assert kept.device == openmp_device()
    assert kept.fastest == MemoryLevel(working_set=1024, rate=2e10)
    assert kept.memory == 5e9
    assert [path.suffix for path in (tmp_path / "peaks").iterdir()] == [".json"]


def test_measuring_again_only_raises_what_is_on_file(tmp_path: Path, measuring: Path) -> None:
    for rate, expected in ((2e10, 2e10), (1e10, 2e10), (3e10, 3e10)):
        (measuring / "peaks_host.cpp").write_text(measuring_code(rate))
        assert measure_peaks(tmp_path, "openmp").fastest.rate == expected


def test_the_better_link_is_the_faster() -> None:
    assert better(measured(1e10, 5e9), measured(1e10, 7e9)).host_to_device == 7e9
    assert better(measured(1e10, None), measured(1e10, 7e9)).host_to_device == 7e9
    assert better(measured(1e10), measured(1e10)).host_to_device is None


@pytest.mark.parametrize(
    "change",
    [
        {"schema_version": 2},
        {"device": "another CPU"},
        {"target": "cuda"},
        {"levels": []},
        {"fp32": 0},
    ],
)
def test_a_file_of_another_version_or_device_counts_as_none(
    tmp_path: Path, change: dict[str, object]
) -> None:
    path = module._file(tmp_path, device_key("openmp"))
    path.parent.mkdir()
    good = json.loads(measured(1e10).model_dump_json())
    path.write_text(json.dumps(good))
    assert known_peaks(tmp_path, "openmp") is not None
    path.write_text(json.dumps(good | change))
    assert known_peaks(tmp_path, "openmp") is None
    path.write_bytes(b"\xff{")
    assert known_peaks(tmp_path, "openmp") is None


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ('#include <stdlib.h>\nextern "C" void regraph_peaks() { exit(3); }', "code 3"),
        ('extern "C" void regraph_peaks() {}', "said no figures"),
        ('#include <stdio.h>\nextern "C" void regraph_peaks() { puts("[1]"); }', "no figures"),
        ("this is no C++", "does not compile"),
    ],
)
def test_a_measurement_that_fails_is_our_failure(
    tmp_path: Path, measuring: Path, code: str, says: str
) -> None:
    (measuring / "peaks_host.cpp").write_text(code)
    with pytest.raises(ToolError, match=says):
        measure_peaks(tmp_path, "openmp")


def test_a_place_that_cannot_be_written_is_our_failure(tmp_path: Path, measuring: Path) -> None:
    (measuring / "peaks_host.cpp").write_text(measuring_code(1e10))
    (tmp_path / "peaks").write_text("")
    with pytest.raises(ToolError, match="REGRAPH_CACHE_DIR"):
        measure_peaks(tmp_path, "openmp")


@pytest.mark.usefixtures("pretended_gpu")
def test_a_gpu_is_measured_with_its_toolkit(tmp_path: Path, measuring: Path) -> None:
    code = measuring_code(2e10, host_to_device=5e8, device_to_host=6e8)
    (measuring / "peaks.cu").write_text(code)
    kept = measure_peaks(tmp_path, "cuda")
    assert kept == known_peaks(tmp_path, "cuda", find_gpu())
    assert kept.device.startswith("Fake GPU in ")
    assert (kept.host_to_device, kept.device_to_host) == (5e8, 6e8)


def test_a_gpus_peaks_are_kept_under_the_gpu_and_its_machine(tmp_path: Path) -> None:
    gpu = Gpu("NVIDIA H200", "90", "580", "GPU-1")
    assert device_key("cuda", gpu).startswith("NVIDIA H200 in ")
    assert known_peaks(tmp_path, "cuda", gpu) is None


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ([[0, 1]], [[0, 1]]),
        ([[0], [1]], [[0], [1]]),
        ([[0, 1, 8], [4, 5], [2, 3]], [[0, 1], [2, 3]]),
        ([], [[0, 1, 2, 3]]),
        ([[]], [[0, 1, 2, 3]]),
    ],
)
def test_a_gpu_is_measured_from_every_memory_node(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    nodes: list[list[int]],
    expected: list[list[int]],
) -> None:
    usable = {cpu for node in expected for cpu in node}
    monkeypatch.setattr(module.os, "sched_getaffinity", lambda _: usable)
    monkeypatch.setattr(module, "_NODES", tmp_path)
    for index, cpus in enumerate(nodes):
        (tmp_path / f"node{index}").mkdir()
        for cpu in cpus:
            (tmp_path / f"node{index}" / f"cpu{cpu}").touch()
    assert module._nodes(Gpu("a GPU", "90", "driver", "GPU-1")) == expected
    assert module._nodes(None) == [sorted(usable)]


@pytest.fixture
def judged(cache: Path, tmp_path: Path) -> Callable[..., EvalReport]:
    """Judge the serial code of "scale" with these peaks on file: judged(peaks, **defences)."""
    (cache / "compiled").mkdir(exist_ok=True)
    if (cache / "compiled").exists():
        shutil.copytree(cache / "compiled", tmp_path / "compiled")
    problem = problem_named("scale")

    def judge(found: Peaks | None, **defences: bool) -> EvalReport:
        if found:
            path = module._file(tmp_path, found.device)
            path.parent.mkdir(exist_ok=True)
            path.write_text(found.model_dump_json())
        with Judge(tmp_path, defences=Defences(**defences)) as judge:
            return judge.evaluate(Candidate("openmp", problem.serial_code), problem)

    return judge


def test_the_judge_takes_a_time_below_the_floor_for_suspicious(
    judged: Callable[..., EvalReport],
) -> None:
    slow = measured(1e3).model_copy(update={"levels": (MemoryLevel(working_set=1024, rate=1e3),)})
    report = judged(slow)
    assert report.outcome is Outcome.SUSPICIOUS
    assert "not done in the timed call" in report.diagnosis
    assert report.account is not None
    assert passed(judged(slow, floor=False))


def test_the_judge_holds_a_call_against_peaks_only_where_there_are_some(
    judged: Callable[..., EvalReport],
) -> None:
    report = judged(None)
    assert passed(report), report.diagnosis
    assert report.account is not None
    assert report.account.roof is None
    fast = measured(1e15).model_copy(
        update={"levels": (MemoryLevel(working_set=2**30, rate=1e15),)}
    )
    report = judged(fast)
    assert passed(report), report.diagnosis
    assert report.account is not None
    assert report.account.roof is not None
    assert report.account.roof.share < 1


def test_this_cpu_is_measured_for_real(tmp_path: Path) -> None:
    found = measure_peaks(tmp_path, "openmp")  # figures of a busy machine may be far too low
    sizes = [level.working_set for level in found.levels]
    assert sizes == sorted(set(sizes))
    assert len(sizes) >= 3
    assert min(found.fp32, found.fp64, found.memory) > 1e6
    assert found.bandwidth(1) == found.fastest.rate
    assert str(found).startswith("memory ")


def test_the_gpus_measuring_code_compiles(tmp_path: Path, toolkit: Cuda) -> None:
    compiler = Compiler(tmp_path, find_gcc(), JudgeLimits())
    built = compiler.cuda(harness_text("peaks.cu"), toolkit, "90")
    assert isinstance(built, Path), built


def test_this_gpu_is_measured_for_real(tmp_path: Path, toolkit: Cuda) -> None:
    try:
        find_gpu()
    except ToolError as error:
        require("gpu", str(error))
    found = measure_peaks(tmp_path, "cuda")
    assert found.memory < found.fastest.rate
    assert found.host_to_device is not None
    assert found.host_to_device < found.memory
