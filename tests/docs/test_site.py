"""The documents as one site (`make docs`): every page is in it, and no link leads nowhere."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")}


def built(folder: Path, docs: Path = DOCS) -> subprocess.CompletedProcess[str]:
    """What `make docs` says, of `docs` as it is or changed."""
    words = ("-q", "-W", "--keep-going", "-c", docs / "site", "-d", folder / "read")
    return subprocess.run(
        [sys.executable, "-m", "sphinx", *words, docs, folder / "site"],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_contents_name_every_page_but_decisions() -> None:
    contents = runpy.run_path(str(DOCS / "site" / "conf.py"))["CONTENTS"]
    named = [page for pages in contents.values() for page in pages]
    decisions = {page for page in PAGES if re.match(r"dev/decisions/\d", page)}
    assert sorted(named) == sorted(PAGES - decisions - {"package"})


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_asks_nobody_on_the_web(tmp_path: Path) -> None:
    done = built(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    pages = sorted((tmp_path / "site").rglob("*.html"))
    assert {
        page.relative_to(tmp_path / "site").with_suffix("").as_posix() for page in pages
    } > PAGES
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r"<(?:script|img|link)[^>]+(?:src|href)=\"https?:", text), page


@pytest.mark.slow
def test_a_link_that_leads_nowhere_ends_it(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    (docs / "site").mkdir(parents=True)
    (docs / "site" / "conf.py").write_bytes((DOCS / "site" / "conf.py").read_bytes())
    (docs / "package.md").write_text("# One\n\n[page](nowhere) and [part](package.md#two)\n")
    done = built(tmp_path, docs)
    assert done.returncode != 0
    assert "nowhere" in done.stderr
    assert "#two" in done.stderr or "two" in done.stderr
