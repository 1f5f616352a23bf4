"""Readings of a GPU from a scripted NVML: words, plateaus, lost GPUs, memory errors."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from regraph_kg.errors import ToolError
from regraph_kg.evaluation.gpu import monitor as readings
from regraph_kg.evaluation.gpu.device import find_gpu
from regraph_kg.evaluation.gpu.monitor import GpuMonitor, GpuState, GpuWatch, open_gpu
from regraph_kg.evaluation.timing import load
from regraph_kg.evaluation.timing.load import LoadWatch


class Refusal(Exception):
    """What pynvml raises: carries the number."""

    def __init__(self, value: int) -> None:
        super().__init__(f"NVML error {value}")
        self.value = value


@dataclass
class ScriptedNvml:
    """An NVML whose answers are given beforehand; `fails` maps a function to an error number."""

    clocks: list[int] = field(default_factory=lambda: [1980])
    reasons: list[int] = field(default_factory=lambda: [0])
    ecc: list[int] = field(default_factory=lambda: [0])
    fails: dict[str, int] = field(default_factory=dict)
    used: list[dict[int, int]] = field(default_factory=lambda: [{}])  # pid -> percent, in turn
    pids: tuple[int, ...] = (os.getpid(),)
    percents: list[int] = field(default_factory=lambda: [0])
    opened: list[object] = field(default_factory=list)
    NVMLError: type[Exception] = Refusal

    def _say(self, name: str, answers: list[int]) -> int:
        if name in self.fails:
            raise Refusal(self.fails[name])
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def nvmlInit(self) -> None:
        self._say("init", [0])

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> object:
        self.opened.append(uuid)
        return self._say("handle", [7])

    def nvmlDeviceGetClockInfo(self, handle: object, kind: int) -> int:
        assert kind == 1
        return self._say("clock", self.clocks)

    def nvmlDeviceGetMaxClockInfo(self, handle: object, kind: int) -> int:
        return self._say("max", [1980 if kind == 1 else 3201])

    def nvmlDeviceGetMemoryBusWidth(self, handle: object) -> int:
        return self._say("bus", [6144])

    def nvmlDeviceGetCurrentClocksEventReasons(self, handle: object) -> int:
        return self._say("reasons", self.reasons)

    def nvmlDeviceGetTotalEccErrors(self, handle: object, kind: int, counter: int) -> int:
        return self._say("ecc", self.ecc)

    def nvmlDeviceGetProcessUtilization(self, handle: object, since: int) -> list[object]:
        if "used" in self.fails:
            raise Refusal(self.fails["used"])
        now = self.used.pop(0) if len(self.used) > 1 else self.used[0]
        return [SimpleNamespace(pid=pid, smUtil=percent) for pid, percent in now.items()]

    def nvmlDeviceGetComputeRunningProcesses(self, handle: object) -> list[object]:
        return [SimpleNamespace(pid=pid) for pid in self.pids]

    def nvmlDeviceGetUtilizationRates(self, handle: object) -> object:
        return SimpleNamespace(gpu=self._say("percents", self.percents))


def monitor(nvml: ScriptedNvml) -> GpuMonitor:
    return GpuMonitor(nvml, 7, "GPU-1")


@pytest.mark.parametrize(
    ("bits", "words", "hot", "starved"),
    [
        (0x000, (), False, False),
        (0x001, ("idle",), False, False),
        (0x002, ("clocks set by the user",), False, False),
        (0x004, ("power cap",), False, True),
        (0x008, ("hardware slowdown",), True, False),
        (0x020, ("thermal (software)",), True, False),
        (0x048, ("hardware slowdown", "thermal (hardware)"), True, False),
        (0x080, ("power brake",), False, True),
        (0x024, ("power cap", "thermal (software)"), True, True),
        (0x8000, (), False, False),
    ],
)
def test_reasons_for_a_lower_clock_are_words(
    bits: int, words: tuple[str, ...], hot: bool, starved: bool
) -> None:
    state = monitor(ScriptedNvml(reasons=[bits])).read()
    assert state == GpuState(1980, words)
    assert (state.hot, state.starved) == (hot, starved)


def test_what_a_gpu_does_not_say_is_none() -> None:
    nvml = ScriptedNvml(fails=dict.fromkeys(("clock", "ecc"), 3))
    gpu = monitor(nvml)
    assert gpu.read() == GpuState(None, ())
    assert gpu.uncorrected_errors() is None
    assert GpuWatch(gpu).finish() == {"throttled": "no", "samples_discarded_hot": "0"}


def test_the_rate_of_memory_is_that_of_clock_and_bus() -> None:
    assert monitor(ScriptedNvml()).memory_rate() == pytest.approx(4.917e12, rel=1e-3)
    assert monitor(ScriptedNvml(fails={"bus": 3})).memory_rate() is None


@pytest.mark.parametrize(
    ("clocks", "reasons", "steady"),
    [
        ([345], 0, False),  # one reading says nothing
        ([1980, 1980], 0, True),
        ([1950, 1980], 0, True),
        ([1600, 1980], 0, False),
        ([1600, 1980], 0x04, True),  # power holds it where it is
        ([1600, 1980], 0x20, True),
    ],
)
def test_a_clock_is_steady_once_two_readings_agree(
    clocks: list[int], reasons: int, steady: bool
) -> None:
    watch = GpuWatch(monitor(ScriptedNvml(clocks=list(clocks), reasons=[reasons])))
    for _ in clocks:
        watch.take()
    assert watch.steady is steady


def test_a_clock_that_rests_below_the_plateau_of_the_last_measurement_is_not_steady() -> None:
    nvml = ScriptedNvml()
    gpu = monitor(nvml)
    before = GpuWatch(gpu)
    before.take()
    before.finish()
    nvml.clocks = [345, 345, 1975]
    watch = GpuWatch(gpu)
    seen = []
    for _ in range(4):
        watch.take()
        seen.append(watch.steady)
    assert seen == [False, False, False, True]


def test_facts_tell_the_median_clock_and_every_reason() -> None:
    nvml = ScriptedNvml(clocks=[1980, 1900, 1800], reasons=[0x1, 0x4, 0x20])
    watch = GpuWatch(monitor(nvml))
    for _ in range(3):
        watch.take()
    watch.discarded += 1
    assert watch.finish() == {
        "sm_clock_mhz": "1900",
        "throttled": "power cap, thermal (software)",
        "samples_discarded_hot": "1",
    }


def test_memory_errors_meanwhile_are_our_failure() -> None:
    watch = GpuWatch(monitor(ScriptedNvml(ecc=[2, 5])))
    watch.take()
    with pytest.raises(ToolError, match="GPU-1: 3 uncorrectable memory errors"):
        watch.finish()


def test_old_memory_errors_are_not() -> None:
    assert GpuWatch(monitor(ScriptedNvml(ecc=[2, 2]))).finish()["throttled"] == "no"


@pytest.mark.parametrize(
    ("number", "remedy"), [(15, "reboot"), (16, "--gpu-reset"), (18, "different versions")]
)
@pytest.mark.parametrize(
    "ask",
    [
        GpuMonitor.read,
        GpuMonitor.uncorrected_errors,
        GpuWatch,
    ],
)
def test_a_lost_gpu_is_our_failure_in_one_line(
    ask: Callable[[GpuMonitor], object], number: int, remedy: str
) -> None:
    nvml = ScriptedNvml()
    gpu = monitor(nvml)
    nvml.fails = dict.fromkeys(("clock", "ecc"), number)
    with pytest.raises(ToolError, match=remedy) as caught:
        ask(gpu)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("fails", ["init", "handle"])
def test_without_a_driver_there_is_no_monitor(fails: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", ScriptedNvml(fails={fails: 12}))
    assert open_gpu("GPU-1") is None


def test_a_driver_of_another_version_is_our_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", ScriptedNvml(fails={"init": 18}))
    with pytest.raises(ToolError, match="different versions"):
        open_gpu("GPU-1")


def test_the_real_library_answers_here_one_way_or_the_other() -> None:
    try:
        opened = open_gpu(find_gpu().visible)
    except ToolError:
        opened = open_gpu("GPU-1")
    assert opened is None or opened.read().reasons is not None


STRANGER, ENDED, HIDDEN = os.getppid(), 2**22 + 1, 2**22 + 2  # beyond the kernel's largest number


@pytest.mark.parametrize(
    ("used", "told"),
    [
        ({}, False),
        ({os.getpid(): 90}, False),
        ({STRANGER: 3}, False),
        ({ENDED: 90}, False),  # a worker of ours may have ended a moment ago
        ({os.getpid(): 90, STRANGER: 40}, True),
    ],
)
def test_who_else_computes_on_it_is_told_by_pid_and_share(used: dict[int, int], told: bool) -> None:
    found = monitor(ScriptedNvml(used=[used])).used_by_others(0.0)
    assert (f"pid {STRANGER} " in found and "40 %" in found) is told
    assert bool(found) is told


def test_a_gpu_that_tells_no_use_accuses_nobody() -> None:
    assert monitor(ScriptedNvml(fails={"used": 6})).used_by_others(0.0) == ""


def test_others_are_waited_for_and_told_where_they_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    naps: list[float] = []
    monkeypatch.setattr(readings.time, "sleep", naps.append)
    busy = {STRANGER: 40}
    assert monitor(ScriptedNvml(used=[busy, busy, {}])).await_others() == ""
    assert len(naps) == 2
    monkeypatch.setattr(readings, "_PATIENCE_SECONDS", 0.05)
    shared = monitor(ScriptedNvml(used=[busy]))
    assert str(STRANGER) in shared.await_others()
    naps.clear()
    assert str(STRANGER) in shared.await_others(), "told again, not waited for again"
    assert not naps


@pytest.mark.parametrize("pids", [(), (HIDDEN,)])
def test_where_processes_are_hidden_the_gpus_own_use_tells(
    pids: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readings, "_PATIENCE_SECONDS", 0.2)
    ours = monitor(ScriptedNvml(pids=pids, percents=[80, 30, 0]))  # it fades once we stand still
    assert ours.await_others() == ""
    theirs = monitor(ScriptedNvml(pids=pids, percents=[40]))
    assert "40 %" in theirs.await_others()


def test_a_load_watch_tells_of_another_process_on_the_gpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watch = LoadWatch(None, monitor(ScriptedNvml(used=[{}, {STRANGER: 40}])))
    monkeypatch.setattr(load, "_LEAST_SECONDS", 0.0)
    assert f"pid {STRANGER}" in watch.found()
