"""Results as tables and as a page: what may be compared stands together, all else apart."""

from regraph_kg.bench.tables import BenchSection, BenchTable, sections
from regraph_kg.models.bench import AnswerExample, BenchAnswer, LeftOut
from regraph_kg.pages.render import bench_page
from tests.bench.made_runs import bench_results, bench_run
from tests.pages.traces import HOSTILE

RIGHT, WRONG = BenchAnswer(kind="faster", speedup=2.0), BenchAnswer(kind="wrong")


def table(section: BenchSection, title: str) -> BenchTable:
    return next(one for one in section.tables if one.title == title)


def test_runs_of_another_judge_or_model_are_shown_apart() -> None:
    here = bench_results(bench_run("a"), bench_run("b"))
    other = bench_results(bench_run("a", judge="4"))
    model = bench_results(bench_run("a", model="ollama:large@2"))
    found = sections([here, other, model])
    assert [table(one, "Arms").rows[0][1] for one in found] == ["2", "1", "1"]
    assert len(sections([here, bench_results(bench_run("c"))])) == 1
    assert len(sections([here, bench_results(bench_run("a"), calls=6)])) == 2


def test_other_arms_are_compared_with_the_first_that_was_asked_for() -> None:
    runs = [bench_run("a", arm="late", speedup=2.0), bench_run("a", arm="first")]
    results = bench_results(*runs).model_copy(update={"arms": ("first", "late", "never")})
    (section,) = sections([results])
    assert [row[0] for row in table(section, "Arms").rows] == ["first", "late"]
    assert table(section, "Beside first").rows[0] == (
        "late",
        "1",
        "+100 (+100 to +100)",
        "",
        "2x (2x to 2x)",
    )
    assert section.facts["searches"] == "2 of 3 are done"


def test_figures_stand_with_their_intervals() -> None:
    runs = [
        bench_run("a", answers=[RIGHT, WRONG], speedup=2.0),
        bench_run("b", answers=[WRONG, WRONG]),
    ]
    (section,) = sections([bench_results(*runs)])
    row = dict(zip(table(section, "Arms").columns, table(section, "Arms").rows[0], strict=True))
    assert row["solved"] == "50 % (0 to 100)"
    assert row["speedup"] == "1.41x (1x to 2x)"
    assert row["pass@1"] == "25 % (0 to 50)"
    assert row["speedup@1"] == "0.50 (0.00 to 1.00)"
    assert "pass@5" not in row
    assert table(section, "Answers").rows == (("standard", "1", "3"),)
    assert table(section, "Problems").rows == (("a", "2x (1 of 2)"), ("b", "- (0 of 2)"))
    assert table(section, "Tiers").rows == (("easy (2)", "1 of 2, 1.41x"),)


def test_what_was_left_out_is_named() -> None:
    out = LeftOut(name="bad", target="openmp", why="does not compile")
    results = bench_results(bench_run()).model_copy(update={"left_out": (out,)})
    (section,) = sections([results])
    assert table(section, "Left out").rows == (("bad", "does not compile"),)


def test_nothing_that_a_model_said_runs_on_the_page() -> None:
    example = AnswerExample(
        kind="prose", arm="standard", problem="a", target="openmp", technique="", text=HOSTILE
    )
    results = bench_results(bench_run()).model_copy(update={"examples": (example,)})
    page = bench_page(sections([results]))
    assert "<script" not in page
    assert HOSTILE not in page
    assert "script-src &#39;none&#39;" in page
