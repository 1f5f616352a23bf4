"""What a page that is busy or still moving must not cost: clicks and drops."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.browser.chromium import Page, chromium

pytestmark = pytest.mark.slow

SLIDING = """
<div id=drawer style="overflow: hidden; width: 0"><button style="width: 200px">open</button></div>
<script>
  document.querySelector('button').onclick = () => document.body.dataset.clicked = 'yes';
  setTimeout(() => document.querySelector('#drawer').style.width = '300px', 500);
</script>
"""


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    with chromium(tmp_path) as page:
        page.size(1280, 860)
        yield page


def show(page: Page, html: str) -> None:
    page.open(f"data:text/html,{quote(html)}")
    page.wait("document.readyState === 'complete' && location.protocol === 'data:'", "page")


def test_a_click_waits_until_nothing_clips_its_target(page: Page) -> None:
    show(page, SLIDING)
    page.click("button")
    page.wait("document.body.dataset.clicked === 'yes'", "click", seconds=5)


def test_a_file_that_the_page_does_not_take_leaves_it_in_front(page: Page, tmp_path: Path) -> None:
    show(page, "<p>no file, please")
    file = tmp_path / "style.grass"
    file.write_text("node {}")
    page.drop(file)
    page.wait("document.visibilityState === 'visible'", "page in front", seconds=5)
    assert page.evaluate("new Promise(done => requestAnimationFrame(() => done('drawn')))")
