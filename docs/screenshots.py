"""Takes the pictures of docs/browser.md from the real Neo4j Browser.

    python -m docs.screenshots

In the repository's root; needs what the test of the Browser needs: a Chromium and a Neo4j. What
the pictures show is the graph of tests/browser/sample.py.
"""

import tempfile
import time
from contextlib import closing
from pathlib import Path

from regraph_kg import wiring
from tests.browser.sample import grow
from tests.browser.server import Browser, opened, served

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
FOLDER = ROOT / "cypher" / "browser"
FRAME = "[data-testid=frame]"
FULL = f"{FRAME} [title=Fullscreen]"
SMALL = f"{FRAME} [title='Close fullscreen']"
SIDEBAR = (0.0, 0.0, 360.0, 610.0)
NARROW, WIDE = (1000, 760, 1.5), (1420, 760, 1.0)
"""Width, height and scale of the window for pictures of graphs, and of tables."""
GRAPHS = ("map-of-a-target", "paths-to-a-technique", "path-of-examples")
PATH = ("cuda/start", "cuda/thread-per-element", "cuda/memory-coalescing")
QUERIES = {
    "strongest-transitions": "",
    "map-of-a-target": "",
    "paths-to-a-technique": ":param technique => 'cuda/shared-memory-tiling'",
    "examples-side-by-side": f":param technique => '{PATH[1]}'",
    "where-models-fail": "",
    "provenance": "",
    "vocabulary": "",
    "curations": "",
    "hottest-archive": "",
    "doubtful-names": "",
}
"""What is shown, and what is said before."""
TALL = ("examples-side-by-side", "provenance")
"""Shown on the whole page."""


def keep(browser: Browser, name: str, clip: tuple[float, float, float, float]) -> None:
    """Write what is at left, top, width, height to docs/images/browser-NAME.png."""
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / f"browser-{name}.png").write_bytes(browser.page.picture(clip))


def load(browser: Browser, folder: Path) -> None:
    """Load the pack as a person does, and show the sidebar."""
    queries, style = wiring.write_browser_pack(folder)
    browser.page.drop(style)
    browser.page.wait("document.body.innerText.includes('relationship.NEXT')", "style")
    browser.page.drop(queries)
    browser.favorites()
    browser.page.click("[data-testid=expandFolder-regraph]")
    browser.page.wait("!!document.querySelector('[data-testid^=scriptTitle]')", "saved queries")
    keep(browser, "saved-queries", SIDEBAR)
    browser.favorites()


def show(browser: Browser, name: str, query: str) -> None:
    """Run a query twice, so that it is planned, and keep its frame."""
    browser.page.size(*(NARROW if name in GRAPHS else WIDE))
    browser.run(query)
    if browser.run(query).nodes:
        browser.page.click(f"{FRAME} [title='Collapse the node properties display']")
        time.sleep(1)  # it slides
    if name in TALL:
        browser.page.click(FULL)
        browser.settle()
    keep(browser, name, browser.page.box(FRAME))
    if name in TALL:
        browser.page.click(SMALL)
        browser.settle()


def pictures(browser: Browser, folder: Path, example: str) -> None:
    load(browser, folder)
    for name in ("draw-results-only", "parameters"):
        browser.run(text(name))
    browser.run(f":param example => '{example}'")
    show(browser, "path-of-examples", wiring.browser_query(PATH))
    for name, before in QUERIES.items():
        if before:
            browser.run(before)
        show(browser, name, text(name))


def text(name: str) -> str:
    return (FOLDER / f"{name}.cypher").read_text(encoding="utf-8")


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as data,
        tempfile.TemporaryDirectory() as profile,
        served(Path(data)) as server,
    ):
        grow(server.settings)
        with closing(wiring.open_store(server.settings)) as store:
            example = store.examples(*PATH[:2], limit=1)[0].id
        with opened(server, Path(profile), *NARROW) as browser:
            pictures(browser, Path(profile), example)


if __name__ == "__main__":
    main()
