"""Each stranger's function is complete, and honest about what it needs."""

import json
from pathlib import Path

import pytest

from benchmarks.strangers import MOST_ANSWERS, STRANGERS, Stranger, same, strangers, tried
from regraph_kg.api.judge import CodeJudge

TECHNIQUES = json.loads((Path(__file__).parents[2] / "corpus" / "techniques.json").read_text())
IDS = {technique["id"] for technique in TECHNIQUES}


@pytest.mark.parametrize("one", strangers(), ids=lambda one: str(one.name))
def test_a_function_has_all_that_is_measured_with_it(one: Stranger) -> None:
    assert {"function", "field", "pattern", "options", "parallel", "first_steps"} <= {*one.about}
    assert len(one.about["options"]) <= 2 * MOST_ANSWERS
    code = (one.folder / "code.cpp").read_text(encoding="utf-8")
    assert one.short in code
    right = (one.folder / "right.cpp").read_text(encoding="utf-8")
    wrong = [path.read_text(encoding="utf-8") for path in one.wrong]
    assert len({right, *wrong}) == 4
    for target in ("openmp", "cuda"):
        steps = one.about["first_steps"][target]
        assert {*steps} <= IDS
        assert all(step.startswith(f"{target}/") for step in steps)


def test_every_folder_is_a_function() -> None:
    folders = {path.name for path in STRANGERS.iterdir() if path.is_dir()}
    assert {one.name for one in strangers()} == folders


@pytest.mark.parametrize(
    ("after", "equal"),
    [
        ("sum 1.000001 3", True),
        ("sum 1.1 3", False),
        ("sum 1.0 4", False),
        ("sum 1.0", False),
        ("sum nan 3", False),
        ("sum inf 3", False),
    ],
)
def test_numbers_with_a_point_may_round_and_no_others(after: str, *, equal: bool) -> None:
    assert same("sum 1.000000 3", after) is equal


@pytest.mark.slow
@pytest.mark.parametrize("name", ["heat-buffers", "histogram-clamped", "ray-spheres"])
def test_a_start_reads_what_taking_in_writes(name: str) -> None:
    """Copies, views, a returned container, limits of a type: of one room for the other."""
    with CodeJudge() as judge:
        row = tried(*strangers(name), ["in", "start"], judge, cuda=False, keep=None)
    assert (row.start, row.start_says) == ("parallel", "")
