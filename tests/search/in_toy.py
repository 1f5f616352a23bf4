"""One method's whole search in the toy world, and what it asked there."""

from regraph_kg.models.method import MethodSettings
from regraph_kg.models.run import SimulationRecord
from tests.search.toy import Toy, header, searching


def run(
    toy: Toy, settings: MethodSettings, calls: int, *, seed: int = 0, parallel: int = 1
) -> list[SimulationRecord]:
    """Its records."""
    head = header(calls, seed, settings=settings, parallel=parallel)
    return list(searching(toy.world, head))


def asked(toy: Toy) -> list[tuple[str, int, int]]:
    """Every prompt that was answered: its path ("a#1 > b"), attempt and repair."""
    return [
        (" > ".join(one.removeprefix("openmp/") for one in key.path), key.attempt, key.repair)
        for key in toy.asked
    ]
