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


def test_techniques_stand_by_device_and_the_strongest_pair_first(
    store: GraphStore, store_settings: Settings
) -> None:
    grow(store)
    view = view_graph(store_settings)
    assert set(view.devices) == {H200, A100}
    (row,) = (row for row in view.techniques if row[1] == "cuda/b")
    cells = dict(zip(view.devices, row[2:], strict=True))
    assert cells == {H200: "4x (1 of 1)", A100: "2x (1 of 1)"}
    assert [row[:3] for row in view.strongest][:2] == [
        ("cuda/a", "cuda/b", H200),
        ("cuda/start", "cuda/a", H200),
    ]


def test_nothing_that_others_wrote_becomes_markup(
    store: GraphStore, store_settings: Settings
) -> None:
    code = HOSTILE.replace("\0", "")  # a graph holds none
    grow(store, code=code, problem=code)
    page = graph_page(view_graph(store_settings))
    assert [one for one in shape(page) if one != ("link", "")] == []


def test_the_devices_with_most_tries_are_shown(
    store: GraphStore, store_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    grow(store)
    monkeypatch.setattr(story, "MOST_DEVICES", 1)
    view = view_graph(store_settings)
    assert len(view.devices) == 1
    assert view.note


@pytest.mark.nightly
def test_a_page_fits_three_widths(
    store: GraphStore, store_settings: Settings, browser: Page, tmp_path: Path, axe: str
) -> None:
    grow(store)
    file = tmp_path / "graph.html"
    file.write_text(graph_page(view_graph(store_settings)), encoding="utf-8")
    for width in WIDTHS:
        for scheme in SCHEMES:
            look(browser, width, scheme)
            browser.open(file.as_uri())
            assert browser.evaluate("document.documentElement.scrollWidth") <= width
            assert accessible(browser, axe) == []
