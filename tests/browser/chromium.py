"""A headless Chromium driven over its DevTools pipe: the little that Neo4j Browser needs.

Standard library only, so that a machine with a Chromium on PATH needs nothing else. Waiting is by
polling the page: whoever waits names what for, and gets the page's text when it does not come.
"""

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.requirement import require

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--remote-debugging-pipe",
)
PIPED = 'exec "$@" 3<&"$CHROMIUM_READS" 4>&"$CHROMIUM_WRITES"'
"""Chromium listens on descriptor 3 and answers on 4; a shell moves ours there."""
CONTROL = 2
"""The DevTools bit of the control key."""
WHERE = """(async () => {
  const find = () => document.querySelector(%s);
  const box = e => e && ['x', 'y', 'width', 'height'].map(key => e.getBoundingClientRect()[key]);
  const before = box(find());
  await new Promise(done => setTimeout(done, 100));
  const [found, after] = [find(), box(find())];
  if (!before || !after || before.join() !== after.join()) return null;
  const [left, top, width, height] = after;
  const hit = document.elementFromPoint(left + width / 2, top + height / 2);
  return {box: after, hit: found.contains(hit)};
})()"""
"""Of the first match of a selector: its place, and whether a click on its middle would reach it.
Null while there is none, or one that slides."""
KEYS = {"Enter": 13, "a": 65, "Escape": 27}


class Page:
    """One tab. Selectors are CSS; `seconds` is how long to wait at most."""

    def __init__(self, reads: int, writes: int) -> None:
        self._replies, self._orders = os.fdopen(reads, "rb"), os.fdopen(writes, "wb")
        self._number, self._rest = 0, b""
        self._session: str | None = None
        target = self.order("Target.createTarget", url="about:blank")["targetId"]
        attached = self.order("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        self.order("Page.enable")

    def order(self, method: str, **parameters: object) -> dict[str, Any]:
        """Send a DevTools command; its result. Events that come in between are dropped."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        message |= {"sessionId": self._session} if self._session else {}
        self._orders.write(json.dumps(message).encode() + b"\0")
        self._orders.flush()
        while True:
            reply = self._read()
            if reply.get("id") == self._number:
                assert "error" not in reply, f"{method}: {reply['error']}"
                result: dict[str, Any] = reply["result"]
                return result

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = os.read(self._replies.fileno(), 1 << 20)
            assert more, "Chromium has ended"
            self._rest += more
        message, _, self._rest = self._rest.partition(b"\0")
        reply: dict[str, Any] = json.loads(message)
        return reply

    def close(self) -> None:
        self.order("Browser.close")
        self._orders.close()
        self._replies.close()

    def size(self, width: int, height: int, scale: float = 1) -> None:
        """Of the window, in CSS pixels; `scale` pixels of a picture for each."""
        self.order(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=False,
        )

    def open(self, url: str) -> None:
        self.order("Page.navigate", url=url)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression; a promise is awaited."""
        done = self.order(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in done, f"{expression}: {done['exceptionDetails']}"
        return done["result"].get("value")

    def wait(self, expression: str, what: str, seconds: float = 60) -> Any:
        """Until a JavaScript expression is true; its value."""
        deadline = time.monotonic() + seconds
        while True:
            value = self.evaluate(expression)
            if value:
                return value
            if time.monotonic() > deadline:
                text = self.evaluate("document.body.innerText")
                raise AssertionError(f"no {what} after {seconds:.0f} s; the page says:\n{text}")
            time.sleep(0.05)

    def box(self, selector: str) -> tuple[float, float, float, float]:
        """Left, top, width and height of the first match, once there is one that stands still."""
        left, top, width, height = self.wait(WHERE % json.dumps(selector), selector)["box"]
        return left, top, width, height

    def click(self, selector: str) -> None:
        """Click on the first match, once nothing covers it and no sliding parent clips it."""
        reached = f"{WHERE % json.dumps(selector)}.then(place => place?.hit ? place.box : null)"
        left, top, width, height = self.wait(reached, selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.order(
                "Input.dispatchMouseEvent",
                type=kind,
                x=left + width / 2,
                y=top + height / 2,
                button="left",
                clickCount=1,
            )

    def press(self, key: str, modifiers: int = 0) -> None:
        for kind in ("rawKeyDown", "keyUp"):
            self.order(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=f"Key{key.upper()}" if len(key) == 1 else key,
                windowsVirtualKeyCode=KEYS[key],
                modifiers=modifiers,
            )

    def insert(self, text: str) -> None:
        """Put text where the cursor is, as a paste does."""
        self.order("Input.insertText", text=text)

    def fill(self, selector: str, text: str) -> None:
        """Replace what an input holds."""
        self.click(selector)
        self.press("a", CONTROL)
        self.insert(text)

    def drop(self, file: Path) -> None:
        """Drag a file onto the middle of the page.

        Chromium opens what the page does not want yet in a tab before ours: hidden, ours would
        not move any more.
        """
        data = {"items": [], "files": [str(file)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.order("Input.dispatchDragEvent", type=kind, x=500, y=400, data=data)
        self.order("Page.bringToFront")

    def picture(self, clip: Sequence[float] | None = None) -> bytes:
        """PNG of the page, or of left, top, width and height of it."""
        chosen: dict[str, object] = {}
        if clip:
            chosen["clip"] = dict(zip(("x", "y", "width", "height"), clip, strict=True)) | {
                "scale": 1
            }
        return base64.b64decode(
            self.order("Page.captureScreenshot", format="png", **chosen)["data"]
        )


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
    their_in, our_out = os.pipe()
    our_in, their_out = os.pipe()
    descriptors = {"CHROMIUM_READS": str(their_in), "CHROMIUM_WRITES": str(their_out)}
    with (
        (profile / "chromium.log").open("wb") as log,
        subprocess.Popen(
            ["bash", "-c", PIPED, "bash", binary, *OPTIONS, f"--user-data-dir={profile}"],
            env=os.environ | descriptors,
            pass_fds=(their_in, their_out),
            stdout=log,
            stderr=log,
        ) as process,
    ):
        os.close(their_in)
        os.close(their_out)
        try:
            page = Page(our_in, our_out)
            yield page
            page.close()
        finally:
            process.terminate()
