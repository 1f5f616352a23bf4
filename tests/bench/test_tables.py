"""Results as tables: what may be compared stands together, all else apart."""

from benchmarks.bench.record import BenchAnswer, LeftOut
from benchmarks.bench.tables import BenchSection, BenchTable, sections
from tests.bench.made_runs import bench_results, bench_run

RIGHT, WRONG = BenchAnswer(kind="faster", speedup=2.0), BenchAnswer(kind="wrong")


def table(section: BenchSection, title: str) -> BenchTable:
    return next(one for one in section.tables if one.title == title)


def test_runs_of_another_judge_or_model_are_shown_apart() -> None:
    runs = bench_run("a"), bench_run("b"), bench_run("a", judge="4")
    found = sections(bench_results(*runs, bench_run("a", model="ollama:large@2")))
    assert [table(one, "Arms").rows[0][1] for one in found] == ["2", "1", "1"]


def test_other_arms_are_compared_with_the_first_that_was_asked_for() -> None:
    runs = [bench_run("a", arm="late", speedup=2.0), bench_run("a", arm="first")]
    results = bench_results(*runs).model_copy(update={"arms": ("first", "late", "never")})
    (section,) = sections(results)
    assert [row[0] for row in table(section, "Arms").rows] == ["first", "late"]
    assert table(section, "Beside first").rows[0] == (
        "late",
        "1",
        "+100",
        "+0",
        "2x",
    )


def test_what_was_asked_for_and_not_done_is_told() -> None:
    results = bench_results(bench_run("a")).model_copy(update={"searches": {"openmp": 3}})
    assert sections(results)[0].facts["searches"] == "1 of 3 are done"


def test_arms_of_different_problems_are_said_not_to_compare() -> None:
    runs = [bench_run("a", arm="x"), bench_run("b", arm="x"), bench_run("b", arm="y")]
    (section,) = sections(bench_results(*runs))
    assert [row[1] for row in table(section, "Arms").rows] == ["2 of 2", "1 of 2"]
    assert section.notes[0].startswith("Not all arms were run on the same problems")
    (section,) = sections(bench_results(*runs[1:]))
    assert [row[1] for row in table(section, "Arms").rows] == ["1", "1"]
    assert section.notes == ()


def test_what_searches_began_with_stands_beside_what_they_found() -> None:
    """A search that finds nothing beyond a fast start is solved, and no better than its start."""
    runs = [
        bench_run(problem, speedup=found, start=start)
        for problem, found, start in (("a", 4.0, 4.0), ("b", 2.0, 1.0), ("c", 1.0, 0.5))
    ]
    (section,) = sections(bench_results(*runs))
    tables = {table.title: table for table in section.tables}
    rows = {row[0]: row for row in tables["Arms"].rows}
    assert rows["the start alone"][:5] == ("the start alone", "3", "0", "33 %", "1.59x")
    assert tables["Beside standard"].rows == (("the start alone", "3", "-33", "", "0.794x"),)
    assert [row[-1] for row in tables["Problems"].rows] == ["4x", "-", "-"]
    assert "without a model" in tables["Arms"].note
    (section,) = sections(bench_results(bench_run("a")))
    assert all("start" not in str(table) for table in section.tables)


def test_metrics_are_never_pooled() -> None:
    call, device = bench_run("a", speedup=4.0), bench_run("b", speedup=100.0)
    device = device.model_copy(update={"metric": "device"})
    found = sections(bench_results(call, device))
    assert [table(one, "Arms").rows[0][4] for one in found] == ["4x", "100x"]


def test_prompts_of_which_no_answer_was_kept_are_counted() -> None:
    run = bench_run("a").model_copy(update={"unrecorded": 4})
    costs = table(sections(bench_results(run))[0], "What they cost")
    assert (costs.columns[-1], costs.rows[0][-1]) == ("without answer", "4")


def test_calls_that_a_rule_answered_are_counted_apart() -> None:
    run = bench_run("a").model_copy(update={"by_rule": 2})
    costs = table(sections(bench_results(run))[0], "What they cost")
    row = dict(zip(costs.columns, costs.rows[0], strict=True))
    assert row["by rule"] == "2"


def test_figures_stand_with_their_intervals() -> None:
    runs = [
        bench_run("a", answers=[RIGHT, WRONG], speedup=2.0),
        *(bench_run(name, answers=[WRONG, WRONG]) for name in "bcde"),
    ]
    (section,) = sections(bench_results(*runs))
    row = dict(zip(table(section, "Arms").columns, table(section, "Arms").rows[0], strict=True))
    assert row["solved"] == "20 % (4 to 62)"
    assert row["speedup"] == "1.15x (1x to 1.74x)"
    assert row["pass@1"] == "10 % (0 to 40)"
    assert table(section, "Answers").rows == (("standard", "1", "9"),)
    assert table(section, "Problems").rows[:2] == (("a", "2x (1 of 2)"), ("b", "- (0 of 2)"))


def test_what_was_left_out_is_named() -> None:
    out = LeftOut(name="bad", target="openmp", why="does not compile")
    results = bench_results(bench_run()).model_copy(update={"left_out": (out,)})
    (section,) = sections(results)
    assert table(section, "Left out").rows == (("bad", "does not compile"),)
    (section,) = sections(results.model_copy(update={"runs": ()}))
    assert section.title == "shipped, openmp: nothing ran"
    assert table(section, "Left out").rows == (("bad", "does not compile"),)
