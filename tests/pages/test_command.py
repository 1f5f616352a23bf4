"""`regraph report` as it is typed, after a real search of the command line."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

from tests.pages.traces import searched
from tests.search.lab import Lab, grown, lab
from tests.search.toy import SEAL

__all__ = ["grown", "lab"]  # fixtures


def test_a_search_is_a_page_for_its_user_alone_with_what_was_asked_and_answered(grown: Lab) -> None:
    assert grown.optimize().code == 0
    (trace,) = grown.traces()
    done = grown.run("report", trace.stem[:9])  # by the beginning of its name
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("report.html: open it in a browser (0.")
    file = grown.folder / "report.html"
    page = file.read_text(encoding="utf-8")
    assert "scale (openmp): " in page
    assert "Keep exactly this signature" in page
    assert "the serial code of scale is not here" not in page
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_page_that_cannot_be_written_says_so_and_leaves_nothing(grown: Lab) -> None:
    assert grown.optimize().code == 0
    (trace,) = grown.traces()
    done = grown.run("report", str(trace), "-o", "nowhere/page.html")
    said = "regraph: nowhere/page.html: No such file or directory; choose another place: --output\n"
    assert (done.code, done.err) == (2, said)
    (grown.folder / "folder").mkdir()
    done = grown.run("report", str(trace), "-o", "folder")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert not list(grown.folder.glob("tmp*"))


def test_watching_follows_the_trace_and_ends_well_with_ctrl_c(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    (data / "trace-key").write_bytes(SEAL)
    (data / "trace-key").chmod(0o600)
    whole, _ = searched(tmp_path / "runs")
    content, page = whole.read_bytes(), tmp_path / "report.html"
    whole.write_bytes(content[: len(content) // 2])
    regraph = "from regraph_kg.cli import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", regraph, "report", "--watch", str(whole)],
        cwd=tmp_path,
        env=os.environ | {"REGRAPH_DATA_DIR": str(data)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            deadline = monotonic() + 60
            while not page.exists() and monotonic() < deadline:
                sleep(0.1)
            before = page.read_text(encoding="utf-8")
            whole.write_bytes(content)
        finally:
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=30)
    after = page.read_text(encoding="utf-8")
    assert (process.returncode, out.startswith("report.html")) == (0, True)
    assert ("not finished" in before, 'http-equiv="refresh"' in before) == (True, True)
    assert ("faster than the serial code (95 %" in after, 'http-equiv="refresh"' in after) == (
        True,
        False,
    )
