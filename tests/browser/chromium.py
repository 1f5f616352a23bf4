"""A headless Chromium, driven by Playwright: the machine's own, as Playwright's is not fetched."""

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.requirement import require

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
OPTIONS = (
    "--no-sandbox",  # as root, Chromium starts without it only
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
)
CONTROL = "Control+"  # prefix of a key


class Page:
    """One tab. Selectors are CSS; `seconds` is how long to wait at most."""

    def __init__(self, playwright_page: Any) -> None:
        self._page = playwright_page
        self._devtools = playwright_page.context.new_cdp_session(playwright_page)

    def order(self, method: str, **parameters: object) -> dict[str, Any]:
        """Send a DevTools command; its result."""
        result: dict[str, Any] = self._devtools.send(method, parameters)
        return result

    def size(self, width: int, height: int, scale: float = 1) -> None:
        """Of the window, in CSS pixels; `scale` pixels of a picture for each."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
        self.order("Emulation.setDeviceMetricsOverride", **metrics)

    def open(self, url: str) -> None:
        self._page.goto(url, wait_until="commit")

    def reload(self) -> None:
        self._page.reload(wait_until="commit")

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression; a promise is awaited."""
        return self._page.evaluate(expression)

    def wait(self, expression: str, what: str, seconds: float = 60) -> Any:
        """Until a JavaScript expression is true; its value."""
        # Playwright's own wait needs eval, which the policy of our pages forbids.
        deadline = time.monotonic() + seconds
        while not (value := self.evaluate(expression)):
            text = self.evaluate("document.body?.innerText")
            assert time.monotonic() < deadline, f"no {what} after {seconds:.0f} s: {text}"
            self._page.wait_for_timeout(50)
        return value

    def box(self, selector: str) -> tuple[float, float, float, float]:
        """Left, top, width and height of the first match, once it is there and stands still."""
        first = self._page.locator(selector).first
        first.hover(trial=True, force=False, timeout=60_000)
        found = first.bounding_box()
        return found["x"], found["y"], found["width"], found["height"]

    def click(self, selector: str) -> None:
        """Click on the first match, once it stands still and nothing covers it."""
        self._page.locator(selector).first.click(timeout=60_000)

    def press(self, key: str, modifiers: str = "") -> None:
        self._page.keyboard.press(modifiers + key)

    def insert(self, text: str) -> None:
        """Put text where the cursor is, as a paste does."""
        self._page.keyboard.insert_text(text)

    def fill(self, selector: str, text: str) -> None:
        """Replace what an input holds."""
        self._page.locator(selector).first.fill(text)

    def drop(self, file: Path) -> None:
        """Drag a file onto the middle of the page.

        Chromium opens what the page does not want yet in a tab before ours: hidden, ours would
        not move any more.
        """
        data = {"items": [], "files": [str(file)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.order("Input.dispatchDragEvent", type=kind, x=500, y=400, data=data)
        self._page.bring_to_front()

    def picture(self, clip: Sequence[float] | None = None) -> bytes:
        """PNG of the page, or of left, top, width and height of it."""
        chosen = dict(zip(("x", "y", "width", "height"), clip, strict=True)) if clip else None
        picture: bytes = self._page.screenshot(clip=chosen, full_page=clip is not None)
        return picture


def find() -> str:
    """The Chromium on PATH; skips where there is none."""
    binary = next(filter(None, map(shutil.which, NAMES)), None)
    if binary is None:
        require("browser", f"none of {', '.join(NAMES)} is on PATH")
    return binary


@contextmanager
def chromium(profile: Path) -> Iterator[Page]:
    """A fresh tab of a fresh Chromium with its profile in a folder; skips where there is none."""
    binary = find()
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=binary, headless=True, args=OPTIONS, no_viewport=True
        )
        try:
            yield Page(context.pages[0])
        finally:
            context.close()
