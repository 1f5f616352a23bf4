"""The documents as one site (`make docs`): every page is in it, and no link leads nowhere."""

import inspect
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

import regraph_kg

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = {
    path.relative_to(DOCS).with_suffix("").as_posix()
    for path in DOCS.rglob("*")
    if path.suffix in (".md", ".ipynb")
} | {"cli", "dev/modules"}


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


def test_the_reference_is_of_every_name_for_programs() -> None:
    page = (DOCS / "site" / "reference.md").read_text(encoding="utf-8")
    told = page.partition("## What these hold")[0]
    named = re.findall(r"^\.\. auto\w+:: (\w+)$", told, re.MULTILINE)
    assert sorted(named) == sorted(regraph_kg.__all__)


def for_programs() -> Iterator[tuple[str, object]]:
    """Every function for programs, and every public method of a class for programs."""
    for name in regraph_kg.__all__:
        value = getattr(regraph_kg, name)
        yield name, value
        for method, what in vars(value).items() if inspect.isclass(value) else ():
            if inspect.isfunction(what) and not method.startswith("_"):
                yield f"{name}.{method}", what


def test_every_name_for_programs_says_what_it_does() -> None:
    assert [name for name, value in for_programs() if not value.__doc__] == []


def test_what_programs_are_given_has_a_name_for_programs() -> None:
    given: set[type] = set()
    for name, value in for_programs():
        if inspect.isfunction(value) and not name.startswith("Problem."):
            given |= set(classes(get_type_hints(value)["return"]))
    ours = {kind.__name__ for kind in given if kind.__module__.startswith("regraph_kg")}
    assert {"Graph", "Example", "FinishedRun"} < ours <= set(regraph_kg.__all__)


def classes(hint: object) -> Iterator[type]:
    """The classes of a type hint, those within unions and tuples among them."""
    if inspect.isclass(hint):
        yield hint
    for part in get_args(hint):
        yield from classes(part)


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_asks_nobody_on_the_web(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    shutil.copytree(DOCS, docs)
    for page, text in runpy.run_path(str(DOCS / "generate.py"))["built"]().items():
        (docs / page.relative_to(DOCS)).write_text(text, encoding="utf-8")
    done = built(tmp_path, docs)
    assert (done.returncode, done.stderr) == (0, "")
    pages = sorted((tmp_path / "site").rglob("*.html"))
    assert {
        page.relative_to(tmp_path / "site").with_suffix("").as_posix() for page in pages
    } > PAGES
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r"<(?:script|img|link)[^>]+(?:src|href)=\"https?:", text), page
    notebook = (tmp_path / "site" / "notebooks" / "what_follows.html").read_text(encoding="utf-8")
    assert '<div class="highlight-ipython3' in notebook
    assert "cell_type" not in notebook
    reference = (tmp_path / "site" / "site" / "reference.html").read_text(encoding="utf-8")
    for shown in ("regraph_kg.Graph.next", "regraph_kg.EvalReport.speedup", "regraph_kg.optimize"):
        assert f'id="{shown}"' in reference
    assert "model_config" not in reference  # pydantic's own
    assert "StringConstraints" not in reference


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
