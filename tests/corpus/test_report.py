"""The corpus report: what it says of made-up trajectories, large corpora included."""

import math
from typing import Any

import pytest

from regraph_kg.models.technique import Technique
from regraph_kg.models.trajectory import WITHHELD, Trajectory
from regraph_kg.survey.facts import (
    TimingKey,
    agreement,
    gain,
    nearly_equal,
    seen_steps,
    unchanged,
)
from regraph_kg.survey.report import corpus_report

TILES, LOADS = "cuda/shared-memory-tiling", "cuda/vectorized-loads"
H200 = TimingKey("cuda", "H200", "call")
CODE = "void f(float* x) {{ for (int i = 0; i < {}; ++i) x[i] += {}; }}"


def measured(effect: float | None, **fields: Any) -> dict[str, Any]:
    """A measurement with this effect, and a speedup twice as large; None: it failed."""
    usual = {"device": "H200", "toolchain": "nvcc", "evaluator": "3", "run": "r"}
    outcome = {"outcome": "wrong_answer" if effect is None else "passed"}
    times = {"seconds": 1.0, "before_seconds": effect, "serial_seconds": effect and 2 * effect}
    return usual | outcome | (times if effect else {}) | fields


def step(technique: str, code: str, *measurements: dict[str, Any]) -> dict[str, Any]:
    return {"label": technique, "technique": technique, "code": code, "measurements": measurements}


def trajectory(problem: str, *steps: dict[str, Any], ref: str = "", **fields: Any) -> Trajectory:
    usual = {"schema": 1, "target": "cuda", "problem": problem, "serial": "void f();"}
    return Trajectory.model_validate(usual | {"ref": ref or problem, "steps": steps} | fields)


def test_times_by_two_metrics_stand_in_columns_of_their_own() -> None:
    roofline = {"memory": 0.61, "compute": 0.05}
    both = (measured(1.1), measured(4.0, metric="device", roofline=roofline))
    text = corpus_report([trajectory("saxpy", step(TILES, "a", *both))], [])
    assert "| transition | problems | call, H200 | device, H200 |" in text
    assert "| start → shared-memory-tiling | 1 | 1.1x, n 1 | 4x, n 1 |" in text
    assert "| saxpy | cuda | device | H200 | 3 | 8x | 61 % | 5 % |" in text
    assert "| saxpy | cuda | call | H200 | 3 | 2.2x | - | - |" in text


def test_good_ends_are_within_twice_the_time_of_a_roof() -> None:
    shares = {"a": {"memory": 0.61}, "b": {"memory": 0.1, "compute": 0.5}, "c": {"memory": 0.49}}
    found = [
        trajectory(name, step(TILES, "a", measured(2.0, roofline=roofline)))
        for name, roofline in shares.items()
    ]
    text = corpus_report([*found, trajectory("d", step(TILES, "a", measured(2.0)))], [])
    assert "| cuda | call | H200 | 2 | 3 | a, b |" in text, "d's roof is not known"


def test_whose_figures_stand_is_told_step_by_step() -> None:
    noise = measured(9.0, outcome="unstable_timing", metric="device", evaluator="4")
    old, new = measured(5.0, evaluator="3"), measured(2.0, evaluator="4")
    text = corpus_report(
        [
            trajectory("p", step(TILES, "a", old, new), step(LOADS, "b", old, noise)),
            trajectory("q", step(TILES, "a", old)),
        ],
        [],
    )
    assert "The newest judge here is 4." in text
    assert "| cuda | call | 3 | 1 | 2 | 0 | 0 |" in text
    assert "| cuda | device | 3 | 0 | 0 | 1 | 2 |" in text
    assert "| cuda | call | p (1 of 2 steps), q | - |" in text
    assert "| cuda | device | - | p, q |" in text


@pytest.mark.parametrize(
    ("share", "said"),
    [(1.04, "104 %"), (0.1, "10 %"), (0.0432, "4.3 %"), (0.00027, "0.027 %"), (1e-9, "0 %")],
)
def test_small_shares_of_a_roof_keep_two_digits(share: float, said: str) -> None:
    found = measured(2.0, roofline={"memory": share})
    text = corpus_report([trajectory("p", step(TILES, "a", found))], [])
    assert f"| p | cuda | call | H200 | 3 | 4x | {said} | 0 % |" in text


def test_an_interval_needs_two_steps_and_narrows_with_more() -> None:
    alone, two, four = gain([2.0]), gain([1.0, 4.0]), gain([1.0, 4.0, 1.0, 4.0])
    assert (alone.mean, alone.low) == (pytest.approx(2.0), None)
    assert two.mean == four.mean == pytest.approx(2.0)
    assert two.low is not None
    assert four.low is not None
    assert two.low == pytest.approx(2 / math.exp(12.706204736 * math.log(2)))  # t for one degree
    assert two.low < four.low < 2.0


def test_the_newest_judges_last_measurement_counts_and_noise_never() -> None:
    noise = measured(9.0, outcome="unstable_timing", evaluator="10", run="c")
    old, new = measured(5.0, evaluator="9", run="b"), measured(2.0, evaluator="10", run="a")
    (seen,) = seen_steps([trajectory("saxpy", step(TILES, "a", new, old, noise))])
    assert seen.counted[H200].effect == 2.0


def test_what_two_steps_tell_is_told_only_where_it_tells_something() -> None:
    near = [
        trajectory(one, step(TILES, "a", measured(2.0 + k))) for k, one in ((0.01, "p"), (0, "q"))
    ]
    far = [trajectory("r", step(LOADS, "a", measured(e)), ref=str(e)) for e in (1.0, 9.0)]
    text = corpus_report(near + far, [])
    assert "| start → shared-memory-tiling | 2 | 2x (1.94x to 2.07x), n 2 |" in text
    assert "| start → vectorized-loads | 1 | 3x (anything), n 2 |" in text


@pytest.mark.parametrize(("second", "said"), [((2.0, 8.0), 1.0), ((8.0, 2.0), -1.0)])
def test_gains_that_carry_over_between_problems_correlate(
    second: tuple[float, float], said: float
) -> None:
    steps = seen_steps(
        trajectory(name, step(TILES, "a", measured(one)), step(LOADS, "b", measured(other)))
        for name, (one, other) in (("p", (2.0, 8.0)), ("q", second))
    )
    count, value = agreement(steps, pairs=True)[H200]
    assert (count, value) == (2, pytest.approx(said))


def test_nearly_equal_code_is_found_within_a_problem_only() -> None:
    first = trajectory("p", step(TILES, CODE.format("n", 1)))
    again = trajectory("p", step(TILES, "// said otherwise\n" + CODE.format("n", 1)), ref="again")
    other = trajectory("p", step(TILES, "int g() { return 7; }"), ref="other")
    elsewhere = trajectory("q", step(TILES, CODE.format("n", 1)))
    (pair,) = nearly_equal([first, again, other, elsewhere])
    assert (pair.first.ref, pair.second.ref, pair.steps) == ("p", "again", ((1, 1),))


def test_a_step_that_changes_only_comments_is_named() -> None:
    same = trajectory("p", step(TILES, "int  a ;"), step(LOADS, "int a; // faster"))
    assert [seen.number for seen in unchanged(seen_steps([same]))] == [2]


def test_code_that_is_not_disclosed_is_compared_with_none() -> None:
    told = {"disclosed": "statistics", "serial": ""}
    step = {"label": WITHHELD, "technique": TILES, "measurements": [measured(2.0)]}
    hidden = [trajectory("p", step, step, **told, content=str(n) * 64) for n in range(2)]
    assert list(nearly_equal(hidden)) == unchanged(seen_steps(hidden)) == []
    assert "| start → shared-memory-tiling | 1 | 2x" in corpus_report(hidden, [])


def test_dead_ends_and_techniques_without_an_example_are_named() -> None:
    failure = {"after_step": 0, "label": "x", "technique": TILES, "outcome": "crashed"}
    one = trajectory(
        "p", step(LOADS, "a", measured(None)), step(TILES, "b", measured(0.5)), failures=[failure]
    )
    unseen = Technique(id="cuda/fast-math", name="Fast math", target="cuda")
    seen = Technique(id=TILES, name="Tiles", target="cuda")
    text = corpus_report([one], [unseen, seen])
    assert f"| {TILES} | 1 | 1 crashed |" in text
    assert f"| {LOADS} | 1 | 1 wrong_answer |" in text
    assert f"| p | p step 2, {TILES} | call | H200 | 0.5x |" in text
    assert "cuda: Fast math.\n" in text


def test_sixty_problems_stay_readable_and_nothing_is_left_out_silently() -> None:
    corpus = [
        trajectory(
            f"problem-{number:02}",
            *(
                step(f"cuda/t{number}-{k}", CODE.format(number, k), measured(0.5 + k))
                for k in range(4)
            ),
        )
        for number in range(64)
    ]
    text = corpus_report(corpus, [])
    assert len(text.splitlines()) < 400
    assert all(f"| problem-{number:02} |" in text for number in range(64))
    assert "more rows are left out" in text
    assert text == corpus_report(corpus, [])


def test_tiers_go_by_the_longest_path_that_passed() -> None:
    passed = [step(TILES, str(n), measured(1.2)) for n in range(8)]
    failed = step(LOADS, "wrong", measured(None))
    told = [
        trajectory("long", *passed),
        trajectory("short", *passed[:4], failed, *passed[5:]),
        trajectory("unmeasured", step(TILES, "a")),
    ]
    text = corpus_report(told, [])
    rows = [line for line in text.splitlines() if line.startswith("| cuda | ") and "|" in line]
    assert "| cuda | none verified | 1 | unmeasured |" in rows
    assert "| cuda | medium | 1 | short |" in rows
    assert "| cuda | hard | 1 | long |" in rows


def test_weak_transitions_and_steps_in_vain_are_counted() -> None:
    told = [
        trajectory("p", step(TILES, "a", measured(2.0)), step(LOADS, "b", measured(1.02))),
        trajectory("q", step(TILES, "c", measured(0.5)), step(TILES, "d", measured(1.5))),
    ]
    text = corpus_report(told, [])
    assert "Of steps and attempts 50% failed, or gained less than 5% wherever" in text
    assert "| cuda | call | H200 | 3 | 2 | 2 | 1 |" in text


def test_problems_that_differ_by_names_alone_are_named() -> None:
    code = "void f(float* x) { for (int i = 0; i < 9; ++i) x[i] += 2; }"
    told = [
        trajectory("p", step(TILES, "a"), serial=code),
        trajectory("q", step(TILES, "b"), serial=code.replace("x", "_y").replace("9", "7")),
        trajectory("r", step(TILES, "c"), serial="void g(int n) { while (n) n /= 2; }"),
    ]
    assert "same serial code but for names: p and q (100%)." in corpus_report(told, [])
    assert "but for names: none." in corpus_report(told[1:], [])


def test_steps_whose_code_shows_another_technique_and_short_times_are_named() -> None:
    loop = "void f(float* x, int n) {{ {}for (int i = 0; i < n; ++i) x[i] += 1; }}"
    simd = Technique(
        id="openmp/simd", name="SIMD", target="openmp", leaves=("new directives.simd",)
    )
    parallel = simd.model_copy(
        update={"id": "openmp/parallel-for", "name": "For", "leaves": ("new worksharing_loop",)}
    )
    pragma = "\n#pragma omp {}\n"
    short = measured(2.0, metric="device", seconds=2e-6)
    told = trajectory(
        "p",
        step("openmp/simd", loop.format(pragma.format("simd")), short),
        step("openmp/simd", loop.format(pragma.format("parallel for simd"))),
        serial=loop.format(""),
        target="openmp",
    )
    text = corpus_report([told], [simd, parallel])
    assert "| p | p step 2, openmp/simd | openmp/simd | openmp/parallel-for |" in text
    assert "| p | H200 | 2 us |" in text
    assert "p step 1" not in text.partition("## Claims")[2].partition("## Too short")[0]


def test_preconditions_that_rule_out_recorded_steps_are_counted() -> None:
    simd = Technique(
        id="openmp/simd",
        name="SIMD",
        target="openmp",
        needs=("loop", "indirect|worksharing_loop"),
        pointless=("schedule",),
    )
    loop = "void f(float* x, int n) {{ {}for (int i = 0; i < n; ++i) x[i] += {}; }}"
    shared = "\n#pragma omp parallel for\n"
    told = [
        trajectory(
            name,
            step("openmp/simd", loop.format(shared, number), measured(effect)),
            step("openmp/simd", loop.format(shared, -number), measured(0.9)),
            serial=loop.format("", f"{number} + 1"),
            target="openmp",
        )
        for name, number, effect in (("p", 2, 1.5), ("q", 3, 1.01))
    ]
    text = corpus_report(told, [simd]).partition("## Preconditions")[2]
    assert "| openmp/simd | needs indirect or worksharing_loop | 2 of 4 | 1 | 50% |" in text
    assert "pointless" not in text.partition("## Too short")[0]


def test_a_gain_without_the_time_before_is_not_in_vain() -> None:
    unknown = measured(2.0) | {"before_seconds": None}
    text = corpus_report([trajectory("p", step(TILES, "a", unknown))], [])
    assert "Of steps and attempts 0% failed" in text


def test_names_of_like_problems_are_shown_as_text() -> None:
    odd = trajectory("<b>p", step(TILES, "a"))
    assert "&lt;b>p and q (100%)" in corpus_report([odd, trajectory("q", step(TILES, "b"))], [])
