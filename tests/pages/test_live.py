"""A page that is served while a search runs: who gets it, and that it follows."""

import http.client
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from regraph_kg.errors import BadInput
from regraph_kg.pages.live import served
from tests.browser.chromium import Page
from tests.pages.test_in_chromium import browser
from tests.pages.traces import searched
from tests.search.toy import SEAL

__all__ = ["browser"]  # a fixture

REGRAPH = "from regraph_kg.cli import main; main()"


def get(address: str, path: str | None = None, host: str | None = None) -> tuple[int, str]:
    """Status and text of an answer."""
    parts = urlsplit(address)
    line = http.client.HTTPConnection(parts.netloc, timeout=20)
    try:
        line.request("GET", path or parts.path, headers={"Host": host or parts.netloc})
        answer = line.getresponse()
        return answer.status, answer.read().decode()
    finally:
        line.close()


def test_only_who_knows_the_address_and_means_this_machine_gets_the_page() -> None:
    with served(lambda: "<p>the page") as address:
        port = urlsplit(address).port
        assert get(address) == (200, "<p>the page")
        assert get(address, host=f"localhost:{port}") == (200, "<p>the page")
        assert get(address, host=f"evil.example:{port}")[0] == 403
        assert get(address, host="127.0.0.1")[0] == 403
        for path in ("/", "/x/", f"{urlsplit(address).path}x", "/../etc/passwd"):
            assert get(address, path)[0] == 404


def test_two_pages_have_two_secrets_and_are_of_this_machine_only() -> None:
    with served(str) as one, served(str) as other:
        assert urlsplit(one).path != urlsplit(other).path
        assert len(urlsplit(one).path) > 20
        assert urlsplit(one).hostname == "127.0.0.1"


def test_a_page_is_made_anew_for_each_asking_and_an_error_is_a_line() -> None:
    told = iter(["first", "second"])

    def page() -> str:
        said = next(told, None)
        if said is None:
            raise BadInput("run.jsonl:3: the trace was changed here")
        return said

    with served(page) as address:
        assert [get(address)[1] for _ in range(2)] == ["first", "second"]
        assert get(address) == (500, "run.jsonl:3: the trace was changed here")


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """`regraph report --watch` of the first half of a trace, at its end half a line."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "trace-key").write_bytes(SEAL)
    (data / "trace-key").chmod(0o600)
    whole, _ = searched(tmp_path / "runs")
    content = whole.read_bytes()
    (tmp_path / "run.jsonl").write_bytes(content[: len(content) // 2])
    with subprocess.Popen(
        [sys.executable, "-c", REGRAPH, "report", "--watch", "run.jsonl"],
        cwd=tmp_path,
        env=os.environ | {"REGRAPH_DATA_DIR": str(data)},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.kill()  # where a test was skipped it is still at work


def address_of(process: subprocess.Popen[str]) -> str:
    """What it says first."""
    assert process.stderr is not None
    return process.stderr.readline().partition(": open it")[0]


def test_watching_follows_the_trace_and_ends_well_with_ctrl_c(
    watching: subprocess.Popen[str], tmp_path: Path
) -> None:
    try:
        address = address_of(watching)
        before = get(address)[1]
        assert ("not finished" in before, "data-live" in before) == (True, True)
        (tmp_path / "run.jsonl").write_bytes(next(tmp_path.glob("runs/*")).read_bytes())
        after = get(address)[1]
        assert "faster than the serial code (95 %" in after
        assert "faster than the serial code (95 %" not in before
    finally:
        watching.send_signal(signal.SIGINT)
        _, said = watching.communicate(timeout=30)
    assert (watching.returncode, said) == (0, "")
    assert not (tmp_path / "report.html").exists()


@pytest.mark.nightly
def test_an_open_page_changes_by_itself(
    watching: subprocess.Popen[str], browser: Page, tmp_path: Path
) -> None:
    try:
        browser.open(address_of(watching))
        browser.wait("!!document.querySelector('.tree svg')", "tree")
        assert "not finished" in browser.evaluate("document.body.innerText")
        browser.evaluate("window.same = 1")
        (tmp_path / "run.jsonl").write_bytes(next(tmp_path.glob("runs/*")).read_bytes())
        browser.wait("document.body.innerText.includes(': finished')", "new state", seconds=20)
        assert browser.evaluate("document.querySelectorAll('.tree svg').length") == 1
        assert browser.evaluate("window.same") == 1  # it was not loaded anew
    finally:
        watching.send_signal(signal.SIGINT)
        watching.communicate(timeout=30)
    browser.wait("document.body.innerText.includes('no longer served')", "end", seconds=20)
