"""Neo4j Browser, served by a real Neo4j and shown by a headless Chromium, for tests and pictures.

The Browser is a jar on the server's class path. It is fetched with Maven, once, where a Chromium
waits for it, and never part of this project.
"""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from regraph_kg.settings import Settings
from tests import install
from tests.browser.chromium import CONTROL, Page, chromium, find
from tests.neo4j_server import free_port, started
from tests.requirement import require

VERSION = "5.24.0"
ARTIFACT = f"org.neo4j.client:neo4j-browser:{VERSION}"
CONF = """\
server.config.strict_validation.enabled=false
server.http.enabled=true
server.http.listen_address=127.0.0.1:{port}
"""
"""What is said of HTTP twice is not an error then, and the last word counts."""
EDITOR = "#monaco-main-editor"
FRAMES = "[...document.querySelectorAll('[data-testid=frame]')]"
PICTURES = 60.0  # seconds that a picture may take

ROOT = Path(__file__).parents[2]


def packed(folder: Path) -> tuple[Path, Path]:
    """Saved queries, packed by the line of docs/browser.md in a new folder, and the style."""
    lines = (ROOT / "docs" / "browser.md").read_text(encoding="utf-8").splitlines()
    (folder / "cypher").symlink_to(ROOT / "cypher")
    subprocess.run(next(one for one in lines if "zip" in one), shell=True, cwd=folder, check=True)
    return folder / "regraph.zip", ROOT / "cypher" / "browser" / "style.grass"


@dataclass(frozen=True, slots=True)
class Served:
    """A Neo4j with its Browser."""

    settings: Settings
    url: str


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    """Run a Neo4j that serves its Browser, its data in a folder; skips where that cannot be."""
    find()
    reason = install.neo4j_missing()
    if reason is not None:
        require("browser", reason)
    port = free_port()
    with started(folder, more_conf=CONF.format(port=port), plugins=[jar()]) as settings:
        yield Served(settings, f"http://127.0.0.1:{port}/browser/")


def jar() -> Path:
    """The Browser's jar; fetched into the user's cache folder if it is not there."""
    place = Path(platformdirs.user_cache_dir("regraph")) / f"neo4j-browser-{VERSION}.jar"
    if place.exists():
        return place
    if shutil.which("mvn") is None:
        require("browser", f"{place.name} is to be fetched, and Maven (mvn) is not on PATH")
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        options = [f"-Dartifact={ARTIFACT}", f"-DoutputDirectory={folder}"]
        done = subprocess.run(
            ["mvn", "-B", "-q", "dependency:copy", *options],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            require("browser", f"mvn: {(done.stdout.strip().splitlines() or ['no output'])[-1]}")
        (Path(folder) / place.name).replace(place)
    return place


@dataclass(frozen=True, slots=True)
class Shown:
    """What a frame shows."""

    text: str
    table: list[list[str]]  # rows of cells, the headings first
    nodes: list[str]  # captions of the picture's nodes; one that is too long ends with dots
    arrows: list[str]  # captions of the picture's relationships
    elements: int  # of the whole page


SHOWN = f"""(frame => ({{
  text: frame.innerText,
  table: [...frame.querySelectorAll('tr')].map(
    row => [...row.querySelectorAll('[role]:not([class*=actions-cell])')].map(
      cell => cell.innerText)),
  nodes: [...frame.querySelectorAll('.neod3viz g.node')].map(
    node => [...node.querySelectorAll('text')].map(line => line.textContent.trim()).join(' ')),
  arrows: [...frame.querySelectorAll('.neod3viz g.relationship')].map(arrow => arrow.textContent),
  elements: document.querySelectorAll('*').length,
}}))({FRAMES}[0])"""


STATE = f"""(frame => {{
  const find = name => frame.querySelector(`[data-testid=${{name}}]`);
  const nodes = [...frame.querySelectorAll('.neod3viz g.node')];
  const answered = frame.innerText.startsWith(':') || find('frame-loaded-contents');
  const drawn = nodes.length || !find('cypherFrameSidebarVisualization');
  const places = nodes.map(node => node.getAttribute('transform'));
  return answered && drawn ? frame.getBoundingClientRect().top + places.join() : null;
}})({FRAMES}[0])"""
"""Null while the frame has no answer or no picture yet; else where it and its nodes are."""


class Browser:
    """Neo4j Browser, logged in. What is run appears in a frame on top of the stream."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def run(self, text: str, seconds: float = PICTURES) -> Shown:
        """Type into the editor, run, and wait for the frame; what it shows."""
        before = self.page.evaluate(f"{FRAMES}.map(f => f.id || (f.id = crypto.randomUUID()))")
        self.type(text)
        self.page.press("Enter", CONTROL)
        self.page.wait(f"{FRAMES}.length && !{before}.includes({FRAMES}[0].id)", "frame", seconds)
        return self.settle(seconds)

    def favorites(self) -> None:
        """Open the side bar with the saved queries, or close it."""
        self.page.click("[data-testid=navigationFavorites]")

    def drop(self, file: Path, taken: str) -> None:
        """Drop a file until `taken` is true in JavaScript: a busy page loses it without a word."""
        for _ in range(5):
            self.page.drop(file)
            with suppress(AssertionError):
                self.page.wait(taken, file.name, seconds=12)
                return
        self.page.drop(file)
        self.page.wait(taken, file.name)

    def type(self, text: str) -> None:
        """Replace what is in the editor."""
        self.page.click(EDITOR)
        self.page.press("a", CONTROL)
        self.page.insert(text)

    def settle(self, seconds: float = PICTURES) -> Shown:
        """Wait until the top frame has its answer and its picture moves no more; what it shows."""
        deadline, last = time.monotonic() + seconds, None
        while True:
            place = self.page.evaluate(STATE)
            if place is not None and place == last:
                return Shown(**self.page.evaluate(SHOWN))
            assert time.monotonic() < deadline, self.page.evaluate(f"{FRAMES}[0].innerText")
            last = place
            time.sleep(0.3)


@contextmanager
def opened(
    served: Served, profile: Path, width: int = 1280, height: int = 860, scale: float = 1
) -> Iterator[Browser]:
    """Show the Browser and log in."""
    settings = served.settings
    with chromium(profile) as page:
        page.size(width, height, scale)
        page.open(served.url)
        page.box("[data-testid=boltaddress]")
        time.sleep(0.5)  # the form is filled by its own script first
        page.fill("[data-testid=boltaddress]", settings.store.removeprefix("bolt://"))
        page.fill("[data-testid=username]", settings.store_user)
        page.fill("[data-testid=password]", settings.store_password.get_secret_value())
        page.click("[data-testid=connect]")
        page.wait("document.body.innerText.includes('You are connected')", "connection")
        yield Browser(page)
