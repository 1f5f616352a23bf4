"""Steps that are held against their code: which technique they count for."""

import json
from typing import Any

import pytest

from regraph_kg.ingest.cascade import Labels, by_code
from regraph_kg.ingest.pipeline import plan
from regraph_kg.models.technique import Technique, Vocabulary
from regraph_kg.models.trajectory import Trajectory
from regraph_kg.search.fit.applied import deed
from tests.ingest.test_commands import Desk, desk
from tests.ingest.trajectories import by_name, measured, row

__all__ = ["desk"]

SERIAL = """void work(float* x, int n) {
    for (int i = 0; i < n; ++i) {
        x[i] = x[i] * 2.0f;
    }
}
"""
PARALLEL = SERIAL.replace("    for", "    #pragma omp parallel for\n    for", 1)
BOTH = PARALLEL.replace("parallel for", "parallel for simd")
FASTER = SERIAL.replace("x[i] * 2.0f", "x[i] + x[i]")
KNOWN = Vocabulary(
    [
        Technique(id=f"openmp/{slug}", name=name, target="openmp", leaves=leaves)
        for slug, name, leaves in (
            ("cache-tiling", "Cache tiling", ("more tiled_nest", "other loops.stride")),
            ("parallel-for", "Parallel for", ("new worksharing_loop",)),
            ("simd", "SIMD", ("new directives.simd",)),
            ("strength-reduction", "Strength reduction", ()),
        )
    ]
)


def steps(*taken: tuple[str, str], **fields: Any) -> Trajectory:
    listed = [{"label": label, "code": code} | fields for label, code in taken]
    return Trajectory.model_validate(
        {"schema": 1, "target": "openmp", "problem": "p", "serial": SERIAL, "steps": listed}
    )


def read(trajectory: Trajectory) -> Labels:
    labels = by_name(KNOWN).relabel(trajectory)
    return by_code(labels, trajectory, KNOWN.known, deed, given=True)


def test_a_step_counts_for_what_it_did_and_keeps_its_name() -> None:
    read_ = read(steps(("Cache tiling", PARALLEL)))
    (told,) = read_.steps
    assert (told.label, told.technique, told.stage) == (
        "Cache tiling", "openmp/parallel-for", "code"
    )  # fmt: skip


@pytest.mark.parametrize("label", ["Share the iterations out", "Threads over rows"])
def test_a_new_name_is_the_one_technique_that_the_code_shows(label: str) -> None:
    (told,) = read(steps((label, PARALLEL))).steps
    assert (told.label, told.technique) == (label, "openmp/parallel-for")


def test_a_new_name_is_new_where_the_code_shows_none_or_two() -> None:
    for code in (BOTH, FASTER):
        read_ = read(steps(("Odd trick", code)))
        assert read_.steps[0].technique == "openmp/odd-trick"


def test_a_name_stands_where_it_is_not_known_what_was_done_instead() -> None:
    (contradicted, empty) = (read(steps(("SIMD", one))) for one in (FASTER, f"// {SERIAL}"))
    assert contradicted.steps[0].technique == "openmp/simd"
    assert empty.steps[0].technique == "openmp/simd"
    renamed = read(steps(("SIMD", SERIAL.replace("x", "y"))))
    assert renamed.steps[0].technique == "openmp/simd"


def test_each_step_is_held_against_the_code_before_it() -> None:
    read_ = read(steps(("Parallel for", PARALLEL), ("Cache tiling", BOTH)))
    assert [step.technique for step in read_.steps] == ["openmp/parallel-for", "openmp/simd"]


def test_given_ids_are_held_against_the_code_like_names() -> None:
    for given, code, counted in (
        ("openmp/cache-tiling", PARALLEL, "openmp/parallel-for"),
        ("openmp/of-nobody", PARALLEL, "openmp/parallel-for"),
        ("openmp/of-nobody", FASTER, "openmp/of-nobody"),
        ("openmp/parallel-for", PARALLEL, "openmp/parallel-for"),
        ("openmp/simd", FASTER, "openmp/simd"),
    ):
        (told,) = read(steps(("Magic", code), technique=given)).steps
        assert (told.label, told.technique) == ("Magic", counted)


def test_the_code_of_one_step_teaches_no_alias() -> None:
    trajectory = steps(("Share it out", PARALLEL))
    made = plan(trajectory, read(trajectory).steps, (), KNOWN.known, "2026-11-25")
    assert made.new == ()


def test_an_ingest_goes_by_code(desk: Desk) -> None:
    rows = [
        {"schema": 1, "target": "openmp", "problem": "p", "serial": f"// {number}\n{SERIAL}"}
        | {"steps": [{"label": label, "code": f"// {number}\n{PARALLEL}"}]}
        for number, label in enumerate(("Cache tiling", "SIMD", "By threads"))
    ]
    text = "[" + ",".join(one.model_dump_json() for one in KNOWN.curated) + "]"
    (desk.folder / "corpus" / "techniques.json").write_text(text)
    file = desk.write("file.jsonl", *rows)
    desk.run("ingest", file)
    words = ("examples", "openmp/start", "openmp/parallel-for", "-k", "9", "--json")
    assert len(json.loads(desk.run(*words).out or "[]")) == 3


BEYOND = {
    "a million": {"seconds": 1e-6},
    "more than is possible at all": {"seconds": 1e-12},
    "beyond the peak": {"roofline": {"memory": 3.0}},
    "the serial code": {"seconds": 1e-3, "before_seconds": 1e-3, "serial_seconds": 1e4},
}


@pytest.mark.parametrize("how", BEYOND)
def test_a_claim_beyond_any_device_is_a_finding(desk: Desk, how: str) -> None:
    plausible, impossible = row(1), row(2)
    plausible["steps"][0]["measurements"] = [measured(0.5)]
    impossible["steps"][0]["measurements"] = [measured(0.5) | BEYOND[how], measured(0.4, run="b")]
    done = desk.run("ingest", desk.write("file.jsonl", plausible, impossible))
    assert (done.code, len(done.err.splitlines())) == (0, 1)
    assert "1 figures that no device gives" in done.err
