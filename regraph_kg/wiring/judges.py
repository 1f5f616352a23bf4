"""Judges of this machine, or a pool of them; the peaks of devices."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.evaluator import Evaluator
from regraph_kg.evaluation.gpu.device import find_gpu, find_gpus
from regraph_kg.evaluation.hosts.pool import JudgePool, devices_here
from regraph_kg.evaluation.timing.roofline import known_peaks, measure_peaks
from regraph_kg.models.evaluation import Grade
from regraph_kg.models.target import TARGETS, Target
from regraph_kg.settings import Settings
from regraph_kg.wiring.shipped import nobody_hears


def open_judge(
    settings: Settings, grade: Grade = "screening", tell: Callable[[str], None] = nobody_hears
) -> Judge:
    """The judge of this machine, a context manager; `tell` gets a few words on slow work."""
    return Judge(settings.cache_dir, grade=grade, gpu=settings.gpu, tell=tell)


@contextmanager
def open_judges(
    settings: Settings, target: Target, parallel: int, grade: Grade = "screening"
) -> Iterator[tuple[Evaluator, int]]:
    """The judge of a search, and the candidates it takes at once.

    It is a pool of processes: judging needs a problem's arrays several times, and
    that is no memory of the search. For several calls at once each GPU has a judge, else the
    settings' GPU has one.
    """
    devices = devices_here(target)
    if not devices:
        find_gpus()  # raises the reason
    if parallel == 1 and TARGETS[target].on_gpu:
        devices = (settings.gpu,)
    with JudgePool(settings.cache_dir, devices, grade) as pool:
        yield pool, pool.at_once


def know_peaks(settings: Settings, target: Target) -> None:
    """Measure the peaks of this machine's device, where they are not yet on file."""
    gpu = find_gpu(settings.gpu) if TARGETS[target].on_gpu else None
    if known_peaks(settings.cache_dir, target, gpu) is None:
        measure_peaks(settings.cache_dir, target, gpu)
