"""`regraph report` as it is typed, after a real search of the command line."""

from tests.search.lab import Lab, grown, lab

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
