"""Takes the pictures of docs/browser.md from the real Neo4j Browser, and those of docs/home.md.

    python -m docs.screenshots
    python -m docs.screenshots .demo/runs/NAME.jsonl

In the repository's root; needs what the test of the Browser needs: a Chromium and a Neo4j. What
the pictures show is the graph of tests/browser/sample.py. With a trace (`make demo` leaves one)
it is the page of that run alone, and no Neo4j is needed.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

from regraph_kg.pages.render import runs_page
from regraph_kg.runs.run_page import view_runs
from regraph_kg.settings import read_settings
from tests.browser.chromium import chromium
from tests.browser.sample import grow
from tests.browser.server import FRAMES, Browser, opened, packed, served

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
FOLDER = ROOT / "cypher" / "browser"
FRAME = "[data-testid=frame]"
FULL = f"{FRAME} [title=Fullscreen]"
SMALL = f"{FRAME} [title='Close fullscreen']"
PAGE, WIDE = (1000, 760, 1.5), (1420, 760, 1.0)
"""Width, height and scale of the window at first, and for pictures of tables."""
GRAPHS = {"map-of-a-target": (1000, 960, 1.4)}
"""Pictures of graphs fill the window: its width, height and scale."""
PANEL = "[title='Collapse the node properties display']"
SHOWN = ("strongest-transitions", "map-of-a-target")


def keep(browser: Browser, name: str, clip: tuple[float, float, float, float]) -> None:
    """Write what is at left, top, width, height to docs/images/browser-NAME.png."""
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / f"browser-{name}.png").write_bytes(browser.page.picture(clip))


def load(browser: Browser, folder: Path) -> None:
    """Load the pack as a person does, and show the sidebar."""
    queries, style = packed(folder)
    browser.drop(style, "document.body.innerText.includes('relationship.NEXT')")
    browser.favorites()
    browser.drop(queries, "document.querySelector('[data-testid=expandFolder-regraph]') !== null")
    browser.page.click("[data-testid=expandFolder-regraph]")
    browser.page.wait("!!document.querySelector('[data-testid^=scriptTitle]')", "saved queries")
    browser.favorites()


def show(browser: Browser, name: str, query: str) -> None:
    """Run a query twice, so that it is planned, and keep its frame."""
    browser.page.size(*GRAPHS.get(name, WIDE))
    browser.run(query)
    browser.run(query)
    if name in GRAPHS:
        browser.page.click(FULL)
        browser.settle()
        fit(browser)
    keep(browser, name, browser.page.box(FRAME))
    if name in GRAPHS:
        browser.page.click(SMALL)
        browser.settle()


def fit(browser: Browser) -> None:
    """Let the picture fill its frame. Folding the panel folds it in all later frames too."""
    if browser.page.evaluate(f"{FRAMES}[0].querySelector({json.dumps(PANEL)}) !== null"):
        browser.page.click(f"{FRAME} {PANEL}")
    browser.page.click(f"{FRAME} [aria-label=zoom-to-fit]")
    time.sleep(1)  # it slides
    browser.page.box(f"{FRAME} .neod3viz g.node")


def pictures(browser: Browser, folder: Path) -> None:
    load(browser, folder)
    for name in ("draw-results-only", "parameters"):
        browser.run(text(name))
    for name in SHOWN:
        show(browser, name, text(name))


def text(name: str) -> str:
    return (FOLDER / f"{name}.cypher").read_text(encoding="utf-8")


def report(trace: Path) -> None:
    """The page of a run, as docs/images/report.png."""
    settings = read_settings()
    pages = {
        "report": (runs_page(view_runs(settings, [trace])), ".tree"),
    }
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        chromium(Path(folder)) as page,
    ):
        for name, (html, last) in pages.items():
            file = Path(folder) / f"{name}.html"
            file.write_text(html, encoding="utf-8")
            page.size(1000, 1700)
            page.open(file.as_uri())
            page.wait(f"!!document.querySelector({json.dumps(last)})", last)
            _, top, _, height = page.box(last)
            top += page.evaluate("scrollY")
            first = top - 8 if name == "graph" else 0.0
            clip = (0.0, first, 1000.0, top + height - first + 12)
            (IMAGES / f"{name}.png").write_bytes(page.picture(clip))


def main() -> None:
    if len(sys.argv) > 1:
        report(Path(sys.argv[1]))
        return
    with (
        tempfile.TemporaryDirectory() as data,
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile,  # a child still writes
        served(Path(data)) as server,
    ):
        grow(server.settings)
        with opened(server, Path(profile), *PAGE) as browser:
            pictures(browser, Path(profile))


if __name__ == "__main__":
    main()
