"""The real Neo4j Browser, in a headless Chromium: the pack loads, and the queries show."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.sample import grow
from tests.browser.server import Browser, opened, packed, served

pytestmark = pytest.mark.nightly

FOLDER = Path(__file__).parents[2] / "cypher" / "browser"

CAPTION = re.compile(r"([\d.]+)x, (\d+ of \d+)")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A Browser that shows the sample graph."""
    _, style = packed(tmp_path_factory.mktemp("pack"))
    with served(tmp_path_factory.mktemp("neo4j")) as server:
        grow(server.settings)
        with opened(server, tmp_path_factory.mktemp("chromium")) as browser:
            browser.drop(style, "document.body.innerText.includes('relationship.TRANSITION')")
            yield browser


def query(name: str) -> str:
    return (FOLDER / f"{name}.cypher").read_text(encoding="utf-8")


def test_a_person_loads_the_pack_and_walks_through_it(browser: Browser, tmp_path: Path) -> None:
    pack, _ = packed(tmp_path)
    page = browser.page
    browser.favorites()
    browser.drop(pack, "document.querySelector('[data-testid=expandFolder-regraph]') !== null")
    page.click("[data-testid=expandFolder-regraph]")
    titles = "[...document.querySelectorAll('[data-testid^=scriptTitle-]')].map(e => e.innerText)"
    expected = sorted(query(path.stem).splitlines()[0][3:] for path in FOLDER.glob("*.cypher"))
    page.wait(f"{titles}.length >= {len(expected)}", "scripts")
    assert sorted(set(page.evaluate(titles))) == expected, "twice each when dropped twice"
    page.click("[data-testid='scriptTitle-00 Draw results only']")
    browser.favorites()
    page.click("[data-testid=editor-Run]")
    page.wait("document.body.innerText.includes('\"autoComplete\": false')", "setting")

    assert "Successfully set your parameters" in browser.run(query("parameters")).text

    table = browser.run(query("strongest-transitions")).table
    assert table[0][:5] == ["after", "apply", "times faster", "verified", "tried"]
    assert table[0][5:] == ["examples"]
    after, apply, gained, verified, tried = table[1][:5]
    assert [after, apply] == ['"serial code"', '"Thread per element"']
    picture = browser.run(query("map-of-a-target"))
    assert {"serial code", "Thread per element"} <= set(picture.nodes)
    assert len(picture.arrows) >= len(picture.nodes) - 1, "it grows from the serial code"
    cut = [arrow for arrow in picture.arrows if arrow.endswith("…")]
    whole = [arrow for arrow in picture.arrows if arrow not in cut]
    told = [CAPTION.fullmatch(arrow) for arrow in whole]
    captions = [(float(one[1]), one[2]) for one in told if one]
    assert len(captions) == len(told), whole
    strongest = (pytest.approx(float(gained), abs=0.06), f"{verified} of {tried}")
    begun = any(one.startswith(f"{float(gained):.3g}"[:3]) for one in cut)
    assert strongest in captions or begun, "the same as in the table"
