"""The page of a graph: what the store knows, nothing that runs, and no more than fits."""

from pathlib import Path

import pytest

from regraph_kg.graph import GraphStore
from regraph_kg.pages.render import graph_page
from regraph_kg.runs import graph_page as story
from regraph_kg.runs.graph_page import view_graph
from regraph_kg.settings import Settings
from tests.browser.chromium import Page
from tests.contract.plans import A100, H200, measured, plan
from tests.pages.test_in_chromium import SCHEMES, WIDTHS, accessible, axe, browser, look
from tests.pages.test_run_page import shape
from tests.pages.traces import HOSTILE

__all__ = ["axe", "browser"]  # fixtures


def grow(store: GraphStore, code: str = "int x;", problem: str = "saxpy") -> None:
    here, there = measured(H200, effect=4.0), measured(A100, effect=2.0)
    store.merge(
        [
            plan("ab", code=code, problem=problem, model=code[:200], measurements=[here, there]),
            plan("c", code=code + "2"),
        ]
    )


def test_an_empty_graph_has_a_page(store: GraphStore, store_settings: Settings) -> None:
    page = graph_page(view_graph(store_settings))
    assert "Nothing was measured yet." in page


def test_techniques_stand_by_device_with_what_follows_and_an_example(
    store: GraphStore, store_settings: Settings
) -> None:
    grow(store)
    view = view_graph(store_settings)
    assert set(view.devices) == {H200, A100}
    (row,) = (row for row in view.rows if row.technique.id == "cuda/b")
    cells = dict(zip(view.devices, row.gains, strict=True))
    assert [cells[one] and cells[one].mean for one in (H200, A100)] == [4.0, 2.0]
    assert [(one.source, one.target, one.device) for one in view.strongest][:2] == [
        ("cuda/a", "cuda/b", H200),
        ("cuda/start", "cuda/a", H200),
    ]
    told = {shown.technique.id: shown for shown in view.techniques}
    assert [after.technique.id for after in told["cuda/a"].successors] == ["cuda/b"]
    first = {after.technique.id for after in told["cuda/start"].successors}
    assert first == {"cuda/a", "cuda/c"}
    example = told["cuda/b"].example
    assert example is not None
    assert (example.before, example.after) == ("int x; // after 0 a", "int x; // after 1 b")
    assert "4x on H200" in example.title.replace(H200, "H200")


def test_nothing_that_others_wrote_becomes_markup(
    store: GraphStore, store_settings: Settings
) -> None:
    code = HOSTILE.replace("\0", "")  # a graph holds none
    grow(store, code=code, problem=code)
    page = graph_page(view_graph(store_settings))
    assert [one for one in shape(page) if one != ("link", "")] == [("script", "")]
    assert "document.body.dataset.hit" in page
    assert "<script>document.body" not in page


def test_of_a_large_graph_what_was_tried_most_is_shown(
    store: GraphStore, store_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    grow(store)
    monkeypatch.setattr(story, "MOST_TECHNIQUES", 4)
    monkeypatch.setattr(story, "MOST_DEVICES", 1)
    view = view_graph(store_settings)
    assert (len(view.techniques), len(view.devices)) == (4, 1)
    assert view.notes == (
        "of 5 techniques the 4 that were tried most are shown",
        "of 2 devices the 1 with most tries are shown",
    )
    assert graph_page(view).count("<details") == 4


@pytest.mark.nightly
def test_a_page_fits_three_widths_and_leads_to_a_technique(
    store: GraphStore, store_settings: Settings, browser: Page, tmp_path: Path, axe: str
) -> None:
    grow(store)
    file = tmp_path / "graph.html"
    file.write_text(graph_page(view_graph(store_settings)), encoding="utf-8")
    for width in WIDTHS:
        for scheme in SCHEMES:
            look(browser, width, scheme)
            browser.open("about:blank")
            browser.open(f"{file.as_uri()}#cuda/b")
            browser.wait("!!document.querySelector('details[id=\"cuda/b\"][open]')", "technique")
            assert browser.evaluate("document.documentElement.scrollWidth") <= width
            assert accessible(browser, axe) == []
    browser.evaluate("scrollTo(0, 0)")
    browser.fill("#filter", "cuda/a")
    rows = "[...document.querySelectorAll('#techniques tbody tr')].filter(it => !it.hidden).length"
    browser.wait(f"{rows} === 1", "filtered table", seconds=5)
    assert browser.evaluate("performance.getEntriesByType('resource').length") == 0
