"""Pages in a real Chromium: they draw, ask nobody for anything, and can be used by everyone.

The accessibility check is axe-core's, from the npm registry, kept in the user's cache folder.
"""

import hashlib
import json
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import platformdirs
import pytest

from regraph_kg.pages.render import runs_page
from regraph_kg.runs.run_page import view_runs
from regraph_kg.settings import Settings
from tests.browser.chromium import Page, chromium
from tests.pages.test_run_page import settings
from tests.pages.traces import HOSTILE, hostile, searched
from tests.requirement import require

__all__ = ["settings"]  # a fixture

pytestmark = pytest.mark.nightly

AXE = "4.14.1"
AXE_SHA256 = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
WIDTHS = (360, 800, 1400)
SCHEMES = ("light", "dark")
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]


@pytest.fixture(scope="module")
def axe() -> str:
    """The text of axe-core, fetched once."""
    kept = Path(platformdirs.user_cache_dir("regraph")) / f"axe-core-{AXE}.js"
    if not kept.is_file():
        if shutil.which("npm") is None:
            require("axe", "npm is not on PATH, which fetches axe-core")
        with tempfile.TemporaryDirectory() as folder:
            words = ["npm", "pack", "--silent", f"axe-core@{AXE}"]
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode:
                require("axe", f"npm pack axe-core: {done.stderr.strip().splitlines()[-1:]}")
            with tarfile.open(next(Path(folder).glob("*.tgz"))) as packed:
                found = packed.extractfile("package/axe.min.js")
                assert found is not None
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_bytes(found.read())
    text = kept.read_bytes()
    assert hashlib.sha256(text).hexdigest() == AXE_SHA256
    return text.decode()


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Page]:
    profile = tmp_path / "profile"
    profile.mkdir()
    with chromium(profile) as page:
        page.size(1400, 900)
        yield page


def show(page: Page, folder: Path, html: str) -> None:
    file = folder / "page.html"
    file.write_text(html, encoding="utf-8")
    page.open(file.as_uri())
    page.wait(f"location.href === {json.dumps(file.as_uri())}", "page")
    page.wait("document.querySelectorAll('.tree svg, .pair').length > 0", "drawing")


def look(page: Page, width: int, scheme: str) -> None:
    page.size(width, 900)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    page.order("Emulation.setEmulatedMedia", features=features)


def accessible(page: Page, axe: str) -> list[str]:
    """What axe-core finds wrong, with where."""
    page.evaluate(axe + ";0")
    only = json.dumps({"runOnly": {"type": "tag", "values": TAGS}})
    found = page.evaluate(f"axe.run(document, {only}).then(it => JSON.stringify(it.violations))")
    return [
        f"{load['id']}: {node['html'][:120]} ({node.get('failureSummary')})"
        for load in json.loads(found)
        for node in load["nodes"]
    ]


def test_a_page_fits_three_widths_light_and_dark_for_everyone(
    browser: Page, settings: Settings, tmp_path: Path, axe: str
) -> None:
    one, other = searched(tmp_path / "one")[0], hostile(tmp_path / "other")
    (alone,) = view_runs(settings, [one])
    near_the_roof = replace(alone, roofline="61 % of memory bound", share=0.61)
    for views in ([near_the_roof], view_runs(settings, [one, other])):
        html = runs_page(views)
        for width in WIDTHS:
            for scheme in SCHEMES:
                look(browser, width, scheme)
                show(browser, tmp_path, html)
                wide = browser.evaluate("document.documentElement.scrollWidth")
                assert wide <= width
                assert accessible(browser, axe) == []


def test_nothing_hostile_runs_and_nothing_is_fetched(
    browser: Page, settings: Settings, tmp_path: Path
) -> None:
    watch = (
        "addEventListener('securitypolicyviolation',"
        " it => (window.refused ??= []).push(it.blockedURI))"
    )
    browser.order("Page.addScriptToEvaluateOnNewDocument", source=watch)
    show(browser, tmp_path, runs_page(view_runs(settings, [hostile(tmp_path / "runs")])))
    for step in range(3):
        browser.evaluate(
            f"document.querySelectorAll('.step')[{step}]"
            ".dispatchEvent(new MouseEvent('click', {bubbles: true}))"
        )
        browser.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert browser.evaluate("document.body.dataset.hit ?? null") is None
    assert browser.evaluate("performance.getEntriesByType('resource').length") == 0
    assert browser.evaluate("window.refused ?? null") is None
    text = browser.evaluate("document.querySelector('.node').textContent")
    assert "".join(one for one in HOSTILE if one.isprintable()) in text


def test_a_script_that_got_in_would_not_run(
    browser: Page, settings: Settings, tmp_path: Path
) -> None:
    html = runs_page(view_runs(settings, [searched(tmp_path / "runs")[0]]))
    bad = "<script>document.body.dataset.hit = 3</script><img src=http://127.0.0.1:9/ onerror=1>"
    show(browser, tmp_path, html.replace("</main>", f"{bad}</main>"))
    assert browser.evaluate("document.body.dataset.hit ?? null") is None


def test_a_step_is_chosen_by_keys_and_shows_what_it_changed(
    browser: Page, settings: Settings, tmp_path: Path
) -> None:
    show(browser, tmp_path, runs_page(view_runs(settings, [searched(tmp_path / "runs")[0]])))
    heading = "document.querySelector('.node h3').textContent"
    chosen = browser.evaluate(heading)
    key = "new KeyboardEvent('keydown', {key: 'ArrowLeft', bubbles: true})"
    for _ in range(10):
        browser.evaluate(f"document.querySelector('.step[tabindex=\"0\"]').dispatchEvent({key})")
    assert (chosen == "serial code", browser.evaluate(heading)) == (False, "serial code")
    assert browser.evaluate("document.activeElement.getAttribute('aria-label')").startswith(
        "serial code"
    )


def test_a_page_is_printed_whole(browser: Page, settings: Settings, tmp_path: Path) -> None:
    show(browser, tmp_path, runs_page(view_runs(settings, [searched(tmp_path / "runs")[0]])))
    browser.order("Emulation.setEmulatedMedia", media="print")
    assert browser.evaluate("getComputedStyle(document.querySelector('.zoom')).display") == "none"
    assert browser.evaluate("getComputedStyle(document.querySelector('pre')).maxHeight") == "none"
    assert len(browser.order("Page.printToPDF")["data"]) > 20_000


def test_a_page_that_is_written_anew_and_reloaded_keeps_the_chosen_step(
    browser: Page, settings: Settings, tmp_path: Path
) -> None:
    path = searched(tmp_path / "runs")[0]
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    show(browser, tmp_path, runs_page(view_runs(settings, [path])))
    click = "new MouseEvent('click', {bubbles: true})"
    browser.evaluate(f"document.querySelectorAll('.step')[1].dispatchEvent({click})")
    chosen = browser.evaluate("document.querySelector('.node h3').textContent")
    path.write_bytes(whole)
    (tmp_path / "page.html").write_text(runs_page(view_runs(settings, [path])), encoding="utf-8")
    browser.reload()
    browser.wait("document.body.innerText.includes(': finished')", "new state", seconds=20)
    browser.wait("!!document.querySelector('.node h3')", "drawing")
    assert browser.evaluate("document.querySelector('.node h3').textContent") == chosen
