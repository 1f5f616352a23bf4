"""The growth test's material: trajectories to ingest, transforms that fit their codes."""

from pathlib import Path

import pytest

from regraph_kg.models.trajectory import Trajectory
from regraph_kg.search.transform.transform import Transform, carried_out

SEEN = Path(__file__).parents[2] / "benchmarks" / "growth_seen"


def test_twenty_trajectories_begin_at_the_serial_codes_of_their_problems() -> None:
    lines = (SEEN / "trajectories.jsonl").read_text(encoding="utf-8").splitlines()
    known = [Trajectory.model_validate_json(line) for line in lines]
    assert len(known) == 20
    for one in known:
        assert one.serial == (SEEN / one.problem / "serial.cpp").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("transform", "problems"),
    [
        ("running-window-sum.blocks", "trailing-mean busy-counts rolling-variance"),
        ("running-window-sum.blocks", "rolling-correlation"),
        ("prefix-sum.blocks", "trailing-mean busy-counts rolling-correlation"),
        ("window-doubling.table", "window-range lowest-neighbour"),
        ("separable-box.columns", "box-mean peak-map patch-energy"),
    ],
)
def test_lifted_transforms_fit_the_serial_codes(transform: str, problems: str) -> None:
    read = Transform.of((SEEN / "transforms" / f"{transform}.toml").read_text(encoding="utf-8"))
    for problem in problems.split():
        serial = (SEEN / problem / "serial.cpp").read_text(encoding="utf-8")
        assert list(carried_out(read, serial)), problem


def test_sums_over_windows_that_weigh_by_place_stay() -> None:
    path = SEEN / "transforms" / "running-window-sum.blocks.toml"
    read = Transform.of(path.read_text(encoding="utf-8"))
    code = """
void f(const float* x, float* out, int n, int w) {
    for (int i = 0; i + w <= n; ++i) {
        float sum = 0;
        for (int k = 0; k < w; ++k) sum += WEIGHT * x[i + k];
        out[i] = sum;
    }
}
"""
    assert list(carried_out(read, code.replace("WEIGHT", "2")))
    for weight in ("k", "out[i]", "(i % 2)"):
        assert not list(carried_out(read, code.replace("WEIGHT", weight))), weight


def test_differences_of_prefix_sums_are_not_made_of_doubles() -> None:
    text = (SEEN / "transforms" / "prefix-sum.blocks.toml").read_text(encoding="utf-8")
    serial = (SEEN / "rolling-variance" / "serial.cpp").read_text(encoding="utf-8")
    assert not list(carried_out(Transform.of(text), serial))
